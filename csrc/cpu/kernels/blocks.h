// Rows that a dense loop cannot take as they lie, block by block: operands are gathered into small buffers on the stack (16-bit floats become
// float on the way) and results scattered back. The expensive expressions stay vectorised on any layout, and there is one dense loop for each.
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "cpu/isa.h"
#include "kernels/kernel_param.h"

namespace retrograd::cpu::RG_LEVEL_NS {

inline constexpr int64_t kBlockItems = 256;

// Output and inputs are contiguous, in the types they are computed in.
using DenseLoop = void (*)(int64_t n, char* const* data, const KernelParam* params);

struct RowTypes {
  DType in, out;
  uint8_t inputs;  // up to 3
};

void run_blocks(const RowTypes& types, int64_t n, char* const* data, const int64_t* strides, const KernelParam* params, DenseLoop dense);

}  // namespace retrograd::cpu::RG_LEVEL_NS
