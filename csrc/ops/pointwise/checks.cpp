#include "ops/pointwise/checks.h"

#include <cmath>
#include <limits>

#include "core/promote.h"
#include "kernels/element.h"
#include "ops/data.h"

namespace retrograd::impl {

void check_rare_alpha(const Operand& self, const Operand& other, Scalar alpha) {
  Promotion promotion;
  promotion.add(self);
  promotion.add(other);
  const DType result = promotion.result();
  RG_CHECK(!alpha.is_bool() || result == DType::Bool, "Boolean alpha only supported for Boolean results.");
  RG_CHECK(!alpha.is_complex() || is_complex(result), "For non-complex input tensors, argument alpha must not be a complex number.");
  RG_CHECK(!alpha.is_float() || is_differentiable(result),
           "For integral input tensors, argument alpha must not be a floating point number.");
  check_representable(alpha, result);
}

void check_rare_param(const Scalar& value, std::initializer_list<Operand> in) {
  Promotion promotion;
  for (const Operand& o : in) promotion.add(o);
  const DType result = promotion.result();
  check_representable(value, is_floating(result) && itemsize(result) == 2 ? DType::Float32 : result);  // in which they are computed
}

void fail_bool_sub(bool both) {
  if (both) fail_bool("Subtraction, the `-` operator, with two bool tensors is not supported. Use `^` or `logical_xor()`.");
  fail_bool("Subtraction, the `-` operator, with a bool tensor is not supported. To invert a mask, use `~` or `logical_not()`.");
}

void fail_bool(const char* message) { fail(ErrorKind::Runtime, message); }

void check_addcdiv(const Tensor& tensor1, const Tensor& tensor2) {
  RG_CHECK(is_differentiable(tensor1.dtype()) || is_differentiable(tensor2.dtype()),
           "Integer division with addcdiv is no longer supported: use (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
           "the integer "
           "quotient, or (input + value * tensor1 / tensor2) for the true one.");
}

void check_hardtanh(const Tensor& self, const Scalar& min, const Scalar& max) {
  RG_CHECK(self.dtype() != DType::Bool, "Bool inputs not supported for hardtanh");
  RG_CHECK(self.dtype() != DType::UInt8 || min.to_double() >= 0, "cannot do hardtanh on an unsigned type with negative limits");
  RG_CHECK_AS(Value, !(min.to_double() > max.to_double()), "min_val cannot be greater than max_val");
}

void check_softshrink(const Scalar& lambd) {
  RG_CHECK(lambd.to_double() >= 0, "lambda must be in range [0, inf], but found ", lambd.to_double());
}

Scalar as_element(const Tensor& self, const Scalar& value) {
  if (!is_floating(self.dtype()) || itemsize(self.dtype()) != 2) return value;
  const auto number = static_cast<float>(value.to_double());
  return self.dtype() == DType::Float16 ? Scalar(static_cast<double>(Half(number))) : Scalar(static_cast<double>(BFloat16(number)));
}

// PyTorch names the C++ types here.
void fail_same_dtype(const Tensor& self, const Tensor& other, const char* name) {
  fail(ErrorKind::Runtime, "expected dtype ", cpp_type_name(self.dtype()), " for `", name, "` but got dtype ",
       cpp_type_name(other.dtype()));
}

namespace {

// Whether a number has a value in a dtype. Fractions are cut off and negative integers wrap in unsigned ones; too large ones do neither.
bool representable(const Scalar& s, DType dtype) {
  if (s.imag != 0 && !is_complex(dtype)) return false;
  const double v = s.to_double();
  switch (dtype) {
    case DType::UInt8: return v >= (s.is_float() ? 0 : -255) && v <= 255;
    case DType::UInt16: return v >= (s.is_float() ? 0 : -65535) && v <= 65535;
    case DType::UInt32: return v >= (s.is_float() ? 0 : -4294967295.0) && v <= 4294967295.0;
    case DType::UInt64: return !s.is_float() || (v >= 0 && v <= 0x1p64);
    case DType::Int8: return v >= -128 && v <= 127;
    case DType::Int16: return v >= -32768 && v <= 32767;
    case DType::Int32: return v >= -2147483648.0 && v <= 2147483647.0;
    case DType::Int64: return s.is_float() ? v >= -0x1p63 && v < 0x1p63 : !s.is_huge();
    case DType::Float16: return !std::isfinite(v) || std::fabs(v) <= 65504.0;
    case DType::BFloat16: return !std::isfinite(v) || std::fabs(v) <= 3.3895313892515355e38;
    case DType::Float8_e4m3fn: return !std::isfinite(v) || std::fabs(v) <= 448;
    case DType::Float8_e5m2:
    case DType::Float8_e5m2fnuz: return !std::isfinite(v) || std::fabs(v) <= 57344;
    case DType::Float8_e4m3fnuz: return !std::isfinite(v) || std::fabs(v) <= 240;
    case DType::Float8_e8m0fnu: return !std::isfinite(v) || std::fabs(v) <= 0x1p127;
    case DType::Float32: return !std::isfinite(v) || std::fabs(v) <= std::numeric_limits<float>::max();
    default: return true;
  }
}

}  // namespace

void check_representable(const Scalar& value, DType dtype) {
  RG_CHECK(representable(value, dtype), "value cannot be converted to type ", number_type_name(dtype), " without overflow");
}

void check_divisor(const Operand& self, const Operand& other) {
  if ((self.tensor && self.tensor->numel == 0) || (other.tensor && other.tensor->numel == 0)) return;  // nothing is divided
  RG_CHECK(other.tensor ? !any_element(Tensor::borrow(other.tensor), kernels::Is::Zero) : other.scalar.to_int() != 0,
           "ZeroDivisionError\n  Integers are divided by zero, which has no result.\n  Hint: convert to floats, where it is inf or nan.");
}

}  // namespace retrograd::impl
