#include "core/storage.h"

#include <sys/mman.h>

#include <cstring>

#include "core/chain.h"
#include "core/errors.h"
#include "core/inline_storage.h"

namespace retrograd {

void (*moved_storage)(Storage*, ptrdiff_t) = nullptr;

Storage* new_storage(size_t nbytes, Device device) {
  const bool no_memory = device.type == DeviceType::Meta;
  if (RG_LIKELY(nbytes <= kInlineLimit && !no_memory)) return new_inline_storage(nbytes, device);
  size_t capacity = 0;
  void* data = no_memory ? nullptr : allocate_block(nbytes, capacity);
  Storage* s = new_storage_header(0);
  s->device = device;
  s->data = data;
  s->nbytes = nbytes;
  s->capacity = capacity;
  if (!no_memory) count_allocated(nbytes);
  return s;
}

Storage* new_external_storage(void* data, size_t nbytes, Device device, void (*deleter)(void*), void* owner) {
  Storage* s = new_storage_header(0);
  s->device = device;
  s->flags = kStorageExternal | kStorageExported;
  s->data = data;
  s->nbytes = nbytes;
  s->external = new ExternalMemory{deleter, owner};
  return s;
}

namespace {

// The pages that lie wholly inside read as zeros from now on, and take no memory until they are written.
void discard(char* begin, size_t size) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) & ~(kPage - 1);
  const uintptr_t last = (reinterpret_cast<uintptr_t>(begin) + size) & ~(kPage - 1);
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

void resize_storage(Storage* s, size_t nbytes) {
  RG_CHECK(!(s->flags & (kStorageExternal | kStorageExported)),
           "Trying to resize storage that is not resizable: its memory is shared with NumPy, DLPack or another library");
  if (s->device.type == DeviceType::Meta) {
    s->nbytes = nbytes;
    return;
  }
  const size_t room = s->flags & kStorageInline ? s->inline_steps * kSmallStep : s->capacity;
  if (nbytes <= room) {  // tensors may still reach past the new end, so the block stays, and only its memory goes back
    if (nbytes < s->nbytes) discard(static_cast<char*>(s->data) + nbytes, s->nbytes - nbytes);
    count_freed(s->nbytes);
    count_allocated(nbytes);
    s->nbytes = nbytes;
    return;
  }
  if (s->refs > 1) moved_storage(s, 0);
  size_t capacity;
  void* data = allocate_block(nbytes, capacity);
  std::memcpy(data, s->data, nbytes < s->nbytes ? nbytes : s->nbytes);
  void* const old = s->data;
  const size_t old_capacity = s->flags & kStorageInline ? 0 : s->capacity;
  s->flags &= static_cast<uint8_t>(~kStorageInline);
  count_freed(s->nbytes);
  count_allocated(nbytes);
  s->data = data;
  s->nbytes = nbytes;
  s->capacity = capacity;
  if (s->refs > 1) moved_storage(s, static_cast<char*>(data) - static_cast<char*>(old));
  if (old_capacity) free_block(old, old_capacity);
}

void destroy_storage(Storage* s) noexcept {
  if (s->notes) forget_writes(s);
  if (s->flags & kStorageExternal) {
    if (s->external->deleter) let_go(s->external->deleter, s->external->owner);
    delete s->external;
  } else if (s->device.type != DeviceType::Meta) {
    if (!(s->flags & kStorageInline)) free_block(s->data, s->capacity);
    count_freed(s->nbytes);
  }
  free_small(s, size_t{1} + s->inline_steps);
}

}  // namespace retrograd
