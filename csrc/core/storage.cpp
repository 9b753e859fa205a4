#include "core/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/backend.h"
#include "core/chain.h"
#include "core/errors.h"
#include "core/inline_storage.h"
#include "core/launch.h"
#include "kernels/copy.h"

namespace retrograd {

void (*moved_storage)(Storage*, ptrdiff_t) = nullptr;

Storage* new_storage(size_t nbytes, Device device, Stream stream) {
  if (RG_LIKELY(nbytes <= kInlineLimit && device.is_cpu())) return new_inline_storage(nbytes, device);
  size_t capacity = 0;
  void* data = device.type == DeviceType::Meta ? nullptr : backend_of(device).allocate(nbytes, capacity, stream);
  Storage* s = new_storage_header(0);
  s->device = device;
  s->data = data;
  s->nbytes = nbytes;
  s->capacity = capacity;
  if (device.is_cpu()) count_allocated(nbytes);
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

void copy_bytes(Device device, void* to, const void* from, size_t bytes, Stream stream) {
  if (device.is_cpu()) {
    std::memcpy(to, from, bytes);
    return;
  }
  const int64_t size[] = {static_cast<int64_t>(bytes)}, one[] = {1};
  const Launch launch(device, 0, stream);
  kernels::copy(device).copy({to, DType::UInt8, 1, size, one}, {const_cast<void*>(from), DType::UInt8, 1, size, one});
}

void recount(size_t freed, size_t allocated) {
  count_freed(freed);
  count_allocated(allocated);
}

}  // namespace

void resize_storage(Storage* s, size_t nbytes, Stream stream) {
  RG_CHECK(!(s->flags & (kStorageExternal | kStorageExported)),
           "Trying to resize storage that is not resizable: its memory is shared with NumPy, DLPack or another library\n"
           "  Hint: resize a clone() of the tensor, which has memory of its own.");
  if (s->device.type == DeviceType::Meta) {
    s->nbytes = nbytes;
    return;
  }
  const bool on_cpu = s->device.is_cpu();
  const size_t room = s->flags & kStorageInline ? s->inline_steps * kSmallStep : s->capacity;
  if (nbytes <= room) {  // tensors may still reach past the new end, so the block stays, and only its memory goes back
    if (nbytes < s->nbytes && on_cpu) discard(static_cast<char*>(s->data) + nbytes, s->nbytes - nbytes);
    if (on_cpu) recount(s->nbytes, nbytes);
    s->nbytes = nbytes;
    return;
  }
  if (s->refs > 1) moved_storage(s, 0);
  size_t capacity;
  const Backend& backend = backend_of(s->device);
  void* data = backend.allocate(nbytes, capacity, stream);
  copy_bytes(s->device, data, s->data, std::min(nbytes, s->nbytes), stream);
  void* const old = s->data;
  const size_t old_capacity = s->flags & kStorageInline ? 0 : s->capacity;
  s->flags &= static_cast<uint8_t>(~kStorageInline);
  if (on_cpu) recount(s->nbytes, nbytes);
  s->data = data;
  s->nbytes = nbytes;
  s->capacity = capacity;
  if (s->refs > 1) moved_storage(s, static_cast<char*>(data) - static_cast<char*>(old));
  if (old_capacity) backend.free(old, old_capacity);
}

void destroy_storage(Storage* s) noexcept {
  if (s->notes) forget_writes(s);
  if (s->flags & kStorageExternal) {
    if (s->external->deleter) let_go(s->external->deleter, s->external->owner);
    delete s->external;
  } else if (s->device.type != DeviceType::Meta) {
    if (!(s->flags & kStorageInline)) backend_of(s->device).free(s->data, s->capacity);
    if (s->device.is_cpu()) count_freed(s->nbytes);
  }
  free_small(s, size_t{1} + s->inline_steps);
}

}  // namespace retrograd
