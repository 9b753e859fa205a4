// Running sums, products and extrema.
#include "kernels/scan.h"
#include "kernels/recurrence.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd::impl {
namespace {

using Pair = std::tuple<Tensor, Tensor>;
using Scan = decltype(&kernels::ScanKernels::cumsum);
using ScanWithIndex = decltype(&kernels::ScanKernels::cummax);

Tensor scan(const Tensor& self, int64_t dim, DType dtype, bool reverse, Scan kernel) {
  const int d = kernel_dim(dim, self);
  Tensor out = empty(self.sizes(), dtype, self.device());
  run_kernel(self, 16, [&] { (kernels::scan(self->device).*kernel)(out.array(), self.array(), d, reverse); });
  return out;
}

Pair scan_with_index(const Tensor& self, int64_t dim, ScanWithIndex kernel) {
  const int d = kernel_dim(dim, self);
  Tensor values = empty(self.sizes(), self.dtype(), self.device()), indices = empty(self.sizes(), DType::Int64, self.device());
  run_kernel(self, 32, [&] { (kernels::scan(self->device).*kernel)(values.array(), indices.array(), self.array(), d); });
  return {std::move(values), std::move(indices)};
}

void check_scanned(const Tensor& self, OptDType dtype, const char* kernel) {
  if (dtype == DType::Bool && self.dim() > 0 && self.numel() > 0) fail_dtype(kernel, DType::Bool);
}

void check_logcumsumexp(const Tensor& self) {
  if (!is_floating(self.dtype())) fail_dtype("logcumsumexp_out_cpu", self.dtype());
}

}  // namespace

Tensor cumsum(const Tensor& self, int64_t dim, OptDType dtype) {
  check_scanned(self, dtype, "cumsum_out_cpu");
  if (RG_UNLIKELY(is_complex(sum_dtype(self, dtype)))) return complex_cumsum(self, dim, sum_dtype(self, dtype), false);
  if (RG_UNLIKELY(is_complex(self.dtype()))) return cumsum(cast_data(self, *dtype), dim, dtype);
  return scan(self, dim, sum_dtype(self, dtype), false, &kernels::ScanKernels::cumsum);
}
Tensor cumprod(const Tensor& self, int64_t dim, OptDType dtype) {
  check_scanned(self, dtype, "cumprod_out_cpu");
  if (RG_UNLIKELY(is_complex(sum_dtype(self, dtype)))) return complex_cumprod(self, dim, sum_dtype(self, dtype));
  if (RG_UNLIKELY(is_complex(self.dtype()))) return cumprod(cast_data(self, *dtype), dim, dtype);
  return scan(self, dim, sum_dtype(self, dtype), false, &kernels::ScanKernels::cumprod);
}
Tensor _reverse_cumsum(const Tensor& self, int64_t dim) {
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_cumsum(self, dim, self.dtype(), true);
  return scan(self, dim, self.dtype(), true, &kernels::ScanKernels::cumsum);
}
Pair cummax(const Tensor& self, int64_t dim) { return scan_with_index(self, dim, &kernels::ScanKernels::cummax); }
Pair cummin(const Tensor& self, int64_t dim) { return scan_with_index(self, dim, &kernels::ScanKernels::cummin); }

Tensor logcumsumexp(const Tensor& self, int64_t dim) {
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_logcumsumexp(self, dim);
  check_logcumsumexp(self);
  return scan(self, dim, self.dtype(), false, &kernels::ScanKernels::logcumsumexp);
}

Tensor _linear_recurrence(const Tensor& self, const Tensor& factor, int64_t dim, bool reverse) {
  RG_CHECK_AS(NotImplemented, is_differentiable(self.dtype()), "\"_linear_recurrence\" not implemented for '", dtype_name(self.dtype()),
              "'");
  const int d = kernel_dim(dim, self);
  Tensor out = empty(self.sizes(), self.dtype(), self.device());
  const Tensor f = cast_data(factor, self.dtype());
  run_kernel(self, 32, [&] { kernels::recurrence(self->device).linear(out.array(), self.array(), f.array(), d, reverse); });
  return out;
}

}  // namespace retrograd::impl
