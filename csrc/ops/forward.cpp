#include "ops/forward.h"

#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/layers.h"
#include "core/guards.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/derivatives.h"

namespace retrograd::forward {
namespace {

bool same_strides(const TensorImpl* a, const TensorImpl* b) {
  for (int d = 0; d < a->ndim; ++d)
    if (a->size(d) > 1 && a->stride(d) != b->stride(d)) return false;
  return true;
}

// A node that saved its own output saved it before the output had a tangent.
void tell_saved(const Tensor& result, uint32_t level, const Tensor& value) {
  Node* node = result->grad_fn;
  if (!node || result->base) return;
  for (const SavedField& field : node->info->saved) {
    if (field.kind != FieldKind::Tensor) continue;
    auto* saved = reinterpret_cast<SavedTensor*>(reinterpret_cast<char*>(node) + field.offset);
    if (saved->is_output && saved->output_nr == result->output_nr) saved->output_moves(level, value);
  }
}

// Whether anything behind a tensor has a history: the samples of a vmap, the tangents of outer levels.
bool moves(const TensorImpl* t) {
  if (requires_grad(t)) return true;
  if (!t->extra) return false;
  if (t->has(kBatched) && moves(t->extra->batched)) return true;
  if (!t->has(kDual)) return false;
  for (const Tangent* tangent = t->extra->tangents; tangent; tangent = tangent->next)
    if (moves(tangent->value)) return true;
  return false;
}

// A copy of a tangent in memory like that of `like`, zero where that has no elements: as_strided() may reach there.
Tensor in_memory_of(const Tensor& like, const Tensor& value) {
  const int64_t room = static_cast<int64_t>(like->storage->nbytes) / itemsize(value.dtype());
  const bool whole = like->offset() == 0 && room == like.numel();
  if (whole || like->has(kBatched) || value->has(kBatched)) return ops::_clone_as(value, like.strides());
  const Tensor memory = ops::zeros(IntSpan(&room, 1), value.dtype(), {}, value.device(), {}, {});
  const Tensor place = ops::as_strided(memory, like.sizes(), like.strides(), like->offset());
  ops::copy_(place, value, false);
  return place;
}

bool lies_as(const TensorImpl* a, const TensorImpl* b) {
  if (!same_strides(a, b)) return false;
  if (a->has(kBatched) || b->has(kBatched)) return true;
  return (a->numel == 0 || a->offset() == b->offset()) && a->storage->nbytes == b->storage->nbytes;
}

Tensor fitted(Tensor value, const Tensor& result) {
  if (!same_sizes(value.get(), result.get())) value = ops::expand(value, result.sizes(), false);
  if (value.dtype() != result.dtype()) value = ops::_to_copy(value, result.dtype(), std::nullopt);
  return value;
}

}  // namespace

void refuse(const char* op) {
  fail(ErrorKind::NotImplemented, "Trying to use forward AD with ", op,
       " that does not support it because it has not been implemented yet: there is no derivative for an argument that has a tangent here. "
       "detach() that argument where its derivative is not wanted.");
}

Tensor spread(const Tensor& tangent, const Tensor& result) { return fitted(tangent, result); }

void add_to(Tensor& total, const Tensor& part) {
  if (!part) return;
  total = total ? total + part : part;
}

Tensor tangent_or_zeros(const Tensor& t, uint32_t level) {
  if (!t) return t;
  if (Tensor tangent = tangent_of(t, level)) return tangent;
  return is_differentiable(t.dtype()) ? ops::zeros_like(primal(t, level), {}, {}, {}, {}, {}, {}) : t;
}

OwnedOperand tangent_or_zeros(const Operand& o, uint32_t level) {
  if (o.tensor) return {tangent_or_zeros(Tensor::borrow(o.tensor), level), Scalar()};
  return {Tensor(), Scalar(0)};
}

std::vector<Tensor> tangent_or_zeros(std::span<const Tensor> list, uint32_t level) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(tangent_or_zeros(t, level));
  return out;
}

void give(const Tensor& result, uint32_t level, const Tensor& given, bool view) {
  if (!given || !result || !is_differentiable(result.dtype())) return;
  Tensor value = fitted(given, result);
  if (!view) {
    if (!same_strides(value.get(), result.get()) && !has_internal_overlap(result.get())) {  // samples of a vmap may have gaps
      value = ops::_clone_as(value, result.strides());
    } else if (value->storage->refs > 1 || Py_REFCNT(value->object()) > 2) {  // here and in the rule
      value = ops::clone(value);                                              // nobody else's: a write in place goes into it
    }
  }
  set_tangent(result, level, value);
  tell_saved(result, level, value);
}

void give(std::span<const Tensor> results, uint32_t level, std::span<const Tensor> values, bool view) {
  for (size_t i = 0; i < results.size() && i < values.size(); ++i) give(results[i], level, values[i], view);
}

void attach(const Tensor& dual, uint32_t level, const Tensor& given) {
  const Tensor value = fitted(given, dual);
  const bool kept = lies_as(value.get(), dual.get()) || has_internal_overlap(dual.get());
  set_tangent(dual, level, kept ? value : in_memory_of(dual, value));
}

void give_inplace(const Tensor& self, uint32_t level, const Tensor& value) {
  if (!is_differentiable(self.dtype())) return;
  const OutsideTransforms here;  // the tangent of an outer level is written to by right
  Tensor present = tangent_of(self, level);
  if (present && present.is(value)) return;  // written already
  if (!value) {
    if (present) ops::zero_(present);
    return;
  }
  if (!present && self->base) {
    const Tensor base = Tensor::borrow(self->base);
    set_tangent(base, level, in_memory_of(base, ops::zeros_like(primal(base, level), {}, {}, {}, {}, {}, {})));
    present = tangent_of(self, level);
  }
  // The tangent has been the same for every sample of a vmap, and what is written is not; or make_dual(x, x): it lies where the value was written.
  if (present && (varies_more(value.get(), present.get()) || present->storage == self->storage)) {
    const Tensor base = self->base ? Tensor::borrow(self->base) : self;
    const Tensor owner = tangent_of(base, level) ? base : self;
    renew_tangent(owner, level, ops::_clone_as(engine_ops.varied(tangent_of(owner, level), value), owner.strides()));
    present = tangent_of(self, level);
  }
  if (present && !(requires_grad(present) && is_leaf(present.get()))) {
    ops::copy_(present, value, false);
  } else {
    give(self, level, value);
  }
}

std::vector<Tensor> transposed(std::span<const Tensor> inputs, uint32_t level,
                               const std::function<std::vector<Tensor>(std::span<const Tensor>)>& run) {
  bool record = false, deeper = false;
  std::vector<Tensor> leaves(inputs.size()), tangents(inputs.size());
  HeldEdges wanted, roots, seeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    tangents[i] = tangent_of(inputs[i], level);
    leaves[i] = primal(inputs[i], level);
    record |= requires_grad(leaves[i]) || requires_grad(tangents[i]);
    deeper |= (leaves[i] && moves(leaves[i].get())) || (tangents[i] && moves(tangents[i].get()));
    if (!tangents[i]) continue;
    if (requires_grad(leaves[i])) {
      const GradMode on(true);
      leaves[i] = ops::alias_view(leaves[i]);
    } else {
      Tensor leaf = alias(leaves[i]);
      copy_tangents(leaf, leaves[i]);
      leaf->flags |= kRequiresGrad | kPrivateLeaf;
      leaves[i] = leaf;
    }
  }
  record = record && thread_state.grad_mode;
  deeper = deeper && !record && thread_state.grad_mode;

  std::vector<Tensor> outputs, probes, gradients;
  {
    const GradMode on(true);
    outputs = run(leaves);
    for (const Tensor& leaf : leaves) wanted.add(leaf ? gradient_edge(leaf.get()) : Edge());
    for (const Tensor& out : outputs) {
      Tensor probe;
      if (out && requires_grad(out)) {
        probe = ops::zeros_like(out, {}, {}, {}, {}, {}, {});
        probe->flags |= kRequiresGrad | kPrivateLeaf;
      }
      probes.push_back(probe);
      roots.add(probe ? gradient_edge(out.get()) : Edge());
      seeds.add(probe ? gradient_edge(probe.get()) : Edge());
    }
    gradients = run_backward(roots.items, probes, wanted.items,
                             {.keep_graph = true, .create_graph = true, .accumulate = false, .has_inputs = true});
  }
  HeldEdges back;
  std::vector<Tensor> along;
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (!tangents[i] || !gradients[i] || !requires_grad(gradients[i])) continue;
    back.add(gradient_edge(gradients[i].get()));
    along.push_back(fitted(tangents[i], gradients[i]));
  }
  if (along.empty()) return std::vector<Tensor>(outputs.size());
  std::vector<Tensor> values = run_backward(
      back.items, along, seeds.items, {.keep_graph = record, .create_graph = record || deeper, .accumulate = false, .has_inputs = true});
  if (deeper) {  // the values themselves have no history but that of the leaves made here
    for (Tensor& value : values) {
      if (!value) continue;
      Tensor stripped = alias(value);
      copy_tangents(stripped, value);
      value = stripped;
    }
  }
  return values;
}

}  // namespace retrograd::forward
