// Derivative helpers of optable/reduce.py. Written in differentiable ops, so that second derivatives follow.
#pragma once

#include <optional>
#include <tuple>

#include "ops.h"

namespace retrograd::derivatives {

// Sums a gradient back to the sizes its input had before broadcasting; `t` itself when it already has them.
Tensor sum_to(const Tensor& t, IntSpan sizes);
Tensor cast_to(const Tensor& t, DType dtype);  // `t` itself when it already has it

// Brings back the dims that a reduction over `dim` (none or empty: all) removed: a view with the gradient repeated along them.
Tensor expand_reduced(const Tensor& t, IntSpan sizes, OptInts dim, bool keepdim);

Tensor sum_backward(const Tensor& grad, IntSpan sizes, OptInts dim, bool keepdim, DType dtype);
Tensor mean_backward(const Tensor& grad, IntSpan sizes, OptInts dim, bool keepdim, DType dtype);
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result);
Tensor prod_backward(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim, bool keepdim);

bool any_above(const Tensor& t, double bound);  // whether an element is larger; of a batched tensor any sample's

// Extrema without an index: the elements that equal the result share its gradient evenly.
Tensor shared_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptInts dim, bool keepdim);
Tensor aminmax_backward(const Tensor& grad_min, const Tensor& grad_max, const Tensor& self, const Tensor& min, const Tensor& max,
                        std::optional<int64_t> dim, bool keepdim);

// Either gradient may be undefined.
Tensor var_backward(const Tensor& grad, const Tensor& self, OptInts dim, std::optional<Scalar> correction, bool keepdim);
Tensor std_backward(const Tensor& grad, const Tensor& self, const Tensor& result, OptInts dim, std::optional<Scalar> correction,
                    bool keepdim);
Tensor var_mean_backward(const Tensor& grad_var, const Tensor& grad_mean, const Tensor& self, OptInts dim, std::optional<Scalar> correction,
                         bool keepdim);
Tensor std_mean_backward(const Tensor& grad_std, const Tensor& grad_mean, const Tensor& self, const Tensor& std, OptInts dim,
                         std::optional<Scalar> correction, bool keepdim);

Tensor vector_norm_backward(const Tensor& grad, const Tensor& self, Scalar ord, const Tensor& result, OptInts dim, bool keepdim);
Tensor dist_backward(const Tensor& grad, const Tensor& self, const Tensor& other, Scalar p,
                     const Tensor& result);  // for other exchange them
Tensor renorm_backward(const Tensor& grad, const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm);
Tensor cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p,
                      const Tensor& result);  // for x1; for x2 exchange them
Tensor pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& result);

Tensor cumprod_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result);
Tensor logcumsumexp_backward(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& result);
// _linear_recurrence with respect to its factors.
Tensor recurrence_factor_backward(const Tensor& grad, const Tensor& factor, int64_t dim, bool reverse, const Tensor& result);

Tensor logsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result, IntSpan dim, bool keepdim);
Tensor softmax_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);
Tensor log_softmax_backward_output(const Tensor& grad, const Tensor& grad_output, const Tensor& output, int64_t dim);
Tensor log_softmax_backward_grad(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype);

Tensor trace_backward(const Tensor& grad, IntSpan sizes);

}  // namespace retrograd::derivatives
