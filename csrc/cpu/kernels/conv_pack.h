// Weights as products in registers read them. Local to each file that includes it (see isa.h).
#pragma once

#include "cpu/kernels/conv_tiles.h"

namespace retrograd::cpu {
namespace {

// Rows [row, row + rows) of a group's weights as [channel and tap][width], zero past the rows.
template <class T> void pack_rows(const Gather& g, const T* weight, int64_t row, int64_t rows, int64_t width, T* out) {
  const int64_t taps = g.taps();
  constexpr int64_t item = sizeof(T);
  const T* const first = weight + row * g.weight_row;
  bool all = true;  // taps, in their order
  for (int d = 0; d < 3; ++d) all = all && g.axis[d].taps == g.kernel[d] && g.axis[d].tap_step == 1;
  if (all) {
    const int64_t at_once = g.weight_channel == taps ? g.channels : 1;
    for (int64_t c = 0; c < g.channels; c += at_once)
      transpose<T>(reinterpret_cast<char*>(out + c * taps * width), width * item,
                   reinterpret_cast<const char*>(first + c * g.weight_channel), g.weight_row * item, at_once * taps, rows);
  } else {
    const auto tap = [&](int d, int64_t n) { return g.axis[d].tap + n * g.axis[d].tap_step; };
    T* to = out;
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t x = 0; x < g.axis[0].taps; ++x)
        for (int64_t y = 0; y < g.axis[1].taps; ++y)
          for (int64_t z = 0; z < g.axis[2].taps; ++z, to += width) {
            const T* from = first + c * g.weight_channel + (tap(0, x) * g.kernel[1] + tap(1, y)) * g.kernel[2] + tap(2, z);
            for (int64_t r = 0; r < rows; ++r) to[r] = from[r * g.weight_row];
          }
  }
  for (int64_t k = 0; rows < width && k < g.channels * taps; ++k)
    for (int64_t r = rows; r < width; ++r) out[k * width + r] = T(0);
}

}  // namespace
}  // namespace retrograd::cpu
