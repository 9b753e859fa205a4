// Special functions that need loops or branches: scalar code, computed in double and rounded once for float. Same conventions and
// namespace as vecmath.h. Error: a few ulp of double away from zeros of the function, so float results are right to the last bit or nearly.
#pragma once

#include <cmath>

#include "cpu/vecmath.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

constexpr double kPiD = 3.141592653589793;

template <int N> inline double horner(double x, const double (&c)[N]) {
  double y = c[N - 1];
  for (int i = N - 2; i >= 0; --i) y = y * x + c[i];
  return y;
}

// psi: recurrence up to 10, then the asymptotic series; reflection for negative arguments.
[[maybe_unused]] inline double digamma(double x) {
  if (x == 0) return __builtin_copysign(kInf<double>, -x);
  double y = 0;
  if (x < 0) {
    const double whole = __builtin_trunc(x);
    if (x == whole) return kNaN<double>;
    y = -kPiD / std::tan(kPiD * (x - whole));
    x = 1 - x;
  }
  for (; x < 10; ++x) y -= 1 / x;
  if (x == 10) return y + 2.251752589066721;
  static constexpr double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};  // B_2k / 2k
  const double z = 1 / (x * x);
  return y + (std::log(x) - 0.5 / x - z * horner(z, c));
}

[[maybe_unused]] inline double trigamma(double x) {
  double sign = 1, y = 0;
  if (x < 0.5) {
    const double s = std::sin(kPiD * (x - 2 * __builtin_rint(0.5 * x)));
    y = -(kPiD * kPiD) / (s * s);
    sign = -1;
    x = 1 - x;
  }
  for (; x < 10; ++x) y += 1 / (x * x);
  static constexpr double c[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};  // B_2k
  const double z = 1 / (x * x);
  return sign * (y + (1 + 0.5 / x + z * horner(z, c)) / x);
}

// Hurwitz's zeta, sum of (q + k)^-s: the first terms, then Euler and Maclaurin's formula.
[[maybe_unused]] inline double zeta(double s, double q) {
  if (s == 1) return kInf<double>;
  if (!(s > 1)) return kNaN<double>;
  if (q <= 0) {
    if (q == __builtin_floor(q)) return kInf<double>;
    if (s != __builtin_floor(s)) return kNaN<double>;
  }
  double sum = 0;
  int terms = 0;
  for (; terms < 10 || q < 10; ++terms, ++q) {
    const double t = std::pow(q, -s);
    sum += t;
    if (q > 0 && t < 1e-17 * sum) return sum;
  }
  const double t = std::pow(q, -s);
  sum += t * q / (s - 1) + 0.5 * t;
  static constexpr double b[] = {1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000.0,
                                 1.0 / 74724249600.0,
                                 -3617.0 / 10670622842880000.0,
                                 43867.0 / 5109094217170944000.0};  // B_2k / (2k)!
  double factor = s, power = t / q;
  for (int k = 0; k < 9; ++k) {
    const double term = b[k] * factor * power;
    sum += term;
    if (__builtin_fabs(term) < 1e-17 * __builtin_fabs(sum)) break;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    power /= q * q;
  }
  return sum;
}

[[maybe_unused]] inline double lgamma(double x) {  // lgamma_r: std::lgamma writes the sign to a global variable
  int sign;
  return ::lgamma_r(x, &sign);
}

// x^a e^-x / Gamma(a + 1). For large a by Stirling's series around x = a, where the parts of the plain formula cancel.
[[maybe_unused]] inline double igamma_prefactor(double a, double x) {
  if (a < 30 || __builtin_fabs(a - x) > 0.4 * a) return std::exp(a * std::log(x) - x - lgamma(a + 1));
  const double d = (x - a) / a;
  double log1pmx;  // log(1 + d) - d
  if (__builtin_fabs(d) < 0.1) {
    log1pmx = 0;
    for (int k = 20; k >= 2; --k) log1pmx = log1pmx * -d + 1.0 / k;
    log1pmx *= -d * d;
  } else {
    log1pmx = std::log1p(d) - d;
  }
  const double r = 1 / a, stirling = r * (1.0 / 12 - r * r * (1.0 / 360 - r * r / 1260));
  return std::exp(a * log1pmx - stirling) / std::sqrt(2 * kPiD * a);
}

// The regularised incomplete gamma functions: a series below the mean, a continued fraction (Lentz) above; `upper` picks Q over P.
[[maybe_unused]] inline double igamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0)) return kNaN<double>;
  if (a == 0) return x > 0 ? (upper ? 0.0 : 1.0) : kNaN<double>;
  if (x == 0) return upper ? 1 : 0;
  if (a == kInf<double>) return x == kInf<double> ? kNaN<double> : (upper ? 1 : 0);
  if (x == kInf<double>) return upper ? 0 : 1;
  constexpr int kMaxTerms = 100000;
  const double front = igamma_prefactor(a, x);
  if (x <= 1 || x <= a) {
    double term = 1, sum = 1;
    for (int k = 1; k < kMaxTerms && term > 1e-17 * sum; ++k) sum += term *= x / (a + k);
    return upper ? 1 - front * sum : front * sum;
  }
  constexpr double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
  for (int k = 1; k < kMaxTerms; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = an * d + b;
    d = 1 / (d == 0 ? tiny : d);
    c = b + an / c;
    c = c == 0 ? tiny : c;
    h *= d * c;
    if (__builtin_fabs(d * c - 1) < 1e-16) break;
  }
  const double q = front * a * h;
  return upper ? q : 1 - q;
}

// e^-|x| I_0(x) and e^-|x| I_1(x) / x as polynomials in x/4 - 1 up to 8, and in 16/x - 1 beyond, times 1/sqrt(x).
[[maybe_unused]] inline double i0e(double x) {
  static constexpr double near[] = {
      0.2070019212239867,     -0.1130043268862054,    0.09451562853995185,     -0.08904344136077189,    0.08734341617546697,
      -0.08496338091563035,   0.07927522590866885,    -0.0695411956279683,     0.05677703199894609,     -0.04298594933177297,
      0.03017791219731621,    -0.019682655570514376,  0.011960076971255973,    -0.006792395679039309,   0.003617129847806386,
      -0.0018119006232138971, 0.000856306695177538,   -0.0003828698883844945,  0.00016242063991714494,  -6.556197263493714e-05,
      2.5183427957556185e-05, -9.189190948024095e-06, 3.2454252558210114e-06,  -1.1388823315366532e-06, 3.586462606039969e-07,
      -8.698796207821167e-08, 2.9185188558784055e-08, -1.6154197278201814e-08, 4.045268893059756e-09};
  static constexpr double far[] = {0.4021765094450081,      0.003360551983667794,   0.0001362160743896869,  1.1143033797307736e-05,
                                   1.483847673184817e-06,   2.9735968209823033e-07, 8.872019409985597e-08,  3.9328089941871215e-08,
                                   2.1567629591819302e-08,  7.538919585583918e-09,  -6.856560758916069e-09, -1.3341605982839643e-08,
                                   -5.014926995753695e-09,  7.3688975339475975e-09, 6.5130148676165796e-09, -3.1786323735595003e-09,
                                   -4.5146725175527495e-09, 1.1410148690674318e-09, 2.148476433370781e-09,  -2.9674560159638215e-10,
                                   -6.417254585028307e-10,  3.949543832323249e-11,  8.951305984893984e-11};
  x = __builtin_fabs(x);
  return x <= 8 ? horner(0.25 * x - 1, near) : horner(16 / x - 1, far) / std::sqrt(x);
}

[[maybe_unused]] inline double i1e(double x) {
  static constexpr double near[] = {
      0.044687709875608835,    -0.06112433802966629,   0.0680575999095117,     -0.06848260620582587,    0.06376740371339987,
      -0.055280039227031244,   0.0446745726214568,     -0.03367135552038899,   0.023686016954847972,    -0.015571309250847308,
      0.009583962175177348,    -0.005534567805496623,  0.00300576228619607,    -0.0015388747319103888,  0.000744512837459518,
      -0.00034117556098602823, 0.0001484199812881049,  -6.142449609636868e-05, 2.4236020307292797e-05,  -9.135363208592762e-06,
      3.2910512843151158e-06,  -1.133768052447018e-06, 3.78385818716772e-07,   -1.2362969359371456e-07, 3.665625127290677e-08,
      -9.194854322551495e-09,  3.0557680278510966e-09, -1.385148294029783e-09, 3.064177964929389e-10};
  static constexpr double far[] = {0.38939845902587233,     -0.009749577193235676,   -0.00021923576383160948, -1.5038547206290223e-05,
                                   -1.8349102420589076e-06, -3.4838541717334356e-07, -1.0001083727468069e-07, -4.313120088802651e-08,
                                   -2.339363367511301e-08,  -8.413533219970494e-09,  6.846186731566956e-09,   1.397338337518518e-08,
                                   5.573640672420328e-09,   -7.476015672150793e-09,  -6.94319657308419e-09,   3.129191883744807e-09,
                                   4.757511044160766e-09,   -1.0941104916797515e-09, -2.2543932801350983e-09, 2.7925787675708736e-10,
                                   6.725429027270287e-10,   -3.675437424101557e-11,  -9.382716160563199e-11};
  const double a = __builtin_fabs(x);
  return a <= 8 ? x * horner(0.25 * a - 1, near) : __builtin_copysign(horner(16 / a - 1, far) / std::sqrt(a), x);
}

}  // namespace vm

template <class T> RG_INLINE T lgamma_(T x) { return static_cast<T>(vm::lgamma(x)); }
template <class T> RG_INLINE T digamma_(T x) { return static_cast<T>(vm::digamma(x)); }
template <class T> RG_INLINE T trigamma_(T x) { return static_cast<T>(vm::trigamma(x)); }
template <class T> RG_INLINE T zeta_(T s, T q) { return static_cast<T>(vm::zeta(s, q)); }
// The n-th derivative of digamma, n >= 0.
template <class T> RG_INLINE T polygamma_(int n, T x) {
  if (n == 0) return digamma_(x);
  if (n == 1) return trigamma_(x);
  return static_cast<T>((n % 2 ? 1 : -1) * std::exp(vm::lgamma(n + 1.0)) * vm::zeta(n + 1.0, x));
}
template <class T> RG_INLINE T igamma_(T a, T x) { return static_cast<T>(vm::igamma(a, x, false)); }  // P(a, x)
template <class T> RG_INLINE T igammac_(T a, T x) { return static_cast<T>(vm::igamma(a, x, true)); }  // Q(a, x) = 1 - P(a, x)
template <class T> RG_INLINE T i0e_(T x) { return static_cast<T>(vm::i0e(x)); }
template <class T> RG_INLINE T i1e_(T x) { return static_cast<T>(vm::i1e(x)); }
template <class T> RG_INLINE T i0_(T x) { return static_cast<T>(std::exp(__builtin_fabs(static_cast<double>(x))) * vm::i0e(x)); }
template <class T> RG_INLINE T i1_(T x) { return static_cast<T>(std::exp(__builtin_fabs(static_cast<double>(x))) * vm::i1e(x)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
