// Reductions of complex numbers. Sums work on the parts, as real numbers with one more dim; products are done by halves.
#include <cmath>

#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/lazy.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

// The dims of a mask, for functions that take a list. Never empty where they would take that for all.
struct Dims {
  int64_t list[kMaxDims];
  size_t count = 0;
  Dims(uint64_t mask, int64_t ndim) {
    for (int64_t d = 0; d < ndim; ++d)
      if (has_dim(mask, d)) list[count++] = d;
  }
  operator IntSpan() const { return {list, count}; }
};

// Into memory of as many elements, with or without the dims that were reduced.
void copy_elements(const Tensor& out, const Tensor& result) { copy_data(impl::view(out, result.sizes()), result); }

// out[i] = combine(out[i - 1], self[i]) along a dim.
template <class F> void accumulate(const Tensor& self, int dim, const Tensor& out, F&& combine) {
  copy_data(out, self);
  for (int64_t i = 1; self.dim() && i < self.size(dim); ++i) combine(impl::select(out, dim, i - 1), impl::select(out, dim, i));
}

}  // namespace

void complex_sum(const Tensor& self, uint64_t mask, bool mean, const Tensor& out) {
  const Tensor x = cast_data(self, out.dtype());
  if (mask == 0) return copy_elements(out, x);
  sum_into(real_pairs(x), mask, mean, real_pairs(out));
}

void complex_prod(const Tensor& self, uint64_t mask, const Tensor& out) {
  Tensor x = cast_data(self, out.dtype());
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (!has_dim(mask, d)) continue;
    while (x.size(d) > 1) {
      const int64_t n = x.size(d), half = n / 2;
      const Tensor product = impl::mul(impl::slice(x, d, 0, half, 1), impl::slice(x, d, half, 2 * half, 1));
      const Tensor parts[] = {product, impl::slice(x, d, 2 * half, n, 1)};
      x = n % 2 ? impl::cat(parts, d) : product;
    }
    if (x.size(d) == 0) return fill_data(out, Scalar(1));
  }
  copy_elements(out, x);
}

void complex_cumsum(const Tensor& self, int dim, bool reverse, const Tensor& out) {
  scan_into(cast_data(self, out.dtype()), dim, reverse, &kernels::ScanKernels::cumsum, out);
}

void complex_cumprod(const Tensor& self, int dim, const Tensor& out) {
  scan_into(cast_data(self, out.dtype()), dim, false, &kernels::ScanKernels::cumprod, out);
}

void complex_logcumsumexp(const Tensor& self, int dim, const Tensor& out) {
  const Complex<double> nan(NAN, NAN);  // either part makes both
  const Tensor start = impl::masked_fill(self, impl::isnan(self), Scalar(nan));
  accumulate(start, dim, out, [](const Tensor& before, const Tensor& here) { impl::logaddexp_out(before, here, here); });
}

// Around the largest real part of each sum.
void complex_logsumexp(const Tensor& self, uint64_t mask, const Tensor& out) {
  const Dims dims(mask, self.dim());
  const auto sum = [&](const Tensor& t) { return dims.count ? impl::sum_dim(t, IntSpan(dims), true, {}) : t; };
  if (self.numel() == 0) return copy_elements(out, impl::log(sum(impl::exp(self))));
  Tensor peak = dims.count ? impl::amax(real_part(self), IntSpan(dims), true) : real_part(self);
  peak = impl::masked_fill(peak, impl::logical_not(impl::isfinite(peak)), Scalar(0));
  const Tensor total = sum(impl::exp(impl::sub(self, peak, Scalar(1))));
  copy_elements(out, impl::add(impl::log(total), peak, Scalar(1)));
}

// The spread of complex numbers is that of their real parts plus that of their imaginary parts.
void complex_spread(const Tensor& self, uint64_t mask, double correction, bool take_sqrt, const Tensor& out, const Tensor& mean) {
  Tensor parts = real_pairs(self);
  if (mask == 0) {  // of single numbers
    parts = impl::unsqueeze(parts, 0);
    mask = 1;
  }
  const Tensor spreads = make(reduced(parts, mask, false, parts.dtype()));
  spread_into(parts, mask, correction, false, spreads, mean ? real_pairs(mean) : Tensor());
  sum_into(spreads, uint64_t{1} << (spreads.dim() - 1), false, out);
  if (take_sqrt) impl::sqrt_out(out, out);
}

}  // namespace retrograd
