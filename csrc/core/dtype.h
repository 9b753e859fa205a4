// Element types. The lowest header of the project: kernels include it too, so it knows nothing of tensors or Python.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace retrograd {

// Promotion order within a category is the numeric order (see promote()). Complex dtypes are those with bit 4 set, and guests those with
// bit 5, so that one test of a tensor's traits finds either; the numbers between are free.
//
// Note [Guest dtypes]
// Few programs compute in the wider unsigned integers, none in floats of 8 bits, and a loop of every kernel for each would be a third of the
// library. So kernels do not know them, but for copies and conversions, and what moves elements whatever they are. A pointwise op computes in
// uint64, where it has a loop for that; before another kernel dispatch has int64 stand in, if the op's entry says that this is right (`guests`
// in optable/__init__.py), and otherwise refuses. Floats of 8 bits can be asked (compared, looked for nan), for which float32 stands in. No other dtype pays: guests are found by the test that finds lazy elements.
enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64 = 16,
  Complex128,
  Float8_e4m3fn = 32,
  Float8_e5m2,
  Float8_e4m3fnuz,
  Float8_e5m2fnuz,
  Float8_e8m0fnu,
  UInt16 = 40,
  UInt32,
  UInt64
};
inline constexpr int kNumDTypes = 43;
inline constexpr int kComplexBit = 16, kGuestBit = 32;

inline constexpr int64_t kItemSize[kNumDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 0, 0, 0, 0, 0, 0, 8, 16, 0, 0, 0, 0,
                                                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0,  2, 4, 8};
constexpr int64_t itemsize(DType t) { return kItemSize[static_cast<int>(t)]; }
inline constexpr int64_t kMaxItemSize = 16;
constexpr bool is_complex(DType t) { return static_cast<int>(t) & kComplexBit; }
constexpr bool is_guest(DType t) { return static_cast<int>(t) & kGuestBit; }
constexpr bool is_float8(DType t) { return t >= DType::Float8_e4m3fn && t <= DType::Float8_e8m0fnu; }
constexpr bool is_floating(DType t) { return (t >= DType::Float16 && t <= DType::Float64) || is_float8(t); }
constexpr bool is_differentiable(DType t) { return t >= DType::Float16 && t < DType::UInt16; }  // floating or complex
constexpr bool is_wide_unsigned(DType t) { return t >= DType::UInt16; }
constexpr bool is_unsigned(DType t) { return t == DType::UInt8 || is_wide_unsigned(t); }
constexpr bool is_signed(DType t) { return !is_unsigned(t) && t != DType::Bool && t != DType::Float8_e8m0fnu; }
constexpr bool is_integral(DType t) { return (t > DType::Bool && t < DType::Float16) || is_wide_unsigned(t); }  // bool excluded
constexpr DType real_dtype(DType t) { return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t; }
// 16-bit floats have no complex dtype of their own here; they go with complex64.
constexpr DType complex_dtype(DType t) { return t == DType::Float64 || t == DType::Complex128 ? DType::Complex128 : DType::Complex64; }

// Where the loops of a dtype are in the table of a kernel's: that of uint64, which serves all wide unsigned integers, in a gap.
inline constexpr int kNumLoops = 18;
constexpr int loop_of(DType t) { return static_cast<int>(t) & (kGuestBit - 1); }

struct Half {
  uint16_t bits;
  Half() = default;
  [[gnu::always_inline]] explicit Half(float value) : bits(from_float(value)) {}
  [[gnu::always_inline]] operator float() const { return to_float(bits); }

  // Always inlined: the body differs by CPU level, and the linker must not merge the copies.
  [[gnu::always_inline]] static float to_float(uint16_t h) {
#if defined(__F16C__)
    return _cvtsh_ss(h);
#else
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t rest = static_cast<uint32_t>(h & 0x7fffu) << 13;
    uint32_t out;
    float scaled;
    if ((h & 0x7c00u) == 0x7c00u) {  // inf, nan
      out = rest | 0x7f800000u;
    } else {  // multiply by 2^112 to rebias the exponent; handles subnormals as well
      std::memcpy(&scaled, &rest, 4);
      scaled *= 5.192296858534828e33f;
      std::memcpy(&out, &scaled, 4);
    }
    out |= sign;
    float f;
    std::memcpy(&f, &out, 4);
    return f;
#endif
  }

  [[gnu::always_inline]] static uint16_t from_float(float f) {
#if defined(__F16C__)
    return static_cast<uint16_t>(_cvtss_sh(f, 0));
#else
    uint32_t x;
    std::memcpy(&x, &f, 4);
    const uint32_t sign = (x >> 16) & 0x8000u;
    x &= 0x7fffffffu;
    if (x > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // nan
    if (x >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past the largest half: inf
    if (x < 0x38800000u) {                                               // subnormal half or zero
      float magic, value;
      const uint32_t magic_bits = 0x3f000000u;  // 0.5: adding it aligns the half's last bit with the float's
      std::memcpy(&magic, &magic_bits, 4);
      std::memcpy(&value, &x, 4);
      value += magic;
      uint32_t out;
      std::memcpy(&out, &value, 4);
      return static_cast<uint16_t>(sign | (out - magic_bits));
    }
    const uint32_t odd = (x >> 13) & 1u;  // round to nearest even
    x += 0xc8000fffu + odd;
    return static_cast<uint16_t>(sign | (x >> 13));
#endif
  }
};

struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t x;
    std::memcpy(&x, &value, 4);
    const uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1u)) >> 16;  // round to nearest even
    bits = static_cast<uint16_t>(value != value ? 0x7fc0u : rounded);
  }
  operator float() const {
    const uint32_t x = static_cast<uint32_t>(bits) << 16;
    float f;
    std::memcpy(&f, &x, 4);
    return f;
  }
};

// A complex number. Products and quotients are the textbook ones, without C's recovery of infinities from nan.
template <class R> struct Complex {
  using real_type = R;
  R re, im;
  Complex() = default;
  constexpr Complex(R real, R imag) : re(real), im(imag) {}
  template <class N>
    requires(std::is_arithmetic_v<N>)
  constexpr Complex(N real) : re(static_cast<R>(real)), im(0) {}
  template <class S> constexpr explicit Complex(const Complex<S>& z) : re(static_cast<R>(z.re)), im(static_cast<R>(z.im)) {}

  constexpr Complex operator-() const { return {-re, -im}; }
  constexpr Complex& operator+=(Complex z) { return *this = *this + z; }
  constexpr Complex& operator*=(Complex z) { return *this = *this * z; }
  friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  // The divisor is scaled to its larger part, so that its square cannot overflow.
  friend Complex operator/(Complex a, Complex b) {
    const R x = b.re < 0 ? -b.re : b.re, y = b.im < 0 ? -b.im : b.im;
    if (x >= y) {
      if (x == 0 && y == 0) return {a.re / x, a.im / y};
      const R ratio = b.im / b.re, scale = R(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const R ratio = b.re / b.im, scale = R(1) / (b.re * ratio + b.im);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  friend constexpr bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
};
template <class T> inline constexpr bool is_complex_v = false;
template <class R> inline constexpr bool is_complex_v<Complex<R>> = true;

// The type arithmetic is done in: 16-bit floats compute in float, everything else in itself.
template <class T> struct Compute { using type = T; };
template <> struct Compute<Half> { using type = float; };
template <> struct Compute<BFloat16> { using type = float; };
template <class T> using compute_t = typename Compute<T>::type;

template <class T> struct DTypeOf;
template <> struct DTypeOf<bool> { static constexpr DType value = DType::Bool; };
template <> struct DTypeOf<uint8_t> { static constexpr DType value = DType::UInt8; };
template <> struct DTypeOf<int8_t> { static constexpr DType value = DType::Int8; };
template <> struct DTypeOf<int16_t> { static constexpr DType value = DType::Int16; };
template <> struct DTypeOf<int32_t> { static constexpr DType value = DType::Int32; };
template <> struct DTypeOf<int64_t> { static constexpr DType value = DType::Int64; };
template <> struct DTypeOf<uint16_t> { static constexpr DType value = DType::UInt16; };
template <> struct DTypeOf<uint32_t> { static constexpr DType value = DType::UInt32; };
template <> struct DTypeOf<uint64_t> { static constexpr DType value = DType::UInt64; };
template <> struct DTypeOf<Half> { static constexpr DType value = DType::Float16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::BFloat16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::Float32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::Float64; };
template <> struct DTypeOf<Complex<float>> { static constexpr DType value = DType::Complex64; };
template <> struct DTypeOf<Complex<double>> { static constexpr DType value = DType::Complex128; };

// The integer part of a number as an unsigned integer. Out of range is undefined in C++; this is what x86 gives, and with it PyTorch.
template <class U, class F> [[gnu::always_inline]] inline U truncate_unsigned(F x) {
  using S = std::make_signed_t<U>;
  constexpr U top = U(1) << (sizeof(U) * 8 - 1);
  constexpr F half = sizeof(U) == 8 ? F(0x1p63) : F(0x1p31);
  const bool high = x >= half;
  const F rest = high ? x - half : x;
  const U low = rest >= -half && rest < half ? static_cast<U>(static_cast<S>(rest)) : top;
  return high ? low ^ top : low;
}

// Calls f(T{}) with the C++ type of a dtype: `visit_dtype(t, [&](auto zero) { using T = decltype(zero); ... })`.
// The sets are as small as the work allows, to keep template instances few; the caller has checked the dtype.
template <class F> decltype(auto) visit_complex(DType t, F&& f) {
  if (t == DType::Complex64) return f(Complex<float>{});
  return f(Complex<double>{});
}

template <class F> decltype(auto) visit_floating(DType t, F&& f) {
  switch (t) {
    case DType::Float64: return f(double{});
    case DType::Float16: return f(Half{});
    case DType::BFloat16: return f(BFloat16{});
    default: return f(float{});
  }
}

// All but complex ones and guests.
template <class F> decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::Bool: return f(bool{});
    case DType::UInt8: return f(uint8_t{});
    case DType::Int8: return f(int8_t{});
    case DType::Int16: return f(int16_t{});
    case DType::Int32: return f(int32_t{});
    case DType::Int64: return f(int64_t{});
    default: return visit_floating(t, static_cast<F&&>(f));
  }
}

template <class F> decltype(auto) visit_guest(DType t, F&& f) {
  switch (t) {
    case DType::UInt16: return f(uint16_t{});
    case DType::UInt32: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

// All but guests.
template <class F> decltype(auto) visit_all(DType t, F&& f) {
  if (is_complex(t)) return visit_complex(t, static_cast<F&&>(f));
  return visit_dtype(t, static_cast<F&&>(f));
}

}  // namespace retrograd
