// Special functions that need loops: in lanes (lanes.h), computed in double and rounded once for float. Same conventions and
// namespace as vecmath.h. Error: a few ulp of double away from zeros of the function, so float results are right to the last bit or nearly.
#pragma once

#include <cmath>

#include "cpu/lanes.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

constexpr double kPiD = 3.141592653589793;

// psi: the asymptotic series from 10 on, below it ten steps up, whose reciprocals are summed as D / P; reflection for negative arguments.
[[gnu::noinline, maybe_unused]] Lanes digamma(const Lanes at) {
  const Mask left = at < 0;
  const Lanes x = left ? 1 - at : at;
  const Mask low = x < 10;
  Lanes P = x, D = spread(1);
  for (int k = 1; k < 10; ++k) {
    const Lanes next = x + k;
    D = D * next + P;
    P *= next;
  }
  static constexpr double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12};  // B_2k / 2k
  const Lanes far = low ? x + 10 : x, r = 1 / far, z = r * r;
  Lanes y = log_(far) - 0.5 * r - z * horner(z, c);
  y -= low ? D / P : spread(0);
  if (any(left)) {
    const Lanes whole = trunc_(at);
    y -= left ? (at == whole ? spread(kNaN<double>) : kPiD / tan_(kPiD * (at - whole))) : spread(0);
  }
  return at == 0 ? each(at, [](double v) { return __builtin_copysign(kInf<double>, -v); }) : y;
}

[[gnu::noinline, maybe_unused]] Lanes trigamma(Lanes x) {
  const Mask left = x < 0.5;
  Lanes y{};
  if (any(left)) {
    const Lanes s = sin_(kPiD * (x - 2 * rint_(0.5 * x)));
    y = left ? kPiD * kPiD / (s * s) : y;
    x = left ? 1 - x : x;
  }
  for (Mask low = x < 10; any(low); low = x < 10) {
    const Lanes r = 1 / (x * x);
    y += low ? (left ? -r : r) : spread(0);
    x += low ? spread(1) : spread(0);
  }
  static constexpr double c[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6};  // B_2k
  const Lanes r = 1 / x, z = r * r, rest = (1 + 0.5 * r + z * horner(z, c)) * r;
  return left ? y - rest : y + rest;
}

// Hurwitz's zeta, sum of (q + k)^-s: the first terms, then Euler and Maclaurin's formula. Floats need fewer of the terms, and plainer powers.
template <class T> [[gnu::noinline, maybe_unused]] Lanes zeta(Lanes s, Lanes q) {
  constexpr int kTerms = sizeof(T) == 8 ? 10 : 3;
  constexpr double kFar = sizeof(T) == 8 ? 10 : 4, kNegligible = sizeof(T) == 8 ? 1e-17 : 1e-10;
  const auto power_of = [&](Lanes base) {
    if (sizeof(T) == 4 && !any(base <= 0)) return exp_(-s * log_(base));
    return pow_(base, -s);
  };
  const Mask whole = q == floor_(q), pole = (s == 1) | ((s > 1) & (q <= 0) & whole);
  const Mask none = ~pole & (~(s > 1) | ((q <= 0) & (s != floor_(s))));
  Mask going = ~pole & ~none;
  Lanes sum{};
  for (int terms = 0;; ++terms) {
    const Mask more = terms < kTerms ? going : going & (q < kFar);
    if (!any(more)) break;
    const Lanes t = power_of(q);
    sum += more ? t : spread(0);
    const Mask done = more & (q > 0) & (t < kNegligible * sum);
    going &= ~done;
    q += more & ~done ? spread(1) : spread(0);
  }
  static constexpr double b[] = {1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000.0,
                                 1.0 / 74724249600.0,
                                 -3617.0 / 10670622842880000.0,
                                 43867.0 / 5109094217170944000.0};  // B_2k / (2k)!
  if (any(going)) {
    const Lanes t = power_of(q), r = 1 / q, square = r * r;
    sum += going ? t * q / (s - 1) + 0.5 * t : spread(0);
    Lanes factor = s, power = t * r;
    for (int k = 0; k < 9 && any(going); ++k) {
      const Lanes term = b[k] * factor * power;
      sum += going ? term : spread(0);
      going &= ~(abs_(term) < kNegligible * abs_(sum));
      factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
      power *= square;
    }
  }
  return pole ? spread(kInf<double>) : none ? spread(kNaN<double>) : sum;
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

// For x > 0, to the absolute error that T wants.
template <class T> [[gnu::noinline, maybe_unused]] Lanes lgamma(Lanes x) {
  if (sizeof(T) == 8) return each(x, [](double v) { return lgamma(v); });
  const Lanes y = each(x, [](double v) { return lgamma_stirling(v); });
  return x < 1e300 ? y : x;
}

constexpr int kMaxTerms = 100000;

// x^a e^-x / Gamma(a + 1). For large a by Stirling's series around x = a, where the parts of the plain formula cancel.
template <class T> RG_INLINE Lanes igamma_prefactor(Lanes a, Lanes x) {
  const Mask near = (a >= 30) & (abs_(a - x) <= 0.4 * a);
  const Lanes plain = exp_(a * log_(x) - x - lgamma<T>(a + 1));
  if (!any(near)) return plain;
  const Lanes d = (x - a) / a;
  Lanes series{};  // log(1 + d) - d
  for (int k = 20; k >= 2; --k) series = 1.0 / k - series * d;
  const Lanes log1pmx = abs_(d) < 0.1 ? -d * d * series : log1p_(d) - d;
  const Lanes r = 1 / a, stirling = r * (1.0 / 12 - r * r * (1.0 / 360 - r * r / 1260));
  return near ? exp_(a * log1pmx - stirling) / sqrt_(2 * kPiD * a) : plain;
}

// Legendre's continued fraction, by Lentz's method.
RG_INLINE Lanes igamma_fraction(Lanes a, Lanes x, Mask going) {
  constexpr double tiny = 1e-300;
  Lanes b = x + 1 - a, c = spread(1 / tiny), d = 1 / b, h = d;
  for (int k = 1; k < kMaxTerms && any(going); ++k) {
    const Lanes an = -k * (k - a);
    b += 2;
    d = an * d + b;
    d = 1 / (d == 0 ? spread(tiny) : d);
    c = b + an / c;
    c = c == 0 ? spread(tiny) : c;
    const Lanes change = d * c;
    h *= going ? change : spread(1);
    going &= ~(abs_(change - 1) < 1e-16);
  }
  return h;
}

// The same to 1e-9, for arguments in the range of float: the last two numerators and denominators, without divisions.
RG_INLINE Lanes igamma_fraction_fast(Lanes a, Lanes x, Mask going) {
  constexpr double big = 0x1p200;
  Lanes b = x + 1 - a, p0{}, q0 = spread(1), p1 = spread(1), q1 = b, p = p1, q = q1;
  for (int k = 1; k < kMaxTerms && any(going); ++k) {
    const Lanes an = -k * (k - a);
    b += 2;
    const Lanes p2 = b * p1 + an * p0, q2 = b * q1 + an * q0, value = p1 * q2;
    p = going ? p2 : p;
    q = going ? q2 : q;
    going &= ~(abs_(p2 * q1 - value) <= 1e-9 * abs_(value));
    const Lanes scale = abs_(q2) > big ? spread(1 / big) : spread(1);
    p0 = p1 * scale, q0 = q1 * scale, p1 = p2 * scale, q1 = q2 * scale;
  }
  return p / q;
}

// The regularised incomplete gamma functions: a series below the mean, a continued fraction above; `upper` picks Q over P.
// T is what the result is rounded to.
template <class T> [[gnu::noinline, maybe_unused]] Lanes igamma(Lanes a, Lanes x, bool upper) {
  constexpr double inf = kInf<double>;
  const Mask none = ~(a >= 0) | ~(x >= 0) | ((a == 0) & (x == 0)) | ((a == inf) & (x == inf));
  const Mask all = (a == 0) | (x == inf), nothing = (x == 0) | (a == inf), usual = ~(none | all | nothing);
  const Lanes front = igamma_prefactor<T>(a, x);
  // For floats the series goes further: it is the faster one there, and double has digits to lose in 1 - P.
  const Mask loose = sizeof(T) == 4 ? a > 0.5 : a < 0;
  const Lanes border = sizeof(T) == 4 && !upper ? a + 4 : loose ? a + 4 : a;
  const Mask below = usual & ((x <= 1) | (x <= border)), above = usual & ~below & (front != 0);
  Lanes p = spread(1), q{};
  if (any(below)) {
    // Where floats go further, Q is never below a thousandth.
    const Lanes tolerance = !upper ? spread(sizeof(T) == 4 ? 1e-10 : 1e-17) : loose ? spread(1e-12) : spread(1e-17);
    Mask going = below;
    Lanes term = spread(1), sum = spread(1), at = a;
    for (int k = 1; k < kMaxTerms && any(going); k += 2) {
      const Lanes next = at + 1, after = at + 2, r = x / (next * after), first = term * (r * after);
      at = after;
      term = first * (r * next);
      sum += going ? first + term : spread(0);
      going &= term > tolerance * sum;
    }
    p = below ? front * sum : p;
    q = below ? 1 - p : q;
  }
  if (any(above)) {
    const Lanes fraction = sizeof(T) == 4 ? igamma_fraction_fast(a, x, above) : igamma_fraction(a, x, above);
    q = above ? front * a * fraction : q;
    p = above ? 1 - q : p;
  }
  p = nothing ? spread(0) : p;
  q = nothing ? spread(1) : q;
  return none ? spread(kNaN<double>) : upper ? q : p;
}

}  // namespace vm

template <class T> RG_INLINE T lgamma_(T x) { return static_cast<T>(vm::lgamma(x)); }
// Where it is positive, finite and not so close to a zero that digits would be lost; elsewhere lgamma_.
RG_INLINE float lgamma_usual(float x) { return static_cast<float>(vm::lgamma_stirling(x)); }
RG_INLINE double lgamma_usual(double x) { return vm::lgamma(x); }
template <class T> RG_INLINE bool lgamma_is_unusual(T x) {
  return !(x > 0 && x < kInf<T>) || abs_(x - 1) < T(1e-5) || abs_(x - 2) < T(1e-5);
}
RG_INLINE Lanes digamma_(Lanes x) { return vm::digamma(x); }
template <class T> RG_INLINE Lanes zeta_(Lanes s, Lanes q) { return vm::zeta<T>(s, q); }
// The n-th derivative of digamma, n >= 0, to the precision that T wants.
template <class T> RG_INLINE Lanes polygamma_(int n, Lanes x) {
  if (n == 0) return vm::digamma(x);
  if (n == 1) return vm::trigamma(x);
  static constexpr double factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800};
  const double factorial = n <= 10 ? factorials[n] : std::exp(vm::lgamma(n + 1.0));
  return (n % 2 ? 1 : -1) * factorial * vm::zeta<T>(spread(n + 1.0), x);
}
template <class T> RG_INLINE Lanes igamma_(Lanes a, Lanes x) { return vm::igamma<T>(a, x, false); }  // P(a, x)
template <class T> RG_INLINE Lanes igammac_(Lanes a, Lanes x) { return vm::igamma<T>(a, x, true); }  // Q(a, x) = 1 - P(a, x)

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
