// Padding by what is inside, and nn.functional.pad over all modes.
#include "kernels/image.h"
#include "native_image.h"
#include "ops/checks.h"
#include "ops/derivatives.h"

namespace retrograd {
namespace {

using kernels::Around;
using kernels::PadShape;

Around around_of(int64_t mode) {
  RG_CHECK(mode >= 0 && mode <= static_cast<int64_t>(Around::Circular), "there is no padding with number ", mode);
  return static_cast<Around>(mode);
}

// One axis, and the padding of it.
void check_axis(Around around, int64_t size, int64_t before, int64_t after, int64_t dim, IntSpan sizes) {
  if (around == Around::Circular) {
    const int64_t kept = size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0);
    RG_CHECK(kept >= 0, "Negative padding value is resulting in an empty dimension: padding (", before, ", ", after, ") of size ", size);
    RG_CHECK(std::max(before, after) <= kept, "Padding value causes wrapping around more than once.");
  }
  RG_CHECK(around != Around::Reflection || std::max(before, after) < size,
           "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding (", before, ", ", after,
           ") at dimension ", dim, " of input ", sizes);
}

[[noreturn]] void fail_small(IntSpan sizes, IntSpan padding) {
  std::string from, to;
  const size_t dims = padding.size() / 2;
  for (size_t d = 0; d < dims; ++d) {
    const size_t i = dims - 1 - d;
    const int64_t size = sizes[sizes.size() - dims + d];
    const std::string letter(1, "WHD"[i]);
    from += str_cat(d ? ", " : "", letter, ": ", size);
    to += str_cat(" ", letter, ": ", size + padding[2 * i] + padding[2 * i + 1]);
  }
  fail(ErrorKind::Runtime, "input (", from, ") is too small. Calculated output", to);
}

void check_pad(IntSpan sizes, IntSpan padding, Around around) {
  const size_t dims = padding.size() / 2, rank = sizes.size();
  RG_CHECK(padding.size() % 2 == 0 && dims >= 1 && dims <= 3, "a padding of ", padding.size(), " amounts is not supported");
  bool fits = rank == dims + 1 || rank == dims + 2;
  for (size_t d = rank - dims - 1; fits && d < rank && around != Around::Circular; ++d) fits = sizes[d] != 0;
  RG_CHECK(fits, "Expected ", dims + 1, "D or ", dims + 2,
           "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: ", sizes);
  bool small = false;
  for (size_t i = 0; i < dims; ++i) {
    const int64_t size = sizes[rank - 1 - i], before = padding[2 * i], after = padding[2 * i + 1];
    for (const int64_t n : {size, before, after})
      RG_CHECK(n < INT32_MAX && n > -INT32_MAX, "padding: ", n, " elements along a dimension are too many");
    check_axis(around, size, before, after, static_cast<int64_t>(rank - 1 - i), sizes);
    small |= size + before + after < 0;
  }
  if (small) fail_small(sizes, padding);
}

// The format of results: that of images with their channels last stays.
MemoryFormat pad_format(const Tensor& t, IntSpan padding, Around around) {
  const bool batched = t.dim() == static_cast<int64_t>(padding.size() / 2) + 2;
  return batched && padding.size() > 2 && around != Around::Circular ? apparent_format(t.get()) : MemoryFormat::Contiguous;
}

Spec spec_of(const Tensor& like, IntSpan sizes, IntSpan padding, Around around) {
  Spec spec(sizes, like.dtype(), like->device);
  const MemoryFormat format = pad_format(like, padding, around);
  if (format != MemoryFormat::Contiguous) spec.in_format(format);
  return spec;
}

PadShape shape_of(IntSpan sizes, IntSpan padding, Around around, bool channels_last, DType dtype) {
  PadShape s{1, is_complex(dtype) ? 2 : 1, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, around};
  const size_t dims = padding.size() / 2, rank = sizes.size();
  for (size_t d = 0; d < rank - dims; ++d) (channels_last && d == 1 ? s.inner : s.outer) *= sizes[d];
  for (size_t i = 0; i < dims; ++i) {
    s.from[2 - i] = sizes[rank - 1 - i];
    s.before[2 - i] = padding[2 * i];
    s.after[2 - i] = padding[2 * i + 1];
  }
  return s;
}

DType part_dtype(DType dtype) { return is_complex(dtype) ? real_dtype(dtype) : dtype; }

Tensor padded(const Tensor& self, IntSpan padding, size_t dims, Around around) {
  RG_CHECK(padding.size() == 2 * dims, "padding size is expected to be ", 2 * dims, ", but got: ", padding.size());
  return impl::_pad_around(self, padding, static_cast<int64_t>(around));
}

}  // namespace

namespace rule {

Spec _pad_around(const Tensor& self, IntSpan padding, int64_t mode) {
  const Around around = around_of(mode);
  check_pad(self.sizes(), padding, around);
  int64_t sizes[5];
  const size_t rank = static_cast<size_t>(self.dim());
  copy_dims(sizes, self.sizes().data(), rank);
  for (size_t i = 0; 2 * i < padding.size(); ++i) sizes[rank - 1 - i] += padding[2 * i] + padding[2 * i + 1];
  return spec_of(self, {sizes, rank}, padding, around);
}

Spec _pad_around_backward(const Tensor& grad, IntSpan input_size, IntSpan padding, int64_t mode) {
  const Around around = around_of(mode);
  check_pad(input_size, padding, around);
  bool fits = static_cast<size_t>(grad.dim()) == input_size.size();
  for (size_t d = 0; fits && d < input_size.size(); ++d) {
    const size_t i = input_size.size() - 1 - d;
    const int64_t more = 2 * i < padding.size() ? padding[2 * i] + padding[2 * i + 1] : 0;
    fits = grad.size(static_cast<int64_t>(d)) == input_size[d] + more;
  }
  RG_CHECK(fits, "_pad_around_backward: a gradient of size ", grad.sizes(), " does not fit an input of size ", input_size,
           " with a padding of ", padding);
  if (!is_differentiable(grad.dtype())) fail_not_implemented("_pad_around_backward", grad.dtype());
  return spec_of(grad, input_size, padding, around);
}

}  // namespace rule

namespace compute {

void _pad_around(const Tensor& self, IntSpan padding, int64_t mode, const Tensor& out) {
  const Around around = around_of(mode);
  const MemoryFormat format = pad_format(self, padding, around);
  const Tensor in = in_format(self, format);
  const PadShape s = shape_of(self.sizes(), padding, around, format != MemoryFormat::Contiguous, self.dtype());
  const Launch launch(out, out.numel());
  kernels::image(out->device).pad(itemsize(part_dtype(self.dtype())), s, in->data, out->data);
}

void _pad_around_backward(const Tensor& grad, IntSpan input_size, IntSpan padding, int64_t mode, const Tensor& out) {
  if (grad.numel() == 0) return fill_data(out, 0);
  const Around around = around_of(mode);
  const MemoryFormat format = pad_format(grad, padding, around);
  const Tensor in = in_format(grad, format);
  const PadShape s = shape_of(input_size, padding, around, format != MemoryFormat::Contiguous, grad.dtype());
  const Launch launch(out, in.numel());
  kernels::image(out->device).pad_backward(part_dtype(grad.dtype()), s, in->data, out->data);
}

}  // namespace compute

namespace impl {

#define RG_PAD(name, dims, around) \
  Tensor name(const Tensor& self, IntSpan padding) { return padded(self, padding, dims, Around::around); }

RG_PAD(reflection_pad1d, 1, Reflection)
RG_PAD(reflection_pad2d, 2, Reflection)
RG_PAD(reflection_pad3d, 3, Reflection)
RG_PAD(replication_pad1d, 1, Replication)
RG_PAD(replication_pad2d, 2, Replication)
RG_PAD(replication_pad3d, 3, Replication)

}  // namespace impl

namespace composite {

Tensor _pad_circular(const Tensor& self, IntSpan pad) { return ops::_pad_around(self, pad, static_cast<int64_t>(Around::Circular)); }

Tensor pad(const Tensor& input, IntSpan pad, std::string_view mode, std::optional<Scalar> value) {
  const int64_t length = static_cast<int64_t>(pad.size());
  RG_CHECK(length % 2 == 0, "Padding length must be divisible by 2");
  RG_CHECK(length / 2 <= input.dim(),
           "Padding length should be less than or equal to two times the input dimension but got padding length ", length,
           " and input of dimension ", input.dim());
  if (mode == "constant") return ops::constant_pad_nd(input, pad, value.value_or(Scalar(0)));
  RG_CHECK(!value || value->to_double() == 0, "Padding mode \"", mode, "\" doesn't take in value argument");
  const bool reflects = mode == "reflect", circles = mode == "circular";
  if (!reflects && !circles && mode != "replicate") fail(ErrorKind::NotImplemented, "Unrecognised padding mode ", mode);
  if (length < 2 || length > 6 || input.dim() < length / 2 + 1 || input.dim() > length / 2 + 2)
    fail(ErrorKind::NotImplemented, "Padding size ", length, " is not supported for ", input.dim(), "D input tensor.\nWith mode='", mode,
         "' the padded dimensions, one to three, follow one for channels, or one for examples and one for channels.");
  if (circles) return _pad_circular(input, pad);
  switch (length) {
    case 2: return reflects ? ops::reflection_pad1d(input, pad) : ops::replication_pad1d(input, pad);
    case 4: return reflects ? ops::reflection_pad2d(input, pad) : ops::replication_pad2d(input, pad);
    default: return reflects ? ops::reflection_pad3d(input, pad) : ops::replication_pad3d(input, pad);
  }
}

}  // namespace composite
}  // namespace retrograd
