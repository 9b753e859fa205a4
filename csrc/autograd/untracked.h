// Results without a history: which notes they get from the arguments of their op. See Note [Where the history was cut].
#pragma once

#include "autograd/cut.h"
#include "autograd/history.h"

namespace retrograd {

// Whether what is computed from a tensor has a history, or a note that says where it was cut: see Note [Where the history was cut].
bool view_is_tracked_or_cut(const TensorImpl* t);
[[gnu::always_inline]] inline bool tracked_or_cut(const TensorImpl* t) {
  return t->grad_fn || asked_or_cut(t) || (t->base && view_is_tracked_or_cut(t));
}
inline bool tracked_or_cut(const Tensor& t) { return t && tracked_or_cut(t.get()); }
inline bool tracked_or_cut(const Operand& o) { return o.tensor && tracked_or_cut(o.tensor); }
bool tracked_or_cut(std::span<const Tensor> list);
template <class T, class... Rest> [[gnu::always_inline]] inline bool any_tracked_or_cut(const T& first, const Rest&... rest) {
  return (tracked_or_cut(first) || ... || tracked_or_cut(rest));
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
    if (!result || requires_grad(result.get())) return;
    const bool born = result->has(kInference) && result->cut;  // see Note [Inference tensors]
    set_cut(result.get(), born ? result->cut : note());
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
  if (requires_grad(self) || (keeps && !(tracked_or_cut(others) || ...))) return;  // nothing comes to what it has
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

}  // namespace retrograd
