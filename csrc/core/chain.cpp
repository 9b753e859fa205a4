#include "core/chain.h"

#include <cstddef>
#include <cstdlib>

namespace retrograd {
namespace {

struct Waiting {
  void (*f)(void*);
  void* argument;
  Waiting* next;
};
thread_local constinit Waiting* first = nullptr;
thread_local constinit bool busy = false;

}  // namespace

void let_go(void (*f)(void*), void* argument) noexcept {
  if (busy) {
    if (auto* waiting = static_cast<Waiting*>(std::malloc(sizeof(Waiting)))) {
      *waiting = {f, argument, first};
      first = waiting;
      return;
    }
  }
  const bool outermost = !busy;
  busy = true;
  f(argument);
  if (!outermost) return;
  while (Waiting* waiting = first) {
    first = waiting->next;
    const Waiting next = *waiting;
    std::free(waiting);
    next.f(next.argument);
  }
  busy = false;
}

}  // namespace retrograd
