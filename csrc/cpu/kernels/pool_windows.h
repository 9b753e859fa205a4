// The windows of a pooling along each axis. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <algorithm>
#include <memory>

#include "cpu/isa.h"
#include "kernels/pool.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a task

inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }  // a / b rounded up, at least 0

// Elements start, start + step, ... below end.
struct Window {
  int64_t start, end, step;
  bool empty() const { return start >= end; }
};

inline Window window_at(const PoolShape& s, int d, int64_t o) {
  if (s.adaptive) return {o * s.in[d] / s.out[d], ((o + 1) * s.in[d] + s.out[d] - 1) / s.out[d], 1};
  const int64_t begin = o * s.stride[d] - s.padding[d], step = s.dilation[d];
  return {begin + up(-begin, step) * step, smaller(begin + (s.kernel[d] - 1) * step + 1, s.in[d]), step};
}

// The windows along an axis that an element is in, of those that have no gaps: [first, last).
struct Cover {
  int64_t first, last;
  bool operator==(const Cover&) const = default;
};
inline Cover cover_of(const PoolShape& s, int d, int64_t i) {
  if (s.adaptive) return {i * s.out[d] / s.in[d], ((i + 1) * s.out[d] + s.in[d] - 1) / s.in[d]};
  return {up(i + s.padding[d] - s.kernel[d] + 1, s.stride[d]), smaller((i + s.padding[d]) / s.stride[d] + 1, s.out[d])};
}

// Whether windows are alike and none is cut by an edge, and where in its plane each begins.
inline bool are_whole(const PoolShape& s) {
  if (s.adaptive) return false;
  for (int d = 0; d < 3; ++d)
    if (s.padding[d] != 0 || (s.out[d] - 1) * s.stride[d] + (s.kernel[d] - 1) * s.dilation[d] >= s.in[d]) return false;
  return true;
}
inline void window_starts(const PoolShape& s, int32_t* starts) {
  for (int64_t i = 0; i < s.out[0]; ++i)
    for (int64_t j = 0; j < s.out[1]; ++j)
      for (int64_t k = 0; k < s.out[2]; ++k)
        *starts++ = static_cast<int32_t>((i * s.stride[0] * s.in[1] + j * s.stride[1]) * s.in[2] + k * s.stride[2]);
}

// Memory for n elements of a task, on the stack where they are few.
template <class T, int64_t kFew = 512> class Line {
 public:
  explicit Line(int64_t n) : many_(n > kFew ? new T[static_cast<size_t>(n)] : nullptr), at_(many_ ? many_.get() : few_) {}
  T& operator[](int64_t i) { return at_[i]; }
  T* data() { return at_; }

 private:
  T few_[kFew];
  std::unique_ptr<T[]> many_;
  T* at_;
};

// The windows of all axes, found once.
class Windows {
 public:
  explicit Windows(const PoolShape& s) : all_(s.out[0] + s.out[1] + s.out[2]), height_(s.out[0]), width_(s.out[0] + s.out[1]) {
    for (int64_t o = 0; o < s.out[0]; ++o) all_[o] = window_at(s, 0, o);
    for (int64_t o = 0; o < s.out[1]; ++o) all_[height_ + o] = window_at(s, 1, o);
    for (int64_t o = 0; o < s.out[2]; ++o) all_[width_ + o] = window_at(s, 2, o);
  }
  const Window& depth(int64_t o) { return all_[o]; }
  const Window& height(int64_t o) { return all_[height_ + o]; }
  const Window& width(int64_t o) { return all_[width_ + o]; }

 private:
  Line<Window, 32> all_;
  int64_t height_, width_;
};

// The windows that each element is in.
class Covers {
 public:
  Covers(const PoolShape& s, int axes) : all_(s.in[0] + s.in[1] + (axes > 2 ? s.in[2] : 0)), height_(s.in[0]), width_(s.in[0] + s.in[1]) {
    for (int64_t at = 0, d = 0; d < axes; ++d)
      for (int64_t i = 0; i < s.in[d]; ++i) all_[at++] = cover_of(s, static_cast<int>(d), i);
  }
  const Cover& depth(int64_t i) { return all_[i]; }
  const Cover& height(int64_t i) { return all_[height_ + i]; }
  const Cover& width(int64_t i) { return all_[width_ + i]; }

 private:
  Line<Cover, 64> all_;
  int64_t height_, width_;
};

// What tap k of windows that are alike meets along the last axis: element o * stride + start, inside for lo <= o < hi.
struct Reach { int64_t start, lo, hi; };
inline Reach reach_of(const PoolShape& s, int64_t k) {
  const int64_t start = k * s.dilation[2] - s.padding[2];
  const int64_t lo = smaller(up(-start, s.stride[2]), s.out[2]);
  return {start, lo, larger(lo, smaller(up(s.in[2] - start, s.stride[2]), s.out[2]))};
}
// The taps that meet anything: a kernel may be much larger than what it meets.
struct Taps { int64_t first, last; };
inline Taps taps_of(const PoolShape& s) {
  const int64_t step = s.dilation[2];
  return {up(s.padding[2] - (s.out[2] - 1) * s.stride[2], step), smaller(s.kernel[2], (s.in[2] - 1 + s.padding[2]) / step + 1)};
}

// A row is computed in pieces of so many results, at most `most`, that the columns they are computed from are near.
constexpr int64_t kNear = 2048;
inline int64_t apart(const PoolShape& s) { return s.adaptive ? s.in[2] / s.out[2] + 1 : s.stride[2]; }
inline int64_t piece_of(const PoolShape& s, int64_t most) { return std::clamp<int64_t>(kNear / 2 / apart(s), 1, most); }
// The first column that results from `o` on are computed from; with steps between elements, windows that begin outside may have later ones.
inline int64_t first_column(const PoolShape& s, int64_t o) {
  return s.adaptive ? o * s.in[2] / s.out[2] : larger(0, o * s.stride[2] - s.padding[2]);
}
// The most columns that a piece is computed from.
inline int64_t columns_of(const PoolShape& s, int64_t piece) {
  return smaller(
      s.in[2], s.adaptive ? apart(s) * (piece + 2) : (smaller(piece, s.out[2]) - 1) * s.stride[2] + (s.kernel[2] - 1) * s.dilation[2] + 1);
}

// f(std::integral_constant<int, stride>) for the steps that have code of their own; 0 for the others.
template <class F> [[gnu::always_inline]] inline void by_stride(int64_t stride, F&& f) {
  if (stride == 1) return f(std::integral_constant<int, 1>{});
  if (stride == 2) return f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 0>{});
}

}  // namespace
}  // namespace retrograd::cpu
