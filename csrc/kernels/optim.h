// One optimizer step for one tensor: all of a step's arithmetic in a single pass over memory. All operands have one floating dtype.
// 16-bit floats compute in float and are rounded when they are stored.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"
#include "kernels/pointwise.h"

namespace retrograd::kernels {

// The parameters of `sgd`. Operands: param, then the momentum buffer if momentum is not 0, then the gradient.
struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool nesterov, maximize;
};

// The parameters of `adam`. Operands: param, exp_avg, exp_avg_sq, then max_exp_avg_sq if amsgrad, then the gradient.
// step_size is lr over the first bias correction, root_correction the root of the second, shrink multiplies the parameter first.
struct AdamStep {
  double beta1, beta2, eps, weight_decay, step_size, root_correction, shrink;
  bool amsgrad, maximize;
};

struct OptimKernels {
  Kernel<void(const Operands& ops, DType dtype, const SgdStep& step)> sgd;
  Kernel<void(const Operands& ops, DType dtype, const AdamStep& step)> adam;
};
RG_KERNEL_FAMILY(OptimKernels, optim)

}  // namespace retrograd::kernels
