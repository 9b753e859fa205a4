// Derivative helpers of optable/norm.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

std::tuple<Tensor, Tensor, Tensor> batch_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                   const Tensor& invstd, bool training, double eps, bool needs_input, bool needs_weight,
                                                   bool needs_bias);
std::tuple<Tensor, Tensor, Tensor> group_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                   const Tensor& rstd, int64_t groups, double eps, bool needs_input, bool needs_weight,
                                                   bool needs_bias);

// Of the first result.
std::tuple<Tensor> batch_norm_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input,
                                      const Tensor& weight, const Tensor& mean, const Tensor& invstd, bool training, double eps);
std::tuple<Tensor> group_norm_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input,
                                      const Tensor& weight, int64_t groups, double eps);

}  // namespace retrograd::derivatives
