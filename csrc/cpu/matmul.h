// Matrix products on the CPU: see kernels/matmul.h.
#pragma once

#include "cpu/isa.h"
#include "kernels/matmul.h"

namespace retrograd::cpu {

// The part of gemm() that multiplies complex numbers without BLAS: matmul_complex.cpp. C may have any strides.
void gemm_complex(DType dtype, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, const Matrix& b,
                  Complex<double> beta, const Matrix& c);

// What the functions above stand on; nobody else calls it (see kernels/matmul.cpp). C = alpha * A @ B + beta * D, where D is C itself or a
// bias (d_rs == 0). The columns of C and D touch; beta == 0 does not read D.
template <class T> struct GemmArgs {
  int64_t m, n, k;
  T alpha, beta;
  const T* a;
  int64_t a_rs, a_cs;
  const T* b;
  int64_t b_rs, b_cs;
  T* c;
  int64_t c_rs;
  const T* d;
  int64_t d_rs;
};
struct GemmKernels {
  int64_t blas_from;          // m * n * k from which OpenBLAS is faster, by measurement
  int64_t blas_from_in_rows;  // the same where the elements of rows of A touch
  void (*f32)(const GemmArgs<float>&);
  void (*f64)(const GemmArgs<double>&);
  void (*i32)(const GemmArgs<uint32_t>&);
  void (*i64)(const GemmArgs<uint64_t>&);
  void (*dot)(DType dtype, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out);
  // The sums of re * re, im * im, re * im and im * re of the products of complex numbers, whose parts are `real`s; 4 of them into out.
  void (*dot_parts)(DType real, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out);
};
RG_DECLARE_KERNELS(GemmKernels, gemm_kernels)

}  // namespace retrograd::cpu
