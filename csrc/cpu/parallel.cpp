// The thread pool behind parallel_for.
//
// A region is cut into chunks; each thread owns a contiguous run of them (so that the same thread meets the same memory op after
// op) and takes from its neighbours when its own are done (so that a thread the system has put to sleep holds nobody up).
// The caller never waits for a worker to wake: it works through every chunk nobody has claimed, closes the region, and waits only for
// workers still inside a chunk. A worker that comes late finds the region closed.
//
// Joining and closing is a handshake on two sequentially consistent variables: a worker raises `active` and then reads `open`, the
// caller lowers `open` and then reads `active`. Whoever comes second sees the other, so the region's fields are never written
// while a worker may read them.
//
// Workers spin for some tens of microseconds after a region, since eager ops come in bursts, and then sleep on a futex.
// The pool is never destroyed: workers are detached, touch nothing but the pool, and end with the process. A forked child has no
// workers: it gets a fresh pool and one thread until it calls set_num_threads().
#include "cpu/parallel.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace retrograd::cpu {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kChunksPerThread = 4;
constexpr int kSpins = 1000;  // 15 to 50 us, depending on the processor's pause

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

struct alignas(64) Share {  // the chunks one thread owns
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct Pool {
  std::atomic<bool> busy{false};           // somebody has the pool; guards `workers` and, once `active` is 0, the region
  int workers = 0;                         // threads started so far
  alignas(64) std::atomic<int> region{0};  // counts regions; workers sleep on it
  alignas(64) std::atomic<bool> open{false};
  std::atomic<int> active{0};  // workers that may be reading the fields below

  detail::RangeFn fn = nullptr;
  void* context = nullptr;
  int64_t begin = 0, items = 0, chunks = 0, unit = 1;  // chunks begin at multiples of the unit
  int shares_used = 0;
  Share shares[kMaxThreads];
};

std::atomic<Pool*> the_pool{nullptr};
std::atomic<int> thread_count{0};  // 0: not decided yet
thread_local bool in_region = false;

// Where chunk c begins. Chunks are as even as can be: with few items a last one that is short would leave its thread idle.
int64_t start_of(const Pool& pool, int64_t c) {
  if (c == pool.chunks) return pool.begin + pool.items;
  const int64_t start = pool.items / pool.chunks * c + pool.items % pool.chunks * c / pool.chunks;
  return pool.begin + start / pool.unit * pool.unit;
}

void work(Pool& pool, int self) {
  const int threads = pool.shares_used;
  for (int k = 0; k < threads; ++k) {
    Share& share = pool.shares[self + k < threads ? self + k : self + k - threads];
    for (;;) {
      const int64_t c = share.next.fetch_add(1, std::memory_order_relaxed);
      if (c >= share.end) break;
      pool.fn(pool.context, start_of(pool, c), start_of(pool, c + 1));
    }
  }
}

// Waits until `value` is no longer `old`.
template <class T> void wait_for_change(std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old);
}

struct WorkerArgs {
  Pool* pool;
  int index;  // 1-based; share 0 is the caller's
  int seen;   // the region before the one it was started for
};

void* worker_main(void* arg) {
  const WorkerArgs args = *static_cast<WorkerArgs*>(arg);
  delete static_cast<WorkerArgs*>(arg);
  in_region = true;
  Pool& pool = *args.pool;
  for (int seen = args.seen;;) {
    wait_for_change(pool.region, seen);
    seen = pool.region.load();
    pool.active.fetch_add(1);
    if (pool.open.load() && args.index < pool.shares_used) work(pool, args.index);
    if (pool.active.fetch_sub(1) == 1) pool.active.notify_all();
  }
  return nullptr;
}

void start_workers(Pool& pool, int wanted) {
  if (pool.workers >= wanted) return;
  sigset_t all, before;  // signals belong to the threads of the program
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  while (pool.workers < wanted) {
    auto* args = new (std::nothrow) WorkerArgs{&pool, pool.workers + 1, pool.region.load()};
    pthread_t thread;
    if (!args || pthread_create(&thread, &detached, worker_main, args)) {  // no more threads to be had: do with what there is
      delete args;
      break;
    }
    ++pool.workers;
#if defined(__linux__)
    pthread_setname_np(thread, "retrograd");
#endif
  }
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// The pool of the parent is left as it is: its workers do not exist here, and one of its threads may have held it.
void forget_pool_after_fork() {
  the_pool.store(nullptr);
  thread_count.store(1);
  in_region = false;
}

Pool* pool() {
  Pool* p = the_pool.load(std::memory_order_acquire);
  if (p) return p;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_after_fork);
  (void)registered;
  Pool* fresh = new (std::nothrow) Pool;
  if (fresh && the_pool.compare_exchange_strong(p, fresh)) return fresh;
  delete fresh;
  return p;  // another thread was first, or there is no memory
}

int env_threads(const char* name) {
  const char* text = std::getenv(name);  // OMP_NUM_THREADS may be a list, one number per nesting level: the first counts
  return text ? static_cast<int>(std::min(std::strtol(text, nullptr, 10), long{kMaxThreads})) : 0;
}

#if defined(__linux__)
// A container's share of the machine, in whole processors, or `limit` if it has no quota.
int quota_threads(int limit) {
  std::FILE* f = std::fopen("/sys/fs/cgroup/cpu.max", "r");
  if (!f) return limit;
  double quota = 0, period = 0;
  const bool ok = std::fscanf(f, "%lf %lf", &quota, &period) == 2 && period > 0;  // "max 100000" when unlimited
  std::fclose(f);
  return ok ? std::clamp(static_cast<int>(quota / period + 0.5), 1, limit) : limit;
}

// Processors we may run on, counting the hyperthreads of one core once: its first allowed sibling stands for it.
int allowed_cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return 0;
  int cores = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    char path[96];
    std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    bool first = true;
    if (std::FILE* f = std::fopen(path, "r")) {  // "0,64" or "0-1"
      int low, high;
      char separator = ',';
      while (separator == ',' && std::fscanf(f, "%d", &low) == 1) {
        high = low;
        separator = static_cast<char>(std::fgetc(f));
        if (separator == '-' && std::fscanf(f, "%d", &high) == 1) separator = static_cast<char>(std::fgetc(f));
        for (int s = low; s <= high && s < cpu; ++s) first = first && !CPU_ISSET(s, &allowed);
      }
      std::fclose(f);
    }
    cores += first;
  }
  return quota_threads(std::max(cores, 1));
}
#else
int allowed_cores() { return static_cast<int>(std::thread::hardware_concurrency()); }
#endif

int default_threads() {
  int n = env_threads("RETROGRAD_NUM_THREADS");
  if (n <= 0) n = env_threads("OMP_NUM_THREADS");
  if (n <= 0) n = allowed_cores();
  return std::clamp(n, 1, kMaxThreads);
}

}  // namespace

int num_threads() {
  int n = thread_count.load(std::memory_order_relaxed);
  if (n == 0) {
    const int found = default_threads();
    if (thread_count.compare_exchange_strong(n, found)) n = found;  // set_num_threads() on another thread wins
  }
  return n;
}

void set_num_threads(int n) { thread_count.store(std::clamp(n, 1, kMaxThreads)); }

void detail::parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context) {
  const int64_t n = end - begin;
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int threads = static_cast<int>(std::min<int64_t>(num_threads(), n / grain));
  Pool* p = threads > 1 && !in_region ? pool() : nullptr;
  if (!p || p->busy.exchange(true, std::memory_order_acquire)) return fn(context, begin, end);

  start_workers(*p, threads - 1);
  threads = std::min(threads, p->workers + 1);
  if (threads == 1) {
    p->busy.store(false, std::memory_order_release);
    return fn(context, begin, end);
  }
  const int64_t chunks = std::min<int64_t>(int64_t{threads} * kChunksPerThread, n / grain);
  p->fn = fn;
  p->context = context;
  p->begin = begin;
  p->items = n;
  p->chunks = chunks;
  p->unit = n / chunks >= std::max<int64_t>(1024, grain + 64) ? 64 : 1;  // elements, most likely: keep two threads off one cache line
  p->shares_used = threads;
  for (int t = 0; t < threads; ++t) {
    p->shares[t].next.store(chunks * t / threads, std::memory_order_relaxed);
    p->shares[t].end = chunks * (t + 1) / threads;
  }
  p->open.store(true);
  p->region.fetch_add(1);
  p->region.notify_all();

  in_region = true;
  work(*p, 0);
  in_region = false;

  p->open.store(false);
  for (int still; (still = p->active.load()) != 0;) wait_for_change(p->active, still);
  p->busy.store(false, std::memory_order_release);
}

}  // namespace retrograd::cpu
