// What the nn ops and their derivatives share.
#pragma once

#include "core/tensor.h"

namespace retrograd {

// How a loss becomes a number; the integers of the table.
enum class Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

namespace composite {
Tensor reduced(const Tensor& loss, int64_t reduction);  // of elements, by ops of the table
}

// An argument without a derivative must not ask for one.
void check_constant(const Tensor& t, const char* op, const char* argument);

// [.., normalized_shape] as rows x n; throws when the shapes do not fit.
struct Rows { int64_t rows = 1, n = 1; };
Rows layer_norm_rows(const Tensor& input, IntSpan normalized_shape);

}  // namespace retrograd
