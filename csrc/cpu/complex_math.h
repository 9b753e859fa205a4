// What pointwise expressions of the op table call, for complex numbers. Overloads of the names in vecmath.h and pointwise_math.h, so that most
// entries use one expression for real and complex elements. The functions themselves are the C++ library's.
#pragma once

#include <cmath>
#include <complex>
#include <limits>

#include "core/dtype.h"
#include "cpu/pointwise_math.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

template <class R> RG_INLINE std::complex<R> library(Complex<R> z) { return {z.re, z.im}; }
template <class R> RG_INLINE Complex<R> ours(std::complex<R> z) { return {z.real(), z.imag()}; }

#define RG_COMPLEX_FUNCTION(name) \
  template <class R> Complex<R> name##_(Complex<R> z) { return ours(std::name(library(z))); }
RG_COMPLEX_FUNCTION(exp)
RG_COMPLEX_FUNCTION(log)
RG_COMPLEX_FUNCTION(log10)
RG_COMPLEX_FUNCTION(sqrt)
RG_COMPLEX_FUNCTION(sin)
RG_COMPLEX_FUNCTION(cos)
RG_COMPLEX_FUNCTION(tan)
RG_COMPLEX_FUNCTION(asin)
RG_COMPLEX_FUNCTION(acos)
RG_COMPLEX_FUNCTION(atan)
RG_COMPLEX_FUNCTION(sinh)
RG_COMPLEX_FUNCTION(cosh)
RG_COMPLEX_FUNCTION(tanh)
RG_COMPLEX_FUNCTION(asinh)
RG_COMPLEX_FUNCTION(acosh)
RG_COMPLEX_FUNCTION(atanh)
#undef RG_COMPLEX_FUNCTION

template <class R> Complex<R> log2_(Complex<R> z) { return log_(z) * Complex<R>(1.4426950408889634); }
template <class R> Complex<R> exp2_(Complex<R> z) { return exp_(z * Complex<R>(0.6931471805599453)); }
template <class R> Complex<R> rsqrt_(Complex<R> z) { return Complex<R>(1) / sqrt_(z); }
template <class R> Complex<R> sigmoid_(Complex<R> z) { return Complex<R>(1) / (Complex<R>(1) + exp_(-z)); }
// expm1(x + iy): the real part is expm1(x) cos y - 2 sin(y/2)^2, which keeps its digits near 0.
template <class R> Complex<R> expm1_(Complex<R> z) {
  const R half = std::sin(z.im / 2), e = std::exp(z.re);
  return {std::expm1(z.re) * std::cos(z.im) - 2 * half * half, e * std::sin(z.im)};
}
template <class R> RG_INLINE Complex<R> log1p_(Complex<R> z) {
  // Near 0 the square of |1 + z| is 1 + x (2 + x) + y^2, whose distance from 1 is known exactly.
  const R near = log1p_(z.re * (2 + z.re) + z.im * z.im) / 2, far = log_(hypot_of(R(1) + z.re, z.im));
  return {hypot_of(z.re, z.im) < R(0.5) ? near : far, atan2_(z.im, R(1) + z.re)};
}

template <class R> RG_INLINE R abs_of(Complex<R> z) { return hypot_of(z.re, z.im); }
template <class R> RG_INLINE R angle_of(Complex<R> z) { return atan2_(z.im, z.re); }
template <class R> RG_INLINE Complex<R> sign_of(Complex<R> z) {
  const R size = abs_of(z), re = z.re / size, im = z.im / size;
  return {size == 0 ? R(0) : re, size == 0 ? R(0) : im};
}
template <class R> RG_INLINE Complex<R> conj_of(Complex<R> z) { return {z.re, -z.im}; }
template <class T> RG_INLINE T conj_of(T x) { return x; }
template <class R> RG_INLINE bool is_nan(Complex<R> z) { return z.re != z.re || z.im != z.im; }
template <class R> RG_INLINE bool is_inf(Complex<R> z) { return is_inf(z.re) || is_inf(z.im); }
template <class R> RG_INLINE bool is_finite(Complex<R> z) { return is_finite(z.re) && is_finite(z.im); }
template <class R> RG_INLINE Complex<R> lerp_of(Complex<R> a, Complex<R> b, Complex<R> weight) {
  return weight.re * weight.re + weight.im * weight.im < R(0.25) ? a + weight * (b - a) : b - (b - a) * (Complex<R>(1) - weight);
}
template <class R> RG_INLINE Complex<R> add_product(Complex<R> x, Complex<R> y, Complex<R> z, Complex<R> value) {
  return x + value * y * z;
}
template <class R> Complex<R> sinc_of(Complex<R> z) {
  const Complex<R> turn = Complex<R>(3.14159265358979323846) * z;
  return z == Complex<R>(0) ? Complex<R>(1) : sin_(turn) / turn;
}
template <class R> Complex<R> sinc_slope(Complex<R> z, Complex<R> sine, Complex<R> cosine) {
  const Complex<R> pi(3.14159265358979323846), t = pi * z;
  return pi * (abs_of(t) < R(0.5) ? sinc_series(t) : (t * cosine - sine) / (t * t));
}
template <class R> Complex<R> pow_any(Complex<R> a, Complex<R> b) {
  if (b == Complex<R>(0)) return Complex<R>(1);
  if (a == Complex<R>(0)) {
    if (b.im == 0 && b.re > 0) return Complex<R>(0);
    if (b.im == 0) return {std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()};
  }
  return ours(std::pow(library(a), library(b)));
}
// log(exp(a) + exp(b)) around the one of larger real part.
template <class R> Complex<R> log_add_exp_(Complex<R> a, Complex<R> b) {
  const Complex<R> hi = a.re < b.re ? b : a, lo = a.re < b.re ? a : b;
  constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  if (is_nan(hi) || is_nan(lo)) return {nan, nan};
  if (is_inf(hi.re) && hi.re < 0) return hi;
  if (is_inf(lo.re) && lo.re > 0) return {hi.re, hi.im == lo.im ? hi.im : nan};
  return hi + log1p_(exp_(lo - hi));
}

}  // namespace
}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
