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

// Wichura's rational approximations (1988, AS 241), right to some 1e-16: around 1/2 in the distance from there, which is exact, elsewhere in the root of
// the logarithm of the nearer tail.
[[gnu::noinline, maybe_unused]] Lanes ndtri(Lanes p) {
  static constexpr double a[] = {3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
                                 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727};
  static constexpr double b[] = {1,
                                 42.313330701600911252,
                                 687.18700749205790830,
                                 5394.1960214247511077,
                                 21213.794301586595867,
                                 39307.895800092710610,
                                 28729.085735721942674,
                                 5226.4952788528545610};
  static constexpr double c[] = {1.42343711074968357734, 4.63033784615654529590,  5.76949722146069140550,   3.64784832476320460504,
                                 1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4};
  static constexpr double d[] = {1,
                                 2.05319162663775882187,
                                 1.67638483018380384940,
                                 0.689767334985100004550,
                                 0.148103976427480074590,
                                 0.0151986665636164571966,
                                 5.47593808499534494600e-4,
                                 1.05075007164441684324e-9};
  static constexpr double e[] = {6.65790464350110377720,   5.46378491116411436990,    1.78482653991729133580,    0.296560571828504891230,
                                 0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double f[] = {1,
                                 0.599832206555887937690,
                                 0.136929880922735805310,
                                 0.0148753612908506148525,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};
  const Lanes q = p - 0.5, r = 0.180625 - q * q, middle = q * horner(r, a) / horner(r, b);
  const Mask outside = abs_(q) > 0.425;
  if (!any(outside)) return middle;
  const Mask below = q < 0;
  const Lanes root = sqrt_(-log_(outside ? (below ? p : 1 - p) : spread(0.5))), t = root - 1.6, u = root - 5;
  Lanes tail = horner(t, c) / horner(t, d);
  if (any(root > 5)) tail = root > 5 ? horner(u, e) / horner(u, f) : tail;
  const Lanes y = outside ? (below ? -tail : tail) : middle;
  return p == 0 ? spread(-kInf<double>) : p == 1 ? spread(kInf<double>) : (p > 0) & (p < 1) ? y : spread(kNaN<double>);
}

}  // namespace vm

RG_INLINE Lanes erfcx_(Lanes x) { return vm::erfcx(x); }
RG_INLINE Lanes erfcx_slope(Lanes x) { return vm::erfcx_slope(x); }
RG_INLINE Lanes log_ndtr_slope(Lanes x) { return vm::log_ndtr_slope(x); }
RG_INLINE Lanes log_ndtr_curve(Lanes x) { return vm::log_ndtr_curve(x); }
RG_INLINE Lanes ndtri_(Lanes x) { return vm::ndtri(x); }
RG_INLINE Lanes log_ndtr_(Lanes x) { return vm::log_ndtr(x); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
