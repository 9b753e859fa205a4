// What a profile is made of. A thread that is recorded has a log, to which everything that takes time adds an event as it begins and fills
// in the end: ops and nodes from C++, blocks with a name, modules and Python functions from above. An event is a row of one cache line in a
// chunk of many, so recording allocates nothing most of the time; names and everything else to read are made when somebody asks.
//
// A log belongs to the sessions that record its thread (python/profile.cpp). It is written with the GIL held, by its thread alone but for
// the end of a block that another thread leaves; while nobody records, `thread_state.log` is null and ops do not know of all this:
// it is one of the things for which dispatch looks around.
#pragma once

#include <Python.h>

#include <bit>
#include <ctime>
#include <memory>
#include <span>
#include <vector>

#include "core/allocator.h"
#include "core/state.h"
#include "core/tensor.h"

namespace retrograd {

enum class EventKind : uint8_t { Op, Evaluate, Node, Block, Module, Function };

struct Event {
  int64_t start = 0, end = 0;       // in ticks; the end is 0 while it runs
  const void* subject;              // the OpRecord; the NodeInfo; owned: the name, the type of the module, the code object
  int64_t number;                   // Op: of the next node, or -1; Evaluate, Node: of the node; Module: its address; Function: a line
  int64_t allocated = 0, left = 0;  // bytes of all storages when it began and when it ended
  uint32_t parent;                  // the event it began in
  uint32_t arguments;               // where they are noted in the log
  EventKind kind;
  bool elsewhere = false;  // another thread ended it
};
static_assert(sizeof(Event) == 64);

inline constexpr uint32_t kNoEvent = UINT32_MAX;

// The time stamp counter where it counts evenly, which takes a third of what the system's clock does; else that clock.
extern const bool has_even_counter;
inline int64_t event_ticks() noexcept {
#if defined(__x86_64__)
  if (RG_LIKELY(has_even_counter)) return static_cast<int64_t>(__builtin_ia32_rdtsc());
#endif
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// What ticks are in nanoseconds of the monotonic clock.
class TickScale {
 public:
  TickScale();
  int64_t operator()(int64_t ticks) const;

 private:
  double rate_ = 1;
};

// How an argument is noted: the kind, and then a value or how many follow.
enum class Noted : uint8_t { None, Tensor, Tensors, Int, Double, Bool, Ints, Other };

class EventLog {
 public:
  struct Wanted { bool arguments = false, functions = false, modules = false; };

  EventLog();
  ~EventLog();
  EventLog(const EventLog&) = delete;

  const uint64_t id;      // of this log, never given twice
  const uint32_t thread;  // the number of the thread: 1 for the first that was recorded
  const long system_id;   // as the operating system counts
  ThreadState* of;        // null when the thread is gone
  Wanted wanted;          // by any of its sessions
  uint32_t sessions = 0;
  uint32_t count = 0;
  uint32_t open = kNoEvent;         // the innermost event that runs
  std::vector<uint32_t> functions;  // the Python functions that run
  std::vector<int64_t> noted;       // arguments

  Event& at(uint32_t i) { return chunks_[i / kChunk][i % kChunk]; }

  uint32_t begin(EventKind kind, const void* subject, int64_t number) {
    if (RG_UNLIKELY(count % kChunk == 0) && count / kChunk == chunks_.size()) grow();
    Event& e = at(count);
    e = {.subject = subject, .number = number, .allocated = storage_counts.allocated, .parent = open, .arguments = kNoEvent, .kind = kind};
    e.start = event_ticks();
    return open = count++;
  }
  // What began inside it and has not ended is left behind.
  void end(uint32_t i) noexcept {
    Event& e = at(i);
    e.end = event_ticks();
    e.left = storage_counts.allocated;
    open = e.parent;
    while (RG_UNLIKELY(open != kNoEvent && at(open).end)) open = at(open).parent;
  }
  // For what does not end in the order in which it began: blocks and functions.
  void end_anywhere(uint32_t i) noexcept {
    if (open == i) return end(i);
    const uint32_t inner = open;
    end(i);
    open = inner;
  }
  // How many arguments an event has; each is to be noted next.
  void note_count(uint32_t event, size_t count) {
    at(event).arguments = static_cast<uint32_t>(noted.size());
    noted.push_back(static_cast<int64_t>(count));
  }
  void note(Noted kind) { noted.push_back(static_cast<int64_t>(kind)); }
  void note(Noted kind, int64_t value) {
    note(kind);
    noted.push_back(value);
  }
  void note_tensor(const TensorImpl* t);  // or that there is none

 private:
  static constexpr uint32_t kChunk = 4096;
  using Chunk = std::unique_ptr<Event[]>;
  // Of logs that are gone: memory that was written to before costs no page faults while something is measured. The GIL guards them.
  static constexpr size_t kSpares = 16;
  static std::vector<Chunk>& spares();
  std::vector<Chunk> chunks_;
  void grow();
};

// An argument of an op, as far as a profile tells; out of line, since ops have many.
template <class T> [[gnu::cold, gnu::noinline]] void note_argument(EventLog& log, const T& v) {
  if constexpr (std::is_same_v<T, Tensor>) {
    log.note_tensor(v.get());
  } else if constexpr (std::is_same_v<T, Operand>) {
    if (v.tensor) return log.note_tensor(v.tensor);
    note_argument(log, v.scalar);
  } else if constexpr (std::is_convertible_v<const T&, std::span<const Tensor>>) {
    const std::span<const Tensor> list(v);
    log.note(Noted::Tensors, static_cast<int64_t>(list.size()));
    for (const Tensor& t : list) log.note_tensor(t.get());
  } else if constexpr (std::is_convertible_v<const T&, IntSpan>) {
    const IntSpan list(v);
    log.note(Noted::Ints, static_cast<int64_t>(list.size()));
    log.noted.insert(log.noted.end(), list.begin(), list.end());
  } else if constexpr (std::is_same_v<T, bool>) {
    log.note(Noted::Bool, v);
  } else if constexpr (std::is_integral_v<T>) {
    log.note(Noted::Int, static_cast<int64_t>(v));
  } else if constexpr (std::is_same_v<T, double>) {
    log.note(Noted::Double, std::bit_cast<int64_t>(v));
  } else if constexpr (std::is_same_v<T, Scalar>) {
    if (v.is_complex()) return log.note(Noted::Other);
    if (v.is_bool()) return log.note(Noted::Bool, v.to_int() != 0);
    v.is_float() ? log.note(Noted::Double, std::bit_cast<int64_t>(v.to_double())) : log.note(Noted::Int, v.to_int());
  } else if constexpr (requires { v.has_value(), *v; }) {
    if (!v.has_value()) return log.note(Noted::None);
    note_argument(log, *v);
  } else {
    log.note(Noted::Other);
  }
}

// An event that lasts as long as this. The profile may end meanwhile.
class OpenEvent {
 public:
  OpenEvent(EventKind kind, const void* subject, int64_t number);
  ~OpenEvent();
  OpenEvent(const OpenEvent&) = delete;
  uint32_t event() const { return event_; }

 private:
  uint64_t id_;
  uint32_t event_;
};

}  // namespace retrograd
