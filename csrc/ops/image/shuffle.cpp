// Pixels turned into channels and back, and channels in another order.
#include "core/format.h"
#include "core/promote.h"
#include "kernels/copy.h"
#include "native_image.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/shape/shape.h"

namespace retrograd {

using shape::Geometry;

namespace {

// Images with the channels last in memory stay so.
bool is_channels_last(const Tensor& t) { return t.dim() == 4 && !t.is_contiguous() && has_format(t.get(), MemoryFormat::ChannelsLast); }

void check_image(const char* name, const Tensor& input, const char* what, int64_t factor) {
  RG_CHECK(input.dim() >= 3, name, " expects input to have at least 3 dimensions, but got input with ", input.dim(), " dimension(s)");
  RG_CHECK(factor > 0, name, " expects a positive ", what, ", but got ", factor);
  RG_CHECK(factor < INT32_MAX, name, ": ", what, " is too large: ", factor);
}

// Copies between `packed`, [*, C r^2, H, W], and `spread`, [*, C, H r, W r].
void move_pixels(const Tensor& packed, const Tensor& spread, int64_t r, bool to_spread) {
  Geometry p, s;
  const int64_t d = packed.dim() - 3;
  const auto add = [&](int64_t size, int64_t packed_stride, int64_t spread_stride) {
    if (size == 1) return;
    p.add(size, packed_stride);
    s.add(size, spread_stride);
  };
  for (int64_t b = 0; b < d; ++b) add(packed.size(b), packed.stride(b), spread.stride(b));
  const int64_t channel = packed.stride(d), row = spread.stride(d + 1), column = spread.stride(d + 2);
  add(spread.size(d), channel * r * r, spread.stride(d));
  add(packed.size(d + 1), packed.stride(d + 1), row * r);
  add(r, channel * r, row);
  add(packed.size(d + 2), packed.stride(d + 2), column * r);
  add(r, channel, column);
  const kernels::Array small{packed->data, packed.dtype(), p.ndim, p.sizes, p.strides};
  const kernels::Array large{spread->data, spread.dtype(), s.ndim, s.sizes, s.strides};
  const Launch launch(packed, packed.numel() / 2);
  kernels::copy(packed->device).copy(to_spread ? large : small, to_spread ? small : large);
}

Spec with_last(const Tensor& input, int64_t channels, int64_t height, int64_t width) {
  Spec spec(input.dtype(), input->device);
  for (int64_t d = 0; d + 3 < input.dim(); ++d) spec.add_dim(input.size(d));
  spec.add_dim(channels);
  spec.add_dim(height);
  spec.add_dim(width);
  if (is_channels_last(input)) spec.in_format(MemoryFormat::ChannelsLast);
  return spec;
}

}  // namespace

namespace rule {

Spec pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  const int64_t r = upscale_factor, d = input.dim() - 3;
  check_image("pixel_shuffle", input, "upscale_factor", r);
  const int64_t channels = input.size(d);
  RG_CHECK(channels % (r * r) == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of ",
           "upscale_factor, but input.size(-3)=", channels, " is not divisible by ", r * r);
  return with_last(input, channels / (r * r), input.size(d + 1) * r, input.size(d + 2) * r);
}

Spec pixel_unshuffle(const Tensor& input, int64_t downscale_factor) {
  const int64_t r = downscale_factor, d = input.dim() - 3;
  check_image("pixel_unshuffle", input, "downscale_factor", r);
  const int64_t height = input.size(d + 1), width = input.size(d + 2);
  RG_CHECK(height % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=", height,
           " is not divisible by ", r);
  RG_CHECK(width % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=", width,
           " is not divisible by ", r);
  return with_last(input, input.size(d) * r * r, height / r, width / r);
}

}  // namespace rule

namespace compute {

void pixel_shuffle(const Tensor& input, int64_t upscale_factor, const Tensor& out) { move_pixels(input, out, upscale_factor, true); }
void pixel_unshuffle(const Tensor& input, int64_t downscale_factor, const Tensor& out) { move_pixels(out, input, downscale_factor, false); }

}  // namespace compute

namespace composite {

Tensor channel_shuffle(const Tensor& input, int64_t groups) {
  RG_CHECK(input.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", input.sizes());
  RG_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  const int64_t channels = input.size(1);
  RG_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels, " channels and ", groups, " groups.");
  const bool last = is_channels_last(input);
  const Tensor x = last ? ops::permute(input, ints({0, 2, 3, 1})) : input;
  const int64_t d = last ? 3 : 1;
  const Tensor parts = ops::transpose(ops::unflatten(x, d, ints({groups, channels / groups})), d, d + 1);
  const Tensor out = ops::view(ops::clone_format(parts, MemoryFormat::Contiguous), x.sizes());
  return last ? ops::permute(out, ints({0, 3, 1, 2})) : out;
}

}  // namespace composite
}  // namespace retrograd
