// The caching CPU allocator. Freed blocks are kept by size class and handed out again, so that a training loop touches the same
// memory at every step instead of taking page faults. All functions are called with the GIL held: it is the lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrograd {

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

void count_allocated(size_t bytes) noexcept;
void count_freed(size_t bytes) noexcept;
MemoryStats& memory_stats() noexcept;
void empty_cache() noexcept;
void set_cache_limit(int64_t bytes) noexcept;  // cached bytes kept at most
int64_t cached_bytes() noexcept;

}  // namespace retrograd
