#include "core/events.h"

#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace retrograd {
namespace {

bool counts_evenly() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1U << 8);  // at one rate, also while the processor sleeps
#else
  return false;
#endif
}

int64_t system_clock() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

uint64_t last_log = 0;
uint32_t last_thread = 0;

// Profiles of one thread agree on its number.
uint32_t thread_number() {
  thread_local constinit uint32_t number = 0;
  if (!number) number = ++last_thread;
  return number;
}

bool owns_subject(const Event& e) { return e.kind >= EventKind::Block; }

}  // namespace

const bool has_even_counter = counts_evenly();

namespace {
// Both clocks when the process began: the rate of one against the other is known better the longer that was ago.
const int64_t first_ticks = event_ticks(), first_ns = system_clock();
}  // namespace

TickScale::TickScale() {
  if (!has_even_counter) return;
  const int64_t ticks = event_ticks(), ns = system_clock();
  rate_ = static_cast<double>(ns - first_ns) / static_cast<double>(ticks - first_ticks);
}

int64_t TickScale::operator()(int64_t ticks) const {
  return has_even_counter ? first_ns + static_cast<int64_t>(static_cast<double>(ticks - first_ticks) * rate_) : ticks;
}

EventLog::EventLog() : id(++last_log), thread(thread_number()), system_id(syscall(SYS_gettid)), of(&thread_state) {}

EventLog::~EventLog() {
  for (uint32_t i = 0; i < count; ++i)
    if (owns_subject(at(i))) Py_DECREF(static_cast<PyObject*>(const_cast<void*>(at(i).subject)));
  while (!chunks_.empty() && spares().size() < kSpares) {
    spares().push_back(std::move(chunks_.back()));
    chunks_.pop_back();
  }
}

std::vector<EventLog::Chunk>& EventLog::spares() {
  static auto* all = new std::vector<Chunk>();  // logs may be freed after the end of the program
  return *all;
}

void EventLog::grow() {
  if (spares().empty()) spares().push_back(std::make_unique_for_overwrite<Event[]>(kChunk));
  chunks_.push_back(std::move(spares().back()));
  spares().pop_back();
}

void EventLog::note_tensor(const TensorImpl* t) {
  if (!t) return note(Noted::None);
  note(Noted::Tensor, static_cast<int64_t>(t->dtype));
  noted.push_back(t->ndim);
  noted.insert(noted.end(), t->dims, t->dims + 2 * t->ndim);
}

OpenEvent::OpenEvent(EventKind kind, const void* subject, int64_t number)
    : id_(thread_state.log->id), event_(thread_state.log->begin(kind, subject, number)) {}

OpenEvent::~OpenEvent() {
  if (EventLog* log = thread_state.log; log && log->id == id_) log->end(event_);
}

}  // namespace retrograd
