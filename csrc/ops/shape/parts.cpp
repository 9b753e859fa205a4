// Parts of a tensor: select, slice, diagonal, unfold, and the ops that put gradients of such parts back into zeros.
#include "native_shape.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {
namespace shape {

void select(Geometry& g, int64_t dim, int64_t index) {
  RG_CHECK_AS(Index, g.ndim > 0, "select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, g.ndim), n = g.sizes[d];
  RG_CHECK_AS(Index, index >= -n && index < n, "select(): index ", index, " out of range for tensor of size ", g.shape(), " at dimension ",
              d);
  g.shift += (index < 0 ? index + n : index) * g.strides[d];
  g.erase(d);
}

void slice(Geometry& g, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  RG_CHECK_AS(Index, g.ndim > 0, "slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, g.ndim), n = g.sizes[d];
  RG_CHECK(step > 0, "slice step must be positive");
  auto place = [n](int64_t i) { return i < 0 ? std::max<int64_t>(i + n, 0) : std::min(i, n); };
  const int64_t from = place(start.value_or(0));
  const int64_t to = std::max(from, place(end.value_or(n)));
  g.shift += from * g.strides[d];
  g.sizes[d] = to == from ? 0 : (to - from - 1) / step + 1;
  g.strides[d] = static_cast<int64_t>(static_cast<uint64_t>(g.strides[d]) * static_cast<uint64_t>(step));  // too large only for one element
}

void diagonal(Geometry& g, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t i = wrap_dim(dim1, g.ndim), j = wrap_dim(dim2, g.ndim);
  RG_CHECK(i != j, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t rows = g.sizes[i], columns = g.sizes[j], down = g.strides[i], right = g.strides[j];
  const int64_t length = offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  if (length > 0) g.shift += offset >= 0 ? offset * right : -offset * down;
  g.erase(std::max(i, j));
  g.erase(std::min(i, j));
  g.add(std::max<int64_t>(length, 0), down + right);
}

void unfold(Geometry& g, int64_t dim, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dim, g.ndim);
  const int64_t n = g.ndim ? g.sizes[d] : 1, stride = g.ndim ? g.strides[d] : 1;
  RG_CHECK(size >= 0, "size is ", size, " but must be >= 0");
  RG_CHECK(size <= n, "maximum size for tensor at dimension ", d, " is ", n, " but size is ", size);
  RG_CHECK(step > 0, "step is ", step, " but must be > 0");
  if (g.ndim) {
    g.sizes[d] = (n - size) / step + 1;
    g.strides[d] = stride * step;
  }
  g.add(size, stride);
  checked_numel(g.shape());
}

}  // namespace shape

using namespace shape;

namespace impl {

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  Geometry g(self.get());
  shape::select(g, dim, index);
  return g.on(self);
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  Geometry g(self.get());
  shape::slice(g, dim, start, end, step);
  return g.on(self);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  Geometry g(self.get());
  shape::diagonal(g, offset, dim1, dim2);
  return g.on(self);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  Geometry g(self.get());
  shape::unfold(g, dimension, size, step);
  return g.on(self);
}

}  // namespace impl

namespace {

// Zeros of these sizes around a part that is filled.
Spec around(const Geometry& part, const Tensor& filling, IntSpan sizes) {
  RG_CHECK(same_sizes(broadcast_shapes(filling.sizes(), part.shape()), part.shape()), "a tensor of size ", filling.sizes(),
           " does not broadcast to size ", part.shape());
  return Spec(sizes, filling.dtype(), filling->device);
}

void fill_part(const Tensor& out, const Geometry& part, const Tensor& filling) {
  fill_data(out, Scalar(0));
  copy_data(part.on(out), filling);
}

}  // namespace

namespace rule {

Spec diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  Geometry g(self.sizes());
  shape::diagonal(g, offset, dim1, dim2);
  return Spec(g.shape(), self.dtype(), self->device);
}

Spec select_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, int64_t index) {
  Geometry g(input_sizes);
  shape::select(g, dim, index);
  return around(g, self, input_sizes);
}

Spec slice_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                    int64_t step) {
  Geometry g(input_sizes);
  shape::slice(g, dim, start, end, step);
  return around(g, self, input_sizes);
}

Spec diagonal_backward(const Tensor& self, IntSpan input_sizes, int64_t offset, int64_t dim1, int64_t dim2) {
  Geometry g(input_sizes);
  shape::diagonal(g, offset, dim1, dim2);
  return around(g, self, input_sizes);
}

Spec diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t n = self.dim() + 1;
  const int64_t rows = wrap_dim(dim1, n), columns = wrap_dim(dim2, n);
  RG_CHECK(rows != columns, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  RG_CHECK(self.dim() > 0, "diag_embed(): expected a tensor with at least 1 dimension");
  const int64_t length = self.size(-1) + (offset < 0 ? -offset : offset);
  Spec spec(self.dtype(), self->device);
  int64_t next = 0;
  for (int64_t d = 0; d < n; ++d) spec.add_dim(d == rows || d == columns ? length : self.size(next++));
  return spec;
}

}  // namespace rule

namespace compute {

void diagonal_copy(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, const Tensor& out) {
  copy_data(out, impl::diagonal(self, offset, dim1, dim2));
}

void select_backward(const Tensor& self, IntSpan, int64_t dim, int64_t index, const Tensor& out) {
  Geometry g(out.get());
  shape::select(g, dim, index);
  fill_part(out, g, self);
}

void slice_backward(const Tensor& self, IntSpan, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                    const Tensor& out) {
  Geometry g(out.get());
  shape::slice(g, dim, start, end, step);
  fill_part(out, g, self);
}

void diagonal_backward(const Tensor& self, IntSpan, int64_t offset, int64_t dim1, int64_t dim2, const Tensor& out) {
  Geometry g(out.get());
  shape::diagonal(g, offset, dim1, dim2);
  fill_part(out, g, self);
}

void diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2, const Tensor& out) {
  diagonal_backward(self, {}, offset, dim1, dim2, out);
}

}  // namespace compute

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
