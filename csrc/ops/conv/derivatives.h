// Derivative helpers of optable/conv.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

Tensor convolution_bias_grad(const Tensor& grad);
Tensor convolution_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input, const Tensor& weight,
                           IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups);

}  // namespace retrograd::derivatives
