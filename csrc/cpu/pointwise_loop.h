// The loop around a pointwise expression: one row, any strides. 16-bit floats are computed in float. Included by generated kernel files.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/dtype.h"
#include "cpu/isa.h"
#include "cpu/iterate.h"
#include "cpu/pointwise_math.h"
#include "kernels/element.h"
#include "kernels/kernel_param.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

// Each expression is compiled once per element type as a dense loop (every operand contiguous; the compiler vectorises it), and cheap
// binary and ternary ones once more with the trailing operands broadcast from one element. Everything else, strided operands and
// 16-bit floats, goes through the dense loop block by block: operands are gathered into small buffers on the stack (converted to float on
// the way), which keeps the expensive expressions vectorised on any layout and the number of compiled loops small.

template <class T> using dense_t = compute_t<T>;
inline constexpr int64_t kBlockItems = 256;

// One operand's row into a contiguous buffer, and back.
template <class T> void gather(int64_t n, const char* from, int64_t stride, dense_t<T>* to) {
  if (stride == static_cast<int64_t>(sizeof(T))) {
    const T* p = reinterpret_cast<const T*>(from);
    int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<T, Half>)  // the compiler does not vectorise this conversion
      for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i))));
#endif
    for (; i < n; ++i) to[i] = static_cast<dense_t<T>>(element(p + i));
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<dense_t<T>>(element(reinterpret_cast<const T*>(from + i * stride)));
}
template <class T> void scatter(int64_t n, const dense_t<T>* from, char* to, int64_t stride) {
  if (stride == static_cast<int64_t>(sizeof(T))) {
    T* p = reinterpret_cast<T*>(to);
    int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<T, Half>)
      for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(p + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
    for (; i < n; ++i) p[i] = static_cast<T>(from[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = static_cast<T>(from[i]);
}

using DenseLoop = void (*)(int64_t n, char* const* data, const KernelParam* params);

template <class T, class Out, int N>
[[gnu::noinline]] void run_blocks(int64_t n, char* const* data, const int64_t* strides, const KernelParam* params, DenseLoop dense) {
  constexpr bool same = std::is_same_v<T, dense_t<T>>;
  alignas(64) dense_t<T> in[N][kBlockItems];
  alignas(64) dense_t<Out> out[kBlockItems];
  const bool direct_out = std::is_same_v<Out, dense_t<Out>> && strides[0] == sizeof(Out);
  bool direct[N];
  for (int k = 0; k < N; ++k) {
    direct[k] = same && strides[k + 1] == sizeof(T);
    if (strides[k + 1] == 0) gather<T>(n < kBlockItems ? n : kBlockItems, data[k + 1], 0, in[k]);  // once for all blocks
  }
  for (int64_t start = 0; start < n; start += kBlockItems) {
    const int64_t m = n - start < kBlockItems ? n - start : kBlockItems;
    char* at[N + 1];
    char* to = data[0] + start * strides[0];
    at[0] = direct_out ? to : reinterpret_cast<char*>(out);
    for (int k = 0; k < N; ++k) {
      char* from = data[k + 1] + start * strides[k + 1];
      at[k + 1] = direct[k] ? from : reinterpret_cast<char*>(in[k]);
      if (!direct[k] && strides[k + 1] != 0) gather<T>(m, from, strides[k + 1], in[k]);
    }
    dense(m, at, params);
    if (!direct_out) scatter<Out>(m, out, to, strides[0]);
  }
}

template <template <class> class F, class T, class Out, int N> void dense_loop(int64_t n, char* const* data, const KernelParam* params) {
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
  if constexpr (requires { &F<T>::is_rare; }) {
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

// F<C>(params)(x, y, ...) over N inputs of element type T, C being the type T is computed in.
template <template <class> class F, class T, class Out, int N, bool Cheap>
void pointwise_loop(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  const auto* p = static_cast<const KernelParam*>(params);
  constexpr int64_t item = sizeof(T);
  if constexpr (std::is_same_v<T, dense_t<T>>) {
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
  run_blocks<T, Out, N>(n, data, strides, p, dense_loop<F, dense_t<T>, dense_t<Out>, N>);
}

}  // namespace
}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
