// What the nn ops and their derivatives share.
#pragma once

#include "core/tensor.h"

namespace retrograd {

// How a loss becomes a number; the integers of the table.
enum class Reduction : int64_t { None = 0, Mean = 1, Sum = 2 };

namespace composite {
Tensor reduced(const Tensor& loss, int64_t reduction);  // of elements, by ops of the table
}

// What was made where lengths are known, on the device of the tensors it goes with.
Tensor brought_to(const Tensor& made, Device device);

// An argument without a derivative must not ask for one.
void check_constant(const Tensor& t, const char* op, const char* argument);

}  // namespace retrograd
