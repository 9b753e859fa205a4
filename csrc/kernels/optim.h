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
// shrink multiplies the parameter first.
struct AdamStep {
  double lr, beta1, beta2, eps, weight_decay, shrink;
  bool amsgrad, maximize;

  // What follows from the number of the step; kernels keep it between the tensors of a step, which mostly share that.
  double count = 0, step_size = 0, root_correction = 0;  // lr over the first bias correction, the root of the second
};

struct OptimKernels {
  Kernel<void(const Operands& ops, DType dtype, const SgdStep& step)> sgd;
  // Adds one to the count of steps before, a float32 or float64. There may be no elements.
  Kernel<void(const Operands& ops, DType dtype, AdamStep* host_step, void* host_count, DType count_dtype)> adam;
};
RG_KERNEL_FAMILY(OptimKernels, optim)

}  // namespace retrograd::kernels
