// mm, bmm and the vector products. Transposed operands are read through their strides; results go straight into their memory.
#include "kernels/distance.h"
#include "native_linalg.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/lazy.h"
#include "ops/linalg/linalg.h"

namespace retrograd {
namespace {

// out = op(a) @ op(b), where op transposes on request; with `turned` it is the transpose of out that is written.
void multiply(const Tensor& a, bool a_transposed, const Tensor& b, bool b_transposed, const Tensor& out, bool turned = false) {
  if (RG_UNLIKELY(either_negated(a, b))) return multiply(plain(a), a_transposed, plain(b), b_transposed, out, turned);
  const int64_t m = a->size(a_transposed ? 1 : 0), k = a->size(a_transposed ? 0 : 1), n = b->size(b_transposed ? 0 : 1);
  const Launch launch(out, product_ns(out.dtype(), m, n, k));
  kernels::matmul(out->device)
      .gemm(out.dtype(), m, n, k, 1, matrix_of(a, a_transposed), matrix_of(b, b_transposed), 0, matrix_of(out, turned));
}

// There are no kernels for bool, but nothing to multiply needs none.
void check_bool_product(const char* kernel, bool has_result, const Tensor& a) {
  if (has_result && a.numel()) fail_not_implemented(kernel, DType::Bool);
}

Spec dot_of(const Tensor& self, const Tensor& tensor) {
  RG_CHECK(self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(), "D tensors");
  RG_CHECK(self.dtype() == tensor.dtype(), "dot : expected both vectors to have same dtype, but found ", dtype_title(self.dtype()), " and ",
           dtype_title(tensor.dtype()));
  RG_CHECK(self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor ", self.sizes(), " and src ", tensor.sizes(),
           " to have the same number of elements, but got ", self.numel(), " and ", tensor.numel(), " elements respectively");
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) fail_not_implemented("dot", self.dtype());
  check_same_device(self.get(), tensor.get(), "dot");
  return Spec(self.dtype(), self->device);
}

void dot_into(const Tensor& self, const Tensor& tensor, bool conj_self, const Tensor& out) {
  const Launch launch(self, self.numel() / 8);
  kernels::matmul(out->device)
      .dot(self.dtype(), self.numel(), self->data, self.stride(0), tensor->data, tensor.stride(0), out->data, conj_self);
}

}  // namespace

namespace rule {

Spec _mm(const Tensor& self, const Tensor& mat2, bool self_transposed, bool mat2_transposed, bool columnwise) {
  RG_CHECK(self.dim() == 2 && mat2.dim() == 2, "_mm: expected two matrices, got ", self.dim(), "-D and ", mat2.dim(), "-D tensors");
  RG_CHECK(self.size(self_transposed ? 0 : 1) == mat2.size(mat2_transposed ? 1 : 0), "_mm: shapes ", self.sizes(),
           self_transposed ? " (transposed) and " : " and ", mat2.sizes(), mat2_transposed ? " (transposed)" : "", " cannot be multiplied");
  RG_CHECK(self.dtype() == mat2.dtype() && self.dtype() != DType::Bool, "_mm: expected numbers of one dtype, got ",
           dtype_title(self.dtype()), " and ", dtype_title(mat2.dtype()));
  check_same_device(self.get(), mat2.get(), "mm");
  const int64_t m = self.size(self_transposed ? 1 : 0), n = mat2.size(mat2_transposed ? 0 : 1);
  Spec spec(ints({m, n}), self.dtype(), self->device);
  if (columnwise) spec.with_strides(ints({1, m}));
  return spec;
}

Spec mm(const Tensor& self, const Tensor& mat2) {
  RG_CHECK(self.dim() == 2, "self must be a matrix, got ", self.dim(), "-D tensor");
  RG_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  RG_CHECK(self.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (", self.size(0), "x", self.size(1), " and ",
           mat2.size(0), "x", mat2.size(1), ")", product_hint(self, mat2));
  RG_CHECK(self.dtype() == mat2.dtype(), "expected m1 and m2 to have the same dtype, but got: ", cpp_type_name(self.dtype()),
           " != ", cpp_type_name(mat2.dtype()), "\n  Hint: convert one of them: .to(other.dtype).");
  const int64_t m = self->size(0), n = mat2->size(1);
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) check_bool_product("addmm_impl_cpu_", m && n, self);
  check_same_device(self.get(), mat2.get(), "mm");
  return Spec(ints({m, n}), self.dtype(), self->device);
}

Spec bmm(const Tensor& self, const Tensor& mat2) {
  RG_CHECK(self.dim() == 3, "batch1 must be a 3D tensor");
  RG_CHECK(mat2.dim() == 3, "batch2 must be a 3D tensor");
  const int64_t batch = self.size(0), m = self.size(1), k = self.size(2), n = mat2.size(2);
  RG_CHECK(mat2.size(0) == batch && mat2.size(1) == k, "Expected size for first two dimensions of batch2 tensor to be: [", batch, ", ", k,
           "] but got: [", mat2.size(0), ", ", mat2.size(1), "].");
  RG_CHECK(self.dtype() == mat2.dtype(), "expected scalar type ", dtype_title(self.dtype()), " but found ", dtype_title(mat2.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) check_bool_product("bmm", batch && m && n, self);
  check_same_device(self.get(), mat2.get(), "bmm");
  return Spec(ints({batch, m, n}), self.dtype(), self->device);
}

Spec mv(const Tensor& self, const Tensor& vec) {
  RG_CHECK_AS(Index, self.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  RG_CHECK(self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, ", self.dim(), ", ", vec.dim());
  const int64_t m = self.size(0), k = self.size(1);
  RG_CHECK(vec.size(0) == k, "size mismatch, got input (", m, "), mat (", m, "x", k, "), vec (", vec.size(0), ")");
  RG_CHECK(self.dtype() == vec.dtype(), "addmv input tensors must have the same dtype, but got ", dtype_title(vec.dtype()), ", ",
           dtype_title(self.dtype()), ", and ", dtype_title(vec.dtype()));
  if (RG_UNLIKELY(self.dtype() == DType::Bool)) check_bool_product("addmv_impl_cpu", m, self);
  check_same_device(self.get(), vec.get(), "mv");
  return Spec(ints({m}), self.dtype(), self->device);
}

Spec dot(const Tensor& self, const Tensor& tensor) { return dot_of(self, tensor); }
Spec vdot(const Tensor& self, const Tensor& other) { return dot_of(self, other); }

Spec linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  RG_CHECK(self.dim() == other.dim(), "linalg.cross: inputs must have the same number of dimensions.");
  RG_CHECK_AS(Index, self.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  RG_CHECK(self.size(d) == 3 && other.size(d) == 3, "linalg.cross: inputs dimension ", dim, " must have length 3. Got ", self.size(d),
           " and ", other.size(d));
  RG_CHECK(self.dtype() == other.dtype(), "expected scalar type ", dtype_title(self.dtype()), " but found ", dtype_title(other.dtype()));
  if (self.dtype() == DType::Bool) fail_not_implemented("cross", self.dtype());
  check_same_device(self.get(), other.get(), "linalg.cross");
  return Spec(broadcast_shapes(self.sizes(), other.sizes()), self.dtype(), self->device);
}

}  // namespace rule

namespace compute {

void _mm(const Tensor& self, const Tensor& mat2, bool self_transposed, bool mat2_transposed, bool columnwise, const Tensor& out) {
  if (!columnwise) return multiply(self, self_transposed, mat2, mat2_transposed, out);
  // Turned it is the product of the transposes, which those who watch see: of complex numbers, b * a is not rounded as a * b is.
  multiply(mat2, !mat2_transposed, self, !self_transposed, out, true);
}

void mm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (RG_UNLIKELY(out.dtype() == DType::Bool)) return fill_data(out, 0);
  multiply(self, false, mat2, false, out);
}

void bmm(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  if (RG_UNLIKELY(out.dtype() == DType::Bool)) return fill_data(out, 0);
  if (RG_UNLIKELY(either_negated(self, mat2))) return bmm(plain(self), plain(mat2), out);
  const int64_t batch = self->size(0), m = self->size(1), k = self->size(2), n = mat2->size(2);
  const Launch launch(self, product_ns(self.dtype(), batch * m, n, k));
  kernels::matmul(out->device)
      .bmm(self.dtype(), batch, m, n, k, 1, matrix_of(self), self->stride(0), matrix_of(mat2), mat2->stride(0), 0, matrix_of(out),
           out->stride(0));
}

void mv(const Tensor& self, const Tensor& vec, const Tensor& out) {
  if (RG_UNLIKELY(out.dtype() == DType::Bool)) return fill_data(out, 0);
  const int64_t m = self->size(0), k = self->size(1);
  const Launch launch(self, product_ns(self.dtype(), m, 1, k));
  kernels::matmul(out->device).gemm(self.dtype(), m, 1, k, 1, matrix_of(self), {vec->data, vec->stride(0), 1}, 0, {out->data, 1, 1});
}

void dot(const Tensor& self, const Tensor& tensor, const Tensor& out) { dot_into(self, tensor, false, out); }
void vdot(const Tensor& self, const Tensor& other, const Tensor& out) { dot_into(self, other, is_complex(self.dtype()), out); }

void linalg_cross(const Tensor& self, const Tensor& other, int64_t dim, const Tensor& out) {
  const Tensor a = expand_data(self, out.sizes()), b = expand_data(other, out.sizes());
  const Launch launch(out, out.numel());
  kernels::distance(out->device).cross(out.array(), a.array(), b.array(), static_cast<int>(wrap_dim(dim, out.dim())));
}

}  // namespace compute
}  // namespace retrograd
