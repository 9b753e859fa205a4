// How a random number moves with the parameter of its distribution while its quantile stays (implicit reparameterisation): minus the
// derivative of the distribution function for the parameter, over the density. Scalar code in double, like vecmath_special.h.
// Error: a few units of 1e-14 for double, below 1e-8 for what is rounded to float.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/vecmath_special.h"

#define RG_INLINED __attribute__((always_inline))  // of lambdas

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {
namespace vm {

// The integral of f over [0, length] by Gauss's rule of 16 points on each of `parts` equal parts. A loop without branches, for SIMD code.
template <class F> RG_INLINE double gauss(double length, int parts, F f) {
  static constexpr double at[] = {-0.9894009349916499, -0.9445750230732326,  -0.8656312023878318, -0.755404408355003,
                                  -0.6178762444026438, -0.45801677765722737, -0.2816035507792589, -0.09501250983763744,
                                  0.09501250983763744, 0.2816035507792589,   0.45801677765722737, 0.6178762444026438,
                                  0.755404408355003,   0.8656312023878318,   0.9445750230732326,  0.9894009349916499};
  static constexpr double weight[] = {0.027152459411754176, 0.062253523938647456, 0.0951585116824926,   0.12462897125553407,
                                      0.1495959888165767,   0.16915651939500265,  0.18260341504492364,  0.18945061045506864,
                                      0.18945061045506864,  0.18260341504492364,  0.16915651939500265,  0.1495959888165767,
                                      0.12462897125553407,  0.0951585116824926,   0.062253523938647456, 0.027152459411754176};
  const double half = 0.5 * length / parts;
  double sum = 0, values[16];
  for (int part = 0; part < parts; ++part) {
    const double middle = 2 * part + 1;
    for (int i = 0; i < 16; ++i) values[i] = weight[i] * f(half * (middle + at[i]));
    for (int i = 0; i < 16; ++i) sum += values[i];
  }
  return half * sum;
}

// Where `exponent`, which falls in the end, reaches -depth; to a quarter, and no nearer, since it only bounds an integral.
template <class F> RG_INLINE double reach(double guess, double depth, F exponent) {
  constexpr int kSteps = 200;
  for (int i = 0; i < kSteps && exponent(guess) > -depth; ++i) guess *= 2;
  for (int i = 0; i < kSteps && exponent(guess * 0.75) < -depth; ++i) guess *= 0.75;
  return guess;
}

// Of x drawn from Gamma(a, 1), for a. With t = x e^w the tail of the distribution over its density is x times the integral of
// e^(a w - x (e^w - 1)) (log(x / e^psi(a)) + w); below the middle t = x e^-w, or the series of the lower incomplete gamma function,
// all of whose terms are positive there.
[[gnu::noinline, maybe_unused]] double gamma_slope(double a, double x, bool single) {
  if (!(a > 0) || !(x >= 0) || a == kInf<double> || x == kInf<double>) return kNaN<double>;
  if (x == 0) return 0;
  const double log_x = std::log(x), psi = digamma(a + 1);
  if (log_x <= psi && a < 64) {
    const double enough = single ? 1e-9 : 1e-17;
    double factor = 1 / a, slope = psi, sum = 0;
    for (int k = 1;; ++k) {
      const double term = factor * (slope - log_x);
      sum += term;
      if (!(term > enough * sum)) return x * sum;
      const double step = 1 / (a + k);
      factor *= x * step;
      slope += step;
    }
  }
  const double depth = single ? 22 : 42, side = log_x > psi ? 1 : -1, offset = side * (log_x - psi + 1 / a);
  const auto exponent = [=](double w) RG_INLINED { return side * a * w - x * expm1_(side * w); };
  const double rate = std::max(0.0, side * (x - a));
  const double end = reach(2 * depth / (rate + std::sqrt(rate * rate + 2 * x * depth)), depth, exponent);
  return x * gauss(end, single ? 2 : 3, [=](double w) RG_INLINED { return exp_(exponent(w)) * (offset + w); });
}

// Of x drawn from Beta(a, total - a), for a, over 1 - x. As above: below the middle t = x e^-w, above it 1 - t = (1 - x) e^-w. The
// logarithm in the exponent has its pole at w = -scale, which w = scale (e^u - 1) takes far away.
[[gnu::noinline, maybe_unused]] double beta_slope(double x, double a, double total, bool single) {
  const double b = total - a;
  if (!(a > 0) || !(b > 0) || total == kInf<double> || !(x >= 0 && x <= 1)) return kNaN<double>;
  if (x == 0) return 0;
  const double offset = std::log(x) + (digamma(total) - digamma(a));
  if (x == 1) return offset / b;
  if (single && offset < 0 && x <= 0.25 && b * x <= 2) {  // the series of the incomplete beta function, whose terms hardly cancel here
    double factor = 1, sum = 0;
    for (int k = 0;; ++k) {
      const double r = 1 / (a + k), term = factor * r * (r - offset);
      sum += term;
      if (!(__builtin_fabs(term) > 1e-9 * sum)) return x * std::pow(1 - x, -b) * sum;
      factor *= x * (k + 1 - b) / (k + 1);
    }
  }
  const bool above = offset > (x > 0.5 ? 0 : 0.5 / a);
  const double p = above ? b : a, q = (above ? a : b) - 1, odds = above ? (1 - x) / x : x / (1 - x), scale = std::log1p(1 / odds);
  const double depth = single ? 22 : 42;
  const auto ratio = [=](double w) RG_INLINED { return log1p_(-odds * expm1_(-w)); };
  const double rate = std::max(0.0, p - q * odds), curve = std::max(0.0, q * odds * (1 + odds)), bend = 2 * curve * depth;
  const double guess = rate + curve > 0 ? 2 * depth / (rate + std::sqrt(rate * rate + bend)) : depth / p;
  const double end = std::log1p(reach(guess, depth, [=](double w) RG_INLINED { return q * ratio(w) - p * w + log1p_(w / scale); }) / scale);
  const double sum = gauss(end, single ? 1 + static_cast<int>(end / 2.5) : 2 + static_cast<int>(end / 1.5), [=](double u) RG_INLINED {
    const double w = scale * expm1_(u), r = ratio(w);
    return exp_(q * r - p * w + u) * (above ? offset + r : w - offset);
  });
  return scale * (above ? sum : odds * sum);
}

}  // namespace vm

template <class T> RG_INLINE T gamma_slope_(T a, T x) { return static_cast<T>(vm::gamma_slope(a, x, sizeof(T) == 4)); }
template <class T> RG_INLINE T beta_slope_(T x, T a, T total) { return static_cast<T>(vm::beta_slope(x, a, total, sizeof(T) == 4)); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS

#undef RG_INLINED
