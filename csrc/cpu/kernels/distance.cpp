#include "kernels/distance.h"
#include "cpu/isa.h"

#include <cmath>

#include "cpu/kernels/lines.h"
#include "cpu/parallel.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // the vectors are passed between functions of this file only

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int kRows = 4;  // rows of x2 at once: each element of x1 loaded serves all of them

template <class T> using Vector __attribute__((vector_size(64), aligned(alignof(T)), may_alias)) = T;
template <class T> constexpr int kLanes = 64 / sizeof(T);

template <class V> V absolute(V x) { return x < 0 ? -x : x; }

// Each norm works on T and on vectors of it.
struct Differing {
  template <class V> static V term(V d) { return d != 0 ? V{} + 1 : V{}; }
  template <class V> static V join(V a, V b) { return a + b; }
  template <class T> static T finish(T s) { return s; }
};
struct Taxicab {
  template <class V> static V term(V d) { return absolute(d); }
  template <class V> static V join(V a, V b) { return a + b; }
  template <class T> static T finish(T s) { return s; }
};
struct Euclid {
  template <class V> static V term(V d) { return d * d; }
  template <class V> static V join(V a, V b) { return a + b; }
  template <class T> static T finish(T s) { return std::sqrt(s); }
};
struct Largest {
  template <class V> static V term(V d) { return absolute(d); }
  template <class V> static V join(V a, V b) { return a > b ? a : (b >= a ? b : a + b); }  // nan wins
  template <class T> static T finish(T s) { return s; }
};

// Distances of `a` from up to kRows rows of n elements each, starting at b.
template <class Norm, int rows, class T> void row_distances(T* out, const T* a, const T* b, int64_t n) {
  Vector<T> sums[rows] = {};
  int64_t k = 0;
  for (; k + kLanes<T> <= n; k += kLanes<T>) {
    const Vector<T> x = *reinterpret_cast<const Vector<T>*>(a + k);
    for (int r = 0; r < rows; ++r) sums[r] = Norm::join(sums[r], Norm::term(x - *reinterpret_cast<const Vector<T>*>(b + r * n + k)));
  }
  for (int r = 0; r < rows; ++r) {
    T total = 0;
    for (int l = 0; l < kLanes<T>; ++l) total = Norm::join(total, static_cast<T>(sums[r][l]));
    for (int64_t i = k; i < n; ++i) total = Norm::join(total, Norm::term(a[i] - b[r * n + i]));
    out[r] = Norm::finish(total);
  }
}

template <class T> struct General {  // any other exponent
  T p;
  void operator()(T* out, const T* a, const T* b, int64_t rows, int64_t n) const {
    for (int64_t r = 0; r < rows; ++r, b += n) {
      T total = 0;
      for (int64_t i = 0; i < n; ++i) total += std::pow(std::fabs(a[i] - b[i]), p);
      out[r] = std::pow(total, 1 / p);
    }
  }
};

template <class Norm> struct Fast {
  using Kind = Norm;
  template <class T> void operator()(T* out, const T* a, const T* b, int64_t rows, int64_t n) const {
    int64_t r = 0;
    for (; r + kRows <= rows; r += kRows) row_distances<Norm, kRows>(out + r, a, b + r * n, n);
    for (; r < rows; ++r) row_distances<Norm, 1>(out + r, a, b + r * n, n);
  }
};

// Of short rows: lanes are rows of x2, which stand as columns for it. The sums are those of row_distances, in its order.
constexpr int64_t kShort = 256;
template <class Norm, int rows, class T> void column_distances(T* out, int64_t stride, const T* a, const Vector<T>* columns, int64_t count,
                                                               int64_t n) {
  constexpr int64_t lanes = kLanes<T>;
  const int64_t whole = n / lanes * lanes;
  Vector<T> total[rows] = {};
  const auto join = [&](Vector<T>* sums, int64_t k) __attribute__((always_inline)) {
    const Vector<T> column = columns[k];
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) sums[r] = Norm::join(sums[r], Norm::term(a[r * n + k] - column));
  };
  for (int64_t l = 0; l < lanes && whole > 0; ++l) {
    Vector<T> sums[rows] = {};
    for (int64_t k = l; k < whole; k += lanes) join(sums, k);
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) total[r] = Norm::join(total[r], sums[r]);
  }
  for (int64_t k = whole; k < n; ++k) join(total, k);
  for (int r = 0; r < rows; ++r) {
    T row[lanes];
    for (int64_t l = 0; l < lanes; ++l) row[l] = Norm::finish(static_cast<T>(total[r][l]));
    __builtin_memcpy(out + r * stride, row, static_cast<size_t>(count) * sizeof(T));
  }
}
template <class Norm, class T> void short_distances(T* out, const T* x1, int64_t rows1, int64_t stride, const T* x2, int64_t rows2,
                                                    int64_t n) {
  constexpr int64_t lanes = kLanes<T>;
  Vector<T> columns[kShort];
  for (int64_t j = 0; j < rows2; j += lanes) {
    const int64_t count = rows2 - j < lanes ? rows2 - j : lanes;
    for (int64_t k = 0; k < n; ++k)
      for (int64_t l = 0; l < lanes; ++l) columns[k][l] = x2[(j + (l < count ? l : 0)) * n + k];
    int64_t i = 0;
    for (; i + kRows <= rows1; i += kRows) column_distances<Norm, kRows, T>(out + i * stride + j, stride, x1 + i * n, columns, count, n);
    for (; i < rows1; ++i) column_distances<Norm, 1, T>(out + i * stride + j, stride, x1 + i * n, columns, count, n);
  }
}

template <class T, class F> void all_pairs(T* out, const T* x1, const T* x2, int64_t batch, int64_t rows1, int64_t rows2, int64_t n,
                                           const F& row) {
  constexpr int64_t tile = 64;  // rows of x2 that stay in the cache while those of x1 pass by
  const int64_t work = rows2 * (n + 8), grain = work < 32768 ? 32768 / (work ? work : 1) : 1;
  parallel_for(0, batch * rows1, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t b = begin / rows1, stop = end < (b + 1) * rows1 ? end : (b + 1) * rows1;
      for (int64_t j = 0; j < rows2; j += tile) {
        const int64_t count = rows2 - j < tile ? rows2 - j : tile;
        if constexpr (!std::is_same_v<F, General<T>>) {
          if (n < kLanes<T> || (n <= kShort && rows1 >= 4)) {
            short_distances<typename F::Kind>(out + (begin * rows2 + j), x1 + begin * n, stop - begin, rows2, x2 + (b * rows2 + j) * n,
                                              count, n);
            continue;
          }
        }
        for (int64_t i = begin; i < stop; ++i) row(out + i * rows2 + j, x1 + i * n, x2 + (b * rows2 + j) * n, count, n);
      }
      begin = stop;
    }
  });
}

template <class T, class F> void own_pairs(T* out, const T* x, int64_t rows, int64_t n, const F& row) {
  const int64_t work = rows * (n + 8), grain = work < 65536 ? 65536 / (work ? work : 1) : 1;
  parallel_for(0, rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) row(out + i * (2 * rows - i - 1) / 2, x + i * n, x + (i + 1) * n, rows - i - 1, n);
  });
}

// Calls f with what computes distances of that exponent.
template <class T, class F> void with_norm(double p, F&& f) {
  if (p == 2) return f(Fast<Euclid>());
  if (p == 1) return f(Fast<Taxicab>());
  if (p == 0) return f(Fast<Differing>());
  if (p == HUGE_VAL) return f(Fast<Largest>());
  f(General<T>{static_cast<T>(p)});
}

template <class F> void in_dtype(DType dtype, F&& f) { dtype == DType::Float64 ? f(double{}) : f(float{}); }

void cdist(void* out, const void* x1, const void* x2, DType dtype, int64_t batch, int64_t rows1, int64_t rows2, int64_t columns, double p) {
  in_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    with_norm<T>(p, [&](const auto& row) {
      all_pairs(static_cast<T*>(out), static_cast<const T*>(x1), static_cast<const T*>(x2), batch, rows1, rows2, columns, row);
    });
  });
}

void pdist(void* out, const void* x, DType dtype, int64_t rows, int64_t columns, double p) {
  in_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    with_norm<T>(p, [&](const auto& row) { own_pairs(static_cast<T*>(out), static_cast<const T*>(x), rows, columns, row); });
  });
}

void shrink(void* norms, DType dtype, int64_t n, double limit) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* s = static_cast<T*>(norms);
    for (int64_t i = 0; i < n; ++i) {
      const compute_t<T> norm = s[i];
      s[i] = T(norm > limit ? static_cast<compute_t<T>>(limit / (norm + 1e-7)) : compute_t<T>(1));
    }
  });
}

template <class T> void cross_of(const Array& out, const Array& a, const Array& b, int dim) {
  const Lines lines({&out, &a, &b}, dim);
  const auto [o, p, q, unused] = lines.stride;
  lines.each_run(
      4096, [] { return 0; },
      [&](int, const int64_t* at, int64_t count, const int64_t* step) {
        T* to = out.ptr<T>() + at[0];
        const T *x = a.ptr<T>() + at[1], *y = b.ptr<T>() + at[2];
        for (int64_t i = 0; i < count; ++i, to += step[0], x += step[1], y += step[2]) {
          using C = std::conditional_t<std::is_integral_v<T>, uint64_t, compute_t<T>>;  // integers wrap around
          const C x0 = x[0], x1 = x[p], x2 = x[2 * p], y0 = y[0], y1 = y[q], y2 = y[2 * q];
          to[0] = static_cast<T>(x1 * y2 - x2 * y1);
          to[o] = static_cast<T>(x2 * y0 - x0 * y2);
          to[2 * o] = static_cast<T>(x0 * y1 - x1 * y0);
        }
      });
}

void cross(const Array& out, const Array& a, const Array& b, int dim) {
  visit_all(out.dtype, [&](auto zero) {
    if constexpr (!std::is_same_v<decltype(zero), bool>) cross_of<decltype(zero)>(out, a, b, dim);
  });
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(DistanceKernels, distance) = {
    .cdist = RG_LEVEL_NS::cdist, .pdist = RG_LEVEL_NS::pdist, .shrink = RG_LEVEL_NS::shrink, .cross = RG_LEVEL_NS::cross};

}  // namespace retrograd::cpu
