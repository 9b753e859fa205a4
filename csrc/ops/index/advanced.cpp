// self[i0, :, i1, ...] with tensors for indices: reading (index) and writing (index_put_).
#include <algorithm>
#include <new>
#include <vector>

#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"
#include "ops/lazy.h"

namespace retrograd {
namespace {

bool is_mask(const Tensor& t) { return t && (t.dtype() == DType::Bool || t.dtype() == DType::UInt8); }

Tensor as_bool_mask(const Tensor& mask) {
  if (mask.dtype() == DType::Bool) return mask;
  if (PyErr_WarnEx(PyExc_UserWarning, "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", 1) != 0)
    throw PythonError();
  return cast_data(mask, DType::Bool);
}

bool is_whole_mask(const Tensor& self, std::span<const Tensor> indices) {
  return indices.size() == 1 && indices[0] && indices[0].dtype() == DType::Bool && self.dim() && same_sizes(self.get(), indices[0].get());
}

// Indices on the CPU go with tensors of any device.
bool have_cpu_indices(const Tensor& self, std::span<const Tensor> indices) {
  if (RG_LIKELY(self->device.is_cpu())) return false;
  return std::ranges::any_of(indices, [](const Tensor& t) { return t && t->device.is_cpu(); });
}
std::vector<Tensor> beside(const Tensor& self, std::span<const Tensor> indices) {
  std::vector<Tensor> list(indices.begin(), indices.end());
  for (Tensor& t : list)
    if (t && t->device.is_cpu()) t = moved_to(t, self->device);
  return list;
}

// `values` as an array of the result's shape, or an error.
Tensor expand_values(const Tensor& values, IntSpan sizes) {
  const IntSpan have = values.sizes();
  bool fits = have.size() <= sizes.size();
  for (size_t d = 0; fits && d < have.size(); ++d) {
    const int64_t want = sizes[sizes.size() - have.size() + d];
    fits = have[d] == want || have[d] == 1;
  }
  RG_CHECK(fits, "shape mismatch: value tensor of shape ", values.sizes(), " cannot be broadcast to indexing result of shape ", sizes);
  return same_sizes(have, sizes) ? values : expand_data(values, sizes);
}

}  // namespace

// ---- the list of indices ----

void Indices::add(const Tensor& self, std::span<const Tensor> given) {
  for (const Tensor& t : given) {
    if (!t) {
      append(self, {});
    } else if (is_mask(t)) {
      append_mask(self, as_bool_mask(t));
    } else {
      RG_CHECK_AS(Index, t.dtype() == DType::Int64 || t.dtype() == DType::Int32,
                  "tensors used as indices must be long, int, byte or bool tensors");
      append(self, cast_data(t, DType::Int64));
    }
  }
  RG_CHECK_AS(Index, count_ <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", count_, ")");
  broadcast();
}

void Indices::move_apart_from(const Tensor& written) {
  for (int i = 0; i < count_; ++i)
    if (slot(i)) slot(i) = apart_from(slot(i), written);
}

bool Indices::plan(kernels::Indexing* plan, const Tensor& self) {
  kernels::Array arrays[kMaxDims];
  const kernels::Array* pointers[kMaxDims];
  for (int i = 0; i < count_; ++i) {
    pointers[i] = nullptr;
    if (!slot(i)) continue;
    arrays[i] = slot(i).array();
    pointers[i] = &arrays[i];
    RG_CHECK_AS(Index, self.size(i) != 0 || numel_ == 0, "index is out of bounds for dimension with size 0");
  }
  RG_CHECK(kernels::plan_index(plan, self.array(), count_, pointers), "the result of this indexing would have more than ", kMaxDims,
           " dimensions");
  for (int d = 0; d < plan->ndim; ++d)
    if (plan->sizes[d] == 0) return false;
  return true;
}

void Indices::append(const Tensor& self, Tensor t) {
  RG_CHECK_AS(Index, count_ < kMaxDims, "too many indices for tensor of dimension ", self.dim(), " (got more than ", kMaxDims, ")");
  new (&slot(count_++)) Tensor(std::move(t));
}

void Indices::append_mask(const Tensor& self, const Tensor& mask) {
  RG_CHECK_AS(Index, count_ + mask.dim() <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ",
              count_ + mask.dim(), ")");
  for (int64_t j = 0; j < mask.dim(); ++j) {
    RG_CHECK_AS(Index, mask.size(j) == self.size(count_ + j), "The shape of the mask ", mask.sizes(), " at index ", j,
                " does not match the shape of the indexed tensor ", self.sizes(), " at index ", count_ + j);
  }
  const int64_t n = count_set(mask);
  const Tensor where = empty_strided(ints({n, mask.dim()}), ints({1, n}), DType::Int64, self.device());
  if (n) {
    const Launch launch(self, mask.numel());
    kernels::indexing(self->device).nonzero(where.array(), mask.array());
  }
  for (int64_t j = 0; j < mask.dim(); ++j) append(self, alias_as(where, ints({n}), ints({1}), j * n));
}

void Indices::broadcast() {
  const TensorImpl* first = nullptr;
  bool same = true;
  for (int i = 0; i < count_; ++i) {
    if (!slot(i)) continue;
    if (!first) first = slot(i).get();
    same &= same_sizes(first, slot(i).get());
  }
  RG_CHECK_AS(Index, first, "at least one index must be provided");
  numel_ = first->numel;
  if (RG_LIKELY(same)) return;
  Shape shape;
  try {
    for (int i = 0; i < count_; ++i)
      if (slot(i)) broadcast_into(shape, slot(i).sizes());
  } catch (const Error&) {
    std::string text = "shape mismatch: indexing tensors could not be broadcast together with shapes ";
    const char* separator = "";
    for (int i = 0; i < count_; ++i)
      if (slot(i)) text += str_cat(std::exchange(separator, ", "), slot(i).sizes());
    throw Error(ErrorKind::Index, std::move(text));
  }
  for (int i = 0; i < count_; ++i)
    if (slot(i)) slot(i) = expand_data(slot(i), shape);
  numel_ = checked_numel(shape);
}

// ---- reading ----

IndexPlan::IndexPlan(const Tensor& self, std::span<const Tensor> indices) : dtype_(self.dtype()), device_(self->device) {
  if (RG_UNLIKELY(have_cpu_indices(self, indices))) {
    plan(self, beside(self, indices));
  } else {
    plan(self, indices);
  }
}

void IndexPlan::plan(const Tensor& self, std::span<const Tensor> indices) {
  for (const Tensor& t : indices)
    if (t) check_same_device(self.get(), t.get(), "index");
  if (!is_whole_mask(self, indices)) {
    list_.add(self, indices);
    list_.plan(&sizes, self);
    return;
  }
  mask = indices[0];
  sizes.ndim = 1;
  sizes.sizes[0] = count_set(mask);
}

void compute::index(const Tensor& self, std::span<const Tensor>, const IndexPlan& plan, const Tensor& out) {
  IndexSlot e(self->device);
  {
    const Launch launch(self, (plan.mask ? self : out).numel() * 2);
    const kernels::IndexKernels& k = kernels::indexing(self->device);
    if (plan.mask) return k.masked_select(out.array(), self.array(), plan.mask.array());
    k.index(out.array(), self.array(), plan.sizes, e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
}

// ---- writing ----

PutPlan::PutPlan(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate) {
  RG_CHECK(self.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ", dtype_title(self.dtype()),
           " for the destination and ", dtype_title(values.dtype()), " for the source.");
  if (accumulate) check_known("index_put", self);
  check_same_device(self.get(), values.get(), "index_put_");
  warn_expanded_write(self, "index_put_");
  if (RG_UNLIKELY(have_cpu_indices(self, indices))) {
    plan(self, beside(self, indices), values, accumulate);
  } else {
    plan(self, indices, values, accumulate);
  }
}

void PutPlan::plan(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate) {
  for (const Tensor& t : indices)
    if (t) check_same_device(self.get(), t.get(), "index_put_");
  if (!accumulate && values.numel() == 1 && is_whole_mask(self, indices) && !may_overlap(self.get(), indices[0].get())) {
    mask = indices[0];
  } else if (indices.empty()) {  // as self[...] = values
    everything = true;
    given = expand_values(apart_from(values, self), self.sizes());
  } else {
    list_.add(self, indices);
    list_.move_apart_from(self);
    nothing = !list_.plan(&at, self);
    given = expand_values(values, {at.sizes, static_cast<size_t>(at.ndim)});
  }
}

void compute::index_put_into(const Tensor& self, std::span<const Tensor>, const Tensor& values, bool accumulate, const PutPlan& plan) {
  if (plan.mask) {
    const Element value(read_scalar(values), self.dtype());
    const Launch launch(self, self.numel());
    return kernels::indexing(self->device).masked_fill(self.array(), plan.mask.array(), value.get());
  }
  if (plan.everything) return copy_data(self, accumulate ? impl::add(self, plan.given, 1) : plan.given);
  if (plan.nothing) return;
  const Tensor source = apart_from(plan.given, self);
  IndexSlot e(self->device);
  {
    const Launch launch(self, source.numel() * 4);
    kernels::indexing(self->device).index_put(self.array(), plan.at, source.array(), accumulate, e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
}

}  // namespace retrograd
