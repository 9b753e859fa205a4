// Questions about the values of a tensor that decide what is to be computed. The answers are written to memory, where the caller reads them: see
// Answer in core/transfer.h.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

enum class Is : uint8_t { Zero, NaN, Infinite, MinusInfinite, NotFinite, Above, Outside };

struct ValueKernels {
  // Whether any of n contiguous elements of a dtype that is not complex is so. Above: more than high. Outside: not in [low, high];
  // NaN is outside. Both are compared as double.
  Kernel<void(bool* answer, DType dtype, const void* in, int64_t n, Is what, double low, double high)> any;
};
RG_KERNEL_FAMILY(ValueKernels, values)

}  // namespace retrograd::kernels
