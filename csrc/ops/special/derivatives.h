// Derivative helpers of optable/special.py. Written in differentiable ops, so that second derivatives follow.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// Of I1 (sign 1) and J1 (sign -1), from the function of order 0.
Tensor first_order_backward(const Tensor& grad, const Tensor& self, const Tensor& zeroth, const Tensor& result, double sign);

// Of the polynomials of degree n for x.
Tensor chebyshev_t_backward(const Tensor& grad, const Tensor& x, const Operand& n);
Tensor chebyshev_u_backward(const Tensor& grad, const Tensor& x, const Operand& n);
Tensor chebyshev_vw_backward(const Tensor& grad, const Tensor& x, const Operand& n, double sign);  // V: -1, W: 1
Tensor hermite_h_backward(const Tensor& grad, const Tensor& x, const Operand& n);
Tensor hermite_he_backward(const Tensor& grad, const Tensor& x, const Operand& n);
Tensor laguerre_backward(const Tensor& grad, const Tensor& x, const Operand& n);
Tensor legendre_backward(const Tensor& grad, const Tensor& x, const Operand& n);

}  // namespace retrograd::derivatives
