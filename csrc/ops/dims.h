// Dimensions as arguments: counted from the end, one or a list of them; a list of numbers on the spot.
#pragma once

#include <initializer_list>
#include <optional>

#include "core/tensor.h"

namespace retrograd {

// -ndim..ndim-1 -> 0..ndim-1; a 0-d tensor counts as having one dimension.
int64_t wrap_unusual_dim(int64_t dim, int64_t ndim);  // of a 0-d tensor, or none at all, which it says
inline int64_t wrap_dim(int64_t dim, int64_t ndim) {
  if (RG_UNLIKELY(dim < -ndim || dim >= ndim)) return wrap_unusual_dim(dim, ndim);
  return dim < 0 ? dim + ndim : dim;
}
inline constexpr uint64_t every_dim(int64_t ndim) { return ndim >= 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1; }
// A bit per dimension; none or empty = all.
[[noreturn, gnu::cold]] void fail_repeated_dim(int64_t dim, const char* op);
inline uint64_t dim_mask(OptInts dims, int64_t ndim, const char* op) {
  if (!dims || dims->empty()) return every_dim(ndim);
  uint64_t mask = 0;
  for (const int64_t d : *dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(d, ndim);
    if (RG_UNLIKELY(mask & bit)) fail_repeated_dim(wrap_dim(d, ndim), op);
    mask |= bit;
  }
  return mask & every_dim(ndim);
}

inline IntSpan ints(std::initializer_list<int64_t> list) { return {list.begin(), list.size()}; }

}  // namespace retrograd
