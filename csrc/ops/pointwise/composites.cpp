// Pointwise ops that are other ops with some arguments filled in or turned round.
#include "autograd/history.h"
#include "core/promote.h"
#include "ops/derivatives.h"
#include "ops/out.h"

namespace retrograd::composite {
namespace {

// What float_power computes in.
DType wide_dtype(const Operand& a, const Operand& b) {
  const auto imaginary = [](const Operand& o) { return o.tensor ? is_complex(o.tensor->dtype) : o.scalar.is_complex(); };
  return imaginary(a) || imaginary(b) ? DType::Complex128 : DType::Float64;
}
Tensor converted(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : ops::_to_copy(t, dtype, {}); }

// A number as a 0-d tensor that is as weak in type promotion as the number is.
Tensor wrapped(Scalar value) {
  Tensor t = scalar_tensor(value, value.holding_dtype());
  t->flags |= kNumber;
  return t;
}

// A number beside a tensor keeps all its digits; beside another number it is what torch.tensor makes of it.
Tensor beside(Scalar value, const Operand& other) {
  const DType dtype = value.natural_dtype();
  if (other.tensor || !is_differentiable(dtype)) return wrapped(value);
  return scalar_tensor(value, is_complex(dtype) ? complex_dtype(default_dtype()) : default_dtype());
}

constexpr double kSeluAlpha = 1.6732632423543772848170429916717, kSeluScale = 1.0507009873554804934193349852946;

}  // namespace

Tensor square(const Tensor& self) { return ops::pow_scalar(self, 2); }
void square_(const Tensor& self) { ops::pow_scalar_(self, 2); }
Tensor selu(const Tensor& self) { return ops::elu(self, kSeluAlpha, kSeluScale, 1); }
void selu_(const Tensor& self) { ops::elu_(self, kSeluAlpha, kSeluScale, 1); }
Tensor relu6(const Tensor& self) { return ops::hardtanh(self, 0, 6); }
void relu6_(const Tensor& self) { ops::hardtanh_(self, 0, 6); }

Tensor special_ndtr(const Tensor& self) { return ops::erfc(self * -0.7071067811865476) * 0.5; }
Tensor polygamma_method(const Tensor& self, int64_t n) { return ops::polygamma(n, self); }
void polygamma_method_(const Tensor& self, int64_t n) {
  const Tensor result = ops::polygamma(n, requires_grad(self) ? ops::clone(self) : self);  // the node saves its argument
  if (!can_cast(result.dtype(), self.dtype())) fail_out_dtype(kCannotCast, self.dtype(), result.dtype());
  ops::copy_(self, result, false);
}

Tensor add_left(Scalar self, const Operand& other, Scalar alpha) {
  return other.tensor && alpha.equals(1) ? ops::add(Tensor::borrow(other.tensor), self, 1) : ops::add(beside(self, other), other, alpha);
}
Tensor sub_left(Scalar self, const Operand& other, Scalar alpha) { return ops::sub(beside(self, other), other, alpha); }
Tensor mul_left(Scalar self, const Operand& other) {
  return other.tensor ? ops::mul(Tensor::borrow(other.tensor), self) : ops::mul(beside(self, other), other);
}
Tensor div_left(Scalar self, const Operand& other) { return ops::div(beside(self, other), other); }
Tensor div_mode_left(Scalar self, const Operand& other, std::optional<std::string_view> rounding_mode) {
  return ops::div_mode(beside(self, other), other, rounding_mode);
}
Tensor floor_divide_left(Scalar self, Scalar other) { return ops::floor_divide(beside(self, other), other); }

Tensor float_power(const Tensor& self, const Operand& exponent) {
  const DType dtype = wide_dtype(self, exponent);
  const Tensor base = converted(self, dtype);
  if (!exponent.tensor) return ops::pow_scalar(base, exponent.scalar);
  return ops::pow(base, converted(Tensor::borrow(exponent.tensor), dtype));
}
Tensor float_power_self_scalar(const Operand& self, const Tensor& exponent) {
  return ops::pow_self_scalar(self, converted(exponent, wide_dtype(self, exponent)));
}

std::tuple<Tensor, Tensor> frexp(const Tensor& self) {
  RG_CHECK(is_floating(self.dtype()), "torch.frexp() only supports floating-point dtypes");
  return {ops::_less_exponent(self, self), ops::_to_copy(ops::_exponent(self), DType::Int32, {})};
}

}  // namespace retrograd::composite
