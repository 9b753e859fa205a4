#include "ops/linalg/derivatives.h"

#include "core/state.h"
#include "ops/derivatives.h"
#include "ops/linalg/linalg.h"

namespace retrograd::derivatives {
namespace {

// Nobody records and nobody listens: kernels may be called directly, and transposes are only strides.
bool direct() { return !thread_state.grad_mode && !thread_state.attention; }

}  // namespace

Tensor scaled(const Tensor& t, const Scalar& factor) {
  if (factor.equals(1)) return t;
  return t * Operand(factor.is_complex() && !is_complex(t.dtype()) ? Scalar(factor.d) : factor);  // see times()
}

Tensor matrix_transposed(const Tensor& t) { return ops::transpose(t, -2, -1); }

Tensor mm_mat1_grad(const Tensor& grad, const Tensor& mat2, bool turned, const Scalar& alpha) {
  if (direct()) return scaled(product(grad, false, mat2, true, turned), alpha);
  if (turned) return scaled(ops::t(ops::mm(mat2, ops::t(grad))), alpha);
  return scaled(ops::mm(grad, ops::t(mat2)), alpha);
}

Tensor mm_mat2_grad(const Tensor& grad, const Tensor& mat1, bool turned, const Scalar& alpha) {
  if (direct()) return scaled(product(mat1, true, grad, false, turned), alpha);
  if (turned) return scaled(ops::t(ops::mm(ops::t(grad), mat1)), alpha);
  return scaled(ops::mm(ops::t(mat1), grad), alpha);
}

Tensor added_grad(const Tensor& grad, IntSpan sizes, const Scalar& beta) { return sum_to(scaled(grad, beta), sizes); }

}  // namespace retrograd::derivatives
