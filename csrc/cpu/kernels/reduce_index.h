// Extrema with their index, defined in reduce_index.cpp and exported by reduce.cpp. Internal to kernels/.
#pragma once

#include "cpu/isa.h"
#include "kernels/array.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void argmax(const Array& indices, const Array& in);
void argmin(const Array& indices, const Array& in);
void max_with_index(const Array& values, const Array& indices, const Array& in);
void min_with_index(const Array& values, const Array& indices, const Array& in);

}  // namespace retrograd::cpu::RG_LEVEL_NS
