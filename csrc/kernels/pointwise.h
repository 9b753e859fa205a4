// Elementwise work on up to kMaxOperands operands of one shape.
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
  uint32_t host = 0;  // bit per operand: one element, in the memory of the process; its strides are 0

  void add(void* d, const int64_t* s, int64_t item) {
    data[count] = d;
    strides[count] = s;
    itemsize[count++] = item;
  }
  void add_host(const void* d, const int64_t* s, int64_t item) {
    host |= 1u << count;
    add(const_cast<void*>(d), s, item);
  }
  void add(const Array& a) { add(a.data, a.strides, retrograd::itemsize(a.dtype)); }
};

struct PointwiseKernels {
  // The expression of a row of the op table (pointwise_rows.h, generated) on operands of a dtype that it has. `params` are its KernelParams, in
  // the memory of the process; `cost` is a rough number of nanoseconds per 8 elements, to decide whether to go parallel.
  Kernel<void(int row, DType dtype, const Operands& ops, const void* params, int cost)> run;
  // Where kernels are functions of the process: the loops themselves, by row and dtype, for callers whose operands lie in one row. Else null.
  const Loop* const* loops = nullptr;
  // out[i] is the 16-bit float next to from[i] on the way to to[i]. n elements, contiguous.
  Kernel<void(void* out, const void* from, const void* to, DType dtype, int64_t n)> next_after;
};
RG_KERNEL_FAMILY(PointwiseKernels, pointwise)

}  // namespace retrograd::kernels
