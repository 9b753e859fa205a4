// The largest elements of windows and their places; elements taken from places and put there.
//
// A row of results is found in two steps: the best of each column, whole rows at a time, and then the best of the columns of each window. Short
// rows are taken window by window. Where channels are innermost, they are what passes go over.
#include "cpu/kernels/pool_max.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "cpu/kernels/pool_windows.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kPiece = 512;                                           // results of a row that are computed together
constexpr int64_t kFew = 32;                                              // columns of short rows
constexpr int64_t kSmallPlane = std::numeric_limits<int32_t>::max() - 1;  // whose places fit 32 bits

template <class C> constexpr C kLowest =
    std::numeric_limits<C>::has_infinity ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::lowest();

// Whether v comes before the best so far: the first of equal ones stays, the last nan wins.
template <class C> [[gnu::always_inline]] inline bool wins(C v, C best) { return (v > best) | (v != v); }

template <class T> struct Best {
  compute_t<T> value = kLowest<compute_t<T>>;
  int64_t place = -1;
};

// One window of a plane whose elements are `step` apart.
template <class T> Best<T> best_of(const PoolShape& s, const T* plane, int64_t step, const Window& x, const Window& y, const Window& z) {
  using C = compute_t<T>;
  Best<T> best;
  if (x.empty() || y.empty() || z.empty()) return best;
  best.place = (x.start * s.in[1] + y.start) * s.in[2] + z.start;
  for (int64_t i = x.start; i < x.end; i += x.step)
    for (int64_t j = y.start; j < y.end; j += y.step) {
      const int64_t row = (i * s.in[1] + j) * s.in[2];
      for (int64_t k = z.start; k < z.end; k += z.step) {
        const C v = static_cast<C>(plane[(row + k) * step]);
        if (wins(v, best.value)) best = {v, row + k};
      }
    }
  return best;
}

// ---- rows: first down the columns, then along ----

// What is better of equal numbers is what comes first, and of nans what comes last.
template <class C> [[gnu::always_inline]] inline bool wins(C v, int32_t place, C best, int32_t at) {
  const bool equal = (v == best) & (place < at), odd = (v != v) & ((best == best) | (place > at));
  return (v > best) | equal | odd;
}

// The best of columns [from, to) over the rows of a window.
template <class T> void down_columns(const PoolShape& s, const T* plane, const Window& x, const Window& y, int64_t from, int64_t to,
                                     compute_t<T>* best, int32_t* at) {
  using C = compute_t<T>;
  const int32_t n = static_cast<int32_t>(to - from);
  bool first = true;
  for (int64_t i = x.start; i < x.end; i += x.step)
    for (int64_t j = y.start; j < y.end; j += y.step) {
      const int64_t start = (i * s.in[1] + j) * s.in[2] + from;
      const T* row = plane + start;
      const int32_t place = static_cast<int32_t>(start);
      if (first) {
        for (int32_t c = 0; c < n; ++c) {
          best[c] = static_cast<C>(row[c]);
          at[c] = place + c;
        }
      } else {
        for (int32_t c = 0; c < n; ++c) {
          const C v = static_cast<C>(row[c]);
          const bool better = wins(v, best[c]);
          best[c] = better ? v : best[c];
          at[c] = better ? place + c : at[c];
        }
      }
      first = false;
    }
}

template <class C, int kStride> void along_tap(const C* columns, const int32_t* places, int64_t stride, int64_t lo, int64_t hi, C* best,
                                               int32_t* at) {
  const int64_t step = kStride ? kStride : stride;
  for (int64_t o = lo; o < hi; ++o) {
    const C v = columns[o * step];
    const int32_t place = places[o * step];
    const bool better = wins(v, place, best[o], at[o]);
    best[o] = better ? v : best[o];
    at[o] = better ? place : at[o];
  }
}

template <class T> class MaxRows {
  using C = compute_t<T>;

 public:
  explicit MaxRows(const PoolShape& s)
      : s_(s),
        taps_(s.adaptive ? Taps{} : taps_of(s)),
        piece_(piece_of(s, kPiece)),
        columns_(columns_of(s, piece_)),
        places_(columns_of(s, piece_)) {}

  void row(const T* plane, const Window& x, const Window& y, Windows& windows, T* out, int64_t* places) {
    for (int64_t from = 0; from < s_.out[2]; from += piece_) {
      const int64_t n = smaller(piece_, s_.out[2] - from), first = first_column(s_, from),
                    last = larger(first, windows.width(from + n - 1).end);
      down_columns(s_, plane, x, y, first, last, columns_.data(), places_.data());
      std::fill(best_, best_ + n, kLowest<C>);
      std::fill(at_, at_ + n, kNowhere);
      if (s_.adaptive) {
        along_windows(windows, from, n, first);
      } else {
        along_taps(from, n, first);
      }
      for (int64_t o = 0; o < n; ++o) {
        out[from + o] = static_cast<T>(best_[o]);
        places[from + o] = at_[o] == kNowhere ? -1 : at_[o];
      }
    }
  }

 private:
  static constexpr int32_t kNowhere = std::numeric_limits<int32_t>::max();

  void along_windows(Windows& windows, int64_t from, int64_t n, int64_t first) {
    for (int64_t o = 0; o < n; ++o) {
      const Window z = windows.width(from + o);
      for (int64_t c = z.start - first; c < z.end - first; ++c)
        if (wins(columns_[c], places_[c], best_[o], at_[o])) {
          best_[o] = columns_[c];
          at_[o] = places_[c];
        }
    }
  }
  void along_taps(int64_t from, int64_t n, int64_t first) {
    const auto each = [&](auto stride) {
      for (int64_t k = taps_.first; k < taps_.last; ++k) {
        const Reach r = reach_of(s_, k);
        const int64_t start = from * s_.stride[2] + r.start - first;
        along_tap<C, stride>(columns_.data() + start, places_.data() + start, s_.stride[2], larger(r.lo - from, 0), smaller(r.hi - from, n),
                             best_, at_);
      }
    };
    if constexpr (std::is_floating_point_v<C>) {
      by_stride(s_.stride[2], each);
    } else {
      each(std::integral_constant<int, 0>{});
    }
  }

  const PoolShape& s_;
  const Taps taps_;
  const int64_t piece_;
  Line<C, kNear> columns_;
  Line<int32_t, kNear> places_;
  C best_[kPiece];
  int32_t at_[kPiece];
};

// ---- small planes: tap after tap, over all windows of a plane ----

bool is_small(const PoolShape& s) { return s.in[2] < kFew && s.in_plane() <= kSmallPlane && s.out_plane() <= kPiece && are_whole(s); }

template <class T> void max_small_planes(const PoolShape& s, const T* in, T* out, int64_t* places) {
  using C = compute_t<T>;
  const int64_t in_plane = s.in_plane(), plane = s.out_plane();
  int32_t starts[kPiece];
  window_starts(s, starts);
  parallel_for(0, s.outer, larger(1, kGrain / in_plane), [&](int64_t begin, int64_t end) {
    C best[kPiece];
    int32_t at[kPiece];
    for (int64_t p = begin; p < end; ++p) {
      const T* const from = in + p * in_plane;
      for (int64_t o = 0; o < plane; ++o) best[o] = static_cast<C>(from[starts[o]]), at[o] = starts[o];
      for (int64_t i = 0; i < s.kernel[0]; ++i)
        for (int64_t j = 0; j < s.kernel[1]; ++j)
          for (int64_t k = 0; k < s.kernel[2]; ++k) {
            const int64_t tap = (i * s.dilation[0] * s.in[1] + j * s.dilation[1]) * s.in[2] + k * s.dilation[2];
            if (tap == 0) continue;
            const T* const here = from + tap;
            for (int64_t o = 0; o < plane; ++o) {
              const C v = static_cast<C>(here[starts[o]]);
              const bool better = wins(v, best[o]);
              best[o] = better ? v : best[o];
              at[o] = better ? starts[o] + static_cast<int32_t>(tap) : at[o];
            }
          }
      for (int64_t o = 0; o < plane; ++o) {
        out[p * plane + o] = static_cast<T>(best[o]);
        places[p * plane + o] = at[o];
      }
    }
  });
}

template <class T> void max_planes(const PoolShape& s, const T* in, T* out, int64_t* places) {
  if (is_small(s)) return max_small_planes(s, in, out, places);
  Windows windows(s);
  const int64_t rows = s.out[0] * s.out[1], in_plane = s.in_plane();
  const bool one_by_one = s.in[2] < kFew || in_plane > kSmallPlane;
  parallel_for(0, s.outer * rows, larger(1, kGrain / larger(1, in_plane / rows)), [&](int64_t begin, int64_t end) {
    MaxRows<T> maxima(s);
    for (int64_t i = begin; i < end; ++i) {
      const T* plane = in + i / rows * in_plane;
      const Window x = windows.depth(i % rows / s.out[1]), y = windows.height(i % rows % s.out[1]);
      T* to = out + i * s.out[2];
      int64_t* at = places + i * s.out[2];
      if (!one_by_one && !x.empty() && !y.empty()) {
        maxima.row(plane, x, y, windows, to, at);
        continue;
      }
      for (int64_t o = 0; o < s.out[2]; ++o) {
        const auto best = best_of(s, plane, 1, x, y, windows.width(o));
        to[o] = static_cast<T>(best.value);
        at[o] = best.place;
      }
    }
  });
}

// ---- channels innermost ----

// Sixteen channels at a time, whose best stay in registers from tap to tap.
constexpr int kTogether = 16;
typedef float Floats __attribute__((vector_size(kTogether * sizeof(float))));
typedef int32_t Places __attribute__((vector_size(kTogether * sizeof(int32_t))));
typedef int64_t WidePlaces __attribute__((vector_size(kTogether * sizeof(int64_t))));

// One window of the first channels that fill such vectors; how many those are.
int64_t best_of_vectors(const PoolShape& s, const float* from, int64_t count, const Window& x, const Window& y, const Window& z, float* out,
                        int64_t* places) {
  const int64_t whole = count - count % kTogether;
  const int32_t first = static_cast<int32_t>((x.start * s.in[1] + y.start) * s.in[2] + z.start);
  for (int64_t c = 0; c < whole; c += kTogether) {
    Floats best = Floats{} + kLowest<float>;
    Places at = Places{} + first;
    for (int64_t i = x.start; i < x.end; i += x.step)
      for (int64_t j = y.start; j < y.end; j += y.step)
        for (int64_t k = z.start; k < z.end; k += z.step) {
          const int64_t place = (i * s.in[1] + j) * s.in[2] + k;
          Floats v;
          __builtin_memcpy(&v, from + place * s.inner + c, sizeof v);
          const Places better = (v > best) | (v != v);
          best = better ? v : best;
          at = better ? Places{} + static_cast<int32_t>(place) : at;
        }
    __builtin_memcpy(out + c, &best, sizeof best);
    const WidePlaces wide = __builtin_convertvector(at, WidePlaces);
    __builtin_memcpy(places + c, &wide, sizeof wide);
  }
  return whole;
}

// One window of some channels.
template <class T>
void best_of_channels(const PoolShape& s, const T* from, int64_t count, const Window& x, const Window& y, const Window& z, T* out,
                      int64_t* places) {
  if constexpr (std::is_same_v<T, float>) {
    const int64_t done = best_of_vectors(s, from, count, x, y, z, out, places);
    from += done, count -= done, out += done, places += done;
    if (count == 0) return;
  }
  using C = compute_t<T>;
  C best[kPiece];
  int32_t at[kPiece];
  std::fill(best, best + count, kLowest<C>);
  std::fill(at, at + count, static_cast<int32_t>((x.start * s.in[1] + y.start) * s.in[2] + z.start));
  for (int64_t i = x.start; i < x.end; i += x.step)
    for (int64_t j = y.start; j < y.end; j += y.step)
      for (int64_t k = z.start; k < z.end; k += z.step) {
        const int64_t place = (i * s.in[1] + j) * s.in[2] + k;
        const int32_t here = static_cast<int32_t>(place);
        const T* v = from + place * s.inner;
        for (int64_t c = 0; c < count; ++c) {
          const C value = static_cast<C>(v[c]);
          const bool better = wins(value, best[c]);
          best[c] = better ? value : best[c];
          at[c] = better ? here : at[c];
        }
      }
  for (int64_t c = 0; c < count; ++c) {
    out[c] = static_cast<T>(best[c]);
    places[c] = at[c];
  }
}

template <class T> void max_channels(const PoolShape& s, const T* in, T* out, int64_t* places) {
  Windows windows(s);
  const int64_t plane = s.out_plane(), in_plane = s.in_plane(), pieces = (s.inner + kPiece - 1) / kPiece;
  const int64_t work = larger(1, in_plane * s.inner / (plane * pieces));
  parallel_for(0, s.outer * plane * pieces, larger(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / pieces, channel = i % pieces * kPiece, count = smaller(kPiece, s.inner - channel), p = o % plane;
      const T* from = in + o / plane * in_plane * s.inner + channel;
      const Window x = windows.depth(p / s.out[2] / s.out[1]), y = windows.height(p / s.out[2] % s.out[1]), z = windows.width(p % s.out[2]);
      T* to = out + o * s.inner + channel;
      int64_t* at = places + o * s.inner + channel;
      if (in_plane <= kSmallPlane && !x.empty() && !y.empty() && !z.empty()) {
        best_of_channels(s, from, count, x, y, z, to, at);
        continue;
      }
      for (int64_t c = 0; c < count; ++c) {
        const Best<T> best = best_of(s, from + c, s.inner, x, y, z);
        to[c] = static_cast<T>(best.value);
        at[c] = best.place;
      }
    }
  });
}

// ---- windows that begin anywhere ----

// Where window i of `out` begins along an axis: as far apart as they can be on average, and shifted by the sample. Each step is rounded to the
// dtype, as PyTorch does it.
template <class T> int64_t drawn_start(T sample, int64_t i, int64_t in, int64_t out, int64_t kernel) {
  using C = compute_t<T>;
  if (i == out - 1) return in - kernel;
  const auto rounded = [](C x) { return static_cast<C>(static_cast<T>(x)); };
  const C shift = static_cast<C>(sample), last = static_cast<C>(in - kernel);
  const C apart = rounded(rounded(last) / rounded(static_cast<C>(out - 1)));
  const C start = std::trunc(rounded(rounded(static_cast<C>(i) + shift) * apart)) - std::trunc(rounded(shift * apart));
  return start >= 0 ? smaller(static_cast<int64_t>(start < last ? start : last), in - kernel) : 0;  // 0 for nan too
}

template <class T>
void fractional_planes(const PoolShape& s, const T* in, const T* samples, int dims, bool last_first, T* out, int64_t* places) {
  const int64_t in_plane = s.in_plane(), out_plane = s.out_plane();
  parallel_for(0, s.outer, larger(1, kGrain / in_plane), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const auto drawn = [&](int d, int64_t o) -> Window {
        const int k = last_first ? 2 - d : d - (3 - dims);
        const int64_t start = d < 3 - dims ? 0 : drawn_start<T>(samples[p * dims + k], o, s.in[d], s.out[d], s.kernel[d]);
        return {start, start + s.kernel[d], 1};
      };
      Line<Window, 32> columns(s.out[2]);
      for (int64_t o = 0; o < s.out[2]; ++o) columns[o] = drawn(2, o);
      int64_t at = p * out_plane;
      for (int64_t i = 0; i < s.out[0]; ++i) {
        const Window x = drawn(0, i);
        for (int64_t j = 0; j < s.out[1]; ++j) {
          const Window y = drawn(1, j);
          for (int64_t k = 0; k < s.out[2]; ++k, ++at) {
            const auto best = best_of(s, in + p * in_plane, 1, x, y, columns[k]);
            out[at] = static_cast<T>(best.value);
            places[at] = best.place;
          }
        }
      }
    }
  });
}

// ---- places ----

// The first place, in the order of memory, that is outside: kept by several threads.
class FirstBad {
 public:
  void note(int64_t at) {
    int64_t first = at_.load(std::memory_order_relaxed);
    while (at < first && !at_.compare_exchange_weak(first, at, std::memory_order_relaxed)) {}
  }
  void report(const int64_t* places, int64_t size, IndexError* error) const {
    const int64_t at = at_.load(std::memory_order_relaxed);
    if (at != std::numeric_limits<int64_t>::max()) *error = {false, 0, places[at], size};
  }

 private:
  std::atomic<int64_t> at_{std::numeric_limits<int64_t>::max()};
};

template <class T> void take_as(const PoolShape& s, const T* in, const int64_t* places, T* out, IndexError* error) {
  const int64_t in_plane = s.in_plane(), out_plane = s.out_plane(), each = out_plane * s.inner;
  FirstBad bad;
  parallel_for(0, s.outer, larger(1, kGrain / each), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const T* from = in + p * in_plane * s.inner;
      for (int64_t i = p * each, k = 0; i < (p + 1) * each; ++i) {
        const int64_t place = places[i];
        if (static_cast<uint64_t>(place) < static_cast<uint64_t>(in_plane)) [[likely]] {
          out[i] = from[place * s.inner + k];
        } else {
          out[i] = T{};
          if (place != -1) bad.note(i);
        }
        if (++k == s.inner) k = 0;
      }
    }
  });
  bad.report(places, in_plane, error);
}

// Channels [first, last) of one plane.
template <class T, bool kAssign>
void put_plane(const PoolShape& s, const T* out, const int64_t* places, T* in, int64_t base, int64_t first, int64_t last, FirstBad& bad) {
  using C = compute_t<T>;
  const int64_t in_plane = s.in_plane(), out_plane = s.out_plane();
  if (last - first == s.inner) {
    std::fill(in, in + in_plane * s.inner, T{});
  } else {
    for (int64_t i = 0; i < in_plane; ++i) std::fill(in + i * s.inner + first, in + i * s.inner + last, T{});
  }
  for (int64_t p = 0; p < out_plane; ++p)
    for (int64_t k = first; k < last; ++k) {
      const int64_t i = p * s.inner + k, place = places[i];
      if (static_cast<uint64_t>(place) < static_cast<uint64_t>(in_plane)) [[likely]] {
        T& to = in[place * s.inner + k];
        to = kAssign ? out[i] : static_cast<T>(static_cast<C>(to) + static_cast<C>(out[i]));
      } else if (kAssign || place != -1) {
        bad.note(base + i);
      }
    }
}

template <class T> void put_as(const PoolShape& s, const T* out, const int64_t* places, bool assign, T* in, IndexError* error) {
  constexpr int64_t kChannels = 64;  // of a task, where there are many: narrower strips lie too far apart
  const int64_t in_plane = s.in_plane(), out_plane = s.out_plane(), pieces = (s.inner + kChannels - 1) / kChannels;
  const int64_t width = smaller(s.inner, kChannels);
  FirstBad bad;
  parallel_for(0, s.outer * pieces, larger(1, kGrain / (in_plane * width)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t p = i / pieces, first = i % pieces * kChannels, last = smaller(first + kChannels, s.inner);
      const int64_t base = p * out_plane * s.inner;
      const auto put = assign ? put_plane<T, true> : put_plane<T, false>;
      put(s, out + base, places + base, in + p * in_plane * s.inner, base, first, last, bad);
    }
  });
  bad.report(places, in_plane, error);
}

template <class F> void by_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float16: return f(Half{});
    case DType::BFloat16: return f(BFloat16{});
    case DType::Float64: return f(double{});
    default: return f(float{});
  }
}

}  // namespace

void max_pool(DType dtype, const PoolShape& s, const void* in, void* out, int64_t* places) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    (s.inner == 1 ? max_planes<T> : max_channels<T>)(s, static_cast<const T*>(in), static_cast<T*>(out), places);
  };
  switch (dtype) {
    case DType::UInt8: return as(uint8_t{});
    case DType::Int8: return as(int8_t{});
    case DType::Int16: return as(int16_t{});
    case DType::Int32: return as(int32_t{});
    case DType::Int64: return as(int64_t{});
    default: return by_float(dtype, as);
  }
}

void fractional_max_pool(DType dtype, const PoolShape& s, const void* in, const void* samples, int dims, bool last_first, void* out,
                         int64_t* places) {
  by_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    fractional_planes(s, static_cast<const T*>(in), static_cast<const T*>(samples), dims, last_first, static_cast<T*>(out), places);
  });
}

void pool_take(DType dtype, const PoolShape& s, const void* in, const int64_t* places, void* out, IndexError* error) {
  by_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    take_as(s, static_cast<const T*>(in), places, static_cast<T*>(out), error);
  });
}

void pool_put(DType dtype, const PoolShape& s, const void* out, const int64_t* places, bool assign, void* in, IndexError* error) {
  by_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    put_as(s, static_cast<const T*>(out), places, assign, static_cast<T*>(in), error);
  });
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
