// Bessel's functions of orders 0 and 1, and Airy's: scalar code in double, rounded once for float, like vecmath_special.h. Near 0 they are
// polynomials part by part (bessel_tables.h), far from it an amplitude and a phase. Error: 4 units in the last place, of the amplitude
// where the function oscillates.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/bessel_tables.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

// A table at u, never nan, in parts of length 1 from `start`.
template <int N, int D> inline double pieces(const double (&table)[N][D], double u, double start = 0) {
  const int part = std::min(static_cast<int>(u - start), N - 1);
  const double t = 2 * (u - (start + part)) - 1;
  const double* c = table[part];
  double y = c[D - 1];
  for (int k = D - 2; k >= 0; --k) y = fma_(y, t, c[k]);
  return y;
}

struct Wave { double sine, cosine; };  // of x - pi/4, times sqrt(2)
inline Wave wave(double x, double rest = 0) {
  const bool near = x <= trig_bound<double>();
  const double s = near ? sin_(x) : std::sin(x), c = near ? cos_(x) : std::cos(x);
  const double sine = s + rest * c, cosine = c - rest * s;
  return {sine - cosine, sine + cosine};
}

// For x >= 8: sqrt(2 / (pi x)) (p(x) first + q(x) / x second), first and second being parts of wave(x).
template <int N, int P, int Q>
inline double bessel_far(const double (&p)[N][P], const double (&q)[N][Q], double x, double first, double second) {
  const double z = 64 / x / x;
  return 0.5641895835477563 / std::sqrt(x) * (pieces(p, N * z) * first + pieces(q, N * z) / x * second);
}

[[gnu::noinline, maybe_unused]] double bessel_j0(double x) {
  x = __builtin_fabs(x);
  if (x <= 8) return pieces(kBesselJ0, 2 * x);
  if (x != x) return x;
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP0, kBesselQ0, x, c, -s);
}

[[gnu::noinline, maybe_unused]] double bessel_j1(double x) {
  const double a = __builtin_fabs(x);
  if (a <= 8) return x * pieces(kBesselJ1, 2 * a);
  if (x != x) return x;
  const auto [s, c] = wave(a);
  return __builtin_copysign(1.0, x) * bessel_far(kBesselP1, kBesselQ1, a, s, c);
}

constexpr double kTwoOverPi = 0.6366197723675814;

[[gnu::noinline, maybe_unused]] double bessel_y0(double x) {
  if (x == 0) return -kInf<double>;
  if (!(x > 0)) return kNaN<double>;
  if (x <= 8) return kTwoOverPi * log_(0.5 * x) * pieces(kBesselJ0, 2 * x) + pieces(kBesselY0, 2 * x);
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP0, kBesselQ0, x, s, c);
}

[[gnu::noinline, maybe_unused]] double bessel_y1(double x) {
  if (x == 0) return -kInf<double>;
  if (!(x > 0)) return kNaN<double>;
  if (x <= 8) return x * (kTwoOverPi * log_(0.5 * x) * pieces(kBesselJ1, 2 * x) + pieces(kBesselY1, 2 * x)) - kTwoOverPi / x;
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP1, kBesselQ1, x, -c, s);
}

// I0 and I1 times e^-|x|.
[[gnu::noinline, maybe_unused]] double i0e(double x) {
  x = __builtin_fabs(x);
  if (x <= 8) return pieces(kBesselI0Scaled, 2 * x);
  return x != x ? x : pieces(kBesselI0Far, 32 / x) / std::sqrt(x);
}
[[gnu::noinline, maybe_unused]] double i1e(double x) {
  const double a = __builtin_fabs(x);
  if (a <= 8) return x * pieces(kBesselI1Scaled, 2 * a);
  return x != x ? x : __builtin_copysign(pieces(kBesselI1Far, 32 / a) / std::sqrt(a), x);
}

[[gnu::noinline, maybe_unused]] double bessel_k0(double x, bool scaled) {
  if (x == 0) return kInf<double>;
  if (!(x > 0)) return kNaN<double>;
  if (x > 2) return pieces(kBesselK0Far, 16 / x) / std::sqrt(x) * (scaled ? 1 : exp_(-x));
  const double u = 0.5 * x * x, y = pieces(kBesselK0, u) - log_(0.5 * x) * pieces(kBesselI0, u);
  return scaled ? y * exp_(x) : y;
}

[[gnu::noinline, maybe_unused]] double bessel_k1(double x, bool scaled) {
  if (x == 0) return kInf<double>;
  if (!(x > 0)) return kNaN<double>;
  if (x > 2) return pieces(kBesselK1Far, 16 / x) / std::sqrt(x) * (scaled ? 1 : exp_(-x));
  const double u = 0.5 * x * x, y = 1 / x + x * (pieces(kBesselK1, u) + log_(0.5 * x) * pieces(kBesselI1, u));
  return scaled ? y * exp_(x) : y;
}

// zeta = 2/3 s^(3/2) with what rounding takes from it, since functions go with e^-zeta and its sine; and s^(1/4).
struct AiryPhase { double zeta, rest, root; };
inline AiryPhase airy_phase(double s) {
  const double r = std::sqrt(s);
  const Pair<double> square = product(r, r), cube = product(s, r), zeta = product(cube.hi, 2.0 / 3);
  const double missing = ((s - square.hi) - square.lo) / (2 * r);  // of the root
  return {zeta.hi, zeta.lo + 3.700743415417188e-17 * cube.hi + 2.0 / 3 * (cube.lo + s * missing), std::sqrt(r)};
}

[[gnu::noinline, maybe_unused]] double airy_ai(double x) {
  if (!(x > -kInf<double> && x < kInf<double>)) return kNaN<double>;
  if (x > 110) return 0;
  if (x >= -8 && x <= 2) return pieces(kAiry, 2 * x, -16);
  const auto [zeta, rest, root] = airy_phase(__builtin_fabs(x));
  if (x > 2) return 0.28209479177387814 / root * exp_(-zeta) * (1 - rest) * pieces(kAiryFar, 15 / zeta);
  const auto [s, c] = wave(zeta, rest);
  const double z = 225 / zeta / zeta;
  return 0.3989422804014327 / root * (pieces(kAiryCosine, z) * c + pieces(kAirySine, z) / zeta * s);
}

[[gnu::noinline, maybe_unused]] double airy_ai_slope(double x) {
  if (!(x > -kInf<double> && x < kInf<double>)) return kNaN<double>;
  if (x > 110) return -0.0;
  if (x >= -8 && x <= 2) return pieces(kAirySlope, 2 * x, -16);
  const auto [zeta, rest, root] = airy_phase(__builtin_fabs(x));
  if (x > 2) return 0.28209479177387814 * root * exp_(-zeta) * (1 - rest) * pieces(kAirySlopeFar, 15 / zeta);
  const auto [s, c] = wave(zeta, rest);
  const double z = 225 / zeta / zeta;
  return 0.3989422804014327 * root * (pieces(kAirySlopeSine, z) * s + pieces(kAirySlopeCosine, z) / zeta * c);
}

}  // namespace vm

template <class T> RG_INLINE T bessel_j0_(T x) { return static_cast<T>(vm::bessel_j0(x)); }
template <class T> RG_INLINE T bessel_j1_(T x) { return static_cast<T>(vm::bessel_j1(x)); }
template <class T> RG_INLINE T bessel_y0_(T x) { return static_cast<T>(vm::bessel_y0(x)); }
template <class T> RG_INLINE T bessel_y1_(T x) { return static_cast<T>(vm::bessel_y1(x)); }
template <class T> RG_INLINE T i0e_(T x) { return static_cast<T>(vm::i0e(x)); }
template <class T> RG_INLINE T i1e_(T x) { return static_cast<T>(vm::i1e(x)); }
template <class T> RG_INLINE T i0_(T x) { return static_cast<T>(exp_(__builtin_fabs(static_cast<double>(x))) * vm::i0e(x)); }
template <class T> RG_INLINE T i1_(T x) { return static_cast<T>(exp_(__builtin_fabs(static_cast<double>(x))) * vm::i1e(x)); }
template <class T> RG_INLINE T bessel_k0_(T x) { return static_cast<T>(vm::bessel_k0(x, false)); }
template <class T> RG_INLINE T bessel_k1_(T x) { return static_cast<T>(vm::bessel_k1(x, false)); }
template <class T> RG_INLINE T scaled_bessel_k0_(T x) { return static_cast<T>(vm::bessel_k0(x, true)); }
template <class T> RG_INLINE T scaled_bessel_k1_(T x) { return static_cast<T>(vm::bessel_k1(x, true)); }
template <class T> RG_INLINE T airy_ai_(T x) { return static_cast<T>(vm::airy_ai(x)); }
template <class T> RG_INLINE T airy_ai_slope_(T x) { return static_cast<T>(vm::airy_ai_slope(x)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
