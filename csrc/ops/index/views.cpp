// Copies with a view replaced, and index ops made of other ops.
#include <algorithm>

#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"
#include "ops/lazy.h"

namespace retrograd {
namespace {

// With the same strides, gaps included, where no two elements share memory.
Tensor same_layout_copy(const Tensor& t) {
  if (has_internal_overlap(t.get())) return clone_data(t);
  Tensor out = empty_strided(t.sizes(), t.strides(), t.dtype(), t.device());
  copy_data(out, t);
  return out;
}

void replace(const Tensor& part, const Tensor& src) {
  RG_CHECK(same_sizes(part.get(), src.get()), "expected src to have a size equal to the slice of self. src size = ", src.sizes(),
           ", slice size = ", part.sizes());
  check_same_device(part.get(), src.get(), "scatter");
  copy_data(part, src);
}

}  // namespace

namespace impl {

Tensor select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  Tensor out = same_layout_copy(self);
  replace(select(out, dim, index), src);
  return out;
}

Tensor slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                     int64_t step) {
  RG_CHECK_AS(Index, self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  Tensor out = same_layout_copy(self);
  replace(slice(out, dim, start, end, step), src);
  return out;
}

Tensor diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = same_layout_copy(self);
  replace(diagonal(out, offset, dim1, dim2), src);
  return out;
}

Tensor _as_strided_scatter(const Tensor& self, const Tensor& src, IntSpan size, IntSpan stride, int64_t offset, IntSpan self_stride,
                           int64_t self_offset) {
  // Memory for both geometries, from the first place that either has.
  const int64_t shift = std::min(offset, self_offset);
  const auto end = [](IntSpan sizes, IntSpan strides, int64_t start) {
    for (size_t d = 0; d < sizes.size(); ++d) start += (sizes[d] - 1) * strides[d];
    return start + 1;
  };
  const int64_t needed[] = {self.numel() ? end(self.sizes(), self_stride, self_offset - shift) : 0,
                            checked_numel(size) ? end(size, stride, offset - shift) : 0};
  const Tensor memory = retrograd::empty(ints({std::max(needed[0], needed[1])}), self.dtype(), self.device());
  Tensor out = alias_as(memory, self.sizes(), self_stride, self_offset - shift);
  copy_data(out, self);
  const Tensor part = alias_as(memory, size, stride, offset - shift);
  check_no_internal_overlap(part);
  replace(part, src);
  return out;
}

}  // namespace impl

namespace composite {
namespace {

std::string_view reduction(std::string_view reduce) {
  RG_CHECK(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
  return reduce == "add" ? "sum" : "prod";
}

Tensor filled_like(const Tensor& index, Scalar value, const Tensor& self) {
  check_fits(value, self.dtype());
  return full(index.sizes(), value, self.dtype(), self.device());
}

}  // namespace

Tensor as_strided_scatter(const Tensor& given, const Tensor& src, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset) {
  const Tensor self = is_lazy(given) ? ops::clone(given) : given;  // what is meant is the memory of its elements as they are
  const int64_t offset = storage_offset.value_or(self->offset());
  if (!has_internal_overlap(self.get())) {
    impl::as_strided(self, size, stride, offset);  // whether it is within the memory of self
    return ops::_as_strided_scatter(self, src, size, stride, offset, self.strides(), self->offset());
  }
  const Tensor dense = retrograd::empty_like(self);
  impl::as_strided(dense, size, stride, offset);
  return ops::_as_strided_scatter(self, src, size, stride, offset, dense.strides(), 0);
}

Tensor scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  return ops::scatter_reduce_two(self, dim, index, src, reduction(reduce), true);
}

void scatter_reduce_(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce) {
  ops::scatter_reduce_two_(self, dim, index, src, reduction(reduce), true);
}

Tensor scatter_value_reduce(const Tensor& self, int64_t dim, const Tensor& index, Scalar value, std::string_view reduce) {
  return ops::scatter_reduce_two(self, dim, index, filled_like(index, value, self), reduction(reduce), true);
}

void scatter_value_reduce_(const Tensor& self, int64_t dim, const Tensor& index, Scalar value, std::string_view reduce) {
  ops::scatter_reduce_two_(self, dim, index, filled_like(index, value, self), reduction(reduce), true);
}

Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  RG_CHECK(indices.dtype() == DType::Int64, "torch.take_along_dim(): dtype of indices should be Long but got ",
           dtype_title(indices.dtype()));
  if (!dim) return ops::gather(ops::reshape(self, ints({-1})), 0, ops::reshape(indices, ints({-1})), false);
  RG_CHECK(self.dim() == indices.dim(), "torch.take_along_dim(): input and indices should have the same number of dimensions, but got ",
           self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t along = wrap_dim(*dim, self.dim());
  // Both broadcast but along dim, where each keeps its own size.
  Shape a, b;
  a.ndim = b.ndim = static_cast<int>(self.dim());
  for (int d = 0; d < a.ndim; ++d) {
    a.sizes[d] = d == along ? 1 : self.size(d);
    b.sizes[d] = d == along ? 1 : indices.size(d);
  }
  Shape shape = broadcast_shapes(a, b);
  shape.sizes[along] = self.size(along);
  const Tensor from = same_sizes(shape, self.sizes()) ? self : ops::expand(self, shape, false);
  shape.sizes[along] = indices.size(along);
  const Tensor wrapped =
      ops::where(ops::lt(indices, 0), ops::add(indices, Scalar(from.size(along)), 1), indices);  // -1 is the last, as in subscripts
  const Tensor at = same_sizes(shape, indices.sizes()) ? wrapped : ops::expand(wrapped, shape, false);
  return ops::gather(from, along, at, false);
}

Tensor argwhere(const Tensor& self) { return ops::_nonzero(self); }

}  // namespace composite
}  // namespace retrograd
