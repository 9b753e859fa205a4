// Copies and conversions: clone, contiguous, to, copy_, fill_, zero_.
#include <algorithm>

#include "autograd/history.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "native_shape.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/create/create.h"
#include "ops/overlap.h"
#include "ops/shape/shape.h"

namespace retrograd {

namespace {

void warn_discard(const Tensor& from, DType to) {
  if (RG_LIKELY(!is_complex(from.dtype()) || is_complex(to) || to == DType::Bool)) return;
  if (PyErr_WarnEx(PyExc_UserWarning, "Casting complex values to real discards the imaginary part", 1) != 0) throw PythonError();
}

void check_fill(const Tensor& value) {
  RG_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
}

}  // namespace

namespace rule {

Spec clone(const Tensor& self) { return Spec::like(self); }
Spec clone_format(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  return Spec::like(self, self.dtype(), memory_format.value_or(MemoryFormat::Preserve));
}
Spec _clone_as(const Tensor& self, IntSpan stride) {
  Spec spec = Spec::of(self);
  spec.with_strides(stride);
  return spec;
}

Spec _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device) {
  const Device target = device.value_or(self.device());
  check_device(target);
  check_has_values(self, target);
  warn_discard(self, dtype.value_or(self.dtype()));
  Spec spec = Spec::like(self, dtype.value_or(self.dtype()));
  spec.on(target);
  return spec;
}

void copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is(src)) return;
  check_has_values(src, self->device);
  if (RG_UNLIKELY(!same_sizes(self.get(), src.get()))) {
    const Shape shape = broadcast_shapes(self.sizes(), src.sizes());
    if (RG_UNLIKELY(!same_sizes(self.sizes(), shape))) fail_inplace_shape(self.sizes(), shape);
  }
  check_no_internal_overlap(self);
  warn_discard(src, self.dtype());
  if (self->storage == src->storage) check_no_partial_overlap(self.get(), src.get());
}

Spec fill_Scalar(const Tensor& self, Scalar value) {
  check_fill_value(value, self.dtype());
  return Spec::like(self);
}
Spec fill_Tensor(const Tensor& self, const Tensor& value) {
  check_fill(value);
  return Spec::like(self);
}
void fill_scalar_(const Tensor& self, Scalar value) { check_fill_value(value, self.dtype()); }
void fill_tensor_(const Tensor& self, const Tensor& value) {
  check_fill(value);
  check_no_internal_overlap(self);
}
void zero_(const Tensor&) {}

}  // namespace rule

namespace compute {

void clone(const Tensor& self, const Tensor& out) { copy_data(out, self); }
void clone_format(const Tensor& self, std::optional<MemoryFormat>, const Tensor& out) { copy_data(out, self); }
void _clone_as(const Tensor& self, IntSpan, const Tensor& out) { copy_data(out, self); }
void _to_copy(const Tensor& self, std::optional<DType>, std::optional<Device>, const Tensor& out) { copy_data(out, self); }

void copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is(src)) return;
  const bool apart = self->storage != src->storage || check_no_partial_overlap(self.get(), src.get());
  copy_data(self, apart ? src : impl::clone(src));
}

void fill_Scalar(const Tensor&, Scalar value, const Tensor& out) { fill_data(out, value); }
void fill_Tensor(const Tensor&, const Tensor& value, const Tensor& out) { copy_data(out, value); }
void fill_scalar_(const Tensor& self, Scalar value) { fill_data(self, value); }
void fill_tensor_(const Tensor& self, const Tensor& value) { copy_data(self, value); }
void zero_(const Tensor& self) { fill_data(self, Scalar(0)); }

}  // namespace compute

namespace composite {

Tensor contiguous(const Tensor& self) { return self.is_contiguous() ? self : ops::clone_format(self, MemoryFormat::Contiguous); }

Tensor contiguous_format(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Contiguous);
  RG_CHECK(format != MemoryFormat::Preserve, "preserve memory format is unsupported by the contiguous operator");
  return has_format(self.get(), format) ? self : ops::clone_format(self, format);
}

namespace {

Tensor convert(const Tensor& self, DType dtype, Device device, bool copy, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool keeps_layout = format == MemoryFormat::Preserve || has_format(self.get(), format);
  if (RG_LIKELY(self.dtype() == dtype && self.device() == device && !copy && keeps_layout)) return self;
  if (keeps_layout) return ops::_to_copy(self, dtype, device);
  Tensor same = self.dtype() == dtype && self.device() == device ? self : ops::_to_copy(self, dtype, device);
  return ops::clone_format(same, format);
}

Tensor convert(const Tensor& self, DType dtype, std::optional<MemoryFormat> memory_format = {}) {
  return convert(self, dtype, self.device(), false, memory_format);
}

}  // namespace

Tensor to_dtype(const Tensor& self, DType dtype, bool, bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, self.device(), copy, memory_format);
}
Tensor to_other(const Tensor& self, const Tensor& other, bool, bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, other.dtype(), other.device(), copy, memory_format);
}
Tensor to_device(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool, bool copy,
                 std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype.value_or(self.dtype()), device.value_or(self.device()), copy, memory_format);
}
void fill_diagonal_(const Tensor& self, Scalar fill_value, bool wrap) {
  const int64_t n = self.dim();
  RG_CHECK(n >= 2, "dimensions must larger than 1");
  check_inplace(self, requires_grad(self));
  if (n > 2)
    for (const int64_t size : self.sizes()) RG_CHECK(size == self.size(0), "all dimensions of input must be of equal length");
  int64_t stride = 0, length = self.size(0);
  for (int64_t d = 0; d < n; ++d) {
    stride += self.stride(d);
    length = std::min(length, self.size(d));
  }
  auto fill = [&](int64_t top, int64_t count) {
    const int64_t start = self->offset() + top * self.stride(0);
    ops::fill_inplace_Scalar_(ops::as_strided(self, ints({count}), ints({stride}), start), fill_value);
  };
  fill(0, length);
  // Below a square and one row of rest, a tall matrix begins again.
  if (!wrap || n != 2) return;
  const int64_t rows = self.size(0), columns = self.size(1);
  for (int64_t top = columns + 1; columns > 0 && top < rows; top += columns + 1) fill(top, std::min(columns, rows - top));
}

void copy_number_(const Tensor& self, Scalar src, bool non_blocking) {
  ops::copy_(self,
             retrograd::scalar_tensor(src, src.is_complex() ? complex_dtype(default_dtype())
                                           : src.is_float() ? default_dtype()
                                                            : src.holding_dtype()),
             non_blocking);
}

Tensor type_as(const Tensor& self, const Tensor& other) { return convert(self, other.dtype(), other.device(), false, {}); }

Tensor float_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Float32, format); }
Tensor double_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Float64, format); }
Tensor half_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Float16, format); }
Tensor bfloat16_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::BFloat16, format); }
Tensor int_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Int32, format); }
Tensor long_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Int64, format); }
Tensor short_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Int16, format); }
Tensor char_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Int8, format); }
Tensor byte_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::UInt8, format); }
Tensor cfloat_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Complex64, format); }
Tensor cdouble_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Complex128, format); }
Tensor bool_convert(const Tensor& self, std::optional<MemoryFormat> format) { return convert(self, DType::Bool, format); }

}  // namespace composite
}  // namespace retrograd
