// Sums, products and truth: reductions over any set of dims with one output.
#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/reduce.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using K = kernels::ReduceKernels;
using Kernel = decltype(&K::sum);

// Complex numbers are summed and multiplied elsewhere, in a real dtype after they are converted; all else is decided by whether they are zero.
Tensor without_complex(const Tensor& self, DType dtype, Kernel kernel) {
  return kernel == &K::any || kernel == &K::all || kernel == &K::count_nonzero ? impl::ne(self, Scalar(0)) : cast_data(self, dtype);
}

// A sum of a few hundred contiguous floats over adjacent dims, [outer, n, inner] -> [outer, inner]: planning it would take longer.
constexpr int64_t kSmall = 1024;

bool try_small_sum(const Tensor& self, uint64_t mask, const Tensor& out, bool mean) {
  const TensorImpl* t = self.get();
  if (!t->is_contiguous() || t->numel > kSmall || t->numel == 0 || mask == 0 || out.dtype() != t->dtype) return false;
  if (t->dtype != DType::Float32 && t->dtype != DType::Float64) return false;
  const int first = std::countr_zero(mask), last = 63 - std::countl_zero(mask);
  if (std::popcount(mask) != last - first + 1) return false;
  int64_t outer = 1, n = 1, inner = 1;
  for (int d = 0; d < t->ndim; ++d) (d < first ? outer : d > last ? inner : n) *= t->size(d);
  const Launch launch(self);
  kernels::reduce(t->device).small_sum(out->data, t->data, t->dtype, outer, n, inner, mean);
  return true;
}

void reduce_dims(const Tensor& self, uint64_t mask, Kernel kernel, const Tensor& out) {
  if (RG_UNLIKELY(is_complex(out.dtype())))
    return kernel == &K::prod ? complex_prod(self, mask, out) : complex_sum(self, mask, kernel == &K::mean, out);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return reduce_dims(without_complex(self, out.dtype(), kernel), mask, kernel, out);
  const Reduced shape(self, mask);
  run_kernel(self, 4, [&] { (kernels::reduce(self->device).*kernel)(shape.out(out), shape.in()); });
}

void reduce_all(const Tensor& self, Kernel kernel, const Tensor& out) { reduce_dims(self, every_dim(self.dim()), kernel, out); }

DType mean_dtype(const Tensor& self, OptDType dtype) {
  if (RG_LIKELY(is_differentiable(dtype.value_or(self.dtype())))) return dtype.value_or(self.dtype());
  fail(ErrorKind::Runtime, "mean(): could not infer output dtype. ", dtype ? "Optional" : "Input",
       " dtype must be either a floating point or complex dtype. Got: ", dtype_title(dtype.value_or(self.dtype())),
       "\n  Hint: the mean of integers is a fraction: .float().mean(), or mean(dtype=torch.float32).");
}

DType truth_dtype(const Tensor& self) { return self.dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool; }

// any() and all() over an empty list of dims reduce nothing, unlike the others.
uint64_t truth_mask(const Tensor& self, OptInts dim, const char* op) { return dim && dim->empty() ? 0 : dim_mask(dim, self.dim(), op); }

// Whether any() and all() are the truth of each element, which is what becomes of it as a bool.
bool is_each_alone(const Tensor& self, OptInts dim) { return dim && dim->empty() && self.dtype() != DType::UInt8; }

// The dims that are summed to get the size; false where none are.
bool summed_to(const Tensor& self, IntSpan size, uint64_t& mask) {
  const int64_t extra = self.dim() - static_cast<int64_t>(size.size());
  if (extra < 0) return false;
  mask = every_dim(extra);
  for (int64_t d = extra; d < self.dim(); ++d) {
    const int64_t want = size[static_cast<size_t>(d - extra)], have = self.size(d);
    if (want == have) continue;
    if (want != 1) return false;
    mask |= uint64_t{1} << d;
  }
  return true;
}

}  // namespace

void sum_into(const Tensor& self, uint64_t mask, bool mean, const Tensor& out) {
  if (try_small_sum(self, mask, out, mean)) return;
  reduce_dims(self, mask, mean ? &K::mean : &K::sum, out);
}

namespace rule {

Spec sum(const Tensor& self, OptDType dtype) { return whole(self, sum_dtype(self, dtype)); }
Spec sum_dim(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  return reduced(self, dim_mask(dim, self.dim(), "sum"), keepdim, sum_dtype(self, dtype));
}

Spec _sum_to(const Tensor& self, IntSpan size) {
  uint64_t mask;
  RG_CHECK(summed_to(self, size, mask), "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  return Spec(size, self.dtype(), self->device);
}

Spec nansum(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  return reduced(self, dim_mask(dim, self.dim(), "nansum"), keepdim, sum_dtype(self, dtype));
}

Spec mean(const Tensor& self, OptDType dtype) { return whole(self, mean_dtype(self, dtype)); }
Spec mean_dim(const Tensor& self, OptInts dim, bool keepdim, OptDType dtype) {
  return reduced(self, dim_mask(dim, self.dim(), "mean"), keepdim, mean_dtype(self, dtype));
}

Spec prod(const Tensor& self, OptDType dtype) { return whole(self, sum_dtype(self, dtype)); }
Spec prod_dim_int(const Tensor& self, int64_t dim, bool keepdim, OptDType dtype) {
  return reduced(self, one_dim(dim, self.dim()), keepdim, sum_dtype(self, dtype));
}

Spec any(const Tensor& self) { return whole(self, truth_dtype(self)); }
Spec all(const Tensor& self) { return whole(self, truth_dtype(self)); }
Spec any_dims(const Tensor& self, OptInts dim, bool keepdim) {
  return reduced(self, truth_mask(self, dim, "any"), keepdim, truth_dtype(self));
}
Spec all_dims(const Tensor& self, OptInts dim, bool keepdim) {
  return reduced(self, truth_mask(self, dim, "all"), keepdim, truth_dtype(self));
}

Spec count_nonzero(const Tensor& self, OptInts dim) {
  return reduced(self, dim_mask(dim, self.dim(), "count_nonzero"), false, DType::Int64);
}

Spec trace(const Tensor& self) {
  RG_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  if (self.dtype() == DType::Bool) fail_not_implemented("trace", self.dtype());
  return whole(self, sum_dtype(self, {}));
}

}  // namespace rule

namespace compute {

void sum(const Tensor& self, OptDType, const Tensor& out) { sum_into(self, every_dim(self.dim()), false, out); }
void sum_dim(const Tensor& self, OptInts dim, bool, OptDType, const Tensor& out) {
  sum_into(self, dim_mask(dim, self.dim(), "sum"), false, out);
}

void _sum_to(const Tensor& self, IntSpan size, const Tensor& out) {
  uint64_t mask = 0;
  summed_to(self, size, mask);
  sum_into(self, mask, false, out);
}

void nansum(const Tensor& self, OptInts dim, bool, OptDType, const Tensor& out) {
  const uint64_t mask = dim_mask(dim, self.dim(), "nansum");
  reduce_dims(self, mask, is_floating(self.dtype()) && is_floating(out.dtype()) ? &K::nansum : &K::sum, out);
}

void mean(const Tensor& self, OptDType, const Tensor& out) { sum_into(self, every_dim(self.dim()), true, out); }
void mean_dim(const Tensor& self, OptInts dim, bool, OptDType, const Tensor& out) {
  sum_into(self, dim_mask(dim, self.dim(), "mean"), true, out);
}

void prod(const Tensor& self, OptDType, const Tensor& out) { reduce_all(self, &K::prod, out); }
void prod_dim_int(const Tensor& self, int64_t dim, bool, OptDType, const Tensor& out) {
  reduce_dims(self, one_dim(dim, self.dim()), &K::prod, out);
}

void any(const Tensor& self, const Tensor& out) { reduce_all(self, &K::any, out); }
void all(const Tensor& self, const Tensor& out) { reduce_all(self, &K::all, out); }
void any_dims(const Tensor& self, OptInts dim, bool, const Tensor& out) {
  if (is_each_alone(self, dim)) return copy_data(out, self);
  reduce_dims(self, truth_mask(self, dim, "any"), &K::any, out);
}
void all_dims(const Tensor& self, OptInts dim, bool, const Tensor& out) {
  if (is_each_alone(self, dim)) return copy_data(out, self);
  reduce_dims(self, truth_mask(self, dim, "all"), &K::all, out);
}

void count_nonzero(const Tensor& self, OptInts dim, const Tensor& out) {
  reduce_dims(self, dim_mask(dim, self.dim(), "count_nonzero"), &K::count_nonzero, out);
}

void trace(const Tensor& self, const Tensor& out) {
  if (is_complex(self.dtype())) return complex_sum(impl::diagonal(self, 0, 0, 1), 1, false, out);
  const int64_t length[] = {std::min(self.size(0), self.size(1))}, stride[] = {self.stride(0) + self.stride(1)}, zero[] = {0};
  run_kernel(self, 1, [&] {
    kernels::reduce(self->device).sum({out->data, out->dtype, 1, length, zero}, {self->data, self->dtype, 1, length, stride});
  });
}

}  // namespace compute
}  // namespace retrograd
