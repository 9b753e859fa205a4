// Running sums, products and extrema.
#include "kernels/scan.h"
#include "kernels/recurrence.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using Pair = std::array<Spec, 2>;
using K = kernels::ScanKernels;
using ScanWithIndex = decltype(&K::cummax);

void scan_with_index(const Tensor& self, int64_t dim, ScanWithIndex kernel, const Tensor& values, const Tensor& indices) {
  run_kernel(self, 32,
             [&] { (kernels::scan(self->device).*kernel)(values.array(), indices.array(), self.array(), kernel_dim(dim, self)); });
}

Spec scanned(const Tensor& self, int64_t dim, DType dtype) {
  wrap_dim(dim, self.dim());
  return Spec::of(self, dtype);
}

Spec scanned(const Tensor& self, int64_t dim, OptDType dtype, const char* kernel) {
  if (dtype == DType::Bool && self.dim() > 0 && self.numel() > 0) fail_not_implemented(kernel, DType::Bool);
  return scanned(self, dim, sum_dtype(self, dtype));
}

}  // namespace

void scan_into(const Tensor& self, int dim, bool reverse, ScanKernel kernel, const Tensor& out) {
  run_kernel(self, 16, [&] { (kernels::scan(self->device).*kernel)(out.array(), self.array(), dim, reverse); });
}

namespace rule {

Spec cumsum(const Tensor& self, int64_t dim, OptDType dtype) { return scanned(self, dim, dtype, "cumsum_out_cpu"); }
Spec cumprod(const Tensor& self, int64_t dim, OptDType dtype) { return scanned(self, dim, dtype, "cumprod_out_cpu"); }
Spec _reverse_cumsum(const Tensor& self, int64_t dim) { return scanned(self, dim, self.dtype()); }
Pair cummax(const Tensor& self, int64_t dim) { return {scanned(self, dim, self.dtype()), Spec::of(self, DType::Int64)}; }
Pair cummin(const Tensor& self, int64_t dim) { return cummax(self, dim); }

Spec logcumsumexp(const Tensor& self, int64_t dim) {
  if (!is_differentiable(self.dtype())) fail_not_implemented("logcumsumexp_out_cpu", self.dtype());
  return scanned(self, dim, self.dtype());
}

Spec _linear_recurrence(const Tensor& self, const Tensor&, int64_t dim, bool) {
  RG_CHECK_AS(NotImplemented, is_differentiable(self.dtype()), "\"_linear_recurrence\" not implemented for '", dtype_name(self.dtype()),
              "'");
  return scanned(self, dim, self.dtype());
}

}  // namespace rule

namespace compute {

void cumsum(const Tensor& self, int64_t dim, OptDType, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(is_complex(out.dtype()))) return complex_cumsum(self, d, false, out);
  const Tensor real = RG_UNLIKELY(is_complex(self.dtype())) ? cast_data(self, out.dtype()) : self;
  scan_into(real, d, false, &K::cumsum, out);
}

void cumprod(const Tensor& self, int64_t dim, OptDType, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(is_complex(out.dtype()))) return complex_cumprod(self, d, out);
  const Tensor real = RG_UNLIKELY(is_complex(self.dtype())) ? cast_data(self, out.dtype()) : self;
  scan_into(real, d, false, &K::cumprod, out);
}

void _reverse_cumsum(const Tensor& self, int64_t dim, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_cumsum(self, d, true, out);
  scan_into(self, d, true, &K::cumsum, out);
}

void cummax(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  scan_with_index(self, dim, &K::cummax, values, indices);
}
void cummin(const Tensor& self, int64_t dim, const Tensor& values, const Tensor& indices) {
  scan_with_index(self, dim, &K::cummin, values, indices);
}

void logcumsumexp(const Tensor& self, int64_t dim, const Tensor& out) {
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_logcumsumexp(self, d, out);
  scan_into(self, d, false, &K::logcumsumexp, out);
}

void _linear_recurrence(const Tensor& self, const Tensor& factor, int64_t dim, bool reverse, const Tensor& out) {
  const Tensor f = cast_data(factor, self.dtype());
  run_kernel(self, 32,
             [&] { kernels::recurrence(self->device).linear(out.array(), self.array(), f.array(), kernel_dim(dim, self), reverse); });
}

}  // namespace compute
}  // namespace retrograd
