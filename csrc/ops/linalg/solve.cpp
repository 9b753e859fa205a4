// Linear systems: LU, solve, inverse, determinants, triangular systems, Cholesky.
#include <algorithm>

#include "native_linalg.h"
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

void check_system(const char* name, const Tensor& A, const Tensor& B) {
  RG_CHECK(A.dtype() == B.dtype(), name, ": Expected A and B to have the same dtype, but found A of type ", dtype_title(A.dtype()),
           " and B of type ", dtype_title(B.dtype()), " instead");
  check_same_device(A.get(), B.get(), name);
}

void check_fit(const char* name, const Tensor& A, const Tensor& B, bool left, bool fits) {
  RG_CHECK(fits, name, ": Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1),
           " and ", B.size(-2), "x", B.size(-1), ")");
}

// Whether B holds vectors, one per matrix of A.
bool is_vector(const Tensor& A, const Tensor& B) {
  return B.dim() == 1 || (A.dim() - 1 == B.dim() && same_sizes(A.sizes().first(static_cast<size_t>(A.dim() - 1)), B.sizes()));
}

struct Factors { Tensor lu, pivots; };

void factor(const Tensor& A, const Tensor& lu, const Tensor& pivots, int* info) {
  copy_data(lu, A);
  const auto& kernels = lapack::kernels_of(A);
  const Launch launch(A, A.numel() * pivots.size(-1) / 8);
  kernels.lu(lapack::matrices(lu), pivots.data<int>(), info);
}

// Of square matrices that are not empty.
Factors factored(const Tensor& A, int* info = nullptr) {
  Factors f{make(lapack::columns(A)), empty(lapack::batch_and(A, {A.size(-1)}), DType::Int32, A->device)};
  factor(A, f.lu, f.pivots, info);
  return f;
}

// b := inverse(A) b, or that of its transpose; b has the batch of the factors.
void solve_factored(const Factors& f, const kernels::Matrices& b, bool transposed) {
  const Launch launch(f.lu, b.count * b.rows * b.columns * b.rows / 8);
  kernels::lapack(f.lu->device).lu_solve(lapack::matrices(f.lu), f.pivots.data<int>(), transposed, b);
}

}  // namespace

namespace rule {

std::array<Spec, 3> linalg_lu_factor_ex(const Tensor& A, bool pivot) {
  RG_CHECK(A.dim() >= 2, "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: ", A.sizes(), " instead");
  lapack::check_dtype(A, "torch.linalg.lu_factor");
  RG_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  const int64_t k = std::min(A.size(-2), A.size(-1));
  return {lapack::columns(A), Spec(lapack::batch_and(A, {k}), DType::Int32, A->device), lapack::verdicts(A)};
}

std::array<Spec, 2> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left) {
  constexpr const char* kName = "linalg.solve";
  lapack::check_square(A, kName);
  lapack::check_dtype(A, kName);
  check_system(kName, A, B);
  const bool vector = is_vector(A, B);
  RG_CHECK(B.dim() >= 1, kName, ": The input tensor B must have at least 2 dimensions.");
  const Tensor b = vector ? impl::unsqueeze(B, -1) : B;
  check_fit(kName, A, b, left, A.size(-1) == (left ? b.size(-2) : b.size(-1)) && (left || !vector));
  const Shape batch = broadcast_shapes(lapack::batch(A), lapack::batch(b));
  const Spec info(batch, DType::Int32, A->device);
  if (vector) {
    const Shape sizes = lapack::batch_and(batch, {b.size(-2)});  // one element after the other, as in PyTorch
    return {sizes.ndim == 1 ? Spec(sizes, B.dtype(), B->device) : lapack::columns(sizes, B.dtype(), B->device), info};
  }
  const Shape sizes = lapack::batch_and(batch, {b.size(-2), b.size(-1)});
  return {left ? lapack::columns(sizes, B.dtype(), B->device) : Spec(sizes, B.dtype(), B->device), info};
}

std::array<Spec, 2> linalg_inv_ex(const Tensor& A) {
  lapack::check_square(A, "linalg.inv");
  lapack::check_dtype(A, "linalg.inv");
  RG_CHECK(itemsize(A.dtype()) >= 4, "linalg.inv: Low precision dtypes not supported. Got ", dtype_title(A.dtype()));
  return {lapack::columns(A), lapack::verdicts(A)};
}

Spec linalg_det(const Tensor& A) {
  lapack::check_square(A, "linalg.det");
  lapack::check_dtype(A, "linalg.det");
  return Spec(lapack::batch(A), A.dtype(), A->device);
}

std::array<Spec, 2> linalg_slogdet(const Tensor& A) {
  lapack::check_square(A, "linalg.slogdet");
  lapack::check_dtype(A, "linalg.slogdet");
  return {Spec(lapack::batch(A), A.dtype(), A->device), Spec(lapack::batch(A), real_dtype(A.dtype()), A->device)};
}

Spec linalg_solve_triangular(const Tensor& A, const Tensor& B, bool, bool left, bool) {
  constexpr const char* kName = "linalg.solve_triangular";
  lapack::check_square(A, kName);
  lapack::check_matrix(B, kName, "B");
  lapack::check_dtype(A, kName);
  check_system(kName, A, B);
  check_fit(kName, A, B, left, A.size(-1) == (left ? B.size(-2) : B.size(-1)));
  const Shape batch = broadcast_shapes(lapack::batch(A), lapack::batch(B));
  return lapack::columns(lapack::batch_and(batch, {B.size(-2), B.size(-1)}), B.dtype(), B->device);
}

std::array<Spec, 2> linalg_cholesky_ex(const Tensor& A, bool) {
  lapack::check_square(A, "linalg.cholesky");
  lapack::check_dtype(A, "linalg.cholesky");
  return {lapack::columns(A), lapack::verdicts(A)};
}

Spec _lu_permutation(const Tensor& pivots, int64_t rows, DType dtype) {
  RG_CHECK(pivots.dim() >= 1 && pivots.size(-1) <= rows, "lu_unpack: LU_pivots of size ", pivots.sizes(), " do not go with ", rows,
           " rows");
  return Spec(lapack::batch_and(pivots.sizes().first(static_cast<size_t>(pivots.dim() - 1)), {rows, rows}), dtype, pivots->device);
}

}  // namespace rule

namespace compute {

void linalg_lu_factor_ex(const Tensor& A, bool, const Tensor& LU, const Tensor& pivots, const Tensor& info) {
  if (A.numel() == 0) return fill_data(info, 0);
  factor(A, LU, pivots, info.data<int>());
}

void linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, const Tensor& result, const Tensor& info) {
  if (A.numel() == 0) return fill_data(info, 0);
  const bool vector = is_vector(A, B);
  const Factors f = factored(expand_data(A, lapack::batch_and(info.sizes(), {A.size(-2), A.size(-1)})), info.data<int>());
  if (result.numel() == 0) return;
  if (vector) {
    const Tensor x = make(lapack::columns(lapack::batch_and(info.sizes(), {A.size(-1), 1}), B.dtype(), B->device));
    copy_data(x, impl::unsqueeze(B, -1));
    solve_factored(f, lapack::matrices(x), false);
    return copy_data(result, impl::squeeze_dim(x, -1));
  }
  copy_data(result, B);
  kernels::Matrices x = lapack::matrices(result);
  if (!left) std::swap(x.rows, x.columns);  // XA = B is A^T X^T = B^T
  solve_factored(f, x, !left);
}

void linalg_inv_ex(const Tensor& A, const Tensor& inverse, const Tensor& info) {
  if (A.numel() == 0) return fill_data(info, 0);
  lapack::fill_identity(inverse);
  solve_factored(factored(A, info.data<int>()), lapack::matrices(inverse), false);
}

void linalg_det(const Tensor& A, const Tensor& out) {
  if (A.numel() == 0) return fill_data(out, 1);
  const Factors f = factored(A);
  const Launch launch(A);
  kernels::lapack(A->device).determinant(lapack::matrices(f.lu), f.pivots.data<int>(), out->data);
}

void linalg_slogdet(const Tensor& A, const Tensor& sign, const Tensor& logabsdet) {
  if (A.numel() == 0) {
    fill_data(sign, 1);
    return fill_data(logabsdet, 0);
  }
  const Factors f = factored(A);
  const Launch launch(A);
  kernels::lapack(A->device).log_determinant(lapack::matrices(f.lu), f.pivots.data<int>(), sign->data, logabsdet->data);
}

void linalg_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular, const Tensor& out) {
  const Tensor a = lapack::copy_columns(expand_data(A, lapack::batch_and(out, {A.size(-2), A.size(-1)})));
  copy_data(out, B);
  const auto& kernels = lapack::kernels_of(A);
  const Launch launch(out, out.numel() * A.size(-1) / 8);
  kernels.solve_triangular(lapack::matrices(a), upper, left, unitriangular, lapack::matrices(out));
}

void linalg_cholesky_ex(const Tensor& A, bool upper, const Tensor& L, const Tensor& info) {
  if (A.numel() == 0) return fill_data(info, 0);
  copy_data(L, A);
  const auto& kernels = lapack::kernels_of(A);
  const Launch launch(A, A.numel() * A.size(-1) / 16);
  kernels.cholesky(lapack::matrices(L), upper, info.data<int>());
}

// Row i of P is the unit vector of the row that ended up in place i; P L U = A.
void _lu_permutation(const Tensor& pivots, int64_t rows, DType, const Tensor& out) {
  const Tensor given = contiguous_data(cast_data(pivots, DType::Int64));
  const Tensor order = empty(out.sizes().first(static_cast<size_t>(out.dim() - 1)), DType::Int64, out->device);
  Answer<bool> outside(out->device);
  {
    const Launch launch(out, out.numel());
    kernels::lapack(out->device)
        .permutation(order.data<int64_t>(), given.data<int64_t>(), order.numel() / rows, pivots.size(-1), rows, outside.data());
  }
  RG_CHECK(!outside.read(), "lu_unpack: LU_pivots has an element outside of 1..", rows);
  fill_data(out, 0);
  impl::scatter_value_into(out, -2, impl::unsqueeze(order, -2), Scalar(1));
}

}  // namespace compute

namespace composite {

std::tuple<Tensor, Tensor, Tensor> lu_unpack(const Tensor& LU_data, const Tensor& LU_pivots, bool unpack_data, bool unpack_pivots) {
  lapack::check_matrix(LU_data, "lu_unpack", "LU_data");
  lapack::check_dtype(LU_data, "lu_unpack");
  RG_CHECK(!unpack_pivots || LU_pivots.dtype() == DType::Int32,
           "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. Pass the pivots that "
           "torch.linalg.lu_factor returns.");
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  if (unpack_pivots) {
    bool fits = LU_pivots.dim() == LU_data.dim() - 1 && LU_pivots.size(-1) == k;
    for (int64_t d = 0; fits && d + 2 < LU_data.dim(); ++d) fits = LU_pivots.size(d) == LU_data.size(d);
    RG_CHECK(fits, "lu_unpack: LU_pivots must have one pivot per row of each matrix: with LU_data of size ", LU_data.sizes(),
             " that is the batch dimensions and then ", k, ", got ", LU_pivots.sizes());
  }
  const Tensor packed = unpack_data ? ops::contiguous(LU_data) : LU_data;
  const Tensor none = empty(ints({0}), LU_data.dtype(), LU_data.device());
  Tensor p = unpack_pivots ? ops::_lu_permutation(LU_pivots, m, LU_data.dtype()) : none, l = none, u = none;
  if (unpack_data) {
    l = ops::tril(m > n ? packed : ops::slice(packed, -1, 0, k, 1), -1);
    int64_t sizes[2] = {m, k};
    Tensor eye = zeros(sizes, LU_data.dtype(), LU_data.device());
    fill_data(impl::diagonal(eye, 0, 0, 1), 1);
    l = ops::add(l, eye, 1);
    u = ops::triu(m > n ? ops::slice(packed, -2, 0, k, 1) : packed, 0);
  }
  return {p, l, u};
}

std::tuple<Tensor, Tensor, Tensor> linalg_lu(const Tensor& A, bool pivot) {
  const auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, pivot);
  return ops::lu_unpack(lu, pivots, true, true);
}

Tensor linalg_cholesky(const Tensor& self, bool upper) {
  auto [factor, info] = ops::linalg_cholesky_ex(self, upper);
  lapack::check_verdicts("linalg.cholesky", info);
  return std::move(factor);
}

Tensor linalg_inv(const Tensor& A) {
  auto [result, info] = ops::linalg_inv_ex(A);
  lapack::check_verdicts("linalg.inv", info);
  return std::move(result);
}
Tensor inverse(const Tensor& self) { return ops::linalg_inv(self); }

Tensor linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  auto [result, info] = ops::linalg_solve_ex(A, B, left);
  lapack::check_verdicts("torch.linalg.solve", info);
  return std::move(result);
}

std::tuple<Tensor, Tensor> linalg_lu_factor(const Tensor& A, bool pivot) {
  auto [lu, pivots, info] = ops::linalg_lu_factor_ex(A, pivot);
  lapack::check_verdicts("torch.linalg.lu_factor", info);
  return {std::move(lu), std::move(pivots)};
}

Tensor cholesky_solve(const Tensor& self, const Tensor& L, bool upper) {
  for (const auto& [name, t] : {std::pair<const char*, const Tensor&>("b", self), {"u", L}})
    RG_CHECK(t.dim() >= 2, name, " should have at least 2 dimensions, but has ", t.dim(), " dimensions instead");
  const Tensor adjoint = ops::conj(ops::transpose(L, -2, -1)), &lower = upper ? adjoint : L, &other = upper ? L : adjoint;
  return ops::linalg_solve_triangular(other, ops::linalg_solve_triangular(lower, self, false, true, false), true, true, false);
}

Tensor cholesky_inverse(const Tensor& L, bool upper) {
  RG_CHECK(L.dim() >= 2, "cholesky_inverse: The input tensor A must have at least 2 dimensions.");
  const int64_t n = L.size(-1);
  return cholesky_solve(impl::expand(impl::eye(n, L.dtype(), {}, L.device(), {}, {}), L.sizes(), false), L, upper);
}

std::tuple<Tensor, Tensor> triangular_solve(const Tensor& b, const Tensor& A, bool upper, bool transpose, bool unitriangular) {
  Tensor solution = ops::linalg_solve_triangular(transpose ? ops::transpose(A, -2, -1) : A, b, upper != transpose, true, unitriangular);
  const Tensor columns = ops::transpose(A, -2, -1);
  return {std::move(solution), ops::transpose(columns.is_contiguous() ? ops::clone(columns) : ops::contiguous(columns), -2, -1)};
}

}  // namespace composite
}  // namespace retrograd
