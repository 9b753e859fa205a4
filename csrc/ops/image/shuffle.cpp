// Pixels turned into channels and back, channels in another order: a view of more dims, turned and copied.
#include "core/format.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {
namespace {

// Under `split`, with these dims in the order of `turned`, in memory of its own, as `merged`. Leading dims stay as they are.
struct Turn { std::initializer_list<int64_t> split, turned, merged; };

Tensor apply(const Tensor& input, int64_t leading, const Turn& turn) {
  Shape split, order, merged;
  for (int64_t d = 0; d < leading; ++d) {
    split.sizes[split.ndim++] = merged.sizes[merged.ndim++] = input.size(d);
    order.sizes[order.ndim++] = d;
  }
  RG_CHECK(leading + static_cast<int64_t>(turn.split.size()) <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions");
  for (const int64_t n : turn.split) split.sizes[split.ndim++] = n;
  for (const int64_t d : turn.turned) order.sizes[order.ndim++] = leading + d;
  for (const int64_t n : turn.merged) merged.sizes[merged.ndim++] = n;
  return ops::view(ops::clone_format(ops::permute(ops::reshape(input, split), order), MemoryFormat::Contiguous), merged);
}

// Images with the channels last in memory stay so, at the price of one copy.
bool is_channels_last(const Tensor& t) { return t.dim() == 4 && !t.is_contiguous() && has_format(t.get(), MemoryFormat::ChannelsLast); }
Tensor channels_last(const Tensor& t) { return ops::permute(t, ints({0, 2, 3, 1})); }
Tensor channels_first(const Tensor& t) { return ops::permute(t, ints({0, 3, 1, 2})); }

void check_image(const char* name, const Tensor& input, const char* what, int64_t factor) {
  RG_CHECK(input.dim() >= 3, name, " expects input to have at least 3 dimensions, but got input with ", input.dim(), " dimension(s)");
  RG_CHECK(factor > 0, name, " expects a positive ", what, ", but got ", factor);
  RG_CHECK(factor < INT32_MAX, name, ": ", what, " is too large: ", factor);
}

}  // namespace

namespace composite {

Tensor pixel_shuffle(const Tensor& input, int64_t upscale_factor) {
  const int64_t r = upscale_factor, d = input.dim() - 3;
  check_image("pixel_shuffle", input, "upscale_factor", r);
  const int64_t channels = input.size(d), height = input.size(d + 1), width = input.size(d + 2), kept = channels / (r * r);
  RG_CHECK(channels % (r * r) == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of ",
           "upscale_factor, but input.size(-3)=", channels, " is not divisible by ", r * r);
  if (is_channels_last(input)) {
    const Turn turn{{height, width, kept, r, r}, {0, 3, 1, 4, 2}, {height * r, width * r, kept}};
    return channels_first(apply(channels_last(input), 1, turn));
  }
  return apply(input, d, {{kept, r, r, height, width}, {0, 3, 1, 4, 2}, {kept, height * r, width * r}});
}

Tensor pixel_unshuffle(const Tensor& input, int64_t downscale_factor) {
  const int64_t r = downscale_factor, d = input.dim() - 3;
  check_image("pixel_unshuffle", input, "downscale_factor", r);
  const int64_t channels = input.size(d), height = input.size(d + 1), width = input.size(d + 2), h = height / r, w = width / r;
  RG_CHECK(height % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=", height,
           " is not divisible by ", r);
  RG_CHECK(width % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=", width,
           " is not divisible by ", r);
  if (is_channels_last(input)) {
    const Turn turn{{h, r, w, r, channels}, {0, 2, 4, 1, 3}, {h, w, channels * r * r}};
    return channels_first(apply(channels_last(input), 1, turn));
  }
  return apply(input, d, {{channels, h, r, w, r}, {0, 2, 4, 1, 3}, {channels * r * r, h, w}});
}

Tensor channel_shuffle(const Tensor& input, int64_t groups) {
  RG_CHECK(input.dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", input.sizes());
  RG_CHECK(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  const int64_t channels = input.size(1);
  RG_CHECK(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels, " channels and ", groups, " groups.");
  if (is_channels_last(input)) {
    const Tensor last = channels_last(input);
    return channels_first(apply(last, 3, {{groups, channels / groups}, {1, 0}, {channels}}));
  }
  const Tensor parts = ops::transpose(ops::unflatten(input, 1, ints({groups, channels / groups})), 1, 2);
  return ops::view(ops::clone_format(parts, MemoryFormat::Contiguous), input.sizes());
}

}  // namespace composite
}  // namespace retrograd
