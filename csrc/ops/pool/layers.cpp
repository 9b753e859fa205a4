// The poolings of programs over those of images and volumes: signals, whose images have one row, and results without places.
#include "autograd/history.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/pool/pool.h"

namespace retrograd::composite {
namespace {

void check_signal(const char* op, const Tensor& self) {
  RG_CHECK(self.dim() == 2 || self.dim() == 3, "Expected 2 to 3 dimensions, but got ", self.dim(),
           "-dimensional tensor for argument #1 'self' (while checking arguments for ", op, ")");
}

// A number for the one dimension, as those of an image of one row.
struct OneRow {
  int64_t values[2];
  operator IntSpan() const { return {values, 2}; }
};
OneRow one_row(const char* op, const char* name, IntSpan given, int64_t above) {
  RG_CHECK(given.size() == 1, op, "() argument '", name, "' should contain one int (got ", given.size(), ")");
  return {{above, given[0]}};
}
OneRow stride_of(const char* op, IntSpan kernel, OptInts stride) {
  const bool given = stride && !stride->empty();
  return one_row(op, given ? "stride" : "kernel_size", given ? *stride : kernel, 1);
}

Tensor image_of(const Tensor& signal) { return ops::unsqueeze(signal, -2); }
Tensor signal_of(const Tensor& image) { return ops::squeeze_dim(image, -2); }

// The words of max_pool1d, which has no indices to give.
void check_max_pool1d(const Tensor& self, IntSpan kernel, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  const auto one = [](IntSpan given, const char* name, const char* words) {
    RG_CHECK(given.size() == 1, "max_pool1d() ", name, " must be ", words, " of size 1 but got size ", given.size());
    return given[0];
  };
  RG_CHECK((self.dim() == 2 || self.dim() == 3) && self.size(-1) > 0 && self.size(-2) > 0,
           "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:", self.sizes());
  const int64_t k = one(kernel, "kernel_size", "an int, list of ints or tuple of ints");
  const int64_t s = stride && !stride->empty() ? one(*stride, "stride", "None, an int, list of ints, or tuple of ints") : k;
  const int64_t p = one(padding, "padding", "an int, list of ints, or tuple of ints");
  const int64_t d = one(dilation, "dilation", "an int, list of ints or tuple of ints");
  RG_CHECK(k > 0, "max_pool1d() kernel_size must be greater than zero, but got ", k);
  RG_CHECK(s > 0, "max_pool1d() stride must be greater than zero, but got ", s);
  RG_CHECK(p >= 0, "max_pool1d() padding must be non-negative, but got ", p);
  RG_CHECK(p <= k / 2, "max_pool1d() padding should be at most half of kernel size, but got padding=", p, " and kernel_size=", k);
  RG_CHECK(d > 0, "max_pool1d() dilation must be greater than zero, but got ", d);
  const __int128 room = static_cast<__int128>(self.size(-1)) + 2 * static_cast<__int128>(p) - static_cast<__int128>(d) * (k - 1) - 1;
  RG_CHECK(room + (ceil_mode ? s - 1 : 0) >= 0, "max_pool1d() Invalid computed output size: 0");
}

}  // namespace

std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding,
                                                   IntSpan dilation, bool ceil_mode) {
  check_signal("max_pool1d", self);
  const char* op = "max_pool1d";
  const OneRow k = one_row(op, "kernel_size", kernel_size, 1), s = stride_of(op, kernel_size, stride);
  const OneRow p = one_row(op, "padding", padding, 0), d = one_row(op, "dilation", dilation, 1);
  const auto [values, places] = ops::max_pool2d_with_indices(image_of(self), k, IntSpan(s), p, d, ceil_mode);
  return {signal_of(values), signal_of(places)};
}

Tensor max_pool1d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  check_max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode);
  const OneRow k{{1, kernel_size[0]}}, s = stride_of("max_pool1d", kernel_size, stride), p{{0, padding[0]}}, d{{1, dilation[0]}};
  // Few signals are the rows of one image for each sample: no views of them, but where PyTorch has nodes of views.
  const bool records = thread_state.grad_mode && requires_grad(self), few = self.numel() > 0 && self.numel() <= 256;
  if (!records && few && self.dim() == 3) return std::get<0>(ops::max_pool2d_with_indices(self, k, IntSpan(s), p, d, ceil_mode));
  return signal_of(std::get<0>(ops::max_pool2d_with_indices(image_of(self), k, IntSpan(s), p, d, ceil_mode)));
}

Tensor max_pool2d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  return std::get<0>(ops::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}
Tensor max_pool3d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  return std::get<0>(ops::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

Tensor avg_pool1d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad) {
  check_signal("avg_pool1d", self);
  const char* op = "avg_pool1d";
  const OneRow k = one_row(op, "kernel_size", kernel_size, 1), s = stride_of(op, kernel_size, stride),
               p = one_row(op, "padding", padding, 0);
  return signal_of(ops::avg_pool2d(image_of(self), k, IntSpan(s), p, ceil_mode, count_include_pad, std::nullopt));
}

Tensor adaptive_avg_pool2d(const Tensor& self, IntSpan output_size) {
  if (output_size.size() != 2 || output_size[0] != 1 || output_size[1] != 1) return ops::_adaptive_avg_pool2d(self, output_size);
  return ops::mean_dim(self, ints({-1, -2}), true, std::nullopt);
}
Tensor adaptive_avg_pool3d(const Tensor& self, IntSpan output_size) {
  if (output_size.size() != 3 || output_size[0] != 1 || output_size[1] != 1 || output_size[2] != 1)
    return ops::_adaptive_avg_pool3d(self, output_size);
  return ops::mean_dim(self, ints({-1, -2, -3}), true, std::nullopt);
}
Tensor adaptive_avg_pool1d(const Tensor& self, IntSpan output_size) {
  check_signal("adaptive_avg_pool1d", self);
  return signal_of(adaptive_avg_pool2d(image_of(self), one_row("adaptive_avg_pool1d", "output_size", output_size, 1)));
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, IntSpan output_size) {
  check_signal("adaptive_max_pool1d", self);
  const OneRow size = one_row("adaptive_max_pool1d", "output_size", output_size, 1);
  for (int64_t d = self.dim() - 2; d < self.dim(); ++d)
    RG_CHECK(self.size(d) > 0, "adaptive_max_pool1d(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ",
             self.sizes(), " with dimension ", d, " being empty");
  const auto [values, places] = ops::adaptive_max_pool2d(image_of(self), size);
  return {signal_of(values), signal_of(places)};
}

}  // namespace retrograd::composite
