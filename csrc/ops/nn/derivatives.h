// Derivative helpers of optable/nn.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

Tensor nll_loss_any(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index);
Tensor mse_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction);
Tensor smooth_l1_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta);
Tensor huber_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta);
Tensor soft_margin_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction);
Tensor bce_curve(const Tensor& grad, const Tensor& self, const Tensor& target);
Tensor binary_cross_entropy_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction);
Tensor binary_cross_entropy_target_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                        int64_t reduction);
Tensor bce_with_logits_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
                            int64_t reduction);
Tensor bce_with_logits_target_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                   const Tensor& pos_weight, int64_t reduction);
std::tuple<Tensor, Tensor, Tensor> layer_norm_grad(const Tensor& grad, const Tensor& self, const Tensor& weight, IntSpan normalized_shape,
                                                   double eps, const Tensor& mean, const Tensor& rstd, bool needs_self, bool needs_weight,
                                                   bool needs_bias);
Tensor ctc_loss_grad(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                     const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool zero_infinity);
Tensor glu_grad(const Tensor& grad, const Tensor& self, int64_t dim);
Tensor constant_pad_grad(const Tensor& grad, IntSpan pad);

}  // namespace retrograd::derivatives
