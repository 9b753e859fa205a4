// im2col and col2im: sliding blocks as columns, and their sums; nn.functional calls them unfold and fold.
#include "native_conv.h"
#include "ops/checks.h"
#include "ops/conv/conv.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

struct Blocks {
  kernels::ConvShape shape;
  bool batched;
};

void check_pair(IntSpan values, const char* name) {
  RG_CHECK(values.size() == 2, "It is expected ", name, " equals to 2, but got size ", values.size());
}

// The numbers of both ops but for the batch and the channels.
kernels::ConvShape blocks_of(IntSpan image, IntSpan kernel, IntSpan dilation, IntSpan padding, IntSpan stride) {
  check_pair(kernel, "kernel_size");
  check_pair(dilation, "dilation");
  check_pair(padding, "padding");
  check_pair(stride, "stride");
  const auto both = [](IntSpan v, int64_t least, const char* words, const char* name) {
    RG_CHECK(v[0] >= least && v[1] >= least, words, ", but got ", name, "_height: ", v[0], " ", name, "_width: ", v[1]);
    RG_CHECK(v[0] <= INT32_MAX && v[1] <= INT32_MAX, name, " of ", v, " is too large");
  };
  both(kernel, 1, "kernel size should be greater than zero", "kernel");
  both(dilation, 1, "dilation should be greater than zero", "dilation");
  both(padding, 0, "padding should be non-negative", "pad");
  both(stride, 1, "stride should be greater than zero", "stride");
  kernels::ConvShape s{1, 1, 1, 1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}};
  for (size_t d = 0; d < 2; ++d) {
    s.in[d + 1] = image[d];
    s.kernel[d + 1] = kernel[d];
    s.stride[d + 1] = stride[d];
    s.padding[d + 1] = padding[d];
    s.dilation[d + 1] = dilation[d];
    const int64_t room = image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    s.out[d + 1] = room < 0 ? 0 : room / stride[d] + 1;
  }
  return s;
}

std::string pair_text(const int64_t* v) { return str_cat("(", v[0], ", ", v[1], ")"); }

Blocks unfold_blocks(const Tensor& self, IntSpan kernel, IntSpan dilation, IntSpan padding, IntSpan stride) {
  const int64_t dims = self.dim();
  if (dims < 3) wrap_dim(2, dims);  // PyTorch's words for too few
  const auto positive = [&](int64_t from) {
    for (int64_t d = from; d < dims; ++d)
      if (self.size(d) == 0) return false;
    return true;
  };
  RG_CHECK(
      (dims == 3 && positive(0)) || (dims == 4 && positive(1)),
      "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ", self.sizes());
  Blocks b{blocks_of(self.sizes().last(2), kernel, dilation, padding, stride), dims == 4};
  kernels::ConvShape& s = b.shape;
  s.batch = b.batched ? self.size(0) : 1;
  s.in_channels = self.size(-3);
  RG_CHECK(s.out[1] > 0 && s.out[2] > 0, "Given input with spatial size ", pair_text(s.in + 1), ", kernel_size=", pair_text(s.kernel + 1),
           ", dilation=", pair_text(s.dilation + 1), ", padding=", pair_text(s.padding + 1),
           ", calculated shape of the array of sliding blocks as ", pair_text(s.out + 1), ", but its components must be at least one.");
  return b;
}

Blocks fold_blocks(const Tensor& self, IntSpan output_size, IntSpan kernel, IntSpan dilation, IntSpan padding, IntSpan stride) {
  check_pair(output_size, "output_size");
  RG_CHECK(output_size[0] >= 1 && output_size[1] >= 1 && output_size[0] <= INT32_MAX && output_size[1] <= INT32_MAX,
           "Expected output spatial size to be positive, but got: output_size=", pair_text(output_size.data()));
  const int64_t dims = self.dim();
  Blocks b{blocks_of(output_size, kernel, dilation, padding, stride), dims == 3};
  kernels::ConvShape& s = b.shape;
  RG_CHECK((dims == 2 && self.size(0) && self.size(1)) || (dims == 3 && self.size(1) && self.size(2)),
           "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: ",
           self.sizes());
  const int64_t rows = self.size(-2), columns = self.size(-1);
  RG_CHECK(rows % s.taps() == 0,
           "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=", rows,
           " and kernel_size=", pair_text(s.kernel + 1), ".");
  RG_CHECK(columns == s.out_plane(), "Given output_size=", pair_text(s.in + 1), ", kernel_size=", pair_text(s.kernel + 1),
           ", dilation=", pair_text(s.dilation + 1), ", padding=", pair_text(s.padding + 1), ", stride=", pair_text(s.stride + 1),
           ", expected size of input's dimension 2 to match the calculated number of sliding blocks ", s.out[1], " * ", s.out[2], " = ",
           s.out_plane(), ", but got input.size(2)=", columns, ".");
  s.batch = b.batched ? self.size(0) : 1;
  s.in_channels = rows / s.taps();
  return b;
}

}  // namespace

namespace rule {

Spec im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride) {
  const Blocks b = unfold_blocks(self, kernel_size, dilation, padding, stride);
  if (is_integral(self.dtype())) fail_not_implemented("im2col_out_cpu", self.dtype());
  Spec spec(self.dtype(), self->device);
  if (b.batched) spec.add_dim(b.shape.batch);
  spec.add_dim(b.shape.in_channels * b.shape.taps());
  spec.add_dim(b.shape.out_plane());
  return spec;
}

Spec col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride) {
  const Blocks b = fold_blocks(self, output_size, kernel_size, dilation, padding, stride);
  if (!is_differentiable(self.dtype()) && self.dtype() != DType::Bool) fail_not_implemented("col2im_out_cpu", self.dtype());
  Spec spec(self.dtype(), self->device);
  if (b.batched) spec.add_dim(b.shape.batch);
  spec.add_dim(b.shape.in_channels);
  spec.add_dim(output_size[0]);
  spec.add_dim(output_size[1]);
  return spec;
}

}  // namespace rule

namespace compute {

void im2col(const Tensor& self, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride, const Tensor& out) {
  const Blocks b = unfold_blocks(self, kernel_size, dilation, padding, stride);
  const Tensor in = contiguous_data(self);
  const Launch launch(out, out.numel());
  kernels::conv(out->device).unfold(itemsize(out.dtype()), b.shape, in->data, out->data);
}

void col2im(const Tensor& self, IntSpan output_size, IntSpan kernel_size, IntSpan dilation, IntSpan padding, IntSpan stride,
            const Tensor& out) {
  if (RG_UNLIKELY(self.dtype() == DType::Bool))  // a sum of bools is whether any is set
    return copy_data(out, impl::col2im(cast_data(self, DType::Float32), output_size, kernel_size, dilation, padding, stride));
  const Blocks b = fold_blocks(self, output_size, kernel_size, dilation, padding, stride);
  const Tensor columns = contiguous_data(self);
  const Launch launch(out, self.numel());
  kernels::conv(out->device).fold(out.dtype(), b.shape, columns->data, out->data);
}

}  // namespace compute
}  // namespace retrograd
