// The loop around a pointwise expression: one row, any strides. 16-bit floats are computed in float. Included by generated kernel files.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu/isa.h"
#include "cpu/iterate.h"
#include "cpu/kernel_param.h"
#include "cpu/normal_tails.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_special.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

// ---- helpers expressions may use, beside vecmath ----
template <class T> RG_INLINE bool is_nan(T x) { return x != x; }
// The factor is 1 nearly always: integers skip the product (it is slow for 64 bits), the compiler moving the test out of the loop.
template <class T> RG_INLINE T add_scaled(T x, T y, T alpha) {
  if constexpr (std::is_floating_point_v<T>) {
    return x + alpha * y;
  } else {
    return alpha == T(1) ? static_cast<T>(x + y) : static_cast<T>(x + alpha * y);
  }
}
template <class T> RG_INLINE T sub_scaled(T x, T y, T alpha) {
  if constexpr (std::is_floating_point_v<T>) {
    return x - alpha * y;
  } else {
    return alpha == T(1) ? static_cast<T>(x - y) : static_cast<T>(x - alpha * y);
  }
}
template <class T> RG_INLINE T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return x && y;
  } else {
    return static_cast<T>(x * y);
  }
}
template <class T> RG_INLINE T max_nan(T a, T b) { return a != a ? a : (b != b ? b : (a > b ? a : b)); }
template <class T> RG_INLINE T min_nan(T a, T b) { return a != a ? a : (b != b ? b : (a < b ? a : b)); }
template <class T> RG_INLINE T sign_of(T x) { return static_cast<T>((T(0) < x) - (x < T(0))); }
template <class T> RG_INLINE T abs_of(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(x < 0 ? -x : x);
  } else {
    return x;
  }
}
template <class T> RG_INLINE bool is_inf(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  } else {
    return false;
  }
}
template <class T> RG_INLINE bool is_finite(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  } else {
    return true;
  }
}
template <class T> RG_INLINE bool sign_bit(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::signbit(x);
  } else {
    return x < T(0);
  }
}
template <class T> RG_INLINE T bit_not(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}
template <class T> RG_INLINE T floor_of(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::floor(x);
  return x;
}
template <class T> RG_INLINE T ceil_of(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::ceil(x);
  return x;
}
template <class T> RG_INLINE T trunc_of(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::trunc(x);
  return x;
}
template <class T> RG_INLINE T rint_of(T x) {  // half to even
  if constexpr (std::is_floating_point_v<T>) return std::nearbyint(x);
  return x;
}

template <class T> RG_INLINE T add_product(T x, T y, T z, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return x + value * y * z;
  } else {
    return static_cast<T>(x + value * y * z);
  }
}
// Exact at both ends, and continuous at weight 1/2.
template <class T> RG_INLINE T lerp_of(T a, T b, T weight) {
  return std::fabs(weight) < T(0.5) ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}
template <class T> RG_INLINE T logit_of(T x, T eps) {
  const T upper = 1 - eps;
  const T z = eps < 0 ? x : x < eps ? eps : x > upper ? upper : x;
  return log_(z / (1 - z));
}
template <class T> RG_INLINE T sinc_of(T x) {
  const T turn = T(3.14159265358979323846) * x;
  return x == 0 ? T(1) : sin_(turn) / turn;
}
template <class T> RG_INLINE T x_log_y(T x, T y) { return y != y ? y : x == 0 ? T(0) : x * log_(y); }
template <class T> RG_INLINE T x_log1p_y(T x, T y) { return y != y ? y : x == 0 ? T(0) : x * log1p_(y); }
template <class T> RG_INLINE T entropy(T x) { return x > 0 ? -x * log_(x) : x == 0 ? T(0) : x != x ? x : -std::numeric_limits<T>::infinity(); }
template <class T> RG_INLINE T log_add_exp2(T a, T b) {
  const T hi = a > b ? a : b;
  const T y = hi + log1p_(exp2_(-std::fabs(a - b))) * T(1.4426950408889634);
  return a == b && std::fabs(a) == std::numeric_limits<T>::infinity() ? a : y;
}
// Scaled by the larger, so that neither square overflows or vanishes.
template <class T> RG_INLINE T hypot_of(T a, T b) {
  const T x = std::fabs(a), y = std::fabs(b);
  const T hi = x > y ? x : y, lo = x > y ? y : x;
  const T ratio = lo / hi;
  const T root = hi * std::sqrt(1 + ratio * ratio);
  const T plain = hi == 0 ? lo : root;
  const bool infinite = x == std::numeric_limits<T>::infinity() || y == std::numeric_limits<T>::infinity();
  return infinite ? std::numeric_limits<T>::infinity() : x != x || y != y ? x + y : plain;
}

// Slopes of activations, times the incoming gradient g.
template <class T> RG_INLINE T silu_slope(T g, T x) {
  const T s = sigmoid_(x);
  return g * s * (1 + x * (1 - s));
}
template <class T> RG_INLINE T mish_slope(T g, T x) {
  const T s = sigmoid_(x);
  const T t = tanh_softplus_(x);
  return g * (t + x * s * (1 - t * t));
}
template <class T> RG_INLINE T gelu_tanh_slope(T g, T x) {
  constexpr T k = T(0.7978845608028654), c = T(0.044715);
  const T squared = x * x;
  const T t = tanh_(k * x * (1 + c * squared));
  return g * T(0.5) * (1 + t + x * (1 - t * t) * k * (1 + 3 * c * squared));
}

template <class T> RG_INLINE T mvlgamma_of(T x, T p) {
  double sum = 0.25 * p * (p - 1) * 1.1447298858494002;  // log(pi)
  for (int j = 0; j < static_cast<int>(p); ++j) sum += vm::lgamma(x - 0.5 * j);
  return static_cast<T>(sum);
}

template <class T> RG_INLINE T gcd_of(T a, T b) {
  T x = abs_of(a), y = abs_of(b);
  while (y != 0) {
    const T rest = static_cast<T>(x % y);
    x = y;
    y = rest;
  }
  return abs_of(x);
}
template <class T> RG_INLINE T lcm_of(T a, T b) {
  const T divisor = gcd_of(a, b);
  if (divisor == 0) return T(0);
  const auto multiple = a / divisor * b;  // small integers have become int, so that abs comes before they wrap
  return static_cast<T>(multiple < 0 ? -multiple : multiple);
}

// a - trunc(a / b) b, exactly: the quotient may be rounded up to the next integer, never further, and the product is taken without rounding
// (FMA, or twice the precision). Holds while the quotient is an exact integer, see quotient_too_large; the rest goes to std::fmod.
template <class T> RG_INLINE T fmod_near(T a, T b) {
  const T x = std::fabs(a), y = std::fabs(b);
  const T q = std::trunc(x / y);
#if RG_HAS_FMA
  const T r = fma_(-q, y, x);
#else
  const auto p = vm::product(q, y);
  const T r = (x - p.hi) - p.lo;
#endif
  return copysign_(r < 0 ? r + y : r, a);
}
template <class T> RG_INLINE bool quotient_too_large(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return !(std::fabs(a / b) < (sizeof(T) == 4 ? T(4194304) : T(2251799813685248)));  // division by 0, inf and nan too
  } else {
    return false;
  }
}
template <class T> RG_INLINE T floor_div_with(T a, T b, T mod) {
  // Python's rule: consistent with the sign of the divisor, exact where a / b would round up.
  if (b == 0) return a / b;
  const T div = (a - mod) / b - (mod != 0 && (b < 0) != (mod < 0) ? T(1) : T(0));
  const T floored = std::floor(div);
  const T rounded = div - floored > T(0.5) ? floored + T(1) : floored;
  return div == 0 ? std::copysign(T(0), a / b) : rounded;
}
template <class T> RG_INLINE T floor_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return floor_div_with(a, b, fmod_near(a, b));
  } else {
    if (b == 0) return 0;  // reported by the caller
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(T(0) - a);
    }
    const T q = static_cast<T>(a / b);
    return (a % b != 0 && ((a < 0) != (b < 0))) ? static_cast<T>(q - 1) : q;
  }
}
template <class T> RG_INLINE T trunc_div(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::trunc(a / b);
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(T(0) - a);
    }
    return static_cast<T>(a / b);
  }
}
template <class T> RG_INLINE T remainder_with(T b, T mod) { return mod != 0 && (b < 0) != (mod < 0) ? static_cast<T>(mod + b) : mod; }
template <class T> RG_INLINE T fmod_of(T a, T b) {  // sign of the dividend
  if constexpr (std::is_floating_point_v<T>) {
    return fmod_near(a, b);
  } else {
    if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
    return static_cast<T>(a % b);
  }
}
template <class T> RG_INLINE T remainder_of(T a, T b) { return remainder_with(b, fmod_of(a, b)); }  // sign of the divisor
template <class T> RG_INLINE T int_pow(T base, T exponent) {
  if constexpr (std::is_signed_v<T>) {
    if (exponent < 0) return base == T(1) ? T(1) : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : T(0);
  }
  using U = std::make_unsigned_t<T>;
  U result = 1, b = static_cast<U>(base), e = static_cast<U>(exponent);
  while (e) {
    if (e & 1) result = static_cast<U>(result * b);
    b = static_cast<U>(b * b);
    e = static_cast<U>(e >> 1);
  }
  return static_cast<T>(result);
}
template <class T> RG_INLINE T pow_any(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return pow_(a, b);
  } else if constexpr (std::is_same_v<T, bool>) {
    return a || !b;
  } else {
    return int_pow(a, b);
  }
}
template <class T> RG_INLINE T shift_left(T a, T b) {
  const bool out = b < 0 || b >= static_cast<T>(sizeof(T) * 8);
  return out ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
}
template <class T> RG_INLINE T shift_right(T a, T b) {
  constexpr T top = static_cast<T>(sizeof(T) * 8 - (std::is_signed_v<T> ? 1 : 0));
  const bool out = b < 0 || b >= top;
  if (out) return static_cast<T>(std::is_signed_v<T> ? (a >> (sizeof(T) * 8 - 1)) : 0);
  return static_cast<T>(a >> b);
}

// ---- the loop ----
//
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
    for (; i < n; ++i) to[i] = static_cast<dense_t<T>>(p[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<dense_t<T>>(*reinterpret_cast<const T*>(from + i * stride));
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
    if constexpr (N == 1) return g(x[i]);
    if constexpr (N == 2) return g(x[i], y[i]);
    if constexpr (N == 3) return g(x[i], y[i], z[i]);
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
  const T y = *reinterpret_cast<const T*>(data[2]);
  if constexpr (N == 2) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], y);
  } else {
    const T z = *reinterpret_cast<const T*>(data[3]);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = f(x[i], y, z);
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
      if (dense) [[likely]] return dense_loop<F, T, Out, N>(n, data, p);
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
