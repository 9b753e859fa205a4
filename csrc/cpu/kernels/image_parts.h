// The kernels of images that have files of their own. Internal to kernels/.
#pragma once

#include "cpu/isa.h"
#include "kernels/image.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void pad(int64_t itemsize, const kernels::PadShape& shape, const void* in, void* out);
void pad_backward(DType dtype, const kernels::PadShape& shape, const void* grad, void* grad_in);

void sample(DType dtype, const kernels::SampleShape& shape, const void* in, const void* grid, void* out);
void sample_backward(DType dtype, const kernels::SampleShape& shape, const void* grad, const void* in, const void* grid, void* grad_in,
                     void* grad_grid);

}  // namespace retrograd::cpu::RG_LEVEL_NS
