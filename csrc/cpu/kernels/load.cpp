#include "cpu/kernels/load.h"
#include "cpu/isa.h"

#include "cpu/kernels/halves.h"
#include "kernels/element.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

template <class T, class S> T convert_in(S x) {
  if constexpr (std::is_same_v<T, S>)
    return x;
  else
    return static_cast<T>(static_cast<compute_t<S>>(x));
}

template <class T, class S> void load_as(const void* base, int64_t offset, int64_t stride, int64_t n, void* buffer) {
  const S* __restrict p = static_cast<const S*>(base) + offset;
  T* __restrict out = static_cast<T*>(buffer);
  int64_t i = 0;
  if (stride == 1) {
    if constexpr (std::is_same_v<S, Half> && std::is_same_v<T, float>) i = floats_of(p, n, out);
    for (; i < n; ++i) out[i] = convert_in<T>(element(p + i));
  } else {
    for (; i < n; ++i) out[i] = convert_in<T>(element(p + i * stride));
  }
}

template <class S> void load_nonzero(const void* base, int64_t offset, int64_t stride, int64_t n, void* buffer) {
  const S* __restrict p = static_cast<const S*>(base) + offset;
  int64_t* __restrict out = static_cast<int64_t*>(buffer);
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<compute_t<S>>(element(p + i)) != 0;
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<compute_t<S>>(element(p + i * stride)) != 0;
  }
}

template <class S, class T> S convert(T x) {
  if constexpr (std::is_same_v<S, T>)
    return x;
  else if constexpr (std::is_same_v<S, bool>)
    return x != 0;
  else if constexpr (std::is_integral_v<S>)
    return static_cast<S>(static_cast<int64_t>(x));
  else
    return static_cast<S>(static_cast<compute_t<S>>(x));
}

template <class T, class S> void store_as(void* base, int64_t offset, int64_t stride, int64_t n, const void* buffer) {
  S* __restrict p = static_cast<S*>(base) + offset;
  const T* __restrict in = static_cast<const T*>(buffer);
  int64_t i = 0;
  if (stride == 1) {
    if constexpr (std::is_same_v<S, Half> && std::is_same_v<T, float>) i = halves_of(in, n, p);
    for (; i < n; ++i) p[i] = convert<S>(in[i]);
  } else {
    for (; i < n; ++i) p[i * stride] = convert<S>(in[i]);
  }
}

template <class V> void store_one(void* base, DType dtype, int64_t at, V value) {
  visit_dtype(dtype, [&](auto zero) {
    using S = decltype(zero);
    static_cast<S*>(base)[at] = convert<S>(value);
  });
}

}  // namespace

Load loader(DType memory, DType compute, bool as_bool) {
  return visit_dtype(memory, [=](auto zero) -> Load {
    using S = decltype(zero);
    if (as_bool) return load_nonzero<S>;
    if (memory == compute) return load_as<S, S>;
    return visit_compute(compute, [](auto t) -> Load { return load_as<decltype(t), S>; });
  });
}

Store storer(DType memory, DType compute) {
  return visit_dtype(memory, [=](auto zero) -> Store {
    if (memory == compute) return store_as<decltype(zero), decltype(zero)>;
    return visit_compute(compute, [](auto t) -> Store { return store_as<decltype(t), decltype(zero)>; });
  });
}

void store_value(void* base, DType dtype, int64_t at, float value) { store_one(base, dtype, at, value); }
void store_value(void* base, DType dtype, int64_t at, double value) { store_one(base, dtype, at, value); }
void store_value(void* base, DType dtype, int64_t at, int64_t value) { store_one(base, dtype, at, value); }

}  // namespace retrograd::cpu::RG_LEVEL_NS
