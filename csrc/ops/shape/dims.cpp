// The order and the number of dimensions: permute, transpose, expand, squeeze, unsqueeze, and their in-place forms.
#include "autograd/history.h"
#include "autograd/tangent.h"
#include "autograd/untracked.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {
namespace shape {

Geometry transposed(const Tensor& t, int64_t dim0, int64_t dim1) {
  const int64_t a = wrap_dim(dim0, t.dim()), b = wrap_dim(dim1, t.dim());
  Geometry g(t.get());
  if (g.ndim == 0) return g;
  std::swap(g.sizes[a], g.sizes[b]);
  std::swap(g.strides[a], g.strides[b]);
  return g;
}

}  // namespace shape

using namespace shape;

namespace impl {

Tensor permute(const Tensor& self, IntSpan dims) {
  const int64_t n = self.dim();
  RG_CHECK(static_cast<int64_t>(dims.size()) == n,
           "permute(): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. "
           "input.dim() = ",
           n, " is not equal to len(dims) = ", dims.size());
  Geometry g;
  uint64_t seen = 0;
  for (const int64_t dim : dims) {
    const int64_t d = wrap_dim(dim, n);
    RG_CHECK(!(seen >> d & 1), "permute(): duplicate dims are not allowed.");
    seen |= uint64_t{1} << d;
    g.add(self.size(d), self.stride(d));
  }
  return g.on(self);
}

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) { return transposed(self, dim0, dim1).on(self); }

Tensor t(const Tensor& self) {
  RG_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D");
  return self.dim() < 2 ? alias(self) : transposed(self, 0, 1).on(self);
}

Tensor expand(const Tensor& self, IntSpan size, bool) {
  const int64_t n = self.dim(), extra = static_cast<int64_t>(size.size()) - n;
  RG_CHECK(extra >= 0, "expand(torch.", dtype_storage_name(self.dtype()), "{", self.sizes(), "}, size=", size,
           "): the number of sizes provided (", size.size(), ") must be greater or equal to the number of dimensions in the tensor (", n,
           ")");
  Geometry g;
  for (int64_t d = 0; d < static_cast<int64_t>(size.size()); ++d) {
    int64_t want = size[static_cast<size_t>(d)];
    if (d < extra) {
      RG_CHECK(want >= 0, "The expanded size of the tensor (", want, ") isn't allowed in a leading, non-existing dimension ", d);
      g.add(want, 0);
      continue;
    }
    const int64_t have = self.size(d - extra);
    if (want == -1) want = have;
    if (want == have) {
      g.add(have, self.stride(d - extra));
    } else {
      RG_CHECK(have == 1 && want >= 0, "The expanded size of the tensor (", want, ") must match the existing size (", have,
               ") at non-singleton dimension ", d, ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
      g.add(want, 0);
    }
  }
  checked_numel(g.shape());
  // New leading dimensions of size one read as a contiguous tensor's would.
  for (int64_t d = extra - 1; d >= 0; --d)
    if (g.sizes[d] == 1) g.strides[d] = d + 1 < g.ndim ? g.sizes[d + 1] * g.strides[d + 1] : 1;
  return g.on(self);
}

namespace {

Tensor squeeze_mask(const Tensor& self, uint64_t mask) {
  Geometry g;
  for (int d = 0; d < self->ndim; ++d)
    if (self->size(d) != 1 || !(mask >> d & 1)) g.add(self->size(d), self->stride(d));
  return g.on(self);
}

}  // namespace

Tensor squeeze(const Tensor& self) { return squeeze_mask(self, ~uint64_t{0}); }
Tensor squeeze_dim(const Tensor& self, int64_t dim) { return squeeze_mask(self, uint64_t{1} << wrap_dim(dim, self.dim())); }
Tensor squeeze_dims(const Tensor& self, IntSpan dim) { return squeeze_mask(self, dim.empty() ? 0 : dim_mask(dim, self.dim(), "squeeze")); }

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  const auto at = static_cast<int>(wrap_dim(dim, self.dim() + 1));
  Geometry g(self.get());
  const int64_t stride = at < self->ndim ? self->size(at) * self->stride(at) : 1;
  g.insert(at, 1, stride);
  return g.on(self);
}

Tensor alias_view(const Tensor& self) { return alias(self); }

Tensor detach(const Tensor& self) {
  Tensor out = alias(self);
  if (RG_UNLIKELY(self->has(kInference)) && !thread_state.inference_mode) give_version(out.get(), 0);
  requires_grad(self) ? note_cut(out.get(), CutKind::Detach) : set_cut(out.get(), note_of(self.get()));
  return out;
}

}  // namespace impl

namespace composite {

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) { return ops::transpose(self, axis0, axis1); }
Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) { return ops::transpose(self, dim0, dim1); }

Tensor movedim_int(const Tensor& self, int64_t source, int64_t destination) {
  return ops::movedim_intlist(self, ints({source}), ints({destination}));
}

Tensor movedim_intlist(const Tensor& self, IntSpan source, IntSpan destination) {
  RG_CHECK(source.size() == destination.size(), "movedim: Invalid source or destination dims: source (", source,
           " dims) should contain the same number of dims as destination (", destination, " dims)");
  const int64_t n = self.dim();
  int64_t order[kMaxDims];
  std::fill(order, order + n, -1);
  uint64_t moved = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = wrap_dim(source[i], n), to = wrap_dim(destination[i], n);
    RG_CHECK(!(moved >> from & 1), "movedim: repeated dim in `source` (", source, ")");
    if (n == 0) continue;
    RG_CHECK(order[to] < 0, "movedim: repeated dim in `destination` (", destination, ")");
    moved |= uint64_t{1} << from;
    order[to] = from;
  }
  int64_t next = 0;
  for (int64_t d = 0; d < n; ++d) {
    if (order[d] >= 0) continue;
    while (moved >> next & 1) ++next;
    order[d] = next++;
  }
  return n ? ops::permute(self, {order, static_cast<size_t>(n)}) : ops::alias_view(self);
}

Tensor numpy_T(const Tensor& self) {
  const int64_t n = self.dim();
  if (n != 2) {
    const char* text =
        n == 0 ? "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases."
               : "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated. Use `x.mT` for batches "
                 "of matrices, or `x.permute(*range(x.ndim - 1, -1, -1))` to reverse the dimensions.";
    if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
  }
  int64_t order[kMaxDims];
  for (int64_t d = 0; d < n; ++d) order[d] = n - 1 - d;
  return ops::permute(self, {order, static_cast<size_t>(n)});
}

namespace {

// A 0-d tensor is its own transpose.
Tensor conjugate_transpose(const Tensor& self, const char* name) {
  if (self.dim() == 0) {
    const char* rest = is_complex(self.dtype()) ? " is deprecated on 0-D tensors. Consider using x.conj()."
                                                : " is deprecated on 0-D tensors. This function is the identity in these cases.";
    if (PyErr_WarnEx(PyExc_UserWarning, str_cat(name, rest).c_str(), 1) != 0) throw PythonError();
    return ops::conj(self);
  }
  RG_CHECK(self.dim() >= 2, name, " is only supported on matrices or batches of matrices. Got ", self.dim(), "-D tensor.");
  return ops::conj(ops::transpose(self, -2, -1));
}

}  // namespace

Tensor adjoint(const Tensor& self) { return conjugate_transpose(self, "tensor.adjoint()"); }
Tensor matrix_H(const Tensor& self) {
  RG_CHECK(self.dim() == 0 || self.dim() == 2, "tensor.H is only supported on matrices (2-D tensors). Got ", self.dim(), "-D tensor.",
           self.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : "");
  return conjugate_transpose(self, "tensor.H");
}

Tensor expand_as(const Tensor& self, const Tensor& other) { return ops::expand(self, other.sizes(), false); }
Tensor broadcast_to(const Tensor& self, IntSpan size) { return ops::expand(self, size, false); }

// ---- in place: self takes the geometry and the history of the view made from it ----

namespace {

// `renamed` is what the node of the op becomes here: PyTorch counts the in-place overload as one more.
template <class F> void become_view(const Tensor& self, NodeInfo& renamed, const char* name, F make) {
  const bool needs = requires_grad(self);
  check_inplace(self, needs);
  Tensor made = make();
  set_geometry(self.get(), made.sizes(), made.strides());
  self->data = made->data;
  wrote_inplace(self);
  if (RG_UNLIKELY(self->has(kBatched)) && made->has(kBatched)) {
    std::swap(self->extra->batched, made->extra->batched);
    self->extra->batch_dim = made->extra->batch_dim;
  }
  if (RG_UNLIKELY(has_tangent(made)))
    for (const uint32_t level : levels_of(made)) set_tangent(self, level, tangent_of(made, level));
  // A view reads its base anew on its next use; anything else goes on from the op. What retain_grad() keeps has the shape of before.
  if (self->base && self->has(kRetainsGrad) && needs && thread_state.grad_mode) {
    self->flags &= static_cast<uint16_t>(~kRetainsGrad);
    grad_fn_of(self.get());
    self->flags |= kRetainsGrad;
  }
  if (self->base || !made->grad_fn) return;
  Node* node = std::exchange(made->grad_fn, nullptr);
  if (!renamed.name) {
    renamed = *node->info;
    renamed.name = name;
    renamed.type = node_type_of(renamed);
  }
  node->info = &renamed;
  Py_SET_TYPE(node->object(), renamed.type);
  replace_history(self.get(), node, 0, false);
}

NodeInfo transpose_info, t_info, squeeze_info, squeeze_dim_info, squeeze_dims_info, unsqueeze_info, as_strided_info;

}  // namespace

void transpose_inplace_(const Tensor& self, int64_t dim0, int64_t dim1) {
  become_view(self, transpose_info, "TransposeBackward1", [&] { return ops::transpose(self, dim0, dim1); });
}
void swapaxes_(const Tensor& self, int64_t axis0, int64_t axis1) { transpose_inplace_(self, axis0, axis1); }
void swapdims_(const Tensor& self, int64_t dim0, int64_t dim1) { transpose_inplace_(self, dim0, dim1); }
void t_inplace_(const Tensor& self) {
  become_view(self, t_info, "TBackward1", [&] { return ops::t(self); });
}
void squeeze_inplace_(const Tensor& self) {
  become_view(self, squeeze_info, "SqueezeBackward3", [&] { return ops::squeeze(self); });
}
void squeeze_inplace_dim_(const Tensor& self, int64_t dim) {
  become_view(self, squeeze_dim_info, "SqueezeBackward4", [&] { return ops::squeeze_dim(self, dim); });
}
void squeeze_inplace_dims_(const Tensor& self, IntSpan dim) {
  become_view(self, squeeze_dims_info, "SqueezeBackward5", [&] { return ops::squeeze_dims(self, dim); });
}
void unsqueeze_inplace_(const Tensor& self, int64_t dim) {
  become_view(self, unsqueeze_info, "UnsqueezeBackward1", [&] { return ops::unsqueeze(self, dim); });
}
void as_strided_inplace_(const Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset) {
  become_view(self, as_strided_info, "AsStridedBackward1", [&] { return ops::as_strided(self, size, stride, storage_offset); });
}

}  // namespace composite
}  // namespace retrograd
