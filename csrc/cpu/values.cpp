#include "kernels/values.h"

#include <cmath>

#include "cpu/cpu.h"
#include "kernels/element.h"

namespace retrograd::cpu {
namespace {

// All elements are looked at, so that the loop can be vectorised.
template <class T, class F> bool any_of(const void* in, int64_t n, F test) {
  const T* p = static_cast<const T*>(in);
  bool found = false;
  for (int64_t i = 0; i < n; ++i) found |= test(static_cast<compute_t<T>>(element(p + i)));
  return found;
}

template <class T> bool any_is(const void* in, int64_t n, Is what, double low, double high) {
  using C = compute_t<T>;
  constexpr double kInf = HUGE_VAL;
  switch (what) {
    case Is::Zero: return any_of<T>(in, n, [](C x) { return x == C(0); });
    case Is::NaN: return any_of<T>(in, n, [](C x) { return x != x; });
    case Is::Infinite: return any_of<T>(in, n, [](C x) { return std::fabs(static_cast<double>(x)) == kInf; });
    case Is::MinusInfinite: return any_of<T>(in, n, [](C x) { return static_cast<double>(x) == -kInf; });
    case Is::NotFinite: return any_of<T>(in, n, [](C x) { return !(std::fabs(static_cast<double>(x)) < kInf); });
    case Is::Above: return any_of<T>(in, n, [=](C x) { return static_cast<double>(x) > high; });
    case Is::Outside: break;
  }
  return any_of<T>(in, n, [=](C x) { return !(static_cast<double>(x) >= low && static_cast<double>(x) <= high); });
}

void any(bool* answer, DType dtype, const void* in, int64_t n, Is what, double low, double high) {
  *answer = visit_dtype(dtype, [&](auto zero) { return any_is<decltype(zero)>(in, n, what, low, high); });
}

}  // namespace

const ValueKernels value_kernels = {.any = any};

}  // namespace retrograd::cpu
