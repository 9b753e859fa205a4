// Where tensors live, for the files that make them and let them go.
#pragma once

#include "core/pool.h"
#include "core/tensor.h"

namespace retrograd {

extern Pool tensor_pool;

// Room for the sizes and strides of a tensor with so many dimensions.
inline int64_t* reserve_dims(TensorImpl* t, int ndim) {
  if (t->dims != t->inline_dims && t->dims) PyMem_Free(t->dims);
  t->dims = ndim <= kInlineDims ? t->inline_dims : static_cast<int64_t*>(PyMem_Malloc(sizeof(int64_t) * 2 * static_cast<size_t>(ndim)));
  t->ndim = static_cast<uint8_t>(ndim);
  return t->dims;
}

}  // namespace retrograd
