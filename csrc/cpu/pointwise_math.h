// What pointwise expressions of the op table may call beside vecmath.h: arithmetic that differs between integers and floats, comparisons that
// know about nan, slopes of activations. Selects instead of branches, so that loops over them vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cpu/normal_tails.h"
#include "cpu/path_derivatives.h"
#include "cpu/polynomials.h"
#include "cpu/vecmath.h"
#include "cpu/vecmath_special.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

template <class T> RG_INLINE bool is_nan(T x) { return x != x; }
// Integers wrap around: their sums and products are those of unsigned numbers, which C++ defines.
template <class T> inline constexpr bool kWraps = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T> using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// The factor is 1 nearly always: integers skip the product (it is slow for 64 bits), the compiler moving the test out of the loop.
template <class T> RG_INLINE T add_scaled(T x, T y, T alpha) {
  if constexpr (std::is_floating_point_v<T>) {
    return x + alpha * y;
  } else if constexpr (kWraps<T>) {
    using W = Wrapping<T>;
    return static_cast<T>(alpha == T(1) ? W(x) + W(y) : W(x) + W(alpha) * W(y));
  } else {
    return alpha == T(1) ? static_cast<T>(x + y) : static_cast<T>(x + alpha * y);
  }
}
template <class T> RG_INLINE T sub_scaled(T x, T y, T alpha) {
  if constexpr (std::is_floating_point_v<T>) {
    return x - alpha * y;
  } else if constexpr (kWraps<T>) {
    using W = Wrapping<T>;
    return static_cast<T>(alpha == T(1) ? W(x) - W(y) : W(x) - W(alpha) * W(y));
  } else {
    return alpha == T(1) ? static_cast<T>(x - y) : static_cast<T>(x - alpha * y);
  }
}
template <class T> RG_INLINE T multiply(T x, T y) {
  if constexpr (std::is_same_v<T, bool>) {
    return x && y;
  } else if constexpr (kWraps<T>) {
    return static_cast<T>(Wrapping<T>(x) * Wrapping<T>(y));
  } else {
    return static_cast<T>(x * y);
  }
}
// Of two that are equal, zeros of either sign say, the second.
template <class T> RG_INLINE T max_nan(T a, T b) { return a != a ? a : (a > b ? a : b); }
template <class T> RG_INLINE T min_nan(T a, T b) { return a != a ? a : (a < b ? a : b); }
template <class T> RG_INLINE T clamp_of(T x, T low, T high) {  // nan stays, with one instruction for each bound
  const T raised = low > x ? low : x;
  return high < raised ? high : raised;
}
template <class T> RG_INLINE T sign_of(T x) { return static_cast<T>((T(0) < x) - (x < T(0))); }
// 16-bit floats: functions of their bits.
template <class T>
concept IsHalf = sizeof(T) == 2 && !std::is_integral_v<T>;
template <class T> RG_INLINE T of_bits(int bits) {
  T x;
  x.bits = static_cast<uint16_t>(bits);
  return x;
}
template <class T> RG_INLINE auto negated(T x) {
  if constexpr (IsHalf<T>) {
    return of_bits<T>(x.bits ^ 0x8000);
  } else {
    return -x;
  }
}
template <IsHalf T> RG_INLINE T copysign_(T x, T y) { return of_bits<T>((x.bits & 0x7fff) | (y.bits & 0x8000)); }
template <class T> RG_INLINE T abs_of(T x) {
  if constexpr (IsHalf<T>) {
    return of_bits<T>(x.bits & 0x7fff);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::fabs(x);
  } else if constexpr (std::is_signed_v<T>) {
    return x < 0 ? static_cast<T>(Wrapping<T>(0) - Wrapping<T>(x)) : x;
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
// Derivative of sin(t) / t at t = pi x, times pi. The two terms of (t cos t - sin t) / t^2 cancel near 0: there it is the series.
template <class T> RG_INLINE T sinc_series(T t) {
  const T u = t * t;
  const T tail = T(1.0 / 45360) + u * (T(-1.0 / 3991680) + u * T(1.0 / 518918400));
  return t * (T(-1.0 / 3) + u * (T(1.0 / 30) + u * (T(-1.0 / 840) + u * tail)));
}
template <class T> RG_INLINE T sinc_slope(T x, T sine, T cosine) {
  const T t = T(3.14159265358979323846) * x;
  return T(3.14159265358979323846) * (std::fabs(t) < T(0.5) ? sinc_series(t) : (t * cosine - sine) / (t * t));
}
template <class T> RG_INLINE T x_log_y(T x, T y) { return y != y ? y : x == 0 ? T(0) : x * log_(y); }
template <class T> RG_INLINE T x_log1p_y(T x, T y) { return y != y ? y : x == 0 ? T(0) : x * log1p_(y); }
template <class T> RG_INLINE T entropy(T x) {
  return x > 0 ? -x * log_(x) : x == 0 ? T(0) : x != x ? x : -std::numeric_limits<T>::infinity();
}
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

// The exponent of frexp(), 0 for what has none; from the bits, without branches.
template <class T> RG_INLINE auto exponent_of_number(T x) {
  constexpr bool kSingle = sizeof(T) == 4;
  using Bits = std::conditional_t<kSingle, int32_t, int64_t>;
  constexpr int kMantissa = kSingle ? 23 : 52, kAll = kSingle ? 255 : 2047;
  const auto field = [](T y) { return static_cast<Bits>((std::bit_cast<Bits>(y) >> kMantissa) & kAll); };
  const Bits e = field(x), subnormal = field(x * static_cast<T>(Bits(1) << (kMantissa + 1))) - (kMantissa + 1);
  return static_cast<Bits>(x == 0 || e == kAll ? 0 : (e ? e : subnormal) - (kAll / 2 - 1));
}
template <class T> RG_INLINE T exponent_of(T x) { return static_cast<T>(exponent_of_number(x)); }
template <class T> RG_INLINE T less_exponent(T x, T y) {
  constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52, kBias = sizeof(T) == 4 ? 127 : 1023;
  using Bits = decltype(exponent_of_number(y));
  const auto power = [](Bits k) { return std::bit_cast<T>(static_cast<Bits>((k + kBias) << kMantissa)); };
  const Bits e = -exponent_of_number(y), half = e / 2;  // in two steps: one may be past the largest number
  return x * power(half) * power(e - half);
}

template <class T> RG_INLINE Lanes mvlgamma_of(Lanes x, T p) {
  Lanes sum = spread(0.25 * p * (p - 1) * 1.1447298858494002);  // log(pi)
  for (int j = 0; j < static_cast<int>(p); ++j) {
    const Lanes y = x - 0.5 * j;
    sum += any(~(y > 0)) ? each(y, [](double v) { return vm::lgamma(v); }) : vm::lgamma<T>(y);
  }
  return sum;
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
// Integers below 2^51 are divided as doubles, which vectors can: no quotient of theirs is as close to the next integer as to be rounded to it.
constexpr double kWholeShift = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits of the sum
template <class T> using Quotient = std::conditional_t<sizeof(T) <= 2, float, double>;
template <class T> RG_INLINE Quotient<T> as_quotient(T x) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<double>(static_cast<uint64_t>(x) + std::bit_cast<uint64_t>(kWholeShift)) - kWholeShift;
  } else {
    return static_cast<Quotient<T>>(x);
  }
}
template <class T> RG_INLINE T from_quotient(Quotient<T> x) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(static_cast<int32_t>(x));
  } else {
    return static_cast<T>(std::bit_cast<uint64_t>(x + kWholeShift) - std::bit_cast<uint64_t>(kWholeShift));
  }
}
template <class T> RG_INLINE bool quotient_too_large(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    // Division by 0, inf and nan too.
    return !(std::fabs(a / b) < (sizeof(T) == 4 ? T(4194304) : T(2251799813685248))) || std::fabs(b) > std::numeric_limits<T>::max();
  } else if constexpr (sizeof(T) == 8) {
    constexpr uint64_t half = uint64_t{1} << 51, shift = std::is_signed_v<T> ? half : 0;
    return ((static_cast<uint64_t>(a) + shift) | (static_cast<uint64_t>(b) + shift)) >= shift + half;
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
    const T quotient = from_quotient<T>(std::floor(as_quotient(a) / as_quotient(b == 0 ? T(1) : b)));
    return b == 0 ? T(0) : quotient;  // reported by the caller
  }
}
template <class T> T floor_div_far(T a, T b) {  // of what is too large for floor_div
  if constexpr (std::is_floating_point_v<T>) {
    return floor_div_with(a, b, static_cast<T>(std::fmod(a, b)));
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(Wrapping<T>(0) - Wrapping<T>(a));
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
    const auto x = as_quotient(a), y = as_quotient(b == 0 ? T(1) : b);
    const T rest = from_quotient<T>(x - std::trunc(x / y) * y);
    return b == 0 ? T(0) : rest;
  }
}
template <class T> T fmod_far(T a, T b) {  // of what is too large for fmod_of
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::fmod(a, b));
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

}  // namespace
}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
