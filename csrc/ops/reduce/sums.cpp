// Sums, products and truth: reductions over any set of dims with one output.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd::impl {
namespace {

constexpr int64_t kZeroStrides[kMaxDims] = {};

using Kernel = decltype(&kernels::ReduceKernels::sum);

// Complex numbers are summed and multiplied elsewhere, in a real dtype after they are converted; all else is decided by whether they are zero.
Tensor without_complex(const Tensor& self, DType dtype, Kernel kernel) {
  using K = kernels::ReduceKernels;
  return kernel == &K::any || kernel == &K::all || kernel == &K::count_nonzero ? ne(self, Scalar(0)) : cast_data(self, dtype);
}

Tensor reduce_all(const Tensor& self, DType dtype, Kernel kernel) {
  if (RG_UNLIKELY(is_complex(self.dtype()) || is_complex(dtype))) {
    const uint64_t mask = every_dim(self.dim());
    if (kernel == &kernels::ReduceKernels::prod && is_complex(dtype)) return complex_prod(self, mask, false, dtype);
    if (is_complex(dtype)) return complex_sum(self, mask, false, dtype, kernel == &kernels::ReduceKernels::mean);
    return reduce_all(without_complex(self, dtype, kernel), dtype, kernel);
  }
  Tensor out = empty({}, dtype, self.device());
  run_kernel(self, 4,
             [&] { (kernels::reduce(self->device).*kernel)({out->data, dtype, self->ndim, self->sizes(), kZeroStrides}, self.array()); });
  return out;
}

// A sum of a few hundred contiguous floats over adjacent dims, [outer, n, inner] -> [outer, inner]: planning it would take longer.
constexpr int64_t kSmall = 1024;

bool try_small_sum(const Tensor& self, uint64_t mask, const Tensor& out, bool mean) {
  const TensorImpl* t = self.get();
  if (!t->is_contiguous() || t->numel > kSmall || t->numel == 0 || mask == 0 || out.dtype() != t->dtype || is_meta(self)) return false;
  if (t->dtype != DType::Float32 && t->dtype != DType::Float64) return false;
  const int first = std::countr_zero(mask), last = 63 - std::countl_zero(mask);
  if (std::popcount(mask) != last - first + 1) return false;
  int64_t outer = 1, n = 1, inner = 1;
  for (int d = 0; d < t->ndim; ++d) (d < first ? outer : d > last ? inner : n) *= t->size(d);
  const Launch launch(self);
  kernels::reduce(t->device).small_sum(out->data, t->data, t->dtype, outer, n, inner, mean);
  return true;
}

Tensor sum_dims(const Tensor& self, uint64_t mask, bool keepdim, DType dtype, bool mean) {
  if (RG_UNLIKELY(is_complex(dtype))) return complex_sum(self, mask, keepdim, dtype, mean);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return sum_dims(cast_data(self, dtype), mask, keepdim, dtype, mean);
  const ReducedShape shape(self, mask, keepdim);
  Tensor out = shape.make(dtype);
  if (try_small_sum(self, mask, out, mean)) return out;
  const Kernel kernel = mean ? &kernels::ReduceKernels::mean : &kernels::ReduceKernels::sum;
  run_kernel(self, 4, [&] { (kernels::reduce(self->device).*kernel)(shape.array(out), self.array()); });
  return out;
}

Tensor reduce_dims(const Tensor& self, uint64_t mask, bool keepdim, DType dtype, Kernel kernel) {
  if (!keepdim && mask == every_dim(self.dim())) return reduce_all(self, dtype, kernel);
  if (RG_UNLIKELY(is_complex(dtype)))
    return kernel == &kernels::ReduceKernels::prod ? complex_prod(self, mask, keepdim, dtype)
                                                   : complex_sum(self, mask, keepdim, dtype, false);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return reduce_dims(without_complex(self, dtype, kernel), mask, keepdim, dtype, kernel);
  const ReducedShape shape(self, mask, keepdim);
  Tensor out = shape.make(dtype);
  run_kernel(self, 4, [&] { (kernels::reduce(self->device).*kernel)(shape.array(out), self.array()); });
  return out;
}

DType mean_dtype(const Tensor& self, OptDType dtype) {
  if (RG_LIKELY(is_differentiable(dtype.value_or(self.dtype())))) return dtype.value_or(self.dtype());
  fail(ErrorKind::Runtime, "mean(): could not infer output dtype. ", dtype ? "Optional" : "Input",
       " dtype must be either a floating point or complex dtype. Got: ", dtype_title(dtype.value_or(self.dtype())));
}

DType truth_dtype(const Tensor& self) { return self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool; }

// any() and all() over an empty list of dims reduce nothing, unlike the others.
uint64_t truth_mask(const Tensor& self, OptInts dim, const char* op) { return dim && dim->empty() ? 0 : dim_mask(dim, self.dim(), op); }

}  // namespace

Tensor sum(const Tensor& self, OptDType dtype) { return reduce_all(self, sum_dtype(self, dtype), &kernels::ReduceKernels::sum); }

Tensor sum_dim(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  return sum_dims(self, dim_mask(dim, self.dim(), "sum"), keepdim, sum_dtype(self, dtype), false);
}

Tensor _sum_to(const Tensor& self, IntSpan size) {
  const int64_t extra = self.dim() - static_cast<int64_t>(size.size());
  bool fits = extra >= 0;
  int64_t strides[kMaxDims], next = 1;
  uint64_t mask = 0;
  for (int64_t d = self.dim() - 1; fits && d >= 0; --d) {
    const int64_t want = d < extra ? 1 : size[static_cast<size_t>(d - extra)];
    const bool reduced = d < extra || (want == 1 && self.size(d) != 1);
    fits = reduced || want == self.size(d);
    strides[d] = reduced ? 0 : next;
    if (reduced) {
      mask |= uint64_t{1} << d;
    } else {
      next *= want ? want : 1;
    }
  }
  RG_CHECK(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  if (RG_UNLIKELY(is_complex(self.dtype()))) {
    Tensor out = complex_sum(self, mask, false, self.dtype(), false);
    return impl::view(out, size);
  }
  Tensor out = empty(size, self.dtype(), self.device());
  if (try_small_sum(self, mask, out, false)) return out;
  run_kernel(self, 4,
             [&] { kernels::reduce(self->device).sum({out->data, out->dtype, self->ndim, self->sizes(), strides}, self.array()); });
  return out;
}

Tensor nansum(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  const uint64_t mask = dim_mask(dim, self.dim(), "nansum");
  const DType result = sum_dtype(self, dtype);
  if (!is_floating(self.dtype()) || is_meta(self)) return reduce_dims(self, mask, keepdim, result, &kernels::ReduceKernels::sum);
  const Tensor dense = contiguous_data(self);
  const Tensor clean = where(isnan(dense), Scalar(0.0), dense);
  return reduce_dims(clean, mask, keepdim, result, &kernels::ReduceKernels::sum);
}

Tensor mean(const Tensor& self, OptDType dtype) { return reduce_all(self, mean_dtype(self, dtype), &kernels::ReduceKernels::mean); }

Tensor mean_dim(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  return sum_dims(self, dim_mask(dim, self.dim(), "mean"), keepdim, mean_dtype(self, dtype), true);
}

Tensor prod(const Tensor& self, OptDType dtype) { return reduce_all(self, sum_dtype(self, dtype), &kernels::ReduceKernels::prod); }

Tensor prod_dim_int(const Tensor& self, int64_t dim, bool keepdim, OptDType dtype) {
  return reduce_dims(self, one_dim(dim, self.dim()), keepdim, sum_dtype(self, dtype), &kernels::ReduceKernels::prod);
}

Tensor any(const Tensor& self) { return reduce_all(self, truth_dtype(self), &kernels::ReduceKernels::any); }
Tensor all(const Tensor& self) { return reduce_all(self, truth_dtype(self), &kernels::ReduceKernels::all); }

Tensor any_dims(const Tensor& self, OptInts dim, bool keepdim) {
  return reduce_dims(self, truth_mask(self, dim, "any"), keepdim, truth_dtype(self), &kernels::ReduceKernels::any);
}

Tensor all_dims(const Tensor& self, OptInts dim, bool keepdim) {
  return reduce_dims(self, truth_mask(self, dim, "all"), keepdim, truth_dtype(self), &kernels::ReduceKernels::all);
}

Tensor count_nonzero(const Tensor& self, OptInts dim) {
  return reduce_dims(self, dim_mask(dim, self.dim(), "count_nonzero"), false, DType::Int64, &kernels::ReduceKernels::count_nonzero);
}

Tensor trace(const Tensor& self) {
  RG_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  if (self.dtype() == DType::Bool) fail_dtype("trace", self.dtype());
  if (is_complex(self.dtype())) return complex_sum(impl::diagonal(self, 0, 0, 1), 1, false, self.dtype(), false);
  const int64_t length[] = {std::min(self.size(0), self.size(1))}, stride[] = {self.stride(0) + self.stride(1)};
  Tensor out = empty({}, sum_dtype(self, {}), self.device());
  run_kernel(self, 1, [&] {
    kernels::reduce(self->device).sum({out->data, out->dtype, 1, length, kZeroStrides}, {self->data, self->dtype, 1, length, stride});
  });
  return out;
}

}  // namespace retrograd::impl
