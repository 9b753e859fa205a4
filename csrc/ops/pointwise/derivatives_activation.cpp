// Second derivatives of activations whose first one is a kernel of its own. Written in ops, so that third ones follow.
#include "ops/derivatives.h"
#include "ops/pointwise/derivatives.h"

namespace retrograd::derivatives {

Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, Scalar alpha, Scalar scale,
                           Scalar input_scale) {
  const double rate = input_scale.to_double();
  const Tensor curve = ops::exp(self * input_scale) * (alpha.to_double() * scale.to_double() * rate * rate);
  return ops::where(ops::lt(self, 0), grad * grad_output * curve, 0.0);
}

Tensor softplus_double_backward(const Tensor& product, const Tensor& self, Scalar beta, Scalar threshold) {
  const Tensor scaled = self * beta;
  const Tensor curve = ops::sigmoid_backward(product, ops::sigmoid(scaled)) * beta;
  return ops::where(ops::ge(scaled, threshold), 0.0, curve);
}

// silu = x s, silu'' = s' (2 + x (1 - 2 s)) with s' = s (1 - s)
Tensor silu_double_backward(const Tensor& product, const Tensor& self) {
  const Tensor s = ops::sigmoid(self);
  return ops::sigmoid_backward(product, s) * (self * (1 - s * 2) + 2);
}

// mish = x t with t = tanh(softplus(x)), t' = s (1 - t^2) with s = sigmoid(x): mish'' = 2 t' + x t''
Tensor mish_double_backward(const Tensor& product, const Tensor& self) {
  const Tensor s = ops::sigmoid(self), t = ops::tanh(ops::softplus(self, 1, 20));
  const Tensor slope = s * (1 - t * t);
  const Tensor curve = slope * (1 - s - t * s * 2);
  return product * (slope * 2 + self * curve);
}

Tensor gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate) {
  return approximate == "tanh" ? ops::_gelu_tanh_backward(grad, self) : ops::_gelu_backward(grad, self);
}

// gelu'' = (2 - x^2) times the normal density
Tensor gelu_double_backward(const Tensor& product, const Tensor& self) {
  const Tensor squared = self * self;
  return ops::_scaled_product(product, ops::exp(squared * -0.5) * (2 - squared), 0.3989422804014327);
}

// gelu = x (1 + t) / 2 with t = tanh(u), u = k (x + c x^3)
Tensor gelu_tanh_double_backward(const Tensor& product, const Tensor& self) {
  constexpr double k = 0.7978845608028654, c = 0.044715;
  const Tensor squared = self * self;
  const Tensor t = ops::tanh(self * (squared * (k * c) + k));
  const Tensor sech2 = 1 - t * t;
  const Tensor u1 = squared * (3 * k * c) + k, u2 = self * (6 * k * c);
  const Tensor curve = u1 + self * (u2 * 0.5 - t * u1 * u1);
  return product * (sech2 * curve);
}

}  // namespace retrograd::derivatives
