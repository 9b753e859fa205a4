#include "ops/linalg/derivatives.h"

#include "core/state.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {

Tensor scaled(const Tensor& t, const Scalar& factor) {
  if (factor.equals(1)) return t;
  return t * Operand(factor.is_complex() && !is_complex(t.dtype()) ? Scalar(factor.d) : factor);  // see times()
}

Tensor matrix_transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }

Tensor mm_mat1_grad(const Tensor& grad, const Tensor& mat2, bool columnwise, const Scalar& alpha) {
  if (!thread_state.grad_mode) return scaled(ops::_mm(grad, mat2, false, true, columnwise), alpha);
  if (columnwise) return scaled(ops::t(ops::mm(mat2, ops::t(grad))), alpha);
  return scaled(ops::mm(grad, ops::t(mat2)), alpha);
}

Tensor mm_mat2_grad(const Tensor& grad, const Tensor& mat1, bool columnwise, const Scalar& alpha) {
  if (!thread_state.grad_mode) return scaled(ops::_mm(mat1, grad, true, false, columnwise), alpha);
  if (columnwise) return scaled(ops::t(ops::mm(ops::t(grad), mat1)), alpha);
  return scaled(ops::mm(ops::t(mat1), grad), alpha);
}

Tensor linear_weight_grad(const Tensor& grad, const Tensor& input) {
  const Tensor g = ops::reshape(grad, ints({-1, grad.size(-1)})), x = ops::reshape(input, ints({-1, input.size(-1)}));
  return ops::_mm(g, x, true, false, false);
}

Tensor added_grad(const Tensor& grad, IntSpan sizes, const Scalar& beta) { return sum_to(scaled(grad, beta), sizes); }

}  // namespace retrograd::derivatives
