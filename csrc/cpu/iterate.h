// N-dimensional iteration for elementwise kernels: see kernels/pointwise.h.
#pragma once

#include "cpu/isa.h"
#include "kernels/pointwise.h"

namespace retrograd::cpu {

void iterate(const Operands& ops, Loop loop, const void* params, int cost = 4);

}  // namespace retrograd::cpu
