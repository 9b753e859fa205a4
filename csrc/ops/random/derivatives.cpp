#include "ops/random/derivatives.h"

#include "ops/derivatives.h"
#include "ops/dims.h"

namespace retrograd::derivatives {
namespace {

Tensor row_sum(const Tensor& t) { return ops::sum_dim(t, ints({-1}), true, std::nullopt); }

Tensor slopes(const Tensor& x, const Tensor& alpha) { return ops::_dirichlet_grad(x, alpha, row_sum(alpha)); }

}  // namespace

Tensor dirichlet_backward(const Tensor& grad, const Tensor& x, const Tensor& alpha) {
  return slopes(x, alpha) * (grad - row_sum(x * grad));
}

Tensor dirichlet_tangent(const Tensor& tangent, const Tensor& x, const Tensor& alpha) {
  const Tensor moved = slopes(x, alpha) * tangent;
  return moved - x * row_sum(moved);
}

}  // namespace retrograd::derivatives
