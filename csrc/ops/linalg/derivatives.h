// Derivative helpers of optable/linalg.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// d(mat1 @ mat2) in either factor: grad @ mat2^T and mat1^T @ grad, times alpha. A factor whose memory runs along its columns (a
// transposed weight) gets a gradient laid out likewise, so that turning it back gives a contiguous one. Where nobody records it is one op,
// which reads transposes through strides; in a graph of the gradient there are the nodes that PyTorch has.
Tensor mm_mat1_grad(const Tensor& grad, const Tensor& mat2, bool mat1_columnwise, const Scalar& alpha = 1);
Tensor mm_mat2_grad(const Tensor& grad, const Tensor& mat1, bool mat2_columnwise, const Scalar& alpha = 1);

Tensor linear_weight_grad(const Tensor& grad, const Tensor& input);  // the rows of all leading dims as one product

// beta * grad, summed to the sizes of what was added.
Tensor added_grad(const Tensor& grad, IntSpan sizes, const Scalar& beta);
Tensor scaled(const Tensor& t, const Scalar& factor);  // t itself for 1
Tensor matrix_transposed(const Tensor& t);             // t.mT

// ---- decompositions and systems: derivatives_lapack.cpp ----
std::tuple<Tensor, Tensor, Tensor> reflect_backward(const Tensor& grad, const Tensor& input, const Tensor& tau, const Tensor& other,
                                                    bool adjoint, bool needs_input, bool needs_tau, bool needs_other);
std::tuple<Tensor, Tensor> linalg_solve_grad(const Tensor& grad, const Tensor& A, const Tensor& result, IntSpan B_sizes, bool left,
                                             bool needs_A, bool needs_B);
Tensor linalg_inv_grad(const Tensor& grad, const Tensor& inverse);
Tensor linalg_det_grad(const Tensor& grad, const Tensor& A, const Tensor& result);
Tensor linalg_slogdet_grad(const Tensor& g_sign, const Tensor& g_log, const Tensor& A, const Tensor& sign);
std::tuple<Tensor, Tensor> linalg_solve_triangular_grad(const Tensor& grad, const Tensor& A, const Tensor& result, IntSpan B_sizes,
                                                        bool upper, bool left, bool unitriangular, bool needs_A, bool needs_B);
Tensor linalg_cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper);
Tensor linalg_lu_factor_grad(const Tensor& grad, const Tensor& LU, const Tensor& pivots);
Tensor linalg_qr_grad(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, const Tensor& A, std::string_view mode);
Tensor linalg_eigh_grad(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values, const Tensor& vectors);
Tensor linalg_eig_grad(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values, const Tensor& vectors, DType dtype);
Tensor linalg_svd_grad(const Tensor& gU, const Tensor& gS, const Tensor& gVh, const Tensor& U, const Tensor& S, const Tensor& Vh,
                       IntSpan A_sizes);
Tensor linalg_pinv_grad(const Tensor& grad, const Tensor& A, const Tensor& P);

}  // namespace retrograd::derivatives
