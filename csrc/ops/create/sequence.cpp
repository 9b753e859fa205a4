// Sequences and patterns: arange, linspace, logspace, eye, tril_indices.
#include <algorithm>
#include <cmath>

#include "core/promote.h"
#include "kernels/create.h"
#include "native_create.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/lazy.h"

namespace retrograd {
namespace rule {
namespace {

void check_range(double start, double end, bool step_is_zero, bool forward) {
  RG_CHECK(!step_is_zero, "step must be nonzero");
  RG_CHECK(std::isfinite(start) && std::isfinite(end), "unsupported range: ", start, " -> ", end);
  RG_CHECK(start == end || (start < end) == forward, "upper bound and lower bound inconsistent with step sign");
}

int64_t checked_length(double length) {
  RG_CHECK(length >= 0 && length < 9.2e18, "invalid size, possible overflow?");
  return static_cast<int64_t>(length);
}

int64_t count_of(const Scalar& start, const Scalar& end, const Scalar& step) {
  RG_CHECK(std::isfinite(step.to_double()), "value cannot be converted to type int64_t without overflow");
  RG_CHECK_AS(Value, step.to_int() != 0 || step.equals(0), "step must be nonzero: as an integer, ", step.to_double(), " is 0");
  check_range(start.to_double(), end.to_double(), step.to_int() == 0, step.to_double() > 0);
  const int64_t a = start.to_int(), b = end.to_int(), s = step.to_int();
  const auto from = static_cast<uint64_t>(a), to = static_cast<uint64_t>(b), by_signed = static_cast<uint64_t>(s);  // may wrap
  const uint64_t distance = s > 0 ? to - from : from - to, by = s > 0 ? by_signed : 0 - by_signed;
  const bool nothing = s > 0 ? b <= a : b >= a;
  return nothing ? 0 : static_cast<int64_t>((distance - 1) / by + 1);
}

Spec along(int64_t length, DType dtype, const Options& options) { return Spec(ints({length}), dtype, creation_device(options)); }

Spec counted(const Scalar& start, const Scalar& end, const Scalar& step, const Options& options) {
  const bool floats = start.is_float() || end.is_float() || step.is_float();
  const DType type = options.dtype.value_or(floats ? default_dtype() : DType::Int64);
  RG_CHECK_AS(NotImplemented, type != DType::Bool, "\"arange_cpu\" not implemented for 'Bool'");
  check_real("arange", start);
  check_real("arange", end);
  check_real("arange", step);
  if (is_complex(type)) fail_no_kernel("arange", type);
  RG_CHECK(!std::isnan(step.to_double()), "step must be nonzero");
  if (type == DType::Int64) return along(count_of(start, end, step), type, options);
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check_range(a, b, s == 0, s > 0);
  return along(checked_length(std::ceil((b - a) / s)), type, options);
}

Spec spread(int64_t steps, DType dtype, const Options& options) {
  RG_CHECK(steps >= 0, "number of steps must be non-negative");
  return along(steps, dtype, options);
}

}  // namespace

Spec arange(Scalar end, const Options& options) { return counted(Scalar(0), end, Scalar(1), options); }
Spec arange_start_step(Scalar start, Scalar end, Scalar step, const Options& options) { return counted(start, end, step, options); }

Spec range(Scalar start, Scalar end, Scalar step, const Options& options) {
  const char* text =
      "torch.range is deprecated and will be removed in a future release: unlike Python's range it includes the end. Use torch.arange, "
      "which does not.";
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
  for (const Scalar& number : {start, end, step}) check_real("range", number);
  if (options.dtype && is_complex(*options.dtype)) fail_no_kernel("range", *options.dtype);
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check_range(a, b, s == 0, s > 0);
  return along(checked_length(std::floor((b - a) / s) + 1), options.dtype.value_or(default_dtype()), options);
}

Spec linspace(Scalar start, Scalar end, int64_t steps, const Options& options) {
  const bool complex = start.is_complex() || end.is_complex();
  const DType type = options.dtype.value_or(complex ? complex_dtype(default_dtype()) : default_dtype());
  RG_CHECK(!complex || is_complex(type), "linspace(): inferred dtype is complex, which the dtype ", dtype_name(type), " cannot hold");
  return spread(steps, type, options);
}

Spec logspace(Scalar start, Scalar end, int64_t steps, double, const Options& options) {
  for (const Scalar& s : {start, end}) check_real("logspace", s);
  if (options.dtype && is_complex(*options.dtype)) fail_no_kernel("logspace", *options.dtype);
  return spread(steps, options.dtype.value_or(default_dtype()), options);
}

Spec eye_m(int64_t n, int64_t m, const Options& options) {
  RG_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  RG_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  return zeros(ints({n, m}), options);
}

Spec eye(int64_t n, const Options& options) { return eye_m(n, n, options); }

}  // namespace rule

namespace {

// In row r of a triangle, columns below border(r) belong to the lower one, those from there on to the upper.
struct Border {
  int64_t shift, columns;
  Border(int64_t rows, int64_t columns, int64_t offset, bool lower)
      : shift(std::clamp(offset, -rows, columns) + lower), columns(columns) {}  // clamped, so that sums with it cannot overflow
  int64_t operator()(int64_t r) const { return std::clamp<int64_t>(r + shift, 0, columns); }
};

Spec triangle(int64_t rows, int64_t columns, int64_t offset, bool lower, const Options& options) {
  RG_CHECK(rows >= 0, "row must be non-negative, got", rows);
  RG_CHECK(columns >= 0, "col must be non-negative, got", columns);
  const DType dtype = options.dtype.value_or(DType::Int64);
  RG_CHECK_AS(NotImplemented, dtype == DType::Int64 || dtype == DType::Int32, "\"", lower ? "tril" : "triu",
              "_indices\" not implemented for '", dtype_title(dtype), "'");
  const Border border(rows, columns, offset, lower);
  // The sum of border(r): it is 0 at first, then climbs one by one, then stays at `columns`.
  const int64_t flat = std::clamp<int64_t>(-border.shift, 0, rows), top = std::clamp<int64_t>(columns - border.shift, flat, rows);
  int64_t below, all, climb, stay;
  const bool overflow = __builtin_mul_overflow(border(flat) + border(top > flat ? top - 1 : flat), top - flat, &climb) ||
                        __builtin_mul_overflow(columns, rows - top, &stay) || __builtin_add_overflow(climb / 2, stay, &below) ||
                        __builtin_mul_overflow(rows, columns, &all);
  RG_CHECK(!overflow, "Storage size calculation overflowed with row=", rows, " and col=", columns);
  return Spec(ints({2, lower ? below : all - below}), dtype, creation_device(options));
}

// Fills a new tensor with a kernel of the family.
template <class K, class... Args> void generate(const Tensor& out, K kernel, const Args&... args) {
  const Launch launch(out, out.numel() * 2);
  (kernels::create(out->device).*kernel)(out.array(), args...);
}

using K = kernels::CreateKernels;

}  // namespace

namespace rule {

Spec tril_indices(int64_t row, int64_t col, int64_t offset, const Options& options) { return triangle(row, col, offset, true, options); }
Spec triu_indices(int64_t row, int64_t col, int64_t offset, const Options& options) { return triangle(row, col, offset, false, options); }

}  // namespace rule

namespace compute {

void arange_start_step(Scalar start, Scalar, Scalar step, const Tensor& out) {
  if (is_floating(out.dtype())) return generate(out, &K::step, start.to_double(), step.to_double());
  generate(out, &K::count, static_cast<uint64_t>(start.to_int()), static_cast<uint64_t>(step.to_int()));
}
void arange(Scalar, const Tensor& out) {
  is_floating(out.dtype()) ? generate(out, &K::step, 0.0, 1.0) : generate(out, &K::count, uint64_t{0}, uint64_t{1});
}
void range(Scalar start, Scalar, Scalar step, const Tensor& out) { generate(out, &K::step, start.to_double(), step.to_double()); }

void linspace(Scalar start, Scalar end, int64_t, const Tensor& out) {
  if (RG_LIKELY(!is_complex(out.dtype()))) return generate(out, &K::spread, kernels::Spread{start.to_double(), end.to_double(), 0, false});
  const Complex<double> a = start.to_complex(), b = end.to_complex();
  const Tensor part = retrograd::empty(out.sizes(), real_dtype(out.dtype()), out.device());
  generate(part, &K::spread, kernels::Spread{a.re, b.re, 0, false});
  copy_data(real_part(out), part);
  generate(part, &K::spread, kernels::Spread{a.im, b.im, 0, false});
  copy_data(imag_part(out), part);
}
void logspace(Scalar start, Scalar end, int64_t, double base, const Tensor& out) {
  generate(out, &K::spread, kernels::Spread{start.to_double(), end.to_double(), base, true});
}

void eye_m(int64_t n, int64_t m, const Tensor& out) {
  fill_data(out, Scalar(0));
  fill_data(alias_as(out, ints({std::min(n, m)}), ints({m + 1}), 0), Scalar(1));
}
void eye(int64_t n, const Tensor& out) { eye_m(n, n, out); }

void tril_indices(int64_t row, int64_t col, int64_t offset, const Tensor& out) {
  generate(out, &K::triangle, row, col, Border(row, col, offset, true).shift, true);
}
void triu_indices(int64_t row, int64_t col, int64_t offset, const Tensor& out) {
  generate(out, &K::triangle, row, col, Border(row, col, offset, false).shift, false);
}

}  // namespace compute

namespace composite {
namespace {

// Tensors with one element are read as the number they hold, so that here at least one of the two has dimensions, or differs from sample
// to sample of a vmap, or has no values, as the result then.
void check_ends(const char* name, const Operand& start, const Operand& end) {
  std::string got;
  for (const auto& [operand, label] : {std::pair{&start, "start"}, std::pair{&end, "end"}}) {
    const int64_t dims = operand->tensor ? operand->tensor->ndim : 0;
    if (dims) got += str_cat(got.empty() ? "" : " and ", label, " with ", dims, " dimension(s)");
  }
  RG_CHECK(got.empty(), name, " only supports 0-dimensional start and end tensors, but got ", got, ".");
  const bool batched = (start.tensor && start.tensor->has(kBatched)) || (end.tensor && end.tensor->has(kBatched));
  RG_CHECK(!batched, name,
           "(): inside vmap start and end must be the same for all samples, since the kernel fills memory from numbers. "
           "Use start + (end - start) * linspace(0, 1, steps)");
}

}  // namespace

Tensor linspace_tensors(const Operand& start, const Operand& end, int64_t steps, std::optional<DType> dtype, std::optional<Layout> layout,
                        std::optional<Device>, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  check_ends("linspace", start, end);
  return ops::linspace(0, 0, steps, dtype, layout, Device{DeviceType::Meta}, pin_memory, requires_grad);
}

Tensor logspace_tensors(const Operand& start, const Operand& end, int64_t steps, double base, std::optional<DType> dtype,
                        std::optional<Layout> layout, std::optional<Device>, std::optional<bool> pin_memory,
                        std::optional<bool> requires_grad) {
  check_ends("logspace", start, end);
  return ops::logspace(0, 0, steps, base, dtype, layout, Device{DeviceType::Meta}, pin_memory, requires_grad);
}

}  // namespace composite
}  // namespace retrograd
