// Derivative helpers of optable/pointwise.py. Written in differentiable ops, so that second derivatives follow.
#pragma once

#include <optional>
#include <string_view>

#include "ops.h"

namespace retrograd::derivatives {

Tensor times(const Tensor& grad, Scalar factor);  // grad * factor, for nothing when it is 1
Tensor zero_gradient(const Tensor& grad);
[[noreturn]] Tensor not_implemented(const char* op);  // for arguments PyTorch cannot differentiate either

Tensor div_mode_backward_self(const Tensor& grad, const Operand& other, std::optional<std::string_view> mode);
Tensor div_mode_backward_other(const Tensor& grad, const Tensor& self, const Operand& other, std::optional<std::string_view> mode);

Scalar one_minus(Scalar s);
Tensor acosh_slope(const Tensor& self);
Tensor pow_backward(const Tensor& grad, const Tensor& self, Scalar exponent);
Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent);
Tensor pow_backward_exponent(const Tensor& grad, const Operand& self, const Tensor& exponent, const Tensor& result);

Tensor product_backward(const Tensor& grad, const Tensor& factor, Scalar value);  // grad * factor * value
Tensor xlogy_backward_self(const Tensor& grad, const Tensor& self, const Operand& other);
Tensor xlogy_backward_other(const Tensor& grad, const Operand& self, const Tensor& other);
Tensor atan2_backward(const Tensor& grad, const Tensor& y, const Tensor& x, const Tensor& factor);  // grad * factor / (y^2 + x^2)
Tensor log_ndtr_third(const Tensor& grad, const Tensor& self, const Tensor& curve);
Tensor sinc_double_backward(const Tensor& product, const Tensor& self);
Tensor logit_backward(const Tensor& grad, const Tensor& self, std::optional<double> eps);

Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor special_entr_backward(const Tensor& grad, const Tensor& self);
Tensor xlog1py_backward_self(const Tensor& grad, const Tensor& self, const Operand& other);
Tensor xlog1py_backward_other(const Tensor& grad, const Operand& self, const Tensor& other);
Tensor zeta_backward_other(const Tensor& grad, const Operand& self, const Tensor& other);
Tensor mvlgamma_backward(const Tensor& grad, const Tensor& self, int64_t p);
Tensor igamma_backward(const Tensor& grad, const Tensor& a, const Tensor& x);  // of igamma for x
Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result);

// Bounds. min and max of the tensor forms may be undefined.
Tensor clamp_backward(const Tensor& grad, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max);
Tensor clamp_tensor_backward_self(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor clamp_tensor_backward_min(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor clamp_tensor_backward_max(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max);
Tensor fmax_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool for_self);
Tensor fmin_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool for_self);

// Activations. The second derivatives take the product of both incoming gradients.
Tensor elu_double_backward(const Tensor& grad, const Tensor& grad_output, const Tensor& self, Scalar alpha, Scalar scale,
                           Scalar input_scale);
Tensor softplus_double_backward(const Tensor& product, const Tensor& self, Scalar beta, Scalar threshold);
Tensor silu_double_backward(const Tensor& product, const Tensor& self);
Tensor mish_double_backward(const Tensor& product, const Tensor& self);
Tensor gelu_backward(const Tensor& grad, const Tensor& self, std::string_view approximate);
Tensor gelu_double_backward(const Tensor& product, const Tensor& self);
Tensor gelu_tanh_double_backward(const Tensor& product, const Tensor& self);

}  // namespace retrograd::derivatives
