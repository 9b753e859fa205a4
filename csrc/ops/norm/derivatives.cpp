#include "ops/norm/derivatives.h"

#include "autograd/layers.h"
#include "core/state.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

Tensor times(const Tensor& a, const Tensor& b) { return b ? a * b : a; }
Tensor widened(const Tensor& t) { return t && itemsize(t.dtype()) == 2 ? cast_to(t, DType::Float32) : t; }

// An element per channel, beside tensors [N, C, ...].
Tensor by_channel(const Tensor& t, int64_t ndim) {
  if (!t || ndim < 3) return t;
  int64_t sizes[kMaxDims];
  std::fill_n(sizes, ndim - 1, 1);
  sizes[0] = t.numel();
  return ops::reshape(t, {sizes, static_cast<size_t>(ndim - 1)});
}
// All dims but that of the channels.
struct OtherDims {
  int64_t dims[kMaxDims];
  size_t count = 0;
  explicit OtherDims(int64_t ndim) {
    for (int64_t d = 0; d < ndim; ++d)
      if (d != 1) dims[count++] = d;
  }
  operator IntSpan() const { return {dims, count}; }
};

// The normalised input and its reciprocal deviation in ordinary ops, so that what follows can be differentiated again. The statistics of a batch
// are computed anew: the saved ones have no history.
struct Normal {
  Tensor rstd, values;
  // What becomes of a change of the input; a symmetric map, so of a gradient too. `mean` is that which was taken off.
  template <class Mean> Tensor moved(const Tensor& by, Mean&& mean) const { return rstd * (by - mean(by) - values * mean(by * values)); }
};

class BatchNormal {
 public:
  BatchNormal(const Tensor& input, const Tensor& saved_mean, const Tensor& saved_invstd, bool training, double eps)
      : dims_(input.dim()), training_(training) {
    const Tensor x = widened(input), centred = x - (training ? mean(x) : by_channel(widened(saved_mean), x.dim()));
    normal_.rstd = training ? ops::rsqrt(mean(centred * centred) + eps) : by_channel(widened(saved_invstd), x.dim());
    normal_.values = centred * normal_.rstd;
  }
  const Tensor& values() const { return normal_.values; }
  Tensor moved(const Tensor& by) const {
    return training_ ? normal_.moved(by, [&](const Tensor& t) { return mean(t); }) : by * normal_.rstd;
  }

 private:
  Tensor mean(const Tensor& t) const { return ops::mean_dim(t, IntSpan(dims_), true, std::nullopt); }
  OtherDims dims_;
  bool training_;
  Normal normal_;
};

class GroupNormal {
 public:
  GroupNormal(const Tensor& input, int64_t groups, double eps) : input_(input), groups_(groups) {
    const Tensor x = in_groups(widened(input)), centred = x - mean(x);
    normal_.rstd = ops::rsqrt(mean(centred * centred) + eps);
    normal_.values = centred * normal_.rstd;
  }
  Tensor values() const { return ops::reshape(normal_.values, input_.sizes()); }
  Tensor moved(const Tensor& by) const { return ops::reshape(normal_.moved(in_groups(by), mean), input_.sizes()); }

 private:
  static Tensor mean(const Tensor& t) { return ops::mean_dim(t, ints({2}), true, std::nullopt); }
  Tensor in_groups(const Tensor& t) const {
    const int64_t batch = input_.size(0);
    return ops::reshape(t, ints({batch, groups_, batch == 0 ? 0 : input_.numel() / (batch * groups_)}));
  }
  const Tensor& input_;
  int64_t groups_;
  Normal normal_;
};

template <class N> std::tuple<Tensor, Tensor, Tensor> grads_in_ops(const N& normal, const Tensor& grad, const Tensor& input,
                                                                   const Tensor& weight, DType param_dtype, bool needs_input,
                                                                   bool needs_weight, bool needs_bias) {
  const OtherDims dims(input.dim());
  const Tensor dy = widened(grad);
  const auto of_channel = [&](const Tensor& t) { return cast_to(ops::sum_dim(t, IntSpan(dims), false, std::nullopt), param_dtype); };
  Tensor grad_input, grad_weight, grad_bias;
  if (needs_input) grad_input = cast_to(normal.moved(times(dy, by_channel(widened(weight), input.dim()))), input.dtype());
  if (needs_weight) grad_weight = of_channel(dy * normal.values());
  if (needs_bias) grad_bias = of_channel(dy);
  return {grad_input, grad_weight, grad_bias};
}

template <class N> std::tuple<Tensor> tangent_in_ops(const N& normal, const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t,
                                                     const Tensor& input, const Tensor& weight) {
  const int64_t ndim = input.dim();
  Tensor total = times(normal.moved(widened(input_t)), by_channel(widened(weight), ndim));
  if (weight_t) total = total + normal.values() * by_channel(widened(weight_t), ndim);
  if (bias_t) total = total + by_channel(widened(bias_t), ndim);
  return {cast_to(total, input.dtype())};
}

}  // namespace

// The ops of the gradients have no derivative and no tangents, and a vmap would run them sample by sample.
std::tuple<Tensor, Tensor, Tensor> batch_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                   const Tensor& invstd, bool training, double eps, bool needs_input, bool needs_weight,
                                                   bool needs_bias) {
  if (!grad) return {};
  if (thread_state.grad_mode || has_layers(grad, input, weight, mean, invstd))
    return grads_in_ops(BatchNormal(input, mean, invstd, training, eps), grad, input, weight, mean.dtype(), needs_input, needs_weight,
                        needs_bias);
  return ops::native_batch_norm_backward(grad, input, weight, mean, invstd, training, needs_input, needs_weight, needs_bias);
}

std::tuple<Tensor, Tensor, Tensor> group_norm_grad(const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                                   const Tensor& rstd, int64_t groups, double eps, bool needs_input, bool needs_weight,
                                                   bool needs_bias) {
  if (!grad) return {};
  if (thread_state.grad_mode || has_layers(grad, input, weight))
    return grads_in_ops(GroupNormal(input, groups, eps), grad, input, weight, mean.dtype(), needs_input, needs_weight, needs_bias);
  return ops::native_group_norm_backward(grad, input, mean, rstd, weight, groups, needs_input, needs_weight, needs_bias);
}

std::tuple<Tensor> batch_norm_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input,
                                      const Tensor& weight, const Tensor& mean, const Tensor& invstd, bool training, double eps) {
  return tangent_in_ops(BatchNormal(input, mean, invstd, training, eps), input_t, weight_t, bias_t, input, weight);
}

std::tuple<Tensor> group_norm_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input,
                                      const Tensor& weight, int64_t groups, double eps) {
  return tangent_in_ops(GroupNormal(input, groups, eps), input_t, weight_t, bias_t, input, weight);
}

}  // namespace retrograd::derivatives
