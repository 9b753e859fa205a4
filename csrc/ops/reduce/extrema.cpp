// Largest and smallest: with and without their places.
#include "kernels/reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd::impl {
namespace {

using Kernel = decltype(&kernels::ReduceKernels::sum);
using KernelWithIndex = decltype(&kernels::ReduceKernels::max_with_index);
using Pair = std::tuple<Tensor, Tensor>;

// Nothing is the largest of no elements: every dim that is reduced must have some.
void check_nonempty(const Tensor& self, OptInts dim, uint64_t mask, const char* op) {
  if (RG_LIKELY(self.numel() != 0)) return;
  RG_CHECK(dim && !dim->empty(), op, "(): Expected reduction dim to be specified for input.numel() == 0. Pass 'dim'.");
  for (int64_t d = 0; d < self.dim(); ++d)
    if (has_dim(mask, d)) check_nonempty_dim(self, d, op);
}

Tensor extremum(const Tensor& self, OptInts dim, bool keepdim, Kernel kernel, const char* op) {
  const uint64_t mask = dim_mask(dim, self.dim(), op);
  check_nonempty(self, dim, mask, op);
  const ReducedShape shape(self, mask, keepdim);
  Tensor out = shape.make(self.dtype());
  run_kernel(self, 4, [&] { (kernels::reduce(self->device).*kernel)(shape.array(out), self.array()); });
  return out;
}

Pair extremum_along(const Tensor& self, int64_t dim, bool keepdim, KernelWithIndex kernel, const char* op) {
  dim = wrap_dim(dim, self.dim());
  check_nonempty_dim(self, dim, op);
  if (self.dim() == 0) {
    Tensor values = empty({}, self.dtype(), self.device());
    copy_data(values, self);
    return {values, zeros({}, DType::Int64, self.device())};
  }
  const ReducedShape shape(self, uint64_t{1} << dim, keepdim);
  Tensor values = shape.make(self.dtype()), indices = shape.make(DType::Int64);
  run_kernel(self, 8, [&] { (kernels::reduce(self->device).*kernel)(shape.array(values), shape.array(indices), self.array()); });
  return {std::move(values), std::move(indices)};
}

Tensor place(const Tensor& self, std::optional<int64_t> dim, bool keepdim, Kernel kernel, const char* op) {
  RG_CHECK(self.dtype() != DType::Bool, op, "(): does not support bool input");
  if (dim) {
    const int64_t d = wrap_dim(*dim, self.dim());
    check_nonempty_dim(self, d, op);
    if (self.dim() == 0) return zeros({}, DType::Int64, self.device());
    const ReducedShape shape(self, uint64_t{1} << d, keepdim);
    Tensor out = shape.make(DType::Int64);
    run_kernel(self, 8, [&] { (kernels::reduce(self->device).*kernel)(shape.array(out), self.array()); });
    return out;
  }
  RG_CHECK_AS(Index, self.numel() != 0, op, "(): Expected reduction dim to be specified for input.numel() == 0.");
  // The index counts elements in row-major order, so other layouts are copied first.
  const Tensor flat = contiguous_data(self);
  const int64_t size[] = {self.numel()}, one[] = {1}, zero[] = {0};
  const ReducedShape shape(self, every_dim(self.dim()), keepdim);
  Tensor out = shape.make(DType::Int64);
  run_kernel(self, 8, [&] {
    (kernels::reduce(self->device).*kernel)({out->data, DType::Int64, 1, size, zero}, {flat->data, flat->dtype, 1, size, one});
  });
  return out;
}

}  // namespace

Tensor max(const Tensor& self) { return extremum(self, {}, false, &kernels::ReduceKernels::max, "max"); }
Tensor min(const Tensor& self) { return extremum(self, {}, false, &kernels::ReduceKernels::min, "min"); }
Pair max_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_along(self, dim, keepdim, &kernels::ReduceKernels::max_with_index, "max");
}
Pair min_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extremum_along(self, dim, keepdim, &kernels::ReduceKernels::min_with_index, "min");
}
Tensor amax(const Tensor& self, OptInts dim, bool keepdim) { return extremum(self, dim, keepdim, &kernels::ReduceKernels::max, "amax"); }
Tensor amin(const Tensor& self, OptInts dim, bool keepdim) { return extremum(self, dim, keepdim, &kernels::ReduceKernels::min, "amin"); }

Pair aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  OptInts dims;
  if (dim) {
    const int64_t d = wrap_dim(*dim, self.dim());
    RG_CHECK_AS(Index, self.dim() == 0 || self.size(d) != 0, "aminmax: Expected reduction dim ", d, " to have non-zero size.");
    dims = IntSpan(&*dim, 1);
  } else {
    RG_CHECK(self.numel() != 0, "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
  }
  return {extremum(self, dims, keepdim, &kernels::ReduceKernels::min, "aminmax"),
          extremum(self, dims, keepdim, &kernels::ReduceKernels::max, "aminmax")};
}

Tensor argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place(self, dim, keepdim, &kernels::ReduceKernels::argmax, "argmax");
}
Tensor argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place(self, dim, keepdim, &kernels::ReduceKernels::argmin, "argmin");
}

}  // namespace retrograd::impl

namespace retrograd::composite {

Tensor max_other(const Tensor& self, const Tensor& other) { return ops::maximum(self, other); }
Tensor min_other(const Tensor& self, const Tensor& other) { return ops::minimum(self, other); }

}  // namespace retrograd::composite
