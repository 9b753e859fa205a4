// OpenBLAS, found at run time. Nothing is loaded before the first call that wants it; where it cannot be loaded every accessor gives
// null and matmul.h computes with its own kernels.
//
// OpenBLAS runs single-threaded inside our own pool (see Note [BLAS threads] in blas.cpp), so it starts no threads of its own and a
// forked child may go on using it.
#pragma once

#include "core/dtype.h"

namespace retrograd::cpu {

// The shared library to load, e.g. ".../libscipy_openblas.so"; copied. Takes effect if called before the first use.
void set_blas_path(const char* path);

bool has_blas();
const char* blas_error();  // why loading failed; null when it did not

// A symbol by its usual name ("cblas_sgemm", "dgetrf_"), with the library's prefix ("scipy_") added; null if absent. Integers are 32-bit.
void* blas_symbol(const char* name);

// Column-major (Fortran order) C = alpha * op(A) * op(B) + beta * C on the calling thread; trans is 'N' or 'T'.
using SgemmFn = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const float* alpha,
                         const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc);
using DgemmFn = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
                         const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
// The same for complex numbers, where trans may also be 'R' (conjugated) or 'C' (conjugated and transposed).
using CgemmFn = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const Complex<float>* alpha,
                         const Complex<float>* a, const int* lda, const Complex<float>* b, const int* ldb, const Complex<float>* beta,
                         Complex<float>* c, const int* ldc);
using ZgemmFn = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const Complex<double>* alpha,
                         const Complex<double>* a, const int* lda, const Complex<double>* b, const int* ldb, const Complex<double>* beta,
                         Complex<double>* c, const int* ldc);
SgemmFn blas_sgemm();
DgemmFn blas_dgemm();
CgemmFn blas_cgemm();
ZgemmFn blas_zgemm();

}  // namespace retrograd::cpu
