// Tables of rows: embedding, its gradient, and one_hot.
#include <algorithm>

#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"

namespace retrograd {
namespace {

// indices of any shape as a vector.
class FlatIndices {
 public:
  explicit FlatIndices(const Tensor& indices) : held_(contiguous_data(cast_data(indices, DType::Int64))), n_(indices.numel()) {}
  kernels::Array array() const { return {held_->data, DType::Int64, 1, &n_, &kStep}; }

 private:
  static constexpr int64_t kStep = 1;
  Tensor held_;
  int64_t n_;
};

// One vector of `width` elements for each index.
Spec rows_for(const Tensor& indices, int64_t width, DType dtype) {
  Spec spec(dtype, indices->device);
  for (int d = 0; d < indices->ndim; ++d) spec.add_dim(indices->size(d));
  spec.add_dim(width);
  return spec;
}

// The largest of class indices, none of which may be negative.
int64_t last_class(const Tensor& classes) {
  const auto [low, high] = range_of<int64_t>(classes);
  RG_CHECK(low >= 0, "Class values must be non-negative.\n  the least is ", low);
  return high;
}

}  // namespace

namespace rule {

Spec embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool sparse) {
  RG_CHECK_AS(NotImplemented, !sparse,
              "torch.embedding: sparse=True is not supported here; nn.functional.embedding(sparse=True) gives sparse gradients");
  RG_CHECK(weight.dim() == 2, "'weight' must be 2-D");
  RG_CHECK(indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32,
           "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.",
           dtype_storage_name(indices.dtype()),
           " instead (while checking arguments for embedding)\n  Hint: indices are integers: convert them with .long().");
  check_same_device(weight.get(), indices.get(), "embedding");
  return rows_for(indices, weight.size(1), weight.dtype());
}

Spec embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t num_weights, int64_t, bool) {
  RG_CHECK(grad_output.dim() > 0 && (indices.dtype() == DType::Int64 || indices.dtype() == DType::Int32),
           "embedding_dense_backward: expected a gradient with at least one dimension and indices of dtype Long or Int, got ",
           grad_output.sizes(), " and ", dtype_title(indices.dtype()));
  check_same_device(grad_output.get(), indices.get(), "embedding_dense_backward");
  const int64_t width = grad_output.size(-1), n = indices.numel();
  RG_CHECK(grad_output.numel() == n * width, "embedding_dense_backward: a gradient of size ", grad_output.sizes(), " does not go with ", n,
           " indices");
  return Spec(ints({num_weights, width}), grad_output.dtype(), grad_output->device);
}

Spec one_hot(const Tensor& self, int64_t num_classes) {
  RG_CHECK(self.dtype() == DType::Int64,
           "one_hot is only applicable to index tensor of type LongTensor.\n  Hint: convert it with .long().");
  RG_CHECK(self.numel() != 0 || num_classes > 0, "Can not infer total number of classes from empty tensor.");
  if (num_classes < 1) {
    const int64_t last = last_class(self);
    RG_CHECK(num_classes == -1, "Class values must be smaller than num_classes.\n  the largest is ", last, ", num_classes is ",
             num_classes);
    num_classes = last + 1;
  }
  return rows_for(self, num_classes, DType::Int64);
}

}  // namespace rule

namespace compute {

void embedding(const Tensor& weight, const Tensor& indices, int64_t, bool, bool, const Tensor& out) {
  if (indices.numel() == 0) return;
  const FlatIndices at(indices);
  const int64_t rows[2] = {indices.numel(), weight.size(1)}, steps[2] = {weight.size(1), 1};
  IndexSlot e(out->device);
  {
    const Launch launch(out, out.numel());
    kernels::indexing(out->device).index_select({out->data, out->dtype, 2, rows, steps}, weight.array(), 0, at.array(), e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_range(e.read());
}

void embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, int64_t, int64_t padding_idx, bool scale_grad_by_freq,
                              const Tensor& out) {
  fill_data(out, Scalar(0));
  const int64_t n = indices.numel();
  if (n == 0) return;
  const FlatIndices at(indices);
  const Tensor grad = contiguous_data(grad_output);
  const int64_t rows[2] = {n, out.size(1)}, steps[2] = {out.size(1), 1};
  IndexSlot e(out->device);
  {
    const Launch launch(out, grad.numel() * 2);
    kernels::indexing(out->device)
        .embedding_backward(out.array(), at.array(), {grad->data, grad->dtype, 2, rows, steps}, padding_idx, scale_grad_by_freq, e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_range(e.read());
}

void one_hot(const Tensor& self, int64_t, const Tensor& out) {
  if (self.numel() == 0) return;
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel());
    kernels::indexing(self->device).one_hot(out.array(), self.array(), e.data());
  }
  if (RG_LIKELY(e.read().ok)) return;
  fail(ErrorKind::Runtime, "Class values must be smaller than num_classes.\n  the largest is ", last_class(self), ", num_classes is ",
       out.size(-1));
}

}  // namespace compute
}  // namespace retrograd
