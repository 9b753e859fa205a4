// Orthogonal decompositions: QR, singular values, and the inverse that is made of them.
#include <algorithm>

#include "native_linalg.h"
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace rule {

std::array<Spec, 2> linalg_qr(const Tensor& A, std::string_view mode) {
  lapack::check_matrix(A, "linalg.qr");
  lapack::check_dtype(A, "linalg.qr");
  RG_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1), width = mode == "complete" ? m : std::min(m, n);
  return {mode == "r" ? lapack::nothing(A.dtype(), A->device) : lapack::columns(A, m, width), lapack::columns(A, width, n)};
}

std::array<Spec, 3> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv) {
  lapack::check_matrix(A, "linalg.svd");
  lapack::check_dtype(A, "linalg.svd");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  const Spec s(lapack::batch_and(A, {k}), real_dtype(A.dtype()), A->device);
  if (!compute_uv) return {lapack::nothing(A.dtype(), A->device), s, lapack::nothing(A.dtype(), A->device)};
  return {lapack::columns(A, m, full_matrices ? m : k), s, lapack::columns(A, full_matrices ? n : k, n)};
}

}  // namespace rule

namespace compute {

void linalg_qr(const Tensor& A, std::string_view mode, const Tensor& Q, const Tensor& R) {
  const bool wants_q = mode != "r";
  if (A.numel() == 0) {
    if (wants_q) lapack::fill_identity(Q);
    return fill_data(R, 0);
  }
  const int64_t k = std::min(A.size(-2), A.size(-1));
  const Tensor packed = lapack::copy_columns(A), tau = empty(lapack::batch_and(A, {k}), A.dtype(), A->device);
  const auto& kernels = lapack::kernels_of(A);
  const Launch launch(A, A.numel() * k / 4);
  kernels.qr(lapack::matrices(packed), tau->data);
  kernels.copy_r(lapack::matrices(packed), lapack::matrices(R));
  if (wants_q) kernels.make_q(lapack::matrices(packed), tau->data, lapack::matrices(Q));
}

void _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv, const Tensor& U, const Tensor& S, const Tensor& Vh) {
  if (A.numel() == 0) {
    if (!compute_uv) return;
    lapack::fill_identity(U);
    return lapack::fill_identity(Vh);
  }
  const Tensor a = lapack::copy_columns(A);
  // LAPACK may give nonsense for them, or never return.
  if (!lapack::all_finite(a)) lapack::fail_to_converge("linalg.svd", "contained non-finite values.");
  const auto& kernels = lapack::kernels_of(A);
  Answer<int> failed(A->device);
  {
    const Launch launch(A, A.numel() * S.size(-1) * 2);
    kernels.svd(lapack::matrices(a), full_matrices, compute_uv ? U->data : nullptr, S->data, compute_uv ? Vh->data : nullptr,
                failed.data());
  }
  if (failed.read()) lapack::fail_equal_values("linalg.svd", "singular values", failed.read());
}

}  // namespace compute

namespace impl {
namespace {

Tensor adjoint(const Tensor& t) { return is_complex(t.dtype()) ? _conj(transpose(t, -2, -1)) : transpose(t, -2, -1); }

// The Hermitian matrix whose lower triangle is that of A; imaginary parts of the diagonal are not read.
Tensor mirrored(const Tensor& A) {
  const Tensor whole = tril(A, 0), below = tril(A, -1);
  if (!is_complex(A.dtype())) return add(whole, transpose(below, -2, -1), 1);
  const Tensor matrix = add(whole, transpose(_conj_physical(below), -2, -1), 1);
  return mul(add(matrix, transpose(_conj_physical(matrix), -2, -1), 1), 0.5);
}

}  // namespace

// V diag(1/s) U^H over the singular values above the tolerance max(atol, rtol * largest).
Tensor linalg_pinv(const Tensor& A, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  lapack::check_matrix(A, "linalg.pinv");
  if (hermitian) lapack::check_square(A, "linalg.pinv");
  lapack::check_dtype(A, "linalg.pinv");
  const int64_t n = A.size(-1), m = A.size(-2), k = std::min(m, n);
  const double epsilon = itemsize(real_dtype(A.dtype())) == 8 ? 2.220446049250313e-16 : 1.1920929e-07;
  const double absolute = atol.value_or(0), relative = rtol.value_or(absolute > 0 ? 0 : epsilon * static_cast<double>(std::max(m, n)));
  const auto [u, s, vh] = _linalg_svd(hermitian ? mirrored(A) : A, false, true);
  if (has_elements(s)) {
    const Launch launch(s);
    kernels::lapack(s->device).invert(s->data, s->dtype, s.numel() / k, k, relative, absolute);
  }
  const Tensor scaled = mul(adjoint(vh), unsqueeze(s, -2)), uh = adjoint(u);
  if (A.dim() == 2) return mm(scaled, uh);
  const int64_t batch = checked_numel(lapack::batch(A));
  const Tensor product =
      bmm(_unsafe_view(contiguous_data(scaled), ints({batch, n, k})), _unsafe_view(contiguous_data(uh), ints({batch, k, m})));
  return _unsafe_view(product, lapack::batch_and(A, {n, m}));
}

}  // namespace impl

namespace composite {

std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices) { return ops::_linalg_svd(A, full_matrices, true); }
std::tuple<Tensor, Tensor> qr(const Tensor& self, bool some) { return ops::linalg_qr(self, some ? "reduced" : "complete"); }

// V, not its adjoint. Without compute_uv both are zeros, and square whatever `some` says.
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& self, bool some, bool compute_uv) {
  auto [u, s, vh] = ops::_linalg_svd(self, !some, compute_uv || lapack::is_differentiated(self));
  if (compute_uv) return {std::move(u), std::move(s), ops::conj(ops::transpose(vh, -2, -1))};
  const auto none = [&](int64_t n) { return zeros(lapack::batch_and(self, {n, n}), self.dtype(), self.device()); };
  return {none(self.size(-2)), std::move(s), none(self.size(-1))};
}

Tensor linalg_svdvals(const Tensor& A) { return std::get<1>(ops::_linalg_svd(A, false, lapack::is_differentiated(A))); }

}  // namespace composite
}  // namespace retrograd
