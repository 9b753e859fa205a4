// Orthogonal polynomials by their three-term recurrences: scalar code in double, rounded once for float, like vecmath_special.h. The degree is
// the integer part of a number; below 0 there are none, and the value is 0. A recurrence that overflows ends in nan, as PyTorch's does.
#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/bessel.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

inline int64_t degree_of(double n) { return n > -1 && n < 9e18 ? static_cast<int64_t>(n) : -1; }  // nan too
inline double odd_sign(double x, int64_t n) { return x < 0 && n % 2 ? -1 : 1; }
constexpr int64_t kMostSteps = int64_t(1) << 26;  // what takes longer is nan: a degree that is no degree shall not hang

// The polynomial of degree n >= 1 from those of degrees 0 and 1, step(k, ...) giving the one of degree k from the two below.
template <class Step> inline double climb(int64_t n, double first, double second, Step step) {
  if (n > kMostSteps) return kNaN<double>;
  for (int64_t k = 2; k <= n && second == second; ++k) {
    const double next = step(static_cast<double>(k), second, first);
    first = second;
    second = next;
  }
  return second;
}

constexpr char other_side(char kind) { return kind == 'v' ? 'w' : kind == 'w' ? 'v' : kind; }  // what it is at -x, but for the sign

// With x = cos(angle), T is cos(n angle) and U, V, W are quotients of sines and cosines; outside [-1, 1] hyperbolic ones.
[[gnu::noinline, maybe_unused]] double chebyshev_far(char kind, double x, int64_t n) {
  const double a = __builtin_fabs(x), count = static_cast<double>(n), sign = odd_sign(x, n);
  if (x < 0) kind = other_side(kind);
  if (a == 1) return sign * (kind == 'u' ? count + 1 : kind == 'w' ? 2 * count + 1 : 1);
  const bool even = kind == 't' || kind == 'v', inside = a < 1;
  const double angle = (inside ? acos_(a) : std::acosh(a)) * (kind == 't' ? count : kind == 'u' ? count + 1 : count + 0.5);
  const double over = inside        ? (even ? std::cos(angle) : std::sin(angle))
                      : angle > 709 ? kNaN<double>
                      : even        ? std::cosh(angle)
                                    : std::sinh(angle);
  const double beyond = __builtin_fabs(1 - a);
  const double under = kind == 't' ? 1 : std::sqrt(kind == 'u' ? beyond * (1 + a) : kind == 'v' ? 0.5 * (1 + a) : 0.5 * beyond);
  return sign * over / under;
}

template <char kind> [[gnu::noinline, maybe_unused]] double chebyshev(double x, double degree) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  if (x != x) return x;
  const double a = __builtin_fabs(x);
  if (n > (a <= 1 ? 32 : 1 << 17)) return chebyshev_far(kind, x, n);
  const auto first = [](char k, double at) { return k == 't' ? at : k == 'u' ? 2 * at : k == 'v' ? 2 * at - 1 : 2 * at + 1; };
  if (!(a >= 0.5 && a <= 1)) return climb(n, 1, first(kind, x), [twice = 2 * x](double, double q, double p) { return twice * q - p; });
  // By differences of neighbours, which are small near 1.
  const double start = first(x < 0 ? other_side(kind) : kind, a);
  double step = start - 1;
  return odd_sign(x, n) * climb(n, 1, start, [&, less = 2 * (a - 1)](double, double q, double) {
           step += less * q;
           return q + step;
         });
}

[[gnu::noinline, maybe_unused]] double hermite_h(double x, double degree) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  return climb(n, 1, 2 * x, [x](double k, double q, double p) { return 2 * (x * q - (k - 1) * p); });
}

[[gnu::noinline, maybe_unused]] double hermite_he(double x, double degree) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  return climb(n, 1, x, [x](double k, double q, double p) { return x * q - (k - 1) * p; });
}

// L_n^(order), by differences of neighbours, which are small near 0.
[[gnu::noinline, maybe_unused]] double laguerre(double x, double degree, double order) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  if (__builtin_fabs(x) == kInf<double>)
    return climb(n, 1, 1 + order - x,
                 [=](double k, double q, double p) { return ((2 * k - 1 + order - x) * q - (k - 1 + order) * p) / k; });
  double step = order - x;
  return climb(n, 1, 1 + step, [&](double k, double q, double) {
    step = ((k - 1 + order) * step - x * q) / k;
    return q + step;
  });
}

[[gnu::noinline, maybe_unused]] double legendre(double x, double degree) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  const double a = __builtin_fabs(x);
  if (!(a >= 0.5 && a <= 1)) {
    if (!(a < 0.5 && n > (1 << 22))) return climb(n, 1, x, [x](double k, double q, double p) { return x * q + (1 - 1 / k) * (x * q - p); });
  } else if (n <= (1 << 22)) {  // by differences of neighbours, which are small near 1
    double step = a - 1;
    return odd_sign(x, n) * climb(n, 1, a, [&, less = a - 1](double k, double q, double) {
             const double r = 1 / k;
             step = (1 - r) * step + (2 - r) * less * q;
             return q + step;
           });
  }
  // Hilb's formula with the term after it.
  const double angle = acos_(a), count = static_cast<double>(n) + 0.5, s = std::sqrt((1 - a) * (1 + a));
  if (a == 1) return odd_sign(x, n);
  const double bend = (1 / angle - a / s) / (8 * count);
  return odd_sign(x, n) * std::sqrt(angle / s) * (bessel_j0(count * angle) - bend * bessel_j1(count * angle));
}

// C_n^(order), the derivatives of U and P: C_n^(order)' = 2 order C_(n-1)^(order + 1).
[[gnu::noinline, maybe_unused]] double gegenbauer(double x, double degree, double order) {
  const int64_t n = degree_of(degree);
  if (n <= 0) return n == 0;
  return climb(n, 1, 2 * order * x,
               [=](double k, double q, double p) { return (2 * (k + order - 1) * x * q - (k + 2 * order - 2) * p) / k; });
}

}  // namespace vm

template <class T> RG_INLINE T chebyshev_t(double x, T n) { return static_cast<T>(vm::chebyshev<'t'>(x, n)); }
template <class T> RG_INLINE T chebyshev_u(double x, T n) { return static_cast<T>(vm::chebyshev<'u'>(x, n)); }
template <class T> RG_INLINE T chebyshev_v(double x, T n) { return static_cast<T>(vm::chebyshev<'v'>(x, n)); }
template <class T> RG_INLINE T chebyshev_w(double x, T n) { return static_cast<T>(vm::chebyshev<'w'>(x, n)); }
template <class T> RG_INLINE T hermite_h(T x, T n) { return static_cast<T>(vm::hermite_h(x, n)); }
template <class T> RG_INLINE T hermite_he(T x, T n) { return static_cast<T>(vm::hermite_he(x, n)); }
template <class T> RG_INLINE T laguerre_l(T x, T n, T order) { return static_cast<T>(vm::laguerre(x, n, order)); }
template <class T> RG_INLINE T legendre_p(T x, T n) { return static_cast<T>(vm::legendre(x, n)); }
template <class T> RG_INLINE T gegenbauer_c(T x, T n, T order) { return static_cast<T>(vm::gegenbauer(x, n, order)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
