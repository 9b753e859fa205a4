// Convolutions of one to three dimensions, as functions on contiguous memory.
//
// A convolution and a transposed one are the same three sums over in [N, G * I, ...], weight [G * O, I, ...] and out [N, G * O, ...], each of
// which gives one of these from the other two:
//
//   out[n, o, p] += in[n, i, p * stride - padding + k * dilation] * weight[o, i, k]
//
// 16-bit floats and small integers are the caller's to convert: dtype is Float32, Float64 or Int64, which wraps. The same bits come out for
// every number of threads. All sizes are positive, and the memory of a result overlaps nothing.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"
#include "kernels/workspace.h"

namespace retrograd::kernels {

struct ConvShape {
  int64_t batch, groups;
  int64_t in_channels, out_channels;                                     // of one group: I and O
  int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];  // depth, height, width; of what is not there 1, padding 0
  int64_t in_plane() const { return in[0] * in[1] * in[2]; }
  int64_t out_plane() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};
enum class ConvPass : uint8_t { Out, In, Weight };  // which of the three is computed

struct ConvKernels {
  // The bytes a pass wants to work in.
  Kernel<int64_t(DType dtype, const ConvShape& shape, ConvPass pass)> workspace;
  // bias has an element for each channel of the result, or is null.
  Kernel<void(DType dtype, const ConvShape& shape, const void* in, const void* weight, const void* bias, void* out, Workspace work)> out;
  Kernel<void(DType dtype, const ConvShape& shape, const void* out, const void* weight, const void* bias, void* in, Workspace work)> in;
  Kernel<void(DType dtype, const ConvShape& shape, const void* in, const void* out, void* weight, Workspace work)> weight;

  // columns [N, I * taps, positions] from in [N, I, ...]: what each tap meets at each position, zero outside; any dtype.
  Kernel<void(int64_t itemsize, const ConvShape& shape, const void* in, void* columns)> unfold;
  // The sums of the columns where they come from; floating and complex dtypes.
  Kernel<void(DType dtype, const ConvShape& shape, const void* columns, void* in)> fold;
};
RG_KERNEL_FAMILY(ConvKernels, conv)

}  // namespace retrograd::kernels
