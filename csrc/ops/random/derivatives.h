// Derivative helpers of optable/random.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// Of x drawn from Dirichlet(alpha): x_i moves with alpha_j by (i == j) - x_i, times `_dirichlet_grad` of j.
Tensor dirichlet_backward(const Tensor& grad, const Tensor& x, const Tensor& alpha);
Tensor dirichlet_tangent(const Tensor& tangent, const Tensor& x, const Tensor& alpha);

}  // namespace retrograd::derivatives
