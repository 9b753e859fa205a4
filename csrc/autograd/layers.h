// What transforms put on a tensor beside its data.
//
// Note [Layers of a tensor]
// Inside transforms the elements in memory are the least part of a tensor. It may be samples of a vmap; the tensor with all of them may have a
// history for a transform outside that vmap, and be samples of another one; and each of these may have tangents, with
// histories and tangents of their own. Python code that keeps a saved tensor in a form of its own (a copy, an array, a file) can keep the
// data alone. So it gets the data alone, and the rest is kept beside it, in a tensor that has all of this and no elements.
#pragma once

#include "autograd/tangent.h"
#include "core/guards.h"
#include "core/state.h"
#include "core/tensor.h"

namespace retrograd {

// For what belongs to no transform, or to one further out: what is made now was not made inside those that run. See Note [Captured tensors].
struct OutsideTransforms : Reset<set_transform_depth, uint8_t> {
  OutsideTransforms() : Reset(thread_state.transform_depth, 0) {}
};

inline bool has_layers(const TensorImpl* t) { return t->has(kBatched) || has_tangent(t); }  // tangents, or samples of a vmap
inline bool has_layers(const Tensor& t) { return t && has_layers(t.get()); }
inline bool has_layers(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (has_layers(t)) return true;
  return false;
}
template <class... Args>
  requires(sizeof...(Args) > 1)
bool has_layers(const Args&... args) {
  return (has_layers(args) || ...);
}

Tensor data_of(const Tensor& t);  // the elements in memory: an alias without history, tangents and batching

// The layers alone, with copies of the tangents, which a write in place to `t` would change. Of the history of `t` itself it knows nothing.
Tensor layers_of(const Tensor& t);
void add_tangent(Tensor& layers, uint32_t level,
                 const Tensor& value);  // of the tensor whose layers these are; undefined: it had none so far

// The data with the layers on it again.
Tensor with_layers(const Tensor& data, const Tensor& layers);

}  // namespace retrograd
