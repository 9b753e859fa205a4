// Copies and conversions: clone, contiguous, to, copy_, fill_, zero_.
#include <algorithm>

#include "autograd/history.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/overlap.h"
#include "ops/pointwise/checks.h"
#include "ops/shape/shape.h"

namespace retrograd {

void check_fill_value(const Scalar& value, DType dtype) { impl::check_representable(value, dtype); }

namespace impl {

Tensor clone(const Tensor& self) {
  Tensor out = empty_like(self, self.dtype(), self.device(), MemoryFormat::Preserve);
  copy_data(out, self);
  return out;
}

Tensor clone_format(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  Tensor out = empty_like(self, self.dtype(), self.device(), memory_format.value_or(MemoryFormat::Preserve));
  copy_data(out, self);
  return out;
}

Tensor _clone_as(const Tensor& self, IntSpan stride) {
  Tensor out = retrograd::empty_strided(self.sizes(), stride, self.dtype(), self.device());
  copy_data(out, self);
  return out;
}

namespace {

void warn_discard(const Tensor& from, DType to) {
  if (RG_LIKELY(!is_complex(from.dtype()) || is_complex(to) || to == DType::Bool)) return;
  if (PyErr_WarnEx(PyExc_UserWarning, "Casting complex values to real discards the imaginary part", 1) != 0) throw PythonError();
}

}  // namespace

Tensor _to_copy(const Tensor& self, std::optional<DType> dtype, std::optional<Device> device) {
  const Device target = device.value_or(self.device());
  check_device(target);
  RG_CHECK_AS(NotImplemented, !is_meta(self) || target.type == DeviceType::Meta, "Cannot copy out of meta tensor; no data!");
  warn_discard(self, dtype.value_or(self.dtype()));
  Tensor out = empty_like(self, dtype.value_or(self.dtype()), target, MemoryFormat::Preserve);
  copy_data(out, self);
  return out;
}

void copy_(const Tensor& self, const Tensor& src, bool) {
  if (self.is(src)) return;
  RG_CHECK_AS(NotImplemented, !is_meta(src) || is_meta(self), "Cannot copy out of meta tensor; no data!");
  if (RG_UNLIKELY(!same_sizes(self.get(), src.get()))) {
    const Shape shape = broadcast_shapes(self.sizes(), src.sizes());
    RG_CHECK(same_sizes(self.sizes(), shape), "output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntSpan(shape));
  }
  check_no_internal_overlap(self);
  warn_discard(src, self.dtype());
  if (check_no_partial_overlap(self.get(), src.get())) {
    copy_data(self, src);
  } else {
    copy_data(self, clone(src));
  }
}

void fill_scalar_(const Tensor& self, Scalar value) {
  check_fill_value(value, self.dtype());
  fill_data(self, value);
}
void fill_tensor_(const Tensor& self, const Tensor& value) {
  RG_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
  check_no_internal_overlap(self);
  copy_data(self, value);
}
void zero_(const Tensor& self) { fill_data(self, Scalar(0)); }

Tensor fill_Scalar(const Tensor& self, Scalar value) {
  Tensor out = retrograd::empty_like(self);
  fill_scalar_(out, value);
  return out;
}
Tensor fill_Tensor(const Tensor& self, const Tensor& value) {
  Tensor out = retrograd::empty_like(self);
  fill_tensor_(out, value);
  return out;
}

}  // namespace impl

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
                                                            : src.natural_dtype()),
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
