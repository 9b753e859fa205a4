// Images in another size: one op for all modes and its transpose, under the names that PyTorch has for them.
#include "kernels/image.h"

#include <cmath>

#include "native_image.h"
#include "ops/checks.h"

namespace retrograd {
namespace {

using kernels::Resampling;
using kernels::ResizeShape;

struct Scales { double depth, height, width; };

const char* mode_name(Resampling mode) {
  static constexpr const char* kNames[] = {"upsample_nearest",      "_upsample_nearest_exact", "upsample_linear",
                                           "upsample_bicubic",      "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
                                           "_upsample_lanczos2d_aa"};
  return kNames[static_cast<int>(mode)];
}

Resampling mode_of(int64_t mode) {
  RG_CHECK(mode >= 0 && mode <= static_cast<int64_t>(Resampling::SmoothLanczos), "there is no way of interpolating with number ", mode);
  return static_cast<Resampling>(mode);
}

// "(H: 4, W: 5)"
std::string named_sizes(IntSpan sizes) {
  std::string text = "(";
  for (size_t d = 0; d < sizes.size(); ++d) text += str_cat(d ? ", " : "", std::string(1, "DHW"[3 - sizes.size() + d]), ": ", sizes[d]);
  return text + ")";
}

bool all_positive(IntSpan sizes) {
  for (const int64_t size : sizes)
    if (size <= 0) return false;
  return true;
}

// `input` and `output` are the sizes of images with batch and channels.
void check_sizes(IntSpan input, IntSpan spatial, IntSpan output) {
  RG_CHECK(all_positive(spatial) && all_positive(output), "Input and output sizes should be greater than 0, but got input ",
           named_sizes(spatial), output.size() == 1 ? " and output " : " output ", named_sizes(output));
  RG_CHECK(all_positive(input.subspan(1)), "Non-empty ", input.size(), "D data tensor expected but got a tensor with sizes ", input);
  for (size_t d = 0; d < output.size(); ++d)
    RG_CHECK(output[d] <= INT32_MAX && spatial[d] <= INT32_MAX, "interpolate: ", std::max(output[d], spatial[d]),
             " elements along a dimension are too many");
}

void check_resize(IntSpan input, IntSpan output) {
  const size_t dims = output.size();
  RG_CHECK(dims >= 1 && dims <= 3 && input.size() == dims + 2, "_interpolate: expected images [N, C, ...] with as many dimensions as ",
           output, " has, got ", input);
  check_sizes(input, input.last(dims), output);
}

bool is_nearest(Resampling mode) { return mode <= Resampling::NearestExact; }

void check_dtype(const Tensor& t, Resampling mode, int64_t dims) {
  if (is_floating(t.dtype())) return;
  if (t.dtype() == DType::UInt8 && (is_nearest(mode) || dims == 2)) return;
  fail_not_implemented(mode_name(mode), t.dtype());
}

Spec spec_of(const Tensor& like, IntSpan sizes) {
  Spec spec(sizes, like.dtype(), like->device);
  const MemoryFormat format = apparent_format(like.get());
  if (format != MemoryFormat::Contiguous) spec.in_format(format);
  return spec;
}

ResizeShape shape_of(IntSpan input, IntSpan output, Resampling mode, bool align_corners, const Scales& scales, bool channels_last) {
  ResizeShape s{channels_last ? input[0] : input[0] * input[1],
                channels_last ? input[1] : 1,
                {1, 1, 1},
                {1, 1, 1},
                {scales.depth, scales.height, scales.width},
                mode,
                align_corners};
  const size_t dims = input.size() - 2;
  const bool nearest = mode == Resampling::Nearest && dims == 2;
  for (size_t d = 0; d < dims; ++d) {
    const size_t at = 3 - dims + d;
    s.from[at] = input[2 + d];
    s.to[at] = output[2 + d];
    // Where the sizes say what to do, PyTorch does not look at the scale.
    const bool stays = s.from[at] == s.to[at] && (nearest || mode == Resampling::Linear || mode >= Resampling::SmoothLinear);
    if (stays || (nearest && s.to[at] == 2 * s.from[at])) s.scale[at] = 0;
  }
  return s;
}

// Nanoseconds, about.
int64_t work_of(const Tensor& a, const Tensor& b) { return a.numel() + b.numel(); }

// ---- the ops of PyTorch ----

// Without a size the scales say which.
Tensor resized(const Tensor& self, IntSpan output_size, size_t dims, Resampling mode, bool align_corners, std::optional<double> depth,
               std::optional<double> height, std::optional<double> width) {
  const bool scaled = output_size.empty() && width && (dims < 2 || height) && (dims < 3 || depth);
  RG_CHECK(scaled || output_size.size() == dims, "It is expected output_size equals to ", dims, ", but got size ", output_size.size());
  RG_CHECK(static_cast<size_t>(self.dim()) == dims + 2, "It is expected input_size equals to ", dims + 2, ", but got size ", self.dim());
  const std::optional<double> scales[3] = {depth, height, width};
  int64_t sizes[3];
  if (scaled) {
    for (size_t d = 0; d < dims; ++d) {
      const double size = static_cast<double>(self.size(static_cast<int64_t>(d) + 2)) * *scales[3 - dims + d];
      RG_CHECK(std::abs(size) < 0x1p63,
               "value cannot be converted to type int64_t without overflow: ", self.size(static_cast<int64_t>(d) + 2), " times ",
               *scales[3 - dims + d], " is no size");
      sizes[d] = static_cast<int64_t>(size);
    }
    output_size = {sizes, dims};
  }
  return impl::_interpolate(self, output_size, static_cast<int64_t>(mode), align_corners, depth.value_or(0), height.value_or(0),
                            width.value_or(0));
}

}  // namespace

namespace rule {

Spec _interpolate(const Tensor& self, IntSpan output_size, int64_t mode, bool, double, double, double) {
  check_resize(self.sizes(), output_size);
  check_dtype(self, mode_of(mode), self.dim() - 2);
  int64_t sizes[5] = {self.size(0), self.size(1)};
  copy_dims(sizes + 2, output_size.data(), output_size.size());
  return spec_of(self, {sizes, output_size.size() + 2});
}

Spec _interpolate_backward(const Tensor& grad, IntSpan input_size, int64_t mode, bool, double, double, double) {
  const size_t dims = input_size.size();
  RG_CHECK(
      dims >= 3 && dims <= 5 && static_cast<size_t>(grad.dim()) == dims && grad.size(0) == input_size[0] && grad.size(1) == input_size[1],
      "_interpolate_backward: expected a gradient of images of size ", input_size, ", got ", grad.sizes());
  check_sizes(input_size, input_size.subspan(2), grad.sizes().subspan(2));
  mode_of(mode);
  if (!is_floating(grad.dtype())) fail_not_implemented("_interpolate_backward", grad.dtype());
  return spec_of(grad, input_size);
}

}  // namespace rule

namespace compute {

void _interpolate(const Tensor& self, IntSpan, int64_t mode, bool align_corners, double depth, double height, double width,
                  const Tensor& out) {
  const MemoryFormat format = apparent_format(self.get());
  const Tensor in = in_format(self, format);
  const ResizeShape s =
      shape_of(self.sizes(), out.sizes(), mode_of(mode), align_corners, {depth, height, width}, format != MemoryFormat::Contiguous);
  const Launch launch(out, work_of(in, out));
  kernels::image(out->device).resize(out.dtype(), s, in->data, out->data);
}

void _interpolate_backward(const Tensor& grad, IntSpan input_size, int64_t mode, bool align_corners, double depth, double height,
                           double width, const Tensor& out) {
  const MemoryFormat format = apparent_format(grad.get());
  const Tensor in = in_format(grad, format);
  const ResizeShape s =
      shape_of(input_size, grad.sizes(), mode_of(mode), align_corners, {depth, height, width}, format != MemoryFormat::Contiguous);
  const Launch launch(out, work_of(in, out));
  kernels::image(out->device).resize_backward(out.dtype(), s, in->data, out->data);
}

}  // namespace compute

namespace impl {

using Scale = std::optional<double>;

#define RG_NEAREST(prefix, mode)                                                                               \
  Tensor prefix##1d(const Tensor& self, IntSpan output_size, Scale scales) {                                   \
    return resized(self, output_size, 1, Resampling::mode, false, {}, {}, scales);                             \
  }                                                                                                            \
  Tensor prefix##2d(const Tensor& self, IntSpan output_size, Scale scales_h, Scale scales_w) {                 \
    return resized(self, output_size, 2, Resampling::mode, false, {}, scales_h, scales_w);                     \
  }                                                                                                            \
  Tensor prefix##3d(const Tensor& self, IntSpan output_size, Scale scales_d, Scale scales_h, Scale scales_w) { \
    return resized(self, output_size, 3, Resampling::mode, false, scales_d, scales_h, scales_w);               \
  }
#define RG_IMAGE(name, mode)                                                                                 \
  Tensor name(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_h, Scale scales_w) { \
    return resized(self, output_size, 2, Resampling::mode, align_corners, {}, scales_h, scales_w);           \
  }

RG_NEAREST(upsample_nearest, Nearest)
RG_NEAREST(_upsample_nearest_exact, NearestExact)
RG_IMAGE(upsample_bilinear2d, Linear)
RG_IMAGE(upsample_bicubic2d, Cubic)
RG_IMAGE(_upsample_bilinear2d_aa, SmoothLinear)
RG_IMAGE(_upsample_bicubic2d_aa, SmoothCubic)
RG_IMAGE(_upsample_lanczos2d_aa, SmoothLanczos)

Tensor upsample_linear1d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales) {
  return resized(self, output_size, 1, Resampling::Linear, align_corners, {}, {}, scales);
}
Tensor upsample_trilinear3d(const Tensor& self, IntSpan output_size, bool align_corners, Scale scales_d, Scale scales_h, Scale scales_w) {
  return resized(self, output_size, 3, Resampling::Linear, align_corners, scales_d, scales_h, scales_w);
}

}  // namespace impl
}  // namespace retrograd
