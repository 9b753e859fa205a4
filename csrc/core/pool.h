// Slab pools for tensors and graph nodes. Objects come from chunks of equal slots through a free list, so creating one costs a few
// nanoseconds, does not count towards the garbage collector's thresholds, and every live object can be enumerated
// (see Note [Joining the collector] in core/tensor.h). Used with the GIL held.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define RG_POISON(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define RG_UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#else
#define RG_POISON(p, n)
#define RG_UNPOISON(p, n)
#endif

namespace retrograd {

// Room CPython's collector wants in front of every object of a garbage-collected type; two words on every supported version.
// All zero means "not tracked".
struct GcHead { uintptr_t words[2]; };
static_assert(sizeof(GcHead) == 16);

// The first reference to an object in memory that is not initialised. Py_SET_REFCNT alone would leave what looks like an immortal object as it is.
inline void first_reference(PyObject* o) {
  o->ob_refcnt = 0;
  Py_SET_REFCNT(o, 1);
}

// Slots start on a cache line, so an object begins sizeof(GcHead) bytes into one.
inline constexpr size_t kSlotStep = 64;

class Pool {
 public:
  explicit Pool(size_t object_bytes) : slot_bytes_((object_bytes + sizeof(GcHead) + kSlotStep - 1) & ~(kSlotStep - 1)) {}

  // Uninitialised but for the collector's head; the caller sets refcount and type.
  PyObject* take() {
    Slot* slot = free_;
    if (__builtin_expect(!slot, 0)) slot = grow();
    RG_UNPOISON(slot, slot_bytes_);
    free_ = slot->next;
    ++live_;
    auto* head = reinterpret_cast<GcHead*>(slot);
    head->words[0] = head->words[1] = 0;
    return reinterpret_cast<PyObject*>(head + 1);
  }

  void give(PyObject* object) {
    --live_;
    auto* slot = reinterpret_cast<Slot*>(reinterpret_cast<GcHead*>(object) - 1);
    slot->next = free_;
    slot->live_mark = kFreeMark;
    free_ = slot;
    RG_POISON(reinterpret_cast<char*>(slot) + sizeof(Slot), slot_bytes_ - sizeof(Slot));
    if (__builtin_expect(live_ == 0, 0) && chunks_.size() > kKeepChunks) trim();
  }

  size_t live() const { return live_; }

  template <class F> void for_each(F&& f) {
    for (char* chunk : chunks_)
      for (size_t i = 0; i < slots_per_chunk(); ++i) {
        auto* slot = reinterpret_cast<Slot*>(chunk + i * slot_bytes_);
        if (slot->live_mark != kFreeMark) f(reinterpret_cast<PyObject*>(reinterpret_cast<GcHead*>(slot) + 1));
      }
  }

  // Gives chunks back to the system once nothing in the pool is alive, all but a few.
  void trim() {
    if (live_ != 0) return;
    for (char* chunk : chunks_) {
      RG_UNPOISON(chunk, kChunkBytes);
      std::free(chunk);
    }
    chunks_.clear();
    free_ = nullptr;
  }

 private:
  // A free slot keeps its link and a mark in the words of the collector's head; a tracked object's second word is never the mark
  // (it is a list pointer with low flag bits), an untracked one's is zero.
  struct Slot {
    Slot* next;
    uintptr_t live_mark;
  };
  static constexpr uintptr_t kFreeMark = ~uintptr_t{0} - 0x5eed;
  static constexpr size_t kChunkBytes = 64 << 10;
  static constexpr size_t kKeepChunks = 1024;

  size_t slots_per_chunk() const { return kChunkBytes / slot_bytes_; }

  [[gnu::cold, gnu::noinline]] Slot* grow() {
    auto* chunk = static_cast<char*>(std::aligned_alloc(kSlotStep, kChunkBytes));
    if (!chunk) throw std::bad_alloc();
    chunks_.push_back(chunk);
    for (size_t i = slots_per_chunk(); i-- > 0;) {
      auto* slot = reinterpret_cast<Slot*>(chunk + i * slot_bytes_);
      slot->next = free_;
      slot->live_mark = kFreeMark;
      free_ = slot;
    }
    return free_;
  }

  size_t slot_bytes_;
  size_t live_ = 0;
  Slot* free_ = nullptr;
  std::vector<char*> chunks_;
};

}  // namespace retrograd
