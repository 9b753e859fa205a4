// Distances and comparisons of whole tensors, and what is built on a norm.
#include <cmath>

#include "core/transfer.h"
#include "kernels/distance.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace impl {

Tensor dist(const Tensor& self, const Tensor& other, Scalar p) { return linalg_vector_norm(sub(self, other, 1), p, {}, false, {}); }

Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p) {
  const int64_t ndim = x1.dim();
  bool fits = ndim >= 2 && x2.dim() == ndim && x1.size(-1) == x2.size(-1) && x1.dtype() == x2.dtype() && is_floating(x1.dtype());
  int64_t sizes[kMaxDims], batch = 1;
  for (int64_t d = 0; fits && d + 2 < ndim; ++d) {
    fits = x1.size(d) == x2.size(d);
    sizes[d] = x1.size(d);
    batch *= sizes[d];
  }
  RG_CHECK(fits, "_cdist_forward: expected floating matrices of equal batch sizes and columns, got ", x1.sizes(), " and ", x2.sizes());
  sizes[ndim - 2] = x1.size(-2);
  sizes[ndim - 1] = x2.size(-2);
  const DType compute = x1.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  const Tensor a = contiguous_data(cast_data(x1, compute)), b = contiguous_data(cast_data(x2, compute));
  Tensor out = empty({sizes, static_cast<size_t>(ndim)}, compute, x1.device());
  if (out.numel() && !is_meta(out)) {
    const Launch launch(out, out.numel() * (x1.size(-1) + 8) / (std::isinf(p) || p <= 2 ? 4 : 1));
    kernels::distance(out->device).cdist(out->data, a->data, b->data, compute, batch, x1.size(-2), x2.size(-2), x1.size(-1), p);
  }
  return cast_data(out, x1.dtype());
}

Tensor renorm(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  RG_CHECK(!p.is_complex(), "renorm: p must be real-valued");
  RG_CHECK(!maxnorm.is_complex(), "renorm: maxnorm must be real-valued");
  RG_CHECK(p.to_double() > 0, "renorm: non-positive-norm not supported");
  RG_CHECK(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.to_double());
  RG_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  const int64_t kept = wrap_dim(dim, self.dim());
  int64_t rest[kMaxDims];
  int n = 0;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) rest[n++] = d;
  const Tensor scale = linalg_vector_norm(self, p, IntSpan(rest, static_cast<size_t>(n)), true, {});
  if (!is_meta(self)) {
    const Launch launch(scale);
    kernels::distance(scale->device).shrink(scale->data, scale->dtype, scale.numel(), maxnorm.to_double());
  }
  return mul(contiguous_data(self), scale);  // contiguous, as PyTorch's
}

bool equal(const Tensor& given, const Tensor& with) {
  const Tensor self = without_lifts(given), other = without_lifts(with);
  RG_CHECK(!self->has(kBatched) && !other->has(kBatched),
           "Batching rule not implemented for aten::equal: inside vmap there is no one answer for all samples");
  RG_CHECK_AS(NotImplemented, !is_meta(self) && !is_meta(other), "equal: a meta tensor has no elements to compare");
  if (!same_sizes(self.get(), other.get())) return false;
  if (self.numel() == 0) return true;
  const Tensor same = all(eq(self, other));
  return read_scalar(same).i != 0;
}

}  // namespace impl
}  // namespace retrograd
