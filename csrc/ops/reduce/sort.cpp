// Order: sort, selection by rank, and the most frequent value.
#include "kernels/sort.h"

#include <bit>
#include <cmath>

#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using Pair = std::array<Spec, 2>;

int64_t size_along(const Tensor& self, int d) { return self.dim() ? self.size(d) : 1; }

// Comparisons per element grow with the length of a slice.
int sort_cost(const Tensor& self, int d) { return 32 * std::bit_width(static_cast<uint64_t>(size_along(self, d))); }

Pair selected(const Tensor& self, int d, bool keepdim, const char* op) {
  check_nonempty_dim(self, d, op);
  Spec values = reduced(self, one_dim(d, self.dim()), keepdim, self.dtype());
  return {values, Spec(values, DType::Int64)};
}

// Results with one element along a dim, which they may have or not.
class OneAlong {
 public:
  OneAlong(const Tensor& self, int d) : ndim_(self->ndim) {
    int64_t next = 1;
    for (int i = ndim_ - 1; i >= 0; --i) {
      sizes_[i] = i == d ? 1 : self->size(i);
      strides_[i] = next;
      next *= sizes_[i] ? sizes_[i] : 1;
    }
  }
  kernels::Array array(const Tensor& out) const { return {out->data, out->dtype, ndim_, sizes_, strides_}; }

 private:
  int ndim_;
  int64_t sizes_[kMaxDims], strides_[kMaxDims];
};

void median_along(const Tensor& self, int64_t dim, bool ignore_nan, const Tensor& values, const Tensor& indices) {
  const int d = kernel_dim(dim, self);
  const OneAlong shape(self, d);
  run_kernel(self, 64, [&] { kernels::sort(self->device).median(shape.array(values), shape.array(indices), self.array(), d, ignore_nan); });
}

void median_all(const Tensor& self, bool ignore_nan, const Tensor& out) {
  if (self.numel() == 0) {
    if (is_floating(self.dtype())) return fill_data(out, Scalar(NAN));
    return fill_data(out, Scalar(self.dtype() == DType::Int64 ? INT64_MIN : int64_t{0}));
  }
  const Tensor flat = contiguous_data(self);
  const Tensor index = empty({}, DType::Int64, self.device());
  const int64_t size[] = {self.numel()}, one[] = {1};
  run_kernel(self, 64, [&] {
    kernels::sort(self->device)
        .median({out->data, out->dtype, 1, one, one}, {index->data, DType::Int64, 1, one, one}, {flat->data, flat->dtype, 1, size, one}, 0,
                ignore_nan);
  });
}

Spec sorted_places(const Tensor& self, int64_t dim) {
  wrap_dim(dim, self.dim());
  return Spec::like(self, DType::Int64);
}

void sort_places(const Tensor& self, int64_t dim, bool descending, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  run_kernel(self, sort_cost(self, d), [&] {
    kernels::sort(self->device)
        .sort({nullptr, self->dtype, self->ndim, self->sizes(), out->strides()}, out.array(), self.array(), d, descending);
  });
}

}  // namespace

namespace rule {

Pair sort(const Tensor& self, int64_t dim, bool) {
  wrap_dim(dim, self.dim());
  return {Spec::like(self), Spec::like(self, DType::Int64)};
}
Pair sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending) { return sort(self, dim, descending); }

Spec argsort(const Tensor& self, int64_t dim, bool) { return sorted_places(self, dim); }
Spec argsort_stable(const Tensor& self, bool, int64_t dim, bool) { return sorted_places(self, dim); }

Pair topk(const Tensor& self, int64_t k, int64_t dim, bool, bool) {
  const int d = kernel_dim(dim, self);
  RG_CHECK(self.dtype() != DType::Bool, "topk does not support bool dtypes on CPU");
  RG_CHECK(k >= 0 && k <= size_along(self, d), "selected index k out of range");
  Spec values(self.dtype(), self->device);
  for (int i = 0; i < self.dim(); ++i) values.add_dim(i == d ? k : self.size(i));
  return {values, Spec(values, DType::Int64)};
}

Pair kthvalue(const Tensor& self, int64_t k, int64_t dim, bool keepdim) {
  const int d = kernel_dim(dim, self);
  check_nonempty_dim(self, d, "kthvalue");
  RG_CHECK(k >= 1 && k <= size_along(self, d), "kthvalue(): selected number k out of range for dimension ", d);
  return selected(self, d, keepdim, "kthvalue");
}

Spec median(const Tensor& self) { return Spec(self.dtype(), self->device); }
Spec nanmedian(const Tensor& self) { return Spec(self.dtype(), self->device); }
Pair median_dim(const Tensor& self, int64_t dim, bool keepdim) { return selected(self, kernel_dim(dim, self), keepdim, "median"); }
Pair nanmedian_dim(const Tensor& self, int64_t dim, bool keepdim) { return selected(self, kernel_dim(dim, self), keepdim, "median"); }
Pair mode(const Tensor& self, int64_t dim, bool keepdim) { return selected(self, kernel_dim(dim, self), keepdim, "mode"); }

}  // namespace rule

namespace compute {

void sort(const Tensor& self, int64_t dim, bool descending, const Tensor& values, const Tensor& indices) {
  const int d = kernel_dim(dim, self);
  run_kernel(self, sort_cost(self, d),
             [&] { kernels::sort(self->device).sort(values.array(), indices.array(), self.array(), d, descending); });
}
// Every sort here is stable.
void sort_stable(const Tensor& self, std::optional<bool>, int64_t dim, bool descending, const Tensor& values, const Tensor& indices) {
  sort(self, dim, descending, values, indices);
}

void argsort(const Tensor& self, int64_t dim, bool descending, const Tensor& out) { sort_places(self, dim, descending, out); }
void argsort_stable(const Tensor& self, bool, int64_t dim, bool descending, const Tensor& out) { sort_places(self, dim, descending, out); }

void topk(const Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted, const Tensor& values, const Tensor& indices) {
  if (self.dim() == 0) k = 1;
  run_kernel(self, 32, [&] {
    kernels::sort(self->device).topk(values.array(), indices.array(), self.array(), kernel_dim(dim, self), k, largest, sorted);
  });
}

void kthvalue(const Tensor& self, int64_t k, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  const int d = kernel_dim(dim, self);
  const OneAlong shape(self, d);
  run_kernel(self, 64, [&] { kernels::sort(self->device).kthvalue(shape.array(values), shape.array(indices), self.array(), d, k); });
}

void median(const Tensor& self, const Tensor& out) { median_all(self, false, out); }
void nanmedian(const Tensor& self, const Tensor& out) { median_all(self, true, out); }
void median_dim(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  median_along(self, dim, false, values, indices);
}
void nanmedian_dim(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  median_along(self, dim, true, values, indices);
}

void mode(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  // Slices are sorted side by side in memory, [slices, n]; the longest run of equals is the mode, the last of them its index.
  const int d = kernel_dim(dim, self);
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
}

}  // namespace compute
}  // namespace retrograd

namespace retrograd::composite {

Tensor msort(const Tensor& self) { return std::get<0>(ops::sort(self, 0, false)); }

}  // namespace retrograd::composite
