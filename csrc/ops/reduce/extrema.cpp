// Largest and smallest: with and without their places.
#include "kernels/reduce.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using K = kernels::ReduceKernels;
using Kernel = decltype(&K::sum);
using KernelWithIndex = decltype(&K::max_with_index);
using Pair = std::array<Spec, 2>;

// Nothing is the largest of no elements: every dim that is reduced must have some.
void check_nonempty(const Tensor& self, OptInts dim, uint64_t mask, const char* op) {
  if (RG_LIKELY(self.numel() != 0)) return;
  RG_CHECK(dim && !dim->empty(), op, "(): Expected reduction dim to be specified for input.numel() == 0. Pass 'dim'.");
  for (int64_t d = 0; d < self.dim(); ++d)
    if (has_dim(mask, d)) check_nonempty_dim(self, d, op);
}

Spec extremum(const Tensor& self, OptInts dim, bool keepdim, const char* op) {
  const uint64_t mask = dim_mask(dim, self.dim(), op);
  check_nonempty(self, dim, mask, op);
  return reduced(self, mask, keepdim, self.dtype());
}

void find(const Tensor& self, uint64_t mask, Kernel kernel, const Tensor& out) {
  const Reduced shape(self, mask);
  run_kernel(self, 4, [&] { (kernels::reduce(self->device).*kernel)(shape.out(out), shape.in()); });
}

Pair extremum_along(const Tensor& self, int64_t dim, bool keepdim, const char* op) {
  check_nonempty_dim(self, wrap_dim(dim, self.dim()), op);
  Spec values = reduced(self, one_dim(dim, self.dim()), keepdim, self.dtype());
  return {values, Spec(values, DType::Int64)};
}

void find_along(const Tensor& self, int64_t dim, KernelWithIndex kernel, const Tensor& values, const Tensor& indices) {
  if (self.dim() == 0) {
    copy_data(values, self);
    return fill_data(indices, Scalar(0));
  }
  const Reduced shape(self, one_dim(dim, self.dim()));
  run_kernel(self, 8, [&] { (kernels::reduce(self->device).*kernel)(shape.out(values), shape.out(indices), shape.in()); });
}

Spec place(const Tensor& self, std::optional<int64_t> dim, bool keepdim, const char* op) {
  RG_CHECK(self.dtype() != DType::Bool, op, "(): does not support bool input");
  if (dim) {
    check_nonempty_dim(self, wrap_dim(*dim, self.dim()), op);
  } else {
    RG_CHECK_AS(Index, self.numel() != 0, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
  }
  return reduced(self, dim ? one_dim(*dim, self.dim()) : every_dim(self.dim()), keepdim, DType::Int64);
}

void find_place(const Tensor& self, std::optional<int64_t> dim, Kernel kernel, const Tensor& out) {
  if (self.dim() == 0) return fill_data(out, Scalar(0));
  if (dim) {
    const Reduced shape(self, one_dim(*dim, self.dim()));
    return run_kernel(self, 8, [&] { (kernels::reduce(self->device).*kernel)(shape.out(out), shape.in()); });
  }
  // The index counts elements in row-major order, so other layouts are copied first.
  const Tensor flat = contiguous_data(self);
  const int64_t size[] = {self.numel()}, one[] = {1}, zero[] = {0};
  run_kernel(self, 8, [&] {
    (kernels::reduce(self->device).*kernel)({out->data, DType::Int64, 1, size, zero}, {flat->data, flat->dtype, 1, size, one});
  });
}

uint64_t minmax_mask(const Tensor& self, std::optional<int64_t> dim) { return dim ? one_dim(*dim, self.dim()) : every_dim(self.dim()); }

}  // namespace

namespace rule {

Spec max(const Tensor& self) {
  check_nonempty(self, {}, 0, "max");
  return whole(self, self.dtype());
}
Spec min(const Tensor& self) {
  check_nonempty(self, {}, 0, "min");
  return whole(self, self.dtype());
}
Pair max_dim(const Tensor& self, int64_t dim, bool keepdim) { return extremum_along(self, dim, keepdim, "max"); }
Pair min_dim(const Tensor& self, int64_t dim, bool keepdim) { return extremum_along(self, dim, keepdim, "min"); }
Spec amax(const Tensor& self, OptInts dim, bool keepdim) { return extremum(self, dim, keepdim, "amax"); }
Spec amin(const Tensor& self, OptInts dim, bool keepdim) { return extremum(self, dim, keepdim, "amin"); }

Pair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  if (dim) {
    const int64_t d = wrap_dim(*dim, self.dim());
    RG_CHECK_AS(Index, self.dim() == 0 || self.size(d) != 0, "aminmax: Expected reduction dim ", d, " to have non-zero size.");
  } else {
    RG_CHECK(self.numel() != 0, "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  }
  const uint64_t mask = minmax_mask(self, dim);
  return {reduced(self, mask, keepdim, self.dtype()), reduced(self, mask, keepdim, self.dtype())};
}

Spec argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) { return place(self, dim, keepdim, "argmax"); }
Spec argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) { return place(self, dim, keepdim, "argmin"); }

}  // namespace rule

namespace compute {

void max(const Tensor& self, const Tensor& out) { find(self, every_dim(self.dim()), &K::max, out); }
void min(const Tensor& self, const Tensor& out) { find(self, every_dim(self.dim()), &K::min, out); }
void max_dim(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  find_along(self, dim, &K::max_with_index, values, indices);
}
void min_dim(const Tensor& self, int64_t dim, bool, const Tensor& values, const Tensor& indices) {
  find_along(self, dim, &K::min_with_index, values, indices);
}
void amax(const Tensor& self, OptInts dim, bool, const Tensor& out) { find(self, dim_mask(dim, self.dim(), "amax"), &K::max, out); }
void amin(const Tensor& self, OptInts dim, bool, const Tensor& out) { find(self, dim_mask(dim, self.dim(), "amin"), &K::min, out); }

void aminmax(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& min, const Tensor& max) {
  const Reduced shape(self, minmax_mask(self, dim));
  run_kernel(self, 8, [&] { kernels::reduce(self->device).min_max(shape.out(min), shape.out(max), shape.in()); });
}

void argmax(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) { find_place(self, dim, &K::argmax, out); }
void argmin(const Tensor& self, std::optional<int64_t> dim, bool, const Tensor& out) { find_place(self, dim, &K::argmin, out); }

}  // namespace compute
}  // namespace retrograd

namespace retrograd::composite {

Tensor max_other(const Tensor& self, const Tensor& other) { return ops::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return ops::minimum(self, other); }

}  // namespace retrograd::composite
