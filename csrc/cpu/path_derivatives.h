// How a random number moves with the parameter of its distribution while its quantile stays (implicit reparameterisation): minus the
// derivative of the distribution function for the parameter, over the density. In lanes, like vecmath_special.h, but for integrals.
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

// Of x drawn from Gamma(a, 1), for a, with offset = log(x / e^psi(a)): with t = x e^w the tail of the distribution over its density is x times
// the integral of e^(a w - x (e^w - 1)) (offset + w); below the middle t = x e^-w.
[[gnu::noinline, maybe_unused]] double gamma_slope_integral(double a, double x, double offset, bool above, bool single) {
  const double depth = single ? 22 : 42, side = above ? 1 : -1;
  const auto exponent = [=](double w) RG_INLINED { return side * a * w - x * expm1_(side * w); };
  const double rate = std::max(0.0, side * (x - a));
  const double end = reach(2 * depth / (rate + std::sqrt(rate * rate + 2 * x * depth)), depth, exponent);
  return x * gauss(end, single ? 2 : 3, [=](double w) RG_INLINED { return exp_(exponent(w)) * (side * offset + w); });
}

// Below the middle by the series of the lower incomplete gamma function, all of whose terms are positive there; floats go on with it, having
// digits to lose.
template <bool single> [[gnu::noinline, maybe_unused]] Lanes gamma_slope(Lanes a, Lanes x) {
  constexpr double enough = single ? 1e-10 : 1e-17, inf = kInf<double>;
  const Mask allowed = (a > 0) & (a < inf) & (x >= 0) & (x < inf), inner = allowed & (x > 0);
  const Lanes log_x = log_(x), psi = digamma(a + 1);
  const Mask below = log_x <= psi, by_series = inner & (a < 64) & (single ? below | (x < 4 + a + 4 * sqrt_(a)) : below);
  Lanes factor = 1 / a, slope = psi - log_x, sum{}, at = a;
  for (Mask going = by_series; any(going); going &= ~((x < at) & (factor * (1 + abs_(slope)) <= enough * abs_(sum)))) {
    sum += going ? factor * slope : spread(0);
    at += 1;
    const Lanes step = 1 / at;
    factor *= x * step;
    slope += step;
  }
  const Lanes y = inner ? x * sum : allowed ? spread(0) : spread(kNaN<double>);
  return except(inner & ~by_series, y,
                [&](int i) { return gamma_slope_integral(a[i], x[i], log_x[i] - psi[i] + 1 / a[i], !below[i], single); });
}

// Of x drawn from Beta(a, total - a), for a, over 1 - x, with offset = log(x) + psi(total) - psi(a). As above: below the middle t = x e^-w, above
// it 1 - t = (1 - x) e^-w. The logarithm in the exponent has its pole at w = -scale, which w = scale (e^u - 1) takes far away.
[[gnu::noinline, maybe_unused]] double beta_slope_integral(double x, double a, double b, double offset, bool single) {
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

// By the series of the incomplete beta function whose terms are positive, in x below the middle or in 1 - x above it; floats go on with them,
// having digits to lose.
template <bool single> [[gnu::noinline, maybe_unused]] Lanes beta_slope(Lanes x, Lanes a, Lanes total) {
  constexpr double enough = single ? 1e-10 : 1e-17;
  const Lanes b = total - a, offset = log_(x) + (digamma(total) - digamma(a));
  const Mask allowed = (a > 0) & (b > 0) & (total < kInf<double>)&(x >= 0) & (x <= 1), inner = allowed & (x > 0) & (x < 1);
  Mask can_low = offset <= 0, can_high = offset >= 0;
  if (single) {
    const Lanes mean = a / total, far = 4 * sqrt_(mean * (1 - mean) / (total + 1));
    can_low |= (a > 1e-4) & (x < mean + far);
    can_high |= (b > 1e-4) & (x > mean - far);
  }
  can_low &= x < 0.85;
  can_high &= x > 0.15;
  const Mask low = can_low & ((x <= 0.5) | ~can_high), by_series = inner & (total < 256) & (can_low | can_high);
  // `factor` is a term, `slope` the derivative of its logarithm.
  const Lanes z = low ? x : 1 - x, of = low ? a : b;
  Lanes factor = 1 / of, slope = low ? offset - factor : offset, sum{}, over = total, under = of + 1;
  for (Mask going = by_series; any(going); going &= ~((z * over < 0.9 * under) & (factor * (1 + abs_(slope)) <= enough * abs_(sum)))) {
    sum += going ? factor * slope : spread(0);
    const Lanes r = 1 / (over * under), over_step = r * under, under_step = r * over;
    slope += low ? over_step - under_step : over_step;
    factor *= z * over * under_step;
    over += 1;
    under += 1;
  }
  const Lanes end = x == 0 ? spread(0) : offset / b, y = inner ? (low ? -x * sum : x * sum) : allowed ? end : spread(kNaN<double>);
  return except(inner & ~by_series, y, [&](int i) { return beta_slope_integral(x[i], a[i], b[i], offset[i], single); });
}

}  // namespace vm

template <class T> RG_INLINE Lanes gamma_slope_(Lanes a, Lanes x) { return vm::gamma_slope<sizeof(T) == 4>(a, x); }
template <class T> RG_INLINE Lanes beta_slope_(Lanes x, Lanes a, Lanes total) { return vm::beta_slope<sizeof(T) == 4>(x, a, total); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS

#undef RG_INLINED
