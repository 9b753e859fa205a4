// What generated dispatch code leans on.
#pragma once

#include "autograd/untracked.h"
#include "core/guards.h"
#include "ops.h"
#include "ops/autocast.h"
#include "ops/create/create.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/lazy.h"
#include "ops/pointwise/checks.h"
#include "python/intercept.h"

namespace retrograd {

inline bool differs(const TensorImpl* input, const TensorImpl* result) {
  return input->dtype != result->dtype || !same_sizes(input, result);
}

inline bool promotes(const TensorImpl* input, const TensorImpl* result) { return input && input->dtype != result->dtype; }

// A matrix whose columns lie one after the other, such as a transposed weight.
inline bool runs_along_columns(const TensorImpl* t) {
  return t->ndim == 2 && t->stride(0) == 1 && t->stride(1) == t->size(0) && t->size(0) != 1;
}

// Whether everything an op computes with is an inference tensor: outside inference mode such an op records nothing. A number counts as a
// normal tensor, and so does a sample of a vmap: the transforms inside that vmap follow it, whatever it is a sample of.
inline bool is_inference(const TensorImpl* t) { return (t->flags & (kInference | kBatched)) == kInference; }
inline bool is_inference(const Tensor& t) { return !t || is_inference(t.get()); }
inline bool is_inference(const Operand& o) { return o.tensor && is_inference(o.tensor); }
inline bool is_inference(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (!is_inference(t)) return false;
  return true;
}
template <class... Args> [[gnu::always_inline]] inline bool all_inference(const Args&... args) { return (is_inference(args) && ...); }

// What a view shows, in memory of its own: `<view>_copy`.
Tensor copied(const Tensor& view);
// For an in-place op whose derivative needs the value before the write.
Tensor inplace_original(const Tensor& self);
// Writes a computed result into an existing tensor: in-place variants of ops without a kernel for it.
void copy_result(const Tensor& self, const Tensor& result);
// An in-place op without derivative overwrote a tensor that had a history.
void cut_history(const Tensor& self, const char* op);
// [ndim, sizes..., ndim, sizes..., ...]
std::vector<int64_t> flatten_shapes(std::span<const Tensor> tensors);
std::vector<int64_t> flatten_dtypes(std::span<const Tensor> tensors);

}  // namespace retrograd
