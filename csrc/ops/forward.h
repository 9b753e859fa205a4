// Forward mode: what the generated rules lean on. A rule computes the tangent of an op's result from those of its inputs; opgen writes it
// from the entry's `jvp` (see optable/README.md). Tangents are ordinary tensors, computed by ordinary ops, so they can be differentiated again.
#pragma once

#include <functional>

#include "autograd/tangent.h"

namespace retrograd::forward {

// A tangent of an input as wide as the result, as derivative formulas expect their `grad`.
Tensor spread(const Tensor& tangent, const Tensor& result);
void add_to(Tensor& total, const Tensor& part);  // undefined is zero

// The tangent of an argument, zeros where it has none.
Tensor tangent_or_zeros(const Tensor& t, uint32_t level);
OwnedOperand tangent_or_zeros(const Operand& o, uint32_t level);
std::vector<Tensor> tangent_or_zeros(std::span<const Tensor> list, uint32_t level);

// Sets the tangent of a result. `view`: it is a view of the tangent of an input, as the result is of that input.
void give(const Tensor& result, uint32_t level, const Tensor& value, bool view = false);
void give(std::span<const Tensor> results, uint32_t level, std::span<const Tensor> values, bool view = false);
// Sets the tangent that a caller gave: that very tensor, where it lies in its memory as `dual` does in its own, so that writes to either are seen.
void attach(const Tensor& dual, uint32_t level, const Tensor& given);
// After a write in place: into the tangent that is there, so that views of it follow.
void give_inplace(const Tensor& self, uint32_t level, const Tensor& value);

[[noreturn]] void refuse(const char* op);  // an input moves, and there is no derivative

// For ops without a rule of their own: backward is linear in the gradient it gets, so its own derivative, run backwards, is the forward rule.
// `run` computes the differentiable outputs from the inputs; the result has a tangent for each of them, undefined where it is zero.
std::vector<Tensor> transposed(std::span<const Tensor> inputs, uint32_t level,
                               const std::function<std::vector<Tensor>(std::span<const Tensor>)>& run);
inline Operand operand_or(const Tensor& t, const Operand& given) { return t ? Operand(t) : given; }
inline Tensor tensor_of(const Operand& o) { return o.tensor ? Tensor::borrow(o.tensor) : Tensor(); }

}  // namespace retrograd::forward
