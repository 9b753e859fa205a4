// Argument checks of pointwise ops, with PyTorch's words. Generated code calls them before the kernel.
#pragma once

#include "core/tensor.h"

namespace retrograd::impl {

[[gnu::cold]] void check_rare_alpha(const Operand& self, const Operand& other, Scalar alpha);
[[noreturn, gnu::cold]] void fail_bool_sub(bool both);
[[noreturn, gnu::cold]] void fail_bool(const char* message);
void check_representable(const Scalar& value, DType dtype);  // a number that overflows a dtype is an error where it does not just wrap
void check_divisor(const Operand& self, const Operand& other);
[[gnu::cold]] void check_rare_param(const Scalar& value, std::initializer_list<Operand> in);
// What a kernel computes with must be a number in the dtype of the result.
inline void check_param(const Scalar& value, std::initializer_list<Operand> in) {
  const double v = value.to_double();
  if (RG_UNLIKELY(value.imag != 0 || !(v >= -127 && v <= 127))) check_rare_param(value, in);
}

inline bool is_bool(const Operand& o) { return o.tensor ? o.tensor->dtype == DType::Bool : o.scalar.is_bool(); }
inline bool is_float(const Operand& o) { return o.tensor ? is_differentiable(o.tensor->dtype) : o.scalar.is_float(); }

// alpha must not be of a higher category than the result, and be a number there. 1 always passes: it is the default.
inline void check_alpha(const Operand& self, const Operand& other, const Scalar& alpha) {
  if (RG_UNLIKELY(alpha.kind != Scalar::Kind::Int || alpha.i < -128 || alpha.i > 127)) check_rare_alpha(self, other, alpha);
}
inline void check_sub(const Operand& self, const Operand& other, const Scalar& alpha) {
  if (RG_UNLIKELY(is_bool(self) || is_bool(other))) fail_bool_sub(is_bool(self) && is_bool(other));
  check_alpha(self, other, alpha);
}
inline void check_neg(const Tensor& self) {
  if (RG_UNLIKELY(self.dtype() == DType::Bool))
    fail_bool("Negation, the `-` operator, on a bool tensor is not supported. To invert a mask, use `~` or `logical_not()`.");
}
inline void check_sign(const Tensor& self) {
  RG_CHECK_AS(NotImplemented, !is_complex(self.dtype()),
              "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.");
}
inline void check_relu(const Tensor& self) {
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) fail_bool("Boolean inputs not supported for relu");
}
void check_addcdiv(const Tensor& tensor1, const Tensor& tensor2);
[[noreturn, gnu::cold]] void fail_same_dtype(const Tensor& self, const Tensor& other, const char* name);
inline void check_same_dtype(const Tensor& self, const Tensor& other, const char* name) {
  if (RG_UNLIKELY(self.dtype() != other.dtype())) fail_same_dtype(self, other, name);
}
void check_hardtanh(const Tensor& self, const Scalar& min, const Scalar& max);
inline void check_polygamma(int64_t n) { RG_CHECK(n >= 0, "polygamma(n, x) does not support negative n."); }
inline void check_mvlgamma(const Tensor& self, int64_t p) {
  RG_CHECK(self.dtype() != DType::Bool, "The input tensor may not be a boolean tensor.");
  RG_CHECK(p >= 1, "p has to be greater than or equal to 1");
}
inline void check_threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) {
  if (is_differentiable(self.dtype())) return;
  check_representable(threshold, self.dtype());
  check_representable(value, self.dtype());
}
void check_softshrink(const Scalar& lambd);
Scalar as_element(const Tensor& self, const Scalar& value);  // rounded to the dtype of self: what is compared with its elements

inline void check_heaviside(const Tensor& self, const Tensor& values) {
  RG_CHECK(self.dtype() == values.dtype(), "heaviside is not yet implemented for tensors with different dtypes.");
}
inline void check_lerp(const Tensor& self, const Tensor& end) { check_same_dtype(self, end, "end"); }
inline void check_lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_same_dtype(self, end, "end");
  if (weight.dim()) check_same_dtype(self, weight, "weight");
}
// Division of integers by zero is an error, not a number.
inline void check_int_divisor(const Operand& self, const Operand& other) {
  if (!is_float(self) && !is_float(other) && !(is_bool(self) && is_bool(other))) check_divisor(self, other);
}

}  // namespace retrograd::impl
