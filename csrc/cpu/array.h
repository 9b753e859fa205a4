// What a kernel sees of a tensor: memory and its geometry. Kernels never allocate, never raise and never call Python;
// the caller (csrc/ops) has checked shapes and dtypes and made the output.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace retrograd::cpu {

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

}  // namespace retrograd::cpu
