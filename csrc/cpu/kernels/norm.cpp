// Two passes over a row that is in cache: mean and spread, then the result.
#include "kernels/norm.h"
#include "cpu/isa.h"

#include <algorithm>
#include <cmath>

#include "cpu/kernels/lane_sum.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrainElements = 16384;

// A row whose squares overflow float: everything in double.
template <class T> void wide_row(int64_t n, const T* x, const T* weight, const T* bias, double eps, T* y, T* mean, T* rstd) {
  const double count = static_cast<double>(n), m = lane_sum<double>(n, [&](int64_t i) { return static_cast<double>(x[i]); }) / count;
  const double variance =
      lane_sum<double>(n, [&](int64_t i) { return (static_cast<double>(x[i]) - m) * (static_cast<double>(x[i]) - m); }) / count;
  const double r = 1 / std::sqrt(variance + eps);
  for (int64_t i = 0; i < n; ++i) {
    const double normal = (static_cast<double>(x[i]) - m) * r;
    y[i] = T(static_cast<compute_t<T>>(normal * (weight ? static_cast<double>(weight[i]) : 1) + (bias ? static_cast<double>(bias[i]) : 0)));
  }
  *mean = T(static_cast<compute_t<T>>(m));
  *rstd = T(static_cast<compute_t<T>>(r));
}

template <class T> void forward_rows(int64_t begin, int64_t end, int64_t n, const T* in, const T* weight, const T* bias, double eps, T* out,
                                     T* mean, T* rstd) {
  using C = compute_t<T>;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = in + row * n;
    T* y = out + row * n;
    const C count = static_cast<C>(n), m = lane_sum<C>(n, [&](int64_t i) { return static_cast<C>(x[i]); }) / count;
    C rest = 0, variance = lane_sum<C>(n,
                                       [&](int64_t i) {
                                         const C d = static_cast<C>(x[i]) - m;
                                         return d * d;
                                       }) /
                           count;
    // A mean is as exact as its own last digit. Where that is much beside the deviations, they have a mean of their own, the rest of it.
    if (m * m > 4 * variance) {
      rest = lane_sum<C>(n, [&](int64_t i) { return static_cast<C>(x[i]) - m; }) / count;
      variance = std::max(C(0), variance - rest * rest);
    }
    if (sizeof(C) < sizeof(double) && !std::isfinite(variance)) {
      wide_row(n, x, weight, bias, eps, y, mean + row, rstd + row);
      continue;
    }
    const auto deviation = [&](int64_t i) { return (static_cast<C>(x[i]) - m) - rest; };
    const C r = C(1) / std::sqrt(variance + static_cast<C>(eps));
    if (weight && bias) {
      for (int64_t i = 0; i < n; ++i) y[i] = T(deviation(i) * r * static_cast<C>(weight[i]) + static_cast<C>(bias[i]));
    } else {
      for (int64_t i = 0; i < n; ++i)
        y[i] = T(deviation(i) * r * (weight ? static_cast<C>(weight[i]) : C(1)) + (bias ? static_cast<C>(bias[i]) : C(0)));
    }
    mean[row] = T(m + rest);
    rstd[row] = T(r);
  }
}

void layer_norm(DType dtype, int64_t rows, int64_t n, const void* in, const void* weight, const void* bias, double eps, void* out,
                void* mean, void* rstd) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(0, rows, std::max<int64_t>(1, kGrainElements / n), [&](int64_t begin, int64_t end) {
      forward_rows<T>(begin, end, n, static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias), eps,
                      static_cast<T*>(out), static_cast<T*>(mean), static_cast<T*>(rstd));
    });
  });
}

// With h = (x - mean) * rstd and g = grad * weight: rstd * (g - mean(g) - h * mean(g * h)).
template <class T> void input_rows(int64_t begin, int64_t end, int64_t n, const T* grad, const T* in, const T* weight, const T* mean,
                                   const T* rstd, T* grad_in) {
  using C = compute_t<T>;
  for (int64_t row = begin; row < end; ++row) {
    const T *dy = grad + row * n, *x = in + row * n;
    T* dx = grad_in + row * n;
    const C m = static_cast<C>(mean[row]), r = static_cast<C>(rstd[row]);
    const auto g = [&](int64_t i) { return weight ? static_cast<C>(dy[i]) * static_cast<C>(weight[i]) : static_cast<C>(dy[i]); };
    const auto h = [&](int64_t i) { return (static_cast<C>(x[i]) - m) * r; };
    const C g_mean = lane_sum<C>(n, g) / static_cast<C>(n);
    const C gh_mean = lane_sum<C>(n, [&](int64_t i) { return g(i) * h(i); }) / static_cast<C>(n);
    for (int64_t i = 0; i < n; ++i) dx[i] = T(r * (g(i) - g_mean - h(i) * gh_mean));
  }
}

// Sums over rows for the columns [begin, end), a few hundred at a time.
template <class T> void parameter_columns(int64_t begin, int64_t end, int64_t rows, int64_t n, const T* grad, const T* in, const T* mean,
                                          const T* rstd, T* grad_weight, T* grad_bias) {
  using C = compute_t<T>;
  constexpr int64_t kWidth = 256;
  for (int64_t first = begin; first < end; first += kWidth) {
    const int64_t width = std::min(kWidth, end - first);
    C weights[kWidth] = {}, biases[kWidth] = {};
    for (int64_t row = 0; row < rows; ++row) {
      const T *dy = grad + row * n + first, *x = in + row * n + first;
      const C m = static_cast<C>(mean[row]), r = static_cast<C>(rstd[row]);
      for (int64_t i = 0; i < width; ++i) {
        const C d = static_cast<C>(dy[i]);
        weights[i] += d * (static_cast<C>(x[i]) - m) * r;
        biases[i] += d;
      }
    }
    for (int64_t i = 0; i < width; ++i) {
      if (grad_weight) grad_weight[first + i] = T(weights[i]);
      if (grad_bias) grad_bias[first + i] = T(biases[i]);
    }
  }
}

void layer_norm_backward(DType dtype, int64_t rows, int64_t n, const void* grad, const void* in, const void* weight, const void* mean,
                         const void* rstd, void* grad_in, void* grad_weight, void* grad_bias) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto *dy = static_cast<const T*>(grad), *x = static_cast<const T*>(in), *w = static_cast<const T*>(weight);
    const auto *m = static_cast<const T*>(mean), *r = static_cast<const T*>(rstd);
    if (grad_in) {
      parallel_for(0, rows, std::max<int64_t>(1, kGrainElements / n),
                   [&](int64_t begin, int64_t end) { input_rows<T>(begin, end, n, dy, x, w, m, r, static_cast<T*>(grad_in)); });
    }
    if (grad_weight || grad_bias) {
      parallel_for(0, n, std::max<int64_t>(64, kGrainElements / rows), [&](int64_t begin, int64_t end) {
        parameter_columns<T>(begin, end, rows, n, dy, x, m, r, static_cast<T*>(grad_weight), static_cast<T*>(grad_bias));
      });
    }
  });
}

}  // namespace

RG_EXPORT_KERNELS(NormKernels, norm) = {.layer_norm = layer_norm, .layer_norm_backward = layer_norm_backward};

}  // namespace retrograd::cpu
