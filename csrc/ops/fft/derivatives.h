// Derivative helpers of optable/fft.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

Tensor fft_r2c_grad(const Tensor& grad, IntSpan dim, int64_t normalization, bool onesided, IntSpan sizes);
Tensor fft_c2r_grad(const Tensor& grad, IntSpan dim, int64_t normalization);

}  // namespace retrograd::derivatives
