// Layer normalisation over contiguous rows. 16-bit floats compute in float.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

// All arrays have one floating dtype and are contiguous: in, out and gradients [rows, n], mean and rstd [rows], weight, bias and theirs [n].
struct NormKernels {
  // out = (in - mean) * rstd * weight + bias with rstd = 1 / sqrt(variance + eps). weight and bias may be null. rows, n > 0.
  Kernel<void(DType dtype, int64_t rows, int64_t n, const void* in, const void* weight, const void* bias, double eps, void* out, void* mean,
              void* rstd)>
      layer_norm;
  // Any of the three results may be null: not wanted. The same bits for every number of threads.
  Kernel<void(DType dtype, int64_t rows, int64_t n, const void* grad, const void* in, const void* weight, const void* mean,
              const void* rstd, void* grad_in, void* grad_weight, void* grad_bias)>
      layer_norm_backward;
};
RG_KERNEL_FAMILY(NormKernels, norm)

}  // namespace retrograd::kernels
