// Convolutions in which each channel meets itself alone: groups of one channel, float, at most two dimensions.
#pragma once

#include "cpu/isa.h"
#include "kernels/conv.h"

namespace retrograd::cpu::RG_LEVEL_NS {

bool is_depthwise(const ConvShape& shape);
int64_t depthwise_bytes(const ConvShape& shape, ConvPass pass);
void depthwise_out(const ConvShape& shape, const float* in, const float* weight, const float* bias, float* out, Workspace work);
void depthwise_in(const ConvShape& shape, const float* out, const float* weight, const float* bias, float* in, Workspace work);
void depthwise_weight(const ConvShape& shape, const float* in, const float* out, float* weight, Workspace work);

}  // namespace retrograd::cpu::RG_LEVEL_NS
