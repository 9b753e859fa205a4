// The transform of one line of complex numbers that lie together in memory. Internal to kernels/.
//
// Short ones are done number by number. Longer ones as a matrix n1 x n2, by columns and then by rows, with as many of these at once as there are
// lanes: from the columns j2 of in[j1 n2 + j2] come, times exp(-2 pi i j2 k1 / n), the rows k1 of which the transforms are out[k2 n1 + k1].
// A length with a large prime factor is a convolution (Bluestein): j k = (j^2 + k^2 - (k - j)^2) / 2, so
//   out[k] = c[k] * sum over j of (in[j] c[j]) conj(c[k - j]),     c[j] = exp(-pi i j^2 / n)
#pragma once

#include <algorithm>

#include "cpu/kernels/fft_lanes.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kShort = 24;      // up to this length: number by number
constexpr int64_t kLong = 1 << 15;  // from this length on: inside a line there is enough for several threads, and no table of all twiddles
constexpr int64_t kLineRadix = 13;  // the largest prime factor that is done as a pass, in a line that stands alone
constexpr int64_t kPointsPerTask = 8192;  // enough for a thread

template <class T> int64_t groups_of(int64_t n) { return (n + kLanes<T> - 1) / kLanes<T>; }

template <class T> struct Line {
  enum Kind { Short, Matrix, Convolution };
  int64_t n;
  Kind kind;
  std::shared_ptr<const Passes<T>> whole;          // Short
  int64_t n1 = 1, n2 = 1;                          // Matrix
  std::shared_ptr<const Passes<T>> first, second;  // of lengths n1 and n2
  // exp(-2 pi i j2 k1 / n) for the lanes of each group of columns and every k1; of a long line for the first group alone, by which those of the
  // others are found from `roots`.
  std::vector<T> twiddles;
  std::unique_ptr<Roots> roots;
  std::shared_ptr<const Line<T>> inner;  // Convolution: of length m
  std::vector<T> chirp, filter;          // c[j]; the transform of its conjugate, over m

  explicit Line(int64_t n) : n(n) {
    const std::vector<int> factors = radices(n);
    const bool smooth = n == 1 || (!factors.empty() && *std::max_element(factors.begin(), factors.end()) <= kLineRadix);
    for (int64_t d = 1; d * d <= n; ++d)
      if (n % d == 0) n1 = d;
    n2 = n / n1;
    kind = !smooth ? Convolution : n <= kShort || n1 < 3 ? Short : Matrix;
    if (kind == Short) whole = cached<Passes<T>>(n);
    if (kind == Matrix) make_matrix();
    if (kind == Convolution) make_convolution();
  }

  int64_t bytes() const { return static_cast<int64_t>((twiddles.size() + chirp.size() + filter.size()) * sizeof(T)) + 256; }
  // What transform() works in.
  int64_t workspace() const {
    switch (kind) {
      case Short: return 4 * n * static_cast<int64_t>(sizeof(T));
      case Matrix: return groups_of<T>(n1) * n2 * 2 * kBytes;
      case Convolution: return 2 * inner->n * static_cast<int64_t>(sizeof(T)) + inner->workspace();
    }
    return 0;
  }
  // in and out have n complex numbers; out may be in. work: on 64 bytes.
  void transform(const T* in, T* out, bool forward, T scale, char* work) const {
    switch (kind) {
      case Short: return number_by_number(in, out, forward, scale, reinterpret_cast<T*>(work));
      case Matrix: return as_matrix(in, out, forward, scale, reinterpret_cast<Vector<T>*>(work));
      case Convolution: return as_convolution(in, out, forward, scale, work);
    }
  }

 private:
  using V = Vector<T>;
  static constexpr int kWidth = kLanes<T>;

  void make_matrix() {
    if (n1 % kWidth && n2 % kWidth == 0) std::swap(n1, n2);  // no empty lanes in the second half, which does more
    first = cached<Passes<T>>(n1);
    second = cached<Passes<T>>(n2);
    if (n >= kLong) roots = std::make_unique<Roots>(n);
    for (int64_t g = 0; g < (roots ? 1 : groups_of<T>(n2)); ++g) {
      for (int64_t k1 = 0; k1 < n1; ++k1) {
        Root w[kWidth];
        for (int64_t i = 0; i < kWidth; ++i) w[i] = root((g * kWidth + i) * k1, n);
        for (const Root& r : w) twiddles.push_back(static_cast<T>(r.re));
        for (const Root& r : w) twiddles.push_back(static_cast<T>(r.im));
      }
    }
  }

  void make_convolution() {
    // The smallest length that will do and is quickly done.
    int64_t m = 0;
    for (const int64_t odd : {1, 3, 5, 9, 15}) {
      int64_t size = odd;
      while (size < 2 * n - 1) size *= 2;
      if (!m || size < m) m = size;
    }
    inner = cached<Line<T>>(m);
    std::vector<double> wide(static_cast<size_t>(2 * m)), spectrum(static_cast<size_t>(2 * m));
    for (int64_t j = 0, square = 0; j < n; ++j) {  // j^2 modulo 2 n
      const Root c = root(square, 2 * n);
      push(chirp, c);
      for (const int64_t at : {j, (m - j) % m}) {
        wide[static_cast<size_t>(2 * at)] = c.re;
        wide[static_cast<size_t>(2 * at + 1)] = -c.im;
      }
      square = (square + 2 * j + 1) % (2 * n);
    }
    const std::shared_ptr<const Line<double>> exact = cached<Line<double>>(m);
    const Room work(exact->workspace());
    exact->transform(wide.data(), spectrum.data(), true, 1 / static_cast<double>(m), work.as<char>());
    for (const double x : spectrum) filter.push_back(static_cast<T>(x));
  }

  void number_by_number(const T* in, T* out, bool forward, T scale, T* work) const {
    run(*whole, in, work, work + 2 * n, out, forward ? 0 : 1);
    if (scale != 1)
      for (int64_t i = 0; i < 2 * n; ++i) out[i] *= scale;
  }

  void as_matrix(const T* in, T* out, bool forward, T scale, V* work) const {
    const int backward = forward ? 0 : 1;
    parallel_for(0, groups_of<T>(n2), std::max<int64_t>(1, kPointsPerTask / (n1 * kWidth)), [&](int64_t begin, int64_t end) {
      const Room room(4 * n1 * kBytes);
      for (int64_t g = begin; g < end; ++g) columns(g, in, work, room.as<V>(), backward);
    });
    parallel_for(0, groups_of<T>(n1), std::max<int64_t>(1, kPointsPerTask / (n2 * kWidth)), [&](int64_t begin, int64_t end) {
      const Room room(4 * n2 * kBytes);
      for (int64_t h = begin; h < end; ++h) {
        const V* const done = run<V>(*second, work + h * n2 * 2, room.as<V>(), room.as<V>() + 2 * n2, nullptr, backward);
        store_lanes<2>(lanes_at(out, h, n1), done, n2, scale);
      }
    });
  }

  // The lanes of column group g of a matrix with rows of `length`.
  static Group<T> lanes_at(T* data, int64_t g, int64_t length) {
    Group<T> group;
    group.count = static_cast<int>(std::min<int64_t>(kWidth, length - g * kWidth));
    group.step = 2 * length;
    for (int i = 0; i < kWidth; ++i) group.at[i] = data + 2 * (g * kWidth + (i < group.count ? i : 0));
    return group;
  }

  // work holds groups of rows k1: for each j2 the elements of the group.
  void columns(int64_t g, const T* in, V* work, V* room, int backward) const {
    const Group<T> from = lanes_at(const_cast<T*>(in), g, n2);
    load_lanes<2>(room, from, n1);
    V* const done = run<V>(*first, room, room + 2 * n1, room, nullptr, backward);
    for (int64_t h = 0; h * kWidth < n1; ++h) {
      V re[kWidth], im[kWidth];
      for (int64_t i = 0; i < kWidth; ++i) {
        const int64_t k1 = h * kWidth + i;
        if (k1 >= n1) {
          re[i] = im[i] = V{};
          continue;
        }
        const Pair<V> x = times(Pair<V>{done[2 * k1 + backward], done[2 * k1 + 1 - backward]}, twiddle(g, k1));
        (backward ? im : re)[i] = x.re;
        (backward ? re : im)[i] = x.im;
      }
      transpose_tile<T>(re);
      transpose_tile<T>(im);
      V* to = work + 2 * (h * n2 + g * kWidth);
      for (int i = 0; i < from.count; ++i) {
        to[2 * i] = re[i];
        to[2 * i + 1] = im[i];
      }
    }
  }
  static Pair<V> times(Pair<V> a, Pair<V> b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  inline __attribute__((always_inline)) Pair<V> twiddle(int64_t g, int64_t k1) const {
    const T* at = twiddles.data() + 2 * kWidth * (roots ? k1 : g * n1 + k1);
    const Pair<V> w{load<V>(at), load<V>(at + kWidth)};
    if (!roots || g == 0) return w;
    const Root r = (*roots)(g * kWidth * k1 % n);
    return times(w, Pair<V>{V{} + static_cast<T>(r.re), V{} + static_cast<T>(r.im)});
  }

  void as_convolution(const T* in, T* out, bool forward, T scale, char* work) const {
    const int64_t m = inner->n;
    T* const y = reinterpret_cast<T*>(work);
    char* const rest = work + (2 * m * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    const T sign = forward ? 1 : -1;  // backward is the conjugate of the transform of the conjugate
    each(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T re = in[2 * i], im = in[2 * i + 1] * sign, c = chirp[2 * i], s = chirp[2 * i + 1];
        y[2 * i] = re * c - im * s;
        y[2 * i + 1] = re * s + im * c;
      }
    });
    std::fill(y + 2 * n, y + 2 * m, T{});
    inner->transform(y, y, true, 1, rest);
    each(m, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T re = y[2 * i], im = y[2 * i + 1], c = filter[2 * i], s = filter[2 * i + 1];
        y[2 * i] = re * c - im * s;
        y[2 * i + 1] = re * s + im * c;
      }
    });
    inner->transform(y, y, false, 1, rest);
    each(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T re = y[2 * i], im = y[2 * i + 1], c = chirp[2 * i], s = chirp[2 * i + 1];
        out[2 * i] = (re * c - im * s) * scale;
        out[2 * i + 1] = (re * s + im * c) * (scale * sign);
      }
    });
  }
  template <class F> static void each(int64_t n, F&& f) { parallel_for(0, n, 2 * kPointsPerTask, f); }
};

// ---- Lines of real numbers

// n real numbers to n / 2 + 1 complex ones, or to n. work: for the line of real_length(n), and behind it n complex numbers if n is odd.
inline int64_t real_length(int64_t n) { return n % 2 ? n : n / 2; }

template <class T> int64_t real_workspace(const Line<T>& line, int64_t n) {
  return (line.workspace() + 63) / 64 * 64 + (n % 2 ? 2 * n * static_cast<int64_t>(sizeof(T)) : 0);
}
template <class T> T* real_buffer(const Line<T>& line, char* work) {
  return reinterpret_cast<T*>(work + (line.workspace() + 63) / 64 * 64);
}

template <class T> void line_r2c(const Line<T>& line, const RealPlan<T>* plan, const T* in, T* out, int64_t n, bool all, T scale,
                                 char* work) {
  if (n % 2) {
    T* const z = real_buffer(line, work);
    for (int64_t i = 0; i < n; ++i) {
      z[2 * i] = in[i];
      z[2 * i + 1] = 0;
    }
    line.transform(z, z, true, scale, work);
    std::copy(z, z + 2 * (n / 2 + 1), out);
    out[1] = 0;
  } else {
    line.transform(in, out, true, scale, work);
    parallel_for(0, n / 4 + 1, kPointsPerTask,
                 [&](int64_t begin, int64_t end) { split_real(out, n / 2, plan->twiddles.data(), begin, end); });
  }
  if (all) mirror(out, n);
}

template <class T> void line_c2r(const Line<T>& line, const RealPlan<T>* plan, const T* in, T* out, int64_t n, T scale, char* work) {
  if (n % 2) {
    T* const z = real_buffer(line, work);
    std::copy(in, in + 2 * (n / 2 + 1), z);
    z[1] = 0;
    mirror(z, n);
    line.transform(z, z, false, scale, work);
    for (int64_t i = 0; i < n; ++i) out[i] = z[2 * i];
  } else {
    parallel_for(0, n / 4 + 1, kPointsPerTask,
                 [&](int64_t begin, int64_t end) { join_real(out, in, n / 2, plan->twiddles.data(), begin, end); });
    line.transform(out, out, false, scale, work);
  }
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
