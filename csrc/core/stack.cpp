#include "core/stack.h"

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <utility>

#include "core/errors.h"

// makecontext() is glibc's; elsewhere a nested call goes on where it is until the stack is nearly used.
#ifdef __GLIBC__
#include <sys/mman.h>
#include <ucontext.h>
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace retrograd {
namespace {

struct Stack {
  char* low = nullptr;
  size_t bytes = 0;
};
thread_local constinit Stack current = {};  // empty until somebody asks

Stack stack_of_thread() {
  Stack found;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return found;
  void* low = nullptr;
  if (pthread_attr_getstack(&attributes, &low, &found.bytes) == 0) found.low = static_cast<char*>(low);
  pthread_attr_destroy(&attributes);
  return found;
}

// What is left of the stack, in eighths.
size_t room() {
  if (!current.low) current = stack_of_thread();
  if (!current.low) return 8;
  const char* here = static_cast<const char*>(__builtin_frame_address(0));
  return here < current.low ? 0 : static_cast<size_t>(here - current.low) / (current.bytes / 8);
}

[[noreturn]] void refuse(const char* why) {
  fail(ErrorKind::Recursion, "maximum recursion depth exceeded: backward() is called inside backward() too deep for the stack, ", why,
       ". Does a backward, a hook or an unpack hook call backward() without end?");
}

#ifdef __GLIBC__

constexpr size_t kStackBytes = size_t{8} << 20;  // as a thread has; only what is used becomes memory
constexpr size_t kGuardBytes = size_t{64} << 10;

struct FreshStack {
  void* memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  FreshStack() {
    if (memory == MAP_FAILED) refuse("and there is no memory for another");
    mprotect(memory, kGuardBytes, PROT_NONE);
  }
  FreshStack(const FreshStack&) = delete;
  FreshStack& operator=(const FreshStack&) = delete;
  ~FreshStack() { munmap(memory, kStackBytes); }
  Stack usable() const { return {static_cast<char*>(memory) + kGuardBytes, kStackBytes - kGuardBytes}; }
};

struct Visit {
  void (*f)(void*);
  void* argument;
  std::exception_ptr error;
  ucontext_t here, there;
};
thread_local constinit Visit* starting = nullptr;

// The first function on the new stack. When it ends, uc_link goes back.
void begin() {
  Visit* visit = starting;
#ifdef __SANITIZE_ADDRESS__
  const void* bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
#endif
  try {
    visit->f(visit->argument);
  } catch (...) {
    visit->error = std::current_exception();
  }
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
#endif
}

void visit_stack(const FreshStack& stack, Visit& visit) {
  const Stack usable = stack.usable();
  getcontext(&visit.there);
  visit.there.uc_stack = {};
  visit.there.uc_stack.ss_sp = usable.low;
  visit.there.uc_stack.ss_size = usable.bytes;
  visit.there.uc_link = &visit.here;
  makecontext(&visit.there, begin, 0);
  starting = &visit;
  const Stack caller = std::exchange(current, usable);
#ifdef __SANITIZE_ADDRESS__
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, usable.low, usable.bytes);
#endif
  swapcontext(&visit.here, &visit.there);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  current = caller;
}

#endif

}  // namespace

bool stack_runs_low() noexcept { return room() < 4 || nested_calls_run_low(); }

void run_on_fresh_stack(void (*f)(void*), void* argument) {
#ifdef __GLIBC__
  if (interpreter_follows_stacks()) {
    const FreshStack stack;
    Visit visit{.f = f, .argument = argument, .error = {}, .here = {}, .there = {}};
    const NestedCalls calls = forget_nested_calls();
    visit_stack(stack, visit);
    restore_nested_calls(calls);
    if (visit.error) std::rethrow_exception(visit.error);
    return;
  }
#endif
  if (room() < 2) refuse("of which a quarter is left");
  f(argument);
}

}  // namespace retrograd
