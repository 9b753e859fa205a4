// Optimizer steps on tensors: which tensors a fused step takes, and running it. Everything else is left to the optimizers in Python,
// which make the same steps of ordinary ops.
#pragma once

#include <span>

#include "core/tensor.h"
#include "kernels/pointwise.h"

namespace retrograd {

inline constexpr int kMaxStepTensors = 5;

// The tensors of one parameter in the order of the loop's operands: the gradient is the last, the others are written. Borrowed.
using StepTensors = std::span<TensorImpl* const>;

// Whether a fused step may run on them: CPU memory of one floating dtype and one shape, none shared, and nobody to be asked about the
// write (inference tensors outside inference mode, forward-mode tangents, views).
bool can_step(StepTensors tensors);

// Runs a loop of cpu/optim.h and counts the writes. `cost` is per 8 elements, see cpu::iterate.
void run_step(const kernels::Loop* loops, StepTensors tensors, const void* params, int cost);

}  // namespace retrograd
