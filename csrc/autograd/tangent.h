// Forward mode: tangents.
//
// A tensor may carry one tangent per forward-mode level (extra->tangents, flag kDual). A level is entered and left on one thread; leaving it drops
// its tangents wherever they are, saved tensors included. Ops give their results tangents by the rules of the op table (ops/forward.h).
//
// Note [Levels of tangents]
// Levels nest: func.jvp inside func.jvp. The tangent of a level may itself carry tangents of lower (outer) levels, never of higher ones, and a rule
// for level l sees its inputs as primal(x, l): the same value and history with the tangents below l only. So second derivatives are tangents of
// tangents, and no two levels are mixed up.
#pragma once

#include <type_traits>

#include "autograd/history.h"
#include "core/guards.h"

namespace retrograd {

uint32_t enter_dual_level();
uint32_t last_dual_level();  // whatever is entered from now on is later
void exit_dual_level(uint32_t level);
bool dual_level_is_active(uint32_t level);

// Its own tangents, or those of the tensor it is a view of.
inline bool has_tangent(const TensorImpl* t) { return t->has(kDual) || (t->base && t->base->has(kDual)); }
inline bool has_tangent(const Tensor& t) { return t && has_tangent(t.get()); }
inline bool has_tangent(const Operand& o) { return o.tensor && has_tangent(o.tensor); }
inline bool has_tangent(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (has_tangent(t)) return true;
  return false;
}
template <class T>
  requires(!std::is_same_v<T, TensorImpl*>)
bool has_tangent(const T&) {
  return false;
}

// The levels among some arguments that are visible, each once, outer ones first: a rule for an inner level may use the result, outer tangents included.
struct Levels {
  uint32_t ids[64];
  int count = 0;
  uint32_t first = thread_state.first_visible_level, last = thread_state.last_visible_level;
  void add(const TensorImpl* t);
  void add(const Tensor& t) {
    if (t) add(t.get());
  }
  void add(const Operand& o) {
    if (o.tensor) add(o.tensor);
  }
  void add(std::span<const Tensor> list) {
    for (const Tensor& t : list) add(t);
  }
  template <class T>
    requires(!std::is_same_v<T, TensorImpl*>)
  void add(const T&) {}
  const uint32_t* begin() const { return ids; }
  const uint32_t* end() const { return ids + count; }
};
template <class... Args> Levels levels_of(const Args&... args) {
  Levels levels;
  (levels.add(args), ...);
  return levels;
}
Levels all_levels_of(const Tensor& t);  // the invisible ones too
inline bool forward_mode() { return thread_state.forward_enabled && !thread_state.inference_mode; }
template <class... Args> bool any_tangent(const Args&... args) {
  return thread_state.dual_levels != 0 && forward_mode() && (has_tangent(args) || ...) && levels_of(args...).count != 0;
}

// Whether an argument has a tangent of a level entered after `level`.
inline bool has_tangent_after(uint32_t level, const TensorImpl* t) {
  for (const TensorImpl* owner : {t, static_cast<const TensorImpl*>(t->base)}) {
    if (!owner || !owner->has(kDual)) continue;
    for (const Tangent* tangent = owner->extra->tangents; tangent; tangent = tangent->next)
      if (tangent->level > level) return true;
  }
  return false;
}

Tensor tangent_of(const Tensor& t, uint32_t level);  // undefined: zero
inline Tensor tangent_of(const Operand& o, uint32_t level) { return o.tensor ? tangent_of(Tensor::borrow(o.tensor), level) : Tensor(); }
void set_tangent(const Tensor& t, uint32_t level, const Tensor& value);
void renew_tangent(const Tensor& base, uint32_t level, const Tensor& value);  // views of `base` will see it too
void copy_tangents(const Tensor& to, const Tensor& from, uint32_t below = UINT32_MAX);

// See Note [Levels of tangents].
Tensor primal(const Tensor& t, uint32_t level);
inline OwnedOperand primal(const Operand& o, uint32_t level) {
  return {o.tensor ? primal(Tensor::borrow(o.tensor), level) : Tensor(), o.scalar};
}
std::vector<Tensor> primal(std::span<const Tensor> list, uint32_t level);

// The same value with the same gradient edge, but without a base and without tangents.
Tensor same_history(const Tensor& t);

// Switches forward mode off for a while.
struct TangentsOff : Reset<set_dual_levels, uint32_t> {
  TangentsOff() : Reset(thread_state.dual_levels, 0) {}
};

}  // namespace retrograd
