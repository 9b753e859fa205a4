// What the files of the index family share.
#pragma once

#include <optional>
#include <string_view>

#include "core/tensor.h"
#include "kernels/index.h"

namespace retrograd {

// A 0-d tensor as a vector of one element.
inline kernels::Array vector_array(const Tensor& t) {
  static constexpr int64_t kOne = 1;
  if (RG_LIKELY(t->ndim != 0)) return t.array();
  return {t->data, t->dtype, 1, &kOne, &kOne};
}

Tensor index_as_int64(const Tensor& index, const char* op);
kernels::Reduce parse_reduce(std::string_view reduce);

}  // namespace retrograd
