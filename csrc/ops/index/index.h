// What the files of the index family share.
#pragma once

#include <optional>
#include <string_view>

#include "core/launch.h"
#include "core/transfer.h"
#include "kernels/index.h"

namespace retrograd {

// A 0-d tensor as a vector of one element.
inline kernels::Array vector_array(const Tensor& t) {
  static constexpr int64_t kOne = 1;
  if (RG_LIKELY(t->ndim != 0)) return t.array();
  return {t->data, t->dtype, 1, &kOne, &kOne};
}

kernels::Reduce parse_reduce(std::string_view reduce);

// How many elements are set; waits for the device.
inline int64_t count_set(const Tensor& t) {
  Answer<int64_t> found(t->device);
  {
    const Launch launch(t, t.numel() / 2);
    kernels::indexing(t->device).count_nonzero(found.data(), vector_array(t));
  }
  return found.read();
}

}  // namespace retrograd
