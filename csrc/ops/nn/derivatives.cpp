#include "ops/nn/derivatives.h"

#include "autograd/layers.h"
#include "core/state.h"
#include "kernels/norm.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/nn/nn.h"

namespace retrograd::derivatives {
namespace {

// grad times what the reduction divided by, for elements of the broadcast shape of a and b.
double scale(const Tensor& a, const Tensor& b, int64_t reduction, double factor = 1) {
  if (static_cast<Reduction>(reduction) != Reduction::Mean) return factor;
  const int64_t n = same_sizes(a.get(), b.get()) ? a.numel() : checked_numel(broadcast_shapes(a.sizes(), b.sizes()));
  return factor / static_cast<double>(n);
}

// A gradient of the broadcast shape and promoted dtype, as the input has them.
Tensor like_input(const Tensor& grad, const Tensor& input) { return cast_to(sum_to(grad, input.sizes()), input.dtype()); }

Tensor times(const Tensor& a, const Tensor& b) { return b ? a * b : a; }

}  // namespace

Tensor nll_loss_any(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  return std::get<0>(self.dim() > 2 ? ops::nll_loss2d_forward(self, target, weight, reduction, ignore_index)
                                    : ops::nll_loss_forward(self, target, weight, reduction, ignore_index));
}

Tensor mse_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  return like_input(ops::_scaled_product(self - target, grad, scale(self, target, reduction, 2)), self);
}

Tensor smooth_l1_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  const Tensor difference = self - target;
  // hardtanh, whose derivative is 0 at its bounds as well: at the kink the second derivative is that of the straight part.
  const Tensor slope = beta > 0 ? ops::hardtanh(difference / beta, -1.0, 1.0) : ops::sign(difference);
  return like_input(ops::_scaled_product(slope, grad, scale(self, target, reduction)), self);
}

Tensor huber_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  const Tensor slope = ops::hardtanh(self - target, -delta, delta);
  return like_input(ops::_scaled_product(slope, grad, scale(self, target, reduction)), self);
}

Tensor soft_margin_loss_grad(const Tensor& grad, const Tensor& self, const Tensor& target, int64_t reduction) {
  const Tensor slope = target * ops::sigmoid(-(self * target));
  return like_input(ops::_scaled_product(slope, grad, scale(self, target, reduction, -1)), self);
}

// (p^2 - 2 p t + t) / (p (1 - p))^2: 0 where the probability is 0 or 1 and right, huge where it is wrong.
Tensor bce_curve(const Tensor& grad, const Tensor& self, const Tensor& target) {
  const Tensor spread = self * (1 - self) + 1e-12;
  return grad * (self * self - self * target * 2 + target) / (spread * spread);
}

Tensor binary_cross_entropy_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  const Tensor slope = ops::_bce_slope(self, target);
  return like_input(ops::_scaled_product(times(slope, weight), grad, scale(self, target, reduction)), self);
}

Tensor binary_cross_entropy_target_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                        int64_t reduction) {
  const Tensor slope = ops::clamp_min(ops::log1p(-self), -100) - ops::clamp_min(ops::log(self), -100);
  return like_input(ops::_scaled_product(times(slope, weight), grad, scale(self, target, reduction)), target);
}

// The loss is (1 - y) x - w log_sigmoid(x) with w = 1 + (pos_weight - 1) y.
Tensor bce_with_logits_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
                            int64_t reduction) {
  Tensor slope;
  if (pos_weight) {
    const Tensor log_weight = (pos_weight - 1) * target + 1;
    slope = log_weight * ops::sigmoid(self) + (1 - target) - log_weight;
  } else {
    slope = ops::sigmoid(self) - target;
  }
  return like_input(ops::_scaled_product(times(slope, weight), grad, scale(self, target, reduction)), self);
}

Tensor bce_with_logits_target_grad(const Tensor& grad, const Tensor& self, const Tensor& target, const Tensor& weight,
                                   const Tensor& pos_weight, int64_t reduction) {
  const Tensor slope = pos_weight ? (1 - pos_weight) * ops::log_sigmoid(self) - self : -self;
  return like_input(ops::_scaled_product(times(slope, weight), grad, scale(self, target, reduction)), target);
}

namespace {

// In ordinary ops, so that it can be differentiated again. The statistics are computed anew: the saved ones have no history.
std::tuple<Tensor, Tensor, Tensor> layer_norm_grad_in_ops(const Tensor& grad, const Tensor& self, const Tensor& weight,
                                                          IntSpan normalized_shape, double eps, bool needs_self, bool needs_weight,
                                                          bool needs_bias) {
  int64_t inner[kMaxDims], outer[kMaxDims];
  const size_t n_inner = normalized_shape.size(), n_outer = static_cast<size_t>(self.dim()) - n_inner;
  for (size_t d = 0; d < n_inner; ++d) inner[d] = static_cast<int64_t>(n_outer + d);
  for (size_t d = 0; d < n_outer; ++d) outer[d] = static_cast<int64_t>(d);
  const auto mean = [&](const Tensor& t) { return ops::mean_dim(t, IntSpan{inner, n_inner}, true, std::nullopt); };
  const auto over_rows = [&](const Tensor& t) { return n_outer ? ops::sum_dim(t, IntSpan{outer, n_outer}, false, std::nullopt) : t; };
  const Tensor centred = self - mean(self);
  const Tensor rstd = ops::rsqrt(mean(centred * centred) + eps);
  const Tensor normal = centred * rstd;
  Tensor grad_self, grad_weight, grad_bias;
  if (needs_self) {
    const Tensor g = times(grad, weight);
    grad_self = rstd * (g - mean(g) - normal * mean(g * normal));
  }
  if (needs_weight) grad_weight = over_rows(grad * normal);
  if (needs_bias) grad_bias = over_rows(grad);
  return {grad_self, grad_weight, grad_bias};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> layer_norm_grad(const Tensor& grad, const Tensor& self, const Tensor& weight, IntSpan normalized_shape,
                                                   double eps, const Tensor& mean, const Tensor& rstd, bool needs_self, bool needs_weight,
                                                   bool needs_bias) {
  if (!grad) return {};
  // The one op has no derivative and no tangents, and a vmap would run it sample by sample.
  if (thread_state.grad_mode || has_layers(grad, self, weight))
    return layer_norm_grad_in_ops(grad, self, weight, normalized_shape, eps, needs_self, needs_weight, needs_bias);
  return ops::native_layer_norm_backward(grad, self, normalized_shape, mean, rstd, weight, needs_self, needs_weight, needs_bias);
}

Tensor glu_grad(const Tensor& grad, const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  const int64_t half = self.size(dim) / 2;
  const Tensor a = ops::slice(self, dim, 0, half, 1), gate = ops::sigmoid(ops::slice(self, dim, half, 2 * half, 1));
  const Tensor first = grad * gate;
  const Tensor parts[2] = {first, first * a * (1 - gate)};
  return ops::cat(parts, dim);
}

Tensor constant_pad_grad(const Tensor& grad, IntSpan pad) {
  int64_t back[2 * kMaxDims];
  for (size_t i = 0; i < pad.size(); ++i) back[i] = -pad[i];
  return ops::constant_pad_nd(grad, {back, pad.size()}, 0);
}

}  // namespace retrograd::derivatives
