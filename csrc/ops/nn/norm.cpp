// Layer normalisation, gates and padding.
#include "kernels/norm.h"
#include "native_nn.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/nn/nn.h"

namespace retrograd {
namespace {

std::string star_shape(IntSpan shape) {
  std::string text = "[*";
  for (const int64_t s : shape) text += str_cat(", ", s);
  return text + "]";
}

// How many rows of normalized_shape there are; throws when it does not fit.
int64_t check_rows(const Tensor& input, IntSpan normalized_shape) {
  RG_CHECK(!normalized_shape.empty(),
           "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
           "normalized_shape = []");
  const int64_t outer = input.dim() - static_cast<int64_t>(normalized_shape.size());
  int64_t rows = 1;
  bool match = outer >= 0;
  for (int64_t d = 0; match && d < input.dim(); ++d) {
    if (d < outer) {
      rows *= input.size(d);
    } else {
      match = input.size(d) == normalized_shape[static_cast<size_t>(d - outer)];
    }
  }
  RG_CHECK(match, "Given normalized_shape=", normalized_shape, ", expected input with shape ", star_shape(normalized_shape),
           ", but got input of size", input.sizes());
  return rows;
}

// What is added before and after dim d, the last dim first.
std::pair<int64_t, int64_t> padding_of(IntSpan pad, int d, int ndim) {
  const auto i = static_cast<size_t>(2 * (ndim - 1 - d));
  return i < pad.size() ? std::pair(pad[i], pad[i + 1]) : std::pair<int64_t, int64_t>(0, 0);
}

}  // namespace

namespace rule {

std::array<Spec, 3> native_layer_norm(const Tensor& self, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias, double) {
  check_rows(self, normalized_shape);
  if (!is_floating(self.dtype())) fail_not_implemented("LayerNormKernelImpl", self.dtype());
  const auto check = [&](const Tensor& t, const char* name) {
    RG_CHECK(same_sizes(t.sizes(), normalized_shape), "Expected ", name, " to be of same shape as normalized_shape, but got ", name,
             " of shape ", t.sizes(), " and normalized_shape = ", normalized_shape);
    check_same_device(self.get(), t.get(), "layer_norm");
    if (t.dtype() == self.dtype()) return;
    RG_CHECK(self.dtype() != DType::Float64, "mixed dtype (CPU): all inputs must share same datatype.");
    fail(ErrorKind::Runtime, "mixed dtype (CPU): expect parameter to have scalar type of Float");
  };
  if (weight) check(weight, "weight");
  if (bias) check(bias, "bias");
  Spec each(self.dtype(), self->device);
  const int64_t outer = self.dim() - static_cast<int64_t>(normalized_shape.size());
  for (int d = 0; d < self->ndim; ++d) each.add_dim(d < outer ? self->size(d) : 1);
  return {Spec::of(self), each, each};
}

std::array<Spec, 3> native_layer_norm_backward(const Tensor& grad, const Tensor& self, IntSpan normalized_shape, const Tensor& mean,
                                               const Tensor& rstd, const Tensor& weight, bool needs_self, bool needs_weight,
                                               bool needs_bias) {
  const int64_t rows = check_rows(self, normalized_shape);
  if (!is_floating(self.dtype())) fail_not_implemented("LayerNormBackwardKernelImpl", self.dtype());
  RG_CHECK(same_sizes(grad.sizes(), self.sizes()), "native_layer_norm_backward: expected a gradient of shape ", self.sizes(), ", got ",
           grad.sizes());
  RG_CHECK(!weight || (same_sizes(weight.sizes(), normalized_shape) && weight.dtype() == self.dtype()),
           "native_layer_norm_backward: expected a weight of shape ", normalized_shape, " with the dtype of the input");
  for (const Tensor* t : {&mean, &rstd})
    RG_CHECK(t->numel() == rows && t->dtype() == self.dtype(),
             "native_layer_norm_backward: expected a mean and a deviation for each of the ", rows, " rows, with the dtype of the input");
  for (const Tensor* t : {&grad, &mean, &rstd, &weight})
    if (*t) check_same_device(self.get(), t->get(), "native_layer_norm_backward");
  const auto parameter = [&](bool wanted) { return wanted ? Spec(normalized_shape, self.dtype(), self->device) : Spec(); };
  return {needs_self ? Spec::of(self) : Spec(), parameter(needs_weight), parameter(needs_bias)};
}

Spec constant_pad_nd(const Tensor& self, IntSpan pad, Scalar) {
  RG_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  RG_CHECK(pad.size() / 2 <= self->ndim, "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
           pad.size(), " while the input has ", self.dim(), " dimensions.");
  Spec spec(self.dtype(), self->device);
  for (int d = 0; d < self->ndim; ++d) {
    const auto [before, after] = padding_of(pad, d, self->ndim);
    const int64_t size = self->size(d) + before + after;
    RG_CHECK(size >= 0, "narrow(): length must be non-negative. The input size ", self->size(d), ", plus negative padding ", before,
             " and ", after, " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
    spec.add_dim(size);
  }
  spec.in_format(apparent_format(self.get()));
  return spec;
}

}  // namespace rule

namespace compute {

void native_layer_norm(const Tensor& self, IntSpan, const Tensor& weight, const Tensor& bias, double eps, const Tensor& output,
                       const Tensor& mean, const Tensor& rstd) {
  if (self.numel() == 0) {  // rows of no elements
    fill_data(mean, 0);
    fill_data(rstd, 0);
    return;
  }
  const Tensor in = contiguous_data(self);
  const Tensor w = weight ? contiguous_data(weight) : Tensor(), b = bias ? contiguous_data(bias) : Tensor();
  const int64_t rows = mean.numel();
  const Launch launch(self, self.numel());
  kernels::norm(self->device)
      .layer_norm(self.dtype(), rows, self.numel() / rows, in->data, w ? w->data : nullptr, b ? b->data : nullptr, eps, output->data,
                  mean->data, rstd->data);
}

void native_layer_norm_backward(const Tensor& grad, const Tensor& self, IntSpan, const Tensor& mean, const Tensor& rstd,
                                const Tensor& weight, bool, bool, bool, const Tensor& grad_self, const Tensor& grad_weight,
                                const Tensor& grad_bias) {
  if (self.numel() == 0) {
    for (const Tensor* t : {&grad_weight, &grad_bias})
      if (*t) fill_data(*t, 0);
    return;
  }
  const auto data = [](const Tensor& t) { return t ? t->data : nullptr; };
  const Tensor dy = contiguous_data(cast_data(grad, self.dtype())), x = contiguous_data(self), m = contiguous_data(mean),
               d = contiguous_data(rstd), w = weight ? contiguous_data(weight) : Tensor();
  const int64_t rows = mean.numel();
  const Launch launch(self, self.numel() * 2);
  kernels::norm(self->device)
      .layer_norm_backward(self.dtype(), rows, self.numel() / rows, dy->data, x->data, data(w), m->data, d->data, data(grad_self),
                           data(grad_weight), data(grad_bias));
}

void constant_pad_nd(const Tensor& self, IntSpan pad, Scalar value, const Tensor& out) {
  fill_data(out, value);
  Shape kept;
  int64_t from = self->offset(), to = 0;
  for (int d = 0; d < self->ndim; ++d) {  // amounts below 0 cut
    const auto [before, after] = padding_of(pad, d, self->ndim);
    kept.sizes[kept.ndim++] = std::max<int64_t>(0, self->size(d) + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
    from -= std::min<int64_t>(before, 0) * self->stride(d);
    to += std::max<int64_t>(before, 0) * out->stride(d);
  }
  if (checked_numel(kept) != 0) copy_data(alias_as(out, kept, out.strides(), to), alias_as(self, kept, self.strides(), from));
}

}  // namespace compute

namespace impl {

Tensor glu(const Tensor& self, int64_t dim) {
  RG_CHECK(self.dim() > 0, "glu does not support 0-dimensional tensors");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  RG_CHECK(size % 2 == 0, "Halving dimension must be even, but dimension ", dim, " is size ", size);
  if (!is_floating(self.dtype())) fail_not_implemented("glu_cpu", self.dtype());
  return mul(slice(self, dim, 0, size / 2, 1), sigmoid(slice(self, dim, size / 2, size, 1)));
}

}  // namespace impl

namespace composite {

Tensor layer_norm(const Tensor& self, IntSpan normalized_shape, const Tensor& weight, const Tensor& bias, double eps, bool) {
  const auto is_float = [](const Tensor& t) { return t && t.dtype() == DType::Float32; };
  // 16-bit floats beside Float parameters
  if (is_floating(self.dtype()) && itemsize(self.dtype()) == 2 && (is_float(weight) || is_float(bias))) {
    const Tensor wide = ops::_to_copy(self, DType::Float32, {});
    return ops::_to_copy(std::get<0>(ops::native_layer_norm(wide, normalized_shape, weight, bias, eps)), self.dtype(), {});
  }
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
