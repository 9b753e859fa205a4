// Sequences and patterns: arange, linspace, logspace, eye, tril_indices.
#include <algorithm>
#include <cmath>

#include "core/promote.h"
#include "kernels/create.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/lazy.h"
#include "ops/util.h"

namespace retrograd::impl {
namespace {

// Fills a new tensor with a kernel of the family.
template <class K, class... Args> void generate(const Tensor& out, K kernel, const Args&... args) {
  if (is_meta(out)) return;
  const Launch launch(out, out.numel() * 2);
  (kernels::create(out->device).*kernel)(out.array(), args...);
}

void check_range(double start, double end, bool step_is_zero, bool forward) {
  RG_CHECK(!step_is_zero, "step must be nonzero");
  RG_CHECK(std::isfinite(start) && std::isfinite(end), "unsupported range: ", start, " -> ", end);
  RG_CHECK(start == end || (start < end) == forward, "upper bound and lower bound inconsistent with step sign");
}

int64_t checked_length(double length) {
  RG_CHECK(length >= 0 && length < 9.2e18, "invalid size, possible overflow?");
  return static_cast<int64_t>(length);
}

Tensor arange_of(Scalar start, Scalar end, Scalar step, std::optional<DType> dtype, Device device, std::optional<bool> requires_grad) {
  const bool floats = start.is_float() || end.is_float() || step.is_float();
  const DType type = dtype.value_or(floats ? default_dtype() : DType::Int64);
  RG_CHECK_AS(NotImplemented, type != DType::Bool, "\"arange_cpu\" not implemented for 'Bool'");
  for (const Scalar& s : {start, end, step}) check_real("arange", s);
  if (is_complex(type)) fail_complex("arange", type);
  RG_CHECK(!requires_grad.value_or(false) || is_differentiable(type),
           "Only Tensors of floating point and complex dtype can require gradients");
  RG_CHECK(!std::isnan(step.to_double()), "step must be nonzero");
  if (type == DType::Int64) {
    RG_CHECK(std::isfinite(step.to_double()), "value cannot be converted to type int64_t without overflow");
    RG_CHECK_AS(Value, step.to_int() != 0 || step.equals(0), "step must be nonzero: as an integer, ", step.to_double(), " is 0");
    check_range(start.to_double(), end.to_double(), step.to_int() == 0, step.to_double() > 0);
    const int64_t a = start.to_int(), b = end.to_int(), s = step.to_int();
    const auto from = static_cast<uint64_t>(a), to = static_cast<uint64_t>(b), by_signed = static_cast<uint64_t>(s);  // may wrap
    const uint64_t distance = s > 0 ? to - from : from - to, by = s > 0 ? by_signed : 0 - by_signed;
    const bool nothing = s > 0 ? b <= a : b >= a;
    Tensor out = retrograd::empty(ints({nothing ? 0 : static_cast<int64_t>((distance - 1) / by + 1)}), type, device);
    generate(out, &kernels::CreateKernels::count, from, by_signed);
    return out;
  }
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check_range(a, b, s == 0, s > 0);
  Tensor out = retrograd::empty(ints({checked_length(std::ceil((b - a) / s))}), type, device);
  if (is_floating(type)) {
    generate(out, &kernels::CreateKernels::step, a, s);
  } else {
    generate(out, &kernels::CreateKernels::count, static_cast<uint64_t>(start.to_int()), static_cast<uint64_t>(step.to_int()));
  }
  return created(std::move(out), requires_grad);
}

Tensor space(const kernels::Spread& spread, int64_t steps, std::optional<DType> dtype, Device device, std::optional<bool> requires_grad) {
  RG_CHECK(steps >= 0, "number of steps must be non-negative");
  const DType type = dtype.value_or(default_dtype());
  RG_CHECK(!requires_grad.value_or(false) || is_differentiable(type),
           "Only Tensors of floating point and complex dtype can require gradients");
  Tensor out = retrograd::empty(ints({steps}), type, device);
  generate(out, &kernels::CreateKernels::spread, spread);
  return created(std::move(out), requires_grad);
}

}  // namespace

Tensor arange(Scalar end, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
              std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return arange_of(Scalar(0), end, Scalar(1), dtype, creation_device(device, {}, layout, pin_memory), requires_grad);
}

Tensor arange_start_step(Scalar start, Scalar end, Scalar step, std::optional<DType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return arange_of(start, end, step, dtype, creation_device(device, {}, layout, pin_memory), requires_grad);
}

Tensor range(Scalar start, Scalar end, Scalar step, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  const char* text =
      "torch.range is deprecated and will be removed in a future release: unlike Python's range it includes the end. Use torch.arange, "
      "which does not.";
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
  for (const Scalar& number : {start, end, step}) check_real("range", number);
  if (dtype && is_complex(*dtype)) fail_complex("range", *dtype);
  const double a = start.to_double(), b = end.to_double(), s = step.to_double();
  check_range(a, b, s == 0, s > 0);
  Tensor out = retrograd::empty(ints({checked_length(std::floor((b - a) / s) + 1)}), dtype.value_or(default_dtype()),
                                creation_device(device, {}, layout, pin_memory));
  generate(out, &kernels::CreateKernels::step, a, s);
  return created(std::move(out), requires_grad);
}

Tensor linspace(Scalar start, Scalar end, int64_t steps, std::optional<DType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  const bool complex = start.is_complex() || end.is_complex();
  const DType type = dtype.value_or(complex ? complex_dtype(default_dtype()) : default_dtype());
  if (is_complex(type)) {
    const DType real = real_dtype(type);
    const auto part = [&](double from, double to) { return linspace(from, to, steps, real, layout, device, pin_memory, {}); };
    const Complex<double> a = start.to_complex(), b = end.to_complex();
    return created(impl::complex(part(a.re, b.re), part(a.im, b.im)), requires_grad);
  }
  RG_CHECK(!complex, "linspace(): inferred dtype is complex, which the dtype ", dtype_name(type), " cannot hold");
  return space({start.to_double(), end.to_double(), 0, false}, steps, dtype, creation_device(device, {}, layout, pin_memory),
               requires_grad);
}

Tensor logspace(Scalar start, Scalar end, int64_t steps, double base, std::optional<DType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  for (const Scalar& s : {start, end}) check_real("logspace", s);
  if (dtype && is_complex(*dtype)) fail_complex("logspace", *dtype);
  return space({start.to_double(), end.to_double(), base, true}, steps, dtype, creation_device(device, {}, layout, pin_memory),
               requires_grad);
}

Tensor eye(int64_t n, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
           std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  RG_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  return eye_m(n, n, dtype, layout, device, pin_memory, requires_grad);
}

Tensor eye_m(int64_t n, int64_t m, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  RG_CHECK(n >= 0, "n must be greater or equal to 0, got ", n);
  RG_CHECK(m >= 0, "m must be greater or equal to 0, got ", m);
  Tensor out = zeros(ints({n, m}), dtype, layout, device, pin_memory, requires_grad);
  fill_data(alias_as(out, ints({std::min(n, m)}), ints({m + 1}), 0), Scalar(1));
  return out;
}

namespace {

Tensor triangle_indices(int64_t rows, int64_t columns, int64_t offset, bool lower, DType dtype, Device device) {
  RG_CHECK(rows >= 0, "row must be non-negative, got", rows);
  RG_CHECK(columns >= 0, "col must be non-negative, got", columns);
  RG_CHECK_AS(NotImplemented, dtype == DType::Int64 || dtype == DType::Int32, "\"", lower ? "tril" : "triu",
              "_indices\" not implemented for '", dtype_title(dtype), "'");
  offset = std::clamp(offset, -rows, columns);  // sums with it cannot overflow
  // In row r, columns below edge(r) belong to the lower triangle, those from there on to the upper.
  const int64_t shift = lower ? offset + 1 : offset;
  auto edge = [&](int64_t r) { return std::clamp<int64_t>(r + shift, 0, columns); };
  // The sum of edge(r): it is 0 at first, then climbs one by one, then stays at `columns`.
  const int64_t flat = std::clamp<int64_t>(-shift, 0, rows), top = std::clamp<int64_t>(columns - shift, flat, rows);
  int64_t below, all, climb, stay;
  const bool overflow = __builtin_mul_overflow(edge(flat) + edge(top > flat ? top - 1 : flat), top - flat, &climb) ||
                        __builtin_mul_overflow(columns, rows - top, &stay) || __builtin_add_overflow(climb / 2, stay, &below) ||
                        __builtin_mul_overflow(rows, columns, &all);
  RG_CHECK(!overflow, "Storage size calculation overflowed with row=", rows, " and col=", columns);
  const int64_t count = lower ? below : all - below;
  Tensor out = retrograd::empty(ints({2, count}), dtype, device);
  generate(out, &kernels::CreateKernels::triangle, rows, columns, shift, lower);
  return out;
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool>) {
  return triangle_indices(row, col, offset, true, dtype.value_or(DType::Int64), creation_device(device, {}, layout, pin_memory));
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset, std::optional<DType> dtype, std::optional<Layout> layout,
                    std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool>) {
  return triangle_indices(row, col, offset, false, dtype.value_or(DType::Int64), creation_device(device, {}, layout, pin_memory));
}

}  // namespace retrograd::impl

namespace retrograd::composite {
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

}  // namespace retrograd::composite
