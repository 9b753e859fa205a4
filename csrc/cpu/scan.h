// Scans along one dim. All arrays have the same ndim and sizes, any strides; `out` may be exactly `in` (same memory, same strides), else they do not overlap.
// `reverse` runs from the end of the dim to its beginning, as derivatives need. ndim 0 counts as one dim of size 1 (dim ignored).
#pragma once

#include <cstdint>

#include "cpu/array.h"
#include "cpu/isa.h"

namespace retrograd::cpu {

struct ScanKernels {
  // Any `in` into any `out`: elements are cast to out's compute type first (16-bit floats: float). Integers wrap around.
  // float32 and 16-bit floats run in double and round once per element stored.
  void (*cumsum)(const Array& out, const Array& in, int dim, bool reverse);
  void (*cumprod)(const Array& out, const Array& in, int dim, bool reverse);

  // Running maximum and minimum with its index (int64). On ties the latest index, as PyTorch; once NaN always NaN (the latest NaN's index).
  void (*cummax)(const Array& values, const Array& indices, const Array& in, int dim);
  void (*cummin)(const Array& values, const Array& indices, const Array& in, int dim);

  // log(cumsum(exp(in))), floating dtypes, without overflow.
  void (*logcumsumexp)(const Array& out, const Array& in, int dim, bool reverse);
};
RG_DECLARE_KERNELS(ScanKernels, scan)

}  // namespace retrograd::cpu
