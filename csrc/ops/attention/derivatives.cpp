// The gradient of attention is an op, whose kernel goes by tiles. What has no kernel is made of ordinary ops here: the gradient of the mask, and
// what the gradient is differentiated to. They meet some queries at a time with all keys, so that memory grows with the number of keys alone,
// but where they are recorded to be differentiated once more.
//
//   scores = query @ key^T * scale + mask          weights = exp(scores - logsumexp)          output = weights @ value
//   of scores: weights * (grad @ value^T - shift)                where shift = sum(grad * output) - grad_logsumexp
#include "ops/attention/derivatives.h"

#include <algorithm>
#include <limits>

#include "core/state.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kPairs = 1 << 20;  // that are in memory at a time, and at least some queries

Tensor transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }
Tensor row_sums(const Tensor& t) { return ops::sum_dim(t, ints({-1}), true, std::nullopt); }
void add(Tensor& sum, const Tensor& more) { sum = sum ? sum + more : more; }

// Some queries and all keys, in the dtype that attention is computed in. Heads that share keys have a dimension of their own:
// [B, key_heads, group, rows, width].
class Block {
 public:
  Block(const AttentionCall& call, int64_t first, int64_t rows)
      : call_(call),
        first_(first),
        rows_(rows),
        heads_(call.key.size(1)),
        group_(call.query.size(1) / std::max<int64_t>(1, heads_)),
        query(of_queries(call.query)),
        key(of_keys(call.key)),
        value(of_keys(call.value)) {
    Tensor scores = ops::matmul(query, transposed(key)) * call.scale;
    if (call.attn_mask) {
      const Tensor mask = call.attn_mask.size(2) == 1 ? call.attn_mask : rows_of(call.attn_mask);
      const Tensor split = mask.size(1) == 1 ? ops::unsqueeze(mask, 2) : split_heads(mask);
      scores = mask.dtype() == DType::Bool ? ops::masked_fill(scores, ops::logical_not(split), -kInfinity) : scores + split;
    }
    if (call.is_causal) {
      const Tensor all = full(ints({rows, call.key.size(2)}), true, DType::Bool, call.query.device());
      scores = ops::masked_fill(scores, ops::triu(all, first + 1), -kInfinity);
    }
    const Tensor sums = of_sums(call.logsumexp);
    weights = ops::exp(scores - ops::masked_fill(sums, ops::eq(sums, -kInfinity), kInfinity));  // of queries that meet nothing 0
  }

  // [B, heads, queries, width], [B, heads, queries] and [B, key_heads, keys, width] as they are here.
  Tensor of_queries(const Tensor& t) const { return t ? split_heads(cast_to(rows_of(t), call_.logsumexp.dtype())) : t; }
  Tensor of_sums(const Tensor& t) const { return t ? of_queries(ops::unsqueeze(t, -1)) : t; }
  Tensor of_keys(const Tensor& t) const { return t ? ops::unsqueeze(cast_to(t, call_.logsumexp.dtype()), 2) : t; }

  // The way back.
  Tensor queries(const Tensor& t) const { return ops::reshape(t, ints({t.size(0), heads_ * group_, t.size(3), t.size(4)})); }
  Tensor sums(const Tensor& t) const { return ops::squeeze_dim(queries(t), -1); }
  Tensor keys(const Tensor& t) const { return ops::sum_dim(t, ints({2}), false, std::nullopt); }
  Tensor mask(const Tensor& scores) const {
    std::vector<int64_t> sizes(call_.attn_mask.sizes().begin(), call_.attn_mask.sizes().end());
    if (sizes[2] != 1) sizes[2] = rows_;
    return sum_to(queries(scores), sizes);
  }

  // What the gradients of scores are the product of, beside weights.
  Tensor slope(const Tensor& grad, const Tensor& output, const Tensor& grad_logsumexp) const {
    const Tensor shift = row_sums(grad * output), sums = of_sums(grad_logsumexp);
    return ops::matmul(grad, transposed(value)) - (sums ? shift - sums : shift);
  }

 private:
  Tensor rows_of(const Tensor& t) const { return rows_ == t.size(2) ? t : ops::narrow(t, 2, first_, rows_); }
  Tensor split_heads(const Tensor& t) const { return ops::reshape(t, ints({t.size(0), heads_, group_, t.size(2), t.size(3)})); }

  const AttentionCall& call_;
  int64_t first_, rows_, heads_, group_;

 public:
  Tensor query, key, value, weights;
};

template <class F> void each_block(const AttentionCall& call, F&& f) {
  const int64_t all = call.query.size(2), pairs = std::max<int64_t>(1, call.query.size(0) * call.query.size(1) * call.key.size(2));
  const int64_t rows = thread_state.grad_mode ? all : std::min(all, std::max<int64_t>(16, kPairs / pairs));
  int64_t first = 0;
  do {
    f(Block(call, first, std::min(rows, all - first)));
    first += rows;
  } while (first < all);
}

// Results for some queries each, one after the other.
struct Parts {
  std::vector<Tensor> parts;
  void add(const Tensor& t) { parts.push_back(t); }
  Tensor joined(DType dtype) const {
    if (parts.empty()) return Tensor();
    return cast_to(parts.size() == 1 ? parts[0] : ops::cat(parts, 2), dtype);
  }
};

Tensor grad_of_mask(const Tensor& grad, const Tensor& grad_logsumexp, const AttentionCall& call) {
  Parts rows;
  Tensor sum;
  each_block(call, [&](const Block& block) {
    const Tensor slope = block.slope(block.of_queries(grad), block.of_queries(call.output), grad_logsumexp);
    const Tensor of_mask = block.mask(block.weights * slope);
    call.attn_mask.size(2) == 1 ? add(sum, of_mask) : rows.add(of_mask);
  });
  return sum ? cast_to(sum, call.attn_mask.dtype()) : rows.joined(call.attn_mask.dtype());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_grad(const Tensor& grad, const Tensor& grad_logsumexp, const AttentionCall& call,
                                                          bool needs_query, bool needs_key, bool needs_value, bool needs_attn_mask) {
  if (!grad && !grad_logsumexp) return {};
  const Tensor g =
      grad ? grad : ops::zeros_like(call.output, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  Tensor query, key, value, mask;
  if (needs_query || needs_key || needs_value)
    std::tie(query, key, value) = ops::_attention_backward(g, grad_logsumexp, call.query, call.key, call.value, call.attn_mask,
                                                           call.is_causal, call.scale, call.output, call.logsumexp);
  if (needs_attn_mask) mask = grad_of_mask(g, grad_logsumexp, call);
  return {query, key, value, mask};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> attention_backward_grad(
    const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value, const Tensor& grad, const Tensor& grad_logsumexp,
    const AttentionCall& call, bool needs_attn_mask) {
  if (!grad_query && !grad_key && !grad_value) return {};
  const DType dtype = call.query.dtype(), exact = call.logsumexp.dtype();
  Parts to_grad, to_grad_sums, to_query, mask_rows, to_output, to_sums;
  Tensor to_key, to_value, mask_sum;
  each_block(call, [&](const Block& block) {
    const Tensor g = block.of_queries(grad), from_query = block.of_queries(grad_query), from_key = block.of_keys(grad_key),
                 from_value = block.of_keys(grad_value);
    const Tensor& weights = block.weights;
    Tensor of_weights, of_grad, of_query;  // what arrives at them
    Tensor of_scores;                      // and at the gradient of the scores
    if (from_query) of_scores = ops::matmul(from_query, transposed(block.key)) * call.scale;
    if (from_key) add(of_scores, ops::matmul(block.query, transposed(from_key)) * call.scale);
    if (of_scores) {
      const Tensor output = block.of_queries(call.output), slope = block.slope(g, output, grad_logsumexp);
      const Tensor weighted = weights * of_scores, shift = row_sums(weighted), grad_scores = weights * slope;
      of_grad = ops::matmul(weighted, block.value) - shift * output;
      if (grad_logsumexp) to_grad_sums.add(block.sums(shift));
      to_output.add(block.queries(ops::neg(shift * g)));
      add(to_value, block.keys(ops::matmul(transposed(weighted), g)));
      if (from_key) of_query = ops::matmul(grad_scores, from_key) * call.scale;
      if (from_query) add(to_key, block.keys(ops::matmul(transposed(grad_scores), from_query) * call.scale));
      of_weights = of_scores * slope;
    }
    if (from_value) {
      add(of_grad, ops::matmul(weights, from_value));
      add(of_weights, ops::matmul(g, transposed(from_value)));
    }
    const Tensor through_scores = weights * of_weights;
    add(of_query, ops::matmul(through_scores, block.key) * call.scale);
    add(to_key, block.keys(ops::matmul(transposed(through_scores), block.query) * call.scale));
    to_grad.add(block.queries(of_grad));
    to_query.add(block.queries(of_query));
    to_sums.add(block.sums(ops::neg(row_sums(through_scores))));
    if (!needs_attn_mask) return;
    const Tensor of_mask = block.mask(through_scores);
    call.attn_mask.size(2) == 1 ? add(mask_sum, of_mask) : mask_rows.add(of_mask);
  });
  const auto rounded = [&](const Tensor& t) { return t ? cast_to(t, dtype) : t; };
  const Tensor to_mask =
      needs_attn_mask ? (mask_sum ? cast_to(mask_sum, call.attn_mask.dtype()) : mask_rows.joined(call.attn_mask.dtype())) : Tensor();
  return {to_grad.joined(grad.dtype()), to_grad_sums.joined(exact), to_query.joined(dtype), rounded(to_key), rounded(to_value), to_mask,
          to_output.joined(dtype),      to_sums.joined(exact)};
}

}  // namespace retrograd::derivatives
