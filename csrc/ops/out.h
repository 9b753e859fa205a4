// out= of an op: its size and its dtype.
#pragma once

#include <string_view>

#include "core/tensor.h"

namespace retrograd {

void resize_out(const Tensor& out, IntSpan sizes);  // with a warning, if it had elements
// It has another dtype than the result: `words` say so, with {out} and {result} for the dtypes. See Out in optable/facts.py.
inline constexpr std::string_view kCannotCast = "result type {result} can't be cast to the desired output type {out}";
[[noreturn]] void fail_out_dtype(std::string_view words, DType out, DType result);

}  // namespace retrograd
