// Scans along one dim. All arrays have the same ndim and sizes, any strides; `out` may be exactly `in` (same memory, same strides), else they do not overlap.
// `reverse` runs from the end of the dim to its beginning, as derivatives need. ndim 0 counts as one dim of size 1 (dim ignored).
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct ScanKernels {
  // Any `in` into any `out`: elements are cast to out's compute type first (16-bit floats: float). Integers wrap around.
  // float32, 16-bit floats and complex64 run in double and round once per element stored. Complex `in` and `out` have one dtype.
  Kernel<void(const Array& out, const Array& in, int dim, bool reverse)> cumsum;
  Kernel<void(const Array& out, const Array& in, int dim, bool reverse)> cumprod;

  // Running maximum and minimum with its index (int64). On ties the latest index, as PyTorch; once NaN always NaN (the latest NaN's index).
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim)> cummax;
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim)> cummin;

  // log(cumsum(exp(in))), floating dtypes, without overflow.
  Kernel<void(const Array& out, const Array& in, int dim, bool reverse)> logcumsumexp;
};
RG_KERNEL_FAMILY(ScanKernels, scan)

}  // namespace retrograd::kernels
