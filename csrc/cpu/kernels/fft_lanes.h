// Transforms of several lines at once, one in each lane of the vectors. The elements of a line are pairs of vectors, real parts and imaginary
// parts; with V = T it is one line, laid out as complex numbers are. Internal to kernels/.
//
// Everything is written for the forward direction. Backward is the same with real and imaginary parts exchanged, going in and coming out:
// `first` is the place of what counts as the real part, 0 forward and 1 backward.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "cpu/kernels/fft_plan.h"
#include "cpu/kernels/transpose.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // the vectors are passed between functions of this file only

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int kBytes = retrograd::cpu::kVectorBytes;  // that of transpose.h: all there is
template <class T> constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
template <class T> struct VectorOf { typedef T type __attribute__((vector_size(kBytes))); };
template <class T> using Vector = typename VectorOf<T>::type;
template <class T> using Tile = Square<T, kLanes<T>>;

template <class V> V load(const void* at) {
  V v;
  std::memcpy(&v, at, sizeof(V));
  return v;
}
template <class V> void store(void* at, V v) { std::memcpy(at, &v, sizeof(V)); }

template <class T, size_t... I> Vector<T> evens(Vector<T> a, Vector<T> b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I)...);
}
template <class T, size_t... I> Vector<T> odds(Vector<T> a, Vector<T> b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + 1)...);
}
template <class T> constexpr auto kAll = std::make_index_sequence<static_cast<size_t>(kLanes<T>)>{};

// ---- Sums of a few elements

template <class V> struct Pair { V re, im; };
template <class V> inline Pair<V> operator+(Pair<V> a, Pair<V> b) { return {a.re + b.re, a.im + b.im}; }
template <class V> inline Pair<V> operator-(Pair<V> a, Pair<V> b) { return {a.re - b.re, a.im - b.im}; }
template <class V> inline Pair<V> minus_i(Pair<V> a) { return {a.im, -a.re}; }
template <class V, class S> inline Pair<V> times(Pair<V> a, S re, S im) { return {a.re * re - a.im * im, a.re * im + a.im * re}; }

template <class V> inline __attribute__((always_inline)) void four(Pair<V>& a, Pair<V>& b, Pair<V>& c, Pair<V>& d) {
  const Pair<V> t = a + c, u = a - c, v = b + d, w = minus_i(b - d);
  a = t + v;
  b = u + w;
  c = t - v;
  d = u - w;
}

// x becomes its transform. roots: those of R, for odd R.
template <int R, class V, class T> inline __attribute__((always_inline)) void transform(Pair<V>* x, [[maybe_unused]] const T* roots) {
  if constexpr (R == 2) {
    const Pair<V> a = x[0];
    x[0] = a + x[1];
    x[1] = a - x[1];
  } else if constexpr (R == 4) {
    four(x[0], x[1], x[2], x[3]);
  } else if constexpr (R == 8) {
    const T half = static_cast<T>(0.70710678118654752440);
    Pair<V> e[4], o[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      e[i] = x[i] + x[i + 4];
      o[i] = x[i] - x[i + 4];
    }
    o[1] = {(o[1].re + o[1].im) * half, (o[1].im - o[1].re) * half};
    o[2] = minus_i(o[2]);
    o[3] = {(o[3].im - o[3].re) * half, -(o[3].re + o[3].im) * half};
    four(e[0], e[1], e[2], e[3]);
    four(o[0], o[1], o[2], o[3]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = e[i];
      x[2 * i + 1] = o[i];
    }
  } else {  // odd: elements j and R - j go together
    constexpr int half = R / 2;
    Pair<V> sum[half], difference[half], all = x[0];
#pragma GCC unroll 8
    for (int j = 0; j < half; ++j) {
      sum[j] = x[j + 1] + x[R - 1 - j];
      difference[j] = x[j + 1] - x[R - 1 - j];
      all = all + sum[j];
    }
    const Pair<V> zeroth = x[0];
    x[0] = all;
#pragma GCC unroll 8
    for (int k = 1; k <= half; ++k) {
      Pair<V> a = zeroth, b{};
#pragma GCC unroll 8
      for (int j = 0; j < half; ++j) {
        const T c = roots[2 * ((j + 1) * k % R)], s = roots[2 * ((j + 1) * k % R) + 1];  // s is that of -i sin
        a = {a.re + sum[j].re * c, a.im + sum[j].im * c};
        b = {b.re - difference[j].im * s, b.im + difference[j].re * s};
      }
      x[k] = a + b;
      x[R - k] = a - b;
    }
  }
}

// ---- Passes

template <int R, bool kTwiddle, class V, class T>
inline __attribute__((always_inline)) void sums(const V* in, V* out, int64_t step, int64_t s, const T* twiddles, const T* roots,
                                                int first) {
  const V *re = in + first, *im = in + 1 - first;
  V *out_re = out + first, *out_im = out + 1 - first;
  for (int64_t q = 0; q < 2 * s; q += 2) {
    Pair<V> x[R];
#pragma GCC unroll 16
    for (int j = 0; j < R; ++j) x[j] = {re[q + j * step], im[q + j * step]};
    transform<R>(x, roots);
#pragma GCC unroll 16
    for (int k = 0; k < R; ++k) {
      if (kTwiddle && k) x[k] = times(x[k], twiddles[2 * k - 2], twiddles[2 * k - 1]);
      out_re[q + 2 * k * s] = x[k].re;
      out_im[q + 2 * k * s] = x[k].im;
    }
  }
}

template <int R, class V, class T>
void pass(const V* in, V* out, int64_t m, int64_t s, const T* twiddles, const T* roots, int first) {
  sums<R, false>(in, out, 2 * s * m, s, twiddles, roots, first);
  for (int64_t p = 1; p < m; ++p, twiddles += 2 * (R - 1))
    sums<R, true>(in + 2 * s * p, out + 2 * s * R * p, 2 * s * m, s, twiddles, roots, first);
}

// Any odd radix.
template <class V, class T>
void pass_of(int radix, const V* in, V* out, int64_t m, int64_t s, const T* twiddles, const T* roots, int first) {
  Pair<V> sum[kLargestRadix / 2], difference[kLargestRadix / 2];
  const int half = radix / 2;
  for (int64_t p = 0; p < m; ++p) {
    for (int64_t q = 0; q < s; ++q) {
      const auto at = [&](int j) {
        const V* x = in + 2 * (q + s * (p + m * j));
        return Pair<V>{x[first], x[1 - first]};
      };
      const auto put = [&](int k, Pair<V> y) {
        if (p && k) {
          const T* w = twiddles + 2 * ((p - 1) * (radix - 1) + k - 1);
          y = times(y, w[0], w[1]);
        }
        V* to = out + 2 * (q + s * (radix * p + k));
        to[first] = y.re;
        to[1 - first] = y.im;
      };
      const Pair<V> zeroth = at(0);
      Pair<V> all = zeroth;
      for (int j = 0; j < half; ++j) {
        const Pair<V> x = at(j + 1), y = at(radix - 1 - j);
        sum[j] = x + y;
        difference[j] = x - y;
        all = all + sum[j];
      }
      put(0, all);
      for (int k = 1; k <= half; ++k) {
        Pair<V> a = zeroth, b{};
        for (int j = 0, e = k; j < half; ++j, e += k) {
          if (e >= radix) e -= radix;
          const T c = roots[2 * e], w = roots[2 * e + 1];
          a = {a.re + sum[j].re * c, a.im + sum[j].im * c};
          b = {b.re - difference[j].im * w, b.im + difference[j].re * w};
        }
        put(k, a + b);
        put(radix - k, a - b);
      }
    }
  }
}

// The transform of `in`, in a, b or, if it is not null, in `out`: it says where. a and b have room for n elements each; `in` may be b, and
// `out` may be `in`.
template <class V, class T> V* run(const Passes<T>& plan, const V* in, V* a, V* b, V* out, int first) {
  const size_t count = plan.passes.size();
  if (!count) {  // n is 1
    V* const to = out ? out : a;
    const V re = in[0], im = in[1];
    to[0] = re;
    to[1] = im;
    return to;
  }
  for (size_t i = 0; i < count; ++i) {
    const auto& p = plan.passes[i];
    const T *twiddles = plan.numbers.data() + p.twiddles, *roots = plan.numbers.data() + p.roots;
    V* const to = out && i + 1 == count ? out : a;
    switch (p.radix) {
      case 2: pass<2>(in, to, p.m, p.s, twiddles, roots, first); break;
      case 3: pass<3>(in, to, p.m, p.s, twiddles, roots, first); break;
      case 4: pass<4>(in, to, p.m, p.s, twiddles, roots, first); break;
      case 5: pass<5>(in, to, p.m, p.s, twiddles, roots, first); break;
      case 7: pass<7>(in, to, p.m, p.s, twiddles, roots, first); break;
      case 8: pass<8>(in, to, p.m, p.s, twiddles, roots, first); break;
      default: pass_of(p.radix, in, to, p.m, p.s, twiddles, roots, first);
    }
    in = to;
    std::swap(a, b);
  }
  return const_cast<V*>(in);
}

// ---- Between memory and lanes

// Lines in memory, one for each lane: where they begin, and how far apart their elements are, counted in T. Lanes that are not used read
// the first line once more.
template <class T> struct Group {
  T* at[kLanes<T>];
  int count;
  int64_t step;
  // Whether neighbours in a line, or in a row across the lanes, touch. An element is `width` T.
  bool rows(int width) const { return step == width; }
  bool columns(int width) const {
    if (count < kLanes<T>) return false;
    for (int i = 1; i < count; ++i)
      if (at[i] - at[0] != i * width) return false;
    return true;
  }
};

template <class T> inline __attribute__((always_inline)) void transpose_tile(Vector<T>* v) {
  constexpr int side = kLanes<T>;
  Vector<T> w[side];
#pragma GCC unroll 4
  for (int stage = 1; stage < side; stage *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < side / 2; ++i) {
      w[2 * i] = Tile<T>::low(v[i], v[i + side / 2], kAll<T>);
      w[2 * i + 1] = Tile<T>::high(v[i], v[i + side / 2], kAll<T>);
    }
#pragma GCC unroll 16
    for (int i = 0; i < side; ++i) v[i] = w[i];
  }
}

// n elements of `width` T, 1 or 2, of each line.
template <int width, class T> void load_lanes(Vector<T>* to, const Group<T>& from, int64_t n) {
  using V = Vector<T>;
  constexpr int lanes = kLanes<T>;
  if (from.rows(width)) {
    int64_t k = 0;
    for (; k + lanes <= n * width; k += lanes) {
      V v[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) v[i] = load<V>(from.at[i] + k);
      transpose_tile<T>(v);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) to[k + i] = v[i];
    }
    for (; k < n * width; ++k)
      for (int i = 0; i < lanes; ++i) to[k][i] = from.at[i][k];
  } else if (from.columns(width)) {
    const T* at = from.at[0];
    for (int64_t k = 0; k < n; ++k, at += from.step) {
      if constexpr (width == 1) {
        to[k] = load<V>(at);
      } else {
        const V a = load<V>(at), b = load<V>(at + lanes);
        to[2 * k] = evens<T>(a, b, kAll<T>);
        to[2 * k + 1] = odds<T>(a, b, kAll<T>);
      }
    }
  } else {
    for (int64_t k = 0; k < n; ++k)
      for (int i = 0; i < lanes; ++i)
        for (int c = 0; c < width; ++c) to[width * k + c][i] = from.at[i][k * from.step + c];
  }
}

template <int width, class T> void store_lanes(const Group<T>& to, const Vector<T>* from, int64_t n, T scale) {
  using V = Vector<T>;
  constexpr int lanes = kLanes<T>;
  if (to.rows(width)) {
    int64_t k = 0;
    for (; k + lanes <= n * width; k += lanes) {
      V v[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) v[i] = from[k + i] * scale;
      transpose_tile<T>(v);
      if (to.count == lanes) {
#pragma GCC unroll 16
        for (int i = 0; i < lanes; ++i) store(to.at[i] + k, v[i]);
      } else {
        for (int i = 0; i < to.count; ++i) store(to.at[i] + k, v[i]);
      }
    }
    for (; k < n * width; ++k)
      for (int i = 0; i < to.count; ++i) to.at[i][k] = from[k][i] * scale;
  } else if (to.columns(width)) {
    T* at = to.at[0];
    for (int64_t k = 0; k < n; ++k, at += to.step) {
      if constexpr (width == 1) {
        store(at, from[k] * scale);
      } else {
        const V re = from[2 * k] * scale, im = from[2 * k + 1] * scale;
        store(at, Tile<T>::low(re, im, kAll<T>));
        store(at + lanes, Tile<T>::high(re, im, kAll<T>));
      }
    }
  } else {
    for (int64_t k = 0; k < n; ++k)
      for (int i = 0; i < to.count; ++i)
        for (int c = 0; c < width; ++c) to.at[i][k * to.step + c] = from[width * k + c][i] * scale;
  }
}

// ---- Real numbers as complex ones of half the length

// exp(-2 pi i k / n) for k up to n / 4.
template <class T> struct RealPlan {
  std::vector<T> twiddles;
  explicit RealPlan(int64_t n) {
    for (int64_t k = 0; k <= n / 4; ++k) push(twiddles, root(k, n));
  }
  int64_t bytes() const { return static_cast<int64_t>(twiddles.size() * sizeof(T)); }
};

// z, the transform of h complex numbers that are 2 h real ones, becomes h + 1 elements of the transform of these. For k in [begin, end)
// and the h - k that go with them; [0, h / 2 + 1) is all.
template <class V, class T> void split_real(V* z, int64_t h, const T* twiddles, int64_t begin, int64_t end) {
  if (begin == 0) {
    const V re = z[0], im = z[1];
    z[0] = re + im;
    z[2 * h] = re - im;
    z[1] = z[2 * h + 1] = V{};
    begin = 1;
  }
  const T half = static_cast<T>(0.5);
  for (int64_t k = begin; k < end; ++k) {
    V *at = z + 2 * k, *mirror = z + 2 * (h - k);
    const Pair<V> a{at[0], at[1]}, b{mirror[0], -mirror[1]};
    const Pair<V> even{(a.re + b.re) * half, (a.im + b.im) * half}, d{(a.re - b.re) * half, (a.im - b.im) * half};
    const Pair<V> odd = minus_i(times(d, twiddles[2 * k], twiddles[2 * k + 1]));
    at[0] = even.re + odd.re;
    at[1] = even.im + odd.im;
    mirror[0] = even.re - odd.re;
    mirror[1] = odd.im - even.im;
  }
}

// The reverse but for a factor of 2, from x to z; x may be z.
template <class V, class T> void join_real(V* z, const V* x, int64_t h, const T* twiddles, int64_t begin, int64_t end) {
  if (begin == 0) {
    const V a = x[0], b = x[2 * h];
    z[0] = a + b;
    z[1] = a - b;
    begin = 1;
  }
  for (int64_t k = begin; k < end; ++k) {
    const V *at = x + 2 * k, *mirror = x + 2 * (h - k);
    const Pair<V> a{at[0], at[1]}, b{mirror[0], -mirror[1]};
    const Pair<V> even = a + b, d = a - b;
    const Pair<V> turned = times(d, twiddles[2 * k], -twiddles[2 * k + 1]), odd{-turned.im, turned.re};
    V *to = z + 2 * k, *to_mirror = z + 2 * (h - k);
    to[0] = even.re + odd.re;
    to[1] = even.im + odd.im;
    to_mirror[0] = even.re - odd.re;
    to_mirror[1] = odd.im - even.im;
  }
}

// The elements of a transform of n real numbers behind the first n / 2 + 1.
template <class V> void mirror(V* z, int64_t n) {
  for (int64_t k = n / 2 + 1; k < n; ++k) {
    z[2 * k] = z[2 * (n - k)];
    z[2 * k + 1] = -z[2 * (n - k) + 1];
  }
}

// ---- Memory to work in

// A thread keeps a little, of which it takes from the top; more comes from the heap.
struct Kept {
  char* data = nullptr;
  size_t used = 0;
  ~Kept() { std::free(data); }
};
class Room {
 public:
  explicit Room(int64_t bytes) {
    constexpr size_t kept = 3 << 20;
    const size_t size = (static_cast<size_t>(bytes) + 63) / 64 * 64;
    if (!mine_.data) mine_.data = static_cast<char*>(std::aligned_alloc(64, kept));
    if (mine_.data && mine_.used + size <= kept) {
      data_ = mine_.data + mine_.used;
      taken_ = size;
      mine_.used += size;
    } else {
      data_ = static_cast<char*>(std::aligned_alloc(64, size));
      if (!data_) throw std::bad_alloc();
    }
  }
  ~Room() {
    mine_.used -= taken_;
    if (!taken_) std::free(data_);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  template <class P> P* as() const { return reinterpret_cast<P*>(data_); }

 private:
  static inline thread_local Kept mine_;
  char* data_;
  size_t taken_ = 0;
};

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
