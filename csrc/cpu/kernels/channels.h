// How elements of channels lie in memory, and passes over them: sums for each channel, and a result for each element.
//
// Where a channel has long runs of elements (Rows), each run is taken by itself. Where neighbours belong to different channels (Columns), memory
// is cut into lines of some width, and a strip of neighbouring columns is taken at a time. Either way the pieces of work, and the order in which
// their sums are merged, follow from the sizes alone: the same bits for every number of threads.
// What loops over elements is a function of its own, never inlined: else each use compiles the loop again.
// Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cpu/isa.h"
#include "cpu/kernels/lane_sum.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kPiece = 65536;  // of a long run: in the second level cache, more than once
constexpr int64_t kNear = 4096;    // in the first level cache
constexpr int64_t kGrain = 16384;  // elements worth a task
constexpr int64_t kStrip = 256;    // columns
constexpr int64_t kWidth = 64;     // narrower lines are joined

// Mean and summed squares of the deviations from it.
struct Moments {
  double count = 0, mean = 0, squares = 0;
  void merge(const Moments& o) {
    if (o.count == 0) return;
    const double total = count + o.count, apart = o.mean - mean;
    mean += apart * (o.count / total);
    squares += o.squares + apart * apart * (count * o.count / total);
    count = total;
  }
};
// Of a gradient, and of it times the deviation.
struct Sums {
  double count = 0, grad = 0, product = 0;
  void merge(const Sums& o) {
    grad += o.grad;
    product += o.product;
  }
};

// ---- runs of one channel ----

struct Rows {
  int64_t samples, channels, plane;  // [samples, channels, plane]
  int64_t pieces, lines;             // of a plane, and of all planes of a channel
  int64_t block_lines, blocks;       // that one sum is made of, and how many of these a channel has

  Rows(int64_t samples_, int64_t channels_, int64_t plane_) : samples(samples_), channels(channels_), plane(plane_) {
    pieces = (plane + kPiece - 1) / kPiece;
    lines = samples * pieces;
    block_lines = std::max<int64_t>(1, kGrain / plane);
    blocks = (lines + block_lines - 1) / block_lines;
  }
  int64_t partials() const { return blocks > 1 ? blocks * channels : 0; }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / (plane * block_lines)); }
};

// result[channel] of all that piece(offset, length, channel) gives for its pieces.
template <class A, class Piece> void reduce_rows(const Rows& rows, A* result, A* partial, Piece&& piece) {
  A* to = rows.blocks > 1 ? partial : result;
  parallel_for(0, rows.blocks * rows.channels, rows.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t block = i / rows.channels, channel = i % rows.channels, first = block * rows.block_lines;
      A sum;
      for (int64_t line = first; line < std::min(first + rows.block_lines, rows.lines); ++line) {
        const int64_t start = line % rows.pieces * kPiece;
        sum.merge(
            piece((line / rows.pieces * rows.channels + channel) * rows.plane + start, std::min(kPiece, rows.plane - start), channel));
      }
      to[i] = sum;
    }
  });
  if (rows.blocks == 1) return;
  for (int64_t channel = 0; channel < rows.channels; ++channel) {
    A sum;
    for (int64_t block = 0; block < rows.blocks; ++block) sum.merge(partial[block * rows.channels + channel]);
    result[channel] = sum;
  }
}

// run(offset, length, sample, channel) for each piece.
template <class Run> void each_row(const Rows& rows, Run&& run) {
  const int64_t length = std::min(rows.plane, kPiece);
  parallel_for(0, rows.lines * rows.channels, std::max<int64_t>(1, kGrain / length), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / rows.pieces, start = i % rows.pieces * kPiece;
      run(row * rows.plane + start, std::min(kPiece, rows.plane - start), row / rows.channels, row % rows.channels);
    }
  });
}

// ---- columns ----

struct Columns {
  int64_t parts, length;        // pieces of memory that are apart, and the elements of one
  int64_t period, inner;        // an element at i belongs to channel (i % period) / inner of its part
  int64_t width, lines, tail;   // whole lines of a part, and what is left over at its end
  int64_t block_lines, blocks;  // of a part
  int64_t strips;

  Columns(int64_t parts_, int64_t length_, int64_t period_, int64_t inner_)
      : parts(parts_), length(length_), period(period_), inner(inner_) {
    width = period * std::clamp<int64_t>(kWidth / period, 1, length / period);
    lines = length / width;
    tail = length % width;
    block_lines = std::max<int64_t>(64, kGrain / width);
    blocks = std::max<int64_t>(1, (lines + block_lines - 1) / block_lines);
    strips = (width + kStrip - 1) / kStrip;
  }
  int64_t channels() const { return period / inner; }
  int64_t channel(int64_t column) const { return column % period / inner; }
  int64_t partials() const { return parts * blocks * width; }
};

// Columns [first, first + count) of some lines; the first `longer` of them have an element more.
struct Strip { int64_t part, first, count, offset, stride, lines, longer; };

template <class Run> void each_strip(const Columns& k, Run&& run) {
  const int64_t elements = std::min(k.block_lines, std::max<int64_t>(1, k.lines)) * std::min(k.width, kStrip);
  parallel_for(0, k.parts * k.blocks * k.strips, std::max<int64_t>(1, kGrain / elements), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % k.strips * kStrip, at = i / k.strips, block = at % k.blocks, part = at / k.blocks;
      const int64_t line = block * k.block_lines, count = std::min(kStrip, k.width - first);
      const int64_t longer = block + 1 == k.blocks ? std::clamp<int64_t>(k.tail - first, 0, count) : 0;
      run(Strip{part, first, count, part * k.length + line * k.width + first, k.width, std::min(k.block_lines, k.lines - line), longer},
          at * k.width + first);
    }
  });
}

// result[part, channel] of all that sums(strip, A*) gives for the columns of a strip.
template <class A, class Of> void reduce_columns(const Columns& k, A* result, A* partial, Of&& sums) {
  each_strip(k, [&](const Strip& strip, int64_t at) { sums(strip, partial + at); });
  const int64_t channels = k.channels();
  parallel_for(0, k.parts, std::max<int64_t>(1, kGrain / (k.blocks * k.width)), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      std::fill_n(result + part * channels, channels, A());
      for (int64_t block = 0; block < k.blocks; ++block) {
        const A* line = partial + (part * k.blocks + block) * k.width;
        for (int64_t j = 0; j < k.width; ++j) result[part * channels + k.channel(j)].merge(line[j]);
      }
    }
  });
}

// each(column, index) for the elements of a strip.
template <class Each> [[gnu::always_inline]] inline void over_strip(const Strip& s, Each&& each) {
  for (int64_t line = 0; line < s.lines; ++line) {
    const int64_t at = s.offset + line * s.stride;
    for (int64_t j = 0; j < s.count; ++j) each(j, at + j);
  }
  const int64_t at = s.offset + s.lines * s.stride;
  for (int64_t j = 0; j < s.longer; ++j) each(j, at + j);
}

// ---- moments ----

inline double not_below_0(double x) { return x < 0 ? 0 : x; }  // nan stays

// Of at most kNear elements. The mean is as exact as its own last digit; the deviations from it have a mean of their own, the rest of it.
template <class C, class T> [[gnu::noinline]] Moments near_moments(const T* x, int64_t n) {
  const C count = static_cast<C>(n), mean = lane_sum<C>(n, [&](int64_t i) { return static_cast<C>(x[i]); }) / count;
  const C squares = lane_sum<C>(n, [&](int64_t i) {
    const C d = static_cast<C>(x[i]) - mean;
    return d * d;
  });
  C rest = 0;
  if (mean * mean * count > 4 * squares) rest = lane_sum<C>(n, [&](int64_t i) { return static_cast<C>(x[i]) - mean; }) / count;
  if constexpr (!std::is_same_v<C, double>)
    if (!std::isfinite(squares)) return near_moments<double>(x, n);  // they overflow
  const double r = static_cast<double>(rest);
  return {static_cast<double>(n), static_cast<double>(mean) + r,
          not_below_0(static_cast<double>(squares) - r * r * static_cast<double>(n))};
}

template <class C, class T> Moments moments(const T* x, int64_t n) {
  Moments all;
  for (int64_t i = 0; i < n; i += kNear) all.merge(near_moments<C>(x + i, std::min(kNear, n - i)));
  return all;
}

template <class C, class T> [[gnu::noinline]] void column_moments(const T* x, const Strip& s, Moments* out) {
  C mean[kStrip] = {}, squares[kStrip] = {}, rest[kStrip] = {};
  const auto count = [&](int64_t j) { return s.lines + (j < s.longer); };
  over_strip(s, [&](int64_t j, int64_t i) { mean[j] += static_cast<C>(x[i]); });
  for (int64_t j = 0; j < s.count; ++j) mean[j] /= static_cast<C>(std::max<int64_t>(1, count(j)));
  over_strip(s, [&](int64_t j, int64_t i) {
    const C d = static_cast<C>(x[i]) - mean[j];
    squares[j] += d * d;
    rest[j] += d;
  });
  if constexpr (!std::is_same_v<C, double>)
    for (int64_t j = 0; j < s.count; ++j)
      if (!std::isfinite(squares[j])) return column_moments<double>(x, s, out);
  for (int64_t j = 0; j < s.count; ++j) {
    const double n = static_cast<double>(count(j)), r = n == 0 ? 0 : static_cast<double>(rest[j]) / n;
    out[j] = {n, static_cast<double>(mean[j]) + r, not_below_0(static_cast<double>(squares[j]) - r * r * n)};
  }
}

}  // namespace
}  // namespace retrograd::cpu
