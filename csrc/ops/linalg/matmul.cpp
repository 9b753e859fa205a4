// matmul and linear: which product a pair of shapes asks for.
#include "autograd/history.h"
#include "ops/derivatives.h"
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

// The whole layer as one product when nobody records or listens and nothing is unusual; undefined otherwise.
Tensor linear_directly(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (thread_state.attention) return {};
  const bool noted = any_follows(input, weight, bias);
  if (noted && thread_state.grad_mode && any_requires_grad(input, weight, bias)) return {};
  const int64_t dims = input.dim();
  const DType dtype = input.dtype();
  if (dims < 1 || weight.dim() != 2 || input.size(-1) != weight.size(1) || weight.dtype() != dtype || dtype == DType::Bool) return {};
  if (dims != 2 && !input.is_contiguous()) return {};
  if (bias && (bias.dim() != 1 || bias.size(0) != weight.size(0) || bias.dtype() != dtype || !bias.device().is_cpu())) return {};
  if (!input.device().is_cpu() || !weight.device().is_cpu()) return {};
  if (RG_UNLIKELY(is_lazy(input) || is_lazy(weight) || (bias && is_lazy(bias)))) return {};
  int64_t sizes[kMaxDims], m = 1;
  for (int64_t d = 0; d + 1 < dims; ++d) m *= sizes[d] = input.size(d);
  const int64_t n = sizes[dims - 1] = weight.size(0), k = weight.size(1);
  Tensor out = empty({sizes, static_cast<size_t>(dims)}, dtype, input.device());
  const kernels::Matrix a{input->data, dims == 2 ? input.stride(0) : k, dims == 2 ? input.stride(1) : 1};
  {
    const Launch launch(out, product_ns(dtype, m, n, k));
    kernels::matmul(out->device)
        .gemm_bias(dtype, m, n, k, a, matrix_of(weight, true), bias ? bias->data : nullptr, bias ? bias.stride(0) : 0, {out->data, n, 1});
  }
  if (noted) note_untracked("linear", out, input, weight, bias);
  return out;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (Tensor out = linear_directly(input, weight, bias)) return out;
  const int64_t dims = input.dim();
  RG_CHECK(dims != 0 && weight.dim() != 0, "both arguments to linear need to be at least 1D, but they are ", dims, "D and ", weight.dim(),
           "D");
  const Tensor turned = ops::t(weight);
  if (!bias) return matmul(input, turned);
  if (RG_LIKELY(dims == 2)) return ops::addmm(bias, input, turned, 1, 1);
  if (bias.dim() == 1 && weight.dim() == 2 && input.is_contiguous() && input.size(-1) == weight.size(1)) {
    int64_t rows = 1, sizes[kMaxDims];
    for (int64_t d = 0; d + 1 < dims; ++d) rows *= sizes[d] = input.size(d);
    sizes[dims - 1] = weight.size(0);
    const Tensor flat = ops::view(input, ints({rows, input.size(-1)}));
    return ops::view(ops::addmm(bias, flat, turned, 1, 1), {sizes, static_cast<size_t>(dims)});
  }
  return matmul(input, turned) + bias;
}

}  // namespace retrograd::composite
