// Connectionist temporal classification. log_probs is [steps, batch, classes] of Float32 or Float64, any strides; targets are int64 memory
// in which the label k of sample i is at host_target_starts[i] + k * target_step. Labels that count and are no class are reported (dim 1).
#pragma once

#include "kernels/index.h"

namespace retrograd::kernels {

struct CtcShape {
  int64_t steps, batch, classes;
  int64_t longest;  // target
  int64_t blank;
  int64_t target_step;
  const int64_t *host_input_lengths, *host_target_lengths, *host_target_starts;  // batch of each
};

struct CtcKernels {
  // loss: [batch], -log of the likelihood, inf where no alignment is long enough. log_alpha: [batch, steps, 2 * longest + 1], for backward:
  // the likelihood of what came before and of being in a state (a label, or a blank beside it) at a step; -inf where there is no such state.
  Kernel<void(const CtcShape& shape, const Array& log_probs, const int64_t* targets, void* loss, void* log_alpha, IndexError* error)> loss;
  // out: [steps, batch, classes], its last dimension dense, all written: (exp(log_probs) - how likely the class is emitted at the step) *
  // grad, 0 behind the end of a sequence. Where the loss is inf: nan, or 0 with zero_infinity. loss and grad: [batch].
  Kernel<void(const CtcShape& shape, const Array& out, const Array& log_probs, const int64_t* targets, const void* loss,
              const void* log_alpha, const void* grad, bool zero_infinity)>
      backward;
};
RG_KERNEL_FAMILY(CtcKernels, ctc)

}  // namespace retrograd::kernels
