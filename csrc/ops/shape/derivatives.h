// Derivative helpers of optable/shape.py and optable/random.py. Written in differentiable ops, so that second derivatives follow.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ops.h"

namespace retrograd::derivatives {

Tensor permute_backward(const Tensor& grad, IntSpan dims);
Tensor roll_backward(const Tensor& grad, IntSpan shifts, IntSpan dims);
Tensor repeat_backward(const Tensor& grad, IntSpan repeats, IntSpan sizes);
Tensor as_strided_backward(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan out_sizes, IntSpan out_strides,
                           std::optional<int64_t> out_offset);

// Gradients of lists of views: those that nobody used are undefined and count as zeros.
Tensor split_backward(std::span<const Tensor> grads, int64_t split_size, int64_t dim, IntSpan sizes, DType dtype, Device device);
Tensor split_sizes_backward(std::span<const Tensor> grads, IntSpan split_sizes, int64_t dim, IntSpan sizes, DType dtype, Device device);
Tensor unbind_backward(std::span<const Tensor> grads, int64_t dim, IntSpan sizes, DType dtype, Device device);

// `shapes` as flatten_shapes() makes them, `dtypes` one number per tensor.
std::vector<Tensor> cat_backward(const Tensor& grad, IntSpan shapes, IntSpan dtypes, int64_t dim);
std::vector<Tensor> stack_backward(const Tensor& grad, IntSpan dtypes, int64_t dim);
std::vector<Tensor> block_diag_backward(const Tensor& grad, IntSpan shapes, IntSpan dtypes);

Tensor copy_backward(const Tensor& grad, IntSpan sizes, DType dtype, Device device);
Tensor fill_value_backward(const Tensor& grad, DType dtype);
Tensor zeros_of(const Tensor& grad);
Tensor zeros_sized(IntSpan sizes, DType dtype, Device device);
double dropout_scale(double p, std::optional<bool> train);

}  // namespace retrograd::derivatives
