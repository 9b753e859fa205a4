// A Python number as an argument: bool, int or float, with its category kept for type promotion.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace retrograd {

struct Scalar {
  enum class Kind : uint8_t { Bool, Int, Float };
  Kind kind = Kind::Int;
  union {
    int64_t i = 0;
    double d;
  };

  Scalar() = default;
  Scalar(bool v) : kind(Kind::Bool), i(v) {}
  Scalar(int v) : kind(Kind::Int), i(v) {}
  Scalar(int64_t v) : kind(Kind::Int), i(v) {}
  Scalar(double v) : kind(Kind::Float), d(v) {}

  bool is_float() const { return kind == Kind::Float; }
  bool is_bool() const { return kind == Kind::Bool; }
  double to_double() const { return is_float() ? d : static_cast<double>(i); }
  int64_t to_int() const { return is_float() ? static_cast<int64_t>(d) : i; }
  bool equals(double v) const { return to_double() == v; }
  DType natural_dtype() const { return kind == Kind::Float ? DType::Float64 : kind == Kind::Int ? DType::Int64 : DType::Bool; }

  // Writes the value as one element of `dtype`.
  void store(DType dtype, void* out) const {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      T value;
      if constexpr (sizeof(compute_t<T>) != sizeof(T)) {
        value = T(static_cast<float>(to_double()));
      } else if constexpr (DTypeOf<T>::value == DType::Bool) {
        value = is_float() ? d != 0 : i != 0;
      } else {
        value = is_float() ? static_cast<T>(d) : static_cast<T>(i);
      }
      std::memcpy(out, &value, sizeof value);
    });
  }
};

inline Scalar operator-(Scalar s) {
  if (s.is_float()) return Scalar(-s.d);
  return Scalar(-s.i);
}

}  // namespace retrograd
