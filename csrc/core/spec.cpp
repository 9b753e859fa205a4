#include "core/spec.h"

namespace retrograd {

void Spec::fail_dims(size_t count) { fail(ErrorKind::Runtime, "a tensor has at most ", kMaxDims, " dimensions, got ", count); }

Spec Spec::strided_like(const Tensor& t, DType dtype, MemoryFormat format) {
  Spec spec(t.sizes(), dtype, t->device);
  if (format != MemoryFormat::Preserve) return spec.in_format(format);
  spec.form_ = Form::Strided;
  like_strides(t.get(), format, spec.strides_);
  return spec;
}

void Spec::own_sizes() {
  if (form_ != Form::SizesOf) return;
  form_ = Form::Contiguous;
  device_ = source_->device;
  for (const int64_t size : source_->shape()) add_dim(size);
}

Spec& Spec::with_strides(IntSpan strides) {
  own_sizes();
  RG_CHECK(strides.size() == static_cast<size_t>(ndim_), "mismatch in length of strides and shape: ", strides, " and ", sizes());
  form_ = Form::Strided;
  for (int d = 0; d < ndim_; ++d) strides_[d] = strides[static_cast<size_t>(d)];
  return *this;
}

Spec& Spec::in_format(MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return *this;
  own_sizes();
  form_ = Form::Strided;
  format_strides(sizes(), format, strides_);
  return *this;
}

Tensor make_other(const Spec& spec) {
  if (spec.form_ == Spec::Form::None) return {};
  return empty_strided(spec.sizes(), spec.strides(), spec.dtype_, spec.device_);
}

}  // namespace retrograd
