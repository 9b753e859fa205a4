// Derivative helpers of optable/index.py.
#pragma once

#include "ops.h"

namespace retrograd::derivatives {

// Zeros of `sizes` into which grad is added at the places a read took it from.
Tensor gather_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index);
Tensor index_select_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index);
Tensor index_grad(const Tensor& grad, IntSpan sizes, std::span<const Tensor> indices);
Tensor take_grad(const Tensor& grad, IntSpan sizes, const Tensor& index);
Tensor masked_select_grad(const Tensor& grad, IntSpan sizes, const Tensor& mask);

// What a scatter wrote from `src` (of `sizes`, possibly larger than the index).
Tensor scatter_src_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);
Tensor index_put_self_grad(const Tensor& grad, std::span<const Tensor> indices, bool accumulate);
Tensor index_put_values_grad(const Tensor& grad, std::span<const Tensor> indices, IntSpan sizes);
Tensor index_copy_source_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes);
Tensor put_self_grad(const Tensor& grad, const Tensor& index, bool accumulate);
Tensor masked_scatter_self_grad(const Tensor& grad, const Tensor& mask, IntSpan sizes);
Tensor masked_scatter_source_grad(const Tensor& grad, const Tensor& mask, IntSpan sizes);

std::tuple<Tensor, Tensor> scatter_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                               std::string_view reduce, bool include_self, const Tensor& result, bool needs_self,
                                               bool needs_src);
Tensor where_filled(const Tensor& grad, int64_t dim, const Tensor& index);  // zeros elsewhere
std::tuple<Tensor, Tensor> index_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                             std::string_view reduce, bool include_self, const Tensor& result, bool needs_self,
                                             bool needs_source);

// The gradient of an embedding's gradient: rows of it, zero where the padding was.
Tensor embedding_grad_grad(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq);

// Of the table and of the weights of embedding_bag: by kernels, or in ordinary ops where they are to be differentiated again.
Tensor embedding_bag_grad(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                          const Tensor& max_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
                          const Tensor& per_sample_weights, int64_t padding_idx);
Tensor embedding_bag_weights_grad(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                  const Tensor& offset2bag, int64_t padding_idx);

}  // namespace retrograd::derivatives
