// Derivatives of decompositions and linear systems. Notation: g* is the gradient of *, ^T the transpose of the last two dims, ^H the conjugate
// transpose. Functions that are holomorphic in their matrix are written as for real numbers (see apply_node), the others with conjugates;
// of real tensors conj() is the tensor itself.
#include <cmath>

#include "core/state.h"
#include "core/transfer.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

Tensor mT(const Tensor& t) { return matrix_transposed(t); }
Tensor mH(const Tensor& t) { return ops::conj(matrix_transposed(t)); }
Tensor mm(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }
Tensor column(const Tensor& t) { return ops::unsqueeze(t, -1); }
Tensor row(const Tensor& t) { return ops::unsqueeze(t, -2); }
Tensor tri_solve(const Tensor& a, const Tensor& b, bool upper, bool left, bool unit = false) {
  return ops::linalg_solve_triangular(a, b, upper, left, unit);
}
Tensor solve(const Tensor& a, const Tensor& b) { return std::get<0>(ops::linalg_solve_ex(a, b, true)); }

Tensor eye(const Tensor& like, int64_t n) {
  Tensor out = zeros(ints({n, n}), like.dtype(), like.device());
  fill_data(impl::diagonal(out, 0, 0, 1), 1);
  return out;
}

Tensor sum_batch(const Tensor& t, IntSpan sizes) { return sum_to(t, sizes); }

// a - b where either may be missing.
Tensor minus(const Tensor& a, const Tensor& b) { return !b ? a : !a ? -b : a - b; }
Tensor plus(const Tensor& a, const Tensor& b) { return !b ? a : !a ? b : a + b; }

// w_j - w_i off the diagonal, 1 on it.
Tensor gaps(const Tensor& w) {
  const Tensor difference = row(w) - column(w);
  return difference + eye(w, w.size(-1));
}

Tensor diagonal_matrix(const Tensor& d) { return column(d) * eye(d, d.size(-1)); }
Tensor skew(const Tensor& t) { return t - mH(t); }
Tensor diagonal_of(const Tensor& t) { return ops::diagonal(t, 0, -2, -1); }
Tensor imaginary(const Tensor& t) { return quarter_turn(t); }  // i t of a real t

// Complex eigenvectors and singular vectors are unique up to factors e^{i phi}. A loss that depends on these has no derivative: `turning` is
// how fast it changes with them.
void check_phase(const Tensor& turning, const char* where, const char* what) {
  Tensor whole = turning;
  while (whole->has(kBatched)) whole = Tensor::borrow(whole->extra->batched);
  if (is_meta(whole)) return;
  const Tensor speed = impl::abs(whole);
  RG_CHECK(!any_element(speed, kernels::Is::Above, 0, 0.01), where, what);
}

}  // namespace

// Reflections one after the other, X_j = X_{j-1} - t v w with w = v^H X_{j-1}: backwards, with G the gradient of X_j,
// gt = -v^H G w^H, gw = -conj(t) v^H G, gv = -conj(t) G w^H + X_{j-1} gw^H, and the gradient of X_{j-1} is G + v gw.
std::tuple<Tensor, Tensor, Tensor> reflect_backward(const Tensor& grad, const Tensor& input, const Tensor& tau, const Tensor& other,
                                                    bool adjoint, bool needs_input, bool needs_tau, bool needs_other) {
  if (!grad) return {};
  Tensor g_other;
  if (needs_other) g_other = ops::_reflect(input, tau, grad, !adjoint);
  if (!needs_input && !needs_tau) return {{}, {}, g_other};
  const int64_t m = input.size(-2), n = input.size(-1), k = tau.size(-1);
  if (k == 0) return {zeros(input.sizes(), input.dtype(), input.device()), zeros(tau.sizes(), tau.dtype(), tau.device()), g_other};
  const Tensor below = ops::tril(ops::slice(input, -1, 0, k, 1), -1) + impl::eye_m(m, k, input.dtype(), {}, input.device(), {}, {});
  const auto at = [](const Tensor& t, int64_t i) { return ops::slice(t, -1, i, i + 1, 1); };
  const auto factor = [&](int64_t i) { return column(adjoint ? ops::conj(at(tau, i)) : at(tau, i)); };
  const auto place = [&](int64_t step) { return adjoint ? step : k - 1 - step; };
  std::vector<Tensor> before = {other}, g_vectors(static_cast<size_t>(k)), g_factors(static_cast<size_t>(k));
  for (int64_t step = 0; step + 1 < k; ++step) {
    const Tensor v = at(below, place(step)), &x = before.back();
    before.push_back(x - factor(place(step)) * mm(v, mm(mH(v), x)));
  }
  Tensor g = grad;
  for (int64_t step = k - 1; step >= 0; --step) {
    const int64_t i = place(step);
    const Tensor v = at(below, i), t = ops::conj(factor(i)), &x = before[static_cast<size_t>(step)], w = mm(mH(v), x), vg = mm(mH(v), g);
    const Tensor gw = -(t * vg), gt = -mm(vg, mH(w));
    g_vectors[static_cast<size_t>(i)] = mm(x, mH(gw)) - t * mm(g, mH(w));
    g_factors[static_cast<size_t>(i)] = ops::squeeze_dim(adjoint ? ops::conj(gt) : gt, -1);
    g = g + mm(v, gw);
  }
  const int64_t pad[] = {0, n - k};
  const Tensor g_below = ops::tril(ops::cat(g_vectors, -1), -1);
  return {n == k ? g_below : ops::constant_pad_nd(g_below, pad, Scalar(0)), ops::cat(g_factors, -1), g_other};
}

// X = A^-1 B: gB = A^-T gX, gA = -gB X^T; with A on the right the transposes of all that.
std::tuple<Tensor, Tensor> linalg_solve_grad(const Tensor& grad, const Tensor& A, const Tensor& result, IntSpan B_sizes, bool left,
                                             bool needs_A, bool needs_B) {
  if (!grad) return {};
  const bool vector =
      B_sizes.size() == 1 || (static_cast<int64_t>(B_sizes.size()) == A.dim() - 1 && same_sizes(B_sizes, A.sizes().first(B_sizes.size())));
  const Tensor gX = vector ? column(grad) : grad, X = vector ? column(result) : result;
  const Tensor gB = std::get<0>(ops::linalg_solve_ex(mT(A), gX, left));
  Tensor gA;
  if (needs_A) gA = sum_batch(-(left ? mm(gB, mT(X)) : mm(mT(X), gB)), A.sizes());
  Tensor out_B;
  if (needs_B) out_B = sum_batch(vector ? ops::squeeze_dim(gB, -1) : gB, B_sizes);
  return {gA, out_B};
}

Tensor linalg_inv_grad(const Tensor& grad, const Tensor& inverse) { return -mm(mT(inverse), mm(grad, mT(inverse))); }

// det(A) A^-T. At a singular matrix that is the cofactor matrix, which the singular values still give: A^-T = conj(U) S^-1 conj(Vh).
Tensor linalg_det_grad(const Tensor& grad, const Tensor& A, const Tensor& result) {
  if (A.numel() == 0) return zeros(A.sizes(), A.dtype(), A.device());
  Tensor whole = result;
  while (whole->has(kBatched)) whole = Tensor::borrow(whole->extra->batched);
  const Tensor invertible = is_meta(whole) ? Tensor() : without_lifts(ops::all(ops::ne(whole, 0.0)));
  if (!invertible || read_scalar(invertible).i != 0)
    return column(column(grad * ops::linalg_det(A))) * mT(std::get<0>(ops::linalg_inv_ex(A)));
  const auto [U, S, Vh] = ops::_linalg_svd(A, true, true);
  const int64_t n = A.size(-1);
  const Tensor off = 1 - eye(S, n);
  // Row i of the table holds all singular values but the i-th, replaced by 1.
  const Tensor others = ops::prod_dim_int(row(S) * off + eye(S, n), -1, false, std::nullopt);
  const Tensor sign = ops::linalg_det(U) * ops::linalg_det(Vh);
  return column(column(grad * sign)) * mm(ops::conj(U) * row(others), ops::conj(Vh));
}

// With t = tr(A^-1 dA), log|det| changes by Re t and the sign by i Im t times itself; that of a real matrix is constant almost everywhere.
Tensor linalg_slogdet_grad(const Tensor& g_sign, const Tensor& g_log, const Tensor& A, const Tensor& sign) {
  Tensor speed = g_log;
  if (g_sign && is_complex(A.dtype())) speed = plus(speed, imaginary(ops::imag(g_sign * ops::conj(sign))));
  if (!speed) return zeros(A.sizes(), A.dtype(), A.device());
  return column(column(speed)) * mH(std::get<0>(ops::linalg_inv_ex(A)));
}

std::tuple<Tensor, Tensor> linalg_solve_triangular_grad(const Tensor& grad, const Tensor& A, const Tensor& result, IntSpan B_sizes,
                                                        bool upper, bool left, bool unitriangular, bool needs_A, bool needs_B) {
  if (!grad) return {};
  const Tensor gB = tri_solve(mT(A), grad, !upper, left, unitriangular);
  Tensor gA;
  if (needs_A) {
    const Tensor whole = -(left ? mm(gB, mT(result)) : mm(mT(result), gB));
    const int64_t skip = unitriangular ? 1 : 0;
    gA = sum_batch(upper ? ops::triu(whole, skip) : ops::tril(whole, -skip), A.sizes());
  }
  return {gA, needs_B ? sum_batch(gB, B_sizes) : Tensor()};
}

// gA = L^-H phi(L^H gL) L^-1, made Hermitian; phi keeps the lower triangle and halves the diagonal.
Tensor linalg_cholesky_grad(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor L = upper ? mH(factor) : factor, gL = upper ? mH(grad) : grad, LH = upper ? factor : mH(factor);
  Tensor phi = ops::tril(mm(LH, gL), 0);
  phi = phi - diagonal_matrix(diagonal_of(phi)) * 0.5;
  const Tensor whole = tri_solve(L, tri_solve(LH, phi, true, true), false, false);
  return (whole + mH(whole)) * 0.5;
}

// With P^T A = L U (A tall, square or wide), L and U read from the packed factor.
Tensor linalg_lu_factor_grad(const Tensor& grad, const Tensor& LU, const Tensor& pivots) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const auto [P, L, U] = ops::lu_unpack(LU, pivots, true, true);
  const auto columns = [](const Tensor& t, int64_t from, int64_t to) { return ops::slice(t, -1, from, to, 1); };
  const auto rows = [](const Tensor& t, int64_t from, int64_t to) { return ops::slice(t, -2, from, to, 1); };
  const Tensor gL = ops::tril(columns(grad, 0, k), -1), gU = ops::triu(rows(grad, 0, k), 0);
  Tensor inner;
  if (m <= n) {
    const Tensor U1 = columns(U, 0, k), gU1 = columns(gU, 0, k);
    Tensor lower = mm(mT(L), gL);
    if (m < n) lower = lower - mm(columns(gU, k, n), mT(columns(U, k, n)));
    const Tensor core = tri_solve(mT(U1), ops::tril(lower, -1) + ops::triu(mm(gU1, mT(U1)), 0), false, false);
    if (m < n) {
      const Tensor parts[2] = {core, columns(gU, k, n)};
      inner = ops::cat(parts, -1);
    } else {
      inner = core;
    }
    return mm(P, tri_solve(mT(L), inner, true, true, true));
  }
  const Tensor L1 = rows(L, 0, k), L2 = rows(L, k, m), gL1 = rows(gL, 0, k), gL2 = rows(gL, k, m);
  const Tensor core = ops::tril(mm(mT(L1), gL1), -1) + ops::triu(mm(gU, mT(U)) - mm(mT(L2), gL2), 0);
  const Tensor parts[2] = {tri_solve(mT(L1), core, true, true, true), gL2};
  return mm(P, tri_solve(mT(U), ops::cat(parts, -2), false, false));
}

namespace {

// m >= n, or n columns of a wide R. Only the lower triangle of M counts: Q^H dQ is skew and dR is triangular. LAPACK makes the diagonal of R
// real, so that of M counts with its real part.
Tensor qr_tall_grad(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R) {
  Tensor M;
  if (gR) M = mm(R, mH(gR));
  M = minus(M, gQ ? mm(mH(gQ), Q) : Tensor());
  const Tensor below = ops::tril(M, -1), diagonal = diagonal_of(M);
  const Tensor symmetric = is_complex(M.dtype()) ? below + mH(below) + diagonal_matrix(ops::real(diagonal)) : ops::tril(M, 0) + mT(below);
  return tri_solve(mH(R), plus(mm(Q, symmetric), gQ), false, false);
}

}  // namespace

Tensor linalg_qr_grad(const Tensor& gQ, const Tensor& gR, const Tensor& Q, const Tensor& R, const Tensor& A, std::string_view mode) {
  if (!gQ && !gR) return {};
  RG_CHECK(mode != "r", "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Use linalg.qr(A, mode='reduced') ",
           "to differentiate.");
  const int64_t m = A.size(-2), n = A.size(-1);
  RG_CHECK(mode != "complete" || m <= n, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  if (m >= n) return qr_tall_grad(gQ, gR, Q, R);
  // [X | Y] = Q [U | V]: V = Q^H Y depends on Q as well.
  const Tensor Y = ops::slice(A, -1, m, n, 1), U = ops::slice(R, -1, 0, m, 1);
  const Tensor gU = gR ? ops::slice(gR, -1, 0, m, 1) : Tensor(), gV = gR ? ops::slice(gR, -1, m, n, 1) : Tensor();
  const Tensor gX = qr_tall_grad(plus(gQ, gV ? mm(Y, mH(gV)) : Tensor()), gU, Q, U);
  const Tensor gY = gV ? mm(Q, gV) : zeros(Y.sizes(), Y.dtype(), Y.device());
  const Tensor parts[2] = {gX, gY};
  return ops::cat(parts, -1);
}

namespace {

constexpr const char* kEigenPhase =
    "_backward: The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The loss depends on that phase, "
    "so it is ill-defined.";

}  // namespace

Tensor linalg_eigh_grad(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values, const Tensor& vectors) {
  if (!g_values && !g_vectors) return {};
  const Tensor& V = vectors;
  if (!g_vectors) return mm(V * row(g_values), mH(V));
  Tensor inner = mm(mH(V), g_vectors);
  if (is_complex(V.dtype())) check_phase(ops::imag(diagonal_of(inner)), "linalg_eigh", kEigenPhase);
  inner = inner * (1 - eye(values, values.size(-1))) / gaps(values);
  if (g_values) inner = inner + diagonal_matrix(g_values);
  const Tensor whole = mm(V, mm(inner, mH(V)));
  return (whole + mH(whole)) * 0.5;  // Hermitian, as the matrix is taken to be
}

// With G = V^H gV less V^H V diag(Re G), for the length of eigenvectors stays 1, and E_ij = l_j - l_i:
// V^-H [diag(gl) + G / conj(E)] V^H. Of a real matrix it is the real part of that.
Tensor linalg_eig_grad(const Tensor& g_values, const Tensor& g_vectors, const Tensor& values, const Tensor& vectors, DType dtype) {
  if (!g_values && !g_vectors) return {};
  const Tensor VH = mH(vectors);
  Tensor inner;
  if (g_vectors) {
    const Tensor G = mm(VH, g_vectors), lengths = diagonal_of(G);
    check_phase(ops::imag(lengths), "linalg_eig", kEigenPhase);
    const Tensor change = G - mm(VH, vectors * row(ops::real(lengths)));
    inner = change * (1 - eye(values, values.size(-1))) / ops::conj(gaps(values));
    if (g_values) inner = inner + diagonal_matrix(g_values);
    inner = mm(inner, VH);
  } else {
    inner = column(g_values) * VH;
  }
  const Tensor out = solve(VH, inner);
  return is_complex(dtype) ? out : ops::real(out);
}

// With E_ij = s_j^2 - s_i^2:
// U [skew(U^H gU) / E S + S skew(V^H gV) / E + diag(gS + i Im(U^H gU - V^H gV) / 2S)] V^H + (I - U U^H) gU S^-1 V^H + U S^-1 gV^H (I - V V^H).
Tensor linalg_svd_grad(const Tensor& gU_given, const Tensor& gS, const Tensor& gVh_given, const Tensor& U_given, const Tensor& S,
                       const Tensor& Vh_given, IntSpan A_sizes) {
  if (!gU_given && !gS && !gVh_given) return {};
  const int64_t m = A_sizes[A_sizes.size() - 2], n = A_sizes[A_sizes.size() - 1], k = std::min(m, n);
  // Columns beyond the k-th of full matrices are an arbitrary basis: they carry no derivative.
  const auto columns = [&](const Tensor& t) { return t && t.size(-1) > k ? ops::slice(t, -1, 0, k, 1) : t; };
  const auto rows = [&](const Tensor& t) { return t && t.size(-2) > k ? ops::slice(t, -2, 0, k, 1) : t; };
  const Tensor U = columns(U_given), Vh = rows(Vh_given), gU = columns(gU_given), gVh = rows(gVh_given);
  if (!gU && !gVh) return mm(U * row(gS), Vh);
  const Tensor E = gaps(S * S);
  Tensor inner = gS ? diagonal_matrix(gS) : Tensor();
  const Tensor UgU = gU ? mm(mH(U), gU) : Tensor(), VgV = gVh ? mm(Vh, mH(gVh)) : Tensor();
  if (is_complex(U.dtype())) {  // the diagonals of the skew matrices, which are 0 for real numbers
    const Tensor u = gU ? ops::imag(diagonal_of(UgU)) : Tensor(), v = gVh ? ops::imag(diagonal_of(VgV)) : Tensor();
    check_phase(plus(u, v), "svd_backward",
                ": The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The loss depends on that "
                "phase, so it is ill-defined.");
    const Tensor off = 1 - eye(S, k);
    inner = plus(inner, diagonal_matrix(imaginary(minus(u, v) / (S * 2))));
    if (gU) inner = inner + skew(UgU) * off / E * row(S);
    if (gVh) inner = inner + column(S) * (skew(VgV) * off / E);
  } else {
    if (gU) inner = plus(inner, skew(UgU) / E * row(S));
    if (gVh) inner = plus(inner, column(S) * (skew(VgV) / E));
  }
  Tensor out;
  if (gU && m > k) {  // both terms that start with gU S^-1 share the last product
    const Tensor scaled = gU / row(S);
    out = mm(mm(U, inner) + scaled - mm(U, mm(mH(U), scaled)), Vh);
  } else {
    out = mm(U, mm(inner, Vh));
  }
  if (gVh && n > k) {
    const Tensor scaled = gVh / column(S);
    out = out + mm(U, scaled - mm(mm(scaled, mH(Vh)), Vh));
  }
  return out;
}

// dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P, for constant rank.
Tensor linalg_pinv_grad(const Tensor& grad, const Tensor& A, const Tensor& P) {
  const Tensor gH = mH(grad), PH = mH(P);
  const Tensor first = -mm(PH, mm(grad, PH));
  const Tensor a = mm(gH, mm(P, PH)), b = mm(mm(PH, P), gH);
  return first + (a - mm(A, mm(P, a))) + (b - mm(mm(b, P), A));
}

}  // namespace retrograd::derivatives
