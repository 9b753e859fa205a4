// Helpers that derivative formulas in the table call, and operators that let a formula read like one.
#pragma once

#include "ops.h"

namespace retrograd {

// Operators on tensors record history like the ops they stand for.
Tensor operator+(const Tensor& a, const Operand& b);
Tensor operator-(const Tensor& a, const Operand& b);
Tensor operator*(const Tensor& a, const Operand& b);
Tensor operator/(const Tensor& a, const Operand& b);
Tensor operator-(const Tensor& a);
Tensor operator+(double a, const Tensor& b);
Tensor operator-(double a, const Tensor& b);
Tensor operator*(double a, const Tensor& b);
Tensor operator/(double a, const Tensor& b);

}  // namespace retrograd
#include "ops/data.h"
#include "ops/derivatives_families.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"
