// Layer normalisation, gates and padding.
#include "kernels/norm.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/nn/nn.h"

namespace retrograd {
namespace {

std::string star_shape(IntSpan shape) {
  std::string text = "[*";
  for (const int64_t s : shape) text += str_cat(", ", s);
  return text + "]";
}

}  // namespace

Rows layer_norm_rows(const Tensor& input, IntSpan normalized_shape) {
  RG_CHECK(!normalized_shape.empty(),
           "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
           "normalized_shape = []");
  const int64_t outer = input.dim() - static_cast<int64_t>(normalized_shape.size());
  Rows out;
  bool match = outer >= 0;
  for (int64_t d = 0; match && d < input.dim(); ++d) {
    if (d < outer) {
      out.rows *= input.size(d);
    } else {
      out.n *= input.size(d);
      match = input.size(d) == normalized_shape[static_cast<size_t>(d - outer)];
    }
  }
  RG_CHECK(match, "Given normalized_shape=", normalized_shape, ", expected input with shape ", star_shape(normalized_shape),
           ", but got input of size", input.sizes());
  return out;
}

namespace impl {

std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& self, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias,
                                                     double eps) {
  const Rows r = layer_norm_rows(self, normalized_shape);
  if (!is_floating(self.dtype())) fail_not_implemented("LayerNormKernelImpl", self.dtype());
  const auto check = [&](const Tensor& t, const char* name) {
    RG_CHECK(same_sizes(t.sizes(), normalized_shape), "Expected ", name, " to be of same shape as normalized_shape, but got ", name,
             " of shape ", t.sizes(), " and normalized_shape = ", normalized_shape);
    RG_CHECK(t.dtype() == self.dtype(), "mixed dtype (CPU): expect parameter to have scalar type of ", dtype_title(self.dtype()));
    check_same_device(self.get(), t.get(), "layer_norm");
  };
  if (weight) check(weight, "weight");
  if (bias) check(bias, "bias");
  int64_t sizes[kMaxDims];
  const int64_t outer = self.dim() - static_cast<int64_t>(normalized_shape.size());
  for (int64_t d = 0; d < self.dim(); ++d) sizes[d] = d < outer ? self.size(d) : 1;
  const IntSpan stat_sizes{sizes, static_cast<size_t>(self.dim())};
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  Tensor mean = empty(stat_sizes, self.dtype(), self.device()), rstd = empty(stat_sizes, self.dtype(), self.device());
  if (is_meta(out)) return {std::move(out), std::move(mean), std::move(rstd)};
  if (out.numel() == 0) {
    fill_data(mean, 0);
    fill_data(rstd, 0);
    return {std::move(out), std::move(mean), std::move(rstd)};
  }
  const Tensor in = contiguous_data(self);
  const Tensor w = weight ? contiguous_data(weight) : Tensor(), b = bias ? contiguous_data(bias) : Tensor();
  const Launch launch(self, self.numel());
  kernels::norm(self->device)
      .layer_norm(self.dtype(), r.rows, r.n, in->data, w ? w->data : nullptr, b ? b->data : nullptr, eps, out->data, mean->data,
                  rstd->data);
  return {std::move(out), std::move(mean), std::move(rstd)};
}

std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(const Tensor& grad, const Tensor& self, IntSpan normalized_shape,
                                                              const Tensor& mean, const Tensor& rstd, const Tensor& weight, bool needs_self,
                                                              bool needs_weight, bool needs_bias) {
  const Rows r = layer_norm_rows(self, normalized_shape);
  if (!is_floating(self.dtype())) fail_not_implemented("LayerNormBackwardKernelImpl", self.dtype());
  RG_CHECK(same_sizes(grad.sizes(), self.sizes()), "native_layer_norm_backward: expected a gradient of shape ", self.sizes(), ", got ",
           grad.sizes());
  RG_CHECK(!weight || (same_sizes(weight.sizes(), normalized_shape) && weight.dtype() == self.dtype()),
           "native_layer_norm_backward: expected a weight of shape ", normalized_shape, " with the dtype of the input");
  for (const Tensor* t : {&mean, &rstd})
    RG_CHECK(t->numel() == r.rows && t->dtype() == self.dtype(),
             "native_layer_norm_backward: expected a mean and a deviation for each of the ", r.rows, " rows, with the dtype of the input");
  const auto make = [&](bool wanted, IntSpan sizes) { return wanted ? empty(sizes, self.dtype(), self.device()) : Tensor(); };
  const auto data = [](const Tensor& t) { return t ? t->data : nullptr; };
  Tensor grad_self = make(needs_self, self.sizes()), grad_weight = make(needs_weight, normalized_shape),
         grad_bias = make(needs_bias, normalized_shape);
  if (is_meta(self)) return {std::move(grad_self), std::move(grad_weight), std::move(grad_bias)};
  if (self.numel() == 0) {
    for (const Tensor* t : {&grad_weight, &grad_bias})
      if (*t) fill_data(*t, 0);
    return {std::move(grad_self), std::move(grad_weight), std::move(grad_bias)};
  }
  const Tensor dy = contiguous_data(cast_data(grad, self.dtype())), x = contiguous_data(self), m = contiguous_data(mean),
               d = contiguous_data(rstd), w = weight ? contiguous_data(weight) : Tensor();
  const Launch launch(self, self.numel() * 2);
  kernels::norm(self->device)
      .layer_norm_backward(self.dtype(), r.rows, r.n, dy->data, x->data, data(w), m->data, d->data, data(grad_self), data(grad_weight),
                           data(grad_bias));
  return {std::move(grad_self), std::move(grad_weight), std::move(grad_bias)};
}

Tensor glu(const Tensor& self, int64_t dim) {
  RG_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  RG_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", dim, " is size ", size);
  if (!is_floating(self.dtype())) fail_not_implemented("glu_cpu", self.dtype());
  return mul(slice(self, dim, 0, size / 2, 1), sigmoid(slice(self, dim, size / 2, size, 1)));
}

Tensor constant_pad_nd(const Tensor& self, IntSpan pad, Scalar value) {
  const int64_t ndim = self.dim(), padded = static_cast<int64_t>(pad.size()) / 2;
  RG_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  RG_CHECK(padded <= ndim, "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ", pad.size(),
           " while the input has ", ndim, " dimensions.");
  // What is copied starts `skip` elements into the input and `at` elements into the result.
  int64_t sizes[kMaxDims], kept[kMaxDims], skip = 0, at[kMaxDims];
  for (int64_t d = 0; d < ndim; ++d) {
    const int64_t i = ndim - 1 - d, size = self.size(d);
    const int64_t before = i < padded ? pad[static_cast<size_t>(2 * i)] : 0, after = i < padded ? pad[static_cast<size_t>(2 * i + 1)] : 0;
    sizes[d] = size + before + after;
    RG_CHECK(sizes[d] >= 0, "narrow(): length must be non-negative. The input size ", size, ", plus negative padding ", before, " and ",
             after, " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
    kept[d] = std::max<int64_t>(0, size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
    skip += before < 0 ? -before * self.stride(d) : 0;
    at[d] = std::max<int64_t>(before, 0);
  }
  const IntSpan shape{sizes, static_cast<size_t>(ndim)}, inner{kept, static_cast<size_t>(ndim)};
  Tensor out = empty_in(shape, apparent_format(self.get()), self.dtype(), self.device());
  if (!is_meta(out)) fill_data(out, value);
  if (checked_numel(inner) == 0 || is_meta(out)) return out;
  int64_t offset = 0;
  for (int64_t d = 0; d < ndim; ++d) offset += at[d] * out.stride(d);
  copy_data(alias_as(out, inner, out.strides(), offset), alias_as(self, inner, self.strides(), self->offset() + skip));
  return out;
}

}  // namespace impl

namespace composite {

Tensor layer_norm(const Tensor& self, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias, double eps, bool) {
  return std::get<0>(ops::native_layer_norm(self, normalized_shape, weight, bias, eps));
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  RG_CHECK(self.dtype() == weight.dtype(), "prelu: Type promoting not supported. Got ", dtype_title(self.dtype()), " and ",
           dtype_title(weight.dtype()));
  RG_CHECK(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = ", weight.dim());
  if (weight.numel() == 1) return ops::_prelu_kernel(self, weight.dim() > self.dim() ? ops::reshape(weight, {}) : weight);
  RG_CHECK(self.dim() > 0, "Not allow zero-dim input tensor.");
  const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
  RG_CHECK(channels == weight.numel(), "Mismatch of parameter numbers and input channel size. Found parameter numbers = ", weight.numel(),
           " and channel size = ", channels, ".");
  if (self.dim() <= 2) return ops::_prelu_kernel(self, weight);
  int64_t sizes[kMaxDims];
  for (int64_t d = 1; d < self.dim(); ++d) sizes[d - 1] = d == 1 ? channels : 1;
  return ops::_prelu_kernel(self, ops::reshape(weight, {sizes, static_cast<size_t>(self.dim() - 1)}));
}

}  // namespace composite
}  // namespace retrograd
