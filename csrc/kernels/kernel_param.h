// A scalar argument of a pointwise kernel, as both number kinds so that 64-bit integers arrive exactly.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/dtype.h"

namespace retrograd {

struct KernelParam {
  double d;
  int64_t i;
  double imag = 0;
  template <class T> T as() const {
    if constexpr (is_complex_v<T>) {
      return T(Complex<double>(d, imag));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(i);
    } else {
      return static_cast<T>(d);
    }
  }
};

}  // namespace retrograd
