// out[i] = condition[i] ? a[i] : b[i]. Loops for iterate(): operands are out, condition (bytes, 0 is false), a, b; any strides.
// Selection moves bits, so one loop per element size serves every dtype.
#pragma once

#include "kernels/family.h"
#include "kernels/pointwise.h"

namespace retrograd::kernels {

struct SelectKernels {
  Loop select[5];  // by log2 of the element size
};
RG_KERNEL_FAMILY(SelectKernels, select)

inline Loop select_loop(Device device, int64_t itemsize) {
  return select(device).select[itemsize == 1 ? 0 : itemsize == 2 ? 1 : itemsize == 4 ? 2 : itemsize == 8 ? 3 : 4];
}

}  // namespace retrograd::kernels
