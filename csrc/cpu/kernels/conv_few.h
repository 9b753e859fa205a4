// Convolutions with few positions in all, as small images end in: the weights are most of the work, and are read where they lie. And those with
// few multiplications in all.
#pragma once

#include "cpu/kernels/conv_tiles.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kFew = 16;

// Dot products end in sums across lanes, which few may have; one thread does it all.
template <class T> bool has_few(const ConvShape& s, ConvPass pass) {
  const int64_t depth = s.in_channels * s.taps();
  if (depth < kPanel<T> || s.groups * s.out_channels * depth > 128 * 1024) return false;
  return s.batch * s.out_plane() <= (pass == ConvPass::Out ? kFew / 4 : kFew);
}

template <class T> int64_t few_elements(const ConvShape& s) {
  return s.in_channels * s.taps() * (kPanel<T> + kFew) + s.out_channels * kTall;
}

// kO rows of weights times kP columns, both along their memory.
template <class T, int kO, int kP>
inline __attribute__((always_inline)) void dots(int64_t depth, const T* weight, const T* columns, T (&out)[kO][kP]) {
  using V = Vector<T>;
  V sum[kO][kP] = {};
  int64_t k = 0;
  for (; k + kLanes<T> <= depth; k += kLanes<T>) {
    V c[kP];
#pragma GCC unroll 4
    for (int p = 0; p < kP; ++p) c[p] = load<T>(columns + p * depth + k);
#pragma GCC unroll 4
    for (int o = 0; o < kO; ++o) {
      const V w = load<T>(weight + o * depth + k);
#pragma GCC unroll 4
      for (int p = 0; p < kP; ++p) sum[o][p] += w * c[p];
    }
  }
  for (int o = 0; o < kO; ++o)
    for (int p = 0; p < kP; ++p) {
      T lanes[kLanes<T>];
      store<T>(lanes, sum[o][p]);
      for (int half = kLanes<T> / 2; half; half /= 2)
        for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
      for (int64_t rest = k; rest < depth; ++rest) lanes[0] += weight[o * depth + rest] * columns[p * depth + rest];
      out[o][p] = lanes[0];
    }
}

// `out`: dot products of weights and columns.
template <class T> void few_out(const ConvShape& s, const Gather& g, const T* in, const T* weight, const T* bias, T* out, T* memory) {
  const int64_t taps = s.taps(), depth = s.in_channels * taps, plane = s.out_plane(), count = s.batch * plane;
  T* const across = memory;
  T* const cols = memory + depth * kPanel<T>;
  constexpr int64_t item = sizeof(T);
  for (int64_t group = 0; group < s.groups; ++group) {
    columns<T>(g, in + group * s.in_channels * s.in_plane(), s.groups * s.in_channels * s.in_plane(), 0, s.in_channels, 0, count, across);
    transpose<T>(reinterpret_cast<char*>(cols), depth * item, reinterpret_cast<const char*>(across), kPanel<T> * item, count, depth);
    const auto write = [&](int64_t o, int64_t p, T value) {
      const int64_t channel = group * s.out_channels + o;
      out[(p / plane * s.groups * s.out_channels + channel) * plane + p % plane] = value + (bias ? bias[channel] : T(0));
    };
    const T* w = weight + group * s.out_channels * depth;
    const auto block = [&]<int kO, int kP>(int64_t o, int64_t p) {
      T found[kO][kP];
      dots<T, kO, kP>(depth, w + o * depth, cols + p * depth, found);
      for (int i = 0; i < kO; ++i)
        for (int j = 0; j < kP; ++j) write(o + i, p + j, found[i][j]);
    };
    int64_t o = 0;
    for (; o + 4 <= s.out_channels; o += 4) {
      int64_t p = 0;
      for (; p + 4 <= count; p += 4) block.template operator()<4, 4>(o, p);
      for (; p < count; ++p) block.template operator()<4, 1>(o, p);
    }
    for (; o < s.out_channels; ++o)
      for (int64_t p = 0; p < count; ++p) block.template operator()<1, 1>(o, p);
  }
}

// kM positions, one panel of (channel, tap): c[i][j] = sum over o of a[o][i] * b[o][j].
template <class T, int kM> inline __attribute__((always_inline)) void few_tile(int64_t depth, const T* a, const T* b, int64_t ldb, T* c,
                                                                               int64_t ldc) {
  using V = Vector<T>;
  V sum[kM][kWide] = {};
  for (int64_t p = 0; p < depth; ++p, a += kTall, b += ldb) {
    V bv[kWide];
#pragma GCC unroll 4
    for (int j = 0; j < kWide; ++j) bv[j] = load<T>(b + j * kLanes<T>);
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kWide; ++j) sum[i][j] += a[i] * bv[j];
  }
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kWide; ++j) store<T>(c + i * ldc + j * kLanes<T>, sum[i][j]);
}

// What sums for `in` start with.
template <class T> void start_in(const ConvShape& s, const T* bias, T* in) {
  const int64_t plane = s.in_plane(), channels = s.groups * s.in_channels;
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t c = 0; c < channels; ++c, in += plane) std::fill_n(in, plane, bias ? bias[c] : T(0));
}

// `in`: what each position gives to each channel and tap, added where the tap meets the input.
template <class T> void few_in(const ConvShape& s, const T* out, const T* weight, const T* bias, T* in, T* memory) {
  const int64_t taps = s.taps(), width = s.in_channels * taps, plane = s.out_plane(), in_plane = s.in_plane(), count = s.batch * plane;
  T* const given = memory;  // [position][channel][tap]
  T* const turned = memory + width * (kPanel<T> + kFew);
  start_in(s, bias, in);
  for (int64_t group = 0; group < s.groups; ++group) {
    const T* w = weight + group * s.out_channels * width;
    for (int64_t q = 0; q < count; q += kTall) {
      const int64_t rows = smaller(kTall, count - q);
      for (int64_t o = 0; o < s.out_channels; ++o)
        for (int64_t r = 0; r < kTall; ++r)
          turned[o * kTall + r] =
              r < rows ? out[((q + r) / plane * s.groups * s.out_channels + group * s.out_channels + o) * plane + (q + r) % plane] : T(0);
      // The last panel overlaps the one before where the width is not a multiple.
      for (int64_t j = 0; j < width; j += kPanel<T>) {
        const int64_t at = smaller(j, width - kPanel<T>);
        if (rows > kTall / 2) {
          few_tile<T, kTall>(s.out_channels, turned, w + at, width, given + at, width);
        } else {
          few_tile<T, kTall / 2>(s.out_channels, turned, w + at, width, given + at, width);
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t p = (q + r) % plane, image = (q + r) / plane;
        const int64_t at[3] = {p / s.out[2] / s.out[1], p / s.out[2] % s.out[1], p % s.out[2]};
        T* to = in + (image * s.groups + group) * s.in_channels * in_plane;
        const T* from = given + r * width;
        for (int64_t x = 0, tap = 0; x < s.kernel[0]; ++x)
          for (int64_t y = 0; y < s.kernel[1]; ++y)
            for (int64_t z = 0; z < s.kernel[2]; ++z, ++tap) {
              const int64_t k[3] = {x, y, z};
              int64_t place = 0;
              bool inside = true;
              for (int d = 0; d < 3; ++d) {
                const int64_t i = at[d] * s.stride[d] - s.padding[d] + k[d] * s.dilation[d];
                inside = inside && i >= 0 && i < s.in[d];
                place = place * s.in[d] + i;
              }
              if (!inside) continue;
              for (int64_t c = 0; c < s.in_channels; ++c) to[c * in_plane + place] += from[c * taps + tap];
            }
      }
    }
  }
}

// Whether to find remainders and to lay out columns would take longer than to multiply.
inline bool is_tiny(const ConvShape& s) { return s.batch * s.groups * s.out_channels * s.out_plane() * s.in_channels * s.taps() <= 512; }

// `out` of those: a product of every position, tap after tap. They are the sums of conv_columns.h, also where they meet zeros around the input.
constexpr int64_t kTinyPlane = 512;  // elements of an input with its padding
inline bool is_tiny_out(const ConvShape& s) {
  int64_t plane = 1;
  for (int d = 0; d < 3; ++d) {
    const int64_t size = s.in[d] + 2 * s.padding[d];
    if (size > kTinyPlane / plane) return false;
    plane *= size;
  }
  return is_tiny(s) && s.in_channels * s.taps() <= kLongRun;
}

template <class T> void tiny_out(const ConvShape& s, const T* in, const T* weight, const T* bias, T* out) {
  const int64_t plane = s.out_plane(), taps = s.taps(), in_plane = s.in_plane();
  const bool padded = s.padding[0] || s.padding[1] || s.padding[2];
  int64_t size[3];
  for (int d = 0; d < 3; ++d) size[d] = s.in[d] + 2 * s.padding[d];
  int32_t starts[kTinyPlane], count = 0;
  for (int64_t x = 0; x < s.out[0]; ++x)
    for (int64_t y = 0; y < s.out[1]; ++y)
      for (int64_t z = 0; z < s.out[2]; ++z)
        starts[count++] = static_cast<int32_t>((x * s.stride[0] * size[1] + y * s.stride[1]) * size[2] + z * s.stride[2]);
  T around[kTinyPlane];
  if (padded) std::fill_n(around, size[0] * size[1] * size[2], T(0));
  const auto with_padding = [&](const T* from) {
    for (int64_t x = 0; x < s.in[0]; ++x)
      for (int64_t y = 0; y < s.in[1]; ++y, from += s.in[2]) {
        T* const to = around + ((x + s.padding[0]) * size[1] + y + s.padding[1]) * size[2] + s.padding[2];
        for (int64_t z = 0; z < s.in[2]; ++z) to[z] = from[z];
      }
    return static_cast<const T*>(around);
  };
  for (int64_t channel = 0; channel < s.batch * s.groups * s.out_channels; ++channel, out += plane) {
    const int64_t o = channel % (s.groups * s.out_channels);
    const T* w = weight + o * s.in_channels * taps;
    const T* from = in + channel / s.out_channels * s.in_channels * in_plane;
    T sums[kTinyPlane];
    std::fill_n(sums, plane, T(0) + (bias ? bias[o] : T(0)));
    for (int64_t c = 0; c < s.in_channels; ++c, from += in_plane) {
      const T* const first = padded ? with_padding(from) : from;
      for (int64_t x = 0; x < s.kernel[0]; ++x)
        for (int64_t y = 0; y < s.kernel[1]; ++y)
          for (int64_t z = 0; z < s.kernel[2]; ++z) {
            const T* const at = first + (x * s.dilation[0] * size[1] + y * s.dilation[1]) * size[2] + z * s.dilation[2];
            const T factor = *w++;
            for (int64_t i = 0; i < plane; ++i) sums[i] += factor * at[starts[i]];
          }
    }
    std::copy_n(sums, plane, out);
  }
}

// `in` of those: what all positions give through one tap after the other, from the last to the first. An element gets something from one position
// for each tap, so what it gets comes in the order of positions, as below.
template <class T> void tiny_in_by_taps(const ConvShape& s, const T* out, const T* weight, T* in) {
  const int64_t in_plane = s.in_plane(), plane = s.out_plane(), taps = s.taps();
  struct Met { int64_t lo, hi, start; };  // positions that a tap meets an element from; where it does at position 0
  const auto met = [&](int d, int64_t k) {
    const int64_t start = k * s.dilation[d] - s.padding[d], step = s.stride[d], left = s.in[d] - start;
    const auto count = [&](int64_t n) { return n <= 0 ? 0 : step == 1 ? n : (n + step - 1) / step; };
    return Met{count(-start), smaller(count(left), s.out[d]), start};
  };
  for (int64_t channel = 0; channel < s.batch * s.groups * s.out_channels; ++channel, out += plane) {
    const T* const w = weight + channel % (s.groups * s.out_channels) * s.in_channels * taps;
    T* const group = in + channel / s.out_channels * s.in_channels * in_plane;
    for (int64_t a = s.kernel[0] - 1, tap = taps - 1; a >= 0; --a) {
      const Met x = met(0, a);
      for (int64_t b = s.kernel[1] - 1; b >= 0; --b) {
        const Met y = met(1, b);
        for (int64_t c = s.kernel[2] - 1; c >= 0; --c, --tap) {
          const Met z = met(2, c);
          for (int64_t k = 0; k < s.in_channels; ++k) {
            const T factor = w[k * taps + tap];
            for (int64_t i = x.lo; i < x.hi; ++i)
              for (int64_t j = y.lo; j < y.hi; ++j) {
                const T* const from = out + (i * s.out[1] + j) * s.out[2];
                T* const to =
                    group + k * in_plane + ((x.start + i * s.stride[0]) * s.in[1] + y.start + j * s.stride[1]) * s.in[2] + z.start;
                for (int64_t l = z.lo; l < z.hi; ++l) to[l * s.stride[2]] += from[l] * factor;
              }
          }
        }
      }
    }
  }
}

// One product after the other.
template <class T> void tiny_in(const ConvShape& s, const T* out, const T* weight, const T* bias, T* in) {
  const int64_t plane = s.in_plane(), taps = s.taps();
  start_in(s, bias, in);
  if (s.out_plane() >= taps) return tiny_in_by_taps(s, out, weight, in);
  const auto inside = [&](int d, int64_t p, int64_t k, int64_t* i) {
    *i = p * s.stride[d] - s.padding[d] + k * s.dilation[d];
    return *i >= 0 && *i < s.in[d];
  };
  // What one position gives to one channel.
  const auto spread = [&](const int64_t* at, T value, const T* w, T* to) {
    int64_t i, j, l;
    for (int64_t x = 0; x < s.kernel[0]; ++x, w += s.kernel[1] * s.kernel[2]) {
      if (!inside(0, at[0], x, &i)) continue;
      for (int64_t y = 0; y < s.kernel[1]; ++y) {
        if (!inside(1, at[1], y, &j)) continue;
        for (int64_t z = 0; z < s.kernel[2]; ++z)
          if (inside(2, at[2], z, &l)) to[(i * s.in[1] + j) * s.in[2] + l] += value * w[y * s.kernel[2] + z];
      }
    }
  };
  for (int64_t image = 0; image < s.batch; ++image)
    for (int64_t channel = 0; channel < s.groups * s.out_channels; ++channel) {
      const T* const w = weight + channel * s.in_channels * taps;
      T* const to = in + (image * s.groups + channel / s.out_channels) * s.in_channels * plane;
      for (int64_t x = 0; x < s.out[0]; ++x)
        for (int64_t y = 0; y < s.out[1]; ++y)
          for (int64_t z = 0; z < s.out[2]; ++z, ++out) {
            const int64_t at[3] = {x, y, z};
            for (int64_t c = 0; c < s.in_channels; ++c) spread(at, *out, w + c * taps, to + c * plane);
          }
    }
}

}  // namespace
}  // namespace retrograd::cpu
