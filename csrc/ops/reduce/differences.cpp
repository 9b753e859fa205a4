// Finite differences and integrals along a dim, made of other ops.
#include "ops.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {
namespace {

using OptScalar = std::optional<Scalar>;

// What lies between samples at points x: one list for all, or as many as there are samples.
Tensor spacing(const char* name, const Tensor& y, const Tensor& x, int64_t dim) {
  Shape shape;
  if (x.dim() == 1) {
    RG_CHECK(x.size(0) == y.size(dim), name, ": There must be one `x` value for each sample point");
    for (int64_t d = 0; d < y.dim(); ++d) shape.sizes[shape.ndim++] = d == dim ? -1 : 1;
    if (x.size(0) < 2) shape.sizes[dim] = 0;
    return ops::reshape(ops::diff(x, 1, -1, {}, {}), shape);
  }
  if (x.dim() >= y.dim()) return ops::diff(x, 1, dim, {}, {});
  for (int64_t d = 0; d < y.dim(); ++d) {
    const int64_t at = d - (y.dim() - x.dim());
    shape.sizes[shape.ndim++] = at < 0 ? 1 : x.size(at);
  }
  return ops::diff(ops::reshape(x, shape), 1, dim, {}, {});
}

// The areas between neighbouring samples.
Tensor areas(const char* name, const Tensor& y, const Tensor& x, const OptScalar& dx, int64_t dim) {
  RG_CHECK_AS(Type, !x || !dx, name,
              "() received an invalid combination of arguments - give either x, the sample points, or dx, their distance");
  RG_CHECK_AS(Index, y.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, y.dim());
  RG_CHECK(y.dtype() != DType::Bool && (!x || x.dtype() != DType::Bool), name, ": received a bool input for `",
           y.dtype() == DType::Bool ? "y" : "x", "`, but bool is not supported");
  const int64_t size = std::max<int64_t>(y.size(d) - 1, 0);
  const Tensor pairs = ops::narrow(y, d, 0, size) + ops::narrow(y, d, y.size(d) - size, size);
  return ops::div(x ? pairs * spacing(name, y, x, d) : ops::mul(pairs, dx.value_or(Scalar(1))), Scalar(2.0));
}

}  // namespace

namespace composite {

Tensor diff(const Tensor& self, int64_t n, int64_t dim, const Tensor& prepend, const Tensor& append) {
  RG_CHECK(self.dim() > 0, "diff expects input to be at least one-dimensional");
  RG_CHECK(n >= 0, "order must be non-negative but got ", n);
  const int64_t d = wrap_dim(dim, self.dim());
  if (n == 0) return ops::clone(self);
  RG_CHECK(!prepend || prepend.dim() == self.dim(), "diff expects prepend to be the same dimension as input");
  RG_CHECK(!append || append.dim() == self.dim(), "diff expects append to be the same dimension as input");
  Tensor result = self;
  if (prepend || append) {
    std::vector<Tensor> parts;
    for (const Tensor& part : {prepend, self, append})
      if (part) parts.push_back(part);
    result = ops::cat(parts, d);
  }
  for (int64_t left = std::min(n, result.size(d)); left > 0; --left) {
    const int64_t size = result.size(d) - 1;
    const Tensor later = ops::narrow(result, d, 1, size), earlier = ops::narrow(result, d, 0, size);
    result = self.dtype() == DType::Bool ? ops::logical_xor(later, earlier) : later - earlier;
  }
  return result;
}

// Central differences of second order, one-sided at the ends.
Tensor _even_gradient(const Tensor& self, Scalar spacing, int64_t dim, int64_t edge_order) {
  if (!is_differentiable(self.dtype())) fail_not_implemented("_even_gradient", self.dtype());
  const int64_t d = wrap_dim(dim, self.dim()), size = self.size(d);
  const auto part = [&](int64_t start, int64_t length) { return ops::narrow(self, d, start, length); };
  const double step = spacing.to_double();
  Tensor first, last;
  if (edge_order == 1) {
    first = part(1, 1) - part(0, 1), last = part(size - 1, 1) - part(size - 2, 1);
    if (step != 1) first = ops::div(first, spacing), last = ops::div(last, spacing);
  } else {
    first = ops::div(ops::mul(part(0, 1), Scalar(-1.5)) + ops::mul(part(1, 1), Scalar(2.0)) - ops::mul(part(2, 1), Scalar(0.5)), spacing);
    last = ops::div(
        ops::mul(part(size - 3, 1), Scalar(0.5)) - ops::mul(part(size - 2, 1), Scalar(2.0)) + ops::mul(part(size - 1, 1), Scalar(1.5)),
        spacing);
  }
  const Tensor inner = ops::div(part(2, size - 2) - part(0, size - 2), Scalar(2.0 * step));
  const Tensor parts[] = {first, inner, last};
  return ops::cat(parts, d);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, OptScalar dx, int64_t dim) {
  if (x && !dx && x.dim() == 1 && y.dim() > 0 && is_differentiable(y.dtype()) && is_differentiable(x.dtype())) {
    const int64_t d = wrap_dim(dim, y.dim());
    if (y.size(d) > 1 && x.size(0) == y.size(d)) {  // each sample counts by half of what lies on its two sides
      const Tensor widths = spacing("trapezoid", y, x, d);
      int64_t before[2 * kMaxDims] = {}, after[2 * kMaxDims] = {};
      const size_t at = static_cast<size_t>(2 * (y.dim() - 1 - d)), count = static_cast<size_t>(2 * y.dim());
      before[at] = after[at + 1] = 1;
      const Tensor weights = ops::constant_pad_nd(widths, {before, count}, 0) + ops::constant_pad_nd(widths, {after, count}, 0);
      return ops::mul(ops::sum_dim(y * weights, ints({dim}), false, {}), Scalar(0.5));
    }
  }
  if (!x && y.dim() > 0 && y.dtype() != DType::Bool && y.size(wrap_dim(dim, y.dim())) > 0) {  // each sample counts once, the ends by half
    const Tensor ends = ops::select(y, dim, 0) + ops::select(y, dim, -1);
    return ops::mul(ops::sum_dim(y, ints({dim}), false, {}) - ops::mul(ends, Scalar(0.5)), dx.value_or(Scalar(1)));
  }
  return ops::sum_dim(areas("trapezoid", y, x, dx, dim), ints({dim}), false, {});
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, OptScalar dx, int64_t dim) {
  return ops::cumsum(areas("cumulative_trapezoid", y, x, dx, dim), dim, {});
}

}  // namespace composite
}  // namespace retrograd
