#include "autograd/layers.h"

#include "autograd/engine_ops.h"
#include "autograd/tangent.h"
#include "core/promote.h"

namespace retrograd {
namespace {

bool fits(const TensorImpl* tangent, const TensorImpl* t) {
  for (int d = 0; d < t->ndim; ++d)
    if (t->size(d) > 1 && t->stride(d) != tangent->stride(d)) return false;
  return true;
}

Tensor without_elements(const Tensor& t) { return empty_strided(t.sizes(), t.strides(), t.dtype(), Device{DeviceType::Meta}); }

void give_history(const Tensor& to, Node* node, uint32_t nr) {  // takes over the node's reference
  set_history(to, node);
  to->output_nr = nr;
}

// A copy of a tangent, batched as it is: in a vmap inside that of the tangent it would count as made there.
Tensor copy_of(const Tensor& tangent) {
  const OutsideTransforms outside;
  Tensor out = engine_ops.clone(tangent);
  set_birth(out.get(), birth(tangent.get()));
  return out;
}

Tensor laid_out_as(const Tensor& t, const Tensor& tangent) {
  if (fits(tangent.get(), t.get()) || has_internal_overlap(t.get())) return tangent;
  const OutsideTransforms outside;
  return engine_ops.clone_as(tangent, t.strides());
}

Tensor layers_with_history(const Tensor& t) {
  Tensor out = layers_of(t);
  if (const Edge edge = gradient_edge(t.get()); edge.node) give_history(out, edge.node, edge.nr);
  return out;
}

}  // namespace

Tensor data_of(const Tensor& t) {
  const TensorImpl* data = t.get();
  while (data->has(kBatched)) data = data->extra->batched;
  return alias(Tensor::borrow(const_cast<TensorImpl*>(data)));
}

Tensor layers_of(const Tensor& t) {
  Tensor out;
  if (t->has(kBatched)) {
    out = batched(layers_with_history(Tensor::borrow(t->extra->batched)), t->extra->batch_dim, t->extra->batch_level);
  } else {
    out = without_elements(t);
  }
  set_birth(out.get(), birth(t.get()));
  for (const uint32_t level : all_levels_of(t)) set_tangent(out, level, copy_of(tangent_of(t, level)));
  return out;
}

void add_tangent(Tensor& layers, uint32_t level, const Tensor& value) {
  if (!layers) layers = without_elements(value);
  set_tangent(layers, level, copy_of(value));
}

Tensor with_layers(const Tensor& data, const Tensor& layers) {
  Tensor out;
  if (layers->has(kBatched)) {
    const Tensor whole = Tensor::borrow(layers->extra->batched);
    const Tensor with_whole = with_layers(data, whole);
    if (Node* node = whole->grad_fn) {
      Py_INCREF(node->object());
      give_history(with_whole, node, whole->output_nr);
    }
    out = batched(with_whole, layers->extra->batch_dim, layers->extra->batch_level);
  } else {
    RG_CHECK(same_sizes(data.get(), layers.get()) && data.dtype() == layers.dtype(),
             "Output of saved tensor unpack_hook expected to be a Tensor of size ", layers.sizes(), " and dtype ",
             dtype_name(layers.dtype()), ", as the pack_hook got it, but it is of size ", data.sizes(), " and dtype ",
             dtype_name(data.dtype()), ". A transform (vmap, jvp, a level of forward mode) goes on computing with it.");
    out = alias(data);
  }
  set_birth(out.get(), birth(layers.get()));
  for (const uint32_t level : all_levels_of(layers)) set_tangent(out, level, laid_out_as(out, tangent_of(layers, level)));
  return out;
}

}  // namespace retrograd
