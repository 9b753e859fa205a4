// Derivative helpers of functions of complex numbers.
#pragma once

#include "core/tensor.h"

namespace retrograd::derivatives {

Tensor along(const Tensor& t, const Tensor& direction);  // Re(conj(direction) t), direction being the gradient of a real function
Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor angle_backward(const Tensor& grad, const Tensor& self);
Tensor convert_back(const Tensor& grad, DType dtype, Device device);  // the gradient of a copy; of a real tensor it is real
Tensor quarter_turn(const Tensor& t);                                 // i t
Tensor complex_of_pairs(const Tensor& pairs);  // view_as_complex(), of a copy where the pairs do not lie as it wants them

}  // namespace retrograd::derivatives
