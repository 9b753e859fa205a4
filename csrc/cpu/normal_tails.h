// The scaled complementary error function, the logarithm of the normal distribution function, and its inverse: in lanes,
// like vecmath_special.h.
#pragma once

#include <cmath>

#include "cpu/lanes.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

[[gnu::noinline, maybe_unused]] Lanes erfcx(Lanes x) {
  const Mask left = x < 0.5;
  const Lanes y = x > 1e300 ? 0.56418958354775628695 / x : erfcx_large(x);
  return any(left) ? (left ? exp_(x * x) * erfc_(x) : y) : y;
}

[[gnu::noinline, maybe_unused]] Lanes log_ndtr(Lanes x) {
  const Mask left = x < -1;
  const Lanes t = x * 0.70710678118654752440, y = log1p_(-0.5 * erfc_(t));
  if (!any(left)) return y;
  return x < -1e154 ? spread(-kInf<double>) : left ? log_(0.5 * erfcx_large(-t)) - t * t : y;  // far on the left the square overflows
}

// 2 x erfcx(x) - 2 / sqrt(pi), whose terms cancel for large x: there it is the asymptotic series.
[[maybe_unused]] inline Lanes erfcx_slope(Lanes x) {
  constexpr double root = 1.12837916709551257390;
  const Lanes u = 1 / (x * x);
  return x >= 50 ? root * u * (-0.5 + u * (0.75 + u * (-1.875 + u * 6.5625))) : 2 * x * erfcx(x) - root;
}

// The normal density over the distribution function, h = log_ndtr'.
[[maybe_unused]] inline Lanes log_ndtr_slope(Lanes x) {
  const Lanes t = x * -0.70710678118654752440;
  return x < -1e300 ? -x : 0.79788456080286535588 / (x < 0 ? erfcx(t) : exp_(0.5 * x * x) * erfc_(t));
}

// h' = -h (x + h). Far on the left h is nearly -x.
[[maybe_unused]] inline Lanes log_ndtr_curve(Lanes x) {
  const Lanes u = 1 / (x * x), h = log_ndtr_slope(x);
  return x < -1e4 ? -1 + u - 6 * u * u : h == 0 ? -h : -h * (x + h);
}

// From the inverse error function, whose argument is exact from 1/4 on; below, where it is rounded, with a step of Halley's method, and in the
// tail with some of Newton's from the leading term.
[[maybe_unused]] double ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return kNaN<double>;
  if (p == 0) return -kInf<double>;
  if (p == 1) return kInf<double>;
  const bool upper = p > 0.5;
  const double q = upper ? 1 - p : p;  // exact, since p >= 1/2
  double x;
  if (q > 1e-3) {
    x = 1.41421356237309504880 * erfinv_(2 * q - 1);
    if (q < 0.25) {
      const double ratio = (0.5 * std::erfc(-x * 0.70710678118654752440) - q) * 2.50662827463100050242 * exp_(0.5 * x * x);
      x -= ratio / (1 + 0.5 * x * ratio);
    }
  } else {
    x = -std::sqrt(-2 * std::log(q * std::sqrt(-4 * 3.141592653589793 * std::log(q))));
    for (int step = 0; step < 4; ++step) {
      const double tail = erfcx_large(x * -0.70710678118654752440);
      const double move = (std::log(0.5 * tail) - 0.5 * x * x - std::log(q)) * 1.25331413731550025121 * tail;
      x -= move;
      if (std::fabs(move) < 1e-15 * std::fabs(x)) break;
    }
  }
  return upper ? -x : x;
}

}  // namespace vm

RG_INLINE Lanes erfcx_(Lanes x) { return vm::erfcx(x); }
RG_INLINE Lanes erfcx_slope(Lanes x) { return vm::erfcx_slope(x); }
RG_INLINE Lanes log_ndtr_slope(Lanes x) { return vm::log_ndtr_slope(x); }
RG_INLINE Lanes log_ndtr_curve(Lanes x) { return vm::log_ndtr_curve(x); }
template <class T> RG_INLINE T ndtri_(T x) { return static_cast<T>(vm::ndtri(x)); }
// Of floats above 1e-8, and of those that have no value: the argument of erfinv_ is exact, or its rounding is not seen.
RG_INLINE float ndtri_usual(float x) { return static_cast<float>(1.41421356237309504880 * erfinv_(2 * static_cast<double>(x) - 1)); }
RG_INLINE double ndtri_usual(double x) { return vm::ndtri(x); }
RG_INLINE Lanes log_ndtr_(Lanes x) { return vm::log_ndtr(x); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
