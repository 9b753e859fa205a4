#include "core/sweeper.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace retrograd {

TurnState turn_state;
std::atomic<bool> sweeper_running{false};

namespace {

// Held during a sweep, so that a fork finds no block half given back. The GIL is not enough: the sweeper does not take it.
pthread_mutex_t sweep_mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> barrier_works{false};
int attempts_to_skip = 0;  // after a thread could not be started

void barrier() {
  if (barrier_works.load(std::memory_order_relaxed)) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Registering can take milliseconds in a process with threads, so the sweeper does it; until then the others fence.
void register_barrier() {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
    barrier_works.store(true);
    turn_state.fence.store(false);
  }
}

void* sweeper_main(void* arg) {
  const auto sweep = reinterpret_cast<Sweep>(arg);
  register_barrier();
  for (bool more = true; more;) {
    const timespec pause = {kSweepSeconds, 0};
    nanosleep(&pause, nullptr);
    pthread_mutex_lock(&sweep_mutex);
    more = sweep(true);
    pthread_mutex_unlock(&sweep_mutex);
  }
  return nullptr;
}

void before_fork() { pthread_mutex_lock(&sweep_mutex); }
void after_fork_in_parent() { pthread_mutex_unlock(&sweep_mutex); }
void after_fork_in_child() {
  stop_sweeping();
  barrier_works.store(false);
  turn_state.busy.store(false);
  pthread_mutex_unlock(&sweep_mutex);
}

bool start_thread(Sweep sweep) {
  sigset_t all, before;  // signals belong to the threads of the program
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &detached, sweeper_main, reinterpret_cast<void*>(sweep)) == 0;
  if (started) pthread_setname_np(thread, "retrograd-sweep");
  pthread_attr_destroy(&detached);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

void wait_for_sweep() noexcept {
  turn_state.busy.store(false, std::memory_order_release);
  while (turn_state.sweeping.load(std::memory_order_acquire)) sched_yield();
}

SweeperTurn::SweeperTurn() noexcept {
  turn_state.sweeping.store(true);
  barrier();
  while (turn_state.busy.load(std::memory_order_acquire)) sched_yield();
}

void start_sweeping(Sweep sweep) noexcept {
  if (attempts_to_skip > 0) {
    --attempts_to_skip;
    return;
  }
  static const int registered = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)registered;
  if (!barrier_works.load()) turn_state.fence.store(true);
  sweeper_running.store(true);
  if (start_thread(sweep)) return;
  stop_sweeping();
  attempts_to_skip = 1000;
}

void sweep_now(Sweep sweep) {
  pthread_mutex_lock(&sweep_mutex);
  sweep(false);
  pthread_mutex_unlock(&sweep_mutex);
}

}  // namespace retrograd
