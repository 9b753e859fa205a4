#include "core/allocator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>

#include "core/errors.h"

namespace retrograd {
namespace {

// Size classes: multiples of 64 bytes up to 1 KiB, then eight steps per power of two (at most 12.5% unused).
constexpr size_t kSmallStep = 64;
constexpr size_t kSmallLimit = 1024;
constexpr int kSmallClasses = kSmallLimit / kSmallStep;
constexpr int kClasses = kSmallClasses + 8 * 40;
constexpr size_t kSlabBytes = 256 << 10;  // small blocks are cut from slabs and never go back to the system
constexpr size_t kMapLimit = 1 << 20;     // from here on blocks are mapped, aligned to huge pages
constexpr size_t kHugePage = 2 << 20;

struct FreeBlock { FreeBlock* next; };

FreeBlock* bins[kClasses];
char* slab_cursor = nullptr;
char* slab_end = nullptr;
MemoryStats stats;
int64_t cached = 0;  // bytes in bins of blocks that are not slab blocks
int64_t cache_limit = -1;

int size_class(size_t bytes, size_t& capacity) {
  if (bytes <= kSmallLimit) {
    const size_t c = bytes == 0 ? 0 : (bytes - 1) / kSmallStep;
    capacity = (c + 1) * kSmallStep;
    return static_cast<int>(c);
  }
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const size_t step = size_t{1} << (top - 3);
  const size_t k = (bytes - 1 - (size_t{1} << top)) / step;  // 0..7
  capacity = (size_t{1} << top) + (k + 1) * step;
  return kSmallClasses + (top - 10) * 8 + static_cast<int>(k);
}

void* take_from_slab(size_t capacity) {
  if (static_cast<size_t>(slab_end - slab_cursor) < capacity) {
    void* slab = std::aligned_alloc(64, kSlabBytes);
    if (!slab) return nullptr;
    stats.reserved += kSlabBytes;
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
  if (capacity <= kSmallLimit) return take_from_slab(capacity);
  void* block = capacity >= kMapLimit ? map_block(capacity) : std::aligned_alloc(64, capacity);
  if (block) stats.reserved += static_cast<int64_t>(capacity);
  return block;
}

void give_back(void* block, size_t capacity) noexcept {
  stats.reserved -= static_cast<int64_t>(capacity);
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

}  // namespace

void* allocate_block(size_t bytes, size_t& capacity) {
  RG_CHECK(bytes < (size_t{1} << 47), "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes, more than this machine can address.");
  const int c = size_class(bytes, capacity);
  if (FreeBlock* block = bins[c]) {
    bins[c] = block->next;
    if (capacity > kSmallLimit) cached -= static_cast<int64_t>(capacity);
    return block;
  }
  void* block = take_from_system(capacity);
  if (!block) {
    empty_cache();
    block = take_from_system(capacity);
  }
  RG_CHECK(block, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes. Error code 12 (Cannot allocate memory). ", "Held by tensors: ", stats.allocated,
           " bytes. Free some tensors or use smaller ones.");
  if (stats.reserved > stats.peak_reserved) stats.peak_reserved = stats.reserved;
  return block;
}

void free_block(void* block, size_t capacity) noexcept {
  if (capacity > kSmallLimit) {
    if (cache_limit < 0) cache_limit = default_cache_limit();
    if (cached + static_cast<int64_t>(capacity) > cache_limit) {
      give_back(block, capacity);
      return;
    }
    cached += static_cast<int64_t>(capacity);
  }
  size_t same;
  const int c = size_class(capacity, same);
  auto* free = static_cast<FreeBlock*>(block);
  free->next = bins[c];
  bins[c] = free;
}

void count_allocated(size_t bytes) noexcept {
  stats.allocated += static_cast<int64_t>(bytes);
  stats.total_allocated += static_cast<int64_t>(bytes);
  ++stats.live_blocks;
  ++stats.total_blocks;
  if (stats.allocated > stats.peak_allocated) stats.peak_allocated = stats.allocated;
}

void count_freed(size_t bytes) noexcept {
  stats.allocated -= static_cast<int64_t>(bytes);
  stats.total_freed += static_cast<int64_t>(bytes);
  --stats.live_blocks;
}

MemoryStats& memory_stats() noexcept { return stats; }
int64_t cached_bytes() noexcept { return cached; }
void set_cache_limit(int64_t bytes) noexcept {
  cache_limit = bytes;
  if (cached > cache_limit) empty_cache();
}

void empty_cache() noexcept {
  for (int c = kSmallClasses; c < kClasses; ++c) {
    const int top = (c - kSmallClasses) / 8 + 10;
    const size_t capacity = (size_t{1} << top) + static_cast<size_t>((c - kSmallClasses) % 8 + 1) * (size_t{1} << (top - 3));
    while (FreeBlock* block = bins[c]) {
      bins[c] = block->next;
      give_back(block, capacity);
      cached -= static_cast<int64_t>(capacity);
    }
  }
}

}  // namespace retrograd
