// Functions of complex numbers out of the real ones of vecmath.h: without branches or calls, so that loops over them become SIMD code. Each holds for
// numbers that are not `far`: neither so large that a part of the way overflows, nor where digits would cancel. For those, infinities and nan the
// C++ library's function is taken (complex_math.h), element by element: see `complex` in the entries of the op table.
#pragma once

#include "cpu/complex_math.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

template <class R> constexpr R kMostExponent = sizeof(R) == 4 ? R(87) : R(708);    // e to it, and to minus it, are normal numbers
template <class R> constexpr R kTanhExponent = sizeof(R) == 4 ? R(11) : R(22);     // beyond it tanh is 1
template <class R> constexpr R kMostSquare = sizeof(R) == 4 ? R(1e30) : R(1e280);  // of what is squared

template <class R> RG_INLINE bool beyond(R x, R limit) { return !(abs_(x) <= limit); }  // nan too

// ---- around e^(x + iy) = e^x (cos y + i sin y)

template <class R> RG_INLINE bool far_exp(Complex<R> z) { return beyond(z.re, kMostExponent<R>) | beyond(z.im, trig_bound<R>()); }
template <class R> RG_INLINE bool far_turn(Complex<R> z) { return far_exp(Complex<R>(z.im, z.re)); }
template <class R> RG_INLINE bool far_angle(Complex<R> z) { return beyond(z.im, trig_bound<R>()); }

template <class R> RG_INLINE Complex<R> polar_of(R size, R angle) { return {size * cos_(angle), size * sin_(angle)}; }
template <class R> RG_INLINE Complex<R> quick_exp(Complex<R> z) { return polar_of(exp_(z.re), z.im); }
template <class R> RG_INLINE Complex<R> quick_exp2(Complex<R> z) { return polar_of(exp2_(z.re), z.im * R(0.6931471805599453)); }
// The real part is expm1(x) cos y - 2 sin(y/2)^2, which keeps its digits near 0.
template <class R> RG_INLINE Complex<R> quick_expm1(Complex<R> z) {
  const R half = sin_(z.im / 2);
  return {expm1_(z.re) * cos_(z.im) - 2 * half * half, exp_(z.re) * sin_(z.im)};
}
template <class R> RG_INLINE Complex<R> quick_sigmoid(Complex<R> z) { return Complex<R>(1) / (Complex<R>(1) + quick_exp(-z)); }
template <class R> RG_INLINE Complex<R> quick_sinh(Complex<R> z) { return {sinh_(z.re) * cos_(z.im), cosh_(z.re) * sin_(z.im)}; }
template <class R> RG_INLINE Complex<R> quick_cosh(Complex<R> z) { return {cosh_(z.re) * cos_(z.im), sinh_(z.re) * sin_(z.im)}; }
template <class R> RG_INLINE Complex<R> quick_sin(Complex<R> z) { return {sin_(z.re) * cosh_(z.im), cos_(z.re) * sinh_(z.im)}; }
template <class R> RG_INLINE Complex<R> quick_cos(Complex<R> z) { return {cos_(z.re) * cosh_(z.im), -(sin_(z.re) * sinh_(z.im))}; }

// Kahan's: with t = tan y and s = sinh x nothing cancels.
template <class R> RG_INLINE bool far_tanh(Complex<R> z) { return beyond(z.re, kTanhExponent<R>) | beyond(z.im, trig_bound<R>()); }
template <class R> RG_INLINE bool far_tan(Complex<R> z) { return far_tanh(Complex<R>(z.im, z.re)); }
template <class R> RG_INLINE Complex<R> quick_tanh(Complex<R> z) {
  const R t = tan_(z.im), s = sinh_(z.re), beta = 1 + t * t, below = 1 + beta * s * s;
  return {beta * sqrt_(1 + s * s) * s / below, t / below};
}
template <class R> RG_INLINE Complex<R> quick_tan(Complex<R> z) {
  const Complex<R> turned = quick_tanh(Complex<R>(z.im, z.re));
  return {turned.im, turned.re};
}

// ---- around |z|

template <class R> RG_INLINE R square_of(Complex<R> z) { return z.re * z.re + z.im * z.im; }
template <class R> RG_INLINE bool far_square(Complex<R> z) {
  const R square = square_of(z);
  return !(square <= kMostSquare<R>) | !(square >= 1 / kMostSquare<R>);
}
template <class R> RG_INLINE Complex<R> quick_reciprocal(Complex<R> z) {
  const R square = square_of(z);
  return {z.re / square, -z.im / square};
}
template <class R> RG_INLINE Complex<R> quick_sqrt(Complex<R> z) {
  const R t = sqrt_((abs_(z.re) + sqrt_(square_of(z))) / 2), u = z.im / (2 * t);
  return {z.re >= 0 ? t : abs_(u), z.re >= 0 ? u : copysign_(t, z.im)};
}
template <class R> RG_INLINE Complex<R> quick_rsqrt(Complex<R> z) { return Complex<R>(1) / quick_sqrt(z); }

// |z|^2 - 1, of which few digits are lost but where it is far less than its parts.
RG_INLINE float square_less_one(Complex<float> z) {
  const double x = z.re, y = z.im;
  return static_cast<float>(x * x + y * y - 1);
}
RG_INLINE double square_less_one(Complex<double> z) {
  const double x = abs_(z.re), y = abs_(z.im), hi = max_(x, y), lo = min_(x, y);
  return fma_(lo, lo, fma_(hi, hi, -1.0));
}
template <class R> constexpr R kLeastLessOne = sizeof(R) == 4 ? R(1e-8) : R(RG_HAS_FMA ? 1e-3 : 0.5);
template <class R> RG_INLINE bool far_log(Complex<R> z) { return far_square(z) | (abs_(square_less_one(z)) < kLeastLessOne<R>); }
template <class R> RG_INLINE Complex<R> quick_log(Complex<R> z) {
  const R square = square_of(z), less = square_less_one(z);
  return {(abs_(less) < R(0.5) ? log1p_(less) : log_(square)) / 2, atan2_(z.im, z.re)};
}
template <class R> RG_INLINE Complex<R> scaled(Complex<R> z, R by) { return {z.re * by, z.im * by}; }
template <class R> RG_INLINE Complex<R> quick_log2(Complex<R> z) { return scaled(quick_log(z), R(1.4426950408889634)); }
template <class R> RG_INLINE Complex<R> quick_log10(Complex<R> z) { return scaled(quick_log(z), R(0.4342944819032518)); }

}  // namespace
}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
