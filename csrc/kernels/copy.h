// Moving elements: copies between any two layouts and any two dtypes, and fills.
//
//   copy(dst, src)   dst[i] = convert(src[i]). Same sizes; strides in elements. src may be expanded (stride 0) or reversed (negative
//                    strides); dst elements are distinct. The two may be the same memory with the same layout, or not overlap.
//                    Conversions are PyTorch's: float -> integer truncates and then wraps to the width of the target, what does not
//                    fit 32 bits (64 for int64), inf and nan give the most negative integer before that wrap; -> bool is x != 0 (nan
//                    is true); -> 16-bit floats rounds to nearest even once, from float.
//   fill(dst, host_value) dst[i] = *host_value, which points at one element of dst's dtype.
#pragma once

#include <cstddef>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct CopyKernels {
  Kernel<void(const Array& dst, const Array& src)> copy;
  Kernel<void(const Array& dst, const void* host_value)> fill;
  // `bytes` bytes to each of `rows` places, dst_step bytes apart, from one run of memory. On the calling thread.
  Kernel<void(void* dst, int64_t dst_step, const void* src, int64_t rows, size_t bytes)> rows;
  // n elements, both contiguous; on the calling thread. from == to is a memcpy.
  Kernel<void(void* dst, DType to, const void* src, DType from, int64_t n)> convert;
};
RG_KERNEL_FAMILY(CopyKernels, copy)

// Permutations, which are copies in disguise.

// out[.., i, ..] = in[.., n - 1 - i, ..] along every dim d with flipped[d]. Same dtype, same sizes, not overlapping.
void flip(Device device, const Array& out, const Array& in, const bool* flipped);

// out[.., (i + shift[d]) mod n, ..] = in[.., i, ..] along every dim; shift[d] is any integer, 0 where a dim does not roll.
void roll(Device device, const Array& out, const Array& in, const int64_t* shift);

}  // namespace retrograd::kernels
