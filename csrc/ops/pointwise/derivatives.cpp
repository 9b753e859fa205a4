#include "ops/pointwise/derivatives.h"
#include "core/coded_error.h"
#include "core/state.h"

#include <limits>
#include <string_view>

#include "ops/derivatives.h"

namespace retrograd::derivatives {

Tensor times(const Tensor& grad, Scalar factor) {
  if (factor.equals(1)) return grad;
  if (factor.equals(-1)) return ops::neg(grad);
  // Beside real tensors a complex number counts as a real one (others are refused), so the gradient is real.
  return ops::mul(grad, factor.is_complex() && !is_complex(grad.dtype()) ? Scalar(factor.d) : factor);
}

// 1 / sqrt(x^2 - 1). Of complex numbers the two factors have roots of their own: that of the product changes its sign where x turns to the left.
Tensor acosh_slope(const Tensor& self) {
  return is_complex(self.dtype()) ? ops::rsqrt(self - 1) * ops::rsqrt(self + 1) : ops::rsqrt(self * self - 1);
}

Tensor zero_gradient(const Tensor& grad) { return zeros(grad.sizes(), grad.dtype(), grad.device()); }

Tensor not_implemented(const char* op) {
  std::string message = str_cat("the derivative for '", op, "' is not implemented.");
  const std::string_view name = op;
  if (name != "floor_divide" && name != "heaviside") fail(ErrorKind::NotImplemented, message);
  message += "\n  Hint: it would be zero everywhere. Compute the loss from ";
  message += name == "heaviside" ? "a smooth step, torch.sigmoid(x / width)." : "the quotient before it is rounded, a / b.";
  throw CodedError(ErrorKind::NotImplemented, "dtype_cut", std::move(message));
}

Tensor div_mode_backward_self(const Tensor& grad, const Operand& other, std::optional<std::string_view> mode) {
  return mode ? zero_gradient(grad) : grad / other;
}
Tensor div_mode_backward_other(const Tensor& grad, const Tensor& self, const Operand& other, std::optional<std::string_view> mode) {
  return mode ? zero_gradient(grad) : ops::_div_backward_other(grad, self, other);
}

Scalar one_minus(Scalar s) { return s.is_complex() ? Scalar(Complex<double>(1) - s.to_complex()) : Scalar(1 - s.to_double()); }

Tensor pow_backward(const Tensor& grad, const Tensor& self, Scalar exponent) {
  if (exponent.equals(0)) return zero_gradient(grad);
  if (RG_UNLIKELY(exponent.is_complex()))
    return ops::_scaled_product(grad, ops::pow_scalar(self, Scalar(exponent.to_complex() - Complex<double>(1))), exponent);
  const double e = exponent.to_double();
  // The short form has no second derivative of its own; where one may be asked for, the general one keeps the graph connected.
  if (e == 2 && !thread_state.grad_mode) return ops::_scaled_product(grad, self, 2);
  const Scalar less = exponent.is_float() ? Scalar(exponent.d - 1) : Scalar(exponent.i - 1);
  return ops::_scaled_product(grad, ops::pow_scalar(self, less), exponent);
}

// grad * slope, and 0 where `mask`: the slope does not exist there. Its own derivative, with respect to grad, has that slope for a factor.
static Tensor masked_product(const Tensor& mask, const Tensor& grad, const Tensor& slope) {
  return ops::where(mask, 0.0, grad * (thread_state.grad_mode ? ops::where(mask, 0.0, slope) : slope));
}

// 0 where the exponent is 0, even if self is too and the power rule has inf or nan there.
Tensor pow_backward_self(const Tensor& grad, const Tensor& self, const Tensor& exponent) {
  const Tensor slope = exponent * ops::pow(self, exponent - 1);
  return masked_product(ops::eq(exponent, 0), grad, slope);
}

// 0 where 0 is raised to a power that is not negative: log(0) would make it nan.
Tensor pow_backward_exponent(const Tensor& grad, const Operand& self, const Tensor& exponent, const Tensor& result) {
  // In the dtype of the result: beside a complex exponent a negative number has a logarithm.
  const Tensor base =
      self.tensor ? cast_to(Tensor::borrow(self.tensor), result.dtype()) : scalar_tensor(self.scalar, result.dtype(), result.device());
  const Tensor slope = result * ops::log(base);
  if (!self.tensor && !self.scalar.equals(0)) return grad * slope;
  const Tensor rises = is_complex(exponent.dtype()) ? ops::logical_and(ops::eq(ops::imag(exponent), 0), ops::ge(ops::real(exponent), 0))
                                                    : ops::ge(exponent, 0);
  return masked_product(ops::logical_and(ops::eq(base, 0), rises), grad, slope);
}

Tensor product_backward(const Tensor& grad, const Tensor& factor, Scalar value) {
  return value.equals(1) ? grad * factor : ops::_scaled_product(grad, factor, value);
}

// 0 where self is 0 and log(other) does not exist.
Tensor xlogy_backward_self(const Tensor& grad, const Tensor& self, const Operand& other) {
  const Tensor base = other.tensor ? Tensor::borrow(other.tensor) : scalar_tensor(other.scalar, grad.dtype(), grad.device());
  const Tensor mask = ops::logical_and(ops::eq(self, 0), ops::le(base, 0));
  return masked_product(mask, grad, ops::log(base));
}
Tensor xlogy_backward_other(const Tensor& grad, const Operand& self, const Tensor& other) { return grad * self / other; }

// 0 at the origin, where the angle has no derivative.
Tensor atan2_backward(const Tensor& grad, const Tensor& y, const Tensor& x, const Tensor& factor) {
  const Tensor squares = y * y + x * x;
  return masked_product(ops::eq(squares, 0), grad, factor / squares);
}

// f = sin(t) / t fulfils f'' = -f - 2 f' / t, which is -1/3 at 0.
Tensor sinc_double_backward(const Tensor& product, const Tensor& self) {
  constexpr double square = 9.8696044010893586188;  // of pi
  const Tensor zero = ops::eq(self, 0), safe = ops::where(zero, 1.0, self);
  const Tensor slope = ops::_sinc_backward(ops::where(zero, 0.0, product), self) * 2 / safe;
  return -(ops::where(zero, product * (square / 3), product * ops::sinc(self) * square) + slope);
}

// nan outside [0, 1]; with eps, 0 where the argument was limited.
Tensor logit_backward(const Tensor& grad, const Tensor& self, std::optional<double> eps) {
  const double low = eps.value_or(0.0), outside = eps ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  const Tensor inside = ops::logical_and(ops::ge(self, low), ops::le(self, 1 - low));
  return grad / ops::where(inside, self * (1 - self), outside);
}

// Around 0 the quotient and its derivatives have no digits: there it is the series.
Tensor i1e_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor size = ops::abs(self), small = ops::lt(size, 1e-4), safe = ops::where(small, 1.0, self);
  const Tensor series = ((size * (-7.0 / 12) + 15.0 / 16) * size - 1) * size + 0.5;
  const Tensor slope = ops::special_i0e(self) - result * (ops::sgn(safe) + ops::reciprocal(safe));
  return grad * ops::where(small, series, slope);
}

// h'' = -h' (x + 2 h) - h
Tensor log_ndtr_third(const Tensor& grad, const Tensor& self, const Tensor& curve) {
  const Tensor slope = ops::_log_ndtr_backward(1, self);
  return -(grad * (curve * (self + slope * 2) + slope));
}

Tensor special_entr_backward(const Tensor& grad, const Tensor& self) { return -(grad * (ops::log(self) + 1)); }

Tensor xlog1py_backward_self(const Tensor& grad, const Tensor& self, const Operand& other) {
  const Tensor base = other.tensor ? Tensor::borrow(other.tensor) : scalar_tensor(other.scalar, grad.dtype(), grad.device());
  const Tensor mask = ops::logical_and(ops::eq(self, 0), ops::le(base, -1));
  return masked_product(mask, grad, ops::log1p(base));
}
Tensor xlog1py_backward_other(const Tensor& grad, const Operand& self, const Tensor& other) { return grad * self / (other + 1); }

Tensor zeta_backward_other(const Tensor& grad, const Operand& self, const Tensor& other) {
  const Tensor s = self.tensor ? Tensor::borrow(self.tensor) : scalar_tensor(self.scalar, grad.dtype(), grad.device());
  return -(grad * s * ops::special_zeta(s + 1, other));
}

Tensor mvlgamma_backward(const Tensor& grad, const Tensor& self, int64_t p) {
  Tensor slope = ops::digamma(self);
  for (int64_t j = 1; j < p; ++j) slope = slope + ops::digamma(self - 0.5 * static_cast<double>(j));
  return grad * slope;
}

// x^(a - 1) e^-x / Gamma(a)
Tensor igamma_backward(const Tensor& grad, const Tensor& a, const Tensor& x) {
  return grad * ops::exp((a - 1) * ops::log(x) - x - ops::lgamma(a));
}

// The sign flip is +1 or -1, except that PyTorch has 0 at 0.
Tensor copysign_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  return masked_product(ops::eq(self, 0), grad, result / self);
}

Tensor clamp_backward(const Tensor& grad, const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  return ops::_clamp_backward(grad, self, min.value_or(Scalar(-inf)), max.value_or(Scalar(inf)));
}

Tensor clamp_tensor_backward_self(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!max) return ops::where(ops::ge(self, min), grad, 0.0);
  if (!min) return ops::where(ops::le(self, max), grad, 0.0);
  return ops::where(ops::logical_and(ops::ge(self, min), ops::le(self, max)), grad, 0.0);
}

// Where the bounds cross, max is the result: see clamp.
Tensor clamp_tensor_backward_min(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  const Tensor below = ops::lt(self, min);
  return ops::where(max ? ops::logical_and(below, ops::lt(min, max)) : below, grad, 0.0);
}
Tensor clamp_tensor_backward_max(const Tensor& grad, const Tensor& self, const Tensor& min, const Tensor& max) {
  const Tensor above = ops::gt(self, max);
  return ops::where(min ? ops::logical_or(above, ops::lt(max, min)) : above, grad, 0.0);
}

// Equal elements and a nan on the right give the gradient to self.
Tensor fmax_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool for_self) {
  const Tensor mask = ops::logical_or(ops::ge(self, other), ops::isnan(other));
  return for_self ? ops::where(mask, grad, 0.0) : ops::where(mask, 0.0, grad);
}
Tensor fmin_backward(const Tensor& grad, const Tensor& self, const Tensor& other, bool for_self) {
  const Tensor mask = ops::logical_or(ops::le(self, other), ops::isnan(other));
  return for_self ? ops::where(mask, grad, 0.0) : ops::where(mask, 0.0, grad);
}

}  // namespace retrograd::derivatives
