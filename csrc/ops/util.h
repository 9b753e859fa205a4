// Small things every family of ops needs: dimensions, copies without history.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch.h"
#include "core/tensor.h"
#include "kernels/values.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

// -ndim..ndim-1 -> 0..ndim-1; a 0-d tensor counts as having one dimension.
int64_t wrap_unusual_dim(int64_t dim, int64_t ndim);  // of a 0-d tensor, or none at all, which it says
inline int64_t wrap_dim(int64_t dim, int64_t ndim) {
  if (RG_UNLIKELY(dim < -ndim || dim >= ndim)) return wrap_unusual_dim(dim, ndim);
  return dim < 0 ? dim + ndim : dim;
}
// A bit per dimension; none or empty = all.
uint64_t dims_mask(std::optional<IntSpan> dims, int64_t ndim, const char* op);
inline uint64_t dim_mask(std::optional<IntSpan> dims, int64_t ndim, const char* op) {
  if (RG_LIKELY(dims && dims->size() == 1 && ndim != 0)) return uint64_t{1} << wrap_dim(dims->front(), ndim);
  return dims_mask(dims, ndim, op);
}

void copy_data(const Tensor& dst, const Tensor& src);  // same sizes or broadcastable src; converts; no history, no version
Tensor cast_data(const Tensor& t, DType dtype);        // t itself when it already has it
Tensor contiguous_data(const Tensor& t);               // t itself when it is
Tensor expand_data(const Tensor& t, IntSpan sizes);    // alias, stride 0 where expanded
Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device);
void fill_data(const Tensor& t, Scalar value);
Tensor zeros(IntSpan sizes, DType dtype, Device device = {});
bool any_element(const Tensor& t, kernels::Is what, double low = 0, double high = 0);  // of any dtype that is not complex, on any device

std::string dtype_title(DType dtype);              // "Float"
const char* cpp_type_name(DType dtype);            // "float", "long int": as a few messages have it
void resize_data(const Tensor& t, IntSpan sizes);  // in place, contiguous, keeps what fits
// out= has another dtype than the result: `words` say so, with {out} and {result} for the dtypes. See Out in optable/facts.py.
[[noreturn]] void fail_out_dtype(std::string_view words, DType out, DType result);
void resize_out(const Tensor& out, IntSpan sizes);  // the same for out=, with a warning

inline IntSpan ints(std::initializer_list<int64_t> list) { return {list.begin(), list.size()}; }

}  // namespace retrograd
