// Storage: a block of memory shared by a tensor and its views, with its version counter and the record that lets errors name the
// line of a write. Reference counted without atomics: counts change only with the GIL held. Small storages carry their data
// in the same block as the header, so a small tensor costs two allocations from free lists.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

#include "core/device.h"

namespace retrograd {

// A place in a Python program: a code object (owned) and the offset of an instruction in it. See autograd/sites.h.
struct Site {
  PyCodeObject* code = nullptr;
  int32_t lasti = -1;
};

enum StorageFlags : uint8_t {
  kStorageSaved = 1,         // some node saved a tensor on this storage: writes record their site
  kStorageExternal = 2,      // memory belongs to somebody else (NumPy, DLPack, a buffer)
  kStorageExported = 4,      // memory was handed out to NumPy or DLPack, so writes may happen unseen
  kStorageInline = 8,        // data follows the header
  kStorageFingerprint = 16,  // its contents were noted when it was handed out, see autograd/fingerprint.h
};

struct ExternalMemory {
  void (*deleter)(void* owner);
  void* owner;
};

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
  Site written;  // last write, kept while kStorageSaved
};
static_assert(sizeof(Storage) == 64, "one cache line, so that small data starts on the next");

Storage* new_storage(size_t nbytes, Device device);  // uninitialised
Storage* new_external_storage(void* data, size_t nbytes, Device device, void (*deleter)(void*), void* owner);
// Keeps contents. The block may move: the caller re-reads `data`, and tensors that share the storage are told through moved_storage.
void resize_storage(Storage* storage, size_t nbytes);
extern void (*moved_storage)(Storage* storage, ptrdiff_t by);  // set by core/tensor.cpp
extern void (*forget_storage)(const Storage* storage);         // a storage with kStorageFingerprint is freed
void destroy_storage(Storage* storage) noexcept;

inline void retain(Storage* s) { ++s->refs; }
inline void release(Storage* s) {
  if (--s->refs == 0) destroy_storage(s);
}

}  // namespace retrograd
