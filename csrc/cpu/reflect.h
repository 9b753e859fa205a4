// Reflections, the one kernel of kernels/lapack.h that is not LAPACK's: compiled for each level of processor, in kernels/reflect.cpp.
#pragma once

#include "cpu/isa.h"
#include "kernels/lapack.h"

namespace retrograd::cpu {

struct ReflectKernels { void (*run)(const Matrices& a, const void* tau, int64_t steps, bool adjoint, const Matrices& x); };
RG_DECLARE_KERNELS(ReflectKernels, reflect_kernels)

}  // namespace retrograd::cpu
