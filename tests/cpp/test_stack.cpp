// core/stack.h: calls on stacks of their own.
#include "core/stack.h"

#include "check.h"

namespace retrograd {
namespace {

// Uses a megabyte and calls itself, on a fresh stack wherever half of the one at hand is used: `depth` megabytes in all.
int64_t deep(int depth, int& stacks) {
  volatile char room[1 << 20];
  room[0] = 1;
  room[sizeof(room) - 1] = 1;
  if (depth == 0) return 0;
  int64_t below = 0;
  if (stack_runs_low()) {
    ++stacks;
    on_fresh_stack([&] {
      if (stack_runs_low()) below = -1'000'000;
      below += deep(depth - 1, stacks);
    });
  } else {
    below = deep(depth - 1, stacks);
  }
  return below + room[0] + room[sizeof(room) - 1] - 1;
}

TEST(deeper_than_any_stack) {
  if (!interpreter_follows_stacks()) return;
  int stacks = 0;
  CHECK_EQUAL(deep(100, stacks), int64_t{100});
  CHECK(stacks >= 10);
  CHECK(!stack_runs_low());  // and the stack at hand is the one we began on
}

TEST(exceptions_arrive_where_it_was_called) {
  CHECK_THROWS(on_fresh_stack([] { fail(ErrorKind::Value, "from afar"); }), "from afar");
  int caught = 0;
  on_fresh_stack([&] {
    try {
      on_fresh_stack([] { throw 7; });
    } catch (int value) {
      caught = value;
    }
  });
  CHECK_EQUAL(caught, 7);
}

thread_local int of_this_thread = 0;

TEST(it_stays_on_its_thread) {
  of_this_thread = 5;
  PyObject* error = PyErr_NewException("units.Error", nullptr, nullptr);
  PyErr_SetString(error, "in flight");
  bool same = false;
  on_fresh_stack([&] { same = of_this_thread == 5 && PyErr_ExceptionMatches(error); });
  PyErr_Clear();
  Py_DECREF(error);
  CHECK(same);
}

}  // namespace
}  // namespace retrograd
