// The functions of vecmath.h may be off by some units in the last place of a double. A number that this could round to another float, which one in some
// ten million can, is computed again by the C library.
#include "cpu/kernels/draws.h"

#include <cmath>

#include "cpu/families.h"
#include "cpu/isa.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr int64_t kBlock = 64;

// A value and how far it is from the true one at most.
struct Near { double value, error; };

// f(i) is vectorised, exactly(i) is what it stands for.
template <class F, class G> RG_INLINE void rounded(int64_t n, float* out, F f, G exactly) {
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t end = n - start < kBlock ? n : start + kBlock;
    int unsure = 0;
    for (int64_t i = start; i < end; ++i) {
      const Near x = f(i);
      const float low = static_cast<float>(x.value - x.error), high = static_cast<float>(x.value + x.error);
      unsure |= !(low == high);
      out[i] = low;
    }
    if (!unsure) [[likely]]
      continue;
    for (int64_t i = start; i < end; ++i) {
      const Near x = f(i);
      if (!(static_cast<float>(x.value - x.error) == static_cast<float>(x.value + x.error))) out[i] = static_cast<float>(exactly(i));
    }
  }
}

void exponential(const double* u, int64_t n, double scale, float* out) {
  rounded(
      n, out,
      [=](int64_t i) {
        const double x = scale * log1p_(-u[i]);
        return Near{x, abs_(x) * 0x1p-50};
      },
      [=](int64_t i) { return scale * std::log1p(-u[i]); });
}

void cauchy(const double* u, int64_t n, double median, double sigma, float* out) {
  rounded(
      n, out,
      [=](int64_t i) {
        const double t = sigma * tan_(kPi * (u[i] - 0.5)), x = t + median;
        return Near{x, (abs_(t) + abs_(x)) * 0x1p-49};
      },
      [=](int64_t i) { return std::fma(sigma, std::tan(kPi * (u[i] - 0.5)), median); });
}

void log_normal(const double* u, int64_t pairs, double mean, double std, float* out) {
  double radius[kBlock], angle[kBlock];
  for (int64_t start = 0; start < pairs; start += kBlock) {
    const int64_t m = pairs - start < kBlock ? pairs - start : kBlock;
    const double* const from = u + 2 * start;
    for (int64_t i = 0; i < m; ++i) {
      angle[i] = 2 * kPi * from[2 * i];
      radius[i] = sqrt_(-2 * log1p_(-from[2 * i + 1]));
    }
    const auto near = [&](double unit, double r) __attribute__((always_inline)) {
      const double move = std * (r * unit), x = mean + move, y = exp_(x);
      return Near{y, y * (std * r + abs_(x) + 1) * 0x1p-49};
    };
    const auto exactly = [&](int64_t i, bool second) {
      const double a = 2 * kPi * from[2 * i], r = std::sqrt(-2 * std::log1p(-from[2 * i + 1]));
      return std::exp(std::fma(r * (second ? std::sin(a) : std::cos(a)), std, mean));
    };
    float cosines[kBlock], sines[kBlock];
    rounded(
        m, cosines, [&](int64_t i) __attribute__((always_inline)) { return near(cos_(angle[i]), radius[i]); },
        [&](int64_t i) { return exactly(i, false); });
    rounded(
        m, sines, [&](int64_t i) __attribute__((always_inline)) { return near(sin_(angle[i]), radius[i]); },
        [&](int64_t i) { return exactly(i, true); });
    for (int64_t i = 0; i < m; ++i) {
      out[2 * (start + i)] = cosines[i];
      out[2 * (start + i) + 1] = sines[i];
    }
  }
}

template <class T> bool are_weights(const T* x, int64_t n) {
  int wrong = 0, some = 0;
  for (int64_t i = 0; i < n; ++i) {
    wrong |= !(x[i] >= 0 && x[i] < kInf<T>);
    some |= x[i] > 0;
  }
  return !wrong && some;
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(DrawKernels, draws) = {
    .exponential = RG_LEVEL_NS::exponential,
    .cauchy = RG_LEVEL_NS::cauchy,
    .log_normal = RG_LEVEL_NS::log_normal,
    .are_weights = RG_LEVEL_NS::are_weights<float>,
    .are_weights_double = RG_LEVEL_NS::are_weights<double>,
};

}  // namespace retrograd::cpu
