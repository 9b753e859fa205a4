// Images in another size: rows of the result from rows of the image, then elements from neighbours in a row.
#include "cpu/families.h"
#include "cpu/kernels/image_parts.h"
#include "cpu/kernels/load.h"
#include "cpu/kernels/places.h"
#include "cpu/kernels/taps.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

using kernels::ResizeShape;

constexpr int64_t kChunk = 8192;  // elements of a row that are computed at a time
constexpr int64_t kTasks = 16;    // at most, so that each has memory of its own

#if defined(__AVX512F__)
constexpr int kVector = 64;
#elif defined(__AVX2__)
constexpr int kVector = 32;
#else
constexpr int kVector = 16;
#endif

struct Span { int64_t first, last; };

// Elements of a row from their neighbours. Few taps lie side by side for as many elements as a vector has lanes, [vector, tap, lane], and if
// those of a vector are near each other they are permuted out of two loads, which takes a fraction of the time that gathering them does.
template <class S> class Across {
 public:
  static constexpr int kLanes = kVector / static_cast<int>(sizeof(S)), kNear = 2 * kLanes;

  Across(Taps<S> taps, int64_t inner)
      : taps_(std::move(taps)),
        inner_(inner),
        few_(inner == 1 && taps_.most <= 8 ? std::max<int64_t>(1, taps_.most) : 0),
        vectors_(few_ ? (taps_.out + kLanes - 1) / kLanes : 0),
        start_(vectors_ * few_),
        full_(vectors_),
        count_(vectors_ * kLanes),
        place_(vectors_ * few_ * kLanes),
        weight_(vectors_ * few_ * kLanes) {
    for (int64_t v = 0; v < vectors_; ++v) arrange(v);
  }
  const Taps<S>& taps() const { return taps_; }
  int64_t inner() const { return inner_; }

  // What elements [begin, end) read of a row. It may be more than the row has: what is there is not used, but it is read.
  Span span(int64_t begin, int64_t end) const {
    Span s{taps_.in, 1};
    if (few_) {
      for (int64_t i = begin / kLanes * few_; i < (end + kLanes - 1) / kLanes * few_; ++i) {
        s.first = std::min<int64_t>(s.first, start_[i]);
        s.last = std::max<int64_t>(s.last, start_[i] + kNear);
      }
      return s;
    }
    for (int64_t i = begin; i < end; ++i) {
      s.first = std::min<int64_t>(s.first, taps_.start[i]);
      s.last = std::max<int64_t>(s.last, taps_.start[i] + taps_.count[i]);
    }
    return {std::min(s.first, s.last), s.last};
  }

  // Elements [begin, end) of a row, from one that starts at element `first` of the image; `begin` is the first of a vector.
  void run(int64_t begin, int64_t end, const S* row, int64_t first, S* out) const {
    switch (few_) {
      case 0: return inner_ == 1 ? dots(begin, end, row, first, out) : blends(begin, end, row, first, out);
      case 1: return permuted<1>(begin, end, row, first, out);
      case 2: return permuted<2>(begin, end, row, first, out);
      case 3: return permuted<3>(begin, end, row, first, out);
      case 4: return permuted<4>(begin, end, row, first, out);
      default: return permuted<0>(begin, end, row, first, out);
    }
  }

 private:
  using Index = std::conditional_t<sizeof(S) == 4, int32_t, int64_t>;
  typedef S Lanes __attribute__((vector_size(kVector)));
  typedef Index Indices __attribute__((vector_size(kVector)));

  template <class V, class T> static V load(const T* p) {
    V v;
    __builtin_memcpy(&v, p, sizeof(V));
    return v;
  }

  // Gives up on vectors whose taps are too far apart.
  void arrange(int64_t v) {
    if (!few_) return;
    full_[v] = 1;
    for (int64_t lane = 0; lane < kLanes; ++lane) count_[v * kLanes + lane] = taps_.count[element(v, lane)];
    for (int64_t k = 0; k < few_; ++k) {
      const int64_t at = (v * few_ + k) * kLanes;
      int64_t low = taps_.in, high = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t i = element(v, lane), place = taps_.start[i] + k;
        if (k >= taps_.count[i]) {
          full_[v] = 0;
          continue;
        }
        low = std::min(low, place);
        high = std::max(high, place);
      }
      low = std::max<int64_t>(0, std::min(low, taps_.in - kNear));
      if (high - low >= kNear) {
        few_ = 0;
        return;
      }
      start_[v * few_ + k] = static_cast<int32_t>(low);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const int64_t i = element(v, lane);
        if (k >= taps_.count[i]) continue;
        place_[at + lane] = static_cast<Index>(taps_.start[i] + k - low);
        weight_[at + lane] = taps_.weights(i)[k];
      }
    }
  }
  // Lanes behind the end of a row do what the last does.
  int64_t element(int64_t v, int64_t lane) const { return std::min(v * kLanes + lane, taps_.out - 1); }

  // What is not there is left out, not weighted with 0: it may be infinite.
  template <int K> void permuted(int64_t begin, int64_t end, const S* row, int64_t first, S* out) const {
    const int64_t taps = K ? K : few_;
    for (int64_t v = begin / kLanes; v * kLanes < end; ++v) {
      const Index* place = place_.data() + v * taps * kLanes;
      const S* weight = weight_.data() + v * taps * kLanes;
      const int32_t* start = start_.data() + v * taps;
      Lanes sum{};
      const auto tap = [&](int64_t k) {
        const S* near = row + (start[k] - first);
        const Lanes value = __builtin_shuffle(load<Lanes>(near), load<Lanes>(near + kLanes), load<Indices>(place + k * kLanes));
        return value * load<Lanes>(weight + k * kLanes);
      };
      if (full_[v]) {
        for (int64_t k = 0; k < taps; ++k) sum += tap(k);
      } else {
        const Indices count = load<Indices>(count_.data() + v * kLanes);
        for (int64_t k = 0; k < taps; ++k) sum += count > static_cast<Index>(k) ? tap(k) : Lanes{};
      }
      S* to = out + (v * kLanes - begin);
      if (const int64_t left = end - v * kLanes; left >= kLanes) {
        __builtin_memcpy(to, &sum, sizeof(sum));
      } else {
        for (int64_t lane = 0; lane < left; ++lane) to[lane] = sum[lane];
      }
    }
  }
  void dots(int64_t begin, int64_t end, const S* row, int64_t first, S* out) const {
    for (int64_t i = begin; i < end; ++i) {
      const S *from = row + (taps_.start[i] - first), *w = taps_.weights(i);
      const int64_t count = taps_.count[i];
      S lanes[8] = {}, sum = 0;
      int64_t k = 0;
      for (; k + 8 <= count; k += 8)
        for (int j = 0; j < 8; ++j) lanes[j] += w[k + j] * from[k + j];
      for (; k < count; ++k) sum += w[k] * from[k];
      out[i - begin] = sum + (((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7])));
    }
  }
  void blends(int64_t begin, int64_t end, const S* row, int64_t first, S* __restrict out) const {
    for (int64_t i = begin; i < end; ++i, out += inner_) {
      const S *from = row + (taps_.start[i] - first) * inner_, *w = taps_.weights(i);
      const int64_t count = taps_.count[i];
      if (count == 2) {
        for (int64_t c = 0; c < inner_; ++c) out[c] = w[0] * from[c] + w[1] * from[c + inner_];
        continue;
      }
      if (count == 4) {
        for (int64_t c = 0; c < inner_; ++c)
          out[c] = w[0] * from[c] + w[1] * from[c + inner_] + w[2] * from[c + 2 * inner_] + w[3] * from[c + 3 * inner_];
        continue;
      }
      for (int64_t c = 0; c < inner_; ++c) out[c] = 0;
      for (int64_t k = 0; k < count; ++k)
        for (int64_t c = 0; c < inner_; ++c) out[c] += w[k] * from[c + k * inner_];
    }
  }

  Taps<S> taps_;
  int64_t inner_, few_, vectors_;
  Zeros<int32_t> start_;  // of the two loads, [vector, tap]
  Zeros<uint8_t> full_;   // whether all lanes of a vector have all taps
  Zeros<Index> count_, place_;
  Zeros<S> weight_;
};

// sum (+)= a weighted row.
template <class S, class T> void add_row(const T* row, S weight, bool first, int64_t n, S* __restrict sum) {
  if (first) {
    for (int64_t i = 0; i < n; ++i) sum[i] = weight * static_cast<S>(row[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) sum[i] += weight * static_cast<S>(row[i]);
  }
}

// The same for up to four of them.
template <class S, class T> void add_rows(const T* const* rows, const S* w, int count, bool first, int64_t n, S* __restrict sum) {
  if (count == 4) {
    const T *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
    const S u = w[0], v = w[1], x = w[2], y = w[3];
    const auto total = [&](int64_t i) {
      return u * static_cast<S>(a[i]) + v * static_cast<S>(b[i]) + x * static_cast<S>(c[i]) + y * static_cast<S>(d[i]);
    };
    if (first) {
      for (int64_t i = 0; i < n; ++i) sum[i] = total(i);
    } else {
      for (int64_t i = 0; i < n; ++i) sum[i] += total(i);
    }
  } else if (count == 2 && first) {
    const T *a = rows[0], *b = rows[1];
    const S u = w[0], v = w[1];
    for (int64_t i = 0; i < n; ++i) sum[i] = u * static_cast<S>(a[i]) + v * static_cast<S>(b[i]);
  } else {
    for (int k = 0; k < count; ++k) add_row(rows[k], w[k], first && k == 0, n, sum);
  }
}

// Elements of T, computed in S.
template <class T, class S> class Resize {
 public:
  Resize(int64_t outer, int64_t inner, Taps<S> depth, Taps<S> height, Taps<S> width)
      : outer_(outer), depth_(std::move(depth)), height_(std::move(height)), across_(std::move(width), inner) {
    const Taps<S>& w = across_.taps();
    chunk_ = std::max<int64_t>(1, std::min(w.out, kChunk / inner));
    chunks_ = (w.out + chunk_ - 1) / chunk_;
    for (int64_t c = 0; c < chunks_; ++c) {
      const Span s = span(c);
      widest_ = std::max(widest_, s.last - s.first);
    }
  }

  void run(const T* in, T* out) const {
    const Taps<S>& w = across_.taps();
    const int64_t inner = across_.inner(), units = outer_ * depth_.out * height_.out * chunks_;
    const int64_t tasks = std::clamp<int64_t>(units * chunk_ * inner / kGrain, 1, std::min(units, kTasks));
    const int64_t before = (widest_ * inner + 15) / 16 * 16, memory = before + (std::is_same_v<T, S> ? 0 : chunk_ * inner);
    Zeros<S> work(tasks * memory);
    const Span whole = span(0);
    parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        S* sums = work.data() + task * memory;
        const int64_t start = task * units / tasks, stop = (task + 1) * units / tasks;
        Line line(start / chunks_, depth_.out, height_.out);
        int64_t c = start % chunks_, at_line = start / chunks_;
        for (int64_t unit = start; unit < stop; ++unit) {
          const int64_t x = c * chunk_, to = std::min(x + chunk_, w.out);
          const Span s = chunks_ == 1 ? whole : span(c);
          const S* row = rows(in, line, s, sums);
          T* at = out + (at_line * w.out + x) * inner;
          if constexpr (std::is_same_v<T, S>) {
            across_.run(x, to, row, s.first, at);
          } else {
            across_.run(x, to, row, s.first, sums + before);
            for (int64_t i = 0; i < (to - x) * inner; ++i) at[i] = T(sums[before + i]);
          }
          if (++c == chunks_) {
            c = 0;
            ++at_line;
            line.next();
          }
        }
      }
    });
  }

 private:
  Span span(int64_t c) const { return across_.span(c * chunk_, std::min((c + 1) * chunk_, across_.taps().out)); }

  // The row that a line of the result is made of.
  const S* rows(const T* in, const Line& line, const Span& s, S* sums) const {
    const int64_t inner = across_.inner(), width = across_.taps().in * inner;
    const int64_t n = std::min((s.last - s.first) * inner, width - s.first * inner);
    const int64_t y = line.y, z = line.z;
    const auto at = [&](int64_t i, int64_t j) {
      return in + ((line.plane * depth_.in + depth_.start[z] + i) * height_.in + height_.start[y] + j) * width + s.first * inner;
    };
    const int64_t deep = depth_.count[z], high = height_.count[y];
    const S *wz = depth_.weights(z), *wy = height_.weights(y);
    if constexpr (std::is_same_v<T, S>)
      if (deep == 1 && high == 1 && wz[0] * wy[0] == 1 && s.last <= across_.taps().in) return at(0, 0);
    const T* some[4] = {};
    S w[4] = {};
    int count = 0;
    bool first = true;
    const auto flush = [&] {
      add_rows(some, w, count, first, n, sums);
      first = false;
      count = 0;
    };
    for (int64_t i = 0; i < deep; ++i)
      for (int64_t j = 0; j < high; ++j) {
        some[count] = at(i, j);
        w[count++] = wz[i] * wy[j];
        if (count == 4) flush();
      }
    if (count) flush();
    if (first)
      for (int64_t i = 0; i < n; ++i) sums[i] = 0;
    return sums;
  }

  int64_t outer_;
  Taps<S> depth_, height_;
  Across<S> across_;
  int64_t chunk_, chunks_, widest_ = 1;
};

template <class T, class S> void resize_floats(const ResizeShape& s, bool transposed, const void* in, void* out) {
  const auto taps = [&](int d) {
    Taps<S> t = TapTable<S>::of(s, d);
    return transposed ? TapTable<S>::transposed(t) : std::move(t);
  };
  Resize<T, S>(s.outer, s.inner, taps(0), taps(1), taps(2)).run(static_cast<const T*>(in), static_cast<T*>(out));
}

// ---- one element each ----

template <class T, class S> void copy_nearest(const ResizeShape& s, const T* in, T* out) {
  const Taps<S> z = TapTable<S>::of(s, 0), y = TapTable<S>::of(s, 1), x = TapTable<S>::of(s, 2);
  copy_places(
      {s.outer, s.inner, {s.from[0], s.from[1], s.from[2]}, {s.to[0], s.to[1], s.to[2]}, {z.start.data(), y.start.data(), x.start.data()}},
      in, out);
}

// ---- bytes ----

// Weights as integers, of as many binary digits as let the largest fit into 16 bits with its sign; each axis is rounded to bytes.
struct ByteTaps {
  Taps<double> taps;
  Zeros<int32_t> weight;
  int digits = 0;

  explicit ByteTaps(Taps<double> t) : taps(std::move(t)), weight(taps.out * taps.most) {
    double largest = 0;
    for (int64_t i = 0; i < taps.out * taps.most; ++i) largest = std::max(largest, taps.weight[i]);
    while (digits < 22 && static_cast<int64_t>(0.5 + largest * static_cast<double>(int64_t{2} << digits)) < (1 << 15)) ++digits;
    for (int64_t i = 0; i < taps.out * taps.most; ++i) {
      const double w = taps.weight[i] * static_cast<double>(int64_t{1} << digits);
      weight[i] = static_cast<int32_t>(w < 0 ? w - 0.5 : w + 0.5);
    }
  }

  // [in, inner] to [out, inner], in[step] apart from one place to the next.
  void run(const uint8_t* in, uint8_t* out, int64_t inner) const {
    constexpr int64_t kStrip = 512;
    for (int64_t i = 0; i < taps.out; ++i)
      for (int64_t begin = 0; begin < inner; begin += kStrip) {
        const int64_t n = std::min(kStrip, inner - begin);
        int32_t sums[kStrip];
        for (int64_t c = 0; c < n; ++c) sums[c] = digits ? 1 << (digits - 1) : 0;
        for (int64_t k = 0; k < taps.count[i]; ++k) {
          const uint8_t* from = in + (taps.start[i] + k) * inner + begin;
          const int32_t w = weight[i * taps.most + k];
          for (int64_t c = 0; c < n; ++c) sums[c] += w * from[c];
        }
        for (int64_t c = 0; c < n; ++c) out[i * inner + begin + c] = static_cast<uint8_t>(std::clamp(sums[c] >> digits, 0, 255));
      }
  }
};

void resize_bytes(const ResizeShape& s, const uint8_t* in, uint8_t* out) {
  const ByteTaps y(TapTable<double>::of(s, 1)), x(TapTable<double>::of(s, 2));
  const bool wider = s.from[2] != s.to[2], higher = s.from[1] != s.to[1];
  const int64_t between = s.from[1] * s.to[2] * s.inner;  // bytes of a plane when its width is done
  const int64_t in_plane = s.from[1] * s.from[2] * s.inner, out_plane = s.to[1] * s.to[2] * s.inner;
  const int64_t tasks = std::clamp<int64_t>(s.outer * (in_plane + out_plane) / kGrain, 1, std::min(s.outer, kTasks));
  Zeros<uint8_t> work(wider && higher ? tasks * between : 0);
  parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task)
      for (int64_t plane = task * s.outer / tasks; plane < (task + 1) * s.outer / tasks; ++plane) {
        const uint8_t* from = in + plane * in_plane;
        uint8_t* to = out + plane * out_plane;
        if (!wider && !higher) std::copy(from, from + in_plane, to);
        uint8_t* wide = higher ? work.data() + task * between : to;
        if (wider)
          for (int64_t row = 0; row < s.from[1]; ++row) x.run(from + row * s.from[2] * s.inner, wide + row * s.to[2] * s.inner, s.inner);
        if (higher) y.run(wider ? wide : from, to, s.to[2] * s.inner);
      }
  });
}

// ---- by dtype ----

void resize(DType dtype, const ResizeShape& s, const void* in, void* out) {
  if (s.mode == Resampling::Nearest || s.mode == Resampling::NearestExact) {
    switch (dtype) {
      case DType::UInt8: return copy_nearest<uint8_t, float>(s, static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out));
      case DType::Float32: return copy_nearest<uint32_t, float>(s, static_cast<const uint32_t*>(in), static_cast<uint32_t*>(out));
      case DType::Float64: return copy_nearest<uint64_t, double>(s, static_cast<const uint64_t*>(in), static_cast<uint64_t*>(out));
      default: return copy_nearest<uint16_t, float>(s, static_cast<const uint16_t*>(in), static_cast<uint16_t*>(out));
    }
  }
  switch (dtype) {
    case DType::UInt8: return resize_bytes(s, static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out));
    case DType::Float16: return resize_floats<Half, float>(s, false, in, out);
    case DType::BFloat16: return resize_floats<BFloat16, float>(s, false, in, out);
    case DType::Float32: return resize_floats<float, float>(s, false, in, out);
    default: return resize_floats<double, double>(s, false, in, out);
  }
}

void resize_backward(DType dtype, const ResizeShape& s, const void* grad, void* grad_in) {
  switch (dtype) {
    case DType::Float16: return resize_floats<Half, float>(s, true, grad, grad_in);
    case DType::BFloat16: return resize_floats<BFloat16, float>(s, true, grad, grad_in);
    case DType::Float32: return resize_floats<float, float>(s, true, grad, grad_in);
    default: return resize_floats<double, double>(s, true, grad, grad_in);
  }
}

}  // namespace

RG_EXPORT_KERNELS(ImageKernels, image) = {
    .resize = resize,
    .resize_backward = resize_backward,
    .pad = RG_LEVEL_NS::pad,
    .pad_backward = RG_LEVEL_NS::pad_backward,
    .sample = RG_LEVEL_NS::sample,
    .sample_backward = RG_LEVEL_NS::sample_backward,
};

}  // namespace retrograd::cpu
