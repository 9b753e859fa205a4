// The kernels of max pooling: see kernels/pool.h.
#pragma once

#include "cpu/isa.h"
#include "kernels/pool.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void max_pool(DType dtype, const PoolShape& s, const void* in, void* out, int64_t* places);
void fractional_max_pool(DType dtype, const PoolShape& s, const void* in, const void* samples, int dims, bool last_first, void* out,
                         int64_t* places);
void pool_take(DType dtype, const PoolShape& s, const void* in, const int64_t* places, void* out, IndexError* error);
void pool_put(DType dtype, const PoolShape& s, const void* out, const int64_t* places, bool assign, void* in, IndexError* error);

}  // namespace retrograd::cpu::RG_LEVEL_NS
