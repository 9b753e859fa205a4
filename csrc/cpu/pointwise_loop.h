// The loop around a pointwise expression: one row, any strides. 16-bit floats are computed in float. Included by generated kernel files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/dtype.h"
#include "cpu/isa.h"
#include "cpu/iterate.h"
#include "cpu/kernels/blocks.h"
#include "cpu/lanes.h"
#include "cpu/pointwise_math.h"
#include "kernels/element.h"
#include "kernels/kernel_param.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

// Each expression is compiled once per element type as a dense loop (every operand contiguous; the compiler vectorises it), and cheap
// binary and ternary ones once more with the trailing operands broadcast from one element. Everything else, strided operands and
// 16-bit floats (but for expressions that are about their bits), goes through the dense loop block by block: see kernels/blocks.h.

// Not inlined into pointwise_loop, which hands it to run_blocks too: it is most of the code there is.
template <template <class> class F, class T, class Out, int N>
[[gnu::noinline]] void dense_loop(int64_t n, char* const* data, const KernelParam* params) {
  const F<T> f(params);
  Out* out = reinterpret_cast<Out*>(data[0]);
  const T* x = reinterpret_cast<const T*>(data[1]);
  const T* y = N > 1 ? reinterpret_cast<const T*>(data[N > 1 ? 2 : 1]) : nullptr;
  const T* z = N > 2 ? reinterpret_cast<const T*>(data[N > 2 ? 3 : 1]) : nullptr;
  const auto at = [&](int64_t i, auto g) __attribute__((always_inline)) {
    if constexpr (N == 1) return g(element(x + i));
    if constexpr (N == 2) return g(element(x + i), element(y + i));
    if constexpr (N == 3) return g(element(x + i), element(y + i), element(z + i));
  };
  if constexpr (requires { F<T>::in_lanes; }) {
    for (int64_t start = 0; start < n; start += kLaneCount) {
      const int64_t m = n - start < kLaneCount ? n - start : kLaneCount;
      const auto load = [&](const T* from) __attribute__((always_inline)) { return load_lanes(from + start, m); };
      if constexpr (N == 1) store_lanes(out + start, f(load(x)), m);
      if constexpr (N == 2) store_lanes(out + start, f(load(x), load(y)), m);
      if constexpr (N == 3) store_lanes(out + start, f(load(x), load(y), load(z)), m);
    }
  } else if constexpr (requires { &F<T>::is_rare; }) {
    // Block by block, and before writing: the output may be one of the inputs.
    for (int64_t start = 0; start < n; start += kBlockItems) {
      const int64_t end = n - start < kBlockItems ? n : start + kBlockItems;
      int any = 0;
      for (int64_t i = start; i < end; ++i) any |= at(i, F<T>::is_rare);
      if (any) [[unlikely]] {
        for (int64_t i = start; i < end; ++i) out[i] = at(i, F<T>::is_rare) ? at(i, F<T>::rare) : at(i, f);
      } else {
#pragma GCC ivdep
        for (int64_t i = start; i < end; ++i) out[i] = at(i, f);
      }
    }
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = at(i, f);
  }
}

// x dense, the others one element each.
template <template <class> class F, class T, class Out, int N> void scalar_loop(int64_t n, char* const* data, const KernelParam* params) {
  const F<T> f(params);
  Out* out = reinterpret_cast<Out*>(data[0]);
  const T* x = reinterpret_cast<const T*>(data[1]);
  const T y = element(reinterpret_cast<const T*>(data[2]));
  if constexpr (N == 2) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(element(x + i), y);
  } else {
    const T z = element(reinterpret_cast<const T*>(data[3]));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(element(x + i), y, z);
  }
}

template <class T, class Out, int N> constexpr RowTypes kRowTypes = {DTypeOf<T>::value, DTypeOf<Out>::value, N};

// F<C>(params)(x, y, ...) over N inputs of element type T, C being the type T is computed in.
template <template <class> class F, class T, class Out, int N, bool Cheap>
void pointwise_loop(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  const auto* p = static_cast<const KernelParam*>(params);
  constexpr int64_t item = sizeof(T);
  if constexpr (std::is_same_v<T, compute_t<T>> || requires { F<T>::takes_halves; }) {
    if (strides[0] == sizeof(Out) && strides[1] == item) {
      bool dense = true, scalar = true;
      for (int k = 2; k <= N; ++k) {
        dense &= strides[k] == item;
        scalar &= strides[k] == 0;
      }
      if (dense) [[likely]]
        return dense_loop<F, T, Out, N>(n, data, p);
      if constexpr (Cheap && N > 1) {
        if (scalar) return scalar_loop<F, T, Out, N>(n, data, p);
      }
    }
  }
  run_blocks(kRowTypes<T, Out, N>, n, data, strides, p, dense_loop<F, compute_t<T>, compute_t<Out>, N>);
}

}  // namespace
}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
