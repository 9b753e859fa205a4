// Factors as LAPACK packs them: the reflections of a QR (geqrf), and L D L^T of a symmetric matrix that need not be definite.
#include <algorithm>

#include "native_linalg.h"
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

// LAPACK follows pivots into memory: each must be a row, and negative ones, the blocks of two, must come in pairs.
void check_pivots(const kernels::BadPivot& bad, int64_t n) {
  using Bad = kernels::BadPivot;
  RG_CHECK(bad.fault != Bad::Zero, "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Pass those of linalg.ldl_factor.");
  RG_CHECK(bad.fault != Bad::Outside, "Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2). One is ", bad.value, " for ", n,
           " rows: pass those of linalg.ldl_factor.");
  RG_CHECK(bad.fault != Bad::Alone, "Pivots given to ldl_solve must have negative ones in pairs, for blocks of two rows, ",
           "but the one at ", bad.place, " is alone: pass those of linalg.ldl_factor.");
}

}  // namespace

namespace rule {

std::array<Spec, 2> geqrf(const Tensor& self) {
  RG_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  if (!is_differentiable(self.dtype()) || itemsize(self.dtype()) < 4) fail_not_implemented("geqrf_cpu", self.dtype());
  const int64_t k = std::min(self.size(-2), self.size(-1));
  return {lapack::columns(self), Spec(lapack::batch_and(self, {k}), self.dtype(), self->device)};
}

std::array<Spec, 3> linalg_ldl_factor_ex(const Tensor& self, bool) {
  lapack::check_square(self, "torch.linalg.ldl_factor_ex");
  if (self.numel() && is_floating(self.dtype()) && itemsize(self.dtype()) < 4) fail_not_implemented("ldl_factor_kernel_cpu", self.dtype());
  lapack::check_dtype(self, "torch.linalg.ldl_factor_ex");
  return {lapack::columns(self), Spec(lapack::batch_and(self, {self.size(-1)}), DType::Int32, self->device), lapack::verdicts(self)};
}

Spec linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool) {
  constexpr const char* name = "torch.linalg.ldl_solve";
  lapack::check_square(LD, name);
  lapack::check_dtype(LD, name);
  RG_CHECK_AS(Index, B.dim() >= 2, "Dimension out of range (expected B to have at least 2 dimensions, but it has ", B.dim(), ")");
  RG_CHECK(is_integral(pivots.dtype()), name, ": Expected pivots to be integers. Got ", dtype_title(pivots.dtype()));
  RG_CHECK(same_sizes(LD.sizes().first(static_cast<size_t>(LD.dim() - 1)), pivots.sizes()), name,
           ": Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape ", pivots.sizes(), " instead");
  RG_CHECK(LD.size(-1) == B.size(-2), "Incompatible matrix sizes for ", name, ": each A matrix is ", LD.size(-2), " by ", LD.size(-1),
           " but each b matrix is ", B.size(-2), " by ", B.size(-1));
  RG_CHECK(LD.dtype() == B.dtype(), "Expected b and A to have the same dtype, but found b of type ", dtype_title(B.dtype()),
           " and A of type ", dtype_title(LD.dtype()), " instead.");
  check_same_device(LD.get(), B.get(), name);
  const Shape batch = broadcast_shapes(lapack::batch(LD), lapack::batch(B));
  return lapack::columns(lapack::batch_and(batch, {B.size(-2), B.size(-1)}), B.dtype(), B->device);
}

Spec _reflect(const Tensor& input, const Tensor& tau, const Tensor& other, bool) {
  bool fits = input.dim() >= 2 && other.dim() == input.dim() && tau.dim() == input.dim() - 1 && input.size(-2) == other.size(-2) &&
              tau.size(-1) <= std::min(input.size(-1), input.size(-2));
  for (int64_t d = 0; fits && d + 2 < input.dim(); ++d) fits = input.size(d) == other.size(d) && input.size(d) == tau.size(d);
  fits = fits && input.dtype() == tau.dtype() && input.dtype() == other.dtype();
  RG_CHECK(fits, "_reflect: ", input.sizes(), ", ", tau.sizes(), " and ", other.sizes(), " do not go together");
  if (!is_differentiable(input.dtype()) || itemsize(input.dtype()) < 4) fail_not_implemented("reflect", input.dtype());
  return lapack::columns(other);
}

}  // namespace rule

namespace compute {

void geqrf(const Tensor& self, const Tensor& a, const Tensor& tau) {
  copy_data(a, self);
  const auto& kernels = lapack::kernels_of(self);
  const Launch launch(self, self.numel() * tau.size(-1) / 4);
  kernels.qr(lapack::matrices(a), tau->data);
}

void linalg_ldl_factor_ex(const Tensor& self, bool hermitian, const Tensor& LD, const Tensor& pivots, const Tensor& info) {
  if (self.numel() == 0) return fill_data(info, 0);
  copy_data(LD, self);
  const auto& kernels = lapack::kernels_of(self);
  const Launch launch(self, self.numel() * self.size(-1) / 8);
  kernels.ldl(lapack::matrices(LD), hermitian, pivots.data<int>(), info.data<int>());
}

void linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian, const Tensor& out) {
  const int64_t n = LD.size(-1);
  const IntSpan batch = lapack::batch(out);
  const Tensor factors = lapack::copy_columns(expand_data(LD, lapack::batch_and(batch, {n, n})));
  const Tensor rows = contiguous_data(expand_data(cast_data(pivots, DType::Int32), lapack::batch_and(batch, {n})));
  copy_data(out, B);
  const auto& kernels = lapack::kernels_of(out);
  Answer<kernels::BadPivot> bad(out->device);
  {
    const Launch launch(out, out.numel() * n / 8);
    kernels.ldl_solve(lapack::matrices(factors), rows.data<int>(), hermitian, lapack::matrices(out), bad.data());
  }
  check_pivots(bad.read(), n);
}

void _reflect(const Tensor& input, const Tensor& tau, const Tensor& other, bool adjoint, const Tensor& out) {
  const Tensor a = lapack::copy_columns(input), factors = contiguous_data(tau);
  copy_data(out, other);
  const Launch launch(out, out.numel() * tau.size(-1) / 4);
  kernels::lapack(out->device).reflect(lapack::matrices(a), factors->data, tau.size(-1), adjoint, lapack::matrices(out));
}

}  // namespace compute
namespace composite {

Tensor orgqr(const Tensor& self, const Tensor& tau) {
  constexpr const char* kName = "torch.linalg.householder_product: ";
  RG_CHECK(self.dim() >= 2, kName, "input must have at least 2 dimensions.");
  const int64_t m = self.size(-2), n = self.size(-1), k = tau.dim() ? tau.size(-1) : 0;
  RG_CHECK(m >= n && n >= k, kName,
           "input.shape[-2] must be greater than or equal to input.shape[-1] and input.shape[-1] to tau.shape[-1]");
  RG_CHECK(tau.dtype() == self.dtype(), kName, "tau dtype ", dtype_title(tau.dtype()), " does not match input dtype ",
           dtype_title(self.dtype()));
  RG_CHECK(tau.dim() == self.dim() - 1 && same_sizes(lapack::batch(self), tau.sizes().first(static_cast<size_t>(self.dim() - 2))), kName,
           "Expected batch dimensions of tau to be equal to input.shape[:-2], but got ", tau.sizes());
  Tensor eye = impl::eye_m(m, n, self.dtype(), {}, self.device(), {}, {});
  if (self.dim() > 2) eye = impl::expand(eye, self.sizes(), false);
  return ops::_reflect(self, tau, eye, false);
}

Tensor ormqr(const Tensor& self, const Tensor& tau, const Tensor& other, bool left, bool transpose) {
  for (const auto& [name, t] : {std::pair<const char*, const Tensor&>("input", self), {"other", other}})
    RG_CHECK(t.dim() >= 2, "torch.ormqr: ", name, " must have at least 2 dimensions.");
  const int64_t side = left ? -2 : -1, k = tau.dim() ? tau.size(-1) : 0;
  RG_CHECK(other.size(side) >= k, "torch.ormqr: other.shape[", side, "] must be greater than or equal to tau.shape[-1]");
  RG_CHECK(other.size(side) == self.size(-2), "torch.ormqr: other.shape[", side, "] must be equal to input.shape[-2]");
  RG_CHECK(k == std::min(other.size(side), self.size(-1)), "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[", side,
           "], input.shape[-1])");
  RG_CHECK(self.dim() - tau.dim() == 1, "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to ",
           tau.dim(), " and input.ndim is equal to ", self.dim());
  RG_CHECK(self.dim() == other.dim(),
           "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to ", other.dim(),
           " and input.ndim is equal to ", self.dim());
  const auto check_batch = [&](const char* name, IntSpan sizes) {
    RG_CHECK(same_sizes(sizes, lapack::batch(self)), "torch.ormqr: Expected batch dimensions of ", name,
             " to be equal to input.shape[:-2], but got ", sizes);
  };
  check_batch("tau", tau.sizes().first(static_cast<size_t>(tau.dim() - 1)));
  check_batch("other", lapack::batch(other));
  for (const auto& [name, t] : {std::pair<const char*, const Tensor&>("tau", tau), {"other", other}})
    RG_CHECK(t.dtype() == self.dtype(), "torch.ormqr: Expected input and ", name, " to have the same dtype, but input has dtype ",
             dtype_title(self.dtype()), " and ", name, " has dtype ", dtype_title(t.dtype()));
  // From the right, C Q = (Q^H C^H)^H.
  if (left) return ops::_reflect(self, tau, other, transpose);
  const Tensor adjoint = ops::_reflect(self, tau, ops::conj(ops::transpose(other, -2, -1)), !transpose);
  return ops::transpose(ops::contiguous(is_complex(adjoint.dtype()) ? ops::conj_physical(adjoint) : adjoint), -2, -1);
}

}  // namespace composite
}  // namespace retrograd
