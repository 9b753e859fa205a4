// Softmax and its relatives, floating outputs only; 16-bit floats compute in float. Any strides. `in` may have any dtype: it is
// cast to the compute type of `out` first, which serves softmax(x, dim, dtype=...).
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct SoftmaxKernels {
  // Along `dim`; out and in have the same ndim and sizes, and may be the same memory with the same strides.
  // A slice that is all -inf, or has +inf or NaN, gives what PyTorch gives (NaN). ndim 0: dim is ignored.
  Kernel<void(const Array& out, const Array& in, int dim)> softmax;
  Kernel<void(const Array& out, const Array& in, int dim)> log_softmax;

  // From the gradient of the result and the result itself; all three have the same sizes, any strides and any floating dtypes
  // (they may differ: float32 gradients of a softmax(..., dtype=float32) of float16).
  //   softmax:      grad_in = (grad_out - sum(grad_out * result)) * result
  //   log_softmax:  grad_in = grad_out - exp(result) * sum(grad_out)
  Kernel<void(const Array& grad_in, const Array& grad_out, const Array& result, int dim)> softmax_backward;
  Kernel<void(const Array& grad_in, const Array& grad_out, const Array& result, int dim)> log_softmax_backward;

  // log(sum(exp(in))) over any set of dims, with the convention of reduce.h: out has in's sizes and stride 0 in reduced dims.
  // All -inf gives -inf, any +inf gives +inf, nothing gives -inf.
  Kernel<void(const Array& out, const Array& in)> logsumexp;
};
RG_KERNEL_FAMILY(SoftmaxKernels, softmax)

}  // namespace retrograd::kernels
