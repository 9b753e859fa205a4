#include "ops/fft/derivatives.h"

#include "ops/data.h"
#include "ops/derivatives.h"
#include "ops/dims.h"

namespace retrograd::derivatives {
namespace {

// The transforms of real numbers and their reverse are each other's transposes but for what stands for two elements, itself and the conjugate
// that is left out: of n points along `dim` all but the first and, for even n, the last.
Tensor scale_doubled(const Tensor& half, int64_t dim, int64_t n, double factor) {
  const int64_t count = n / 2 + 1, end = n % 2 ? count : count - 1;
  if (end <= 1) return half;
  const Tensor weights = full(ints({count}), 1, real_dtype(half.dtype()), half.device());
  fill_data(impl::slice(weights, 0, 1, end, 1), factor);
  dim = wrap_dim(dim, half.dim());
  std::vector<int64_t> shape(static_cast<size_t>(half.dim() - dim), 1);
  shape[0] = count;
  return half * impl::view(weights, shape);
}

}  // namespace

Tensor fft_r2c_grad(const Tensor& grad, IntSpan dim, int64_t normalization, bool onesided, IntSpan sizes) {
  if (!onesided) return ops::real(ops::_fft_c2c(grad, dim, normalization, false));
  const int64_t last = wrap_dim(dim.back(), grad.dim()), n = sizes[static_cast<size_t>(last)];
  return ops::_fft_c2r(scale_doubled(grad, last, n, 0.5), dim, normalization, n);
}

Tensor fft_c2r_grad(const Tensor& grad, IntSpan dim, int64_t normalization) {
  const int64_t last = wrap_dim(dim.back(), grad.dim());
  return scale_doubled(ops::_fft_r2c(grad, dim, normalization, true), last, grad.size(last), 2);
}

}  // namespace retrograd::derivatives
