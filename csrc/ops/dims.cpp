#include "ops/dims.h"

namespace retrograd {

int64_t wrap_unusual_dim(int64_t dim, int64_t ndim) {
  const int64_t n = ndim == 0 ? 1 : ndim;
  RG_CHECK_AS(Index, dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1, "], but got ", dim,
              ")");
  return dim < 0 ? dim + n : dim;
}

void fail_repeated_dim(int64_t dim, const char* op) {
  fail(ErrorKind::Runtime, "dim ", dim, " appears multiple times in the list of dims (", op, ")");
}

}  // namespace retrograd
