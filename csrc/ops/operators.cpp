// The operators that derivative formulas are written with.
#include "ops/derivatives.h"

namespace retrograd {

Tensor operator+(const Tensor& a, const Operand& b) { return ops::add(a, b, 1); }
Tensor operator-(const Tensor& a, const Operand& b) { return ops::sub(a, b, 1); }
Tensor operator*(const Tensor& a, const Operand& b) { return ops::mul(a, b); }
Tensor operator/(const Tensor& a, const Operand& b) { return ops::div(a, b); }
Tensor operator-(const Tensor& a) { return ops::neg(a); }
Tensor operator+(double a, const Tensor& b) { return ops::add(b, a, 1); }
Tensor operator-(double a, const Tensor& b) { return ops::rsub_scalar(b, a, 1); }
Tensor operator*(double a, const Tensor& b) { return ops::mul(b, a); }
Tensor operator/(double a, const Tensor& b) { return a == 1.0 ? ops::reciprocal(b) : ops::mul(ops::reciprocal(b), a); }

}  // namespace retrograd
