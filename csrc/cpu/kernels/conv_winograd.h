// Convolutions by 3 x 3 kernels with a quarter of the multiplications, for float and enough channels.
#pragma once

#include "cpu/isa.h"
#include "kernels/conv.h"

namespace retrograd::cpu::RG_LEVEL_NS {

bool winograd_wins(const ConvShape& shape, ConvPass pass);
int64_t winograd_bytes(const ConvShape& shape, ConvPass pass);
void winograd_out(const ConvShape& shape, const float* in, const float* weight, const float* bias, float* out, Workspace work);
void winograd_in(const ConvShape& shape, const float* out, const float* weight, const float* bias, float* in, Workspace work);

}  // namespace retrograd::cpu::RG_LEVEL_NS
