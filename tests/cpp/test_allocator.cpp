// core/allocator.h, core/sweeper.h, core/storage.h: size classes, what is kept and for how long, who takes turns.
#include "core/allocator.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "check.h"
#include "core/inline_storage.h"
#include "core/sweeper.h"

namespace retrograd {
namespace {

constexpr size_t kMiB = 1 << 20;

struct Block {
  void* at;
  size_t capacity;
};

Block allocate(size_t bytes) {
  Block b = {};
  b.at = allocate_block(bytes, b.capacity);
  return b;
}
void free(Block b) { free_block(b.at, b.capacity); }

bool is_aligned(const void* p, size_t to) { return reinterpret_cast<uintptr_t>(p) % to == 0; }

// The cache at work, from empty to empty, in sanitizer builds too.
class Cache {
 public:
  Cache() {
    set(true);
    set_cache_limit(int64_t{1} << 30);
    empty_cache();
  }
  ~Cache() {
    set_cache_limit(-1);
    empty_cache();
    set(false);
  }

 private:
  static void set([[maybe_unused]] bool on) {
#if defined(__SANITIZE_ADDRESS__)
    caching = on;
#endif
  }
};

TEST(small_blocks_are_multiples_of_64_bytes) {
  const Cache cache;
  std::vector<Block> blocks;
  for (size_t bytes = 0; bytes <= kSmallLimit; ++bytes) {
    const Block b = allocate(bytes);
    CHECK_EQUAL(b.capacity, std::max<size_t>((bytes + 63) / 64 * 64, 64));
    CHECK(is_aligned(b.at, 64));
    std::memset(b.at, static_cast<int>(bytes % 251), b.capacity);
    blocks.push_back(b);
  }
  for (size_t i = 0; i < blocks.size(); ++i) {  // nobody wrote to another's
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].at);
    CHECK(std::all_of(bytes, bytes + blocks[i].capacity, [&](unsigned char b) { return b == i % 251; }));
    free(blocks[i]);
  }
}

TEST(large_blocks_waste_an_eighth_at_most) {
  const Cache cache;
  std::vector<size_t> sizes;
  for (size_t power = 1024; power <= 64 * kMiB; power *= 2)
    for (size_t eighth = 8; eighth < 16; ++eighth)
      for (const size_t near : {power * eighth / 8 - 1, power * eighth / 8, power * eighth / 8 + 1}) sizes.push_back(near);
  for (const size_t bytes : sizes) {
    if (bytes <= kSmallLimit) continue;
    empty_cache();
    const Block b = allocate(bytes);
    CHECK(b.capacity >= bytes && b.capacity - bytes <= bytes / 8);
    CHECK(is_aligned(b.at, b.capacity >= kMiB ? 2 * kMiB : 64));
    static_cast<char*>(b.at)[0] = static_cast<char*>(b.at)[b.capacity - 1] = 1;
    free(b);
    const Block again = allocate(b.capacity);  // the whole of a block is a request of its class
    CHECK(again.at == b.at && again.capacity == b.capacity);
    free(again);
  }
}

TEST(what_was_freed_last_is_taken_first) {
  const Cache cache;
  const Block a = allocate(5000), b = allocate(5000);
  CHECK(a.at != b.at);
  const int64_t reserved = memory_stats().reserved;
  free(a);
  free(b);
  CHECK_EQUAL(cached_bytes(), static_cast<int64_t>(a.capacity + b.capacity));
  const Block c = allocate(4900), d = allocate(4900);
  CHECK(c.at == b.at && d.at == a.at);
  CHECK_EQUAL(cached_bytes(), int64_t{0});
  CHECK_EQUAL(memory_stats().reserved, reserved);
  free(c);
  free(d);
  CHECK(allocate(9000).at != a.at);  // another class
}

TEST(a_mapped_block_may_be_a_quarter_too_large) {
  const Cache cache;
  const Block large = allocate(5 * kMiB);
  free(large);
  const Block taken = allocate(4 * kMiB);  // two classes below
  CHECK(taken.at == large.at && taken.capacity == large.capacity);
  free(taken);
  const Block other = allocate(15 * kMiB / 4);  // three
  CHECK(other.at != large.at);
  free(other);
  const Block small = allocate(100'000);  // below the size from which blocks are mapped nothing of the kind
  free(small);
  const Block smaller = allocate(90'000);
  CHECK(smaller.at != small.at);
  free(smaller);
}

TEST(no_more_is_kept_than_the_limit) {
  const Cache cache;
  set_cache_limit(3 * kMiB);
  CHECK_EQUAL(get_cache_limit(), int64_t{3 * kMiB});
  const int64_t before = memory_stats().reserved;
  const Block a = allocate(2 * kMiB), b = allocate(2 * kMiB);
  free(a);
  CHECK_EQUAL(cached_bytes(), int64_t{2 * kMiB});
  free(b);  // would be too much
  CHECK_EQUAL(cached_bytes(), int64_t{2 * kMiB});
  CHECK_EQUAL(memory_stats().reserved, before + int64_t{2 * kMiB});
  set_cache_limit(kMiB);  // less than there is: it goes
  CHECK_EQUAL(cached_bytes(), int64_t{0});
  CHECK_EQUAL(memory_stats().reserved, before);
  set_cache_limit(0);
  free(allocate(5000));
  CHECK_EQUAL(cached_bytes(), int64_t{0});
}

TEST(slabs_go_when_all_their_blocks_are_free) {
  const Cache cache;
  const int64_t before = memory_stats().reserved;
  std::vector<Block> blocks;
  for (int i = 0; i < 4000; ++i) {  // 2 MB
    blocks.push_back(allocate(512));
    std::memset(blocks.back().at, i % 251, 512);
  }
  const int64_t full = memory_stats().reserved;
  CHECK(full - before >= 1'500'000);
  const Block kept = blocks[2000];
  for (const Block& b : blocks)
    if (b.at != kept.at) free(b);
  empty_cache();
  const int64_t after = memory_stats().reserved;
  CHECK(after < full - 1'000'000);
  CHECK(after >= before + 512);
  const auto* bytes = static_cast<const unsigned char*>(kept.at);
  CHECK(std::all_of(bytes, bytes + 512, [](unsigned char b) { return b == 2000 % 251; }));
  std::set<void*> taken;
  std::vector<Block> again;
  for (int i = 0; i < 2000; ++i) {  // the bins hold nothing that has gone
    again.push_back(allocate(512));
    std::memset(again.back().at, 1, 512);
    CHECK(again.back().at != kept.at && taken.insert(again.back().at).second);
  }
  for (const Block& b : again) free(b);
  free(kept);
}

TEST(a_sweep_takes_what_two_sweeps_found_unused) {
  const Cache cache;
  free(allocate(50'000));
  free(allocate(3 * kMiB));
  for (int i = 0; i < 3; ++i) sweep_cache();
  CHECK_EQUAL(cached_bytes(), int64_t{0});

  for (int i = 0; i < 10; ++i) {  // in use, now and then
    const auto start = std::chrono::steady_clock::now();
    const Block b = allocate(50'000);
    free(b);
    sweep_cache();
    const bool alone = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500);  // else the thread may have swept too
    CHECK(!alone || cached_bytes() == static_cast<int64_t>(b.capacity));
  }

  const Block a = allocate(50'000), b = allocate(50'000);  // of two, the one that is used stays
  free(a);
  free(b);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) {
    free(allocate(50'000));
    sweep_cache();
  }
  const bool alone = std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500);
  CHECK(!alone || cached_bytes() == static_cast<int64_t>(b.capacity));
}

// Guarded by turns alone.
int64_t visits = 0;
bool visit(bool) {
  const SweeperTurn turn;
  const int64_t found = visits;
  std::this_thread::yield();
  visits = found + 1;
  return true;
}

TEST(program_and_sweeper_take_turns) {
  const Cache cache;
  free(allocate(50'000));  // starts the thread, which sees to the barriers
  visits = 0;
  std::thread sweeper([] {
    for (int i = 0; i < 2000; ++i) sweep_now(visit);
  });
  constexpr int64_t kTurns = 200'000;
  for (int64_t i = 0; i < kTurns; ++i) {
    const Turn turn;
    visits = visits + 1;
  }
  sweeper.join();
  CHECK_EQUAL(visits, kTurns + 2000);
}

TEST(too_much_is_an_error) {
  size_t capacity;
  CHECK_THROWS(allocate_block(size_t{1} << 47, capacity),
               "DefaultCPUAllocator: can't allocate memory: you tried to allocate 140737488355328 bytes");
}

TEST(storages_are_counted) {
  const Cache cache;
  const MemoryStats before = memory_stats();
  Storage* small = new_storage(100, {});
  Storage* large = new_storage(100'000, {});
  Storage* none = new_storage(0, {});
  Storage* meta = new_storage(size_t{1} << 40, {DeviceType::Meta});
  CHECK((small->flags & kStorageInline) && !(large->flags & kStorageInline));
  CHECK(is_aligned(small->data, 64) && is_aligned(large->data, 64));
  CHECK(meta->data == nullptr);
  CHECK_EQUAL(memory_stats().allocated - before.allocated, int64_t{100'100});
  CHECK_EQUAL(memory_stats().live_blocks - before.live_blocks, int64_t{3});
  for (Storage* s : {small, large, none, meta}) release(s);
  CHECK_EQUAL(memory_stats().allocated, before.allocated);
  CHECK_EQUAL(memory_stats().live_blocks, before.live_blocks);
  CHECK_EQUAL(memory_stats().total_freed - before.total_freed, int64_t{100'100});
}

TEST(a_resized_storage_keeps_what_it_holds) {
  for (const size_t from : {size_t{0}, size_t{100}, kInlineLimit, kInlineLimit + 1, 3 * kMiB})
    for (const size_t to : {size_t{0}, size_t{101}, kInlineLimit, size_t{5000}, 4 * kMiB}) {
      const int64_t before = memory_stats().allocated;
      Storage* s = new_storage(from, {});
      std::memset(s->data, 7, from);
      resize_storage(s, to);
      CHECK_EQUAL(s->nbytes, to);
      CHECK_EQUAL(memory_stats().allocated - before, static_cast<int64_t>(to));
      const auto* bytes = static_cast<const char*>(s->data);
      CHECK(std::all_of(bytes, bytes + std::min(from, to), [](char b) { return b == 7; }));
      std::memset(s->data, 1, to);
      release(s);
      CHECK_EQUAL(memory_stats().allocated, before);
    }
}

int deleted = 0;

TEST(borrowed_memory_goes_back_to_its_owner) {
  char memory[64] = {};
  deleted = 0;
  Storage* s = new_external_storage(memory, sizeof memory, {}, [](void* count) { ++*static_cast<int*>(count); }, &deleted);
  retain(s);
  release(s);
  CHECK_EQUAL(deleted, 0);
  CHECK_THROWS(resize_storage(s, 128), "Trying to resize storage that is not resizable");
  release(s);
  CHECK_EQUAL(deleted, 1);
}

}  // namespace
}  // namespace retrograd
