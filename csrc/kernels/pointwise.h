// Elementwise work on up to kMaxOperands operands of one shape. A loop works on one dimension; iterate() merges and orders the dimensions so
// that the innermost is long and contiguous where that is possible, then calls the loop row by row, on several threads when there is
// enough work.
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

inline constexpr int kMaxOperands = 6;

// data[0] is the output (then further outputs, then inputs), strides are in bytes.
using Loop = void (*)(int64_t n, char* const* data, const int64_t* strides, const void* params);

// All operands have the same sizes; broadcast ones have stride 0. `strides[i]` are the element strides of operand i.
struct Operands {
  int count = 0;
  int ndim = 0;
  const int64_t* sizes = nullptr;
  void* data[kMaxOperands];
  const int64_t* strides[kMaxOperands];
  int64_t itemsize[kMaxOperands];

  void add(void* d, const int64_t* s, int64_t item) {
    data[count] = d;
    strides[count] = s;
    itemsize[count++] = item;
  }
  void add(const Array& a) { add(a.data, a.strides, kItemSize[static_cast<int>(a.dtype)]); }
};

struct PointwiseKernels {
  // `cost` is a rough number of nanoseconds per 8 elements, to decide whether to go parallel.
  Kernel<void(const Operands& ops, Loop loop, const void* params, int cost)> iterate;
};
RG_KERNEL_FAMILY(PointwiseKernels, pointwise)

}  // namespace retrograd::kernels
