// What a kernel sees of a tensor: memory and its geometry.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace retrograd::kernels {

inline constexpr int kMaxDims = 64;

struct Array {
  void* data;
  DType dtype;
  int ndim;
  const int64_t* sizes;    // elements
  const int64_t* strides;  // elements, may be 0 (expanded) or negative never; see as_strided

  template <class T> T* ptr() const { return static_cast<T*>(data); }
  int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= sizes[d];
    return n;
  }
};

}  // namespace retrograd::kernels
