// Bessel's functions of orders 0 and 1, and Airy's: in double, rounded once for float, like vecmath_special.h; in lanes where x <= 8 is the rule. Near 0 they are
// polynomials part by part (bessel_tables.h), far from it an amplitude and a phase. Error: 4 units in the last place, of the amplitude
// where the function oscillates.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/bessel_tables.h"
#include "cpu/lanes.h"

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
inline Wave wave(double x) {
  const bool near = x <= trig_bound<double>();
  const double s = near ? sin_(x) : std::sin(x), c = near ? cos_(x) : std::cos(x);
  return {s - c, s + c};
}
// Of x + rest: what rounding took from x, which for large x may be many turns.
[[maybe_unused]] inline Wave turned(Wave w, double rest) {
  const bool small = __builtin_fabs(rest) < 1e-8;
  const double s = small ? rest : std::sin(rest), c = small ? 1 : std::cos(rest);
  return {c * w.sine + s * w.cosine, c * w.cosine - s * w.sine};
}

// For x >= 8: sqrt(2 / (pi x)) (p(x) first + q(x) / x second), first and second being parts of wave(x).
template <int N, int P, int Q>
inline double bessel_far(const double (&p)[N][P], const double (&q)[N][Q], double x, double first, double second) {
  const double z = 64 / x / x;
  return 0.5641895835477563 / std::sqrt(x) * (pieces(p, N * z) * first + pieces(q, N * z) / x * second);
}

// Lanes at u >= 0 of tables of 16 parts; beyond 16, anything.
template <int D> RG_INLINE Lanes pieces(const double (&table)[D][16], Lanes u) {
  u = u <= 16 ? u : spread(0);
  const Lanes whole = trunc_(u), start = whole < 15 ? whole : spread(15), t = 2 * (u - start) - 1;
  const Mask part = __builtin_convertvector(start, Mask);
  const auto coefficients = [&](const double (&c)[16]) __attribute__((always_inline)) {
#if defined(__AVX512F__)
    Lanes low, high;
    std::memcpy(&low, c, sizeof low);
    std::memcpy(&high, c + kLaneCount, sizeof high);
    return __builtin_shuffle(low, high, part);
#else
    Lanes found;
    for (int i = 0; i < kLaneCount; ++i) found[i] = c[part[i]];
    return found;
#endif
  };
  Lanes y = coefficients(table[D - 1]);
  for (int k = D - 2; k >= 0; --k) y = y * t + coefficients(table[k]);
  return y;
}

[[maybe_unused]] inline double bessel_j0_far(double x) {
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP0, kBesselQ0, x, c, -s);
}
[[maybe_unused]] inline double bessel_j1_far(double x) {
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP1, kBesselQ1, x, s, c);
}
[[maybe_unused]] inline double bessel_y0_far(double x) {
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP0, kBesselQ0, x, s, c);
}
[[maybe_unused]] inline double bessel_y1_far(double x) {
  const auto [s, c] = wave(x);
  return bessel_far(kBesselP1, kBesselQ1, x, -c, s);
}

[[gnu::noinline, maybe_unused]] Lanes bessel_j0(Lanes x) {
  const Lanes a = abs_(x), y = x == x ? pieces(kBesselJ0, 2 * a) : x;
  return except(a > 8, y, [&](int i) { return bessel_j0_far(a[i]); });
}

[[gnu::noinline, maybe_unused]] Lanes bessel_j1(Lanes x) {
  const Lanes a = abs_(x), y = x == x ? x * pieces(kBesselJ1, 2 * a) : x;
  return except(a > 8, y, [&](int i) { return __builtin_copysign(1.0, x[i]) * bessel_j1_far(a[i]); });
}

constexpr double kTwoOverPi = 0.6366197723675814;

// Of functions of the second kind, which begin at -inf.
RG_INLINE Lanes from_zero(Lanes x, Lanes y) { return x > 0 ? y : x == 0 ? spread(-kInf<double>) : spread(kNaN<double>); }

[[gnu::noinline, maybe_unused]] Lanes bessel_y0(Lanes x) {
  const Lanes y = kTwoOverPi * log_(0.5 * x) * pieces(kBesselJ0, 2 * abs_(x)) + pieces(kBesselY0, 2 * abs_(x));
  return except(x > 8, from_zero(x, y), [&](int i) { return bessel_y0_far(x[i]); });
}

[[gnu::noinline, maybe_unused]] Lanes bessel_y1(Lanes x) {
  const Lanes part = kTwoOverPi * log_(0.5 * x) * pieces(kBesselJ1, 2 * abs_(x)) + pieces(kBesselY1, 2 * abs_(x));
  return except(x > 8, from_zero(x, x * part - kTwoOverPi / x), [&](int i) { return bessel_y1_far(x[i]); });
}

// I0 and I1 times e^-|x|.
[[gnu::noinline, maybe_unused]] Lanes i0e(Lanes x) {
  const Lanes a = abs_(x), y = x == x ? pieces(kBesselI0Scaled, 2 * a) : x;
  return except(a > 8, y, [&](int i) { return pieces(kBesselI0Far, 32 / a[i]) / std::sqrt(a[i]); });
}
[[gnu::noinline, maybe_unused]] Lanes i1e(Lanes x) {
  const Lanes a = abs_(x), y = x == x ? x * pieces(kBesselI1Scaled, 2 * a) : x;
  return except(a > 8, y, [&](int i) { return __builtin_copysign(pieces(kBesselI1Far, 32 / a[i]) / std::sqrt(a[i]), x[i]); });
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
  const auto [s, c] = turned(wave(zeta), rest);
  const double z = 225 / zeta / zeta;
  return 0.3989422804014327 / root * (pieces(kAiryCosine, z) * c + pieces(kAirySine, z) / zeta * s);
}

[[gnu::noinline, maybe_unused]] double airy_ai_slope(double x) {
  if (!(x > -kInf<double> && x < kInf<double>)) return kNaN<double>;
  if (x > 110) return -0.0;
  if (x >= -8 && x <= 2) return pieces(kAirySlope, 2 * x, -16);
  const auto [zeta, rest, root] = airy_phase(__builtin_fabs(x));
  if (x > 2) return 0.28209479177387814 * root * exp_(-zeta) * (1 - rest) * pieces(kAirySlopeFar, 15 / zeta);
  const auto [s, c] = turned(wave(zeta), rest);
  const double z = 225 / zeta / zeta;
  return 0.3989422804014327 * root * (pieces(kAirySlopeSine, z) * s + pieces(kAirySlopeCosine, z) / zeta * c);
}

}  // namespace vm

RG_INLINE Lanes bessel_j0_(Lanes x) { return vm::bessel_j0(x); }
RG_INLINE Lanes bessel_j1_(Lanes x) { return vm::bessel_j1(x); }
RG_INLINE Lanes bessel_y0_(Lanes x) { return vm::bessel_y0(x); }
RG_INLINE Lanes bessel_y1_(Lanes x) { return vm::bessel_y1(x); }
RG_INLINE Lanes i0e_(Lanes x) { return vm::i0e(x); }
RG_INLINE Lanes i1e_(Lanes x) { return vm::i1e(x); }
RG_INLINE Lanes i0_(Lanes x) { return exp_(abs_(x)) * vm::i0e(x); }
RG_INLINE Lanes i1_(Lanes x) { return exp_(abs_(x)) * vm::i1e(x); }
template <class T> RG_INLINE T bessel_k0_(T x) { return static_cast<T>(vm::bessel_k0(x, false)); }
template <class T> RG_INLINE T bessel_k1_(T x) { return static_cast<T>(vm::bessel_k1(x, false)); }
template <class T> RG_INLINE T scaled_bessel_k0_(T x) { return static_cast<T>(vm::bessel_k0(x, true)); }
template <class T> RG_INLINE T scaled_bessel_k1_(T x) { return static_cast<T>(vm::bessel_k1(x, true)); }
template <class T> RG_INLINE T airy_ai_(T x) { return static_cast<T>(vm::airy_ai(x)); }
template <class T> RG_INLINE T airy_ai_slope_(T x) { return static_cast<T>(vm::airy_ai_slope(x)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
