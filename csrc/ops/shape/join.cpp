// cat, stack and their relatives.
#include <cstring>

#include "core/promote.h"
#include "kernels/copy.h"
#include "native_shape.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {

using namespace shape;

namespace {

// Old programs join with torch.tensor([]), whatever the shape of the rest: a 1-d tensor without elements is left out.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

// Of tensors on one device.
DType joined_dtype(std::span<const Tensor> tensors, const char* op) {
  const uint64_t first = traits_word(tensors[0].get());
  uint64_t unlike = first & kNotCpuBits;
  for (const Tensor& t : tensors) unlike |= (traits_word(t.get()) ^ first) & (kDtypeBits | kDeviceBits);
  if (RG_LIKELY(!unlike)) return tensors[0].dtype();
  Promotion promotion;
  for (const Tensor& t : tensors) {
    if (t.device() != tensors[0].device()) check_same_device(tensors[0].get(), t.get(), op);
    promotion.add(t.get());
  }
  return unlike & kDtypeBits ? promotion.result() : tensors[0].dtype();
}

// A format that all tensors have.
MemoryFormat joined_format(std::span<const Tensor> tensors) {
  const MemoryFormat format = apparent_format(tensors[0].get());
  if (RG_LIKELY(format == MemoryFormat::Contiguous)) return format;
  for (const Tensor& t : tensors)
    if (apparent_format(t.get()) != format) return MemoryFormat::Contiguous;
  return format;
}

// Whether a stack of them along `d` is row by row: it is unless they are in another format, which joining along a dim of theirs keeps.
bool lies_in_rows(std::span<const Tensor> tensors, int64_t d) {
  return d == tensors[0].dim() || joined_format(tensors) == MemoryFormat::Contiguous;
}

// A block of block_diag.
int64_t height(const Tensor& t) { return t.dim() == 2 ? t.size(0) : 1; }
int64_t width(const Tensor& t) { return t.dim() == 2 ? t.size(1) : t.numel(); }

// Writes `t` as [outer, inner] blocks into rows of `row` elements, `at` elements in. Small contiguous blocks only.
bool write_rows(const Tensor& out, const Tensor& t, int64_t outer, int64_t row, int64_t at) {
  if (!t.is_contiguous() || t.dtype() != out.dtype() || t.numel() > 16384) return false;
  const auto item = static_cast<size_t>(itemsize(t.dtype()));
  const size_t bytes = static_cast<size_t>(outer ? t.numel() / outer : 0) * item;
  if (bytes < 32 && outer > 16) return false;
  kernels::copy(out->device)
      .rows(static_cast<char*>(out->data) + static_cast<size_t>(at) * item, row * itemsize(t.dtype()), t->data, outer, bytes);
  return true;
}

}  // namespace

namespace rule {

Spec cat(std::span<const Tensor> tensors, int64_t dim) {
  RG_CHECK_AS(Value, !tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    RG_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    if (!model && !is_skipped(tensors[i])) model = &tensors[i];
  }
  Spec spec(joined_dtype(tensors, "cat"), tensors[0]->device);
  if (!model) {
    wrap_dim(dim, 1);
    spec.add_dim(0);
    return spec;
  }
  const int n = static_cast<int>(model->dim());
  const int64_t d = wrap_dim(dim, n);
  int64_t total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    RG_CHECK(t.dim() == n, "Tensors must have same number of dimensions: got ", n, " and ", t.dim());
    for (int k = 0; k < n; ++k)
      RG_CHECK(k == d || t.size(k) == model->size(k), "Sizes of tensors must match except in dimension ", d, ". Expected size ",
               model->size(k), " but got size ", t.size(k), " for tensor number ", i, " in the list.");
    total += t.size(d);
  }
  for (int k = 0; k < n; ++k) spec.add_dim(k == d ? total : model->size(k));
  if (const MemoryFormat format = joined_format(tensors); RG_UNLIKELY(format != MemoryFormat::Contiguous)) spec.in_format(format);
  return spec;
}

Spec stack(std::span<const Tensor> tensors, int64_t dim) {
  RG_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t d = wrap_dim(dim, first.dim() + 1), count = static_cast<int64_t>(tensors.size());
  for (size_t i = 1; i < tensors.size(); ++i)
    RG_CHECK(same_sizes(first.get(), tensors[i].get()), "stack expects each tensor to be equal size, but got ", first.sizes(),
             " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  Spec spec(joined_dtype(tensors, "stack"), first->device);
  for (int64_t k = 0; k < d; ++k) spec.add_dim(first.size(k));
  spec.add_dim(count);
  for (int64_t k = d; k < first.dim(); ++k) spec.add_dim(first.size(k));
  if (RG_LIKELY(lies_in_rows(tensors, d))) return spec;
  // In the format of all the tensors joined along d, which is then seen as two dimensions.
  Geometry joined(first.get());
  RG_CHECK(!__builtin_mul_overflow(first.size(d), count, &joined.sizes[d]),
           "Storage size calculation overflowed with sizes=", first.sizes());
  checked_numel(joined.shape());
  format_strides(joined.shape(), joined_format(tensors), joined.strides);
  joined.insert(d, count, first.size(d) * joined.strides[d]);
  spec.with_strides(joined.steps());
  return spec;
}

Spec _block_diag(std::span<const Tensor> tensors) {
  if (tensors.empty()) return Spec(ints({1, 0}), default_dtype(), {});
  int64_t rows = 0, columns = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    RG_CHECK(tensors[i].dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i, " has ", tensors[i].dim(),
             " dimensions");
    rows += height(tensors[i]);
    columns += width(tensors[i]);
  }
  return Spec(ints({rows, columns}), joined_dtype(tensors, "block_diag"), tensors[0]->device);
}

}  // namespace rule

namespace compute {

void cat(std::span<const Tensor> tensors, int64_t dim, const Tensor& out) {
  const int n = out->ndim;
  const int64_t d = wrap_dim(dim, n);
  int64_t outer = 1;
  for (int64_t k = 0; k < d; ++k) outer *= out.size(k);
  const int64_t inner = out.stride(d), row = out.size(d) * inner;
  const bool in_rows = joined_format(tensors) == MemoryFormat::Contiguous;
  int64_t at = 0;
  const Launch launch(out, out.numel() / 2);
  for (const Tensor& t : tensors) {
    if (is_skipped(t) || t.numel() == 0) continue;
    if (!in_rows || !write_rows(out, t, outer, row, at * inner))
      kernels::copy(out->device)
          .copy({static_cast<char*>(out->data) + at * inner * itemsize(out.dtype()), out.dtype(), n, t->sizes(), out->strides()},
                t.array());
    at += t.size(d);
  }
}

void stack(std::span<const Tensor> tensors, int64_t dim, const Tensor& out) {
  const int64_t d = wrap_dim(dim, out.dim());
  int64_t outer = 1;
  for (int64_t k = 0; k < d; ++k) outer *= out.size(k);
  const int64_t inner = out.stride(d), row = static_cast<int64_t>(tensors.size()) * inner;
  const bool in_rows = lies_in_rows(tensors, d);
  Geometry part(out.get());
  part.erase(d);
  const Launch launch(out, out.numel() / 2);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * inner;
    if (!in_rows || !write_rows(out, tensors[i], outer, row, at))
      kernels::copy(out->device)
          .copy({static_cast<char*>(out->data) + at * itemsize(out.dtype()), out.dtype(), part.ndim, part.sizes, part.strides},
                tensors[i].array());
  }
}

void _block_diag(std::span<const Tensor> tensors, const Tensor& out) {
  fill_data(out, Scalar(0));
  int64_t row = 0, column = 0;
  for (const Tensor& t : tensors) {
    copy_data(alias_as(out, ints({height(t), width(t)}), out.strides(), row * out.size(1) + column), t);
    row += height(t);
    column += width(t);
  }
}

}  // namespace compute

namespace composite {
namespace {

template <class F> std::vector<Tensor> each(std::span<const Tensor> tensors, const char* name, F f) {
  RG_CHECK(!tensors.empty(), name, " expects a non-empty TensorList");
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

Tensor at_least_1d(const Tensor& t) { return t.dim() ? t : ops::reshape(t, ints({1})); }
Tensor at_least_2d(const Tensor& t) { return t.dim() == 0 ? ops::reshape(t, ints({1, 1})) : t.dim() == 1 ? ops::unsqueeze(t, 0) : t; }
Tensor at_least_3d(const Tensor& t) {
  if (t.dim() == 0) return ops::reshape(t, ints({1, 1, 1}));
  if (t.dim() == 1) return ops::unsqueeze(ops::unsqueeze(t, 0), -1);
  return t.dim() == 2 ? ops::unsqueeze(t, -1) : t;
}

}  // namespace

Tensor hstack(std::span<const Tensor> tensors) {
  const std::vector<Tensor> list = each(tensors, "hstack", at_least_1d);
  return ops::cat(list, list[0].dim() == 1 ? 0 : 1);
}
Tensor vstack(std::span<const Tensor> tensors) { return ops::cat(each(tensors, "vstack", at_least_2d), 0); }
Tensor dstack(std::span<const Tensor> tensors) { return ops::cat(each(tensors, "dstack", at_least_3d), 2); }
Tensor column_stack(std::span<const Tensor> tensors) {
  return ops::cat(each(tensors, "column_stack", [](const Tensor& t) { return t.dim() <= 1 ? ops::reshape(t, ints({t.numel(), 1})) : t; }),
                  1);
}

}  // namespace composite
}  // namespace retrograd
