// Derivative helpers of optable/attention.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// What attention was given and gave.
struct AttentionCall {
  const Tensor &query, &key, &value, &attn_mask;
  bool is_causal;
  double scale;
  const Tensor &output, &logsumexp;
};

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_grad(const Tensor& grad, const Tensor& grad_logsumexp, const AttentionCall& call,
                                                          bool needs_query, bool needs_key, bool needs_value, bool needs_attn_mask);

// Of the gradients' gradients: those of grad, grad_logsumexp, query, key, value, attn_mask, output and logsumexp.
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> attention_backward_grad(
    const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad, const Tensor& grad_logsumexp,
    const AttentionCall& call, bool needs_attn_mask);

}  // namespace retrograd::derivatives
