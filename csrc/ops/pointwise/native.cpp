// Pointwise ops that choose among kernels of the table by their arguments.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/promote.h"
#include "kernels/pointwise.h"
#include "native_pointwise.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/generated_support.h"
#include "ops/lazy.h"
#include "ops/overlap.h"
#include "ops/pointwise/checks.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd::impl {
namespace {

DType result_type(const Operand& a, const Operand& b) {
  Promotion promotion;
  promotion.add(a);
  promotion.add(b);
  return promotion.result();
}

// ---- division with rounding ----

enum class Rounding : uint8_t { None, Floor, Trunc };

Rounding parse_rounding(std::optional<std::string_view> mode) {
  if (!mode) return Rounding::None;
  if (*mode == "floor") return Rounding::Floor;
  RG_CHECK(*mode == "trunc", "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  return Rounding::Trunc;
}

// ---- powers ----

// Exponents with a kernel of their own. They hold when the result has the dtype of self: (int tensor) ** 0.5 is a float's power.
enum class Power : uint8_t { General, Copy, Square, Cube, Sqrt, Rsqrt, Reciprocal };

Power power_kind(const Tensor& self, const Scalar& exponent) {
  const double e = exponent.to_double();
  const bool floating = is_differentiable(self.dtype());
  if (exponent.imag != 0) return Power::General;
  RG_CHECK(floating || exponent.is_float() || e >= 0,
           "Integers to negative integer powers are not allowed.\n  Hint: their results are fractions: convert the base with .float(), or "
           "make the exponent a float.");
  if (result_type(self, exponent) != self.dtype()) return Power::General;
  if (!floating) check_representable(exponent, self.dtype());
  if (e == 1) return Power::Copy;
  if (e == 2) return Power::Square;
  const bool is_wide = itemsize(self.dtype()) >= 4;  // others would round the square to fewer digits
  if (e == 3 && (!floating || is_wide)) return Power::Cube;
  if (!floating) return Power::General;
  if (e == 0.5) return Power::Sqrt;
  if (e == -0.5) return Power::Rsqrt;
  if (e == -1) return Power::Reciprocal;
  return Power::General;
}

}  // namespace

Tensor div_mode(const Tensor& self, const Operand& other, std::optional<std::string_view> rounding_mode) {
  switch (parse_rounding(rounding_mode)) {
    case Rounding::Floor: return floor_divide(self, other);
    case Rounding::Trunc: return _div_trunc(self, other);
    default: return div(self, other);
  }
}
void div_mode_inplace(const Tensor& self, const Operand& other, std::optional<std::string_view> rounding_mode) {
  switch (parse_rounding(rounding_mode)) {
    case Rounding::Floor: return floor_divide_out(self, other, self);
    case Rounding::Trunc: return _div_trunc_out(self, other, self);
    default: return div_out(self, other, self);
  }
}

Tensor pow_scalar(const Tensor& self, Scalar exponent) {
  switch (power_kind(self, exponent)) {
    case Power::Copy: return clone(self);
    case Power::Square: return _square(self);
    case Power::Cube: return _cube(self);
    case Power::Sqrt: return sqrt(self);
    case Power::Rsqrt: return rsqrt(self);
    case Power::Reciprocal: return reciprocal(self);
    default: return _pow(self, exponent);
  }
}
void pow_scalar_inplace(const Tensor& self, Scalar exponent) {
  switch (power_kind(self, exponent)) {
    case Power::Copy: return check_no_internal_overlap(self);
    case Power::Square: return _square_out(self, self);
    case Power::Cube: return _cube_out(self, self);
    case Power::Sqrt: return sqrt_out(self, self);
    case Power::Rsqrt: return rsqrt_out(self, self);
    case Power::Reciprocal: return reciprocal_out(self, self);
    default: return _pow_out(self, exponent, self);
  }
}

// ---- rounding ----

// Divides where the power of ten is not exact in binary: 10^-2 is not, 10^2 is.
Tensor round_decimals(const Tensor& self, int64_t decimals) {
  return decimals == 0 ? round(self) : _round_decimals(self, std::pow(10.0, std::abs(decimals)), decimals > 0);
}
void round_decimals_inplace(const Tensor& self, int64_t decimals) {
  decimals == 0 ? round_out(self, self) : _round_decimals_out(self, std::pow(10.0, std::abs(decimals)), decimals > 0, self);
}

Tensor logit(const Tensor& self, std::optional<double> eps) { return _logit(self, eps.value_or(-1.0)); }
void logit_inplace(const Tensor& self, std::optional<double> eps) { _logit_out(self, eps.value_or(-1.0), self); }

// ---- results that are contiguous whatever the input is, as PyTorch's are ----

Tensor log_sigmoid(const Tensor& self) { return _log_sigmoid(contiguous_data(self)); }
Tensor mvlgamma(const Tensor& self, int64_t p) { return _mvlgamma(contiguous_data(self), p); }
Tensor pow_self_scalar(const Operand& self, const Tensor& exponent) { return _pow_left(self, contiguous_data(exponent)); }

// ---- steps ----

Tensor nextafter(const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(self, other);
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? _nextafter_half(self, other) : _nextafter(self, other);
}
void nextafter_inplace(const Tensor& self, const Tensor& other) {
  check_no_internal_overlap(self);
  check_no_partial_overlap(self.get(), other.get());
  copy_result(self, nextafter(self, other));
}

}  // namespace retrograd::impl

namespace retrograd {

Spec rule::_nextafter_half(const Tensor& self, const Tensor& other) {
  const Operand both[] = {self, other};
  return broadcast_spec(both, impl::result_type(self, other), "nextafter");
}

void compute::_nextafter_half(const Tensor& self, const Tensor& other, const Tensor& out) {
  const Tensor dense = out.is_contiguous() ? out : retrograd::empty(out.sizes(), out.dtype(), out.device());
  const Tensor from = contiguous_data(expand_data(cast_data(self, out.dtype()), out.sizes())),
               to = contiguous_data(expand_data(cast_data(other, out.dtype()), out.sizes()));
  {
    const Launch launch(dense, dense.numel());
    kernels::pointwise(dense->device).next_after(dense->data, from->data, to->data, dense.dtype(), dense.numel());
  }
  if (!dense.is(out)) copy_data(out, dense);
}

}  // namespace retrograd

namespace retrograd::impl {

// ---- bounds ----

namespace {

void check_bound(const Tensor& self, const std::optional<Scalar>& bound) {
  if (bound && !bound->is_float() && !is_floating(self.dtype()) && self.dtype() != DType::Bool) check_representable(*bound, self.dtype());
}

}  // namespace

Tensor clamp(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  check_bound(self, min);
  check_bound(self, max);
  if (min && max) return _clamp(self, *min, *max);
  RG_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  return min ? _clamp_below(self, *min) : _clamp_above(self, *max);
}
void clamp_inplace(const Tensor& self, std::optional<Scalar> min, std::optional<Scalar> max) {
  check_bound(self, min);
  check_bound(self, max);
  if (min && max) return _clamp_out(self, *min, *max, self);
  RG_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  min ? _clamp_below_out(self, *min, self) : _clamp_above_out(self, *max, self);
}
Tensor clamp_min(const Tensor& self, Scalar min) { return clamp(self, min, std::nullopt); }
Tensor clamp_max(const Tensor& self, Scalar max) { return clamp(self, std::nullopt, max); }
void clamp_min_inplace(const Tensor& self, Scalar min) { clamp_inplace(self, min, std::nullopt); }
void clamp_max_inplace(const Tensor& self, Scalar max) { clamp_inplace(self, std::nullopt, max); }

static void check_clamped(const Tensor& self, const Tensor& min, const Tensor& max) {
  const bool all = self.dtype() == DType::Bool && min.dtype() == DType::Bool && max.dtype() == DType::Bool;
  RG_CHECK_AS(NotImplemented, !all, "\"clamp_cpu\" not implemented for 'Bool'");
}

Tensor clamp_tensor(const Tensor& self, const Tensor& min, const Tensor& max) {
  if (min && max) return check_clamped(self, min, max), _clamp(self, min, max);
  RG_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  return min ? clamp_min_tensor(self, min) : clamp_max_tensor(self, max);
}
void clamp_tensor_inplace(const Tensor& self, const Tensor& min, const Tensor& max) {
  if (min && max) return check_clamped(self, min, max), _clamp_out(self, min, max, self);
  RG_CHECK(min || max, "torch.clamp: At least one of 'min' or 'max' must not be None");
  min ? clamp_min_tensor_out(self, min, self) : clamp_max_tensor_out(self, max, self);
}

// ---- replacing what is not finite ----

namespace {

// The largest finite number of a floating dtype.
double largest(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 65504.0;
    case DType::BFloat16: return 3.3895313892515355e38;
    case DType::Float32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

}  // namespace

Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (is_complex(self.dtype())) return view_as_complex(nan_to_num(real_pairs(contiguous_data(self)), nan, posinf, neginf));
  if (!is_differentiable(self.dtype())) return clone(self);
  const double most = largest(self.dtype());
  return _nan_to_num(self, nan.value_or(0.0), posinf.value_or(most), neginf.value_or(-most));
}
void nan_to_num_inplace(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) {
  if (!is_differentiable(self.dtype())) return;
  if (is_complex(self.dtype())) return nan_to_num_inplace(real_pairs(self), nan, posinf, neginf);
  const double most = largest(self.dtype());
  _nan_to_num_out(self, nan.value_or(0.0), posinf.value_or(most), neginf.value_or(-most), self);
}

// ---- activations ----

Tensor gelu(const Tensor& self, std::string_view approximate) {
  RG_CHECK(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.");
  return approximate == "tanh" ? _gelu_tanh(self) : _gelu(self);
}

namespace {

double celu_rate(Scalar alpha) {
  RG_CHECK(!alpha.equals(0), "ZeroDivisionError: alpha cannot be 0 for CELU");
  return 1 / alpha.to_double();
}

}  // namespace

Tensor celu(const Tensor& self, Scalar alpha) { return elu(self, alpha, 1, celu_rate(alpha)); }
void celu_inplace(const Tensor& self, Scalar alpha) { elu_out(self, alpha, 1, celu_rate(alpha), self); }

// ---- views that are the tensor itself, as long as there are no complex numbers ----

Tensor positive(const Tensor& self) {
  RG_CHECK(self.dtype() != DType::Bool, "The `+` operator, on a bool tensor is not supported.");
  return self;
}

}  // namespace retrograd::impl
