// Distances between all pairs of rows, and vector products.
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct DistanceKernels {
  // out[b][i][j] = (sum over k of |x1[b][i][k] - x2[b][j][k]|^p)^(1/p). All contiguous, of one dtype, float32 or float64.
  // p = 0 counts differing elements, inf takes the largest difference.
  Kernel<void(void* out, const void* x1, const void* x2, DType dtype, int64_t batch, int64_t rows1, int64_t rows2, int64_t columns,
              double p)>
      cdist;
  // The distances of rows 0 and 1, 0 and 2, ..., 1 and 2, ... of one contiguous matrix.
  Kernel<void(void* out, const void* x, DType dtype, int64_t rows, int64_t columns, double p)> pdist;
  // norms[i] becomes what a slice of that norm is multiplied with so that its norm is at most `limit`. n floating elements, contiguous.
  Kernel<void(void* norms, DType dtype, int64_t n, double limit)> shrink;
  // Vector products of the three elements along dim. All of one dtype (not bool) and of equal sizes.
  Kernel<void(const Array& out, const Array& a, const Array& b, int dim)> cross;
};
RG_KERNEL_FAMILY(DistanceKernels, distance)

}  // namespace retrograd::kernels
