// A plane at a time is copied to where it has zeros around it; then every tap is a load, and there are no edges to mind.
#include "cpu/kernels/conv_depthwise.h"

#include <algorithm>

#include "cpu/kernels/conv_tiles.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kGrain = 32768;
constexpr int kL = kLanes<float>;
using V = Vector<float>;

// A plane with room around it.
struct Padded {
  int64_t height, width;  // width in whole vectors and more, so that loads may pass the end of a row
};

// What is read: `rows` x `columns` elements from (top, left) on, spread `step` apart.
struct Placed { int64_t rows, columns, top, left, step; };

// Taps at distance `reach` read for `out` positions `stride` apart.
Padded padded(const int64_t* out, const int64_t* stride, const int64_t* kernel, const int64_t* dilation) {
  return {(out[1] - 1) * stride[1] + dilation[1] * (kernel[1] - 1) + 1,
          round_up(out[2], kL) * stride[2] + dilation[2] * (kernel[2] - 1) + kL};
}

void place(const float* plane, const Placed& p, const Padded& shape, float* to) {
  std::memset(to, 0, static_cast<size_t>(shape.height * shape.width) * sizeof(float));
  for (int64_t y = 0; y < p.rows; ++y) {
    const int64_t row = p.top + y * p.step;
    if (row < 0 || row >= shape.height) continue;
    const int64_t from = p.left < 0 ? (-p.left + p.step - 1) / p.step : 0;
    const int64_t end = smaller(p.columns, (shape.width - p.left + p.step - 1) / p.step);
    const float* s = plane + y * p.columns;
    float* d = to + row * shape.width + p.left;
    if (p.step == 1) {
      if (end > from) std::memcpy(d + from, s + from, static_cast<size_t>(end - from) * sizeof(float));
    } else {
      for (int64_t x = from; x < end; ++x) d[x * p.step] = s[x];
    }
  }
}

inline V evens(V a, V b) {
  return [&]<size_t... I>(std::index_sequence<I...>) { return __builtin_shufflevector(a, b, (2 * I)...); }(std::make_index_sequence<kL>{});
}

template <int kStride> inline V take(const float* p) {
  if constexpr (kStride == 1) return load<float>(p);
  return evens(load<float>(p), load<float>(p + kL));
}

// One plane of the result. kSide: the kernel is kSide x kSide, and its weights stay in registers; 0: any.
template <int kStride, int kSide>
void slide(const ConvShape& s, const int64_t* out, const float* in, const Padded& shape, const float* weight, float start, float* to) {
  const int64_t kh = kSide ? kSide : s.kernel[1], kw = kSide ? kSide : s.kernel[2], dy = s.dilation[1] * shape.width, dx = s.dilation[2];
  V w[kSide ? kSide * kSide : 1];
  for (int i = 0; i < kSide * kSide; ++i) w[i] = V{} + weight[i];
  for (int64_t y = 0; y < out[1]; ++y) {
    const float* row = in + y * kStride * shape.width;
    for (int64_t x = 0; x < out[2]; x += kL) {
      V sum = V{} + start;
      const float* at = row + x * kStride;
      if constexpr (kSide != 0) {
#pragma GCC unroll 8
        for (int i = 0; i < kSide; ++i)
#pragma GCC unroll 8
          for (int j = 0; j < kSide; ++j) sum += w[i * kSide + j] * take<kStride>(at + i * dy + j * dx);
      } else {
        for (int64_t i = 0; i < kh; ++i)
          for (int64_t j = 0; j < kw; ++j) sum += weight[i * kw + j] * take<kStride>(at + i * dy + j * dx);
      }
      float* d = to + y * out[2] + x;
      if (x + kL <= out[2]) {
        store<float>(d, sum);
      } else {
        std::memcpy(d, &sum, static_cast<size_t>(out[2] - x) * sizeof(float));
      }
    }
  }
}

template <int kStride> void slide(const ConvShape& s, const int64_t* out, const float* in, const Padded& shape, const float* weight,
                                  float start, float* to) {
  if (s.kernel[1] == 3 && s.kernel[2] == 3) return slide<kStride, 3>(s, out, in, shape, weight, start, to);
  if (s.kernel[1] == 5 && s.kernel[2] == 5) return slide<kStride, 5>(s, out, in, shape, weight, start, to);
  slide<kStride, 0>(s, out, in, shape, weight, start, to);
}

// The products of a plane and the gradient of its result, summed for each tap in lanes that go on from plane to plane.
template <int kStride> void tap_sums(const ConvShape& s, const float* in, const Padded& shape, const float* grad, int64_t grad_width,
                                     V* sums) {
  const int64_t kw = s.kernel[2];
  for (int64_t i = 0; i < s.kernel[1]; ++i)
    for (int64_t j0 = 0; j0 < kw; j0 += 3) {
      const int64_t taps = smaller(3, kw - j0), dx = s.dilation[2];
      V a = sums[i * kw + j0], b = taps > 1 ? sums[i * kw + j0 + 1] : V{}, c = taps > 2 ? sums[i * kw + j0 + 2] : V{};
      const int64_t second = taps > 1 ? dx : 0, third = taps > 2 ? 2 * dx : 0;
      for (int64_t y = 0; y < s.out[1]; ++y) {
        const float* row = in + (y * kStride + i * s.dilation[1]) * shape.width + j0 * dx;
        for (int64_t x = 0; x < s.out[2]; x += kL) {
          const V g = load<float>(grad + y * grad_width + x);
          a += g * take<kStride>(row + x * kStride);
          b += g * take<kStride>(row + x * kStride + second);
          c += g * take<kStride>(row + x * kStride + third);
        }
      }
      sums[i * kw + j0] = a;
      if (taps > 1) sums[i * kw + j0 + 1] = b;
      if (taps > 2) sums[i * kw + j0 + 2] = c;
    }
}

// ---- Steps of 1 and small kernels, where loads can leave lanes out: from the plane as it lies.

#if defined(__AVX512VL__)
constexpr bool kLeavesOut = true;

// One vector of positions from `x` on: for each tap along the row where it reads, and which lanes are inside.
template <int kSide> struct Window {
  int64_t at[kSide];
  __mmask16 inside[kSide], wanted;
  Window(int64_t x, int64_t left, int64_t dilation, int64_t in_width, int64_t out_width) {
    const auto below = [](int64_t n) { return n >= 16 ? 0xffffu : n <= 0 ? 0u : (1u << n) - 1; };
    wanted = static_cast<__mmask16>(below(out_width - x));
    for (int j = 0; j < kSide; ++j) {
      at[j] = x - left + j * dilation;
      inside[j] = static_cast<__mmask16>(below(in_width - at[j]) & ~below(-at[j]) & wanted);
    }
  }
};

template <int kSide>
void slide_direct(const int64_t* dilation, const int64_t* in, const int64_t* out, int64_t top, int64_t left, const float* plane,
                  const float* weight, float start, float* to) {
  __m512 w[kSide * kSide];
  for (int i = 0; i < kSide * kSide; ++i) w[i] = _mm512_set1_ps(weight[i]);
  for (int64_t x = 0; x < out[2]; x += 16) {
    const Window<kSide> window(x, left, dilation[2], in[2], out[2]);
    for (int64_t y = 0; y < out[1]; ++y) {
      __m512 sum = _mm512_set1_ps(start);
#pragma GCC unroll 8
      for (int i = 0; i < kSide; ++i) {
        const int64_t row = y - top + i * dilation[1];
        if (row < 0 || row >= in[1]) continue;
#pragma GCC unroll 8
        for (int j = 0; j < kSide; ++j)
          sum = _mm512_fmadd_ps(w[i * kSide + j], _mm512_maskz_loadu_ps(window.inside[j], plane + row * in[2] + window.at[j]), sum);
      }
      _mm512_mask_storeu_ps(to + y * out[2] + x, window.wanted, sum);
    }
  }
}

template <int kSide> void tap_sums_direct(const ConvShape& s, const float* plane, const float* grad, V* sums) {
  __m512 sum[kSide * kSide];
  for (int i = 0; i < kSide * kSide; ++i) sum[i] = (__m512)sums[i];
  for (int64_t x = 0; x < s.out[2]; x += 16) {
    const Window<kSide> window(x, s.padding[2], s.dilation[2], s.in[2], s.out[2]);
    for (int64_t y = 0; y < s.out[1]; ++y) {
      const __m512 g = _mm512_maskz_loadu_ps(window.wanted, grad + y * s.out[2] + x);
#pragma GCC unroll 8
      for (int i = 0; i < kSide; ++i) {
        const int64_t row = y - s.padding[1] + i * s.dilation[1];
        if (row < 0 || row >= s.in[1]) continue;
#pragma GCC unroll 8
        for (int j = 0; j < kSide; ++j)
          sum[i * kSide + j] =
              _mm512_fmadd_ps(g, _mm512_maskz_loadu_ps(window.inside[j], plane + row * s.in[2] + window.at[j]), sum[i * kSide + j]);
      }
    }
  }
  for (int i = 0; i < kSide * kSide; ++i) sums[i] = (V)sum[i];
}
#else
constexpr bool kLeavesOut = false;
template <int kSide>
void slide_direct(const int64_t*, const int64_t*, const int64_t*, int64_t, int64_t, const float*, const float*, float, float*) {}
template <int kSide> void tap_sums_direct(const ConvShape&, const float*, const float*, V*) {}
#endif

bool is_direct(const ConvShape& s) { return kLeavesOut && s.kernel[1] == 3 && s.kernel[2] == 3 && s.stride[1] == 1 && s.stride[2] == 1; }

struct Room {
  Padded shape;
  int64_t grad_width;  // of rows of the gradient, in whole vectors
  int64_t bytes;       // for each thread
};
Room room_of(const ConvShape& s, ConvPass pass) {
  constexpr int64_t one[3] = {1, 1, 1};
  Room r{};
  r.shape = pass == ConvPass::In ? padded(s.in, one, s.kernel, s.dilation) : padded(s.out, s.stride, s.kernel, s.dilation);
  r.grad_width = round_up(s.out[2], kL);
  int64_t elements = r.shape.height * r.shape.width;
  if (pass == ConvPass::Weight) elements += s.out[1] * r.grad_width + s.taps() * kL;
  if (pass == ConvPass::In) elements += s.taps();
  r.bytes = round_up(elements * static_cast<int64_t>(sizeof(float)), 64);
  return r;
}

int64_t plane_grain(const ConvShape& s) { return larger(1, kGrain / (s.taps() * (s.out_plane() + s.in_plane()))); }

}  // namespace

bool is_depthwise(const ConvShape& s) {
  if (s.in_channels != 1 || s.out_channels != 1 || s.in[0] != 1 || s.kernel[0] != 1 || s.padding[0] != 0 || s.stride[0] != 1) return false;
  return s.stride[2] <= 2 && (s.stride[1] == s.stride[2] || (s.in[1] == 1 && s.out[1] == 1 && s.kernel[1] == 1));
}

int64_t depthwise_bytes(const ConvShape& s, ConvPass pass) { return room_of(s, pass).bytes * num_threads(); }

void depthwise_out(const ConvShape& s, const float* in, const float* weight, const float* bias, float* out, Workspace work) {
  const Room room = room_of(s, ConvPass::Out);
  Slots slots(static_cast<char*>(work.data), room.bytes, work.bytes / room.bytes);
  parallel_for(0, s.batch * s.groups, plane_grain(s), [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    float* const memory = reinterpret_cast<float*>(slot.data);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % s.groups;
      if (is_direct(s)) {
        slide_direct<3>(s.dilation, s.in, s.out, s.padding[1], s.padding[2], in + i * s.in_plane(), weight + c * 9, bias ? bias[c] : 0.0f,
                        out + i * s.out_plane());
        continue;
      }
      place(in + i * s.in_plane(), {s.in[1], s.in[2], s.padding[1], s.padding[2], 1}, room.shape, memory);
      (s.stride[2] == 1 ? slide<1> : slide<2>)(s, s.out, memory, room.shape, weight + c * s.taps(), bias ? bias[c] : 0.0f,
                                               out + i * s.out_plane());
    }
  });
}

void depthwise_in(const ConvShape& s, const float* out, const float* weight, const float* bias, float* in, Workspace work) {
  const Room room = room_of(s, ConvPass::In);
  Slots slots(static_cast<char*>(work.data), room.bytes, work.bytes / room.bytes);
  const int64_t taps = s.taps();
  const Placed placed{s.out[1], s.out[2], s.dilation[1] * (s.kernel[1] - 1) - s.padding[1],
                      s.dilation[2] * (s.kernel[2] - 1) - s.padding[2], s.stride[2]};
  parallel_for(0, s.batch * s.groups, plane_grain(s), [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    float* const memory = reinterpret_cast<float*>(slot.data);
    float* const turned = memory + room.shape.height * room.shape.width;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % s.groups;
      for (int64_t t = 0; t < taps; ++t) turned[t] = weight[c * taps + taps - 1 - t];
      if (is_direct(s)) {
        slide_direct<3>(s.dilation, s.out, s.in, placed.top, placed.left, out + i * s.out_plane(), turned, bias ? bias[c] : 0.0f,
                        in + i * s.in_plane());
        continue;
      }
      place(out + i * s.out_plane(), placed, room.shape, memory);
      slide<1>(s, s.in, memory, room.shape, turned, bias ? bias[c] : 0.0f, in + i * s.in_plane());
    }
  });
}

void depthwise_weight(const ConvShape& s, const float* in, const float* out, float* weight, Workspace work) {
  const Room room = room_of(s, ConvPass::Weight);
  Slots slots(static_cast<char*>(work.data), room.bytes, work.bytes / room.bytes);
  const int64_t taps = s.taps();
  parallel_for(0, s.groups, larger(1, plane_grain(s) / s.batch), [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    float* const lanes = reinterpret_cast<float*>(slot.data);
    float* const memory = lanes + taps * kL;
    float* const grad = memory + room.shape.height * room.shape.width;
    V* const sums = reinterpret_cast<V*>(lanes);
    for (int64_t c = begin; c < end; ++c) {
      for (int64_t t = 0; t < taps; ++t) sums[t] = V{};
      for (int64_t n = 0; n < s.batch; ++n) {
        const int64_t i = n * s.groups + c;
        if (is_direct(s)) {
          tap_sums_direct<3>(s, in + i * s.in_plane(), out + i * s.out_plane(), sums);
          continue;
        }
        place(in + i * s.in_plane(), {s.in[1], s.in[2], s.padding[1], s.padding[2], 1}, room.shape, memory);
        place(out + i * s.out_plane(), {s.out[1], s.out[2], 0, 0, 1}, {s.out[1], room.grad_width}, grad);
        (s.stride[2] == 1 ? tap_sums<1> : tap_sums<2>)(s, memory, room.shape, grad, room.grad_width, sums);
      }
      for (int64_t t = 0; t < taps; ++t) {
        float total = 0;
        for (int l = 0; l < kL; ++l) total += lanes[t * kL + l];
        weight[c * taps + t] = total;
      }
    }
  });
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
