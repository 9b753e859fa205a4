// Along one axis each element of a resized image is a weighted sum of neighbours of the image: its taps. The transposed map is such a table too,
// so that gradients are gathered, not scattered.
// Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cmath>

#include "cpu/kernels/places.h"
#include "kernels/image.h"

namespace retrograd::cpu {
namespace {

using kernels::Resampling;

// out[i] = sum of weight[i * most + k] * in[start[i] + k] for k < count[i]. S is the type the places are computed in, as the results are: the
// place of an element far from 0 is known to as many digits as a float has.
template <class S> struct Taps {
  int64_t in, out, most;
  Zeros<S> weight;
  Zeros<int32_t> start, count;

  Taps(int64_t in_, int64_t out_, int64_t most_) : in(in_), out(out_), most(most_), weight(out * most), start(out), count(out) {}

  void set(int64_t i, int64_t first, int64_t taps) {
    start[i] = static_cast<int32_t>(first);
    count[i] = static_cast<int32_t>(taps);
  }
  S* weights(int64_t i) { return weight.data() + i * most; }
  const S* weights(int64_t i) const { return weight.data() + i * most; }
};

template <class S> S cubic_near(S x, S a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
template <class S> S cubic_far(S x, S a) { return ((x - 5) * x + 8) * x * a - 4 * a; }

// The weight at a distance; `a` of the cubic ones is -0.5 where they are smooth.
template <class S> S smooth_weight(Resampling mode, S x) {
  const S distance = std::abs(x);
  if (mode == Resampling::SmoothLinear) return distance < 1 ? 1 - distance : 0;
  if (mode == Resampling::SmoothCubic)
    return distance < 1 ? cubic_near(distance, S(-0.5)) : distance < 2 ? cubic_far(distance, S(-0.5)) : 0;
  if (distance >= 3) return 0;
  if (distance == 0) return 1;
  const double angle = M_PI * static_cast<double>(x);
  return static_cast<S>(std::sin(angle) / angle * (std::sin(angle / 3) / (angle / 3)));
}

template <class S> class TapTable {
 public:
  // Of axis `d`.
  static Taps<S> of(const kernels::ResizeShape& shape, int d) {
    const TapTable table(shape, d);
    if (table.from_ == 1 && table.to_ == 1) return table.ones();
    switch (shape.mode) {
      case Resampling::Nearest:
      case Resampling::NearestExact: return table.nearest();
      case Resampling::Linear: return table.linear();
      case Resampling::Cubic: return table.cubic();
      default: return table.smooth();
    }
  }

  // To each element of what `taps` read, those that read it.
  static Taps<S> transposed(const Taps<S>& taps) {
    Taps<S> by(taps.out, taps.in, 0);
    for (int64_t i = 0; i < taps.out; ++i)
      for (int64_t j = taps.start[i]; j < taps.start[i] + taps.count[i]; ++j) {
        if (by.count[j] == 0) by.set(j, i, 1);
        by.set(j, by.start[j], i - by.start[j] + 1);
        by.most = std::max<int64_t>(by.most, by.count[j]);
      }
    for (int64_t j = 1; j < by.out; ++j)
      if (by.count[j] == 0) by.start[j] = by.start[j - 1];  // near its neighbours, though nothing is read
    by.weight = Zeros<S>(by.out * by.most);
    for (int64_t i = 0; i < taps.out; ++i)
      for (int64_t k = 0; k < taps.count[i]; ++k) {
        const int64_t j = taps.start[i] + k;
        by.weights(j)[i - by.start[j]] = taps.weights(i)[k];
      }
    return by;
  }

 private:
  TapTable(const kernels::ResizeShape& shape, int d)
      : from_(shape.from[d]), to_(shape.to[d]), mode_(shape.mode), align_corners_(shape.align_corners) {
    if (align_corners_) {
      scale_ = to_ > 1 ? static_cast<S>(from_ - 1) / static_cast<S>(to_ - 1) : 0;
    } else {
      scale_ = shape.scale[d] > 0 ? static_cast<S>(1 / shape.scale[d]) : static_cast<S>(from_) / static_cast<S>(to_);
    }
  }

  // Where element i comes from.
  S place(int64_t i) const {
    const S at = static_cast<S>(i);
    return align_corners_ ? scale_ * at : std::fma(scale_, at + S(0.5), S(-0.5));
  }
  // The last bound is kept in integers too: a float of it may be larger.
  int64_t inside(S at) const { return std::min(static_cast<int64_t>(std::clamp<S>(at, 0, static_cast<S>(from_ - 1))), from_ - 1); }

  Taps<S> ones() const {
    Taps<S> t(1, 1, 1);
    t.set(0, 0, 1);
    t.weight[0] = 1;
    return t;
  }

  Taps<S> nearest() const {
    Taps<S> t(from_, to_, 1);
    const bool exact = mode_ == Resampling::NearestExact;
    for (int64_t i = 0; i < to_; ++i) {
      S at = exact ? place(i) + S(0.5) : static_cast<S>(i) * scale_;
      if (sizeof(S) == 8) at = static_cast<float>(exact ? (static_cast<S>(i) + S(0.5)) * scale_ : at);  // PyTorch rounds down a float
      t.set(i, inside(std::floor(at)), 1);
      t.weights(i)[0] = 1;
    }
    return t;
  }

  Taps<S> linear() const {
    Taps<S> t(from_, to_, 2);
    for (int64_t i = 0; i < to_; ++i) {
      const S at = std::max<S>(place(i), 0);
      const int64_t first = inside(at);
      const S part = std::clamp<S>(at - static_cast<S>(first), 0, 1);
      const bool last = first == from_ - 1;
      t.set(i, first, last ? 1 : 2);
      t.weights(i)[0] = last ? 1 : 1 - part;
      t.weights(i)[1] = last ? 0 : part;
    }
    return t;
  }

  Taps<S> cubic() const {
    constexpr S a = S(-0.75);
    Taps<S> t(from_, to_, 4);
    for (int64_t i = 0; i < to_; ++i) {
      const S at = place(i), down = std::clamp<S>(std::floor(at), -1, static_cast<S>(from_ - 1));
      const S x = std::clamp<S>(at - down, 0, 1);
      const S four[4] = {cubic_far(x + 1, a), cubic_near(x, a), cubic_near(1 - x, a), cubic_far(2 - x, a)};
      const int64_t begin = static_cast<int64_t>(down) - 1;
      const int64_t first = std::clamp<int64_t>(begin, 0, from_ - 1), last = std::clamp<int64_t>(begin + 3, 0, from_ - 1);
      t.set(i, first, last - first + 1);
      for (int64_t k = 0; k < 4; ++k) t.weights(i)[std::clamp<int64_t>(begin + k, 0, from_ - 1) - first] += four[k];
    }
    return t;
  }

  Taps<S> smooth() const {
    const S half = mode_ == Resampling::SmoothLinear ? S(1) : mode_ == Resampling::SmoothCubic ? S(2) : S(3);
    const S reach = scale_ >= 1 ? half * scale_ : half, inverse = scale_ >= 1 ? 1 / scale_ : S(1);
    Taps<S> t(from_, to_, std::min<int64_t>(from_, static_cast<int64_t>(std::ceil(reach)) * 2 + 1));
    for (int64_t i = 0; i < to_; ++i) {
      const S centre = scale_ * (static_cast<S>(i) + S(0.5)), edge = static_cast<S>(from_);
      const int64_t first = static_cast<int64_t>(std::clamp<S>(centre - reach + S(0.5), 0, edge));
      const int64_t end = std::min(static_cast<int64_t>(std::clamp<S>(centre + reach + S(0.5), 0, edge)), from_);
      const int64_t taps = std::clamp<int64_t>(end - first, 0, t.most);
      t.set(i, std::min(first, from_ - 1), taps);
      S total = 0, *w = t.weights(i);
      for (int64_t k = 0; k < taps; ++k) total += w[k] = smooth_weight(mode_, (static_cast<S>(k + first) - centre + S(0.5)) * inverse);
      if (total != 0)
        for (int64_t k = 0; k < taps; ++k) w[k] /= total;
    }
    return t;
  }

  int64_t from_, to_;
  Resampling mode_;
  bool align_corners_;
  S scale_;
};

}  // namespace
}  // namespace retrograd::cpu
