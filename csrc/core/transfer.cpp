#include "core/transfer.h"

#include "core/backend.h"
#include "core/launch.h"
#include "kernels/copy.h"
#include "kernels/float8.h"

namespace retrograd {

void Scalar::store_guest(DType dtype, void* out) const {
  if (is_float8(dtype)) {
    const uint8_t code = visit_float8(dtype, [&]<DType kind>() { return to_float8<kind>(static_cast<float>(to_double())); });
    std::memcpy(out, &code, 1);
    return;
  }
  const uint64_t bits = is_float() ? truncate_unsigned<uint64_t>(d) : static_cast<uint64_t>(i);
  std::memcpy(out, &bits, static_cast<size_t>(itemsize(dtype)));  // the low bytes come first
}

template <class T> static Scalar scalar_at(const void* host_data) {
  std::conditional_t<std::is_same_v<T, bool>, uint8_t, T> v;  // view(torch.bool) shows bytes that are no bool
  std::memcpy(&v, host_data, sizeof v);
  if constexpr (DTypeOf<T>::value == DType::Bool) {
    return Scalar(v != 0);
  } else if constexpr (is_complex_v<T>) {
    return Scalar(Complex<double>(v));
  } else if constexpr (is_floating(DTypeOf<T>::value)) {
    return Scalar(static_cast<double>(static_cast<compute_t<T>>(v)));
  } else {
    return Scalar(static_cast<int64_t>(v));
  }
}

Scalar element_scalar(DType dtype, const void* host_data) {
  if (RG_UNLIKELY(is_guest(dtype))) {
    if (is_float8(dtype)) {
      const uint8_t code = *static_cast<const uint8_t*>(host_data);
      return Scalar(static_cast<double>(visit_float8(dtype, [=]<DType kind>() { return from_float8<kind>(code); })));
    }
    uint64_t bits = 0;
    std::memcpy(&bits, host_data, static_cast<size_t>(itemsize(dtype)));
    return Scalar::of_unsigned(bits);
  }
  return visit_all(dtype, [&](auto zero) { return scalar_at<decltype(zero)>(host_data); });
}

Scalar read_scalar(const TensorImpl* t, int64_t offset) {
  const int64_t item = itemsize(t->dtype);
  const char* data = static_cast<const char*>(t->data) + offset * item;
  alignas(16) char element[kMaxItemSize];
  if (RG_UNLIKELY(!t->device.is_cpu())) {
    RG_CHECK(t->device.type != DeviceType::Meta,
             "a meta tensor has no values to read: make it on a device that has memory, such as device='cpu'");
    backend_of(t->device).to_host(element, data, static_cast<size_t>(item), {});
    data = element;
  }
  Scalar s = element_scalar(t->dtype, data);
  if (RG_UNLIKELY(t->has(kConj))) s = s.conj();
  if (RG_UNLIKELY(t->has(kNeg))) s = -s;
  return s;
}

void read_scalars(const TensorImpl* t, int64_t offset, int64_t step, std::span<Scalar> out) {
  const auto place = [&](size_t k) { return offset + static_cast<int64_t>(k) * step; };  // of what is there: a step may be beyond all sizes
  if (!t->device.is_cpu() || t->has(kConj) || t->has(kNeg) || is_guest(t->dtype)) {
    for (size_t k = 0; k < out.size(); ++k) out[k] = read_scalar(t, place(k));
    return;
  }
  visit_all(t->dtype, [&](auto zero) {
    using T = decltype(zero);
    const char* data = static_cast<const char*>(t->data);
    for (size_t k = 0; k < out.size(); ++k) out[k] = scalar_at<T>(data + place(k) * static_cast<int64_t>(sizeof(T)));
  });
}

void check_no_batch(const Tensor& t) {
  RG_CHECK(!t->has(kBatched),
           "a tensor that belongs to a vmap was used where its memory is needed; it may have outlived the vmap\n  Hint: return it "
           "from the function that is mapped instead of keeping it.");
}

void fail_no_values() {
  fail(ErrorKind::NotImplemented,
       "Cannot copy out of meta tensor; no data!\n  Hint: module.to_empty(device='cpu') gives a module memory, which is then to be filled, "
       "for example by load_state_dict(); of a tensor torch.empty_like(t, device='cpu') does.");
}

Tensor moved_to(const Tensor& t, Device device) {
  check_no_batch(t);
  if (is_meta(t)) fail_no_values();
  Tensor dense = t;
  if (!t.is_contiguous()) {
    dense = empty(t.sizes(), t.dtype(), t->device);
    const Launch launch(t, t.numel() / 2);
    kernels::copy(t->device).copy(dense.array(), t.array());
  }
  Tensor out = empty(t.sizes(), t.dtype(), device);
  out->flags |= t->flags & kLazy;
  const auto bytes = static_cast<size_t>(t.numel() * itemsize(t.dtype()));
  if (bytes == 0 || is_meta(out)) return out;
  if (t->device.is_cpu()) {
    backend_of(device).from_host(out->data, dense->data, bytes, {});
  } else if (device.is_cpu()) {
    backend_of(t->device).to_host(out->data, dense->data, bytes, {});
  } else {
    const Tensor between = moved_to(dense, Device{});
    backend_of(device).from_host(out->data, between->data, bytes, {});
  }
  return out;
}

Tensor placed(Device device, const void* host_value, size_t bytes) {
  const int64_t size[] = {static_cast<int64_t>(bytes)};
  Tensor place = empty(size, DType::UInt8, device);
  backend_of(device).from_host(place->data, host_value, bytes, {});
  return place;
}

void fetch(const Tensor& place, void* host_value, size_t bytes) { backend_of(place->device).to_host(host_value, place->data, bytes, {}); }

HostBytes::HostBytes(const Storage* s, int64_t begin, int64_t end) : data_(static_cast<const char*>(s->data) + begin), begin_(begin) {
  if (RG_LIKELY(s->device.is_cpu())) return;
  const auto bytes = static_cast<size_t>(end - begin);
  copy_ = std::make_unique_for_overwrite<char[]>(bytes);
  if (bytes) backend_of(s->device).to_host(copy_.get(), data_, bytes, {});
  data_ = copy_.get();
}

}  // namespace retrograd
