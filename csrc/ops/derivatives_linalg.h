// Derivative helpers of ops/linalg.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// d(mat1 @ mat2) in either factor: grad @ mat2^T and mat1^T @ grad, times alpha. A factor whose memory runs along its columns (a
// transposed weight) gets a gradient laid out likewise, so that turning it back gives a contiguous one.
Tensor mm_mat1_grad(const Tensor& grad, const Tensor& mat2, bool mat1_turned, const Scalar& alpha = 1);
Tensor mm_mat2_grad(const Tensor& grad, const Tensor& mat1, bool mat2_turned, const Scalar& alpha = 1);

// beta * grad, summed to the sizes of what was added.
Tensor added_grad(const Tensor& grad, IntSpan sizes, const Scalar& beta);
Tensor scaled(const Tensor& t, const Scalar& factor);  // t itself for 1
Tensor matrix_transposed(const Tensor& t);             // t.mT

}  // namespace retrograd::derivatives
