// What a C++ test is made of. `TEST(name) { ... }` is a function that the module retrograd_units lists and runs; a CHECK that fails ends it with
// the place and the values. Tests hold the GIL and have a core of their own: what they do to the allocator, nobody else in the process sees.
#pragma once

#include <cstring>
#include <vector>

#include "core/errors.h"

namespace retrograd::units {

struct Test {
  const char* file;
  const char* name;
  void (*run)();
};
std::vector<Test>& tests();

struct Listed {
  Listed(const char* file, const char* name, void (*run)()) { tests().push_back({file, name, run}); }
};

template <class... Args> [[noreturn]] void failed(const char* file, int line, const Args&... args) {
  fail(ErrorKind::Assertion, file, ":", line, ": ", args...);
}

template <class A, class B> void check_equal(const A& a, const B& b, const char* file, int line, const char* text) {
  if (!(a == static_cast<A>(b))) failed(file, line, text, ": ", a, " is not ", static_cast<A>(b));
}

template <class F> void check_throws(F f, const char* opening, const char* file, int line) {
  try {
    f();
  } catch (const Error& error) {
    if (std::strncmp(error.what(), opening, std::strlen(opening)) == 0) return;
    failed(file, line, "threw ", error.what());
  }
  failed(file, line, "threw nothing");
}

// A generator of numbers that are the same everywhere.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed) {}
  int64_t below(int64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }

 private:
  uint64_t state_;
};

}  // namespace retrograd::units

#define TEST(name)                                                              \
  static void name();                                                           \
  static const ::retrograd::units::Listed listed_##name(__FILE__, #name, name); \
  static void name()
#define CHECK(condition) \
  if (!(condition)) ::retrograd::units::failed(__FILE__, __LINE__, #condition)
#define CHECK_EQUAL(a, b) ::retrograd::units::check_equal(a, b, __FILE__, __LINE__, #a)
#define CHECK_THROWS(expression, opening) ::retrograd::units::check_throws([&] { expression; }, opening, __FILE__, __LINE__)
