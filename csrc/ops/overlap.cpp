#include "ops/overlap.h"

#include <algorithm>

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

void fail_internal_overlap() {
  fail(ErrorKind::Runtime,
       "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
       "clone() the tensor before performing the operation.");
}

void warn_expanded_write(const Tensor& out, const char* op) {
  if (RG_LIKELY(!has_internal_overlap(out.get()))) return;
  const std::string text = str_cat("Use of ", op,
                                   " on expanded tensors is deprecated. Elements that share memory are written more than once: clone() "
                                   "the tensor first (as for tensor[index] = value).");
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw PythonError();
}

namespace {

// Element for element the same, however many dimensions of one element either has.
bool same_places(const TensorImpl* out, const TensorImpl* in) {
  if (out->data != in->data || out->dtype != in->dtype || out->numel != in->numel || out->ndim < in->ndim) return false;
  const int more = out->ndim - in->ndim;
  bool same = true;
  for (int d = 0; d < in->ndim; ++d)
    same &= out->size(d + more) == in->size(d) && (in->size(d) <= 1 || out->stride(d + more) == in->stride(d));
  return same;
}

bool same_strides(const TensorImpl* a, const TensorImpl* b) {
  return a->ndim == b->ndim && std::equal(a->strides(), a->strides() + a->ndim, b->strides());
}

}  // namespace

bool check_no_partial_overlap(const TensorImpl* out, const TensorImpl* in) {
  if (out == in || out->storage != in->storage || out->numel == 0 || in->numel == 0) return true;
  const bool same = same_places(out, in);
  if (same && same_strides(out, in)) return true;
  const auto [a, a_end] = extent(out);
  const auto [b, b_end] = extent(in);
  if (a_end <= b || b_end <= a) return true;
  // Dense memory that is seen with other strides is refused even where it would do no harm, as PyTorch does.
  RG_CHECK(!(dense_and_nonoverlapping(out) && dense_and_nonoverlapping(in)),
           "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
           "clone() one of them first.");
  return same;
}

}  // namespace retrograd
