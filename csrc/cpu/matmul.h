// Matrix products on strided memory.
//
// dtype is any but Bool (the caller rejects it). Strides are in elements and may be anything for A and B, 0 included; C's elements are
// distinct and C overlaps neither A nor B. Sizes may be 0: k == 0 gives beta * C. beta == 0 never reads C (nan there does
// not spread), alpha == 0 never reads A or B.
//
// Products of floats and of complex numbers that are large go to OpenBLAS, the others to our own register-blocked kernels, which need no
// setup. 16-bit floats accumulate in float and round once. Integers wrap. Our own kernels give the same bits for every number of threads.
// The imaginary parts of alpha and beta count for complex dtypes only.
#pragma once

#include "cpu/array.h"
#include "cpu/isa.h"

namespace retrograd::cpu {

struct Matrix {
  void* data;         // only C is written
  int64_t rs;         // elements from row to row
  int64_t cs;         // elements from column to column
  bool conj = false;  // complex A and B: multiply by the conjugates of what is there
};

// C[m,n] = alpha * A[m,k] @ B[k,n] + beta * C
void gemm(DType dtype, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, const Matrix& b, Complex<double> beta,
          const Matrix& c);

// C[m,n] = A[m,k] @ B[k,n] + bias[n] (row vector, element stride bias_stride; null: none). linear(x, w) is b = {w, 1, w's row stride}.
void gemm_bias(DType dtype, int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b, const void* bias, int64_t bias_stride,
               const Matrix& c);

// C[i] = alpha * A[i] @ B[i] + beta * C[i] for i < batch; matrices of a batch are *_step elements apart (0 in A, B: shared).
void bmm(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, int64_t a_step,
         const Matrix& b, int64_t b_step, Complex<double> beta, const Matrix& c, int64_t c_step);

// *out = sum of x[i] * y[i]; out is one element of dtype. A complex x is conjugated on request.
void dot(DType dtype, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out, bool conj_x = false);

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
struct MatmulKernels {
  int64_t blas_from;  // m * n * k from which OpenBLAS is faster, by measurement
  void (*f32)(const GemmArgs<float>&);
  void (*f64)(const GemmArgs<double>&);
  void (*i32)(const GemmArgs<uint32_t>&);
  void (*i64)(const GemmArgs<uint64_t>&);
  void (*dot)(DType dtype, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out);
  // The sums of re * re, im * im, re * im and im * re of the products of complex numbers, whose parts are `real`s; 4 of them into out.
  void (*dot_parts)(DType real, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out);
};
RG_DECLARE_KERNELS(MatmulKernels, matmul)

}  // namespace retrograd::cpu
