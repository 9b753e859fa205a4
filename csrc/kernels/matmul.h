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

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct Matrix {
  void* data;         // only C is written
  int64_t rs;         // elements from row to row
  int64_t cs;         // elements from column to column
  bool conj = false;  // complex A and B: multiply by the conjugates of what is there
};

struct MatmulKernels {
  // C[m,n] = alpha * A[m,k] @ B[k,n] + beta * C
  Kernel<void(DType dtype, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, const Matrix& b, Complex<double> beta,
              const Matrix& c)>
      gemm;

  // C[m,n] = A[m,k] @ B[k,n] + bias[n] (row vector, element stride bias_stride; null: none). linear(x, w) is b = {w, 1, w's row stride}.
  Kernel<void(DType dtype, int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b, const void* bias, int64_t bias_stride,
              const Matrix& c)>
      gemm_bias;

  // C[i] = alpha * A[i] @ B[i] + beta * C[i] for i < batch; matrices of a batch are *_step elements apart (0 in A, B: shared).
  Kernel<void(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, int64_t a_step,
              const Matrix& b, int64_t b_step, Complex<double> beta, const Matrix& c, int64_t c_step)>
      bmm;

  // *out = sum of x[i] * y[i]; out is one element of dtype. A complex x is conjugated on request.
  Kernel<void(DType dtype, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out, bool conj_x)> dot;
};
RG_KERNEL_FAMILY(MatmulKernels, matmul)

}  // namespace retrograd::kernels
