// matmul and linear: which product a pair of shapes asks for; and a layer as one product.
#include "autograd/history.h"
#include "native_linalg.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/lazy.h"
#include "ops/linalg/linalg.h"

namespace retrograd::composite {
namespace {

// Whether all dims but the last can be merged without a copy.
bool folds(const Tensor& t) {
  for (int64_t d = 0; d + 2 < t.dim(); ++d)
    if (t.size(d) != 1 && t.stride(d) != t.stride(d + 1) * t.size(d + 1)) return false;
  return true;
}

// [..., k] @ [k, n] or [..., k] @ [k] as one product of matrices.
Tensor folded(const Tensor& a, const Tensor& b) {
  const int64_t last = a.dim() - 1;
  int64_t rows = 1, sizes[kMaxDims];
  for (int64_t d = 0; d < last; ++d) rows *= sizes[d] = a.size(d);
  const Tensor flat = ops::reshape(a, ints({rows, a.size(last)}));
  if (b.dim() == 1) return ops::_unsafe_view(ops::mv(flat, b), {sizes, static_cast<size_t>(last)});
  const Tensor product = ops::mm(flat, b);
  sizes[last] = b.size(1);
  return ops::_unsafe_view(product, {sizes, static_cast<size_t>(last + 1)});
}

// t [..., r, c] as [batch, r, c]. Nothing is copied where strides can say it.
Tensor as_batch(const Tensor& t, const Shape& batch, int64_t count) {
  int64_t sizes[kMaxDims];
  for (int d = 0; d < batch.ndim; ++d) sizes[d] = batch.sizes[d];
  sizes[batch.ndim] = t.size(-2);
  sizes[batch.ndim + 1] = t.size(-1);
  const IntSpan whole{sizes, static_cast<size_t>(batch.ndim + 2)};
  const Tensor expanded = same_sizes(t.sizes(), whole) ? t : ops::expand(t, whole, false);
  return expanded.dim() == 3 ? expanded : ops::reshape(expanded, ints({count, t.size(-2), t.size(-1)}));
}

Tensor batched(const Tensor& self, const Tensor& other) {
  const Tensor a = self.dim() == 1 ? ops::unsqueeze(self, 0) : self;
  const Tensor b = other.dim() == 1 ? ops::unsqueeze(other, 1) : other;
  Shape batch = broadcast_shapes(a.sizes().first(static_cast<size_t>(a.dim() - 2)), b.sizes().first(static_cast<size_t>(b.dim() - 2)));
  RG_CHECK(batch.ndim + 2 <= kMaxDims, "matmul: too many dimensions");
  int64_t count = 1;
  for (int d = 0; d < batch.ndim; ++d) count *= batch.sizes[d];
  const Tensor product = ops::bmm(as_batch(a, batch, count), as_batch(b, batch, count));
  if (self.dim() > 1) batch.sizes[batch.ndim++] = self.size(-2);
  if (other.dim() > 1) batch.sizes[batch.ndim++] = other.size(-1);
  return ops::_unsafe_view(product, batch);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  const int64_t a = self.dim(), b = other.dim();
  if (RG_LIKELY(a == 2 && b == 2)) return ops::mm(self, other);
  RG_CHECK(a != 0 && b != 0, "both arguments to matmul need to be at least 1D, but they are ", a, "D and ", b, "D");
  if (a == 1 && b == 1) return ops::dot(self, other);
  if (a == 2 && b == 1) return ops::mv(self, other);
  if (a == 1 && b == 2) return ops::squeeze_dim(ops::mm(ops::unsqueeze(self, 0), other), 0);
  // A weight that wants a gradient is worth one copy of the input: its gradient is then a single product too.
  if (a > 2 && b <= 2 && (folds(self) || requires_grad(other))) return folded(self, other);
  return batched(self, other);
}

namespace {

// The shapes and dtypes of a layer. All else is left to the ops that it is made of, and their words about what does not fit.
[[gnu::cold, gnu::noinline]] bool differs(const Tensor& a, const Tensor& b) {
  return a.dtype() != b.dtype() || a.device() != b.device();  // a sample of a vmap is on meta, and says where it is from
}
inline bool is_layer(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const auto unlike = [&](const Tensor& t) {
    return RG_UNLIKELY((traits_word(t.get()) ^ traits_word(input.get())) & (kDtypeBits | kDeviceBits)) && differs(t, input);
  };
  if (unlike(weight) || input.dtype() == DType::Bool || input->ndim < 1 || weight->ndim != 2) return false;
  if (input->size(input->ndim - 1) != weight->size(1)) return false;
  return !bias || (!unlike(bias) && bias->ndim == 1 && bias->size(0) == weight->size(0));
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const int64_t dims = input.dim();
  // One product where nobody records: in a graph there are the nodes that PyTorch has.
  const bool records = thread_state.grad_mode && any_requires_grad(input, weight, bias);
  if (!records && (dims == 2 || input.is_contiguous()) && is_layer(input, weight, bias)) return ops::_linear(input, weight, bias);
  RG_CHECK(dims != 0 && weight.dim() != 0, "both arguments to linear need to be at least 1D, but they are ", dims, "D and ", weight.dim(),
           "D");
  const Tensor transposed = ops::t(weight);
  if (!bias) return matmul(input, transposed);
  if (RG_LIKELY(dims == 2)) return ops::addmm(bias, input, transposed, 1, 1);
  if (bias.dim() == 1 && weight.dim() == 2 && input.is_contiguous() && input.size(-1) == weight.size(1)) {
    int64_t rows = 1, sizes[kMaxDims];
    for (int64_t d = 0; d + 1 < dims; ++d) rows *= sizes[d] = input.size(d);
    sizes[dims - 1] = weight.size(0);
    const Tensor flat = ops::view(input, ints({rows, input.size(-1)}));
    return ops::view(ops::addmm(bias, flat, transposed, 1, 1), {sizes, static_cast<size_t>(dims)});
  }
  return matmul(input, transposed) + bias;
}

}  // namespace retrograd::composite

namespace retrograd {

Spec rule::_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  RG_CHECK(composite::is_layer(input, weight, bias),
           "_linear: expected an input [..., k], a weight [n, k] and a bias [n] of one dtype, got ", input.sizes(), ", ", weight.sizes(),
           bias ? str_cat(", ", bias.sizes()) : "");
  if (RG_LIKELY(input->ndim == 2)) return Spec(ints({input->size(0), weight->size(0)}), input.dtype(), input->device);
  Spec spec(input.dtype(), input->device);
  for (int d = 0; d + 1 < input->ndim; ++d) spec.add_dim(input->size(d));
  spec.add_dim(weight->size(0));
  return spec;
}

void compute::_linear(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& out) {
  const int64_t n = weight->size(0), k = weight->size(1);
  int64_t m = 1;
  for (int d = 0; d + 1 < input->ndim; ++d) m *= input->size(d);
  Tensor rows;  // of an input of more dims, one after the other
  if (input->ndim != 2) rows = contiguous_data(input);
  const kernels::Matrix a = rows ? kernels::Matrix{rows->data, k, 1} : matrix_of(input);
  const Launch launch(out, product_ns(out.dtype(), m, n, k));
  kernels::matmul(out->device)
      .gemm_bias(out.dtype(), m, n, k, a, matrix_of(weight, true), bias ? bias->data : nullptr, bias ? bias->stride(0) : 0,
                 {out->data, n, 1});
}

}  // namespace retrograd
