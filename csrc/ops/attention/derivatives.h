// Derivative helpers of optable/attention.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_grad(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const Tensor& attn_mask, bool is_causal, double scale, const Tensor& output,
                                                          const Tensor& logsumexp, bool needs_query, bool needs_key, bool needs_value,
                                                          bool needs_attn_mask);

}  // namespace retrograd::derivatives
