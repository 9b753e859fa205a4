// Parts of a tensor: select, slice, diagonal, unfold, and the ops that put gradients of such parts back into zeros.
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {
namespace shape {

Geometry selected(const Tensor& t, int64_t dim, int64_t index) {
  RG_CHECK_AS(Index, t.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, t.dim()), n = t.size(d);
  RG_CHECK_AS(Index, index >= -n && index < n, "select(): index ", index, " out of range for tensor of size ", t.sizes(), " at dimension ",
              d);
  Geometry g(t.get());
  g.shift += (index < 0 ? index + n : index) * g.strides[d];
  g.erase(d);
  return g;
}

Geometry sliced(const Tensor& t, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  RG_CHECK_AS(Index, t.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, t.dim()), n = t.size(d);
  RG_CHECK(step > 0, "slice step must be positive");
  auto place = [n](int64_t i) { return i < 0 ? std::max<int64_t>(i + n, 0) : std::min(i, n); };
  const int64_t from = place(start.value_or(0));
  const int64_t to = std::max(from, place(end.value_or(n)));
  Geometry g(t.get());
  g.shift += from * g.strides[d];
  g.sizes[d] = to == from ? 0 : (to - from - 1) / step + 1;
  g.strides[d] = static_cast<int64_t>(static_cast<uint64_t>(g.strides[d]) * static_cast<uint64_t>(step));  // too large only for one element
  return g;
}

Geometry diagonal_of(const Tensor& t, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t rows = wrap_dim(dim1, t.dim()), columns = wrap_dim(dim2, t.dim());
  RG_CHECK(rows != columns, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t length = offset >= 0 ? std::min(t.size(rows), t.size(columns) - offset) : std::min(t.size(rows) + offset, t.size(columns));
  const int64_t stride = t.stride(rows) + t.stride(columns);
  Geometry g(t.get());
  if (length > 0) g.shift += offset >= 0 ? offset * t.stride(columns) : -offset * t.stride(rows);
  g.erase(std::max(rows, columns));
  g.erase(std::min(rows, columns));
  g.add(std::max<int64_t>(length, 0), stride);
  return g;
}

Geometry unfolded(const Tensor& t, int64_t dim, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dim, t.dim());
  const int64_t n = t.dim() ? t.size(d) : 1, stride = t.dim() ? t.stride(d) : 1;
  RG_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  RG_CHECK(size <= n, "maximum size for tensor at dimension ", d, " is ", n, " but size is ", size);
  RG_CHECK(step > 0, "step is ", step, " but must be > 0");
  Geometry g(t.get());
  if (g.ndim) {
    g.sizes[d] = (n - size) / step + 1;
    g.strides[d] = stride * step;
  }
  g.add(size, stride);
  checked_numel(g.shape());
  return g;
}

}  // namespace shape

using namespace shape;

namespace impl {

Tensor select(const Tensor& self, int64_t dim, int64_t index) { return selected(self, dim, index).on(self); }

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return sliced(self, dim, start, end, step).on(self);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) { return diagonal_of(self, offset, dim1, dim2).on(self); }
Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) { return unfolded(self, dimension, size, step).on(self); }

Tensor diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const Tensor part = diagonal(self, offset, dim1, dim2);
  Tensor out = retrograd::empty(part.sizes(), self.dtype(), self.device());
  copy_data(out, part);
  return out;
}

Tensor select_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, int64_t index) {
  Tensor out = retrograd::zeros(input_sizes, self.dtype(), self.device());
  copy_data(select(out, dim, index), self);
  return out;
}

Tensor slice_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                      int64_t step) {
  Tensor out = retrograd::zeros(input_sizes, self.dtype(), self.device());
  copy_data(slice(out, dim, start, end, step), self);
  return out;
}

Tensor diagonal_backward(const Tensor& self, IntSpan input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Tensor out = retrograd::zeros(input_sizes, self.dtype(), self.device());
  copy_data(diagonal(out, offset, dim1, dim2), self);
  return out;
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t n = self.dim() + 1;
  const int64_t rows = wrap_dim(dim1, n), columns = wrap_dim(dim2, n);
  RG_CHECK(rows != columns, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  RG_CHECK(self.dim() > 0, "diag_embed(): expected a tensor with at least 1 dimension");
  const int64_t length = self.size(-1) + (offset < 0 ? -offset : offset);
  Shape sizes;
  int64_t next = 0;
  for (int64_t d = 0; d < n; ++d) sizes.sizes[sizes.ndim++] = d == rows || d == columns ? length : self.size(next++);
  return diagonal_backward(self, sizes, offset, rows, columns);
}

}  // namespace impl

namespace composite {

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  RG_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  RG_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  RG_CHECK_AS(Index, start >= -n && start <= n, "start out of range (expected to be in range of [", -n, ", ", n, "], but got ", start, ")");
  if (start < 0) start += n;
  RG_CHECK(start <= n - length, "start (", start, ") + length (", length, ") exceeds dimension size (", n, ").");
  return ops::slice(self, d, start, start + length, 1);
}

Tensor narrow_tensor(const Tensor& self, int64_t dim, const Tensor& start, int64_t length) {
  RG_CHECK(start.dim() == 0 && !is_differentiable(start.dtype()) && start.dtype() != DType::Bool,
           "start must be an 0-dim integral Tensor. Got ", start.dim(), " dimensions of ", dtype_title(start.dtype()));
  // Others are taken as the integer they hold, but a sample of vmap holds none.
  const Tensor range = ops::arange(length, DType::Int64, {}, self.device(), {}, {});
  return ops::index_select(self, dim, ops::add(range, start, 1));
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  RG_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ", self.dim(), "D");
  return self.dim() == 1 ? ops::diag_embed(self, diagonal, -2, -1) : ops::diagonal_copy(self, diagonal, 0, 1);
}

Tensor diagflat(const Tensor& self, int64_t offset) { return ops::diag_embed(ops::reshape(self, ints({-1})), offset, -2, -1); }

}  // namespace composite
}  // namespace retrograd
