// Derivative helpers of optable/pool.py.
#pragma once

#include "ops/pool/pool.h"

namespace retrograd::derivatives {

// avg_pool2d or avg_pool3d: what _avg_pool_backward is the transpose of.
Tensor avg_pool(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor_override, int64_t dims);
Tensor adaptive_avg_pool(const Tensor& self, IntSpan grad_sizes, int64_t dims);

}  // namespace retrograd::derivatives
