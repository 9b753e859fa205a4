#include "ops/special/derivatives.h"

#include <cmath>

#include "ops/derivatives.h"

namespace retrograd::derivatives {

// f' = zeroth - f / x. Around 0 the quotient and its derivatives have no digits: there it is the series.
Tensor first_order_backward(const Tensor& grad, const Tensor& self, const Tensor& zeroth, const Tensor& result, double sign) {
  const Tensor small = ops::lt(ops::abs(self), 1e-2), safe = ops::where(small, 1.0, self), square = self * self;
  return grad * ops::where(small, (square * (5.0 / 384) + sign * 3.0 / 16) * square + 0.5, zeroth - result / safe);
}

// The degree as a tensor of floats, which can be counted down.
static Tensor degree(const Operand& n, const Tensor& grad) {
  return n.tensor ? ops::trunc(cast_to(Tensor::borrow(n.tensor), grad.dtype()))
                  : scalar_tensor(std::trunc(n.scalar.to_double()), grad.dtype(), grad.device());
}

// T' = n U one below. U is the first of Gegenbauer's polynomials, whose derivatives are those of the next order; V and W are the difference
// and the sum of two U.
Tensor chebyshev_t_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  const Tensor m = degree(n, grad);
  return grad * m * ops::_gegenbauer(x, m - 1, 1);
}
Tensor chebyshev_u_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  return grad * ops::_gegenbauer(x, degree(n, grad) - 1, 2) * 2;
}
Tensor chebyshev_vw_backward(const Tensor& grad, const Tensor& x, const Operand& n, double sign) {
  const Tensor m = degree(n, grad);
  return grad * (ops::_gegenbauer(x, m - 1, 2) + ops::_gegenbauer(x, m - 2, 2) * sign) * 2;
}

Tensor hermite_h_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  const Tensor m = degree(n, grad);
  return grad * m * ops::special_hermite_polynomial_h(x, m - 1) * 2;
}
Tensor hermite_he_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  const Tensor m = degree(n, grad);
  return grad * m * ops::special_hermite_polynomial_he(x, m - 1);
}

Tensor laguerre_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  return -(grad * ops::_laguerre(x, degree(n, grad) - 1, 1));
}
Tensor legendre_backward(const Tensor& grad, const Tensor& x, const Operand& n) {
  return grad * ops::_gegenbauer(x, degree(n, grad) - 1, 1.5);
}

}  // namespace retrograd::derivatives
