// Memory that a caller lends to a kernel, which says how much it wants: kernels do not allocate.
#pragma once

#include <cstdint>

namespace retrograd::kernels {

struct Workspace {
  void* data;  // on 64 bytes
  int64_t bytes;
};

}  // namespace retrograd::kernels
