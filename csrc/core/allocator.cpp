#include "core/allocator.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/errors.h"
#include "core/memory_limit.h"
#include "core/sweeper.h"

namespace retrograd {

FreeBlock* small_bins[kSmallClasses];
StorageCounts storage_counts;

namespace {

// Size classes: multiples of 64 bytes up to 1 KiB, then eight steps per power of two (at most 12.5% unused).
constexpr int kLargeClasses = 8 * 40;
constexpr size_t kSlabBytes = 256 << 10;  // small blocks are cut from slabs
constexpr size_t kMapLimit = 1 << 20;     // from here on blocks are mapped, aligned to huge pages
constexpr size_t kHugePage = 2 << 20;
constexpr int64_t kTrimFrom = 8 << 20;  // so much memory freed is worth asking malloc to return it

// Kept blocks of one size, a stack. Those below `idle` were there at the last sweep and nobody has taken them since, those below `stale` at
// the sweep before as well: they go at the next.
struct Bin {
  void** blocks = nullptr;
  uint32_t count = 0, room = 0, idle = 0, stale = 0;
};
Bin bins[kLargeClasses];  // changed in a Turn

struct Slab {
  char* start;
  size_t used;  // bytes cut into blocks
};
std::vector<Slab>& slabs = *new std::vector<Slab>;  // the last one is being cut; lives as long as the process

// Bytes, changed in a Turn and read anywhere.
class Count {
 public:
  operator int64_t() const noexcept { return value_.load(std::memory_order_relaxed); }
  void operator+=(int64_t bytes) noexcept { value_.store(*this + bytes, std::memory_order_relaxed); }
  void operator-=(int64_t bytes) noexcept { *this += -bytes; }

 private:
  std::atomic<int64_t> value_{0};
};
Count reserved;  // taken from the system
Count cached;    // in bins
int64_t peak_reserved = 0;
int64_t cache_limit = -1;               // negative: the default, not asked for yet
int64_t allowance = -1;                 // what the process may use; not asked for yet
constexpr int64_t kUnasked = 32 << 20;  // what is kept without reading the files that tell the default limit
int64_t kept_unasked = kUnasked;        // no more than the limit

size_t small_steps(size_t bytes) { return bytes == 0 ? 1 : (bytes + kSmallStep - 1) / kSmallStep; }

int large_class(size_t bytes, size_t& capacity) {
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const size_t k = ((bytes - 1) >> (top - 3)) & 7;
  capacity = (k + 9) << (top - 3);
  return (top - 10) * 8 + static_cast<int>(k);
}

size_t class_capacity(int c) {
  const int top = c / 8 + 10;
  return static_cast<size_t>(c % 8 + 9) << (top - 3);
}

void count_reserved(int64_t bytes) noexcept {
  const Turn turn;
  reserved += bytes;
  if (reserved > peak_reserved) peak_reserved = reserved;
}

void* take_from_slab(size_t capacity) {
  if (slabs.empty() || slabs.back().used + capacity > kSlabBytes) {
    auto* slab = static_cast<char*>(std::aligned_alloc(kSlabBytes, kSlabBytes));  // aligned: a block's address tells its slab
    if (!slab) return nullptr;
    slabs.push_back({slab, 0});
    count_reserved(kSlabBytes);
  }
  Slab& slab = slabs.back();
  char* block = slab.start + slab.used;
  slab.used += capacity;
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
  if (caching && capacity <= kSmallLimit) return take_from_slab(capacity);
  void* block = capacity >= kMapLimit ? map_block(capacity) : std::aligned_alloc(64, capacity);
  if (block) count_reserved(static_cast<int64_t>(capacity));
  return block;
}

void return_to_system(void* block, size_t capacity) noexcept {
  if (capacity >= kMapLimit) {
    munmap(block, mapped_size(capacity));
  } else {
    std::free(block);
  }
}

void give_back(void* block, size_t capacity) noexcept {
  count_reserved(-static_cast<int64_t>(capacity));
  return_to_system(block, capacity);
}

int64_t process_may_use() {
  if (allowance < 0) allowance = memory_allowance();
  return allowance;
}

void* take_fresh(size_t bytes, size_t capacity) {
  // What is kept for later goes first, before this process takes more than it may.
  if (reserved + static_cast<int64_t>(capacity) > kUnasked && cached > 0 && reserved + static_cast<int64_t>(capacity) > process_may_use())
    empty_cache();
  void* block = take_from_system(capacity);
  if (!block) {
    empty_cache();
    block = take_from_system(capacity);
  }
  RG_CHECK(block, "DefaultCPUAllocator: can't allocate memory: you tried to allocate ", bytes,
           " bytes. Error code 12 (Cannot allocate memory). ", "Held by tensors: ", storage_counts.allocated,
           " bytes. Free some tensors or use smaller ones.");
  return block;
}

bool put(Bin& bin, void* block) noexcept {
  if (RG_UNLIKELY(bin.count == bin.room)) {
    const uint32_t room = bin.room ? 2 * bin.room : 8;
    auto** blocks = static_cast<void**>(std::realloc(bin.blocks, room * sizeof(void*)));
    if (!blocks) return false;
    bin.blocks = blocks;
    bin.room = room;
  }
  bin.blocks[bin.count++] = block;
  return true;
}

void* take(Bin& bin, size_t capacity) noexcept {
  void* block = bin.blocks[--bin.count];
  if (bin.count < bin.idle) {
    bin.idle = bin.count;
    bin.stale = std::min(bin.stale, bin.count);
  }
  cached -= static_cast<int64_t>(capacity);
  return block;
}

// A block that is up to a quarter too large will do, where mapping a new one is the alternative.
[[gnu::cold]] void* take_larger(int c, size_t& capacity) noexcept {
  if (capacity < kMapLimit) return nullptr;
  const Turn turn;
  for (int k = c + 1; k <= std::min(c + 2, kLargeClasses - 1); ++k)
    if (bins[k].count > 0) return take(bins[k], capacity = class_capacity(k));
  return nullptr;
}

// Whether so many bytes may be kept. Files below /proc and /sys tell the default limit: they are not read before it matters.
[[gnu::cold]] bool may_keep(int64_t bytes) noexcept {
  try {
    return bytes <= get_cache_limit();
  } catch (...) {  // no memory left to read them
    return false;
  }
}

// Blocks taken out of the bins, to be given back outside of the turn.
struct Victims {
  static constexpr int kMost = 1024;
  int count = 0;
  void* blocks[kMost];
  uint16_t classes[kMost];

  void give_back() noexcept {
    for (int i = 0; i < count; ++i) return_to_system(blocks[i], class_capacity(classes[i]));
    count = 0;
  }
};

// Moves blocks that nobody took for two sweeps, the lowest of the stack.
void take_stale(int c, Victims& victims) noexcept {
  Bin& bin = bins[c];
  const auto n = std::min<uint32_t>(bin.stale, static_cast<uint32_t>(Victims::kMost - victims.count));
  if (n == 0) return;
  for (uint32_t i = 0; i < n; ++i) {
    victims.blocks[victims.count] = bin.blocks[i];
    victims.classes[victims.count++] = static_cast<uint16_t>(c);
  }
  std::memmove(bin.blocks, bin.blocks + n, (bin.count - n) * sizeof(void*));
  bin.count -= n;
  bin.idle -= n;
  bin.stale -= n;
  const int64_t bytes = static_cast<int64_t>(n) * static_cast<int64_t>(class_capacity(c));
  cached -= bytes;
  reserved -= bytes;
}

bool sweep(bool on_thread) {
  static Victims victims;  // one sweep at a time
  int64_t freed = 0;       // through free()
  bool more = true;
  for (int c = 0; c < kLargeClasses;) {
    {
      const SweeperTurn turn;
      while (c < kLargeClasses) {
        take_stale(c, victims);
        if (bins[c].stale > 0) break;  // no room left
        bins[c].stale = bins[c].idle;
        bins[c].idle = bins[c].count;
        ++c;
      }
      if (c == kLargeClasses && cached == 0) {
        more = false;
        if (on_thread) stop_sweeping();
      }
    }
    for (int i = 0; i < victims.count; ++i)
      if (class_capacity(victims.classes[i]) < kMapLimit) freed += static_cast<int64_t>(class_capacity(victims.classes[i]));
    victims.give_back();
  }
  if (freed >= kTrimFrom) malloc_trim(0);
  return more;
}

// Slabs all of whose blocks are free. The program's thread alone: small blocks know no turns.
void give_back_slabs() {
  if (slabs.size() < 2) return;
  std::unordered_map<uintptr_t, size_t> unused;  // bytes, by the start of the slab
  const auto slab_of = [](const FreeBlock* block) { return reinterpret_cast<uintptr_t>(block) & ~(kSlabBytes - 1); };
  for (size_t steps = 1; steps <= kSmallClasses; ++steps)
    for (const FreeBlock* block = small_bins[steps - 1]; block; block = block->next) unused[slab_of(block)] += steps * kSmallStep;
  std::vector<Slab> kept;
  kept.reserve(slabs.size());
  for (size_t i = 0; i < slabs.size(); ++i) {
    const auto found = unused.find(reinterpret_cast<uintptr_t>(slabs[i].start));
    if (i + 1 == slabs.size() || found == unused.end() || found->second < slabs[i].used) {
      kept.push_back(slabs[i]);
      if (found != unused.end()) unused.erase(found);
    }
  }
  if (unused.empty()) return;  // what is left goes
  for (FreeBlock*& bin : small_bins) {
    FreeBlock** link = &bin;
    while (*link) {
      if (unused.contains(slab_of(*link))) {
        *link = (*link)->next;
      } else {
        link = &(*link)->next;
      }
    }
  }
  for (const auto& [start, bytes] : unused) give_back(reinterpret_cast<void*>(start), kSlabBytes);
  slabs = std::move(kept);
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
  const int c = large_class(bytes, capacity);
  {
    const Turn turn;
    if (Bin& bin = bins[c]; bin.count > 0) return take(bin, capacity);
  }
  if (void* block = take_larger(c, capacity)) return block;
  return take_fresh(bytes, capacity);
}

void free_block(void* block, size_t capacity) noexcept {
  if (capacity <= kSmallLimit) return free_small(block, small_steps(capacity));
  const int64_t kept = cached + static_cast<int64_t>(capacity);
  if (!caching || (RG_UNLIKELY(kept > kept_unasked) && !may_keep(kept))) return give_back(block, capacity);
  bool done, watched;
  {
    size_t same;
    const int c = large_class(capacity, same);
    const Turn turn;
    done = put(bins[c], block);
    if (done) cached += static_cast<int64_t>(capacity);
    watched = is_sweeping();
  }
  if (RG_UNLIKELY(!done)) give_back(block, capacity);
  if (RG_UNLIKELY(!watched)) start_sweeping(sweep);
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

void set_cache_limit(int64_t bytes) {
  cache_limit = bytes;
  kept_unasked = bytes < 0 ? kUnasked : bytes;
  if (cached > kept_unasked && cached > get_cache_limit()) empty_cache();
}
int64_t get_cache_limit() {
  if (cache_limit < 0) {
    cache_limit = process_may_use() / 2;
    kept_unasked = cache_limit;
  }
  return cache_limit;
}

void empty_cache() {
  for (int c = 0; c < kLargeClasses; ++c) {
    Bin bin;
    {
      const Turn turn;
      std::swap(bin, bins[c]);
      const int64_t bytes = static_cast<int64_t>(bin.count) * static_cast<int64_t>(class_capacity(c));
      cached -= bytes;
      reserved -= bytes;
    }
    for (uint32_t i = 0; i < bin.count; ++i) return_to_system(bin.blocks[i], class_capacity(c));
    std::free(bin.blocks);
  }
  give_back_slabs();
  malloc_trim(0);
}

void sweep_cache() { sweep_now(sweep); }

}  // namespace retrograd
