// self[i0, :, i1, ...] with tensors for indices: reading (index) and writing (index_put_).
//
// A mask stands for the columns of its nonzero(), integers index as they are; all index tensors broadcast together. Where the result's dimensions
// go is plan_index()'s business (kernels/index.h).
#include <algorithm>
#include <new>
#include <vector>

#include "ops.h"
#include "ops/checks.h"
#include "ops/index/index.h"

namespace retrograd {
namespace {

bool is_mask(const Tensor& t) { return t && (t.dtype() == DType::Bool || t.dtype() == DType::UInt8); }

Tensor as_bool_mask(const Tensor& mask) {
  if (mask.dtype() == DType::Bool) return mask;
  if (PyErr_WarnEx(PyExc_UserWarning, "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", 1) != 0)
    throw PythonError();
  return cast_data(mask, DType::Bool);
}

// The index tensors by dimension of self, ready for the plan. Lives on the stack; only the slots in use are ever constructed.
class Indices {
 public:
  Indices(const Tensor& self, std::span<const Tensor> given) {
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
  ~Indices() {
    for (int i = 0; i < count_; ++i) slot(i).~Tensor();
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;

  int64_t numel() const { return numel_; }
  void move_apart_from(const Tensor& written) {
    for (int i = 0; i < count_; ++i)
      if (slot(i)) slot(i) = apart_from(slot(i), written);
  }

  // False when there is nothing to read or write; throws when that is because an index cannot fit.
  bool plan(kernels::Indexing* plan, const Tensor& self) {
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

 private:
  Tensor& slot(int i) { return reinterpret_cast<Tensor*>(memory_)[i]; }

  void append(const Tensor& self, Tensor t) {
    RG_CHECK_AS(Index, count_ < kMaxDims, "too many indices for tensor of dimension ", self.dim(), " (got more than ", kMaxDims, ")");
    new (&slot(count_++)) Tensor(std::move(t));
  }

  void append_mask(const Tensor& self, const Tensor& mask) {
    RG_CHECK_AS(Index, count_ + mask.dim() <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ",
                count_ + mask.dim(), ")");
    for (int64_t j = 0; j < mask.dim(); ++j) {
      RG_CHECK_AS(Index, mask.size(j) == self.size(count_ + j), "The shape of the mask ", mask.sizes(), " at index ", j,
                  " does not match the shape of the indexed tensor ", self.sizes(), " at index ", count_ + j);
    }
    RG_CHECK_AS(NotImplemented, !is_meta(mask), "indexing with a mask needs its values, and a meta tensor has none");
    const int64_t n = count_set(mask);
    const Tensor where = empty_strided(ints({n, mask.dim()}), ints({1, n}), DType::Int64, self.device());
    if (n) {
      const Launch launch(self, mask.numel());
      kernels::indexing(self->device).nonzero(where.array(), mask.array());
    }
    for (int64_t j = 0; j < mask.dim(); ++j) append(self, alias_as(where, ints({n}), ints({1}), j * n));
  }

  void broadcast() {
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

  alignas(Tensor) char memory_[kMaxDims * sizeof(Tensor)];
  int count_ = 0;
  int64_t numel_ = 0;
};

// x[mask] with a mask for the whole of x needs no list of positions.
bool is_whole_mask(const Tensor& self, std::span<const Tensor> indices) {
  return indices.size() == 1 && indices[0] && indices[0].dtype() == DType::Bool && self.dim() && same_sizes(self.get(), indices[0].get()) &&
         !is_meta(self) && !is_meta(indices[0]);
}

Tensor select_mask(const Tensor& self, const Tensor& mask) {
  const int64_t n = count_set(mask);
  Tensor out = empty(ints({n}), self.dtype(), self.device());
  if (n) {
    const Launch launch(self, self.numel() * 2);
    kernels::indexing(self->device).masked_select(out.array(), self.array(), mask.array());
  }
  return out;
}

// Indices on the CPU go with tensors of any device that has memory.
bool have_cpu_indices(const Tensor& self, std::span<const Tensor> indices) {
  if (RG_LIKELY(self->device.is_cpu()) || is_meta(self)) return false;
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

namespace impl {

Tensor index(const Tensor& self, std::span<const Tensor> indices) {
  if (RG_UNLIKELY(have_cpu_indices(self, indices))) return index(self, beside(self, indices));
  if (is_whole_mask(self, indices)) return select_mask(self, indices[0]);
  for (const Tensor& t : indices)
    if (t) check_same_device(self.get(), t.get(), "index");
  Indices list(self, indices);
  kernels::Indexing plan;
  const bool any = list.plan(&plan, self);
  Tensor out = empty({plan.sizes, static_cast<size_t>(plan.ndim)}, self.dtype(), self.device());
  if (!any || is_meta(out)) return out;
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel() * 2);
    kernels::indexing(self->device).index(out.array(), self.array(), plan, e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
  return out;
}

void index_put_into(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate) {
  RG_CHECK(self.dtype() == values.dtype(), "Index put requires the source and destination dtypes match, got ", dtype_title(self.dtype()),
           " for the destination and ", dtype_title(values.dtype()), " for the source.");
  check_same_device(self.get(), values.get(), "index_put_");
  warn_expanded_write(self, "index_put_");
  if (RG_UNLIKELY(have_cpu_indices(self, indices))) return index_put_into(self, beside(self, indices), values, accumulate);
  if (!accumulate && values.numel() == 1 && self->device.is_cpu() && is_whole_mask(self, indices) &&
      !may_overlap(self.get(), indices[0].get())) {
    const Element value(read_scalar(values), self.dtype());
    const Launch launch(self, self.numel());
    kernels::indexing(self->device).masked_fill(self.array(), indices[0].array(), value.get());
    return;
  }
  for (const Tensor& t : indices)
    if (t) check_same_device(self.get(), t.get(), "index_put_");
  if (indices.empty()) {  // every element, as self[...] = values
    const Tensor whole = expand_values(apart_from(values, self), self.sizes());
    if (!accumulate) return copy_data(self, whole);
    return copy_data(self, impl::add(self, whole, 1));
  }
  Indices list(self, indices);
  list.move_apart_from(self);
  kernels::Indexing plan;
  const bool any = list.plan(&plan, self);
  const Tensor given = expand_values(values, {plan.sizes, static_cast<size_t>(plan.ndim)});
  if (!any || is_meta(self)) return;
  const Tensor source = apart_from(given, self);
  IndexSlot e(self->device);
  {
    const Launch launch(self, given.numel() * 4);
    kernels::indexing(self->device).index_put(self.array(), plan, source.array(), accumulate, e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
}

Tensor index_put(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate) {
  Tensor out = clone_data(self);
  index_put_into(out, indices, values, accumulate);
  return out;
}

}  // namespace impl
}  // namespace retrograd
