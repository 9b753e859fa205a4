// The caching CPU allocator. Freed blocks are kept by size class and handed out again, so that a training loop touches the same
// memory at every step instead of taking page faults. What nobody takes for some seconds goes back to the system; docs/memory.md says when.
// All functions are called with the GIL held: it is the lock, but for the thread that gives memory back, see Note [Turns] in core/sweeper.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrograd {

// Nothing is kept in sanitizer builds, which then see every use after free and every write past the end. Tests of the cache switch it on.
#if defined(__SANITIZE_ADDRESS__)
inline bool caching = false;
#else
inline constexpr bool caching = true;
#endif

inline constexpr size_t kSmallStep = 64;  // small blocks come in multiples of this
inline constexpr size_t kSmallLimit = 1024;
inline constexpr int kSmallClasses = kSmallLimit / kSmallStep;

struct MemoryStats {
  int64_t allocated = 0;  // bytes asked for by live storages, exact
  int64_t peak_allocated = 0;
  int64_t reserved = 0;  // bytes taken from the system, live and cached
  int64_t peak_reserved = 0;
  int64_t total_allocated = 0;  // ever
  int64_t total_freed = 0;
  int64_t live_blocks = 0;
  int64_t total_blocks = 0;
};

// 64-byte aligned; `capacity` receives the usable size. Throws Error(Runtime) when memory is short, after giving back the cache.
void* allocate_block(size_t bytes, size_t& capacity);
void free_block(void* block, size_t capacity) noexcept;

// Small blocks, by their size in steps: what every op on small tensors does, so it is inline.
struct FreeBlock { FreeBlock* next; };
extern FreeBlock* small_bins[kSmallClasses];  // [steps - 1]
void* refill_small(size_t steps);
void give_back_small(void* block, size_t steps) noexcept;

inline void* allocate_small(size_t steps) {
  if (!caching) return refill_small(steps);
  FreeBlock*& bin = small_bins[steps - 1];
  FreeBlock* block = bin;
  if (__builtin_expect(!block, 0)) return refill_small(steps);
  bin = block->next;
  return block;
}
inline void free_small(void* block, size_t steps) noexcept {
  if (!caching) return give_back_small(block, steps);
  FreeBlock*& bin = small_bins[steps - 1];
  auto* free = static_cast<FreeBlock*>(block);
  free->next = bin;
  bin = free;
}

// What is counted as storages come and go; memory_stats() works out the rest.
struct StorageCounts { int64_t allocated = 0, peak_allocated = 0, total_allocated = 0, total_blocks = 0, freed_blocks = 0; };
extern StorageCounts storage_counts;

inline void count_allocated(size_t bytes) noexcept {
  StorageCounts& c = storage_counts;
  const int64_t allocated = c.allocated + static_cast<int64_t>(bytes);
  c.allocated = allocated;
  c.total_allocated += static_cast<int64_t>(bytes);
  ++c.total_blocks;
  if (__builtin_expect(allocated > c.peak_allocated, 0)) c.peak_allocated = allocated;
}
inline void count_freed(size_t bytes) noexcept {
  storage_counts.allocated -= static_cast<int64_t>(bytes);
  ++storage_counts.freed_blocks;
}

MemoryStats memory_stats() noexcept;
void reset_peak_memory() noexcept;
void empty_cache();                   // gives back everything that no tensor uses
void sweep_cache();                   // what the thread does: gives back what was not used since the sweep before the last
void set_cache_limit(int64_t bytes);  // kept at most; negative: the default, half of what the process may use
int64_t get_cache_limit();
int64_t cached_bytes() noexcept;

}  // namespace retrograd
