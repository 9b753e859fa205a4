// What a result will be, before there is one: sizes, strides, dtype and device. Shape rules give it (see optable/README.md), the generated
// code makes the tensor; of a meta tensor it is all there is.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include "core/format.h"
#include "core/tensor.h"

namespace retrograd {

// What functions that make tensors are told beside sizes and values.
struct Options {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::optional<Device> device;
  std::optional<bool> pin_memory, requires_grad;
};

// Not memcpy, nor a loop that becomes it: `rep movs` takes longer to begin than the few dims there are.
inline void copy_dims(int64_t* to, const int64_t* from, size_t n) {
  for (size_t d = 0; d < n; ++d) {
    to[d] = from[d];
    asm("" : "+r"(d));
  }
}

class Spec {
 public:
  Spec() {}                                                                                      // no tensor at all
  Spec(DType dtype, Device device) : form_(Form::Contiguous), dtype_(dtype), device_(device) {}  // no dims so far: see add_dim
  Spec(IntSpan sizes, DType dtype, Device device) : Spec(dtype, device) {
    if (RG_UNLIKELY(sizes.size() > kMaxDims)) fail_dims(sizes.size());
    ndim_ = static_cast<int>(sizes.size());
    copy_dims(sizes_, sizes.data(), sizes.size());
  }
  // Of the size and on the device of a tensor (its own, which for a sample of a vmap is meta: it has no memory to compute from), contiguous.
  static Spec of(const TensorImpl* t, DType dtype) { return Spec(t, dtype, Form::SizesOf); }
  static Spec of(const Tensor& t, DType dtype) { return of(t.get(), dtype); }
  static Spec of(const Tensor& t) { return of(t, t.dtype()); }
  // The same, with the strides that empty_like gives.
  static Spec like(const Tensor& t, DType dtype, MemoryFormat format = MemoryFormat::Preserve) {
    if (format == MemoryFormat::Contiguous) return of(t, dtype);
    if (RG_LIKELY(format == MemoryFormat::Preserve && dense_and_nonoverlapping(t.get()))) return Spec(t.get(), dtype, Form::LayoutOf);
    return strided_like(t, dtype, format);
  }
  static Spec like(const Tensor& t) { return like(t, t.dtype()); }

  // The dims are not all there is room for: what is not set is not copied.
  Spec(const Spec& o) : form_(o.form_), dtype_(o.dtype_), device_(o.device_), ndim_(o.ndim_), source_(o.source_) {
    copy_dims(sizes_, o.sizes_, static_cast<size_t>(ndim_));
    if (form_ == Form::Strided) copy_dims(strides_, o.strides_, static_cast<size_t>(ndim_));
  }
  Spec(const Spec& o, DType dtype) : Spec(o) { dtype_ = dtype; }
  Spec& operator=(const Spec&) = delete;

  DType dtype() const { return dtype_; }
  void add_dim(int64_t size) {
    if (RG_UNLIKELY(ndim_ == kMaxDims || form_ != Form::Contiguous)) fail_dims(kMaxDims + 1);
    sizes_[ndim_++] = size;
  }
  Spec& with_strides(IntSpan strides);
  Spec& in_format(MemoryFormat format);
  Spec& on(Device device) {
    if (RG_UNLIKELY(device != (source_ ? source_->device : device_))) {
      own_dims();
      device_ = device;
    }
    return *this;
  }

 private:
  // SizesOf: contiguous, of the sizes of an argument, which need not be copied; LayoutOf: of its strides too, and these are dense.
  enum class Form : uint8_t { None, Contiguous, Strided, SizesOf, LayoutOf };
  Spec(const TensorImpl* source, DType dtype, Form form) : form_(form), dtype_(dtype), source_(source) {}
  void own_dims();
  static Spec strided_like(const Tensor& t, DType dtype, MemoryFormat format);
  [[noreturn]] static void fail_dims(size_t count);
  IntSpan sizes() const { return {sizes_, static_cast<size_t>(ndim_)}; }
  IntSpan strides() const { return {strides_, static_cast<size_t>(ndim_)}; }
  friend Tensor make(const Spec& spec);
  friend Tensor make_other(const Spec& spec);

  Form form_ = Form::None;
  DType dtype_ = {};
  Device device_ = {};
  int ndim_ = 0;
  const TensorImpl* source_ = nullptr;           // an argument of the op, while it has the dims
  int64_t sizes_[kMaxDims], strides_[kMaxDims];  // the first ndim_
};

Tensor make_other(const Spec& spec);
inline Tensor make(const Spec& spec) {
  if (spec.form_ == Spec::Form::LayoutOf) return empty_dense(spec.source_, spec.dtype_);
  if (spec.form_ == Spec::Form::SizesOf) return empty(spec.source_->shape(), spec.dtype_, spec.source_->device);
  if (RG_LIKELY(spec.form_ == Spec::Form::Contiguous)) return empty(spec.sizes(), spec.dtype_, spec.device_);
  return make_other(spec);
}

// Whether there is memory for a kernel to write.
inline bool has_elements(const Tensor& t) { return t->numel != 0 && !is_meta(t); }
inline bool any_has_elements(std::initializer_list<const TensorImpl*> list) {
  for (const TensorImpl* t : list)
    if (t && t->numel != 0 && t->device.type != DeviceType::Meta) return true;
  return false;
}
inline bool on_meta(const Tensor& t) { return t && t.device().type == DeviceType::Meta; }
template <class... Args> bool any_on_meta(const Args&... tensors) { return (on_meta(tensors) || ...); }
inline bool any_has_elements(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (t && has_elements(t)) return true;
  return false;
}

}  // namespace retrograd
