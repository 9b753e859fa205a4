// Negative log likelihood. in is [n, c, d] floating, target int64 [n, d], weight contiguous [c] of in's dtype or null.
// ignore_index may be any value; other targets outside [0, c) are reported (dim 1).
//   None: out is [n, d], out = -weight[t] * in[t], 0 where ignored; *total_weight (of in's dtype) = 0.
//   Sum, Mean: out is one element; *total_weight = sum of weights of what was not ignored; Mean divides by it (0 / 0: nan).
// The backward writes all of grad_in (zero off target). grad_out is [n, d] for None, else one element (strides not read).
#pragma once

#include "kernels/index.h"

namespace retrograd::kernels {

enum class Reduction : uint8_t { None, Mean, Sum };
struct LossKernels {
  Kernel<void(const Array& out, void* total_weight, const Array& in, const Array& target, const void* weight, int64_t ignore_index,
              Reduction reduction, IndexError* error)>
      nll_loss;
  Kernel<void(const Array& grad_in, const Array& grad_out, const void* total_weight, const Array& target, const void* weight,
              int64_t ignore_index, Reduction reduction, IndexError* error)>
      nll_loss_backward;
};
RG_KERNEL_FAMILY(LossKernels, loss)

}  // namespace retrograd::kernels
