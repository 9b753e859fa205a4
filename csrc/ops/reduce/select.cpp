// The two halves of "take the values these indices name" (max, sort, median, topk ...) and "bring reduced dims back": each is the other's
// derivative, so derivatives of selecting reductions of any order stay inside this file.
#include "kernels/index.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

// A tensor as an array that has the dim a reduction dropped, with one element along it.
struct WithDim {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  int ndim;
  WithDim(const Tensor& t, int64_t dim, bool present) {
    ndim = 0;
    for (int d = 0; d < t.dim(); ++d) {
      if (!present && d == dim) insert();
      sizes[ndim] = t.size(d);
      strides[ndim++] = t.stride(d);
    }
    if (!present && dim == t.dim()) insert();
  }
  kernels::Array array(const Tensor& t) const { return {t->data, t->dtype, ndim, sizes, strides}; }

 private:
  void insert() {
    sizes[ndim] = 1;
    strides[ndim++] = 1;
  }
};

void check_places(const kernels::IndexError& error) {
  RG_CHECK_AS(Index, error.ok, "index ", error.value, " is out of bounds for dimension ", error.dim, " with size ", error.size);
}

// Gradients come from hooks and GradientEdges too, in any shape; the kernels believe what they are told.
void check_along(IntSpan whole, int d, const WithDim& index, const Tensor& given, const Tensor& indices) {
  const int ndim = static_cast<int>(whole.size());
  bool fits = index.ndim == ndim && given.device() == indices.device();
  for (int k = 0; fits && k < ndim; ++k) fits = k == d || index.sizes[k] == whole[static_cast<size_t>(k)];
  RG_CHECK(fits, "a gradient or tangent of size ", given.sizes(), " on ", device_name(given.device()), " does not go with indices of size ",
           indices.sizes(), " on ", device_name(indices.device()));
}

}  // namespace

namespace rule {

Spec _take_along(const Tensor& self, int64_t dim, const Tensor& indices, bool keepdim) {
  const int d = kernel_dim(dim, self);
  check_along(self.sizes(), d, WithDim(indices, d, keepdim || self.dim() == 0), self, indices);
  return Spec::of(indices, self.dtype());
}

Spec _put_along(const Tensor& self, int64_t dim, const Tensor& indices, IntSpan size, bool keepdim, bool) {
  const int64_t ndim = static_cast<int64_t>(size.size());
  const int d = static_cast<int>(wrap_dim(dim, ndim));
  check_along(size, d, WithDim(indices, d, keepdim || ndim == 0), self, indices);
  RG_CHECK(same_sizes(self.get(), indices.get()), "a gradient of size ", self.sizes(), " does not go with indices of size ",
           indices.sizes());
  return Spec(size, self.dtype(), self->device);
}

}  // namespace rule

namespace compute {

void _take_along(const Tensor& self, int64_t dim, const Tensor& indices, bool keepdim, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  const bool present = keepdim || self.dim() == 0;
  const WithDim out_dims(out, d, present), index_dims(indices, d, present);
  IndexSlot error(self->device);
  run_kernel(indices, 16, [&] {
    kernels::indexing(self->device).gather(out_dims.array(out), self.array(), d, index_dims.array(indices), error.data());
  });
  check_places(error.read());
}

void _put_along(const Tensor& self, int64_t dim, const Tensor& indices, IntSpan, bool keepdim, bool accumulate, const Tensor& out) {
  fill_data(out, Scalar(0));
  const int d = kernel_dim(dim, out);
  const bool present = keepdim || out.dim() == 0;
  const WithDim src_dims(self, d, present), index_dims(indices, d, present);
  IndexSlot error(self->device);
  run_kernel(indices, 16, [&] {
    const kernels::Array src = src_dims.array(self), index = index_dims.array(indices);
    const auto& k = kernels::indexing(self->device);
    if (!accumulate) return k.scatter(out.array(), d, index, src, error.data());
    k.scatter_reduce(out.array(), d, index, src, kernels::Reduce::Sum, true, error.data());
  });
  check_places(error.read());
}

}  // namespace compute

namespace impl {

// self has stride 0 in the dims that a reduction over `dim` dropped or made 1.
Tensor _expand_reduced(const Tensor& self, IntSpan size, OptInts dim, bool keepdim) {
  const int64_t ndim = static_cast<int64_t>(size.size());
  const uint64_t mask = dim_mask(dim, ndim, "expand");
  int64_t strides[kMaxDims];
  int64_t at = 0;
  for (int64_t d = 0; d < ndim; ++d) {
    const bool reduced = has_dim(mask, d);
    RG_CHECK(reduced || (at < self.dim() && self.size(at) == size[static_cast<size_t>(d)]), "_expand_reduced: ", self.sizes(),
             " is no reduction of ", size);
    strides[d] = reduced ? 0 : self.stride(at);
    if (!reduced || keepdim) ++at;
  }
  return alias_as(self, size, {strides, size.size()}, self->offset());
}

}  // namespace impl
}  // namespace retrograd
