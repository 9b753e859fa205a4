#include "autograd/untracked.h"

namespace retrograd {

bool view_is_tracked_or_cut(const TensorImpl* t) { return tracked_or_cut(t->base); }

bool tracked_or_cut(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (tracked_or_cut(t)) return true;
  return false;
}

void CutInputs::add_view(const TensorImpl* t) {
  if (requires_grad(t->base)) {
    cut_ = true;
    return;
  }
  if (t->cut) note_ = merge_cuts(note_, t->cut);
  if (t->base->cut) note_ = merge_cuts(note_, t->base->cut);
}

void CutInputs::give_written(const Tensor& self, bool keeps) const {
  const uint32_t now = note();
  TensorImpl *t = self.get(), *base = t->base;
  set_cut(t, keeps && cut_ ? merge_cuts(t->cut, now) : now);  // what it had is among the inputs where it is kept; its notes come first
  if (base) set_cut(base, merge_cuts(base->cut, now));
}

}  // namespace retrograd
