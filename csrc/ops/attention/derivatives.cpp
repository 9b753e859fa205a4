// The gradient of attention: by the kernel, or in ordinary ops where it is to be differentiated again.
#include "ops/attention/derivatives.h"

#include <limits>

#include "autograd/layers.h"
#include "core/state.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// [B, heads, ...] with the heads that share keys in a dimension of their own, [B, key_heads, group, ...].
struct Groups {
  int64_t key_heads, group;
  Tensor split(const Tensor& t) const { return ops::reshape(t, ints({t.size(0), key_heads, group, t.size(2), t.size(3)})); }
  Tensor split_mask(const Tensor& mask) const {
    if (mask.size(1) == 1) return ops::unsqueeze(mask, 2);
    return split(mask);
  }
  Tensor join(const Tensor& t) const { return ops::reshape(t, ints({t.size(0), key_heads * group, t.size(3), t.size(4)})); }
};

Tensor transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }

// [B, key_heads, group, queries, keys], computed anew: neither the result nor logsumexp has a history. Of queries that meet nothing 0.
Tensor weights_of(const Groups& groups, const Tensor& query, const Tensor& key, const Tensor& attn_mask, bool is_causal, double scale,
                  const Tensor& logsumexp) {
  Tensor scores = ops::matmul(query, transposed(key)) * scale;
  if (!attn_mask && !is_causal) return ops::softmax(scores, -1, std::nullopt);
  if (attn_mask) {
    const Tensor mask = groups.split_mask(attn_mask);
    scores = attn_mask.dtype() == DType::Bool ? ops::masked_fill(scores, ops::logical_not(mask), kNever) : scores + mask;
  }
  if (is_causal) {
    const Tensor all = full(ints({query.size(-2), key.size(-2)}), true, DType::Bool, query.device());
    scores = ops::masked_fill(scores, ops::triu(all, 1), kNever);
  }
  const Tensor nothing = groups.split(ops::unsqueeze(ops::eq(logsumexp, kNever), -1));
  return ops::masked_fill(ops::softmax(ops::masked_fill(scores, nothing, 0.0), -1, std::nullopt), nothing, 0.0);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_grad(const Tensor& grad, const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const Tensor& attn_mask, bool is_causal, double scale, const Tensor& output,
                                                          const Tensor& logsumexp, bool needs_query, bool needs_key, bool needs_value,
                                                          bool needs_attn_mask) {
  if (!grad) return {};
  if (!thread_state.grad_mode && !needs_attn_mask && !has_layers(grad, query, key, value, attn_mask)) {
    const auto [q, k, v] = ops::_attention_backward(grad, query, key, value, attn_mask, is_causal, scale, output, logsumexp, needs_query,
                                                    needs_key, needs_value);
    return {q, k, v, Tensor()};
  }
  const DType dtype = query.dtype(), exact = logsumexp.dtype();
  const Groups groups{key.size(1), query.size(1) / std::max<int64_t>(1, key.size(1))};
  const auto wide = [&](const Tensor& t) { return cast_to(t, exact); };
  const Tensor q = groups.split(wide(query)), g = groups.split(wide(grad)), k = ops::unsqueeze(wide(key), 2),
               v = ops::unsqueeze(wide(value), 2);
  const Tensor weights = weights_of(groups, q, k, attn_mask, is_causal, scale, logsumexp);
  const Tensor grad_weights = ops::matmul(g, transposed(v));
  const int64_t last[1] = {-1}, group[1] = {2};
  const Tensor grad_scores = weights * (grad_weights - ops::sum_dim(grad_weights * weights, IntSpan{last, 1}, true, std::nullopt));
  const auto of_keys = [&](const Tensor& t) { return cast_to(ops::sum_dim(t, IntSpan{group, 1}, false, std::nullopt), dtype); };
  Tensor grad_query, grad_key, grad_value, grad_mask;
  if (needs_query) grad_query = cast_to(groups.join(ops::matmul(grad_scores, k) * scale), dtype);
  if (needs_key) grad_key = of_keys(ops::matmul(transposed(grad_scores), q) * scale);
  if (needs_value) grad_value = of_keys(ops::matmul(transposed(weights), g));
  if (needs_attn_mask) grad_mask = cast_to(sum_to(groups.join(grad_scores), attn_mask.sizes()), attn_mask.dtype());
  return {grad_query, grad_key, grad_value, grad_mask};
}

}  // namespace retrograd::derivatives
