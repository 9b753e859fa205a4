// Derivative helpers of functions of complex numbers.
#pragma once

#include "core/tensor.h"

namespace retrograd::derivatives {

Tensor along(const Tensor& t, const Tensor& direction);  // Re(conj(direction) t), direction being the gradient of a real function
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor angle_backward(const Tensor& grad, const Tensor& self);
Tensor quarter_turn(const Tensor& t);  // i t

}  // namespace retrograd::derivatives
