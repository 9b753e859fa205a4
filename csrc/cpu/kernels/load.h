// Moving slices between memory of any dtype and stride and a contiguous buffer of the type a kernel computes in: float, double or int64.
// It keeps kernels to three instances where there are ten dtypes. Internal to kernels/.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/dtype.h"
#include "cpu/isa.h"

namespace retrograd::cpu::RG_LEVEL_NS {

// Reads n elements that start at element `offset` of `base` and are `stride` elements apart into a contiguous buffer.
using Load = void (*)(const void* base, int64_t offset, int64_t stride, int64_t n, void* buffer);
// The reverse.
using Store = void (*)(void* base, int64_t offset, int64_t stride, int64_t n, const void* buffer);

// `compute` is Float32, Float64, Int64, or `memory` itself. as_bool (Int64 only) loads 1 for each nonzero element and 0 for the rest.
Load loader(DType memory, DType compute, bool as_bool = false);
Store storer(DType memory, DType compute);

void store_value(void* base, DType dtype, int64_t at, float value);
void store_value(void* base, DType dtype, int64_t at, double value);
void store_value(void* base, DType dtype, int64_t at, int64_t value);

namespace {

// AVX-512 machines too: loops that wait for memory are no faster with 64 bytes, and on Zen 4 a fifth slower.
#if defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

constexpr DType compute_dtype(DType dtype) {
  if (!is_floating(dtype)) return DType::Int64;
  return dtype == DType::Float64 ? dtype : DType::Float32;
}

// Calls f(T{}) with the type to compute in for results of `dtype`.
template <class F> decltype(auto) visit_compute(DType dtype, F&& f) {
  switch (compute_dtype(dtype)) {
    case DType::Int64: return f(int64_t{});
    case DType::Float64: return f(double{});
    default: return f(float{});
  }
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
