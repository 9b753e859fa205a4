// A Python number as an argument: bool, int, float or complex, with its category kept for type promotion.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace retrograd {

struct Scalar {
  enum class Kind : uint8_t { Bool, Int, UInt, Float, Complex };  // UInt: an integer that only uint64 holds, 2**63 or more
  Kind kind = Kind::Int;
  union {
    int64_t i = 0;  // of a UInt its bits
    double d;       // the real part
  };
  double imag = 0;

  Scalar() = default;
  Scalar(bool v) : kind(Kind::Bool), i(v) {}
  Scalar(int v) : kind(Kind::Int), i(v) {}
  Scalar(int64_t v) : kind(Kind::Int), i(v) {}
  Scalar(double v) : kind(Kind::Float), d(v) {}
  Scalar(Complex<double> v) : kind(Kind::Complex), d(v.re), imag(v.im) {}
  static Scalar of_unsigned(uint64_t v) {
    Scalar s(static_cast<int64_t>(v));
    if (v >> 63) s.kind = Kind::UInt;
    return s;
  }

  bool is_float() const { return kind >= Kind::Float; }  // or complex: no integer
  bool is_complex() const { return kind == Kind::Complex; }
  bool is_bool() const { return kind == Kind::Bool; }
  bool is_huge() const { return kind == Kind::UInt; }
  double to_double() const { return is_float() ? d : integer_as<double>(); }
  int64_t to_int() const { return is_float() ? static_cast<int64_t>(d) : i; }
  Complex<double> to_complex() const { return {to_double(), imag}; }
  bool equals(double v) const { return to_double() == v && imag == 0; }
  DType natural_dtype() const {
    static constexpr DType dtypes[] = {DType::Bool, DType::Int64, DType::Int64, DType::Float64, DType::Complex128};
    return dtypes[static_cast<int>(kind)];
  }
  // The dtype of a tensor that holds the value, all of it.
  DType holding_dtype() const { return is_huge() ? DType::UInt64 : natural_dtype(); }
  Scalar conj() const {
    Scalar s = *this;
    if (is_complex()) s.imag = -imag;
    return s;
  }

  // Writes the value as one element of `dtype`; an imaginary part only a complex one can hold.
  void store(DType dtype, void* out) const {
    if (is_guest(dtype)) return store_guest(dtype, out);
    visit_all(dtype, [&](auto zero) {
      using T = decltype(zero);
      T value;
      if constexpr (is_complex_v<T>) {
        value = T(to_complex());
      } else if constexpr (sizeof(compute_t<T>) != sizeof(T)) {
        value = T(static_cast<float>(to_double()));
      } else if constexpr (DTypeOf<T>::value == DType::Bool) {
        value = is_float() ? d != 0 || imag != 0 : i != 0;
      } else {
        value = is_float() ? static_cast<T>(d) : integer_as<T>();
      }
      std::memcpy(out, &value, sizeof value);
    });
  }
  void store_guest(DType dtype, void* out) const;

 private:
  template <class T> T integer_as() const { return is_huge() ? static_cast<T>(static_cast<uint64_t>(i)) : static_cast<T>(i); }
};

inline Scalar operator-(Scalar s) {
  if (s.is_complex()) return Scalar(-s.to_complex());
  if (s.is_float()) return Scalar(-s.d);
  return Scalar(static_cast<int64_t>(-static_cast<uint64_t>(s.i)));
}

}  // namespace retrograd
