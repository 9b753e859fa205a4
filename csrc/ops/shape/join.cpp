// cat, stack and their relatives.
#include <cstring>

#include "core/promote.h"
#include "kernels/copy.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {

using namespace shape;

namespace impl {
namespace {

// Old programs join with torch.tensor([]), whatever the shape of the rest: a 1-d tensor without elements is left out.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; }

DType joined_dtype(std::span<const Tensor> tensors) {
  bool same = true;
  for (const Tensor& t : tensors) same &= t.dtype() == tensors[0].dtype();
  if (RG_LIKELY(same)) return tensors[0].dtype();
  Promotion promotion;
  for (const Tensor& t : tensors) promotion.add(t.get());
  return promotion.result();
}

void check_devices(std::span<const Tensor> tensors, const char* op) {
  for (const Tensor& t : tensors)
    if (t.device() != tensors[0].device()) check_same_device(tensors[0].get(), t.get(), op);
}

// A format that all tensors have.
MemoryFormat joined_format(std::span<const Tensor> tensors) {
  const MemoryFormat format = apparent_format(tensors[0].get());
  if (RG_LIKELY(format == MemoryFormat::Contiguous)) return format;
  for (const Tensor& t : tensors)
    if (apparent_format(t.get()) != format) return MemoryFormat::Contiguous;
  return format;
}

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

Tensor cat(std::span<const Tensor> tensors, int64_t dim) {
  RG_CHECK_AS(Value, !tensors.empty(), "torch.cat(): expected a non-empty list of Tensors");
  const Tensor* model = nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    RG_CHECK(tensors[i].dim() > 0, "zero-dimensional tensor (at position ", i, ") cannot be concatenated");
    if (!model && !is_skipped(tensors[i])) model = &tensors[i];
  }
  check_devices(tensors, "cat");
  const DType dtype = joined_dtype(tensors);
  if (!model) {
    wrap_dim(dim, 1);
    return retrograd::empty(ints({0}), dtype, tensors[0].device());
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
  int64_t sizes[kMaxDims];
  std::copy(model->sizes().begin(), model->sizes().end(), sizes);
  sizes[d] = total;
  const MemoryFormat format = joined_format(tensors);
  Tensor out = empty_in({sizes, static_cast<size_t>(n)}, format, dtype, tensors[0].device());
  if (is_meta(out) || out.numel() == 0) return out;
  int64_t outer = 1;
  for (int64_t k = 0; k < d; ++k) outer *= sizes[k];
  const int64_t inner = out.stride(d), row = total * inner;
  int64_t at = 0;
  const Launch launch(out, out.numel() / 2);
  for (const Tensor& t : tensors) {
    if (is_skipped(t) || t.numel() == 0) continue;
    if (format != MemoryFormat::Contiguous || !write_rows(out, t, outer, row, at * inner)) {
      sizes[d] = t.size(d);
      kernels::copy(out->device)
          .copy({static_cast<char*>(out->data) + at * inner * itemsize(dtype), dtype, n, sizes, out->strides()}, t.array());
    }
    at += t.size(d);
  }
  return out;
}

Tensor stack(std::span<const Tensor> tensors, int64_t dim) {
  RG_CHECK(!tensors.empty(), "stack expects a non-empty TensorList");
  const Tensor& first = tensors[0];
  const int64_t d = wrap_dim(dim, first.dim() + 1);
  for (size_t i = 1; i < tensors.size(); ++i)
    RG_CHECK(same_sizes(first.get(), tensors[i].get()), "stack expects each tensor to be equal size, but got ", first.sizes(),
             " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  check_devices(tensors, "stack");
  const DType dtype = joined_dtype(tensors);
  Geometry g(first.get());
  if (RG_UNLIKELY(d < first.dim() && joined_format(tensors) != MemoryFormat::Contiguous)) {
    const Tensor joined = cat(tensors, d);  // in that format too
    g = Geometry(joined.get());
    const auto at = static_cast<int>(d);
    g.sizes[at] = first->size(at);
    g.insert(at, static_cast<int64_t>(tensors.size()), first->size(at) * joined->stride(at));
    set_geometry(joined.get(), g.shape(), {g.strides, static_cast<size_t>(g.ndim)});
    return joined;
  }
  g.insert(d, static_cast<int64_t>(tensors.size()), 0);
  Tensor out = retrograd::empty(g.shape(), dtype, first.device());
  if (is_meta(out) || out.numel() == 0) return out;
  int64_t outer = 1;
  for (int64_t k = 0; k < d; ++k) outer *= out.size(k);
  const int64_t inner = out.stride(d), row = static_cast<int64_t>(tensors.size()) * inner;
  Geometry part(out.get());
  part.erase(d);
  const Launch launch(out, out.numel() / 2);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) * inner;
    if (!write_rows(out, tensors[i], outer, row, at))
      kernels::copy(out->device)
          .copy({static_cast<char*>(out->data) + at * itemsize(dtype), dtype, part.ndim, part.sizes, part.strides}, tensors[i].array());
  }
  return out;
}

Tensor _block_diag(std::span<const Tensor> tensors) {
  int64_t rows = 0, columns = 0;
  auto height = [](const Tensor& t) { return t.dim() == 2 ? t.size(0) : 1; };
  auto width = [](const Tensor& t) { return t.dim() == 2 ? t.size(1) : t.numel(); };
  for (size_t i = 0; i < tensors.size(); ++i) {
    RG_CHECK(tensors[i].dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input ", i, " has ", tensors[i].dim(),
             " dimensions");
    rows += height(tensors[i]);
    columns += width(tensors[i]);
  }
  if (tensors.empty()) return retrograd::empty(ints({1, 0}), default_dtype());
  check_devices(tensors, "block_diag");
  Tensor out = retrograd::zeros(ints({rows, columns}), joined_dtype(tensors), tensors[0].device());
  int64_t row = 0, column = 0;
  for (const Tensor& t : tensors) {
    copy_data(alias_as(out, ints({height(t), width(t)}), out.strides(), row * columns + column), t);
    row += height(t);
    column += width(t);
  }
  return out;
}

}  // namespace impl

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
