// Variance, norms and log-sum-exp.
#include <cmath>

#include "kernels/reduce.h"
#include "kernels/softmax.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using Pair = std::array<Spec, 2>;
using Tensors = std::tuple<Tensor, Tensor>;
using OptScalar = std::optional<Scalar>;

double freedom_lost(const OptScalar& correction) {
  if (!correction) return 1;
  RG_CHECK(correction->imag == 0, "value cannot be converted to type double without overflow");
  return correction->to_double();
}

// A warning where each result is the variance of one number about its own mean, or of none.
void check_freedom(const Tensor& self, uint64_t mask, const OptScalar& correction, const char* op) {
  if (RG_LIKELY(freedom_lost(correction) < static_cast<double>(reduced_count(self, mask)))) return;
  for (int d = 0; d < self.dim(); ++d)
    if (!has_dim(mask, d) && self.size(d) == 0) return;  // no results, no warning
  const std::string text =
      str_cat(op, "(): degrees of freedom is <= 0. Correction must be less than the number of elements in each reduction.");
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw PythonError();
}

Spec spread(const Tensor& self, OptInts dim, const OptScalar& correction, bool keepdim, const char* op) {
  RG_CHECK(is_differentiable(self.dtype()), "std and var only support floating point and complex dtypes");
  const uint64_t mask = dim_mask(dim, self.dim(), op);
  check_freedom(self, mask, correction, op);
  return reduced(self, mask, keepdim, real_dtype(self.dtype()));
}

Pair spread_and_mean(const Tensor& self, OptInts dim, const OptScalar& correction, bool keepdim, const char* op) {
  RG_CHECK(is_differentiable(self.dtype()), op, " only support floating point and complex dtypes");
  const uint64_t mask = dim_mask(dim, self.dim(), op);
  check_freedom(self, mask, correction, op);
  return {reduced(self, mask, keepdim, real_dtype(self.dtype())), reduced(self, mask, keepdim, self.dtype())};
}

// `mean` may be undefined.
void measure(const Tensor& self, OptInts dim, const OptScalar& correction, bool take_sqrt, const Tensor& out, const Tensor& mean) {
  const uint64_t mask = dim_mask(dim, self.dim(), "var");
  spread_into(self, mask, freedom_lost(correction), take_sqrt, out, mean);
}

OptScalar bias(bool unbiased) { return Scalar(unbiased ? 1 : 0); }

// Norms of negative order and the infinite ones have no value on nothing.
void check_norm_identity(const Tensor& self, double p, OptInts dim, uint64_t mask) {
  if (RG_LIKELY(self.numel() != 0) || (p >= 0 && std::isfinite(p))) return;
  const std::string order = p == HUGE_VAL ? "inf" : p == -HUGE_VAL ? "-inf" : str_cat(p);
  RG_CHECK(dim && !dim->empty(), "linalg.vector_norm cannot compute the ", order,
           " norm on an empty tensor because the operation does not have an identity");
  for (int64_t d = 0; d < self.dim(); ++d) {
    RG_CHECK(!has_dim(mask, d) || self.size(d) != 0, "linalg.vector_norm cannot compute the ", order, " norm on the dimension ", d,
             " because this dimension is empty and the operation does not have an identity");
  }
}

// The dtype a norm is computed in must hold the input's numbers.
void check_norm_dtype(DType from, DType to, const char* kind) {
  RG_CHECK(is_differentiable(to), "linalg.", kind, "_norm: dtype should be floating point or complex, but got ", dtype_title(to));
  const char* field = is_complex(from) ? "complex" : "real";
  RG_CHECK(is_complex(from) == is_complex(to), "linalg.", kind, "_norm: dtype should be ", field, " for ", field, " inputs, but got ",
           dtype_title(to));
  RG_CHECK(promote(from, to) == to, "linalg.", kind, "_norm: the dtype of the input (", dtype_title(from),
           ") should be convertible without narrowing to the specified dtype (", dtype_title(to), ")");
}

// Sum of the singular values of the matrices in two dims.
Tensor nuclear_norm(const Tensor& self, OptInts dim, bool keepdim) {
  const bool all = !dim || dim->empty();
  RG_CHECK(self.dim() >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
  RG_CHECK(all ? self.dim() == 2 : dim->size() == 2,
           "linalg.matrix_norm: dim must be a 2-tuple, the dims that the matrices of a tensor with ", self.dim(),
           " dimensions lie in. Got ", all ? IntSpan() : *dim);
  int64_t dims[] = {wrap_dim(all ? 0 : (*dim)[0], self.dim()), wrap_dim(all ? 1 : (*dim)[1], self.dim())};
  const int64_t last_two[] = {-2, -1}, last[] = {-1};
  Tensor out = ops::sum_dim(ops::linalg_svdvals(ops::movedim_intlist(self, dims, last_two)), IntSpan(last), false, {});
  if (!keepdim) return out;
  if (dims[0] > dims[1]) std::swap(dims[0], dims[1]);
  return ops::unsqueeze(ops::unsqueeze(out, dims[0]), dims[1]);
}

}  // namespace

void spread_into(const Tensor& self, uint64_t mask, double correction, bool take_sqrt, const Tensor& out, const Tensor& mean) {
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_spread(self, mask, correction, take_sqrt, out, mean);
  const Reduced shape(self, mask);
  run_kernel(self, 6, [&] {
    kernels::reduce(self->device)
        .var_mean(shape.out(out), mean ? shape.out(mean) : shape.out(nullptr, self.dtype()), shape.in(), correction, take_sqrt);
  });
}

namespace rule {

Spec var_correction(const Tensor& self, OptInts dim, OptScalar correction, bool keepdim) {
  return spread(self, dim, correction, keepdim, "var");
}
Spec std_correction(const Tensor& self, OptInts dim, OptScalar correction, bool keepdim) {
  return spread(self, dim, correction, keepdim, "std");
}
Pair var_mean_correction(const Tensor& self, OptInts dim, OptScalar correction, bool keepdim) {
  return spread_and_mean(self, dim, correction, keepdim, "var_mean");
}
Pair std_mean_correction(const Tensor& self, OptInts dim, OptScalar correction, bool keepdim) {
  return spread_and_mean(self, dim, correction, keepdim, "std_mean");
}

Spec linalg_vector_norm(const Tensor& self, Scalar ord, OptInts dim, bool keepdim, OptDType dtype) {
  RG_CHECK(is_differentiable(self.dtype()), "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
           dtype_title(self.dtype()));
  if (dtype) check_norm_dtype(self.dtype(), *dtype, "vector");
  RG_CHECK(!ord.is_complex(), "linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  const uint64_t mask = dim_mask(dim, self.dim(), "linalg.vector_norm");
  check_norm_identity(self, ord.to_double(), dim, mask);
  return reduced(self, mask, keepdim, real_dtype(dtype.value_or(self.dtype())));
}

Spec logsumexp(const Tensor& self, IntSpan dim, bool keepdim) {
  const DType dtype = is_differentiable(self.dtype()) ? self.dtype() : default_dtype();
  return reduced(self, dim_mask(dim, self.dim(), "logsumexp"), keepdim, dtype);
}

}  // namespace rule

namespace compute {

void var_correction(const Tensor& self, OptInts dim, OptScalar correction, bool, const Tensor& out) {
  measure(self, dim, correction, false, out, {});
}
void std_correction(const Tensor& self, OptInts dim, OptScalar correction, bool, const Tensor& out) {
  measure(self, dim, correction, true, out, {});
}
void var_mean_correction(const Tensor& self, OptInts dim, OptScalar correction, bool, const Tensor& out, const Tensor& mean) {
  measure(self, dim, correction, false, out, mean);
}
void std_mean_correction(const Tensor& self, OptInts dim, OptScalar correction, bool, const Tensor& out, const Tensor& mean) {
  measure(self, dim, correction, true, out, mean);
}

void linalg_vector_norm(const Tensor& self, Scalar ord, OptInts dim, bool keepdim, OptDType dtype, const Tensor& out) {
  if (RG_UNLIKELY(is_complex(self.dtype()))) return linalg_vector_norm(impl::abs(self), ord, dim, keepdim, dtype, out);
  const Reduced shape(self, dim_mask(dim, self.dim(), "linalg.vector_norm"));
  // Numbers by themselves: their absolute values, which powers might overflow.
  const bool alone = self.numel() == out.numel() && ord.to_double() != 0;
  const double p = alone ? HUGE_VAL : ord.to_double();
  const int cost = p == 2 || p == 1 || std::isinf(p) ? 4 : 100;
  run_kernel(self, cost, [&] { kernels::reduce(self->device).norm(shape.out(out), shape.in(), p); });
}

void logsumexp(const Tensor& self, IntSpan dim, bool, const Tensor& out) {
  const uint64_t mask = dim_mask(dim, self.dim(), "logsumexp");
  if (RG_UNLIKELY(is_complex(self.dtype()))) return complex_logsumexp(self, mask, out);
  const Reduced shape(self, mask);
  run_kernel(self, 16, [&] { kernels::softmax(self->device).logsumexp(shape.out(out), shape.in()); });
}

}  // namespace compute

namespace composite {

Tensor var(const Tensor& self, bool unbiased) { return ops::var_correction(self, {}, bias(unbiased), false); }
Tensor var_dim(const Tensor& self, OptInts dim, bool unbiased, bool keepdim) {
  return ops::var_correction(self, dim, bias(unbiased), keepdim);
}
Tensor std(const Tensor& self, bool unbiased) { return ops::std_correction(self, {}, bias(unbiased), false); }
Tensor std_dim(const Tensor& self, OptInts dim, bool unbiased, bool keepdim) {
  return ops::std_correction(self, dim, bias(unbiased), keepdim);
}
Tensors var_mean(const Tensor& self, bool unbiased) { return ops::var_mean_correction(self, {}, bias(unbiased), false); }
Tensors var_mean_dim(const Tensor& self, OptInts dim, bool unbiased, bool keepdim) {
  return ops::var_mean_correction(self, dim, bias(unbiased), keepdim);
}
Tensors std_mean(const Tensor& self, bool unbiased) { return ops::std_mean_correction(self, {}, bias(unbiased), false); }
Tensors std_mean_dim(const Tensor& self, OptInts dim, bool unbiased, bool keepdim) {
  return ops::std_mean_correction(self, dim, bias(unbiased), keepdim);
}

Tensor norm(const Tensor& self, OptScalar p, OptInts dim, bool keepdim, OptDType dtype) {
  return ops::linalg_vector_norm(self, p.value_or(Scalar(2)), dim, keepdim, dtype);
}

Tensor norm_str(const Tensor& self, std::string_view p, OptInts dim, bool keepdim, OptDType dtype) {
  if (p == "nuc" && dtype) check_norm_dtype(self.dtype(), *dtype, "matrix");
  if (p == "nuc") return nuclear_norm(dtype ? ops::_to_copy(self, *dtype, {}) : self, dim, keepdim);
  RG_CHECK(p == "fro", "linalg.matrix_norm: Order ", p, " not supported.");
  return ops::linalg_vector_norm(self, Scalar(2), dim, keepdim, dtype);
}

}  // namespace composite
}  // namespace retrograd
