// Argument checks and small conversions shared by the index, linalg and nn ops.
#pragma once

#include <cmath>

#include "core/format.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "kernels/index.h"
#include "ops/data.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

[[gnu::cold]] void fail_complex_in_words(std::string_view kernel);  // returns where PyTorch speaks of the kernel
[[noreturn, gnu::cold]] void fail_not_implemented(std::string_view kernel, DType t, const char* instead = "torch.float32 by .float()");
[[noreturn, gnu::cold]] void fail_inplace_shape(IntSpan out, IntSpan shape);

// An index that a table or a dimension of `size` elements does not have, where PyTorch's words leave out which.
[[noreturn, gnu::cold]] void fail_range(const kernels::IndexError& e);

// Which of two matrices that do not fit would, transposed.
std::string product_hint(const Tensor& a, const Tensor& b);

// Whether all elements of a floating tensor are in [low, high]; false for nan.
inline bool all_within(const Tensor& t, double low, double high) { return !any_element(t, kernels::Is::Outside, low, high); }

// The smallest and the largest element of a tensor that has any, of integers (int64_t) or floats (double); waits for the device.
template <class T> std::pair<T, T> range_of(const Tensor& t);

// A factor of an integer op must be a number its dtype can hold.
inline void check_fits(const Scalar& s, DType t) {
  RG_CHECK(s.imag == 0 || is_complex(t), "value cannot be converted to type ", cpp_type_name(t), " without overflow");
  if (is_differentiable(t) || t == DType::Bool || t == DType::Int64) return;
  const int bits = static_cast<int>(itemsize(t)) * 8 - !is_unsigned(t);
  const double high = std::ldexp(1.0, bits), low = is_unsigned(t) ? 0 : -high, value = s.to_double();
  RG_CHECK(value > low - 1 && value < high, "value cannot be converted to type ", number_type_name(t), " without overflow");
}

// A copy; of dense tensors one with the same order of dimensions.
inline Tensor clone_data(const Tensor& t) {
  Tensor out = empty_like(t);
  copy_data(out, t);
  return out;
}

inline Tensor contiguous_copy(const Tensor& t) {
  Tensor out = empty(t.sizes(), t.dtype(), t.device());
  copy_data(out, t);
  return out;
}

// `t`, or a copy of it that lies in a format.
inline Tensor in_format(const Tensor& t, MemoryFormat format) {
  if (has_format(t.get(), format)) return t;
  Tensor out = empty_in(t.sizes(), format, t.dtype(), t.device());
  copy_data(out, t);
  return out;
}

// Whether two tensors may share an element: their address ranges meet.
inline bool may_overlap(const TensorImpl* a, const TensorImpl* b) {
  if (a->storage != b->storage || !a->numel || !b->numel) return false;
  const auto end = [](const TensorImpl* t) {
    int64_t last = 0;
    for (int d = 0; d < t->ndim; ++d) last += (t->size(d) - 1) * t->stride(d);
    return static_cast<const char*>(t->data) + (last + 1) * itemsize(t->dtype);
  };
  return static_cast<const char*>(a->data) < end(b) && static_cast<const char*>(b->data) < end(a);
}

// `t`, or a copy of it when it lies in the memory of `written`: kernels may then write and read in any order.
inline Tensor apart_from(const Tensor& t, const Tensor& written) { return may_overlap(t.get(), written.get()) ? clone_data(t) : t; }

using IndexSlot = Answer<kernels::IndexError>;

inline void check_index_found(const kernels::IndexError& e, ErrorKind kind) {
  if (RG_UNLIKELY(!e.ok)) fail(kind, "index ", e.value, " is out of bounds for dimension ", e.dim, " with size ", e.size);
}

inline void check_storable(const Scalar& s, DType dtype) {
  RG_CHECK(s.imag == 0 || is_complex(dtype), "value cannot be converted to type ", cpp_type_name(dtype), " without overflow");
}

// One element of `dtype` on the stack, for kernels that take a value by pointer.
struct Element {
  alignas(16) char bytes[16];
  Element(const Scalar& s, DType dtype) {
    check_storable(s, dtype);
    s.store(dtype, bytes);
  }
  const void* get() const { return bytes; }
};

}  // namespace retrograd
