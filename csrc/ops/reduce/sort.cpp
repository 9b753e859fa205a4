// Order: sort, selection by rank, and the most frequent value.
#include "kernels/sort.h"

#include <bit>
#include <cmath>

#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd::impl {
namespace {

using Pair = std::tuple<Tensor, Tensor>;

int64_t size_along(const Tensor& self, int d) { return self.dim() ? self.size(d) : 1; }

// Comparisons per element grow with the length of a slice.
int sort_cost(const Tensor& self, int d) { return 32 * std::bit_width(static_cast<uint64_t>(size_along(self, d))); }

// Two outputs with n elements along dim d; a 0-d input gives 0-d outputs.
Pair outputs(const Tensor& self, int d, int64_t n) {
  int64_t sizes[kMaxDims];
  for (int i = 0; i < self.dim(); ++i) sizes[i] = i == d ? n : self.size(i);
  const IntSpan span(sizes, static_cast<size_t>(self.dim()));
  return {empty(span, self.dtype(), self.device()), empty(span, DType::Int64, self.device())};
}

// Drops the dim of size 1 that a kernel left.
void drop_dim(Tensor& t, int d) {
  if (t.dim() == 0) return;
  int64_t sizes[kMaxDims];
  int n = 0;
  for (int i = 0; i < t.dim(); ++i)
    if (i != d) sizes[n++] = t.size(i);
  set_contiguous_geometry(t.get(), {sizes, static_cast<size_t>(n)});
}

Pair finish(Pair out, int d, bool keepdim) {
  if (!keepdim) {
    drop_dim(std::get<0>(out), d);
    drop_dim(std::get<1>(out), d);
  }
  return out;
}

Pair median_along(const Tensor& self, int64_t dim, bool keepdim, bool ignore_nan) {
  const int d = kernel_dim(dim, self);
  check_nonempty_dim(self, d, "median");
  auto out = outputs(self, d, 1);
  auto& [values, indices] = out;
  run_kernel(self, 64, [&] { kernels::sort(self->device).median(values.array(), indices.array(), self.array(), d, ignore_nan); });
  return finish(std::move(out), d, keepdim);
}

Tensor median_all(const Tensor& self, bool ignore_nan) {
  if (self.numel() == 0) {
    if (is_floating(self.dtype())) return full({}, Scalar(NAN), self.dtype(), self.device());
    return full({}, Scalar(self.dtype() == DType::Int64 ? INT64_MIN : int64_t{0}), self.dtype(), self.device());
  }
  const Tensor flat = contiguous_data(self);
  Tensor value = empty({}, self.dtype(), self.device()), index = empty({}, DType::Int64, self.device());
  const int64_t size[] = {self.numel()}, one[] = {1};
  run_kernel(self, 64, [&] {
    kernels::sort(self->device)
        .median({value->data, value->dtype, 1, one, one}, {index->data, DType::Int64, 1, one, one}, {flat->data, flat->dtype, 1, size, one},
                0, ignore_nan);
  });
  return value;
}

Tensor sorted_places(const Tensor& self, int64_t dim, bool descending) {
  const int d = kernel_dim(dim, self);
  Tensor indices = empty_like(self, DType::Int64);
  run_kernel(self, sort_cost(self, d), [&] {
    kernels::sort(self->device)
        .sort({nullptr, self->dtype, self->ndim, self->sizes(), indices->strides()}, indices.array(), self.array(), d, descending);
  });
  return indices;
}

}  // namespace

Pair sort(const Tensor& self, int64_t dim, bool descending) {
  const int d = kernel_dim(dim, self);
  Tensor values = empty_like(self), indices = empty_like(self, DType::Int64);
  run_kernel(self, sort_cost(self, d),
             [&] { kernels::sort(self->device).sort(values.array(), indices.array(), self.array(), d, descending); });
  return {std::move(values), std::move(indices)};
}

// Every sort here is stable.
Pair sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) { return sort(self, dim, descending); }

Tensor argsort(const Tensor& self, int64_t dim, bool descending) { return sorted_places(self, dim, descending); }
Tensor argsort_stable(const Tensor& self, bool, int64_t dim, bool descending) { return sorted_places(self, dim, descending); }

Pair topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  const int d = kernel_dim(dim, self);
  RG_CHECK(self.dtype() != DType::Bool, "topk does not support bool dtypes on CPU");
  RG_CHECK(k >= 0 && k <= size_along(self, d), "selected index k out of range");
  auto out = outputs(self, d, k);
  auto& [values, indices] = out;
  if (self.dim() == 0) k = 1;
  run_kernel(self, 32, [&] { kernels::sort(self->device).topk(values.array(), indices.array(), self.array(), d, k, largest, sorted); });
  return out;
}

Pair kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int d = kernel_dim(dim, self);
  check_nonempty_dim(self, d, "kthvalue");
  RG_CHECK(k >= 1 && k <= size_along(self, d), "kthvalue(): selected number k out of range for dimension ", d);
  auto out = outputs(self, d, 1);
  auto& [values, indices] = out;
  run_kernel(self, 64, [&] { kernels::sort(self->device).kthvalue(values.array(), indices.array(), self.array(), d, k); });
  return finish(std::move(out), d, keepdim);
}

Tensor median(const Tensor& self) { return median_all(self, false); }
Tensor nanmedian(const Tensor& self) { return median_all(self, true); }
Pair median_dim(const Tensor& self, int64_t dim, bool keepdim) { return median_along(self, dim, keepdim, false); }
Pair nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) { return median_along(self, dim, keepdim, true); }

Pair mode(const Tensor& self, int64_t dim, bool keepdim) {
  const int d = kernel_dim(dim, self);
  check_nonempty_dim(self, d, "mode");
  auto out = outputs(self, d, 1);
  auto& [values, indices] = out;
  if (is_meta(self)) return finish(std::move(out), d, keepdim);
  // Slices are sorted side by side in memory, [slices, n]; the longest run of equals is the mode, the last of them its index.
  const int64_t n = size_along(self, d), slices = values.numel();
  Tensor last_dim = self;
  if (self.dim() > 0) {
    int64_t sizes[kMaxDims], strides[kMaxDims];
    int at = 0;
    for (int i = 0; i < self.dim(); ++i) {
      if (i == d) continue;
      sizes[at] = self.size(i);
      strides[at++] = self.stride(i);
    }
    sizes[at] = n;
    strides[at] = self.stride(d);
    last_dim = alias_as(self, {sizes, static_cast<size_t>(at + 1)}, {strides, static_cast<size_t>(at + 1)}, self->offset());
  }
  Tensor ordered = empty(last_dim.sizes(), self.dtype(), self.device()), places = empty(last_dim.sizes(), DType::Int64, self.device());
  run_kernel(self, sort_cost(self, d), [&] {
    kernels::sort(self->device).sort(ordered.array(), places.array(), last_dim.array(), static_cast<int>(last_dim.dim()) - 1, false);
    kernels::sort(self->device).mode(values->data, indices.data<int64_t>(), self->dtype, ordered->data, places.data<int64_t>(), slices, n);
  });
  return finish(std::move(out), d, keepdim);
}

}  // namespace retrograd::impl

namespace retrograd::composite {

Tensor msort(const Tensor& self) { return std::get<0>(ops::sort(self, 0, false)); }

}  // namespace retrograd::composite
