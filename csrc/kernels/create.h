// Memory filled by a rule. `out` is contiguous, of any dtype but a complex one.
#pragma once

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

// A row of numbers from `start` to `end`; powers: of `base`, with these exponents.
struct Spread {
  double start, end, base;
  bool powers;
};

// A window of `length` weights w(x) for x from 0 to 1, of which all are made but, maybe, the last: Triangle 1 - |2x - 1|; Cosines a - b cos(2 pi x) +
// c cos(4 pi x); Arc a sqrt(1 - (2x - 1)^2). One of length 1 is 1, but of Arc a.
struct Window {
  enum class Kind : uint8_t { Triangle, Cosines, Arc } kind;
  int64_t length = 0;
  double a = 0, b = 0, c = 0;
};

struct CreateKernels {
  Kernel<void(const Array& out, uint64_t from, uint64_t by)> count;  // out[i] = from + i * by as integers, which wrap around
  Kernel<void(const Array& out, double from, double by)> step;       // out[i] = from + i * by
  // Counts up from start and down from end, so that both are met exactly and the middle is symmetric. float32 is computed in float, everything
  // else in double; the ends of integers are whole before the steps are taken.
  Kernel<void(const Array& out, const Spread& spread)> spread;
  // Row and column of each of `count` elements of a triangle, row by row: out is [2, count], int64 or int32. In row r the columns below r + shift
  // belong to the lower triangle, those from there on to the upper.
  Kernel<void(const Array& out, int64_t rows, int64_t columns, int64_t shift, bool lower)> triangle;
  Kernel<void(const Array& out, const Window& window)> window;  // out is floating
};
RG_KERNEL_FAMILY(CreateKernels, create)

}  // namespace retrograd::kernels
