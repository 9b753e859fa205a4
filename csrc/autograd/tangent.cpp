#include "autograd/tangent.h"
#include "autograd/engine_ops.h"
#include "autograd/untracked.h"

namespace retrograd {
namespace {

// Entered and not left yet, by all threads; guarded by the GIL.
struct DualLevel {
  uint32_t id;
  Tangent* first;
  DualLevel* outer;
};
DualLevel* active = nullptr;
uint32_t last_id = 0;

DualLevel* find_level(uint32_t id) {
  DualLevel* level = active;
  while (level && level->id != id) level = level->outer;
  return level;
}

Tangent* find_tangent(const TensorImpl* t, uint32_t level) {
  if (!t->has(kDual)) return nullptr;
  for (Tangent* tangent = t->extra->tangents; tangent; tangent = tangent->next)
    if (tangent->level == level) return tangent;
  return nullptr;
}

bool same_layout(const TensorImpl* a, const TensorImpl* b) {
  if (!same_sizes(a, b)) return false;
  for (int d = 0; d < a->ndim; ++d)
    if (a->size(d) > 1 && a->stride(d) != b->stride(d)) return false;
  return true;
}

}  // namespace

uint32_t enter_dual_level() {
  active = new DualLevel{++last_id, nullptr, active};
  set_dual_levels(thread_state.dual_levels + 1);
  return active->id;
}

uint32_t last_dual_level() { return last_id; }

void exit_dual_level(uint32_t id) {
  DualLevel** at = &active;
  while (*at && (*at)->id != id) at = &(*at)->outer;
  RG_CHECK(*at, "Trying to exit a forward AD level that is not active: ", id);
  DualLevel* level = *at;
  *at = level->outer;
  set_dual_levels(thread_state.dual_levels ? thread_state.dual_levels - 1 : 0);
  while (level->first) drop_tangent(level->first);
  delete level;
}

bool dual_level_is_active(uint32_t level) { return find_level(level) != nullptr; }

void Levels::add(const TensorImpl* t) {
  const TensorImpl* owners[] = {t, t->base};
  for (const TensorImpl* owner : owners) {
    if (!owner || !owner->has(kDual)) continue;
    for (const Tangent* tangent = owner->extra->tangents; tangent; tangent = tangent->next) {
      bool known = tangent->level < first || tangent->level > last;
      for (int i = 0; i < count; ++i) known |= ids[i] == tangent->level;
      if (known) continue;
      RG_CHECK(count < static_cast<int>(std::size(ids)), "forward-mode levels are nested too deeply: a tensor has tangents of at most ",
               std::size(ids), " levels (jvp inside jvp)");
      int at = count++;
      for (; at > 0 && ids[at - 1] > tangent->level; --at) ids[at] = ids[at - 1];
      ids[at] = tangent->level;
    }
  }
}

Levels all_levels_of(const Tensor& t) {
  Levels levels;
  levels.first = 0;
  levels.last = UINT32_MAX;
  levels.add(t);
  return levels;
}

Tensor tangent_of(const Tensor& t, uint32_t level) {
  if (!t) return {};
  if (Tangent* own = find_tangent(t.get(), level)) return Tensor::borrow(own->value);
  if (!t->base) return {};
  const Tangent* whole = find_tangent(t->base, level);
  if (!whole) return {};
  // A view made before its base got a tangent: its tangent is the same view of it.
  RG_CHECK(same_layout(whole->value, t->base),
           "forward mode: the tangent of a tensor that has views must have the layout of the tensor\n  Hint: pass a tangent with the "
           "strides of the "
           "tensor, as torch.empty_like(tensor).copy_(tangent) has, or take the views of the dual tensor.");
  const Tensor value = engine_ops.view_of(Tensor::borrow(whole->value), geometry_in(t.get(), t->base));
  set_tangent(t, level, value);
  return value;
}

void set_tangent(const Tensor& t, uint32_t level, const Tensor& value) {
  if (Tangent* old = find_tangent(t.get(), level)) {
    TensorImpl* before = std::exchange(old->value, Tensor(value).release());
    Py_DECREF(before->object());
    return;
  }
  DualLevel* owner = find_level(level);
  if (!owner) return;  // the level has been left meanwhile
  TensorExtra& extra = extra_of(t.get());
  auto* tangent = new Tangent{level, Tensor(value).release(), extra.tangents, owner->first, &owner->first, t.get()};
  if (owner->first) owner->first->link = &tangent->next_of_level;
  owner->first = tangent;
  extra.tangents = tangent;
  t->flags |= kDual;
}

void renew_tangent(const Tensor& base, uint32_t level, const Tensor& value) {
  set_tangent(base, level, value);
  DualLevel* owner = find_level(level);
  Tangent* tangent = owner ? owner->first : nullptr;
  while (tangent) {
    const bool derived = tangent->owner->base == base.get();  // from the old one; found again when asked for
    if (derived) drop_tangent(tangent);                       // and whatever that frees: the list may be another one now
    tangent = derived ? owner->first : tangent->next_of_level;
  }
}

void copy_tangents(const Tensor& to, const Tensor& from, uint32_t below) {
  for (const uint32_t level : all_levels_of(from))
    if (level < below) set_tangent(to, level, tangent_of(from, level));
}

Tensor same_history(const Tensor& t) {
  Tensor out = alias(t);
  const Edge edge = gradient_edge(t.get());
  if (edge.node) {
    set_history(out, edge.node);
    out->output_nr = edge.nr;
  } else {
    set_cut(out.get(), note_of(t.get()));
  }
  return out;
}

Tensor primal(const Tensor& t, uint32_t level) {
  if (!t || !has_tangent(t.get())) return t;
  bool drops = false;
  for (const uint32_t other : all_levels_of(t)) drops |= other >= level;
  if (!drops) return t;
  Tensor out = same_history(t);
  copy_tangents(out, t, level);
  return out;
}

std::vector<Tensor> primal(std::span<const Tensor> list, uint32_t level) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(primal(t, level));
  return out;
}

}  // namespace retrograd
