// Storage: a block of memory shared by a tensor and its views, with its version counter and the notes that let errors name the
// line of a write. Reference counted without atomics: counts change only with the GIL held. Small storages carry their data
// in the same block as the header, so a small tensor costs two allocations from free lists.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "core/device.h"

namespace retrograd {

// A place in a Python program: a code object (owned) and the offset of an instruction in it. Taken by current_site() (core/state.h).
struct Site {
  PyCodeObject* code = nullptr;
  int32_t lasti = -1;
};

enum StorageFlags : uint8_t {
  kStorageCounters = 1,  // some tensor on it had a version counter of its own: a write may be unseen by others
  kStorageExternal = 2,  // memory belongs to somebody else (NumPy, DLPack, a buffer)
  kStorageExported = 4,  // memory was handed out to NumPy or DLPack, so writes may happen unseen
  kStorageInline = 8,    // data follows the header
};

struct ExternalMemory {
  void (*deleter)(void* owner);
  void* owner;
};

struct WriteNotes;  // see core/write_notes.h

struct Storage {
  uint32_t refs;
  uint32_t version;        // in-place writes that autograd sees
  uint32_t hidden_writes;  // writes that `version` does not count, see Note [Version counters] in core/tensor.h
  Device device;
  uint8_t flags;
  uint8_t inline_steps;  // room for data behind the header, in steps of 64 bytes
  void* data;
  size_t nbytes;
  size_t capacity;  // of the data block
  ExternalMemory* external;
  uint32_t saves;     // saved tensors on it that are alive, times two; odd: some of them since the last note
  WriteNotes* notes;  // owned; of writes to it while there are any
};
static_assert(sizeof(Storage) == 64, "one cache line, so that small data starts on the next");

inline constexpr uint32_t kSavesUncounted = 1u << 31;  // in `saves`: a saved tensor got other memory, and the count is lost
inline bool is_saved(const Storage* s) { return s->saves > 1; }
inline void add_save(Storage* s) { s->saves = (s->saves + 2) | 1; }
void forget_writes(Storage* s) noexcept;  // deletes the notes
inline void drop_save(Storage* s) {
  s->saves -= 2;
  if (__builtin_expect(s->notes != nullptr, 0) && !is_saved(s)) forget_writes(s);
}

Storage* new_storage(size_t nbytes, Device device, Stream stream = {});  // uninitialised; ready for work on the stream
Storage* new_external_storage(void* data, size_t nbytes, Device device, void (*deleter)(void*), void* owner);
// Keeps contents. The block may move: the caller re-reads `data`, and tensors that share the storage are told through moved_storage.
void resize_storage(Storage* storage, size_t nbytes, Stream stream = {});
extern void (*moved_storage)(Storage* storage, ptrdiff_t by);  // set by core/tensor.cpp
void destroy_storage(Storage* storage) noexcept;

inline void retain(Storage* s) { ++s->refs; }
inline void release(Storage* s) {
  if (--s->refs == 0) destroy_storage(s);
}

}  // namespace retrograd
