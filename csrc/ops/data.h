// The elements of tensors without history and without interception: what kernels are surrounded by.
#pragma once

#include "core/launch.h"
#include "core/tensor.h"
#include "kernels/values.h"

namespace retrograd {

void copy_data(const Tensor& dst, const Tensor& src);  // same sizes or broadcastable src; converts; no history, no version
Tensor cast_data(const Tensor& t, DType dtype);        // t itself when it already has it
Tensor contiguous_data(const Tensor& t);               // t itself when it is
Tensor expand_data(const Tensor& t, IntSpan sizes);    // alias, stride 0 where expanded
void resize_data(const Tensor& t, IntSpan sizes);      // in place, contiguous, keeps what fits
void fill_data(const Tensor& t, Scalar value);
Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device);
Tensor zeros(IntSpan sizes, DType dtype, Device device = {});
bool any_element(const Tensor& t, kernels::Is what, double low = 0, double high = 0);  // of any dtype that is not complex, on any device

// Of a condition: whether it is met anywhere, in any sample of any vmap. On meta, where nothing is known of values, it is taken not to be.
bool any_true(const Tensor& condition);

}  // namespace retrograd
