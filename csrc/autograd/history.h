// Recording: how a result gets its grad_fn, how views follow their base, and which writes in place are allowed.
//
// Note [Views and in-place writes]
// A differentiable view keeps its base (never another view). When memory under a view is written, the history that counts is the base's:
// writing a view gives the base a CopySlices node, and every other view of that base notices on its next use that the version has
// moved on since its own grad_fn was made (`view_version`) and makes a new one, an AsStridedBackward0 reading from the base.
#pragma once

#include <string>

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
// Before a write beside an op's results (running statistics), which carries no derivative: captured tensors may be written so.
void check_side_write(const Tensor& self);
// See Note [Captured tensors]. Deeper than a birth can say nothing is refused.
inline bool is_captured(const TensorImpl* t) { return std::min<int>(thread_state.transform_depth, kDeepestBirth) > birth(t); }
[[noreturn]] void refuse_captured();
void check_view_write(TensorImpl* view);              // the part of check_inplace() that is about views
void rebase_history(const Tensor& self, Node* node);  // takes over the node's reference
void wrote_inplace(const Tensor& self);               // version and site

// A sentence for error messages, empty when nothing is known.
std::string made_by(const Tensor& t);

extern const NodeInfo accumulate_grad_info;
struct AccumulateGrad : Node {
  TensorImpl* variable;  // owned
};

}  // namespace retrograd
