// A scalar argument of a pointwise kernel, as both number kinds so that 64-bit integers arrive exactly.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrograd {

struct KernelParam {
  double d;
  int64_t i;
  template <class T> T as() const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(i);
    } else {
      return static_cast<T>(d);
    }
  }
};

}  // namespace retrograd
