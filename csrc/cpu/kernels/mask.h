// The part of IndexKernels that mask.cpp provides.
#pragma once

#include "cpu/isa.h"
#include "kernels/array.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void masked_fill(const Array& dst, const Array& mask, const void* value);
void masked_select(const Array& out, const Array& in, const Array& mask);
void masked_scatter(const Array& dst, const Array& mask, const Array& src);
void count_nonzero(int64_t* found, const Array& in);
void nonzero(const Array& out, const Array& in);
void tril(const Array& out, const Array& in, int64_t diagonal);
void triu(const Array& out, const Array& in, int64_t diagonal);

}  // namespace retrograd::cpu::RG_LEVEL_NS
