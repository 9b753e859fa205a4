// Note [Sparse tensors]
// A sparse tensor is an instance of a subclass of Tensor that is written in Python (retrograd/_ops/sparse/tensor.py) and keeps its places and values
// as attributes, ordinary tensors. To C++ it is a tensor on the device `meta`: it has sizes, a dtype and a history, and no memory that a
// kernel could read by mistake. Calls from Python come to the subclass's __torch_function__, which computes on the parts or refuses;
// ops in C++ never meet one. What does is the engine, because gradients may be sparse: it adds them by functions of
// retrograd/_ops/sparse/engine.py, hands them to nodes that are written in Python and to leaves, and makes them dense for all other nodes.
#pragma once

#include "core/tensor.h"

namespace retrograd {

extern PyTypeObject* sparse_type;  // null until the first is made, which no tensor's type is
inline bool is_sparse(const TensorImpl* t) { return RG_UNLIKELY(reinterpret_cast<const PyObject*>(t)->ob_type == sparse_type); }
inline bool is_sparse(const Tensor& t) { return t && is_sparse(t.get()); }

// Whether a gradient is where the tensor is that it belongs to; a sparse one is nowhere in particular.
inline bool same_place(const TensorImpl* grad, const TensorImpl* t) {
  return grad->storage->device == t->storage->device || is_sparse(grad) || is_sparse(t);
}

// retrograd._ops.sparse.engine.<function>(a[, b]); set by python/engine_hooks.cpp.
extern Tensor (*call_sparse)(const char* function, const Tensor& a, const Tensor& b);

}  // namespace retrograd
