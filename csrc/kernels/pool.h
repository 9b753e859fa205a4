// Pooling in one to three dimensions, as functions on dense memory.
//
// Elements lie as [outer, depth, height, width, inner]: of a contiguous tensor [N, C, ...] outer is N * C and inner 1, of one in channels_last
// outer is N and inner C. A place is the number of an element among those of depth, height and width, row by row; -1 is no place at all.
// The same bits come out for every number of threads. All sizes are positive, and the memory of a result overlaps nothing.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"
#include "kernels/index.h"

namespace retrograd::kernels {

struct PoolShape {
  int64_t outer, inner;
  int64_t in[3], out[3];                                  // depth, height, width; of what is not there 1
  int64_t kernel[3], stride[3], padding[3], dilation[3];  // of what is not there 1, padding 0
  bool adaptive;                                          // windows share out what there is instead: the line above is not read
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
};
// What a sum is divided by: the elements of its window, with or without those of the padding, or a number.
enum class PoolCount : uint8_t { Padded, Inside, Fixed };

struct PoolKernels {
  // The largest of each window and its place: the first of equal ones, the last nan. All dtypes but bool and complex ones.
  Kernel<void(DType dtype, const PoolShape& shape, const void* in, void* out, int64_t* places)> max;
  // The same in windows of kernel[] elements that begin where samples [outer, dims] say: for each plane a number for each dimension, from the
  // last where `last_first`. inner is 1; floating dtypes.
  Kernel<void(DType dtype, const PoolShape& shape, const void* in, const void* samples, int dims, bool last_first, void* out,
              int64_t* places)>
      fractional_max;
  // The mean of each window. Floating dtypes and Int64.
  Kernel<void(DType dtype, const PoolShape& shape, PoolCount count, int64_t divisor, const void* in, void* out)> mean;
  // Its transpose: what each element gets from the windows it is in.
  Kernel<void(DType dtype, const PoolShape& shape, PoolCount count, int64_t divisor, const void* out, void* in)> mean_backward;
  // The elements at places, 0 for -1. Any other place outside is an error, as in kernels/index.h.
  Kernel<void(DType dtype, const PoolShape& shape, const void* in, const int64_t* places, void* out, IndexError* error)> take;
  // Its transpose, sums; or with `assign` the last that names a place, and -1 is an error too. Zero where nothing is put.
  Kernel<void(DType dtype, const PoolShape& shape, const void* out, const int64_t* places, bool assign, void* in, IndexError* error)> put;
};
RG_KERNEL_FAMILY(PoolKernels, pool)

}  // namespace retrograd::kernels
