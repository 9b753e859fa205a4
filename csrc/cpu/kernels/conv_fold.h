// unfold and fold of kernels/conv.h.
#pragma once

#include "cpu/isa.h"
#include "kernels/conv.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void unfold(int64_t itemsize, const ConvShape& shape, const void* in, void* columns);
void fold(DType dtype, const ConvShape& shape, const void* columns, void* in);

}  // namespace retrograd::cpu::RG_LEVEL_NS
