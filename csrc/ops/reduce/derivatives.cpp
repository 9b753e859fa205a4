#include <algorithm>
#include <cmath>

#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "kernels/element.h"
#include "ops/derivatives.h"
#include "ops/lazy.h"
#include "ops/reduce/common.h"

namespace retrograd::derivatives {

Tensor sum_to(const Tensor& t, IntSpan sizes) {
  if (!t) return {};  // no gradient at all
  return same_sizes(t.sizes(), sizes) ? t : ops::_sum_to(t, sizes);
}
Tensor cast_to(const Tensor& t, DType dtype) { return t.dtype() == dtype ? t : engine_ops.cast(t, dtype); }

Tensor expand_reduced(const Tensor& t, IntSpan sizes, OptInts dim, bool keepdim) { return ops::_expand_reduced(t, sizes, dim, keepdim); }

namespace {

int64_t reduced_count(IntSpan sizes, OptInts dim) {
  const int64_t ndim = static_cast<int64_t>(sizes.size());
  const uint64_t mask = dim_mask(dim, ndim, "backward");
  int64_t n = 1;
  for (int64_t d = 0; d < ndim; ++d)
    if (has_dim(mask, d)) n *= sizes[static_cast<size_t>(d)];
  return n;
}

// Any element of it, of any sample; for complex numbers, of either part.
bool any_value(Tensor t, kernels::Is what, double high = 0) {
  while (t->has(kBatched)) t = Tensor::borrow(t->extra->batched);
  if (is_complex(t.dtype())) t = real_pairs(contiguous_data(t));
  return any_element(t, what, 0, high);
}
bool has_zero(const Tensor& t) {
  if (is_complex(t.dtype())) return any_value(ops::ne(ops::detach(t), 0), kernels::Is::Zero);
  return any_value(t, kernels::Is::Zero);
}
bool has_nan(const Tensor& t) { return any_value(t, kernels::Is::NaN); }
bool has_minus_inf(const Tensor& t) { return any_value(t, kernels::Is::MinusInfinite); }
bool has_inf(const Tensor& t) { return any_value(t, kernels::Is::Infinite); }

// t moved by one towards the end of `dim`, with `fill` in front.
Tensor shift(const Tensor& t, int64_t dim, double fill) {
  const int64_t d = wrap_dim(dim, t.dim()), n = t.size(d);
  if (n == 0) return t;
  int64_t sizes[kMaxDims];
  for (int64_t i = 0; i < t.dim(); ++i) sizes[i] = i == d ? 1 : t.size(i);
  const Tensor parts[] = {full({sizes, static_cast<size_t>(t.dim())}, Scalar(fill), t.dtype(), t.device()), ops::narrow(t, d, 0, n - 1)};
  return ops::cat(parts, d);
}

// For each element the product of the others along `dim`, zeros or not.
Tensor product_of_others(const Tensor& self, int64_t dim) {
  const int64_t dims[] = {dim};
  const Tensor before = ops::cumprod(shift(self, dim, 1), dim, {});
  const Tensor after = ops::flip(ops::cumprod(shift(ops::flip(self, dims), dim, 1), dim, {}), dims);
  return before * after;
}

}  // namespace

namespace {
// Whether a factor cannot be divided out of a product: a zero makes it 0, or NaN beside an infinity or a NaN.
bool hides_factors(const Tensor& product, const Tensor& factors) { return has_zero(product) || (has_nan(product) && has_zero(factors)); }
}  // namespace

bool any_above(const Tensor& t, double bound) { return any_value(t, kernels::Is::Above, bound); }

Tensor sum_backward(const Tensor& grad, IntSpan sizes, OptInts dim, bool keepdim, DType dtype) {
  return expand_reduced(cast_to(grad, dtype), sizes, dim, keepdim);
}

Tensor mean_backward(const Tensor& grad, IntSpan sizes, OptInts dim, bool keepdim, DType dtype) {
  const int64_t count = reduced_count(sizes, dim);
  // Divided last: the gradient of each element has memory of its own, as programs that write to it expect.
  const Tensor g = expand_reduced(cast_to(grad, dtype), sizes, dim, keepdim);
  return count ? g / count : g;
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (self.dim() == 0) return cast_to(grad, self.dtype());
  const Tensor x = cast_to(self, result.dtype());  // what was multiplied
  if (!hides_factors(result, x)) return cast_to((grad * result) / x, self.dtype());
  const int64_t flat[] = {-1};
  return cast_to(grad * ops::view(product_of_others(ops::reshape(x, flat), 0), self.sizes()), self.dtype());
}

Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim) {
  if (self.dim() == 0) return cast_to(grad, self.dtype());
  const int64_t d = wrap_dim(dim, self.dim());
  const IntSpan dims(&d, 1);
  const Tensor x = cast_to(self, result.dtype());
  if (!hides_factors(result, x)) return cast_to(expand_reduced(grad * result, self.sizes(), dims, keepdim) / x, self.dtype());
  return cast_to(expand_reduced(grad, self.sizes(), dims, keepdim) * product_of_others(x, d), self.dtype());
}

Tensor shared_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptInts dim, bool keepdim) {
  const Tensor found = expand_reduced(result, self.sizes(), dim, keepdim);
  Tensor mask = ops::eq(self, found);
  if (is_floating(self.dtype()) && has_nan(result)) mask = ops::logical_or(mask, ops::logical_and(ops::isnan(self), ops::isnan(found)));
  const Tensor count = ops::sum_dim(mask, dim, keepdim, {});
  return ops::where(mask, expand_reduced(grad / count, self.sizes(), dim, keepdim), Scalar(0));
}

Tensor aminmax_backward(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min, const Tensor& max,
                        std::optional<int64_t> dim, bool keepdim) {
  const OptInts dims = dim ? OptInts(IntSpan(&*dim, 1)) : OptInts();
  Tensor out;
  if (grad_min) out = shared_backward(grad_min, self, min, dims, keepdim);
  if (!grad_max) return out;
  const Tensor second = shared_backward(grad_max, self, max, dims, keepdim);
  return out ? out + second : second;
}

Tensor trace_backward(const Tensor& grad, IntSpan sizes) {
  Tensor eye = zeros(sizes, grad.dtype(), grad.device());
  const int64_t n[] = {std::min(sizes[0], sizes[1])}, stride[] = {eye.stride(0) + eye.stride(1)};
  fill_data(alias_as(eye, n, stride, 0), Scalar(1));
  return eye * grad;
}

// ---- variance and norms ----

namespace {

// f(x), but 0 where x is 0: norms and deviations have no derivative there, and PyTorch takes 0. There x is replaced by 1 before f sees
// it, so that no infinity gets into derivatives of any order.
template <class F> Tensor zero_at_zeros(const Tensor& x, F&& f) {
  if (!has_zero(x)) return f(x);
  const Tensor zero = ops::eq(x, Scalar(0));
  return ops::where(zero, Scalar(0), f(ops::where(zero, Scalar(1), x)));
}

}  // namespace

Tensor var_backward(const Tensor& grad, const Tensor& self, OptInts dim, std::optional<Scalar> correction, bool keepdim) {
  const double count = static_cast<double>(reduced_count(self.sizes(), dim)), divisor = count - (correction ? correction->to_double() : 1);
  // Without degrees of freedom the variance is inf or nan, and so is its derivative. Along a dimension the formula says as much.
  if (divisor <= 0 && (!dim || self.dim() == 0)) {
    const Tensor wrong = ops::where(ops::eq(self, ops::mean(self, {})), static_cast<double>(NAN), HUGE_VAL);
    return cast_to(expand_reduced(grad, self.sizes(), dim, keepdim) * cast_to(wrong, grad.dtype()), self.dtype());
  }
  const Tensor centred = self - ops::mean_dim(self, dim, true, {});
  return expand_reduced(grad * (2 / divisor), self.sizes(), dim, keepdim) * centred;
}

Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptInts dim, std::optional<Scalar> correction,
                    bool keepdim) {
  const Tensor g = zero_at_zeros(result, [&](const Tensor& r) { return grad / (r * 2.0); });
  return var_backward(g, self, dim, correction, keepdim);
}

Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, OptInts dim, std::optional<Scalar> correction,
                         bool keepdim) {
  Tensor out;
  if (grad_var) out = var_backward(grad_var, self, dim, correction, keepdim);
  if (!grad_mean) return out;
  const Tensor second = mean_backward(grad_mean, self.sizes(), dim, keepdim, self.dtype());
  return out ? out + second : second;
}

Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std, OptInts dim,
                         std::optional<Scalar> correction, bool keepdim) {
  Tensor out;
  if (grad_std) out = std_backward(grad_std, self, std, dim, correction, keepdim);
  if (!grad_mean) return out;
  const Tensor second = mean_backward(grad_mean, self.sizes(), dim, keepdim, self.dtype());
  return out ? out + second : second;
}

Tensor vector_norm_backward(const Tensor& grad, const Tensor& self_, Scalar ord, const Tensor& result, OptInts dim, bool keepdim) {
  const double p = ord.to_double();
  const Tensor self = cast_to(self_, is_complex(self_.dtype()) ? complex_dtype(result.dtype()) : result.dtype());
  const IntSpan sizes = self.sizes();
  const auto wide = [&](const Tensor& t) { return expand_reduced(t, sizes, dim, keepdim); };
  Tensor out;
  if (p == 0) return out;  // a count has no derivative
  if (p == 1) {
    out = ops::sgn(self) * wide(grad);
  } else if (p == 2) {
    out = self * wide(zero_at_zeros(result, [&](const Tensor& r) { return grad / r; }));
  } else if (std::isinf(p)) {
    const Tensor magnitude = ops::abs(self), found = wide(result);
    Tensor mask = ops::eq(magnitude, found);
    if (has_nan(result)) mask = ops::logical_or(mask, ops::logical_and(ops::isnan(self), ops::isnan(found)));
    out = ops::sgn(self) * ops::where(mask, wide(grad / ops::sum_dim(mask, dim, keepdim, {})), Scalar(0));
  } else if (p < 2) {
    // sgn(x) |x|^(p-1) has a pole (p < 1) or a kink at 0.
    const Tensor power = zero_at_zeros(self, [&](const Tensor& x) { return ops::sgn(x) * ops::pow_scalar(ops::abs(x), Scalar(p - 1)); });
    out = power * wide(zero_at_zeros(result, [&](const Tensor& r) { return grad * ops::pow_scalar(r, Scalar(1 - p)); }));
  } else {
    const Tensor power = zero_at_zeros(self, [&](const Tensor& x) { return x * ops::pow_scalar(ops::abs(x), Scalar(p - 2)); });
    out = power * wide(zero_at_zeros(result, [&](const Tensor& r) { return grad / ops::pow_scalar(r, Scalar(p - 1)); }));
  }
  return cast_to(out, self_.dtype());
}

Tensor dist_backward(const Tensor& grad, const Tensor& self, const Tensor& other, Scalar p, const Tensor& result) {
  const Tensor out = vector_norm_backward(grad, self - other, p, result, {}, false);
  return out ? sum_to(cast_to(out, self.dtype()), self.sizes()) : out;
}

Tensor renorm_backward(const Tensor& grad, const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  // result = self * scale, scale = maxnorm / (norm + 1e-7) where the norm is too large, else 1.
  const int64_t kept = wrap_dim(dim, self.dim());
  int64_t rest[kMaxDims];
  int n = 0;
  for (int64_t d = 0; d < self.dim(); ++d)
    if (d != kept) rest[n++] = d;
  const OptInts dims = IntSpan(rest, static_cast<size_t>(n));
  const Tensor norm = ops::linalg_vector_norm(self, p, dims, true, {});
  const Tensor over = ops::gt(norm, maxnorm), shrunk = norm + 1e-7, scale = ops::where(over, maxnorm.to_double() / shrunk, Scalar(1));
  const Tensor slope = ops::where(over, -maxnorm.to_double() / (shrunk * shrunk), Scalar(0));
  const Tensor grad_norm = ops::sum_dim(along(grad, self), dims, true, {}) * slope;
  return grad * scale + vector_norm_backward(grad_norm, self, p, norm, dims, true);
}

Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& result) {
  if (p == 0) return zeros(x1.sizes(), x1.dtype(), x1.device());
  // [..., P, 1, M] - [..., 1, R, M]: each pair's vector norm, summed over the other side.
  const Tensor difference = ops::unsqueeze(x1, -2) - ops::unsqueeze(x2, -3);
  const int64_t last[] = {-1}, other[] = {-2};
  const Tensor pairs = vector_norm_backward(grad, difference, Scalar(p), result, OptInts(IntSpan(last)), false);
  return sum_to(ops::sum_dim(pairs, OptInts(IntSpan(other)), false, {}), x1.sizes());
}

// Each pair's vector norm, added to one row and taken from the other.
Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& result) {
  const Tensor none = zeros(self.sizes(), self.dtype(), self.device());
  if (p == 0) return none;
  const int64_t n = self.size(0), last[] = {-1};
  const Tensor pairs = impl::triu_indices(n, n, 1, {}, {}, self.device(), {}, {}), i = impl::select(pairs, 0, 0),
               j = impl::select(pairs, 0, 1);
  const Tensor difference = ops::index_select(self, 0, i) - ops::index_select(self, 0, j);
  const Tensor each = vector_norm_backward(grad, difference, Scalar(p), result, IntSpan(last), false);
  return ops::index_add(ops::index_add(none, 0, i, each, Scalar(1)), 0, j, each, Scalar(-1));
}

// ---- scans ----

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result) {
  // Element i enters result j >= i as (product before i) * x_i * (product of i+1 .. j). The sum over j of grad_j times the last factor is
  // a linear recurrence from the end, which is right for zeros too.
  if (self.dim() == 0) return cast_to(grad, self.dtype());
  const Tensor x = cast_to(self, result.dtype());
  return cast_to(shift(result, dim, 1) * ops::_linear_recurrence(grad, x, dim, true), self.dtype());
}

Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result) {
  // grad_i = sum over j >= i of grad_j exp(x_i - r_j) = exp(x_i - r_i) T_i with T_i = grad_i + exp(r_i - r_{i+1}) T_{i+1}: no exponent is
  // positive, so nothing overflows. While r is -inf nothing has entered the sum and the exponents are put at -inf.
  if (self.dim() == 0) return grad;
  Tensor rise = shift(result, dim, -HUGE_VAL) - result, share = self - result;
  if (!has_inf(result)) return ops::exp(share) * ops::_linear_recurrence(grad, ops::exp(rise), dim, true);
  // What is undefined is put in after the exponentials, so that it does not get into derivatives of what is not. From the first infinity on
  // nothing changes any more; only the infinity itself has no derivative, and what comes before it has the ordinary ones.
  const Tensor infinite = ops::isinf(result), same = ops::logical_and(infinite, ops::isnan(rise)),
               all = ops::logical_and(infinite, ops::isnan(share));
  const Tensor empty = ops::eq(result, Scalar(-HUGE_VAL));
  const Tensor ratio = ops::where(empty, Scalar(0), ops::exp(ops::where(same, Scalar(0), rise)));
  const Tensor weight =
      ops::where(empty, Scalar(0), ops::where(all, Scalar(static_cast<double>(NAN)), ops::exp(ops::where(all, Scalar(0), share))));
  return weight * ops::_linear_recurrence(grad, ratio, dim, true);
}

Tensor recurrence_factor_backward(const Tensor& grad, const Tensor& factor, int64_t dim, bool reverse, const Tensor& result) {
  if (grad.dim() == 0) return zeros({}, factor.dtype(), factor.device());
  const Tensor adjoint = ops::_linear_recurrence(grad, factor, dim, !reverse);
  return cast_to(reverse ? shift(adjoint, dim, 0) * result : adjoint * shift(result, dim, 0), factor.dtype());
}

// ---- softmax ----

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntSpan dim, bool keepdim) {
  const Tensor total = expand_reduced(result, self.sizes(), dim, keepdim), g = expand_reduced(grad, self.sizes(), dim, keepdim);
  const Tensor weight = ops::exp(self - total);
  // Where everything is -inf the derivative does not exist; 0 keeps the rest of a batch finite.
  if (has_minus_inf(result)) return g * ops::where(ops::eq(total, Scalar(-HUGE_VAL)), Scalar(0), weight);
  return g * weight;
}

namespace {
Tensor sum_along(const Tensor& t, int64_t dim) {
  const int64_t dims[] = {dim};
  return ops::sum_dim(t, OptInts(IntSpan(dims)), true, {});
}
}  // namespace

Tensor softmax_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  const Tensor g = cast_to(grad, output.dtype()), go = cast_to(grad_output, output.dtype());
  return g * (go - sum_along(go * output, dim)) - go * sum_along(g * output, dim);
}

Tensor log_softmax_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim) {
  const Tensor g = cast_to(grad, output.dtype()), go = cast_to(grad_output, output.dtype());
  return -(g * ops::exp(output) * sum_along(go, dim));
}

Tensor log_softmax_backward_grad(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype) {
  const Tensor g = cast_to(grad, output.dtype());
  return cast_to(g - sum_along(g * ops::exp(output), dim), dtype);
}

}  // namespace retrograd::derivatives
