// Derivative helpers of optable/recurrent.py.
#pragma once

#include <tuple>

#include "ops.h"

namespace retrograd::derivatives {

// The gradients of input, hx, cx, w_ih, w_hh, b_ih, b_hh and w_hr.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> recurrent_grad(
    const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input, const Tensor& hx, const Tensor& cx,
    const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, const Tensor& w_hr, const Tensor& saved,
    IntSpan batch_sizes, int64_t kind, bool reverse, bool needs_input, bool needs_weights);

}  // namespace retrograd::derivatives
