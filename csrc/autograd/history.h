// Recording: how a result gets its grad_fn, how views follow their base, and which writes in place are allowed.
//
// Note [Views and in-place writes]
// A differentiable view keeps its base (never another view). When memory under a view is written, the history that counts is the base's:
// writing a view gives the base a CopySlices node, and every other view of that base notices on its next use that the version has
// moved on since its own grad_fn was made (`view_version`) and makes a new one, an AsStridedBackward0 reading from the base.
#pragma once

#include <string>

#include "autograd/cut.h"
#include "autograd/node.h"
#include "core/state.h"

namespace retrograd {

bool view_requires_grad(const TensorImpl* t);  // of a view: the base counts too

[[gnu::always_inline]] inline bool requires_grad(const TensorImpl* t) {
  return t->grad_fn || (t->flags & kRequiresGrad) || (t->base && view_requires_grad(t));
}
inline bool requires_grad(const Tensor& t) { return t && requires_grad(t.get()); }
inline bool requires_grad(const Operand& o) { return o.tensor && requires_grad(o.tensor); }
bool requires_grad(std::span<const Tensor> list);
template <class T, class... Rest> [[gnu::always_inline]] inline bool any_requires_grad(const T& first, const Rest&... rest) {
  return (requires_grad(first) || ... || requires_grad(rest));
}

// Whether what is computed from a tensor has a history, or a note that says where it was cut: see Note [Where the history was cut].
bool view_follows(const TensorImpl* t);
[[gnu::always_inline]] inline bool follows(const TensorImpl* t) { return t->grad_fn || asked_or_noted(t) || (t->base && view_follows(t)); }
inline bool follows(const Tensor& t) { return t && follows(t.get()); }
inline bool follows(const Operand& o) { return o.tensor && follows(o.tensor); }
bool follows(std::span<const Tensor> list);
template <class T, class... Rest> [[gnu::always_inline]] inline bool any_follows(const T& first, const Rest&... rest) {
  return (follows(first) || ... || follows(rest));
}

// The note of a tensor that requires no grad; a view has that of its base.
inline uint32_t note_of(const TensorImpl* t) { return t->has_cut || !t->base ? t->cut : t->base->cut; }

// Notes of the arguments of an op that records nothing.
class CutInputs {
 public:
  explicit CutInputs(const char* op) : op_(op) { make_room(); }
  [[gnu::always_inline]] void add(const TensorImpl* t) {
    if (!t) return;
    if (t->grad_fn || (t->flags & kRequiresGrad)) {
      cut_ = true;
    } else if (RG_UNLIKELY(t->base != nullptr)) {
      add_view(t);
    } else if (t->cut) {
      note_ = note_ ? merge_cuts(note_, t->cut) : t->cut;
    }
  }
  void add(const Tensor& t) { add(t.get()); }
  void add(const Operand& o) { add(o.tensor); }
  void add(std::span<const Tensor> list) {
    for (const Tensor& t : list) add(t.get());
  }
  [[gnu::always_inline]] void give(const Tensor& result) const {
    if (result && !requires_grad(result.get())) set_cut(result.get(), note());
  }
  void give(std::span<const Tensor> results) const {
    for (const Tensor& t : results) give(t);
  }
  void give_written(const Tensor& self, bool keeps) const;  // keeps: something of what was there before is left

 private:
  uint32_t note() const { return cut_ ? merge_cuts(cut_by_op(op_), note_) : note_; }
  void add_view(const TensorImpl* t);

  const char* op_;
  uint32_t note_ = 0;
  bool cut_ = false;
};
template <class R, class... Args> [[gnu::noinline]] void note_untracked(const char* op, const R& result, const Args&... inputs) {
  CutInputs notes(op);
  (notes.add(inputs), ...);
  notes.give(result);
}
// The same after a write in place.
template <class... Args> [[gnu::noinline]] void note_written(const char* op, bool keeps, const Tensor& self, const Args&... others) {
  if (requires_grad(self)) return;
  CutInputs notes(op);
  if (keeps) notes.add(self);
  (notes.add(others), ...);
  notes.give_written(self, keeps);
}

// A gradient without history says which backward it is from.
inline void note_gradient(const Tensor& grad) {
  if (thread_state.grad_mode || grad->has_cut || requires_grad(grad)) return;
  set_cut(grad.get(), cut_by_op(nullptr));
}

// The edge a gradient for `t` goes along, with a new reference; a null node when `t` takes none.
Edge gradient_edge(TensorImpl* t);

inline void Node::set_edge(size_t i, TensorImpl* t) {
  Node* next = t->grad_fn;
  if (RG_LIKELY(next && !t->base && !next->has(kNodeMarked))) {
    Py_INCREF(next->object());
    edges[i] = {next, t->output_nr};
  } else if (next || t->base || (t->flags & kRequiresGrad)) {
    set_edge_slow(i, t);
  }
}

Node* grad_fn_of(TensorImpl* t);  // borrowed; brings a stale view up to date first
bool is_leaf(TensorImpl* t);

// Makes `node` the history of `result`. The node's own reference is taken over by result (nr 0) or shared (nr > 0).
inline void set_history(const Tensor& result, Node* node, uint32_t nr = 0) {
  TensorImpl* t = result.get();
  t->grad_fn = node;
  t->output_nr = nr;
  if (nr) Py_INCREF(node->object());
  if (RG_UNLIKELY(node->has(kNodeMarked) || track_everything)) track_tensor(t);
}

// Gives `t` another history in place of the one it has (a write in place); takes over the node's reference. retain_grad() follows, unless
// `t` has another shape now: what it keeps is then the gradient of the tensor as it was.
void replace_history(TensorImpl* t, Node* node, uint32_t nr = 0, bool moves_retained = true);

// `result` shares memory with `source` and is differentiable with respect to it.
void set_view(const Tensor& result, const Tensor& source, ViewOrigin origin = ViewOrigin::Default);

// Before and after a write in place. `needs_grad`: whether any input of the op requires grad.
void check_inplace(const Tensor& self, bool needs_grad);
// See Note [Captured tensors]. Deeper than a birth can say nothing is refused.
inline bool is_captured(const TensorImpl* t) { return std::min<int>(thread_state.transform_depth, kDeepestBirth) > birth(t); }
[[noreturn]] void refuse_captured();
void check_view_write(TensorImpl* view);              // the part of check_inplace() that is about views
void rebase_history(const Tensor& self, Node* node);  // takes over the node's reference
void wrote_inplace(const Tensor& self);               // version and site

// A sentence for error messages, empty when nothing is known.
std::string made_by(const Tensor& t);

// What the autograd layer needs from the ops above it; registered by csrc/ops/engine_ops.cpp.
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

extern const NodeInfo accumulate_grad_info;
struct AccumulateGrad : Node {
  TensorImpl* variable;  // owned
};

}  // namespace retrograd
