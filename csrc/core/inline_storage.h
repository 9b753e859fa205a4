// Storages with their data behind the header: the inline half of core/storage.h, for the few places where every op passes.
#pragma once

#include "core/allocator.h"
#include "core/storage.h"

namespace retrograd {

inline constexpr size_t kStorageHeader = sizeof(Storage);
inline constexpr size_t kInlineLimit = kSmallLimit - kStorageHeader;  // what fits with the header in the largest small block
static_assert(kStorageHeader == kSmallStep);

// A header, all zero but for its one reference, with room for `steps` times 64 bytes of data.
inline Storage* new_storage_header(size_t steps) {
  auto* s = static_cast<Storage*>(allocate_small(1 + steps));
  *s = Storage{};
  s->refs = 1;
  s->inline_steps = static_cast<uint8_t>(steps);
  return s;
}

// nbytes <= kInlineLimit, on a device with memory.
inline Storage* new_inline_storage(size_t nbytes, Device device) {
  Storage* s = new_storage_header((nbytes + kSmallStep - 1) / kSmallStep);
  s->device = device;
  s->flags = kStorageInline;
  s->data = reinterpret_cast<char*>(s) + kStorageHeader;
  s->nbytes = nbytes;
  count_allocated(nbytes);
  return s;
}

// release(), with the common end in line.
inline void release_inline(Storage* s) {
  if (--s->refs != 0) return;
  if (__builtin_expect(!(s->flags & kStorageInline) || s->notes, 0)) return destroy_storage(s);
  count_freed(s->nbytes);
  free_small(s, size_t{1} + s->inline_steps);
}

}  // namespace retrograd
