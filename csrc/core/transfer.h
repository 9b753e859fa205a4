// The ways of elements across the seam of devices, and the only places above kernels/ where they are read. Each waits for the device;
// on the CPU nothing is copied and nothing is waited for.
#pragma once

#include <memory>
#include <span>

#include "core/tensor.h"

namespace retrograd {

// One element in the memory of the process.
Scalar element_scalar(DType dtype, const void* host_data);

// The element `offset` elements behind the first, as the tensor shows it (conjugated, negated). It must have data.
Scalar read_scalar(const TensorImpl* t, int64_t offset = 0);
inline Scalar read_scalar(const Tensor& t, int64_t offset = 0) { return read_scalar(t.get(), offset); }
// The same for several, `step` elements apart.
void read_scalars(const TensorImpl* t, int64_t offset, int64_t step, std::span<Scalar> out);

// Throw where elements are wanted of a tensor that has none of its own, or none at all.
void check_no_batch(const Tensor& t);
[[noreturn]] void fail_no_values();
inline void check_has_values(const Tensor& t, Device target) {
  if (RG_UNLIKELY(is_meta(t) && target.type != DeviceType::Meta)) fail_no_values();
}

// The same elements on another device, dense and row by row; flags such as kConj are kept.
Tensor moved_to(const Tensor& t, Device device);

// Where the process can read them: the tensor itself if it is on the CPU, else a copy. Reading .data<T>() of the result is allowed.
inline Tensor on_host(const Tensor& t) { return RG_LIKELY(t->device.is_cpu()) ? t : moved_to(t, Device{}); }

Tensor placed(Device device, const void* host_value, size_t bytes);
void fetch(const Tensor& place, void* host_value, size_t bytes);

// A value that a kernel writes and the caller then reads: `data()` goes to the kernel, which may leave what the value is at first. On the CPU
// it is a place on the stack.
template <class T> class Answer {
 public:
  explicit Answer(Device device, T first = T()) : value_(first) {
    if (RG_UNLIKELY(!device.is_cpu()) && device.type != DeviceType::Meta)
      place_ = placed(device, &value_, sizeof(T));  // no kernel runs on meta
  }
  T* data() { return RG_LIKELY(!place_) ? &value_ : static_cast<T*>(place_->data); }
  const T& read() {
    if (RG_UNLIKELY(place_.defined())) fetch(place_, &value_, sizeof(T));
    return value_;
  }

 private:
  alignas(16) T value_;
  Tensor place_;
};

// The bytes [begin, end) of a storage where the process can read them: in place on the CPU, else in a copy.
class HostBytes {
 public:
  HostBytes(const Storage* s, int64_t begin, int64_t end);
  const char* at(int64_t offset) const { return data_ + (offset - begin_); }  // counted from the start of the storage

 private:
  std::unique_ptr<char[]> copy_;
  const char* data_;
  int64_t begin_;
};

}  // namespace retrograd
