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

// For floats x > 0, right to 4e-15: Stirling's series from 8 on, below by x (x + 1) ... (x + 7). Without branches, so that loops are vectorised.
RG_INLINE double lgamma_stirling(double x) {
  const bool small = x < 8;
  const double product = (x * (x + 1)) * ((x + 2) * (x + 3)) * (((x + 4) * (x + 5)) * ((x + 6) * (x + 7)));
  const double z = small ? x + 8 : x, r = 1 / z, s = r * r;
  const double series = poly_(s, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156, -3617.0 / 122400);
  return (z - 0.5) * log_(z) - z + 0.91893853320467274178 + r * series - (small ? log_(product) : 0.0);
}

constexpr int kMaxTerms = 100000;

// x^a e^-x / Gamma(a + 1). For large a by Stirling's series around x = a, where the parts of the plain formula cancel.
template <class T> inline double igamma_prefactor(double a, double x) {
  if (a < 30 || __builtin_fabs(a - x) > 0.4 * a)
    return std::exp(a * std::log(x) - x - (sizeof(T) == 4 ? lgamma_stirling(a + 1) : lgamma(a + 1)));
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

// Legendre's continued fraction, by Lentz's method.
[[maybe_unused]] inline double igamma_fraction(double a, double x) {
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
  return h;
}

// The same to 1e-9, for arguments in the range of float: the last two numerators and denominators, without divisions.
[[maybe_unused]] inline double igamma_fraction_fast(double a, double x) {
  constexpr double big = 0x1p200;
  double b = x + 1 - a, p0 = 0, q0 = 1, p1 = 1, q1 = b;
  for (int k = 1; k < kMaxTerms; ++k) {
    const double an = -k * (k - a);
    b += 2;
    const double p2 = b * p1 + an * p0, q2 = b * q1 + an * q0;
    const double change = __builtin_fabs(p2 * q1 - p1 * q2), value = __builtin_fabs(p1 * q2);
    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
    if (change <= 1e-9 * value) break;
    if (__builtin_fabs(q2) > big) p0 /= big, q0 /= big, p1 /= big, q1 /= big;
  }
  return p1 / q1;
}

// The regularised incomplete gamma functions: a series below the mean, a continued fraction above; `upper` picks Q over P.
// T is what the result is rounded to.
template <class T> inline double igamma(double a, double x, bool upper) {
  if (!(a >= 0) || !(x >= 0)) return kNaN<double>;
  if (a == 0) return x > 0 ? (upper ? 0.0 : 1.0) : kNaN<double>;
  if (x == 0) return upper ? 1 : 0;
  if (a == kInf<double>) return x == kInf<double> ? kNaN<double> : (upper ? 1 : 0);
  if (x == kInf<double>) return upper ? 0 : 1;
  constexpr double enough = sizeof(T) == 4 ? 1e-10 : 1e-17;
  const double front = igamma_prefactor<T>(a, x);
  // For floats the series goes further: it is the faster one there, and double has digits to lose in 1 - P.
  const double border = sizeof(T) == 4 && (!upper || a > 0.5) ? a + 4 : a;
  if (x <= 1 || x <= border) {
    const double tolerance = !upper ? enough : sizeof(T) == 4 && a > 0.5 ? 1e-12 : 1e-17;  // there Q is never below a thousandth
    double term = 1, sum = 1;
    for (int k = 1; k < kMaxTerms && term > tolerance * sum; ++k) sum += term *= x / (a + k);
    return upper ? 1 - front * sum : front * sum;
  }
  if (front == 0) return upper ? 0 : 1;
  const double q = front * a * (sizeof(T) == 4 ? igamma_fraction_fast(a, x) : igamma_fraction(a, x));
  return upper ? q : 1 - q;
}

}  // namespace vm

template <class T> RG_INLINE T lgamma_(T x) { return static_cast<T>(vm::lgamma(x)); }
// Where it is positive, finite and not so close to a zero that digits would be lost; elsewhere lgamma_.
RG_INLINE float lgamma_usual(float x) { return static_cast<float>(vm::lgamma_stirling(x)); }
RG_INLINE double lgamma_usual(double x) { return vm::lgamma(x); }
template <class T> RG_INLINE bool lgamma_is_unusual(T x) {
  return !(x > 0 && x < kInf<T>) || abs_(x - 1) < T(1e-5) || abs_(x - 2) < T(1e-5);
}
template <class T> RG_INLINE T digamma_(T x) { return static_cast<T>(vm::digamma(x)); }
template <class T> RG_INLINE T trigamma_(T x) { return static_cast<T>(vm::trigamma(x)); }
template <class T> RG_INLINE T zeta_(T s, T q) { return static_cast<T>(vm::zeta(s, q)); }
// The n-th derivative of digamma, n >= 0.
template <class T> RG_INLINE T polygamma_(int n, T x) {
  if (n == 0) return digamma_(x);
  if (n == 1) return trigamma_(x);
  return static_cast<T>((n % 2 ? 1 : -1) * std::exp(vm::lgamma(n + 1.0)) * vm::zeta(n + 1.0, x));
}
template <class T> RG_INLINE T igamma_(T a, T x) { return static_cast<T>(vm::igamma<T>(a, x, false)); }  // P(a, x)
template <class T> RG_INLINE T igammac_(T a, T x) { return static_cast<T>(vm::igamma<T>(a, x, true)); }  // Q(a, x) = 1 - P(a, x)

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
