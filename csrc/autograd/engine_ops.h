// What the autograd layer needs from the ops above it; registered by csrc/ops/engine_ops.cpp. They are ops as any other: handlers see
// them, and a vmap maps them.
#pragma once

#include "autograd/node.h"

namespace retrograd {

// Where a view lies in its base. Its elements may be the parts of the base's (real and complex), their conjugates or negatives.
struct ViewGeometry {
  IntSpan sizes, strides;
  int64_t bytes;  // from the base's first element
  DType dtype;
  int lazy;  // flags that differ
};
inline int64_t bytes_into(const TensorImpl* view, const TensorImpl* base) {
  const auto offset = [](const TensorImpl* t) { return static_cast<char*>(t->data) - static_cast<char*>(t->storage->data); };
  return offset(view) - offset(base);  // set_() may have given one of them other memory
}
inline ViewGeometry geometry_in(const TensorImpl* view, const TensorImpl* base) {
  return {view->shape(), {view->strides(), view->ndim}, bytes_into(view, base), view->dtype, (view->flags ^ base->flags) & kLazy};
}

struct EngineOps {
  Tensor (*add)(const Tensor& a, const Tensor& b);
  void (*add_inplace)(const Tensor& a, const Tensor& b);
  Tensor (*clone)(const Tensor& t);
  Tensor (*clone_as)(const Tensor& t, IntSpan strides);  // into a new tensor with these strides
  Tensor (*sum_to)(const Tensor& t, IntSpan sizes);
  Tensor (*cast)(const Tensor& t, DType dtype);
  Tensor (*conj)(const Tensor& t);
  Tensor (*view_of)(const Tensor& t, const ViewGeometry& geometry);  // of a tensor laid out like the base
  Tensor (*varied)(const Tensor& t, const Tensor& like);             // t, with room for what differs between samples where `like` does
  void (*copy_inplace)(const Tensor& dst, const Tensor& src);
  void (*zero_inplace)(const Tensor& dst);
  Node* (*as_strided_node)(const Tensor& base, const TensorImpl* view);  // AsStridedBackward0 without running the op
};
extern EngineOps engine_ops;

}  // namespace retrograd
