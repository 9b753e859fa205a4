#include "core/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>

#include "core/errors.h"

namespace retrograd {

FreeBlock* small_bins[kSmallClasses];
StorageCounts storage_counts;

namespace {

// Size classes: multiples of 64 bytes up to 1 KiB, then eight steps per power of two (at most 12.5% unused).
constexpr int kLargeClasses = 8 * 40;
constexpr size_t kSlabBytes = 256 << 10;  // small blocks are cut from slabs and never go back to the system
constexpr size_t kMapLimit = 1 << 20;     // from here on blocks are mapped, aligned to huge pages
constexpr size_t kHugePage = 2 << 20;

FreeBlock* large_bins[kLargeClasses];
char* slab_cursor = nullptr;
char* slab_end = nullptr;
int64_t reserved = 0;  // bytes taken from the system
int64_t peak_reserved = 0;
int64_t cached = 0;  // bytes in bins of blocks that are not slab blocks
int64_t cache_limit = -1;

size_t small_steps(size_t bytes) { return bytes == 0 ? 1 : (bytes + kSmallStep - 1) / kSmallStep; }

int large_class(size_t bytes, size_t& capacity) {
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const size_t step = size_t{1} << (top - 3);
  const size_t k = (bytes - 1 - (size_t{1} << top)) / step;  // 0..7
  capacity = (size_t{1} << top) + (k + 1) * step;
  return (top - 10) * 8 + static_cast<int>(k);
}

void* take_from_slab(size_t capacity) {
  if (static_cast<size_t>(slab_end - slab_cursor) < capacity) {
    void* slab = std::aligned_alloc(64, kSlabBytes);
    if (!slab) return nullptr;
    reserved += kSlabBytes;
    slab_cursor = static_cast<char*>(slab);
    slab_end = slab_cursor + kSlabBytes;
  }
  char* block = slab_cursor;
  slab_cursor += capacity;
  return block;
}

size_t mapped_size(size_t capacity) { return (capacity + 4095) & ~size_t{4095}; }

// Maps a block whose start is a multiple of the huge page size, so that the kernel can back all of it with huge pages.
void* map_block(size_t capacity) {
  const size_t size = mapped_size(capacity);
  const size_t padded = size + kHugePage;
  if (padded < size) return nullptr;
  char* raw = static_cast<char*>(mmap(nullptr, padded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (raw == MAP_FAILED) return nullptr;
  char* start = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(raw) + kHugePage - 1) & ~(kHugePage - 1));
  if (start > raw) munmap(raw, static_cast<size_t>(start - raw));
  char* end = start + size;
  if (raw + padded > end) munmap(end, static_cast<size_t>(raw + padded - end));
  if (size >= kHugePage) madvise(start, size, MADV_HUGEPAGE);
  return start;
}

void* take_from_system(size_t capacity) {
  if (kCaching && capacity <= kSmallLimit) return take_from_slab(capacity);
  void* block = capacity >= kMapLimit ? map_block(capacity) : std::aligned_alloc(64, capacity);
  if (block) reserved += static_cast<int64_t>(capacity);
  return block;
}

void give_back(void* block, size_t capacity) noexcept {
  reserved -= static_cast<int64_t>(capacity);
  if (capacity >= kMapLimit) {
    munmap(block, mapped_size(capacity));
  } else {
    std::free(block);
  }
}

int64_t default_cache_limit() {
  if (const char* text = std::getenv("RETROGRAD_CACHE_LIMIT")) return std::strtoll(text, nullptr, 10);
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
}

void* take_fresh(size_t bytes, size_t capacity) {
  void* block = take_from_system(capacity);
  if (!block) {
    empty_cache();
    block = take_from_system(capacity);
  }
  RG_CHECK(block, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes. Error code 12 (Cannot allocate memory). ", "Held by tensors: ", storage_counts.allocated,
           " bytes. Free some tensors or use smaller ones.");
  if (reserved > peak_reserved) peak_reserved = reserved;
  return block;
}

}  // namespace

void* refill_small(size_t steps) { return take_fresh(steps * kSmallStep, steps * kSmallStep); }
void give_back_small(void* block, size_t steps) noexcept { give_back(block, steps * kSmallStep); }

void* allocate_block(size_t bytes, size_t& capacity) {
  RG_CHECK(bytes < (size_t{1} << 47), "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes, more than this machine can address.");
  if (bytes <= kSmallLimit) {
    const size_t steps = small_steps(bytes);
    capacity = steps * kSmallStep;
    return allocate_small(steps);
  }
  FreeBlock*& bin = large_bins[large_class(bytes, capacity)];
  if (FreeBlock* block = bin) {
    bin = block->next;
    cached -= static_cast<int64_t>(capacity);
    return block;
  }
  return take_fresh(bytes, capacity);
}

void free_block(void* block, size_t capacity) noexcept {
  if (capacity <= kSmallLimit) return free_small(block, small_steps(capacity));
  if (cache_limit < 0) cache_limit = default_cache_limit();
  if (!kCaching || cached + static_cast<int64_t>(capacity) > cache_limit) {
    give_back(block, capacity);
    return;
  }
  cached += static_cast<int64_t>(capacity);
  size_t same;
  FreeBlock*& bin = large_bins[large_class(capacity, same)];
  auto* free = static_cast<FreeBlock*>(block);
  free->next = bin;
  bin = free;
}

MemoryStats memory_stats() noexcept {
  const StorageCounts& c = storage_counts;
  return {.allocated = c.allocated,
          .peak_allocated = c.peak_allocated,
          .reserved = reserved,
          .peak_reserved = peak_reserved,
          .total_allocated = c.total_allocated,
          .total_freed = c.total_allocated - c.allocated,
          .live_blocks = c.total_blocks - c.freed_blocks,
          .total_blocks = c.total_blocks};
}
void reset_peak_memory() noexcept {
  storage_counts.peak_allocated = storage_counts.allocated;
  peak_reserved = reserved;
}
int64_t cached_bytes() noexcept { return cached; }
void set_cache_limit(int64_t bytes) noexcept {
  cache_limit = bytes;
  if (cached > cache_limit) empty_cache();
}

void empty_cache() noexcept {
  for (int c = 0; c < kLargeClasses; ++c) {
    const int top = c / 8 + 10;
    const size_t capacity = (size_t{1} << top) + static_cast<size_t>(c % 8 + 1) * (size_t{1} << (top - 3));
    while (FreeBlock* block = large_bins[c]) {
      large_bins[c] = block->next;
      give_back(block, capacity);
      cached -= static_cast<int64_t>(capacity);
    }
  }
}

}  // namespace retrograd
