// Columns of sliding blocks in memory, and their sums.
#include "cpu/kernels/conv_fold.h"

#include <algorithm>

#include "core/dtype.h"
#include "cpu/kernels/conv_plan.h"
#include "cpu/parallel.h"
#include "kernels/element.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kGrain = 32768;

// What one tap meets along an axis: in[j * step + start], inside for lo <= j < hi.
struct Reach { int64_t start, step, lo, hi; };
Reach reach_of(const ConvShape& s, int d, int64_t k) {
  const int64_t start = k * s.dilation[d] - s.padding[d], step = s.stride[d];
  const int64_t lo = start < 0 ? (-start + step - 1) / step : 0, hi = start < s.in[d] ? (s.in[d] - start + step - 1) / step : 0;
  return {start, step, smaller(lo, s.out[d]), smaller(hi, s.out[d])};
}

// Calls row(column offset, in offset, reach) for the rows of one tap that are inside, and outside(column offset) for the others.
template <class R, class O> void rows_of_tap(const ConvShape& s, int64_t tap, R&& row, O&& outside) {
  const Reach x = reach_of(s, 0, tap / s.kernel[2] / s.kernel[1]), y = reach_of(s, 1, tap / s.kernel[2] % s.kernel[1]),
              z = reach_of(s, 2, tap % s.kernel[2]);
  for (int64_t i = 0; i < s.out[0]; ++i)
    for (int64_t j = 0; j < s.out[1]; ++j) {
      const int64_t at = (i * s.out[1] + j) * s.out[2];
      if (i < x.lo || i >= x.hi || j < y.lo || j >= y.hi || z.lo >= z.hi) {
        outside(at);
      } else {
        row(at, ((i * x.step + x.start) * s.in[1] + j * y.step + y.start) * s.in[2] + z.start, z);
      }
    }
}

template <class T> void unfold_as(const ConvShape& s, const T* in, T* columns) {
  const int64_t taps = s.taps(), in_plane = s.in_plane(), out_plane = s.out_plane(), width = s.out[2];
  parallel_for(0, s.batch * s.in_channels * taps, larger(1, kGrain / out_plane), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = in + i / taps * in_plane;
      T* to = columns + i * out_plane;
      rows_of_tap(
          s, i % taps,
          [&](int64_t at, int64_t place, const Reach& z) {
            T* d = to + at;
            const T* p = from + place;
            std::fill(d, d + z.lo, T{});
            if (z.step == 1) {
              std::copy(p + z.lo, p + z.hi, d + z.lo);
            } else {
              for (int64_t l = z.lo; l < z.hi; ++l) d[l] = p[l * z.step];
            }
            std::fill(d + z.hi, d + width, T{});
          },
          [&](int64_t at) { std::fill(to + at, to + at + width, T{}); });
    }
  });
}

template <class T> void fold_as(const ConvShape& s, const T* columns, T* in) {
  using C = compute_t<T>;
  const int64_t taps = s.taps(), in_plane = s.in_plane(), out_plane = s.out_plane();
  parallel_for(0, s.batch * s.in_channels, larger(1, kGrain / (out_plane * taps)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* to = in + i * in_plane;
      std::fill(to, to + in_plane, T(C(0)));
      for (int64_t tap = 0; tap < taps; ++tap) {
        const T* from = columns + (i * taps + tap) * out_plane;
        rows_of_tap(
            s, tap,
            [&](int64_t at, int64_t place, const Reach& z) {
              for (int64_t l = z.lo; l < z.hi; ++l) {
                T& d = to[place + l * z.step];
                d = T(static_cast<C>(d) + static_cast<C>(from[at + l]));
              }
            },
            [](int64_t) {});
      }
    }
  });
}

}  // namespace

void unfold(int64_t itemsize, const ConvShape& s, const void* in, void* columns) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    unfold_as(s, static_cast<const T*>(in), static_cast<T*>(columns));
  };
  switch (itemsize) {
    case 1: return as(uint8_t{});
    case 2: return as(uint16_t{});
    case 4: return as(uint32_t{});
    case 8: return as(uint64_t{});
    default: return as(Complex<double>{});
  }
}

void fold(DType dtype, const ConvShape& s, const void* columns, void* in) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    fold_as(s, static_cast<const T*>(columns), static_cast<T*>(in));
  };
  switch (dtype) {
    case DType::Float16: return as(Half{});
    case DType::BFloat16: return as(BFloat16{});
    case DType::Float32: return as(float{});
    case DType::Float64: return as(double{});
    case DType::Complex64: return as(Complex<float>{});
    default: return as(Complex<double>{});
  }
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
