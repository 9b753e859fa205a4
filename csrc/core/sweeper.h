// A thread that gives back what the allocator has kept for nothing. It exists while something is kept, wakes every second, and needs
// neither the GIL nor the interpreter: a program that sleeps, or is stuck in somebody else's code, gets smaller too.
//
// Note [Turns]
// Whoever holds the GIL takes and returns blocks many times per microsecond; the thread comes by once in a second. So the lock
// between them costs the first almost nothing and the second a system call: a program's thread marks `busy`, and looks whether a sweep is on,
// with ordinary instructions. The sweeper announces itself, has the kernel put a memory barrier into every running thread (membarrier), and waits
// until nobody is busy. After the barrier the two cannot have missed each other: a thread whose mark the sweeper does not see sees the sweep.
// Where the kernel has no membarrier, threads of the program fence for themselves.
#pragma once

#include <atomic>

namespace retrograd {

struct alignas(64) TurnState {
  std::atomic<bool> busy{false};      // a thread of the program is among the blocks
  std::atomic<bool> sweeping{false};  // the sweeper is, or waits for its turn
  std::atomic<bool> fence{false};     // threads of the program must fence
};
extern TurnState turn_state;

void wait_for_sweep() noexcept;

// Held by the thread with the GIL while it reads or changes what the sweeper changes. Short, not nested, nothing that can block inside.
class Turn {
 public:
  Turn() noexcept {
    for (;;) {
      turn_state.busy.store(true, std::memory_order_relaxed);
      if (__builtin_expect(turn_state.fence.load(std::memory_order_relaxed), 0)) std::atomic_thread_fence(std::memory_order_seq_cst);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (__builtin_expect(!turn_state.sweeping.load(std::memory_order_acquire), 1)) return;
      wait_for_sweep();
    }
  }
  ~Turn() { turn_state.busy.store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

// The sweeper's side. Called without a Turn.
class SweeperTurn {
 public:
  SweeperTurn() noexcept;
  ~SweeperTurn() { turn_state.sweeping.store(false, std::memory_order_release); }
  SweeperTurn(const SweeperTurn&) = delete;
  SweeperTurn& operator=(const SweeperTurn&) = delete;
};

// What the thread does every kSweepSeconds. Returns false, having called stop_sweeping() in its turn, when nothing is left to watch. A sweep that was
// asked for is not `on_thread`: the thread, if there is one, stays.
using Sweep = bool (*)(bool on_thread);
inline constexpr int kSweepSeconds = 1;

extern std::atomic<bool> sweeper_running;
inline bool is_sweeping() noexcept { return sweeper_running.load(std::memory_order_relaxed); }  // ask in a Turn
void start_sweeping(Sweep sweep) noexcept;  // with the GIL held, without a Turn; a forked child starts again with no thread
inline void stop_sweeping() noexcept { sweeper_running.store(false, std::memory_order_relaxed); }
void sweep_now(Sweep sweep);  // on this thread, never beside the other

}  // namespace retrograd
