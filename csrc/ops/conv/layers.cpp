// The convolutions of programs over `convolution`: unbatched inputs, padding by name, numbers for all dimensions at once.
#include "ops/checks.h"
#include "ops/conv/conv.h"
#include "ops/derivatives.h"

namespace retrograd::composite {
namespace {

// One number for all dimensions of an op that has `dims` of them.
struct Numbers {
  int64_t values[3];
  size_t count;
  Numbers(IntSpan given, int64_t dims) : count(given.size()) {
    if (count == 1) {
      count = static_cast<size_t>(dims);
      for (int64_t d = 0; d < dims; ++d) values[d] = given[0];
    } else {
      for (size_t d = 0; d < count && d < 3; ++d) values[d] = given[d];
    }
  }
  IntSpan span(IntSpan given) const { return count <= 3 ? IntSpan{values, count} : given; }
};

Tensor convolve(const char* op, int64_t dims, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups) {
  RG_CHECK(input.dim() == dims + 2 || input.dim() == dims + 1, "Expected ", dims + 1, "D (unbatched) or ", dims + 2,
           "D (batched) input to ", op, ", but got input of size: ", input.sizes());
  const Numbers s(stride, dims), p(padding, dims), d(dilation, dims), o(output_padding, dims);
  const auto run = [&](const Tensor& batch) {
    return ops::convolution(batch, weight, bias, s.span(stride), p.span(padding), d.span(dilation), transposed, o.span(output_padding),
                            groups);
  };
  if (RG_LIKELY(input.dim() == dims + 2)) return run(input);
  return ops::squeeze_dim(run(ops::unsqueeze(input, 0)), 0);
}

Tensor convolve(const char* op, int64_t dims, const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride,
                std::string_view padding, IntSpan dilation, int64_t groups) {
  const int64_t none = 0;
  const IntSpan zero{&none, 1};
  RG_CHECK(padding == "same" || padding == "valid", "Invalid padding string: '", padding, "'");
  if (padding == "valid") return convolve(op, dims, input, weight, bias, stride, zero, dilation, false, zero, groups);
  const ConvNumbers n = conv_numbers(weight.sizes(), stride, zero, dilation, false, zero, groups);
  for (int64_t i = 0; i < n.dims; ++i) RG_CHECK(n.stride[i] == 1, "padding='same' is not supported for strided convolutions");
  // Where the sides differ, the last gets one more.
  int64_t before[3], more[6] = {};
  bool uneven = false;
  for (int64_t i = 0; i < n.dims; ++i) {
    const int64_t total = n.dilation[i] * (weight.size(i + 2) - 1);
    before[i] = total / 2;
    if (total % 2 > 0) {
      more[2 * (n.dims - 1 - i) + 1] = 1;
      uneven = true;
    }
  }
  const Tensor padded = uneven && input.dim() > n.dims ? ops::constant_pad_nd(input, {more, static_cast<size_t>(2 * n.dims)}, 0) : input;
  return convolve(op, dims, padded, weight, bias, stride, {before, static_cast<size_t>(n.dims)}, dilation, false, zero, groups);
}

}  // namespace

#define RG_CONVOLUTION(name, dims)                                                                                               \
  Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding, IntSpan dilation,  \
              int64_t groups) {                                                                                                  \
    const int64_t none = 0;                                                                                                      \
    return convolve(#name, dims, input, weight, bias, stride, padding, dilation, false, {&none, 1}, groups);                     \
  }                                                                                                                              \
  Tensor name##_padding(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, std::string_view padding, \
                        IntSpan dilation, int64_t groups) {                                                                      \
    return convolve(#name, dims, input, weight, bias, stride, padding, dilation, groups);                                        \
  }
#define RG_TRANSPOSED(name, dims)                                                                                                     \
  Tensor name(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding, IntSpan output_padding, \
              int64_t groups, IntSpan dilation) {                                                                                     \
    return convolve(#name, dims, input, weight, bias, stride, padding, dilation, true, output_padding, groups);                       \
  }

RG_CONVOLUTION(conv1d, 1)
RG_CONVOLUTION(conv2d, 2)
RG_CONVOLUTION(conv3d, 3)
RG_TRANSPOSED(conv_transpose1d, 1)
RG_TRANSPOSED(conv_transpose2d, 2)
RG_TRANSPOSED(conv_transpose3d, 3)

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  RG_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel. Got input of size ", self.sizes());
  RG_CHECK(weight.dim() == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels. Got weight of size ",
           weight.sizes());
  RG_CHECK(bias.dim() == 1, "Bias must be 1-D, but got bias of size ", bias.sizes());
  RG_CHECK(self.size(2) == weight.size(1), "Input dim 2 (input channels) is not == dim 1 in the weight tensor: ", self.size(2), " and ",
           weight.size(1));
  RG_CHECK(weight.size(2) == bias.size(0), "Bias size must equal dim 2 in the weight tensor (output channels). Got ", bias.size(0), " and ",
           weight.size(2));
  RG_CHECK(pad >= 0, "negative padding is not supported");
  const int64_t length = self.size(0) + 2 * pad - weight.size(0) + 1;
  RG_CHECK(length >= 0, "Trying to create tensor with negative dimension ", length, ": ", ints({length, self.size(1), weight.size(2)}));
  const int64_t around = length ? pad : pad + 1;  // where there is no room for the kernel, of a longer result nothing
  const Tensor result =
      conv1d(ops::permute(self, ints({1, 2, 0})), ops::permute(weight, ints({2, 1, 0})), bias, ints({1}), {&around, 1}, ints({1}), 1);
  return ops::contiguous(ops::permute(length ? result : ops::slice(result, 2, 0, 0, 1), ints({2, 0, 1})));
}

}  // namespace retrograd::composite
