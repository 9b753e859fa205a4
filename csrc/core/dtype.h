// Element types. The lowest header of the project: kernels include it too, so it knows nothing of tensors or Python.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace retrograd {

// Promotion order within a category is the numeric order (see promote()). Complex dtypes are those with bit 4 set, so that one test of a
// tensor's traits finds them; the numbers between are free.
enum class DType : uint8_t { Bool, UInt8, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64, Complex64 = 16, Complex128 };
inline constexpr int kNumDTypes = 18;
inline constexpr int kComplexBit = 16;

inline constexpr int64_t kItemSize[kNumDTypes] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 0, 0, 0, 0, 0, 0, 8, 16};
inline constexpr int64_t kMaxItemSize = 16;
constexpr int64_t itemsize(DType t) { return kItemSize[static_cast<int>(t)]; }
constexpr bool is_complex(DType t) { return static_cast<int>(t) & kComplexBit; }
constexpr bool is_floating(DType t) { return t >= DType::Float16 && t <= DType::Float64; }
constexpr bool is_differentiable(DType t) { return t >= DType::Float16; }              // floating or complex
constexpr bool is_integral(DType t) { return t > DType::Bool && t < DType::Float16; }  // bool excluded
constexpr DType real_dtype(DType t) { return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t; }
// 16-bit floats have no complex dtype of their own here; they go with complex64.
constexpr DType complex_dtype(DType t) { return t == DType::Float64 || t == DType::Complex128 ? DType::Complex128 : DType::Complex64; }

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
template <> struct DTypeOf<Half> { static constexpr DType value = DType::Float16; };
template <> struct DTypeOf<BFloat16> { static constexpr DType value = DType::BFloat16; };
template <> struct DTypeOf<float> { static constexpr DType value = DType::Float32; };
template <> struct DTypeOf<double> { static constexpr DType value = DType::Float64; };
template <> struct DTypeOf<Complex<float>> { static constexpr DType value = DType::Complex64; };
template <> struct DTypeOf<Complex<double>> { static constexpr DType value = DType::Complex128; };

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

// All but the complex ones.
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

template <class F> decltype(auto) visit_all(DType t, F&& f) {
  if (is_complex(t)) return visit_complex(t, static_cast<F&&>(f));
  return visit_dtype(t, static_cast<F&&>(f));
}

}  // namespace retrograd
