// What the shape rules of convolutions and their kernel calls share.
#pragma once

#include "core/format.h"
#include "core/tensor.h"
#include "kernels/conv.h"

namespace retrograd {

// The numbers of a convolution, one for each spatial dimension, checked.
struct ConvNumbers {
  int64_t dims;  // 1 to 3
  int64_t stride[3], padding[3], dilation[3], output_padding[3];
  bool transposed;
  int64_t groups;
};
ConvNumbers conv_numbers(IntSpan weight, IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding,
                         int64_t groups);

// An input [N, C, ...] and a weight of these sizes fit together; the bias too, if there is one. The result's sizes go to out, dims + 2 of them.
void check_convolution(IntSpan input, IntSpan weight, const Tensor& bias, const ConvNumbers& numbers, int64_t* out);
// Dtypes and devices.
void check_kinds(const Tensor& input, const Tensor& weight, const Tensor& bias, bool transposed);

// The format of the result: that of channels_last where one of the two has it.
MemoryFormat conv_format(const Tensor& input, const Tensor& weight);

}  // namespace retrograd
