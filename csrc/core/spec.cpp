#include "core/spec.h"

#include <utility>

namespace retrograd {

void Spec::fail_dims(size_t count) { fail(ErrorKind::Runtime, "a tensor has at most ", kMaxDims, " dimensions, got ", count); }

Spec Spec::strided_like(const Tensor& t, DType dtype, MemoryFormat format) {
  Spec spec(t.sizes(), dtype, t->device);
  spec.form_ = Form::Strided;
  like_strides(t.get(), format, spec.strides_);
  return spec;
}

void Spec::own_dims() {
  if (!source_) return;
  const TensorImpl* source = std::exchange(source_, nullptr);
  device_ = source->device;
  ndim_ = source->ndim;
  copy_dims(sizes_, source->sizes(), source->ndim);
  if (form_ == Form::LayoutOf) copy_dims(strides_, source->strides(), source->ndim);
  form_ = form_ == Form::LayoutOf ? Form::Strided : Form::Contiguous;
}

Spec& Spec::with_strides(IntSpan strides) {
  own_dims();
  RG_CHECK(strides.size() == static_cast<size_t>(ndim_), "mismatch in length of strides and shape: ", strides, " and ", sizes());
  form_ = Form::Strided;
  copy_dims(strides_, strides.data(), strides.size());
  return *this;
}

Spec& Spec::in_format(MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return *this;
  own_dims();
  checked_numel(sizes());  // first: it refuses sizes whose product overflows
  form_ = Form::Strided;
  format_strides(sizes(), format, strides_);
  return *this;
}

Tensor make_other(const Spec& spec) {
  if (spec.form_ == Spec::Form::None) return {};
  return empty_strided(spec.sizes(), spec.strides(), spec.dtype_, spec.device_);
}

}  // namespace retrograd
