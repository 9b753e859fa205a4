// Boxes of positions. What the taps of a box meet is copied once, with zeros for what is outside, and products read the copy in place: the
// element that a channel's tap meets at a position lies at the sum of two numbers, one from a table of positions, one from a table of channels
// and taps. `out` and `in` hold a few positions in registers and walk down channels and taps; the gradient of weights holds a few channels
// and taps and walks down positions. Lanes are channels of what is not copied. Local to each file that includes it (see isa.h).
#pragma once

#include <algorithm>

#include "cpu/kernels/conv_tiles.h"

namespace retrograd::cpu {
namespace {

// ---- Where things are.

// One axis of a copy: pieces of `length` elements, `step` apart in the input, the pieces `apart`. Positions and taps that follow one another are
// `position` and `tap` apart in the copy. It is all that lies between them, or a piece for each tap where that is less.
struct Copied {
  int64_t span, length, apart, step, position, tap;
  Copied() = default;
  Copied(const Axis& a, int64_t positions) {
    const int64_t s = positions > 1 ? a.in_step : 0, d = a.taps > 1 ? (a.offset_step < 0 ? -a.offset_step : a.offset_step) : 0;
    step = larger(1, gcd(s, d));
    span = length = ((positions - 1) * s + (a.taps - 1) * d) / step + 1;
    apart = 0, position = s / step, tap = d / step;
    if (positions * a.taps < span)
      span = positions * a.taps, length = positions, apart = d, step = a.in_step, position = 1, tap = positions;
  }
  static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
      const int64_t t = a % b;
      a = b;
      b = t;
    }
    return a;
  }
  int64_t source(int64_t i) const { return i / length * apart + i % length * step; }
};

struct Box {
  int64_t image, images, start[3], size[3];
  Copied copied[3];
  int64_t meets;  // elements of one channel of the copy
  int64_t positions() const { return images * size[0] * size[1] * size[2]; }
};

// How the positions of a group are cut up; by the sizes alone.
struct Boxes {
  int64_t images, size[3], batches, count[3];  // of a box at most; how many boxes there are
  int64_t block_channels;                      // copied at a time
  int64_t most_positions, most_copied;         // of a box

  Boxes(const Gather& g, int64_t positions, int64_t depth) {
    int64_t left = positions;
    for (int d = 2; d >= 0; --d) {
      const int64_t n = g.axis[d].count;
      count[d] = (n + left - 1) / left;
      size[d] = (n + count[d] - 1) / count[d];
      count[d] = (n + size[d] - 1) / size[d];
      left = larger(1, left / size[d]);
    }
    int64_t meets = 1;
    for (int d = 0; d < 3; ++d) meets *= Copied(g.axis[d], size[d]).span;
    const int64_t fits = larger(1, kMostCopied / meets);
    block_channels = smaller(g.channels, smaller(fits, larger(1, depth / g.taps())));
    images = smaller(g.batch, smaller(left, larger(1, fits / block_channels)));
    batches = (g.batch + images - 1) / images;
    most_positions = images * size[0] * size[1] * size[2];
    most_copied = images * block_channels * meets;
  }
  int64_t total() const { return batches * count[0] * count[1] * count[2]; }

  Box at(const Gather& g, int64_t i) const {
    Box b;
    b.meets = 1;
    for (int d = 2; d >= 0; --d) {
      b.start[d] = i % count[d] * size[d];
      b.size[d] = smaller(size[d], g.axis[d].count - b.start[d]);
      b.copied[d] = Copied(g.axis[d], b.size[d]);
      b.meets *= b.copied[d].span;
      i /= count[d];
    }
    b.image = i * images;
    b.images = smaller(images, g.batch - b.image);
    return b;
  }

 private:
  static constexpr int64_t kMostCopied = 256 * 1024;
};

// The first tap's element for each position, and what lies between it and the others for each channel and tap.
inline void position_table(const Box& b, int64_t channels, int64_t* to) {
  for (int64_t n = 0; n < b.images; ++n)
    for (int64_t x = 0; x < b.size[0]; ++x)
      for (int64_t y = 0; y < b.size[1]; ++y) {
        const int64_t row =
            n * channels * b.meets + (x * b.copied[0].position * b.copied[1].span + y * b.copied[1].position) * b.copied[2].span;
        for (int64_t z = 0; z < b.size[2]; ++z) *to++ = row + z * b.copied[2].position;
      }
}
inline void tap_table(const Gather& g, const Box& b, int64_t channels, int64_t* to) {
  const auto at = [&](int d, int64_t i) { return (g.axis[d].offset_step < 0 ? g.axis[d].taps - 1 - i : i) * b.copied[d].tap; };
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t x = 0; x < g.axis[0].taps; ++x)
      for (int64_t y = 0; y < g.axis[1].taps; ++y)
        for (int64_t z = 0; z < g.axis[2].taps; ++z)
          *to++ = c * b.meets + (at(0, x) * b.copied[1].span + at(1, y)) * b.copied[2].span + at(2, z);
}

// Calls f(position in the box, image, place in a plane of the result, length) for runs of positions that are `out_step` of the last axis apart.
template <class F> void each_run(const Gather& g, const Box& b, F&& f) {
  const Axis &x = g.axis[0], &y = g.axis[1], &z = g.axis[2];
  const bool lines = z.out_step == 1 && b.size[2] == z.out && y.out_step == 1;
  const bool planes = lines && b.size[1] == y.out && x.out_step == 1;
  const int64_t xs = planes ? 1 : b.size[0], ys = lines ? 1 : b.size[1], length = b.size[0] / xs * (b.size[1] / ys) * b.size[2];
  int64_t position = 0;
  for (int64_t n = 0; n < b.images; ++n)
    for (int64_t i = 0; i < xs; ++i)
      for (int64_t j = 0; j < ys; ++j, position += length)
        f(position, b.image + n,
          ((x.out_start + (b.start[0] + i) * x.out_step) * y.out + y.out_start + (b.start[1] + j) * y.out_step) * z.out + z.out_start +
              b.start[2] * z.out_step,
          length);
}

// ---- The copy: [image][channel][x][y][z].

template <class T> inline void copy_line(const Axis& a, const Copied& copied, int64_t start, const T* from, T* to) {
  for (int64_t done = 0; done < copied.span; done += copied.length, start += copied.apart, to += copied.length) {
    const int64_t length = copied.length, step = copied.step;
    const int64_t lo = smaller(length, start < 0 ? (-start + step - 1) / step : 0);
    const int64_t hi = larger(lo, smaller(length, start < a.in ? (a.in - start + step - 1) / step : 0));
    for (int64_t l = 0; l < lo; ++l) to[l] = T(0);
    if (step == 1) {
      const T* s = from + start;
      int64_t l = lo;
      for (; l + kLanes<T> <= hi; l += kLanes<T>) store<T>(to + l, load<T>(s + l));
      if (l < hi) copy_few<T>(to + l, s + l, hi - l);
    } else if (lo < hi) {
      copy_apart<T>(to + lo, from + start + lo * step, hi - lo, step);
    }
    for (int64_t l = hi; l < length; ++l) to[l] = T(0);
  }
}

template <class T> void copy_box(const Gather& g, const Boxes& boxes, const Box& b, const T* in, int64_t image_step, int64_t c,
                                 int64_t channels, T* copy) {
  int64_t first[3];
  for (int d = 0; d < 3; ++d) {
    const Axis& a = g.axis[d];
    first[d] = b.start[d] * a.in_step + smaller(a.offset, a.offset + (a.taps - 1) * a.offset_step);
  }
  const Axis &x = g.axis[0], &y = g.axis[1], &z = g.axis[2];
  const int64_t width = b.copied[2].span;
  for (int64_t n = 0; n < b.images; ++n)
    for (int64_t k = 0; k < channels; ++k) {
      const T* plane = in + (b.image + n) * image_step + (c + k) * g.in_plane();
      T* to = copy + (n * boxes.block_channels + k) * b.meets;
      for (int64_t i = 0; i < b.copied[0].span; ++i) {
        const int64_t ix = first[0] + b.copied[0].source(i);
        for (int64_t j = 0; j < b.copied[1].span; ++j, to += width) {
          const int64_t iy = first[1] + b.copied[1].source(j);
          if (ix < 0 || ix >= x.in || iy < 0 || iy >= y.in) {
            std::fill_n(to, width, T(0));
          } else {
            copy_line<T>(z, b.copied[2], first[2], plane + (ix * y.in + iy) * z.in, to);
          }
        }
      }
    }
}

// ---- Products.

// c[i][j] = start[j], or what c held, + sum over k of a[held[i] + walked[k]] * b[k][j]; kN vectors of kW lanes of j.
template <class T, int kM, int kN, int kW>
inline __attribute__((always_inline)) void box_tile(const T* a, const int64_t* held, const int64_t* walked, int64_t depth, const T* b,
                                                    int64_t ldb, T* c, int64_t ldc, const T* start) {
  using V = typename Vec<T, kW>::type;
  V sum[kM][kN];
  const T* at[kM];
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i) at[i] = a + held[i];
  const int64_t* const end = walked + depth;
  do {
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        sum[i][j] = V{};
        if (start) std::memcpy(&sum[i][j], start + j * kW, sizeof(V));
      }
    for (const int64_t* const stop = walked + smaller(kLongRun, end - walked); walked < stop; ++walked, b += ldb) {
      const int64_t far = *walked;
      V bv[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) std::memcpy(&bv[j], b + j * kW, sizeof(V));
#pragma GCC unroll 8
      for (int i = 0; i < kM; ++i) {
        const T x = at[i][far];
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) sum[i][j] += x * bv[j];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        T* const to = c + i * ldc + j * kW;
        V before{};
        if (!start) std::memcpy(&before, to, sizeof(V));
        sum[i][j] += before;
        std::memcpy(to, &sum[i][j], sizeof(V));
      }
    start = nullptr;
  } while (walked < end);
}

// The same for any number of rows. `start` is null where sums go on.
template <class T, int kN, int kW> void box_rows(int64_t rows, const T* a, const int64_t* held, const int64_t* walked, int64_t depth,
                                                 const T* b, int64_t ldb, T* c, int64_t ldc, const T* start) {
  int64_t i = 0;
  for (; i + kTall <= rows; i += kTall) box_tile<T, kTall, kN, kW>(a, held + i, walked, depth, b, ldb, c + i * ldc, ldc, start);
  if (kTall > 4 && i + 4 <= rows) {
    box_tile<T, 4, kN, kW>(a, held + i, walked, depth, b, ldb, c + i * ldc, ldc, start);
    i += 4;
  }
  for (; i + 2 <= rows; i += 2) box_tile<T, 2, kN, kW>(a, held + i, walked, depth, b, ldb, c + i * ldc, ldc, start);
  if (i < rows) box_tile<T, 1, kN, kW>(a, held + i, walked, depth, b, ldb, c + i * ldc, ldc, start);
}

// Columns are whole panels of kWide vectors, then a vector, then half of one.
template <class T> inline constexpr int kHalf = kLanes<T> / 2;
template <class T> inline int64_t box_width(int64_t columns) { return round_up(columns, kHalf<T>); }
template <class T> inline int64_t panel_width(int64_t left) {
  return left >= kPanel<T> ? kPanel<T> : left >= kLanes<T> ? kLanes<T> : kHalf<T>;
}

// f(first column, columns, box_rows for them) for each panel.
template <class T, class F> void each_panel(int64_t width, F&& f) {
  for (int64_t j = 0, columns; j < width; j += columns) {
    columns = panel_width<T>(width - j);
    f(j, columns,
      columns == kPanel<T>   ? box_rows<T, kWide, kLanes<T>>
      : columns == kLanes<T> ? box_rows<T, 1, kLanes<T>>
                             : box_rows<T, 1, kHalf<T>>);
  }
}

// What a thread works in.
template <class T> struct BoxMemory {
  T *copy, *beside;  // `beside` has [position][width]: sums, or what the weights are multiplied with
  int64_t *positions, *taps;
  BoxMemory(const Boxes& boxes, int64_t width, char* memory)
      : copy(reinterpret_cast<T*>(memory)),
        beside(copy + round_up(boxes.most_copied, 16)),
        positions(reinterpret_cast<int64_t*>(beside + round_up(boxes.most_positions * width, 16))),
        taps(positions + boxes.most_positions) {}
  static int64_t bytes(const Gather& g, const Boxes& boxes, int64_t width) {
    return (round_up(boxes.most_copied, 16) + round_up(boxes.most_positions * width, 16)) * static_cast<int64_t>(sizeof(T)) +
           round_up((boxes.most_positions + boxes.block_channels * g.taps()) * 8, 64);
  }
};

}  // namespace
}  // namespace retrograd::cpu
