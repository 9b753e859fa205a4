// Masks and positions of nonzeros.
#include <algorithm>

#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"

namespace retrograd {
namespace {

void check_masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  RG_CHECK(mask.dtype() == DType::Bool, "masked_scatter_ only supports boolean masks, but got mask with dtype ", dtype_title(mask.dtype()));
  RG_CHECK(self.dtype() == source.dtype(), "masked_scatter: expected self and source to have same dtypes but got ",
           dtype_title(self.dtype()), " and ", dtype_title(source.dtype()));
  check_same_device(self.get(), mask.get(), "masked_scatter_");
  check_same_device(self.get(), source.get(), "masked_scatter_");
}

}  // namespace

namespace rule {

void masked_scatter_into(const Tensor& self, const Tensor& mask, const Tensor& source) {
  check_masked_scatter(self, mask, source);
  RG_CHECK(mask.dim() <= self.dim(), "expand(CPUBoolType{", mask.sizes(), "}, size=", self.sizes(), "): the number of sizes provided (",
           self.dim(), ") must be greater or equal to the number of dimensions in the tensor (", mask.dim(), ")");
  const Shape shape = broadcast_shapes(mask.sizes(), self.sizes());
  if (RG_UNLIKELY(!same_sizes(self.sizes(), shape))) fail_inplace_shape(self.sizes(), shape);
  check_no_internal_overlap(self);
}

Spec masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Shape shape = broadcast_shapes(mask.sizes(), self.sizes());
  check_masked_scatter(self, mask, source);
  return Spec(shape, self.dtype(), self->device);
}

}  // namespace rule

namespace rule {
Spec nonzero_static(const Tensor& self, int64_t size, int64_t) {
  RG_CHECK(size >= 0, "nonzero_static: 'size' must be an non-negative integer, got ", size);
  return Spec(ints({size, self.dim()}), DType::Int64, self->device);
}
}  // namespace rule

namespace compute {

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  RG_CHECK(mask.dtype() == DType::Bool, "masked_select: expected BoolTensor for mask");
  check_same_device(self.get(), mask.get(), "masked_select");
  const Shape shape = broadcast_shapes(mask.sizes(), self.sizes());
  const Tensor at = expand_data(mask, shape), from = expand_data(self, shape);
  const int64_t n = count_set(at);
  Tensor out = empty(ints({n}), self.dtype(), self.device());
  if (n) {
    const Launch launch(self, at.numel() * 2);
    kernels::indexing(self->device).masked_select(out.array(), vector_array(from), vector_array(at));
  }
  return out;
}

void masked_scatter_into(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Tensor at = expand_data(apart_from(mask, self), self.sizes()), from = contiguous_data(apart_from(source, self));
  RG_CHECK(count_set(at) <= from.numel(), "Number of elements of source < number of ones in mask");
  const Launch launch(self, self.numel() * 2);
  kernels::indexing(self->device).masked_scatter(vector_array(self), vector_array(at), vector_array(from));
}

void masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source, const Tensor& out) {
  copy_data(out, self);
  masked_scatter_into(out, mask, source);
}

Tensor _nonzero(const Tensor& self) {
  const int64_t n = count_set(self);
  const int64_t sizes[2] = {n, self.dim()};
  if (n == 0 || self.dim() == 0) return empty(sizes, DType::Int64, self.device());
  const int64_t strides[2] = {1, n};  // one run of memory per dimension: what indexing with the columns wants
  Tensor out = empty_strided(sizes, strides, DType::Int64, self.device());
  const Launch launch(self, self.numel());
  kernels::indexing(self->device).nonzero(out.array(), self.array());
  return out;
}

// Rows of nonzero(), cut or filled up.
void nonzero_static(const Tensor& self, int64_t size, int64_t fill_value, const Tensor& out) {
  const Tensor rows = _nonzero(self);
  const int64_t found = std::min(size, rows.size(0));
  copy_data(impl::slice(out, 0, 0, found, 1), impl::slice(rows, 0, 0, found, 1));
  fill_data(impl::slice(out, 0, found, size, 1), Scalar(fill_value));
}

}  // namespace compute
}  // namespace retrograd
