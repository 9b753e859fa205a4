// Distances of vectors by others, made of norms, and the norm of a layer by its root mean square.
#include <limits>

#include "autograd/layers.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {
namespace {

// Divided by its norm. A norm below eps is replaced by that, but for the derivative the vector stays a function of its own norm.
Tensor unit(const Tensor& x, int64_t dim, double eps) {
  const Tensor norm = ops::linalg_vector_norm(x, Scalar(2), ints({dim}), true, {}), known = ops::detach(norm);
  const Tensor floor = ops::clamp_min(known, Scalar(eps));
  const bool follows = (thread_state.grad_mode && requires_grad(norm)) || has_layers(norm);
  return x / (follows ? norm + (floor - known) : floor);
}

DType eps_dtype(const Tensor& x) { return x.dtype() == DType::Float16 || x.dtype() == DType::BFloat16 ? DType::Float32 : x.dtype(); }

}  // namespace

namespace composite {

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  Promotion promotion;
  promotion.add(x1.get());
  promotion.add(x2.get());
  const DType dtype = promotion.result();
  RG_CHECK(is_floating(dtype), "expected common dtype to be floating point, yet common dtype is ", dtype_title(dtype));
  const Shape shape = broadcast_shapes(x1.sizes(), x2.sizes());
  const auto prepared = [&](const Tensor& x) {
    const Tensor t = x.dtype() == dtype ? x : ops::_to_copy(x, dtype, {});
    return unit(same_sizes(t.sizes(), shape) ? t : ops::expand(t, shape, false), dim, eps);
  };
  return ops::sum_dim(prepared(x1) * prepared(x2), ints({dim}), false, {});
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t dim = std::max(x1.dim(), x2.dim()) - 1;
  return ops::norm(ops::add(x1 - x2, Scalar(eps), 1), Scalar(p), ints({dim}), keepdim, {});
}

Tensor rms_norm(const Tensor& input, IntSpan normalized_shape, const Tensor& weight, std::optional<double> eps) {
  const auto count = static_cast<int64_t>(normalized_shape.size());
  RG_CHECK(count > 0, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got ",
           "normalized_shape = []");
  RG_CHECK_AS(Value, input.dim() >= count, "Input tensor must have at least ", count, " dimensions, but got ", input.dim());
  const IntSpan last = input.sizes().subspan(static_cast<size_t>(input.dim() - count));
  if (RG_UNLIKELY(!same_sizes(last, normalized_shape))) {
    std::string wanted;
    for (const int64_t n : normalized_shape) wanted += str_cat(wanted.empty() ? "*" : ", ", n);
    fail(ErrorKind::Runtime, "Given normalized_shape=", normalized_shape, ", expected input with shape [", wanted,
         "], but got input of size", input.sizes());
  }
  RG_CHECK_AS(NotImplemented, is_differentiable(input.dtype()), "\"rms_norm\" not implemented for ", dtype_name(input.dtype()));
  RG_CHECK(!weight || same_sizes(weight.sizes(), normalized_shape),
           "Expected weight to be of same shape as normalized_shape, but got weight of shape ", weight ? weight.sizes() : IntSpan(),
           " and normalized_shape = ", normalized_shape);
  const DType dtype = eps_dtype(input);
  const Tensor cast = dtype == input.dtype() ? input : ops::_to_copy(input, dtype, {}), wide = ops::contiguous(cast);
  int64_t dims[kMaxDims];
  for (int64_t d = 0; d < count; ++d) dims[d] = d - count;
  const double least = real_dtype(dtype) == DType::Float64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const Tensor mean = ops::mean_dim(ops::pow_scalar(wide, Scalar(2)), IntSpan(dims, static_cast<size_t>(count)), true, {});
  Tensor out = wide * ops::rsqrt(ops::add(mean, Scalar(eps.value_or(least)), 1));
  if (weight) out = out * weight;
  return out.dtype() == input.dtype() ? out : ops::_to_copy(out, input.dtype(), {});
}

}  // namespace composite
}  // namespace retrograd
