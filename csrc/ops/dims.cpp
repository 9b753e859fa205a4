#include "ops/dims.h"

namespace retrograd {

int64_t wrap_unusual_dim(int64_t dim, int64_t ndim) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  RG_CHECK_AS(Index, dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim,
              ")");
  return dim < 0 ? dim + n : dim;
}

uint64_t listed_dims(IntSpan dims, int64_t ndim, const char* op) {
  uint64_t mask = 0;
  for (const int64_t d : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(d, ndim);
    RG_CHECK(!(mask & bit), "dim ", wrap_dim(d, ndim), " appears multiple times in the list of dims (", op, ")");
    mask |= bit;
  }
  return mask & every_dim(ndim);
}

}  // namespace retrograd
