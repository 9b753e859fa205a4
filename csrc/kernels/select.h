// out[i] = condition[i] ? a[i] : b[i]. Operands are out, condition (bytes, 0 is false), a, b; any strides. Selection moves bits, so the
// size of an element is all there is to know of its dtype.
#pragma once

#include "kernels/family.h"
#include "kernels/pointwise.h"

namespace retrograd::kernels {

struct SelectKernels {
  Kernel<void(const Operands& ops, int64_t itemsize)> select;
  // Where kernels are functions of the process: the loops themselves, by log2 of the size, for callers whose operands lie in one row. Else null.
  const Loop* loops = nullptr;
};
RG_KERNEL_FAMILY(SelectKernels, select)

}  // namespace retrograd::kernels
