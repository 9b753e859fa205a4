// Derivative helpers of optable/image.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

std::tuple<Tensor, Tensor> grid_sampler_grad(const Tensor& grad, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                                             bool align_corners, bool needs_input, bool needs_grid);
Tensor grid_sampler_tangent(const Tensor& input_t, const Tensor& grid_t, const Tensor& input, const Tensor& grid, int64_t mode,
                            int64_t padding, bool align_corners);

}  // namespace retrograd::derivatives
