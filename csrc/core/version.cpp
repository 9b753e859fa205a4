// Version counters: see Note [Version counters] in core/tensor.h.
#include "core/tensor.h"
#include "core/write_notes.h"

namespace retrograd {

namespace {

void use_cell(TensorImpl* t, VersionCell* cell) {
  TensorExtra& extra = extra_of(t);
  ++cell->refs;
  if (extra.version_cell && --extra.version_cell->refs == 0) delete extra.version_cell;
  extra.version_cell = cell;
  t->flags |= kOwnVersion;
  t->storage->flags |= kStorageCounters;
}

}  // namespace

void share_version(TensorImpl* t, const TensorImpl* source) { use_cell(t, source->extra->version_cell); }
void give_version(TensorImpl* t, uint32_t version) { use_cell(t, new VersionCell{.refs = 0, .version = version}); }

// Whoever saved `t` sees that it has other memory now. Its views stay where they are, and keep counting with it.
void move_to(TensorImpl* t, Storage* storage) {
  if (t->storage == storage) return;
  note_move(t, storage);
  if (!has_version(t)) {
    retain(storage);
    release(std::exchange(t->storage, storage));
    return;
  }
  const uint32_t unseen = unseen_writes(t);
  if (!t->has(kOwnVersion)) {
    Storage* old = t->storage;
    give_version(t, old->version);
    if (old->refs > 1)
      for_each_tensor(
          [](TensorImpl* other, void* moved) {
            auto* t = static_cast<TensorImpl*>(moved);
            if (other->storage == t->storage && !other->has(kOwnVersion)) share_version(other, t);
          },
          t);
  }
  retain(storage);
  storage->flags |= kStorageCounters;
  release(std::exchange(t->storage, storage));
  t->extra->unseen_base += unseen + 1 - unseen_writes(t);
}

void bump_version(TensorImpl* t) {
  Storage* s = t->storage;
  if (RG_UNLIKELY(t->has(kOwnVersion))) {
    ++t->extra->version_cell->version;
    ++s->hidden_writes;
  } else {
    ++s->version;
  }
  if (RG_UNLIKELY(is_saved(s))) note_written(t);
}

}  // namespace retrograd
