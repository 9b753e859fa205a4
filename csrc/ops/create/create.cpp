// Filled tensors: zeros, ones, full, empty, and their _like and new_ forms.
#include "ops/create/create.h"

#include "core/promote.h"
#include "ops.h"
#include "ops/util.h"

namespace retrograd {

void check_device(Device device) { RG_CHECK_AS(Assertion, device.type != DeviceType::CUDA, "Torch not compiled with CUDA enabled"); }

Device creation_device(std::optional<Device> device, Device fallback, std::optional<Layout> layout, std::optional<bool> pin_memory) {
  const Device where = device.value_or(fallback);
  if (RG_UNLIKELY(!where.is_cpu())) check_device(where);
  RG_CHECK(!layout || *layout == Layout::Strided, "only the strided layout is supported, got torch.", layout_name(*layout));
  RG_CHECK(!pin_memory.value_or(false), "pin_memory=True requires a CUDA or other accelerator backend; there is none here.");
  return where;
}

Tensor created(Tensor t, std::optional<bool> requires_grad) {
  if (RG_UNLIKELY(requires_grad.value_or(false))) {
    RG_CHECK(is_differentiable(t.dtype()), "Only Tensors of floating point and complex dtype can require gradients");
    t->flags |= kRequiresGrad;
  }
  return t;
}

namespace impl {
namespace {

DType fill_dtype(const Scalar& value) {
  if (value.is_complex()) return complex_dtype(default_dtype());
  return value.is_float() ? default_dtype() : value.is_bool() ? DType::Bool : DType::Int64;
}

void check_requires_grad(DType dtype, std::optional<bool> requires_grad) {
  RG_CHECK(!requires_grad.value_or(false) || is_differentiable(dtype),
           "Only Tensors of floating point and complex dtype can require gradients");
}

Tensor filled(IntSpan size, Scalar value, DType dtype, Device device, std::optional<bool> requires_grad) {
  check_requires_grad(dtype, requires_grad);
  return created(retrograd::full(size, value, dtype, device), requires_grad);
}

Tensor filled_like(const Tensor& self, Scalar value, std::optional<DType> dtype, Device device, std::optional<bool> requires_grad,
                   std::optional<MemoryFormat> format) {
  const DType type = dtype.value_or(self.dtype());
  check_requires_grad(type, requires_grad);
  Tensor out = retrograd::empty_like(self, type, device, format.value_or(MemoryFormat::Preserve));
  fill_data(out, value);
  return created(std::move(out), requires_grad);
}

}  // namespace

Tensor zeros(IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return filled(size, Scalar(0), dtype.value_or(default_dtype()), creation_device(device, {}, layout, pin_memory), requires_grad);
}

Tensor ones(IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return filled(size, Scalar(1), dtype.value_or(default_dtype()), creation_device(device, {}, layout, pin_memory), requires_grad);
}

Tensor full(IntSpan size, Scalar fill_value, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
            std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  const DType type = dtype.value_or(fill_dtype(fill_value));
  check_fill_value(fill_value, type);
  return filled(size, fill_value, type, creation_device(device, {}, layout, pin_memory), requires_grad);
}

Tensor empty(IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
             std::optional<bool> pin_memory, std::optional<bool> requires_grad, std::optional<MemoryFormat> memory_format) {
  const DType type = dtype.value_or(default_dtype());
  const Device where = creation_device(device, {}, layout, pin_memory);
  check_requires_grad(type, requires_grad);
  if (RG_LIKELY(!memory_format || *memory_format == MemoryFormat::Contiguous))
    return created(retrograd::empty(size, type, where), requires_grad);
  RG_CHECK(*memory_format != MemoryFormat::Preserve, "preserve_format needs a tensor to take the format from: use empty_like");
  int64_t strides[kMaxDims];
  checked_numel(size);
  format_strides(size, *memory_format, strides);
  return created(retrograd::empty_strided(size, {strides, size.size()}, type, where), requires_grad);
}

Tensor empty_strided(IntSpan size, IntSpan stride, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  RG_CHECK(size.size() == stride.size(), "dimensionality of sizes (", size.size(), ") must match dimensionality of strides (",
           stride.size(), ")");
  return created(retrograd::empty_strided(size, stride, dtype.value_or(default_dtype()), creation_device(device, {}, layout, pin_memory)),
                 requires_grad);
}

Tensor empty_permuted(IntSpan size, IntSpan physical_layout, std::optional<DType> dtype, std::optional<Layout> layout,
                      std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  const auto n = static_cast<int64_t>(size.size());
  RG_CHECK(physical_layout.size() == size.size(),
           "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", n,
           " is not equal to len(physical_layout) = ", physical_layout.size());
  checked_numel(size);
  int64_t strides[kMaxDims];
  uint64_t seen = 0;
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    const int64_t d = physical_layout[i];
    RG_CHECK(d >= 0 && d < n, "Dimension out of range (expected to be between 0 and ", n - 1, ", but got ", d, " at index ", i,
             "). NB: negative dims not currently supported; file an issue if you want it.");
    RG_CHECK(!(seen >> d & 1), "Duplicate dim not allowed");
    seen |= uint64_t{1} << d;
    strides[d] = step;
    step *= std::max<int64_t>(size[static_cast<size_t>(d)], 1);
  }
  return created(retrograd::empty_strided(size, {strides, size.size()}, dtype.value_or(default_dtype()),
                                          creation_device(device, {}, layout, pin_memory)),
                 requires_grad);
}

Tensor scalar_tensor(Scalar s, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  check_fill_value(s, dtype.value_or(default_dtype()));
  return created(retrograd::scalar_tensor(s, dtype.value_or(default_dtype()), creation_device(device, {}, layout, pin_memory)),
                 requires_grad);
}

// ---- like ----

Tensor zeros_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory, std::optional<bool> requires_grad, std::optional<MemoryFormat> memory_format) {
  return filled_like(self, Scalar(0), dtype, creation_device(device, self.device(), layout, pin_memory), requires_grad, memory_format);
}

Tensor ones_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory, std::optional<bool> requires_grad, std::optional<MemoryFormat> memory_format) {
  return filled_like(self, Scalar(1), dtype, creation_device(device, self.device(), layout, pin_memory), requires_grad, memory_format);
}

Tensor full_like(const Tensor& self, Scalar fill_value, std::optional<DType> dtype, std::optional<Layout> layout,
                 std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad,
                 std::optional<MemoryFormat> memory_format) {
  check_fill_value(fill_value, dtype.value_or(self.dtype()));
  return filled_like(self, fill_value, dtype, creation_device(device, self.device(), layout, pin_memory), requires_grad, memory_format);
}

Tensor empty_like(const Tensor& self, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                  std::optional<bool> pin_memory, std::optional<bool> requires_grad, std::optional<MemoryFormat> memory_format) {
  return created(retrograd::empty_like(self, dtype.value_or(self.dtype()), creation_device(device, self.device(), layout, pin_memory),
                                       memory_format.value_or(MemoryFormat::Preserve)),
                 requires_grad);
}

// ---- new_ ----

Tensor new_zeros(const Tensor& self, IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return filled(size, Scalar(0), dtype.value_or(self.dtype()), creation_device(device, self.device(), layout, pin_memory), requires_grad);
}

Tensor new_ones(const Tensor& self, IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return filled(size, Scalar(1), dtype.value_or(self.dtype()), creation_device(device, self.device(), layout, pin_memory), requires_grad);
}

Tensor new_full(const Tensor& self, IntSpan size, Scalar fill_value, std::optional<DType> dtype, std::optional<Layout> layout,
                std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  check_fill_value(fill_value, dtype.value_or(self.dtype()));
  return filled(size, fill_value, dtype.value_or(self.dtype()), creation_device(device, self.device(), layout, pin_memory), requires_grad);
}

Tensor new_empty(const Tensor& self, IntSpan size, std::optional<DType> dtype, std::optional<Layout> layout, std::optional<Device> device,
                 std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return created(retrograd::empty(size, dtype.value_or(self.dtype()), creation_device(device, self.device(), layout, pin_memory)),
                 requires_grad);
}

Tensor new_empty_strided(const Tensor& self, IntSpan size, IntSpan stride, std::optional<DType> dtype, std::optional<Layout> layout,
                         std::optional<Device> device, std::optional<bool> pin_memory, std::optional<bool> requires_grad) {
  return empty_strided(size, stride, dtype.value_or(self.dtype()), layout, device.value_or(self.device()), pin_memory, requires_grad);
}

}  // namespace impl
}  // namespace retrograd
