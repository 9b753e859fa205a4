// Conversions between float32 and the dtypes of kernels/float8.h, for the copies of all CPU levels.
#pragma once

#include "core/dtype.h"

namespace retrograd::cpu {

using ConvertFn = void (*)(void* dst, const void* src, int64_t n);
ConvertFn float8_from_floats(DType to);
ConvertFn floats_from_float8(DType from);

}  // namespace retrograd::cpu
