// view and reshape: other sizes for the same elements.
#include "core/promote.h"
#include "core/state.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {
namespace shape {

Shape infer_sizes(IntSpan sizes, int64_t numel) {
  Shape out;
  RG_CHECK(sizes.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", sizes.size());
  out.ndim = static_cast<int>(sizes.size());
  int hole = -1;
  int64_t product = 1;
  bool overflow = false;
  for (int d = 0; d < out.ndim; ++d) {
    const int64_t n = sizes[static_cast<size_t>(d)];
    out.sizes[d] = n;
    if (n == -1) {
      RG_CHECK(hole < 0, "only one dimension can be inferred");
      hole = d;
      continue;
    }
    RG_CHECK(n >= 0, "invalid shape dimension ", n, " at index ", d, " of shape ", sizes);
    overflow |= __builtin_mul_overflow(product, n, &product);
  }
  if (RG_LIKELY(!overflow)) {
    if (hole < 0) {
      if (product == numel) return out;
    } else if (product > 0 && numel % product == 0) {
      out.sizes[hole] = numel / product;
      return out;
    } else if (product == 0 && numel == 0) {
      fail(ErrorKind::Runtime, "cannot reshape tensor of 0 elements into shape ", sizes,
           " because the unspecified dimension size -1 can be any value and is ambiguous");
    }
  }
  fail(ErrorKind::Runtime, "shape '", sizes, "' is invalid for input of size ", numel);
}

bool view_strides(const TensorImpl* t, IntSpan sizes, int64_t* strides) {
  size_t n = sizes.size();
  if (t->is_contiguous() && !(t->numel == 0 && same_sizes(t->shape(), sizes))) {
    int64_t step = 1;
    while (n-- > 0) {
      strides[n] = step;
      step *= sizes[n] > 1 ? sizes[n] : 1;
    }
    return true;
  }
  if (t->numel == 0) {  // the same sizes: keep the strides
    for (size_t d = 0; d < n; ++d) strides[d] = t->stride(static_cast<int>(d));
    return true;
  }
  // From the back: take dimensions of t that lie one after the other in memory as a block, and let the new sizes fill it.
  int o = t->ndim;
  int64_t step = 1;
  while (true) {
    while (o > 0 && t->size(o - 1) == 1) --o;
    if (o == 0) break;
    --o;
    step = t->stride(o);
    int64_t block = t->size(o);
    while (o > 0 && (t->size(o - 1) == 1 || t->stride(o - 1) == block * step)) block *= t->size(--o);
    int64_t filled = 1;
    while (n > 0 && (filled < block || sizes[n - 1] == 1)) {
      --n;
      strides[n] = filled * step;
      filled *= sizes[n];
    }
    if (filled != block) return false;
  }
  while (n > 0) strides[--n] = step;  // only ones are left
  return true;
}

}  // namespace shape

using namespace shape;

namespace impl {

Tensor view(const Tensor& self, IntSpan size) {
  const Shape sizes = infer_sizes(size, self.numel());
  int64_t strides[kMaxDims];
  RG_CHECK(view_strides(self.get(), sizes, strides),
           "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
           "contiguous subspaces). Use .reshape(...) instead.");
  return view_of(self, sizes, {strides, static_cast<size_t>(sizes.ndim)});
}

Tensor _unsafe_view(const Tensor& self, IntSpan size) { return view(self, size); }

Tensor view_dtype(const Tensor& self, DType dtype) {
  const int64_t from = itemsize(self.dtype()), to = itemsize(dtype);
  RG_CHECK(!self->has(kConj) || self.dtype() == dtype,
           "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.");
  RG_CHECK(!self->has(kNeg) || self.dtype() == dtype,
           "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype.");
  Geometry g(self.get());
  if (from != to) {
    auto titles = [&] { return str_cat(dtype_title(self.dtype()), " as ", dtype_title(dtype), " (different element sizes)"); };
    RG_CHECK(g.ndim > 0, "self.dim() cannot be 0 to view ", titles());
    const int last = g.ndim - 1;
    if (from > to) {
      const int64_t ratio = from / to;
      RG_CHECK(g.strides[last] == 1, "self.stride(-1) must be 1 to view ", titles(), ", but got ", g.strides[last]);
      for (int d = 0; d < last; ++d) g.strides[d] *= ratio;
      g.sizes[last] *= ratio;
    } else {
      const int64_t ratio = to / from;
      RG_CHECK(g.sizes[last] % ratio == 0, "self.size(-1) must be divisible by ", ratio, " to view ", titles(), ", but got ",
               g.sizes[last]);
      RG_CHECK(self->offset() % ratio == 0, "self.storage_offset() must be divisible by ", ratio, " to view ", titles(), ", but got ",
               self->offset());
      RG_CHECK(g.strides[last] == 1, "self.stride(-1) must be 1 to view ", titles(), ", but got ", g.strides[last]);
      for (int d = 0; d < last; ++d) {
        RG_CHECK(g.strides[d] % ratio == 0, "self.stride(", d, ") must be divisible by ", ratio, " to view ", titles(), ", but got ",
                 g.strides[d]);
        g.strides[d] /= ratio;
      }
      g.sizes[last] /= ratio;
    }
  }
  Tensor out = alias(self);
  out->dtype = dtype;
  // No view for autograd: of inference only when it is made there.
  out->flags = static_cast<uint16_t>((out->flags & ~kInference) | (thread_state.inference_mode ? kInference : 0));
  set_geometry(out.get(), g.shape(), g.steps());
  return out;
}

}  // namespace impl

namespace composite {

Tensor reshape(const Tensor& self, IntSpan shape) {
  const Shape sizes = infer_sizes(shape, self.numel());
  int64_t strides[kMaxDims];
  if (RG_LIKELY(view_strides(self.get(), sizes, strides))) return ops::view(self, sizes);
  return ops::_unsafe_view(ops::clone_format(self, MemoryFormat::Contiguous), sizes);
}

Tensor view_as(const Tensor& self, const Tensor& other) { return ops::view(self, other.sizes()); }
Tensor reshape_as(const Tensor& self, const Tensor& other) { return ops::reshape(self, other.sizes()); }

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim(start_dim, self.dim()), end = wrap_dim(end_dim, self.dim());
  RG_CHECK(start <= end, "flatten() has invalid args: start_dim cannot come after end_dim");
  if (self.dim() == 0) return ops::reshape(self, ints({1}));
  if (start == end) return self;
  Shape sizes;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d > start && d <= end) {
      sizes.sizes[sizes.ndim - 1] *= self.size(d);
    } else {
      sizes.sizes[sizes.ndim++] = self.size(d);
    }
  }
  return ops::reshape(self, sizes);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntSpan sizes) {
  const int64_t at = wrap_dim(dim, self.dim());
  RG_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  const int64_t n = self.dim() ? self.size(at) : 1;
  int64_t product = 1;
  int hole = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    RG_CHECK(sizes[i] != -1 || hole < 0, "only one dimension can be inferred");
    if (sizes[i] == -1) {
      hole = static_cast<int>(i);
    } else {
      product *= sizes[i];
    }
  }
  RG_CHECK(hole < 0 ? product == n : product > 0 && n % product == 0, "unflatten: Provided sizes ", sizes,
           " don't multiply up to the size of dim ", at, " (", n, ") in the input tensor");
  Shape out;
  RG_CHECK(static_cast<size_t>(self.dim()) + sizes.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims,
           " dimensions");
  for (int64_t d = 0; d < at; ++d) out.sizes[out.ndim++] = self.size(d);
  for (const int64_t s : sizes) out.sizes[out.ndim++] = s == -1 ? n / product : s;
  for (int64_t d = at + 1; d < self.dim(); ++d) out.sizes[out.ndim++] = self.size(d);
  return ops::view(self, out);
}

Tensor ravel(const Tensor& self) { return ops::view(ops::contiguous(self), ints({-1})); }

}  // namespace composite
}  // namespace retrograd
