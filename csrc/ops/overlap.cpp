#include "ops/overlap.h"

namespace retrograd {
namespace {

// First and one-past-last byte a tensor touches.
std::pair<const char*, const char*> extent(const TensorImpl* t) {
  int64_t last = 0;
  for (int d = 0; d < t->ndim; ++d) last += (t->size(d) - 1) * t->stride(d);
  const auto* begin = static_cast<const char*>(t->data);
  return {begin, begin + (last + 1) * itemsize(t->dtype)};
}

}  // namespace

void check_no_internal_overlap(const Tensor& out) {
  RG_CHECK(
      !has_internal_overlap(out.get()),
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor "
      "before performing the operation.");
}

bool check_no_partial_overlap(const TensorImpl* out, const TensorImpl* in) {
  if (out->storage != in->storage || out->numel == 0 || in->numel == 0) return true;
  if (out->data == in->data && out->dtype == in->dtype && same_sizes(out, in)) {
    bool same = true;
    for (int d = 0; d < out->ndim; ++d) same &= out->size(d) <= 1 || out->stride(d) == in->stride(d);
    if (same) return true;
  }
  const auto [a, a_end] = extent(out);
  const auto [b, b_end] = extent(in);
  if (a_end <= b || b_end <= a) return true;
  RG_CHECK(!(dense_and_nonoverlapping(out) && dense_and_nonoverlapping(in)),
           "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. Please "
           "clone() the "
           "tensor before performing the operation.");
  return false;
}

}  // namespace retrograd
