// beta * self + alpha * (a product): addmm, addmv, addbmm, baddbmm, addr.
#include "native_linalg.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/linalg/linalg.h"

namespace retrograd {
namespace {

// self is added to a result of `sizes`; in the words of expand().
void check_expands(const Tensor& self, IntSpan sizes) {
  const int64_t extra = static_cast<int64_t>(sizes.size()) - self.dim();
  RG_CHECK(extra >= 0, "expand(torch.", dtype_storage_name(self.dtype()), "{", self.sizes(), "}, size=", sizes,
           "): the number of sizes provided (", sizes.size(), ") must be greater or equal to the number of dimensions in the tensor (",
           self.dim(), ")");
  for (int64_t d = extra; d < static_cast<int64_t>(sizes.size()); ++d) {
    const int64_t have = self.size(d - extra), want = sizes[static_cast<size_t>(d)];
    RG_CHECK(have == want || have == 1, "The expanded size of the tensor (", want, ") must match the existing size (", have,
             ") at non-singleton dimension ", d, ".  Target sizes: ", sizes, ".  Tensor sizes: ", self.sizes());
  }
}

// What the product is added to; kernels do not read it where nothing is.
void start_with(const Tensor& out, const Tensor& self, const Scalar& beta) {
  if (!beta.equals(0)) copy_data(out, self);
}

void check_written(const Tensor& self, IntSpan sizes) {
  RG_CHECK(same_sizes(self.sizes(), sizes), "Bad in-place call: input tensor size ", self.sizes(), " and output tensor size ", sizes,
           " should match");
  check_no_internal_overlap(self);
}

// Whether `out` can be written while a and b are read.
bool writable(const Tensor& out, const Tensor& a, const Tensor& b) {
  return !has_internal_overlap(out.get()) && !may_overlap(out.get(), a.get()) && !may_overlap(out.get(), b.get());
}

void check_factors(DType dtype, const Scalar& beta, const Scalar& alpha) {
  if (RG_LIKELY(is_differentiable(dtype) && beta.imag == 0 && alpha.imag == 0)) return;
  check_fits(beta, dtype);
  check_fits(alpha, dtype);
}

void check_rest(const char* name, const Tensor& self, const Tensor& a, const Tensor& b, const Scalar& beta, const Scalar& alpha) {
  check_same_device(a.get(), b.get(), name);
  check_same_device(a.get(), self.get(), name);
  check_factors(self.dtype(), beta, alpha);
}

void check_addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  RG_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  RG_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  RG_CHECK(mat1.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (", mat1.size(0), "x", mat1.size(1), " and ",
           mat2.size(0), "x", mat2.size(1), ")", product_hint(mat1, mat2));
  RG_CHECK(self.dtype() == mat2.dtype(), "self and mat2 must have the same dtype, but got ", dtype_title(self.dtype()), " and ",
           dtype_title(mat2.dtype()));
  RG_CHECK(mat1.dtype() == mat2.dtype(), "mat1 and mat2 must have the same dtype, but got ", dtype_title(mat1.dtype()), " and ",
           dtype_title(mat2.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool) && mat1.size(0) && mat2.size(1)) fail_not_implemented("addmm_impl_cpu_", self.dtype());
  check_rest("addmm", self, mat1, mat2, beta, alpha);
}

void gemm_into(const Tensor& out, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  const int64_t m = mat1.size(0), k = mat1.size(1), n = mat2.size(1);
  const Launch launch(out, product_ns(out.dtype(), m, n, k));
  kernels::matmul(out->device)
      .gemm(out.dtype(), m, n, k, alpha.to_complex(), matrix_of(mat1), matrix_of(mat2), beta.to_complex(), matrix_of(out));
}

}  // namespace

namespace rule {

Spec addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  check_addmm(self, mat1, mat2, beta, alpha);
  const int64_t sizes[2] = {mat1->size(0), mat2->size(1)};
  if (!(self->ndim == 1 && self->size(0) == sizes[1])) check_expands(self, sizes);
  return Spec(sizes, self.dtype(), self->device);
}

void addmm_into(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  check_addmm(self, mat1, mat2, beta, alpha);
  check_written(self, ints({mat1.size(0), mat2.size(1)}));
}

Spec addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  RG_CHECK(mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got ", self.dim(), ", ", mat.dim(),
           ", ", vec.dim());
  const int64_t m = mat.size(0), k = mat.size(1);
  RG_CHECK(vec.size(0) == k && (self.numel() == 1 || self.numel() == m), "size mismatch, got input (", self.dim() ? self.size(0) : 1,
           "), mat (", m, "x", k, "), vec (", vec.size(0), ")");
  RG_CHECK(self.dtype() == mat.dtype() && mat.dtype() == vec.dtype(), "addmv input tensors must have the same dtype, but got ",
           dtype_title(self.dtype()), ", ", dtype_title(mat.dtype()), ", and ", dtype_title(vec.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool) && mat.numel()) fail_not_implemented("addmv_impl_cpu", self.dtype());
  check_rest("addmv", self, mat, vec, beta, alpha);
  return Spec(ints({m}), self.dtype(), self->device);
}

Spec baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  RG_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  RG_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  const int64_t batch = batch1.size(0), m = batch1.size(1), k = batch1.size(2), n = batch2.size(2);
  RG_CHECK(batch2.size(0) == batch && batch2.size(1) == k, "Expected size for first two dimensions of batch2 tensor to be: [", batch, ", ",
           k, "] but got: [", batch2.size(0), ", ", batch2.size(1), "].");
  const int64_t sizes[3] = {batch, m, n};
  check_expands(self, sizes);
  RG_CHECK(self.dtype() == batch1.dtype(), "Input dtypes must be the same, got: input ", cpp_type_name(self.dtype()),
           ", batch1: ", cpp_type_name(batch1.dtype()), ", batch2: ", cpp_type_name(batch2.dtype()));
  RG_CHECK(batch1.dtype() == batch2.dtype(), "expected scalar type ", dtype_title(batch1.dtype()), " but found ",
           dtype_title(batch2.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool) && checked_numel(sizes)) fail_not_implemented("baddbmm", self.dtype());
  check_rest("baddbmm", self, batch1, batch2, beta, alpha);
  return Spec(sizes, self.dtype(), self->device);
}

void baddbmm_into(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  baddbmm(self, batch1, batch2, beta, alpha);
  check_written(self, ints({batch1.size(0), batch1.size(1), batch2.size(2)}));
}

Spec addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  RG_CHECK_AS(Index, batch1.dim() > 0 && batch2.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  RG_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  RG_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  const int64_t batch = batch1.size(0), m = batch1.size(1), k = batch1.size(2), n = batch2.size(2);
  RG_CHECK(batch2.size(0) == batch, "batch1 and batch2 must have same number of batches, got ", batch, " and ", batch2.size(0));
  RG_CHECK(batch2.size(1) == k, "Incompatible matrix sizes for bmm (", m, "x", k, " and ", batch2.size(1), "x", n, ")");
  const int64_t sizes[2] = {m, n};
  check_expands(self, sizes);
  RG_CHECK(self.dtype() == batch2.dtype(), "self and mat2 must have the same dtype, but got ", dtype_title(self.dtype()), " and ",
           dtype_title(batch2.dtype()));
  RG_CHECK(batch1.dtype() == batch2.dtype(), "mat1 and mat2 must have the same dtype, but got ", dtype_title(batch1.dtype()), " and ",
           dtype_title(batch2.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) fail_not_implemented("addmm_impl_cpu_", self.dtype());
  check_rest("addbmm", self, batch1, batch2, beta, alpha);
  return Spec(sizes, self.dtype(), self->device);
}

void addbmm_into(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  addbmm(self, batch1, batch2, beta, alpha);
  check_written(self, ints({batch1.size(1), batch2.size(2)}));
}

Spec addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  RG_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  RG_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  const int64_t sizes[2] = {vec1.size(0), vec2.size(0)};
  check_expands(self, sizes);
  const DType dtype = promote(promote(self.dtype(), vec1.dtype()), vec2.dtype());
  RG_CHECK(is_differentiable(dtype) || !beta.is_float(), "For integral input tensors, argument beta must not be a floating point number.");
  RG_CHECK(is_differentiable(dtype) || !alpha.is_float(),
           "For integral input tensors, argument alpha must not be a floating point number.");
  check_same_device(self.get(), vec1.get(), "addr");
  check_same_device(self.get(), vec2.get(), "addr");
  check_factors(dtype, beta, alpha);
  if (same_sizes(self.sizes(), sizes)) return Spec::like(self, dtype);
  return Spec(sizes, dtype, self->device);
}

}  // namespace rule

namespace compute {

void addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha, const Tensor& out) {
  const int64_t m = mat1->size(0), k = mat1->size(1), n = mat2->size(1);
  if (self->ndim == 1 && self->size(0) == n && beta.equals(1) && alpha.equals(1)) {  // a layer: the kernel adds the bias on its way
    const Launch launch(self, product_ns(self.dtype(), m, n, k));
    kernels::matmul(out->device)
        .gemm_bias(self.dtype(), m, n, k, matrix_of(mat1), matrix_of(mat2), self->data, self->stride(0), matrix_of(out));
    return;
  }
  start_with(out, self, beta);
  gemm_into(out, mat1, mat2, beta, alpha);
}

void addmm_into(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  if (writable(self, mat1, mat2)) return gemm_into(self, mat1, mat2, beta, alpha);
  copy_data(self, impl::addmm(self, mat1, mat2, beta, alpha));
}

void addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha, const Tensor& out) {
  const int64_t m = mat->size(0), k = mat->size(1);
  start_with(out, self, beta);
  const Launch launch(self, product_ns(self.dtype(), m, 1, k));
  kernels::matmul(out->device)
      .gemm(self.dtype(), m, 1, k, alpha.to_complex(), matrix_of(mat), {vec->data, vec.stride(0), 1}, beta.to_complex(), {out->data, 1, 1});
}

void baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha, const Tensor& out) {
  const int64_t batch = batch1->size(0), m = batch1->size(1), k = batch1->size(2), n = batch2->size(2);
  start_with(out, self, beta);
  const Launch launch(self, product_ns(self.dtype(), batch * m, n, k));
  kernels::matmul(out->device)
      .bmm(self.dtype(), batch, m, n, k, alpha.to_complex(), matrix_of(batch1), batch1->stride(0), matrix_of(batch2), batch2->stride(0),
           beta.to_complex(), matrix_of(out), out->stride(0));
}

void baddbmm_into(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  copy_data(self, impl::baddbmm(self, batch1, batch2, beta, alpha));
}

// One product of [m, batch * k] and [batch * k, n] would need copies; the sum over the batch is taken in the kernel's accumulator instead.
void addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha, const Tensor& out) {
  const int64_t batch = batch1->size(0), m = batch1->size(1), k = batch1->size(2), n = batch2->size(2), item = itemsize(self.dtype());
  start_with(out, self, beta);
  const Launch launch(self, product_ns(self.dtype(), batch * m, n, k));
  Complex<double> keep = beta.to_complex();
  for (int64_t i = 0; i < batch; ++i, keep = 1) {
    kernels::Matrix a = matrix_of(batch1), b = matrix_of(batch2);
    a.data = static_cast<char*>(a.data) + i * batch1->stride(0) * item;
    b.data = static_cast<char*>(b.data) + i * batch2->stride(0) * item;
    kernels::matmul(out->device).gemm(self.dtype(), m, n, k, alpha.to_complex(), a, b, keep, matrix_of(out));
  }
  if (batch == 0) kernels::matmul(out->device).gemm(self.dtype(), m, n, 0, 0, {}, {}, keep, matrix_of(out));
}

void addbmm_into(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  copy_data(self, impl::addbmm(self, batch1, batch2, beta, alpha));
}

void addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha, const Tensor& out) {
  const int64_t m = vec1->size(0), n = vec2->size(0);
  const DType dtype = out.dtype();
  if (dtype == DType::Bool) {  // and, or
    fill_data(out, 0);
    if (!alpha.equals(0)) copy_data(out, impl::logical_and(impl::unsqueeze(vec1, 1), vec2));
    if (!beta.equals(0)) copy_data(out, impl::logical_or(out, self));
    return;
  }
  start_with(out, self, beta);
  const Tensor a = cast_data(vec1, dtype), b = cast_data(vec2, dtype);
  const Launch launch(out, product_ns(dtype, m, n, 1));
  kernels::matmul(out->device)
      .gemm(dtype, m, n, 1, alpha.to_complex(), {a->data, a.stride(0), 1}, {b->data, 1, b.stride(0)}, beta.to_complex(), matrix_of(out));
}

}  // namespace compute

namespace composite {

Tensor outer(const Tensor& self, const Tensor& vec2) {
  RG_CHECK(self.dim() == 1, "outer: Expected 1-D argument self, but got ", self.dim(), "-D");
  RG_CHECK(vec2.dim() == 1, "outer: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  return ops::mul(ops::reshape(self, ints({self.size(0), 1})), vec2);
}

}  // namespace composite
}  // namespace retrograd
