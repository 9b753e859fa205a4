// Which way a convolution goes. The general ones are sums over taps in boxes of positions (conv_boxes.h), or in columns where these
// are not much more than what is read (conv_columns.h).
#include "kernels/conv.h"
#include "cpu/isa.h"

#include <algorithm>

#include "cpu/kernels/conv_box_sums.h"
#include "cpu/kernels/conv_columns.h"
#include "cpu/kernels/conv_depthwise.h"
#include "cpu/kernels/conv_few.h"
#include "cpu/kernels/conv_fold.h"
#include "cpu/kernels/conv_winograd.h"

namespace retrograd::cpu {
namespace {

// ---- A sum over taps, for `out` and, remainder by remainder, for `in`.

Gather gather_out(const ConvShape& s) {
  Gather g{
      s.batch, s.groups, s.in_channels, s.out_channels, {}, s.in_channels * s.taps(), s.taps(), s.out_channels * s.in_channels * s.taps(),
      {}};
  for (int d = 0; d < 3; ++d) {
    g.axis[d] = {s.in[d], s.out[d], s.out[d], s.stride[d], 1, 0, s.kernel[d], 0, 1, -s.padding[d], s.dilation[d]};
    g.kernel[d] = s.kernel[d];
  }
  return g;
}

// in[i] with i = r + j * stride sums out[(i + padding - k * dilation) / stride] over the k that divide: every tap_step-th one.
// False when there is none.
bool remainder_axis(const ConvShape& s, int d, int64_t r, Axis* axis) {
  const int64_t stride = s.stride[d], dilation = s.dilation[d];
  int64_t gcd = stride, other = dilation % stride;
  while (other) {
    const int64_t t = gcd % other;
    gcd = other;
    other = t;
  }
  const int64_t tap_step = stride / gcd;
  int64_t first = 0;
  while (first < smaller(tap_step, s.kernel[d]) && (r + s.padding[d] - first * dilation) % stride) ++first;
  if (first == smaller(tap_step, s.kernel[d]) || r >= s.in[d]) return false;
  *axis = {s.out[d],
           s.in[d],
           (s.in[d] - r + stride - 1) / stride,
           1,
           stride,
           r,
           (s.kernel[d] - first + tap_step - 1) / tap_step,
           first,
           tap_step,
           (r + s.padding[d] - first * dilation) / stride,
           -tap_step * dilation / stride};
  return true;
}

// Calls f(Gather) for every remainder of each axis that some tap reaches; tells whether they are all.
template <class F> bool for_each_remainder(const ConvShape& s, F&& f) {
  Gather g{s.batch, s.groups, s.out_channels,           s.in_channels,
           {},      s.taps(), s.in_channels * s.taps(), s.out_channels * s.in_channels * s.taps(),
           {}};
  for (int d = 0; d < 3; ++d) g.kernel[d] = s.kernel[d];
  bool all = true;
  const auto most = [&](int d) { return smaller(s.stride[d], s.in[d]); };
  for (int64_t x = 0; x < most(0); ++x) {
    if (!remainder_axis(s, 0, x, &g.axis[0])) {
      all = false;
      continue;
    }
    for (int64_t y = 0; y < most(1); ++y) {
      if (!remainder_axis(s, 1, y, &g.axis[1])) {
        all = false;
        continue;
      }
      for (int64_t z = 0; z < most(2); ++z) {
        if (remainder_axis(s, 2, z, &g.axis[2])) {
          f(g);
        } else {
          all = false;
        }
      }
    }
  }
  return all;
}

template <class T> void run(const Gather& g, const T* in, const T* weight, const T* bias, T* out, Workspace work) {
  (boxes_win<T>(g) ? run_boxes<T> : run_columns<T>)(g, in, weight, bias, out, work);
}
template <class T> int64_t bytes_of(const Gather& g) { return boxes_win<T>(g) ? box_bytes<T>(g) : column_bytes<T>(g); }

// ---- By dtype.

template <class F> auto visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f(float{});
    case DType::Float64: return f(double{});
    default: return f(uint64_t{});
  }
}

bool depthwise(DType dtype, const ConvShape& s) { return dtype == DType::Float32 && is_depthwise(s); }
bool winograd(DType dtype, const ConvShape& s, ConvPass pass) { return dtype == DType::Float32 && winograd_wins(s, pass); }

int64_t workspace(DType dtype, const ConvShape& s, ConvPass pass) {
  if (winograd(dtype, s, pass)) return winograd_bytes(s, pass);
  if (depthwise(dtype, s)) return depthwise_bytes(s, pass);
  return visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (pass == ConvPass::Weight) return weight_bytes<T>(gather_out(s));
    if (has_few<T>(s, pass)) return few_elements<T>(s) * static_cast<int64_t>(sizeof(T));
    if (pass == ConvPass::Out) return is_tiny_out(s) ? 0 : bytes_of<T>(gather_out(s));
    if (is_tiny(s)) return int64_t{0};
    int64_t most = 0;
    for_each_remainder(s, [&](const Gather& g) { most = larger(most, bytes_of<T>(g)); });
    return most;
  });
}

void out(DType dtype, const ConvShape& s, const void* in, const void* weight, const void* bias, void* out, Workspace work) {
  if (winograd(dtype, s, ConvPass::Out))
    return winograd_out(s, static_cast<const float*>(in), static_cast<const float*>(weight), static_cast<const float*>(bias),
                        static_cast<float*>(out), work);
  if (depthwise(dtype, s))
    return depthwise_out(s, static_cast<const float*>(in), static_cast<const float*>(weight), static_cast<const float*>(bias),
                         static_cast<float*>(out), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (has_few<T>(s, ConvPass::Out))
      return few_out<T>(s, gather_out(s), static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias),
                        static_cast<T*>(out), static_cast<T*>(work.data));
    if (is_tiny_out(s))
      return tiny_out<T>(s, static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(out));
    run<T>(gather_out(s), static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(out),
           work);
  });
}

void in(DType dtype, const ConvShape& s, const void* out, const void* weight, const void* bias, void* in, Workspace work) {
  if (winograd(dtype, s, ConvPass::In))
    return winograd_in(s, static_cast<const float*>(out), static_cast<const float*>(weight), static_cast<const float*>(bias),
                       static_cast<float*>(in), work);
  if (depthwise(dtype, s))
    return depthwise_in(s, static_cast<const float*>(out), static_cast<const float*>(weight), static_cast<const float*>(bias),
                        static_cast<float*>(in), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (has_few<T>(s, ConvPass::In))
      return few_in<T>(s, static_cast<const T*>(out), static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(in),
                       static_cast<T*>(work.data));
    T* const result = static_cast<T*>(in);
    const T* const start = static_cast<const T*>(bias);
    if (is_tiny(s)) return tiny_in<T>(s, static_cast<const T*>(out), static_cast<const T*>(weight), start, result);
    const auto each = [&](const Gather& g) { run<T>(g, static_cast<const T*>(out), static_cast<const T*>(weight), start, result, work); };
    if (!for_each_remainder(s, [](const Gather&) {})) {  // what no tap reaches
      const int64_t plane = s.in_plane(), channels = s.groups * s.in_channels;
      parallel_for(0, s.batch * channels, larger(1, kWorthThread / plane), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::fill_n(result + i * plane, plane, start ? start[i % channels] : T(0));
      });
    }
    for_each_remainder(s, each);
  });
}

void weight(DType dtype, const ConvShape& s, const void* in, const void* out, void* weight, Workspace work) {
  if (depthwise(dtype, s))
    return depthwise_weight(s, static_cast<const float*>(in), static_cast<const float*>(out), static_cast<float*>(weight), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    run_weight<T>(gather_out(s), static_cast<const T*>(in), static_cast<const T*>(out), static_cast<T*>(weight), work);
  });
}

}  // namespace

RG_EXPORT_KERNELS(ConvKernels, conv) = {
    .workspace = workspace, .out = out, .in = in, .weight = weight, .unfold = RG_LEVEL_NS::unfold, .fold = RG_LEVEL_NS::fold};

}  // namespace retrograd::cpu
