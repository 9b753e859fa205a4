// The scaled complementary error function, the logarithm of the normal distribution function, and its inverse: scalar code in double, like
// vecmath_special.h.
#pragma once

#include <cmath>

#include "cpu/vecmath.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

[[maybe_unused]] double erfcx(double x) {
  if (x < 0.5) return x < -26.7 ? kInf<double> : std::exp(x * x) * std::erfc(x);
  return x > 1e300 ? 1 / (x * 1.77245385090551602730) : erfcx_large(x);
}

[[maybe_unused]] double log_ndtr(double x) {
  if (x < -1e154) return -kInf<double>;  // the square overflows
  const double t = x * 0.70710678118654752440;
  return x < -1 ? std::log(0.5 * erfcx(-t)) - t * t : std::log1p(-0.5 * std::erfc(t));
}

// 2 x erfcx(x) - 2 / sqrt(pi), whose terms cancel for large x: there it is the asymptotic series.
[[maybe_unused]] double erfcx_slope(double x) {
  constexpr double root = 1.12837916709551257390;
  if (x < 50) return 2 * x * erfcx(x) - root;
  const double u = 1 / (x * x);
  return root * u * (-0.5 + u * (0.75 + u * (-1.875 + u * 6.5625)));
}

// The normal density over the distribution function, h = log_ndtr'.
[[maybe_unused]] double log_ndtr_slope(double x) {
  if (x < -1e300) return -x;
  return x < 0 ? 0.79788456080286535588 / erfcx(x * -0.70710678118654752440)
               : 0.79788456080286535588 * std::exp(-0.5 * x * x) / std::erfc(x * -0.70710678118654752440);
}

// h' = -h (x + h). Far on the left h is nearly -x.
[[maybe_unused]] double log_ndtr_curve(double x) {
  if (x < -1e4) {
    const double u = 1 / (x * x);
    return -1 + u - 6 * u * u;
  }
  const double h = log_ndtr_slope(x);
  return h == 0 ? -h : -h * (x + h);
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
      const double move = (log_ndtr(x) - std::log(q)) * 1.25331413731550025121 * erfcx(-x * 0.70710678118654752440);
      x -= move;
      if (std::fabs(move) < 1e-15 * std::fabs(x)) break;
    }
  }
  return upper ? -x : x;
}

}  // namespace vm

template <class T> RG_INLINE T erfcx_(T x) { return static_cast<T>(vm::erfcx(x)); }
template <class T> RG_INLINE T erfcx_slope(T x) { return static_cast<T>(vm::erfcx_slope(x)); }
template <class T> RG_INLINE T log_ndtr_slope(T x) { return static_cast<T>(vm::log_ndtr_slope(x)); }
template <class T> RG_INLINE T log_ndtr_curve(T x) { return static_cast<T>(vm::log_ndtr_curve(x)); }
template <class T> RG_INLINE T ndtri_(T x) { return static_cast<T>(vm::ndtri(x)); }
// Of floats above 1e-8, and of those that have no value: the argument of erfinv_ is exact, or its rounding is not seen.
RG_INLINE float ndtri_usual(float x) { return static_cast<float>(1.41421356237309504880 * erfinv_(2 * static_cast<double>(x) - 1)); }
RG_INLINE double ndtri_usual(double x) { return vm::ndtri(x); }
template <class T> RG_INLINE T log_ndtr_(T x) { return static_cast<T>(vm::log_ndtr(x)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
