// Tables of rows: embedding, its gradient, and one_hot.
#include <algorithm>

#include "ops.h"
#include "ops/checks.h"
#include "ops/index/index.h"

namespace retrograd::impl {
namespace {

// indices of any shape as a vector. Copies only what strides cannot say.
Tensor flat_indices(const Tensor& indices) {
  const Tensor at = contiguous_data(cast_data(indices, DType::Int64));
  return alias_as(at, ints({at.numel()}), ints({1}), at->offset());
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
  RG_CHECK_AS(NotImplemented, !sparse,
              "embedding: sparse=True asks for sparse gradients, which are not supported; leave it False for dense ones");
  RG_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  RG_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32,
           "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.",
           dtype_storage_name(indices.dtype()), " instead (while checking arguments for embedding)");
  check_same_device(weight.get(), indices.get(), "embedding");
  const int64_t ndim = indices.dim();
  RG_CHECK(ndim < kMaxDims, "embedding: too many dimensions");
  int64_t sizes[kMaxDims];
  for (int64_t d = 0; d < ndim; ++d) sizes[d] = indices.size(d);
  sizes[ndim] = weight.size(1);
  Tensor out = empty({sizes, static_cast<size_t>(ndim + 1)}, weight.dtype(), weight.device());
  if (indices.numel() == 0 || is_meta(out)) return out;
  const Tensor at = flat_indices(indices);
  const int64_t rows[2] = {indices.numel(), weight.size(1)}, steps[2] = {weight.size(1), 1};
  IndexSlot e(out->device);
  {
    const Launch launch(out, out.numel());
    kernels::indexing(out->device).index_select({out->data, out->dtype, 2, rows, steps}, weight.array(), 0, at.array(), e.data());
  }
  RG_CHECK_AS(Index, e.read().ok, "index out of range in self");
  return out;
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t padding_idx,
                                bool scale_grad_by_freq) {
  RG_CHECK(grad_output.dim() > 0 && (indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32),
           "embedding_dense_backward: expected a gradient with at least one dimension and indices of dtype Long or Int, got ",
           grad_output.sizes(), " and ", dtype_title(indices.dtype()));
  const int64_t width = grad_output.size(-1), n = indices.numel();
  RG_CHECK(grad_output.numel() == n * width, "embedding_dense_backward: a gradient of size ", grad_output.sizes(), " does not go with ", n,
           " indices");
  Tensor out = zeros(ints({num_weights, width}), grad_output.dtype(), grad_output.device());
  if (n == 0 || is_meta(out)) return out;
  const Tensor at = flat_indices(indices), grad = contiguous_data(grad_output);
  const int64_t rows[2] = {n, width}, steps[2] = {width, 1};
  IndexSlot e(out->device);
  {
    const Launch launch(out, grad.numel() * 2);
    kernels::indexing(out->device)
        .embedding_backward(out.array(), at.array(), {grad->data, grad->dtype, 2, rows, steps}, padding_idx, scale_grad_by_freq, e.data());
  }
  RG_CHECK_AS(Index, e.read().ok, "index out of range in self");
  return out;
}

Tensor one_hot(const Tensor& self, int64_t num_classes) {
  RG_CHECK(self.dtype() == DType::Int64, "one_hot is only applicable to index tensor of type LongTensor.");
  RG_CHECK(self.numel() != 0 || num_classes > 0, "Can not infer total number of classes from empty tensor.");
  RG_CHECK_AS(NotImplemented, !is_meta(self) || num_classes > 0, "one_hot: a meta tensor has no values to infer num_classes from");
  if (self.numel() && !is_meta(self)) {
    const auto [low, high] = integer_range(self);
    RG_CHECK(low >= 0, "Class values must be non-negative.");
    if (num_classes == -1) num_classes = high + 1;
    RG_CHECK(high < num_classes, "Class values must be smaller than num_classes.");
  }
  int64_t sizes[kMaxDims];
  RG_CHECK(self.dim() < kMaxDims, "one_hot: too many dimensions");
  for (int64_t d = 0; d < self.dim(); ++d) sizes[d] = self.size(d);
  sizes[self.dim()] = num_classes;
  Tensor out = empty({sizes, static_cast<size_t>(self.dim() + 1)}, DType::Int64, self.device());
  if (out.numel() == 0 || is_meta(out)) return out;
  IndexSlot unused(self->device);  // the range is known
  const Launch launch(self, out.numel());
  kernels::indexing(self->device).one_hot(out.array(), self.array(), unused.data());
  return out;
}

}  // namespace retrograd::impl
