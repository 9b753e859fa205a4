// Orthogonal polynomials by their three-term recurrences, in lanes (lanes.h): in double, rounded once for float. The degree is the integer part
// of a number; below 0 there are none, and the value is 0. A recurrence that overflows ends in nan, as PyTorch's does.
#pragma once

#include <cmath>
#include <cstdint>

#include "cpu/bessel.h"
#include "cpu/lanes.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

RG_INLINE Lanes degree_of(Lanes n) { return (n > -1) & (n < 9e18) ? trunc_(n) : spread(-1); }  // nan too
inline double odd_sign(double x, int64_t n) { return x < 0 && n % 2 ? -1 : 1; }
RG_INLINE Lanes odd_sign(Mask negative, Lanes n) { return negative & (n != 2 * trunc_(0.5 * n)) ? spread(-1) : spread(1); }
constexpr double kMostSteps = 0x1p26;  // what takes longer is nan: a degree that is no degree shall not hang

// The polynomial of degree n from that of degree 1: step(k, value) gives the one of degree k from the one below, where there are lanes left.
template <class Step> RG_INLINE Lanes climb(Lanes n, Lanes first, Step step) {
  Lanes value = first, result = n > kMostSteps ? spread(kNaN<double>) : first;
  const Lanes steps = n > kMostSteps ? spread(0) : n;
  for (double k = 2; any((k <= steps) & (value == value)); ++k) {
    value = step(k, value);
    result = k <= steps ? value : result;
  }
  return n > 0 ? result : n == 0 ? spread(1) : spread(0);
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

// By the recurrence, or near 1 by differences of neighbours, which are small there: with `factor` the distance from 1, `rest` is the last
// difference, else minus the value before.
template <char kind> [[gnu::noinline, maybe_unused]] Lanes chebyshev(Lanes x, Lanes degree) {
  const Lanes n = degree_of(degree), a = abs_(x);
  const Mask near = (a >= 0.5) & (a <= 1), turned = near & (x < 0), far = (x == x) & (n > (a <= 1 ? spread(32) : spread(1 << 17)));
  const Lanes at = near ? a : x, factor = near ? 2 * (a - 1) : 2 * x;
  Lanes first = kind == 't' ? at : 2 * at;
  if (kind == 'v') first += turned ? spread(1) : spread(-1);
  if (kind == 'w') first += turned ? spread(-1) : spread(1);
  Lanes rest = near ? first - 1 : spread(-1);
  const Lanes y = climb(far ? spread(1) : n, first, [&](double, Lanes value) __attribute__((always_inline)) {
    const Lanes next = factor * value + rest;
    rest = near ? next : -value;
    return near ? value + next : next;
  });
  return except(far, odd_sign(turned, n) * y, [&](int i) { return chebyshev_far(kind, x[i], static_cast<int64_t>(n[i])); });
}

[[gnu::noinline, maybe_unused]] Lanes hermite(Lanes x, Lanes degree, double scale) {
  Lanes before = spread(1);
  return climb(degree_of(degree), scale * x, [&](double k, Lanes value) __attribute__((always_inline)) {
    const Lanes next = scale * (x * value - (k - 1) * before);
    before = value;
    return next;
  });
}

// L_n^(order), by differences of neighbours, which are small near 0.
[[gnu::noinline, maybe_unused]] Lanes laguerre(Lanes x, Lanes degree, double order) {
  const Lanes n = degree_of(degree);
  Lanes step = order - x;
  const Lanes y = climb(n, 1 + step, [&](double k, Lanes value) __attribute__((always_inline)) {
    step = ((k - 1 + order) * step - x * value) / k;
    return value + step;
  });
  return (abs_(x) == kInf<double>)&(n > 1) ? (n == 2 ? spread(kInf<double>) : spread(kNaN<double>)) : y;
}

// For |x| <= 1 and large n: Hilb's formula with the term after it.
[[gnu::noinline, maybe_unused]] double legendre_far(double x, int64_t n) {
  const double a = __builtin_fabs(x), angle = acos_(a), count = static_cast<double>(n) + 0.5, s = std::sqrt((1 - a) * (1 + a));
  if (a == 1) return odd_sign(x, n);
  const double bend = (1 / angle - a / s) / (8 * count);
  return odd_sign(x, n) * std::sqrt(angle / s) * (bessel_j0(spread(count * angle)) - bend * bessel_j1(spread(count * angle)))[0];
}

// As Chebyshev's.
[[gnu::noinline, maybe_unused]] Lanes legendre(Lanes x, Lanes degree) {
  const Lanes n = degree_of(degree), a = abs_(x);
  const Mask near = (a >= 0.5) & (a <= 1), far = (a <= 1) & (n > 1 << 22);
  const Lanes at = near ? a : x, factor = near ? a - 1 : x;
  Lanes rest = near ? factor : spread(-1);
  const Lanes y = climb(far ? spread(1) : n, at, [&](double k, Lanes value) __attribute__((always_inline)) {
    const double r = 1 / k;
    const Lanes part = factor * value, next = part + (1 - r) * (part + rest);
    rest = near ? next : -value;
    return near ? value + next : next;
  });
  return except(far, odd_sign(near & (x < 0), n) * y, [&](int i) { return legendre_far(x[i], static_cast<int64_t>(n[i])); });
}

// C_n^(order), the derivatives of U and P: C_n^(order)' = 2 order C_(n-1)^(order + 1).
[[gnu::noinline, maybe_unused]] Lanes gegenbauer(Lanes x, Lanes degree, double order) {
  Lanes before = spread(1);
  return climb(degree_of(degree), 2 * order * x, [&](double k, Lanes value) __attribute__((always_inline)) {
    const Lanes next = (2 * (k + order - 1) * x * value - (k + 2 * order - 2) * before) / k;
    before = value;
    return next;
  });
}

}  // namespace vm

RG_INLINE Lanes chebyshev_t(Lanes x, Lanes n) { return vm::chebyshev<'t'>(x, n); }
RG_INLINE Lanes chebyshev_u(Lanes x, Lanes n) { return vm::chebyshev<'u'>(x, n); }
RG_INLINE Lanes chebyshev_v(Lanes x, Lanes n) { return vm::chebyshev<'v'>(x, n); }
RG_INLINE Lanes chebyshev_w(Lanes x, Lanes n) { return vm::chebyshev<'w'>(x, n); }
RG_INLINE Lanes hermite_h(Lanes x, Lanes n) { return vm::hermite(x, n, 2); }
RG_INLINE Lanes hermite_he(Lanes x, Lanes n) { return vm::hermite(x, n, 1); }
RG_INLINE Lanes laguerre_l(Lanes x, Lanes n, double order) { return vm::laguerre(x, n, order); }
RG_INLINE Lanes legendre_p(Lanes x, Lanes n) { return vm::legendre(x, n); }
RG_INLINE Lanes gegenbauer_c(Lanes x, Lanes n, double order) { return vm::gegenbauer(x, n, order); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
