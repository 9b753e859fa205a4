// Means of windows, and what elements get back from them.
//
// A mean is taken in two steps: the rows of a window are added up, whole rows at a time, and then the columns. Backward the same with the windows
// that an element is in. Where channels are innermost, the passes go over them.
#include "kernels/pool.h"

#include <type_traits>

#include "cpu/kernels/pool_max.h"
#include "cpu/kernels/pool_windows.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kPiece = 512;  // results of a row, or channels, that are computed together

// What sums are divided by, a factor for each axis.
template <class C> class Divisors {
 public:
  Divisors(const PoolShape& s, PoolCount count, int64_t divisor)
      : all_(s.out[0] + s.out[1] + s.out[2]), height_(s.out[0]), width_(s.out[0] + s.out[1]) {
    for (int64_t at = 0, d = 0; d < 3; ++d)
      for (int64_t o = 0; o < s.out[d]; ++o) all_[at++] = static_cast<C>(factor(s, count, divisor, static_cast<int>(d), o));
  }
  C rows(int64_t depth, int64_t height) { return all_[depth] * all_[height_ + height]; }
  const C* width() { return all_.data() + width_; }

 private:
  static int64_t factor(const PoolShape& s, PoolCount count, int64_t divisor, int d, int64_t o) {
    if (count == PoolCount::Fixed) return d == 0 ? divisor : 1;
    if (count == PoolCount::Inside || s.adaptive) {
      const Window w = window_at(s, d, o);
      return w.end - w.start;
    }
    const int64_t begin = o * s.stride[d] - s.padding[d];
    return smaller(begin + s.kernel[d], s.in[d] + s.padding[d]) - begin;
  }
  Line<C, 128> all_;
  int64_t height_, width_;
};

// ---- rows ----

// The sum of columns [from, to) over the rows of a window. Where it is one row, that row itself.
template <class T, class C>
const C* sum_rows(const PoolShape& s, const T* plane, const Window& x, const Window& y, int64_t from, int64_t to, C* sums) {
  const T* first = plane + (x.start * s.in[1] + y.start) * s.in[2] + from;
  const int64_t n = to - from;
  if constexpr (std::is_same_v<T, C>)
    if (x.end - x.start == 1 && y.end - y.start == 1) return first;
  for (int64_t c = 0; c < n; ++c) sums[c] = static_cast<C>(first[c]);
  for (int64_t i = x.start; i < x.end; ++i)
    for (int64_t j = i == x.start ? y.start + 1 : y.start; j < y.end; ++j) {
      const T* row = plane + (i * s.in[1] + j) * s.in[2] + from;
      for (int64_t c = 0; c < n; ++c) sums[c] += static_cast<C>(row[c]);
    }
  return sums;
}

template <class C, int kStride> void add_tap(const C* columns, int64_t stride, int64_t lo, int64_t hi, C* sums) {
  const int64_t step = kStride ? kStride : stride;
  for (int64_t o = lo; o < hi; ++o) sums[o] += columns[o * step];
}

// The tables and lines of mean_planes take longer than a few small windows in short rows do one by one; the order of additions is the same.
constexpr int64_t kFewWindows = 64;
bool are_few(const PoolShape& s) {
  if (s.out[2] > 5 || s.outer * s.out_plane() > kFewWindows) return false;
  return s.adaptive ? s.outer * s.in_plane() <= 64 : s.kernel[0] * s.kernel[1] * s.kernel[2] <= 9;
}
template <class T> void mean_few(const PoolShape& s, PoolCount count, int64_t divisor, const T* in, T* out) {
  using C = compute_t<T>;
  Divisors<C> divisors(s, count, divisor);
  for (const T* const end = in + s.outer * s.in_plane(); in != end; in += s.in_plane())
    for (int64_t depth = 0; depth < s.out[0]; ++depth) {
      const Window x = window_at(s, 0, depth);
      for (int64_t height = 0; height < s.out[1]; ++height) {
        const Window y = window_at(s, 1, height);
        const C by = divisors.rows(depth, height);
        for (int64_t o = 0; o < s.out[2]; ++o) {
          const Window z = window_at(s, 2, o);
          C sum = 0;
          for (int64_t c = z.start; c < z.end; ++c) {
            C column = 0;
            for (int64_t i = x.start; i < x.end; ++i) {
              const T* at = in + (i * s.in[1] + y.start) * s.in[2] + c;
              for (int64_t j = y.start; j < y.end; ++j, at += s.in[2]) column += static_cast<C>(*at);
            }
            sum += column;
          }
          *out++ = static_cast<T>(sum / (by * divisors.width()[o]));
        }
      }
    }
}

// The same for windows that none of an edge cuts, kRows high and kColumns wide where that is not 0, and known to be one plane deep then.
template <class T, int kRows, int kColumns> void mean_whole(const PoolShape& s, PoolCount count, int64_t divisor, const T* in, T* out) {
  using C = compute_t<T>;
  const int64_t deep = kRows ? 1 : s.kernel[0], high = kRows ? kRows : s.kernel[1], wide = kColumns ? kColumns : s.kernel[2];
  const bool fixed = count == PoolCount::Fixed;
  const C by = fixed ? static_cast<C>(divisor) : static_cast<C>(deep) * static_cast<C>(high) * static_cast<C>(wide);
  for (const T* const end = in + s.outer * s.in_plane(); in != end; in += s.in_plane())
    for (int64_t depth = 0; depth < s.out[0]; ++depth)
      for (int64_t height = 0; height < s.out[1]; ++height) {
        const T* window = in + (depth * s.stride[0] * s.in[1] + height * s.stride[1]) * s.in[2];
        for (int64_t o = 0; o < s.out[2]; ++o, window += s.stride[2]) {
          C sum = 0;
#pragma GCC unroll 4
          for (int64_t k = 0; k < wide; ++k) {
            C column = 0;
            for (int64_t i = 0; i < deep; ++i)
#pragma GCC unroll 4
              for (int64_t j = 0; j < high; ++j) column += static_cast<C>(window[(i * s.in[1] + j) * s.in[2] + k]);
            sum += column;
          }
          *out++ = static_cast<T>(sum / by);
        }
      }
}
template <class T> void mean_whole(const PoolShape& s, PoolCount count, int64_t divisor, const T* in, T* out) {
  if (s.kernel[0] == 1 && s.kernel[1] == 2 && s.kernel[2] == 2) return mean_whole<T, 2, 2>(s, count, divisor, in, out);
  if (s.kernel[0] == 1 && s.kernel[1] == 1 && s.kernel[2] == 2) return mean_whole<T, 1, 2>(s, count, divisor, in, out);
  if (s.kernel[0] == 1 && s.kernel[1] == 3 && s.kernel[2] == 3) return mean_whole<T, 3, 3>(s, count, divisor, in, out);
  mean_whole<T, 0, 0>(s, count, divisor, in, out);
}

template <class T> void mean_planes(const PoolShape& s, PoolCount count, int64_t divisor, const T* in, T* out) {
  if (are_few(s)) {
    if (are_whole(s)) return mean_whole<T>(s, count, divisor, in, out);
    return mean_few<T>(s, count, divisor, in, out);
  }
  using C = compute_t<T>;
  Windows windows(s);
  Divisors<C> divisors(s, count, divisor);
  const int64_t rows = s.out[0] * s.out[1], in_plane = s.in_plane();
  const Taps taps = s.adaptive ? Taps{} : taps_of(s);
  const int64_t piece = piece_of(s, kPiece);
  parallel_for(0, s.outer * rows, larger(1, kGrain / larger(1, in_plane / rows)), [&](int64_t begin, int64_t end) {
    Line<C, kNear> added(columns_of(s, piece));
    C sums[kPiece];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t depth = i % rows / s.out[1], height = i % rows % s.out[1];
      const Window x = windows.depth(depth), y = windows.height(height);
      const C by = divisors.rows(depth, height);
      for (int64_t from = 0; from < s.out[2]; from += piece) {
        const int64_t n = smaller(piece, s.out[2] - from), first = first_column(s, from);
        const C* columns =
            sum_rows(s, in + i / rows * in_plane, x, y, first, larger(first, windows.width(from + n - 1).end), added.data()) - first;
        if (s.adaptive) {
          for (int64_t o = 0; o < n; ++o) {
            const Window z = windows.width(from + o);
            C sum = 0;
            for (int64_t c = z.start; c < z.end; ++c) sum += columns[c];
            sums[o] = sum;
          }
        } else {
          std::fill(sums, sums + n, C(0));
          by_stride(s.stride[2], [&](auto stride) {
            for (int64_t k = taps.first; k < taps.last; ++k) {
              const Reach r = reach_of(s, k);
              add_tap<C, stride>(columns + from * s.stride[2] + r.start, s.stride[2], larger(r.lo - from, 0), smaller(r.hi - from, n),
                                 sums);
            }
          });
        }
        T* to = out + i * s.out[2] + from;
        const C* wide = divisors.width() + from;
        for (int64_t o = 0; o < n; ++o) to[o] = static_cast<T>(sums[o] / (by * wide[o]));
      }
    }
  });
}

template <class C, int kStride> void spread_tap(const C* from, int64_t stride, int64_t lo, int64_t hi, C* columns) {
  const int64_t step = kStride ? kStride : stride;
  for (int64_t o = lo; o < hi; ++o) columns[o * step] += from[o];
}

// Columns of windows that lie one beside the other.
template <class C, int kWidth> void spread_apart(const C* from, int64_t width, int64_t n, C* columns) {
  const int64_t each = kWidth ? kWidth : width;
  for (int64_t o = 0; o < n; ++o)
    for (int64_t k = 0; k < each; ++k) columns[o * each + k] = from[o];
}

template <class T> void mean_planes_backward(const PoolShape& s, PoolCount count, int64_t divisor, const T* out, T* in) {
  using C = compute_t<T>;
  Windows windows(s);
  Divisors<C> divisors(s, count, divisor);
  Covers covers(s, 2);
  const int64_t rows = s.in[0] * s.in[1], out_plane = s.out_plane(), width = s.in[2];
  const Taps taps = s.adaptive ? Taps{} : taps_of(s);
  const bool side_by_side = !s.adaptive && s.kernel[2] == s.stride[2] && s.padding[2] == 0 && s.out[2] * s.stride[2] <= width;
  parallel_for(0, s.outer * rows, larger(1, kGrain / width), [&](int64_t begin, int64_t end) {
    Line<C> sums(s.out[2]);
    Line<C> line(std::is_same_v<T, C> ? 0 : width);
    for (int64_t i = begin; i < end; ++i) {
      const T* plane = out + i / rows * out_plane;
      const int64_t depth = i % rows / s.in[1], height = i % rows % s.in[1];
      const Cover x = covers.depth(depth), y = covers.height(height);
      T* to = in + i * width;
      if (i > begin && height > 0 && y == covers.height(height - 1)) {  // of the same windows as the row before
        std::copy(to - width, to, to);
        continue;
      }
      C* columns = line.data();
      if constexpr (std::is_same_v<T, C>) columns = to;
      bool any = false;
      for (int64_t a = x.first; a < x.last; ++a)
        for (int64_t b = y.first; b < y.last; ++b) {
          const T* row = plane + (a * s.out[1] + b) * s.out[2];
          const C by = divisors.rows(a, b);
          const C* wide = divisors.width();
          if (any) {
            for (int64_t o = 0; o < s.out[2]; ++o) sums[o] += static_cast<C>(row[o]) / (by * wide[o]);
          } else {
            for (int64_t o = 0; o < s.out[2]; ++o) sums[o] = static_cast<C>(row[o]) / (by * wide[o]);
          }
          any = true;
        }
      const int64_t done = any && side_by_side ? s.out[2] * s.kernel[2] : 0;
      std::fill(columns + done, columns + width, C(0));
      if (done) {
        if (s.kernel[2] == 2) {
          spread_apart<C, 2>(sums.data(), 2, s.out[2], columns);
        } else {
          spread_apart<C, 0>(sums.data(), s.kernel[2], s.out[2], columns);
        }
      } else if (any && s.adaptive) {
        for (int64_t o = 0; o < s.out[2]; ++o) {
          const Window z = windows.width(o);
          for (int64_t c = z.start; c < z.end; ++c) columns[c] += sums[o];
        }
      } else if (any) {
        by_stride(s.stride[2], [&](auto stride) {
          for (int64_t k = taps.first; k < taps.last; ++k) {
            const Reach r = reach_of(s, k);
            spread_tap<C, stride>(sums.data(), s.stride[2], r.lo, r.hi, columns + r.start);
          }
        });
      }
      if constexpr (!std::is_same_v<T, C>)
        for (int64_t c = 0; c < width; ++c) to[c] = static_cast<T>(columns[c]);
    }
  });
}

// ---- channels innermost ----

// One position after the other, through all images: divisions take as long as its channels.
struct Position {
  const int64_t* sizes;
  int64_t image, depth, height, column;
  Position(int64_t i, const int64_t (&of)[3])
      : sizes(of), image(i / of[2] / of[1] / of[0]), depth(i / of[2] / of[1] % of[0]), height(i / of[2] % of[1]), column(i % of[2]) {}
  void next() {
    if (++column < sizes[2]) return;
    column = 0;
    if (++height < sizes[1]) return;
    height = 0;
    if (++depth < sizes[0]) return;
    depth = 0;
    ++image;
  }
};

// The sums of n channels over a window; kCount of them at a time stay in registers.
template <class T, class C, int kCount>
int64_t sum_channels(const PoolShape& s, const T* from, const Window& x, const Window& y, const Window& z, int64_t k, int64_t n, C by,
                     T* out) {
  for (; k + kCount <= n; k += kCount) {
    C sums[kCount] = {};
    for (int64_t a = x.start; a < x.end; ++a)
      for (int64_t b = y.start; b < y.end; ++b) {
        const T* row = from + ((a * s.in[1] + b) * s.in[2] + z.start) * s.inner + k;
        for (int64_t c = z.start; c < z.end; ++c, row += s.inner)
          for (int i = 0; i < kCount; ++i) sums[i] += static_cast<C>(row[i]);
      }
    for (int i = 0; i < kCount; ++i) out[k + i] = static_cast<T>(sums[i] / by);
  }
  return k;
}

template <class T> void mean_channels(const PoolShape& s, PoolCount count, int64_t divisor, const T* in, T* out) {
  using C = compute_t<T>;
  Windows windows(s);
  Divisors<C> divisors(s, count, divisor);
  const int64_t plane = s.out_plane(), in_plane = s.in_plane();
  parallel_for(0, s.outer * plane, larger(1, kGrain / larger(1, in_plane * s.inner / plane)), [&](int64_t begin, int64_t end) {
    Position at(begin, s.out);
    for (int64_t o = begin; o < end; ++o, at.next()) {
      const Window x = windows.depth(at.depth), y = windows.height(at.height), z = windows.width(at.column);
      const T* from = in + at.image * in_plane * s.inner;
      T* to = out + o * s.inner;
      const C by = divisors.rows(at.depth, at.height) * divisors.width()[at.column];
      const int64_t done = sum_channels<T, C, 32>(s, from, x, y, z, 0, s.inner, by, to);
      sum_channels<T, C, 1>(s, from, x, y, z, sum_channels<T, C, 8>(s, from, x, y, z, done, s.inner, by, to), s.inner, by, to);
    }
  });
}

template <class T> void mean_channels_backward(const PoolShape& s, PoolCount count, int64_t divisor, const T* out, T* in) {
  using C = compute_t<T>;
  Divisors<C> divisors(s, count, divisor);
  Covers covers(s, 3);
  const int64_t plane = s.in_plane(), out_plane = s.out_plane();
  parallel_for(0, s.outer * plane, larger(1, kGrain / s.inner), [&](int64_t begin, int64_t end) {
    C sums[kPiece];
    Position at(begin, s.in);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      const Cover x = covers.depth(at.depth), y = covers.height(at.height), z = covers.width(at.column);
      const T* from = out + at.image * out_plane * s.inner;
      T* to = in + i * s.inner;
      if (i > begin && at.column > 0 && z == covers.width(at.column - 1)) {  // in the same windows as its neighbour
        std::copy(to - s.inner, to, to);
        continue;
      }
      for (int64_t channel = 0; channel < s.inner; channel += kPiece) {
        const int64_t n = smaller(kPiece, s.inner - channel);
        std::fill(sums, sums + n, C(0));
        for (int64_t a = x.first; a < x.last; ++a)
          for (int64_t b = y.first; b < y.last; ++b)
            for (int64_t c = z.first; c < z.last; ++c) {
              const T* g = from + ((a * s.out[1] + b) * s.out[2] + c) * s.inner + channel;
              const C by = divisors.rows(a, b) * divisors.width()[c];
              for (int64_t k = 0; k < n; ++k) sums[k] += static_cast<C>(g[k]) / by;
            }
        for (int64_t k = 0; k < n; ++k) to[channel + k] = static_cast<T>(sums[k]);
      }
    }
  });
}

template <class F> void by_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Int64: return f(int64_t{});
    case DType::Float16: return f(Half{});
    case DType::BFloat16: return f(BFloat16{});
    case DType::Float64: return f(double{});
    default: return f(float{});
  }
}

void mean(DType dtype, const PoolShape& s, PoolCount count, int64_t divisor, const void* in, void* out) {
  by_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    (s.inner == 1 ? mean_planes<T> : mean_channels<T>)(s, count, divisor, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

void mean_backward(DType dtype, const PoolShape& s, PoolCount count, int64_t divisor, const void* out, void* in) {
  by_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    (s.inner == 1 ? mean_planes_backward<T> : mean_channels_backward<T>)(s, count, divisor, static_cast<const T*>(out),
                                                                         static_cast<T*>(in));
  });
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS

namespace retrograd::cpu {

RG_EXPORT_KERNELS(PoolKernels, pool) = {
    .max = RG_LEVEL_NS::max_pool,
    .fractional_max = RG_LEVEL_NS::fractional_max_pool,
    .mean = RG_LEVEL_NS::mean,
    .mean_backward = RG_LEVEL_NS::mean_backward,
    .take = RG_LEVEL_NS::pool_take,
    .put = RG_LEVEL_NS::pool_put,
};

}  // namespace retrograd::cpu
