// Scans. Everything floating runs in double, all integers in int64, through small buffers, so there are two instances of each.
#include "kernels/scan.h"
#include "cpu/isa.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/kernels/lines.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int64_t kPiece = 512;    // elements of a line in the buffer
constexpr int64_t kColumns = 256;  // columns at once

// Integers wrap around.
template <class T> using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <class Element> struct Sum {
  using T = Element;
  static constexpr T start = 0;
  static T step(T acc, T x) { return static_cast<T>(Wrapping<T>(acc) + Wrapping<T>(x)); }
};

template <class Element> struct Prod {
  using T = Element;
  static constexpr T start = 1;
  static T step(T acc, T x) { return static_cast<T>(Wrapping<T>(acc) * Wrapping<T>(x)); }
};

struct LogSumExp {
  using T = double;
  static constexpr T start = -std::numeric_limits<double>::infinity();
  // Selects, so that a loop over columns is vectorised.
  RG_INLINE static T step(T acc, T x) {
    const T high = acc < x ? x : acc, low = acc < x ? acc : x, sum = high + log1p_(exp_neg_(low - high));
    return (acc != acc) | (x != x) ? kNaN<T> : abs_(high) == kInf<T> ? high : sum;
  }
};

template <class T> DType dtype_of() { return DTypeOf<T>::value; }

int64_t grain_of(int64_t n) { return n < 8192 ? 8192 / n : 1; }

// A reverse scan is a forward one with the stride negated, from the other end.
struct Direction {
  int64_t shift[kArrays], stride[kArrays];
  Direction(const Lines& lines, int64_t n, bool reverse) {
    for (int i = 0; i < lines.arrays; ++i) {
      shift[i] = reverse ? (n - 1) * lines.stride[i] : 0;
      stride[i] = reverse ? -lines.stride[i] : lines.stride[i];
    }
  }
};

// `count` lines of n elements, up to kPiece together, each from `acc`; the last value. Out of line, or the compiler keeps `acc` in memory and
// the whole scan waits for it.
template <class Op> [[gnu::noinline]] typename Op::T scan_lines(typename Op::T* x, int64_t count, int64_t n, typename Op::T start) {
  typename Op::T acc = start;
  for (int64_t k = 0; k < count; ++k, x += n) {
    acc = start;
    for (int64_t i = 0; i < n; ++i) x[i] = acc = Op::step(acc, x[i]);
  }
  return acc;
}

// As sums of exponentials, which and the logarithms of which are vectorised. Not where a sum is far below the largest element to come, which
// would cost it digits, nor where something is infinite or nan.
template <> [[gnu::noinline]] double scan_lines<LogSumExp>(double* x, int64_t count, int64_t n, double start) {
  constexpr double kFar = 40;
  alignas(64) double high[kPiece], sums[kPiece];
  bool near = true;
  for (int64_t k = 0; k < count; ++k) {
    const double* const line = x + k * n;
    double most = start, total = 0;
    for (int64_t i = 0; i < n; ++i) {
      most = line[i] > most ? line[i] : most;
      total += line[i];
    }
    near &= most < kInf<double> && total == total && (start > line[0] ? start : line[0]) > most - kFar;
    for (int64_t i = 0; i < n; ++i) high[k * n + i] = most;
  }
  if (!near) {
    double acc = start;
    for (int64_t k = 0; k < count; ++k, x += n) {
      acc = start;
      for (int64_t i = 0; i < n; ++i) x[i] = acc = LogSumExp::step(acc, x[i]);
    }
    return acc;
  }
  for (int64_t i = 0; i < count * n; ++i) sums[i] = exp_neg_(x[i] - high[i]);
  for (int64_t k = 0; k < count; ++k) {
    double acc = exp_neg_(start - high[k * n]);
    for (int64_t i = k * n; i < (k + 1) * n; ++i) sums[i] = acc += sums[i];
  }
  for (int64_t i = 0; i < count * n; ++i) x[i] = high[i] + log_(sums[i]);
  return x[count * n - 1];
}

// Lines of floats or doubles as they lie in memory, where conversions and stores go on while the next step waits for the last, and of four lines side by side.
template <class Op> constexpr bool kDirect = !std::is_same_v<Op, LogSumExp> && std::is_same_v<typename Op::T, double>;

template <class Op, int kLines, class E> [[gnu::noinline]] void scan_floats(E* out, int64_t out_step, const E* in, int64_t in_step,
                                                                            int64_t n) {
  double acc[kLines];
  for (int k = 0; k < kLines; ++k) acc[k] = Op::start;
  for (int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 4
    for (int k = 0; k < kLines; ++k) {
      acc[k] = Op::step(acc[k], static_cast<double>(in[k * in_step + i]));
      out[k * out_step + i] = static_cast<E>(acc[k]);
    }
  }
}
template <class Op, class E>
void scan_floats(E* out, int64_t out_step, const E* in, int64_t in_step, int64_t n, int64_t lines) {
  int64_t line = 0;
  for (; line + 4 <= lines; line += 4) scan_floats<Op, 4>(out + line * out_step, out_step, in + line * in_step, in_step, n);
  for (; line < lines; ++line) scan_floats<Op, 1>(out + line * out_step, out_step, in + line * in_step, in_step, n);
}

template <class Op> void scan_with(const Array& out, const Array& in, int dim, bool reverse) {
  using T = typename Op::T;
  const Lines lines({&out, &in}, dim);
  const int64_t n = in.ndim ? in.sizes[dim] : 1;
  if (n == 0 || lines.lines == 0) return;
  const Direction way(lines, n, reverse);
  const Load load = loader(in.dtype, dtype_of<T>());
  const Store store = storer(out.dtype, dtype_of<T>());

  if (lines.columns_suit(n)) {
    const int64_t* between = lines.column_strides();
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      alignas(64) T row[kColumns], acc[kColumns];
      for (int64_t j = 0; j < width; ++j) acc[j] = Op::start;
      for (int64_t r = 0; r < n; ++r) {
        load(in.data, at[1] + way.shift[1] + r * way.stride[1], between[1], width, row);
        for (int64_t j = 0; j < width; ++j) acc[j] = Op::step(acc[j], row[j]);
        store(out.data, at[0] + way.shift[0] + r * way.stride[0], between[0], width, acc);
      }
    });
    return;
  }
  lines.each_run(
      grain_of(n), [] { return 0; },
      [&](int, const int64_t* start, int64_t count, const int64_t* step) {
        alignas(64) T piece[kPiece];
        if constexpr (kDirect<Op>) {
          if (out.dtype == in.dtype && way.stride[0] == 1 && way.stride[1] == 1) {
            const auto as = [&](auto zero) {
              using E = decltype(zero);
              scan_floats<Op>(out.ptr<E>() + start[0], step[0], in.ptr<E>() + start[1], step[1], n, count);
            };
            if (in.dtype == DType::Float32) return as(float{});
            if (in.dtype == DType::Float64) return as(double{});
          }
        }
        // Short lines that follow each other in both arrays are moved together.
        const bool adjacent = !reverse && way.stride[0] == 1 && way.stride[1] == 1 && step[0] == n && step[1] == n && 2 * n <= kPiece;
        const int64_t together = adjacent ? kPiece / n : 1;
        for (int64_t line = 0; line < count; line += together) {
          const int64_t to = start[0] + line * step[0] + way.shift[0], from = start[1] + line * step[1] + way.shift[1];
          if (adjacent) {
            const int64_t here = count - line < together ? count - line : together;
            load(in.data, from, 1, here * n, piece);
            scan_lines<Op>(piece, here, n, Op::start);
            store(out.data, to, 1, here * n, piece);
            continue;
          }
          T acc = Op::start;
          for (int64_t i = 0; i < n; i += kPiece) {
            const int64_t m = n - i < kPiece ? n - i : kPiece;
            load(in.data, from + i * way.stride[1], way.stride[1], m, piece);
            acc = scan_lines<Op>(piece, 1, m, acc);
            store(out.data, to + i * way.stride[0], way.stride[0], m, piece);
          }
        }
      });
}

// Latest among equals, and the latest NaN once there is one.
template <class T, bool kMax> bool takes_over(T x, T best) { return (kMax ? x >= best : x <= best) | (x != x); }

template <class T, bool kMax> void extrema(const Array& values, const Array& indices, const Array& in, int dim) {
  const Lines lines({&values, &indices, &in}, dim);
  const int64_t n = in.ndim ? in.sizes[dim] : 1;
  if (n == 0 || lines.lines == 0) return;
  const Load load = loader(in.dtype, dtype_of<T>());
  const Store store = storer(values.dtype, dtype_of<T>());
  const int64_t* line = lines.stride;
  int64_t* index_out = indices.ptr<int64_t>();

  if (lines.columns_suit(n)) {
    const int64_t* between = lines.column_strides();
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      alignas(64) T row[kColumns], best[kColumns];
      alignas(64) int64_t where[kColumns];
      for (int64_t r = 0; r < n; ++r) {
        load(in.data, at[2] + r * line[2], between[2], width, row);
        for (int64_t j = 0; j < width; ++j) {
          const bool take = r == 0 || takes_over<T, kMax>(row[j], best[j]);
          best[j] = take ? row[j] : best[j];
          where[j] = take ? r : where[j];
          index_out[at[1] + r * line[1] + j * between[1]] = where[j];
        }
        store(values.data, at[0] + r * line[0], between[0], width, best);
      }
    });
    return;
  }
  lines.each(
      grain_of(n), [] { return 0; },
      [&](int, const int64_t* at) {
        alignas(64) T piece[kPiece];
        T best{};
        int64_t where = 0;
        for (int64_t i = 0; i < n; i += kPiece) {
          const int64_t m = n - i < kPiece ? n - i : kPiece;
          load(in.data, at[2] + i * line[2], line[2], m, piece);
          for (int64_t j = 0; j < m; ++j) {
            if (i + j == 0 || takes_over<T, kMax>(piece[j], best)) best = piece[j], where = i + j;
            piece[j] = best;
            index_out[at[1] + (i + j) * line[1]] = where;
          }
          store(values.data, at[0] + i * line[0], line[0], m, piece);
        }
      });
}

// Complex numbers, in doubles as well.
struct ComplexSum {
  static constexpr Complex<double> start{0, 0};
  static Complex<double> step(Complex<double> acc, Complex<double> x) { return acc + x; }
};
struct ComplexProd {
  static constexpr Complex<double> start{1, 0};
  static Complex<double> step(Complex<double> acc, Complex<double> x) { return acc * x; }
};

template <class Op, class C> [[gnu::noinline]] void scan_complex_line(C* out, int64_t out_step, const C* in, int64_t in_step, int64_t n) {
  Complex<double> acc = Op::start;
  for (int64_t i = 0; i < n; ++i) {
    acc = Op::step(acc, Complex<double>(in[i * in_step]));
    out[i * out_step] = C(acc);
  }
}

template <class Op, class C> void scan_complex(const Array& out, const Array& in, int dim, bool reverse) {
  const Lines lines({&out, &in}, dim);
  const int64_t n = in.ndim ? in.sizes[dim] : 1;
  if (n == 0 || lines.lines == 0) return;
  const Direction way(lines, n, reverse);
  C* const to = out.ptr<C>() + way.shift[0];
  const C* const from = in.ptr<C>() + way.shift[1];
  if (lines.columns_suit(n)) {
    const int64_t* between = lines.column_strides();
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      Complex<double> acc[kColumns];
      std::fill_n(acc, width, Op::start);
      for (int64_t r = 0; r < n; ++r) {
        for (int64_t j = 0; j < width; ++j) {
          acc[j] = Op::step(acc[j], Complex<double>(from[at[1] + r * way.stride[1] + j * between[1]]));
          to[at[0] + r * way.stride[0] + j * between[0]] = C(acc[j]);
        }
      }
    });
    return;
  }
  lines.each_run(
      grain_of(n), [] { return 0; },
      [&](int, const int64_t* start, int64_t count, const int64_t* step) {
        for (int64_t k = 0; k < count; ++k)
          scan_complex_line<Op>(to + start[0] + k * step[0], way.stride[0], from + start[1] + k * step[1], way.stride[1], n);
      });
}

void cumsum(const Array& out, const Array& in, int dim, bool reverse) {
  if (out.dtype == DType::Complex64) return scan_complex<ComplexSum, Complex<float>>(out, in, dim, reverse);
  if (out.dtype == DType::Complex128) return scan_complex<ComplexSum, Complex<double>>(out, in, dim, reverse);
  if (is_floating(out.dtype)) return scan_with<Sum<double>>(out, in, dim, reverse);
  scan_with<Sum<int64_t>>(out, in, dim, reverse);
}

void cumprod(const Array& out, const Array& in, int dim, bool reverse) {
  if (out.dtype == DType::Complex64) return scan_complex<ComplexProd, Complex<float>>(out, in, dim, reverse);
  if (out.dtype == DType::Complex128) return scan_complex<ComplexProd, Complex<double>>(out, in, dim, reverse);
  if (is_floating(out.dtype)) return scan_with<Prod<double>>(out, in, dim, reverse);
  scan_with<Prod<int64_t>>(out, in, dim, reverse);
}

void logcumsumexp(const Array& out, const Array& in, int dim, bool reverse) { scan_with<LogSumExp>(out, in, dim, reverse); }

template <bool kMax> void cumulative(const Array& values, const Array& indices, const Array& in, int dim) {
  if (is_floating(in.dtype)) return extrema<double, kMax>(values, indices, in, dim);
  extrema<int64_t, kMax>(values, indices, in, dim);
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(ScanKernels, scan) = {
    .cumsum = RG_LEVEL_NS::cumsum,
    .cumprod = RG_LEVEL_NS::cumprod,
    .cummax = RG_LEVEL_NS::cumulative<true>,
    .cummin = RG_LEVEL_NS::cumulative<false>,
    .logcumsumexp = RG_LEVEL_NS::logcumsumexp,
};

}  // namespace retrograd::cpu
