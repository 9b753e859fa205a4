// Distances and comparisons of whole tensors, and what is built on a norm.
#include <cmath>

#include "core/transfer.h"
#include "kernels/distance.h"
#include "kernels/reduce.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

// All dims but one.
struct Rest {
  int64_t dims[kMaxDims];
  size_t count = 0;
  Rest(const Tensor& self, int64_t dim) {
    const int64_t kept = wrap_dim(dim, self.dim());
    for (int64_t d = 0; d < self.dim(); ++d)
      if (d != kept) dims[count++] = d;
  }
  operator IntSpan() const { return {dims, count}; }
};

}  // namespace

namespace rule {

Spec _cdist_forward(const Tensor& x1, const Tensor& x2, double) {
  const int64_t ndim = x1.dim();
  bool fits = ndim >= 2 && x2.dim() == ndim && x1.size(-1) == x2.size(-1) && x1.dtype() == x2.dtype() && is_floating(x1.dtype());
  for (int64_t d = 0; fits && d + 2 < ndim; ++d) fits = x1.size(d) == x2.size(d);
  RG_CHECK(fits, "_cdist_forward: expected floating matrices of equal batch sizes and columns, got ", x1.sizes(), " and ", x2.sizes());
  Spec spec(x1.sizes().first(static_cast<size_t>(ndim - 1)), x1.dtype(), x1->device);
  spec.add_dim(x2.size(-2));
  return spec;
}

Spec _pdist_forward(const Tensor& self, double p) {
  RG_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  RG_CHECK(is_floating(self.dtype()), "pdist only supports floating-point dtypes");
  RG_CHECK(p >= 0, "pdist only supports non-negative p values");
  const int64_t n = self.size(0);
  return Spec(ints({n * (n - 1) / 2}), self.dtype(), self->device);
}

Spec renorm(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  RG_CHECK(!p.is_complex(), "renorm: p must be real-valued");
  RG_CHECK(!maxnorm.is_complex(), "renorm: maxnorm must be real-valued");
  RG_CHECK(p.to_double() > 0, "renorm: non-positive-norm not supported");
  RG_CHECK(maxnorm.to_double() >= 0, "renorm: expected maxnorm to be >= 0 but got ", maxnorm.to_double());
  RG_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(), " dimensions");
  linalg_vector_norm(self, p, Rest(self, dim), true, {});
  return Spec::of(self);  // contiguous, as PyTorch's
}

}  // namespace rule

namespace compute {

void _cdist_forward(const Tensor& x1, const Tensor& x2, double p, const Tensor& out) {
  const DType compute = x1.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  const Tensor a = contiguous_data(cast_data(x1, compute)), b = contiguous_data(cast_data(x2, compute));
  const Tensor found = out.dtype() == compute ? out : empty(out.sizes(), compute, out.device());
  const int64_t rows = x1.size(-2), columns = x2.size(-2);
  {
    const Launch launch(out, out.numel() * (x1.size(-1) + 8) / (std::isinf(p) || p <= 2 ? 4 : 1));
    kernels::distance(out->device)
        .cdist(found->data, a->data, b->data, compute, out.numel() / (rows * columns), rows, columns, x1.size(-1), p);
  }
  if (!found.is(out)) copy_data(out, found);
}

void _pdist_forward(const Tensor& self, double p, const Tensor& out) {
  const DType compute = self.dtype() == DType::Float64 ? DType::Float64 : DType::Float32;
  const Tensor x = contiguous_data(cast_data(self, compute));
  const Tensor found = out.dtype() == compute ? out : empty(out.sizes(), compute, out.device());
  {
    const Launch launch(out, out.numel() * (self.size(1) + 8) / (std::isinf(p) || p <= 2 ? 4 : 1));
    kernels::distance(out->device).pdist(found->data, x->data, compute, self.size(0), self.size(1), p);
  }
  if (!found.is(out)) copy_data(out, found);
}

void renorm(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm, const Tensor& out) {
  const Tensor scale = impl::linalg_vector_norm(self, p, Rest(self, dim), true, {});
  {
    const Launch launch(scale);
    kernels::distance(scale->device).shrink(scale->data, scale->dtype, scale.numel(), maxnorm.to_double());
  }
  impl::mul_out(self, scale, out);
}

bool equal(const Tensor& given, const Tensor& with) {
  const Tensor self = without_lifts(given), other = without_lifts(with);
  RG_CHECK(!self->has(kBatched) && !other->has(kBatched),
           "Batching rule not implemented for aten::equal: inside vmap there is no one answer for all samples");
  if (!same_sizes(self.get(), other.get())) return false;
  if (self.numel() == 0) return true;
  const Tensor same = impl::eq(self, other);
  const Reduced shape(same, every_dim(same.dim()));
  Answer<bool> all(same->device);
  run_kernel(same, 4, [&] { kernels::reduce(same->device).all(shape.out(all.data(), DType::Bool), shape.in()); });
  return all.read();
}

// Inside vmap the answer is for all samples: what is checked with it is refused as a whole.
bool _all_within(const Tensor& self, double low, double high) {
  Tensor whole = self;
  while (whole->has(kBatched)) whole = Tensor::borrow(whole->extra->batched);
  return all_within(whole, low, high);
}

}  // namespace compute

namespace impl {

Tensor dist(const Tensor& self, const Tensor& other, Scalar p) { return linalg_vector_norm(sub(self, other, 1), p, {}, false, {}); }

}  // namespace impl

namespace composite {

Tensor pdist(const Tensor& input, double p) { return ops::_pdist_forward(input, p); }

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::string_view> compute_mode) {
  for (const auto& [name, x] : {std::pair<const char*, const Tensor&>("X1", x1), {"X2", x2}})
    RG_CHECK(x.dim() >= 2, "cdist only supports at least 2D tensors, ", name, " got: ", x.dim(), "D");
  RG_CHECK(x1.size(-1) == x2.size(-1), "X1 and X2 must have the same number of columns. X1: ", x1.size(-1), " X2: ", x2.size(-1));
  for (const auto& [name, x] : {std::pair<const char*, const Tensor&>("X1", x1), {"X2", x2}})
    RG_CHECK(is_floating(x.dtype()), "cdist only supports floating-point dtypes, ", name, " got: ", dtype_title(x.dtype()));
  RG_CHECK(p >= 0, "cdist only supports non-negative p values");
  RG_CHECK_AS(Value,
              !compute_mode || *compute_mode == "use_mm_for_euclid_dist_if_necessary" || *compute_mode == "use_mm_for_euclid_dist" ||
                  *compute_mode == "donot_use_mm_for_euclid_dist",
              compute_mode.value_or(""), " is not a valid value for compute_mode");
  const DType dtype = promote(x1.dtype(), x2.dtype());
  const auto batch = [](const Tensor& t) { return t.sizes().first(static_cast<size_t>(t.dim() - 2)); };
  const Shape both = broadcast_shapes(batch(x1), batch(x2));
  const auto ready = [&](const Tensor& t) {
    const Tensor x = t.dtype() == dtype ? t : ops::_to_copy(t, dtype, {});
    if (same_sizes(batch(t), both)) return x;
    Shape sizes = both;
    RG_CHECK(sizes.ndim + 2 <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions");
    for (const int64_t size : {t.size(-2), t.size(-1)}) sizes.sizes[sizes.ndim++] = size;
    return ops::expand(x, sizes, false);
  };
  return ops::_cdist_forward(ready(x1), ready(x2), p);
}

}  // namespace composite
}  // namespace retrograd
