// Sums of few elements, defined in reduce_small.cpp and exported by reduce.cpp. Internal to kernels/.
#pragma once

#include "core/dtype.h"
#include "cpu/isa.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void small_sum(void* out, const void* in, DType dtype, int64_t outer, int64_t n, int64_t inner, bool mean);
void largest(double* out, const void* in, DType dtype, int64_t n);

}  // namespace retrograd::cpu::RG_LEVEL_NS
