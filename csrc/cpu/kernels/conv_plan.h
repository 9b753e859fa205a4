// What the ways of computing a convolution share. Internal to kernels/conv*.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "cpu/isa.h"
#include "kernels/conv.h"

namespace retrograd::cpu::RG_LEVEL_NS {

inline int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

inline constexpr int64_t kWorthThread = 128 * 1024;  // multiply-adds worth a thread
inline constexpr int64_t kTasks = 16;                // pieces of work that keep the threads there may be busy

// One dimension of a sum over taps: position j of `count` reads in[j * in_step + offset of a tap] and is written to out[out_start + j * out_step].
struct Axis {
  int64_t in, out, count, in_step, out_step, out_start;
  int64_t taps, tap, tap_step;  // tap i is element tap + i * tap_step of the kernel,
  int64_t offset, offset_step;  // and offset + i * offset_step away
};

// Every position gathers what its taps meet; computing `in` is this too, one Gather for each remainder modulo the stride.
struct Gather {
  int64_t batch, groups, channels, rows;  // of one group: channels of what is read, rows (channels) of what is written
  Axis axis[3];
  int64_t weight_row, weight_channel, weight_group;  // elements of the weight from one to the next
  int64_t kernel[3];
  int64_t in_plane() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t out_plane() const { return axis[0].out * axis[1].out * axis[2].out; }
  int64_t taps() const { return axis[0].taps * axis[1].taps * axis[2].taps; }
  int64_t positions() const { return axis[0].count * axis[1].count * axis[2].count; }
  // Whether positions follow one another in the memory of the result.
  bool dense() const {
    for (const Axis& a : axis)
      if (a.out_step != 1 || a.count != a.out) return false;
    return true;
  }
};

// Work is cut into tasks by sizes alone; the threads that happen to run them take turns with these pieces of memory.
class Slots {
 public:
  Slots(char* data, int64_t bytes_each, int64_t count) : data_(data), bytes_(bytes_each), count_(count < kMost ? count : kMost) {}
  char* take(int64_t* slot) {
    for (;;)
      for (int64_t i = 0; i < count_; ++i)
        if (!taken_[i].test_and_set(std::memory_order_acquire)) {
          *slot = i;
          return data_ + i * bytes_;
        }
  }
  void give(int64_t slot) { taken_[slot].clear(std::memory_order_release); }

 private:
  static constexpr int64_t kMost = 256;
  char* data_;
  int64_t bytes_, count_;
  std::atomic_flag taken_[kMost] = {};
};

struct Slot {
  Slots& slots;
  int64_t index = 0;
  char* data;
  explicit Slot(Slots& s) : slots(s), data(s.take(&index)) {}
  ~Slot() { slots.give(index); }
  Slot(const Slot&) = delete;
};

}  // namespace retrograd::cpu::RG_LEVEL_NS
