// Reductions of complex numbers. What is linear works on the parts, as real numbers with one more dim; products are done by halves.
#include <cmath>

#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "ops.h"
#include "ops/lazy.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

Tensor as_complex(const Tensor& pairs) { return impl::view_as_complex(contiguous_data(pairs)); }

// The dims of a mask, for the public ops. Never empty where they would take that for all.
struct Dims {
  int64_t list[kMaxDims];
  size_t count = 0;
  Dims(uint64_t mask, int64_t ndim) {
    for (int64_t d = 0; d < ndim; ++d)
      if (has_dim(mask, d)) list[count++] = d;
  }
  operator IntSpan() const { return {list, count}; }
};

}  // namespace

Tensor complex_sum(const Tensor& self, uint64_t mask, bool keepdim, DType dtype, bool mean) {
  const Tensor x = cast_data(self, dtype);
  const Dims dims(mask, self.dim());
  if (dims.count == 0) return x.is(self) ? impl::clone(x) : x;
  const Tensor pairs = real_pairs(x);
  return as_complex(mean ? impl::mean_dim(pairs, IntSpan(dims), keepdim, {}) : impl::sum_dim(pairs, IntSpan(dims), keepdim, {}));
}

Tensor complex_prod(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  Tensor x = cast_data(self, dtype);
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (!has_dim(mask, d)) continue;
    while (x.size(d) > 1) {
      const int64_t n = x.size(d), half = n / 2;
      const Tensor product = impl::mul(impl::slice(x, d, 0, half, 1), impl::slice(x, d, half, 2 * half, 1));
      const Tensor parts[] = {product, impl::slice(x, d, 2 * half, n, 1)};
      x = n % 2 ? impl::cat(parts, d) : product;
    }
    if (x.size(d) == 0) {
      int64_t sizes[kMaxDims];
      for (int64_t i = 0; i < x.dim(); ++i) sizes[i] = i == d ? 1 : x.size(i);
      x = full({sizes, static_cast<size_t>(x.dim())}, Scalar(1), dtype, x.device());
    }
    if (!keepdim) x = impl::squeeze_dim(x, d);
  }
  return x->storage == self->storage ? impl::clone(x) : contiguous_data(x);
}

Tensor complex_cumsum(const Tensor& self, int64_t dim, DType dtype, bool reverse) {
  const Tensor x = cast_data(self, dtype);
  if (x.dim() == 0) return x.is(self) ? impl::clone(x) : x;
  const Tensor pairs = real_pairs(x);
  const int64_t d = wrap_dim(dim, self.dim());
  return as_complex(reverse ? impl::_reverse_cumsum(pairs, d) : impl::cumsum(pairs, d, {}));
}

namespace {

// out[i] = combine(out[i - 1], self[i]) along a dim.
template <class F> Tensor accumulate(const Tensor& self, int64_t dim, DType dtype, F&& combine) {
  Tensor out = empty(self.sizes(), dtype, self.device());
  copy_data(out, self);
  const int64_t d = wrap_dim(dim, self.dim());
  for (int64_t i = 1; self.dim() && self.numel() && i < self.size(d); ++i) combine(impl::select(out, d, i - 1), impl::select(out, d, i));
  return out;
}

}  // namespace

Tensor complex_cumprod(const Tensor& self, int64_t dim, DType dtype) {
  return accumulate(self, dim, dtype, [](const Tensor& before, const Tensor& here) { impl::mul_out(here, before, here); });
}

Tensor complex_logcumsumexp(const Tensor& self, int64_t dim) {
  const Complex<double> nan(NAN, NAN);  // either part makes both
  const Tensor start = impl::masked_fill(self, impl::isnan(self), Scalar(nan));
  return accumulate(start, dim, self.dtype(), [](const Tensor& before, const Tensor& here) { impl::logaddexp_out(before, here, here); });
}

// Around the largest real part of each sum.
Tensor complex_logsumexp(const Tensor& self, uint64_t mask, bool keepdim) {
  const Dims dims(mask, self.dim());
  if (self.numel() == 0) {
    const Tensor exponentials = impl::exp(self);
    return impl::log(dims.count ? impl::sum_dim(exponentials, IntSpan(dims), keepdim, {}) : exponentials);
  }
  Tensor peak = dims.count ? impl::amax(real_part(self), IntSpan(dims), true) : real_part(self);
  peak = impl::masked_fill(peak, impl::logical_not(impl::isfinite(peak)), Scalar(0));
  const Tensor exponentials = impl::exp(impl::sub(self, peak, Scalar(1)));
  const Tensor total = dims.count ? impl::sum_dim(exponentials, IntSpan(dims), keepdim, {}) : exponentials;
  if (keepdim) return impl::add(impl::log(total), peak, Scalar(1));
  return impl::add(impl::log(total), impl::view(contiguous_data(peak), total.sizes()), Scalar(1));
}

// The spread of complex numbers is that of their real parts plus that of their imaginary parts.
std::tuple<Tensor, Tensor> complex_var_mean(const Tensor& self, uint64_t mask, std::optional<Scalar> correction, bool keepdim,
                                            bool take_sqrt) {
  const Dims dims(mask, self.dim());
  Tensor var, mean;
  if (dims.count == 0) {  // of single numbers
    const Tensor pairs = impl::unsqueeze(real_pairs(self), 0);
    const int64_t first[] = {0};
    std::tie(var, mean) = impl::var_mean_correction(pairs, IntSpan(first), correction, false);
  } else {
    std::tie(var, mean) = impl::var_mean_correction(real_pairs(self), IntSpan(dims), correction, keepdim);
  }
  const int64_t last[] = {-1};
  var = impl::sum_dim(var, IntSpan(last), false, {});
  return {take_sqrt ? impl::sqrt(var) : var, as_complex(mean)};
}

}  // namespace retrograd
