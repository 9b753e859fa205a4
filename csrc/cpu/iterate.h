// N-dimensional iteration for elementwise kernels. A loop works on one dimension; iterate() merges and orders the dimensions so that the innermost
// is long and contiguous where that is possible, then calls the loop row by row, on several threads when there is enough work.
#pragma once

#include "cpu/isa.h"
#include "kernels/pointwise.h"

namespace retrograd::cpu {

void iterate(const Operands& ops, Loop loop, const void* params, int cost = 4);

// Loops for it that are compiled for each level of processor.
struct OptimLoops {
  Loop sgd[kNumLoops];  // null for dtypes that are not floating
  Loop adam[kNumLoops];
};
RG_DECLARE_KERNELS(OptimLoops, optim_loops)

struct SelectLoops {
  Loop select[5];  // by log2 of the element size
};
RG_DECLARE_KERNELS(SelectLoops, select_loops)

struct StreamKernels {
  // Writes past the caches; `to` and `from` are on 64 bytes. Null where there are no such stores.
  void (*copy)(char* to, const char* from, int64_t bytes);
};
RG_DECLARE_KERNELS(StreamKernels, stream_kernels)

}  // namespace retrograd::cpu
