// Factors as LAPACK packs them: the reflections of a QR (geqrf), and L D L^T of a symmetric matrix that need not be definite.
#include <cstdlib>
#include <limits>
#include <numeric>

#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

using Geqrf = void(const int* m, const int* n, void* a, const int* lda, void* tau, void* work, const int* lwork, int* info);
using Sytrf = void(const char* uplo, const int* n, void* a, const int* lda, int* pivots, void* work, const int* lwork, int* info);
using Sytrs = void(const char* uplo, const int* n, const int* nrhs, const void* a, const int* lda, const int* pivots, void* b,
                   const int* ldb, int* info);

constexpr char kLower = 'L';

// LAPACK follows pivots into memory: each must be a row, and negative ones, the blocks of two, must come in pairs.
void check_pivots(const int* pivots, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    RG_CHECK(pivots[k] != 0, "Pivots given to ldl_solve must all satisfy |pivot| >= 1. Pass those of linalg.ldl_factor.");
    RG_CHECK(std::abs(static_cast<int64_t>(pivots[k])) <= n, "Pivots given to ldl_solve must all satisfy |pivot| <= LD.size(-2). One is ",
             pivots[k], " for ", n, " rows: pass those of linalg.ldl_factor.");
  }
  for (int64_t k = 0; k < n; ++k) {
    if (pivots[k] > 0) continue;
    RG_CHECK(k + 1 < n && pivots[k + 1] < 0, "Pivots given to ldl_solve must have negative ones in pairs, for blocks of two rows, but the ",
             "one at ", k, " is alone: pass those of linalg.ldl_factor.");
    ++k;
  }
}

}  // namespace

namespace impl {

std::tuple<Tensor, Tensor> geqrf(const Tensor& self) {
  RG_CHECK(self.dim() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  if (!is_differentiable(self.dtype()) || itemsize(self.dtype()) < 4) fail_not_implemented("geqrf_cpu", self.dtype());
  lapack::check_dtype(self, "torch.geqrf");
  const int64_t m = self.size(-2), n = self.size(-1), k = std::min(m, n);
  Tensor a = lapack::copy_columns(self), tau = lapack::batch_tensor(self, self.dtype(), {k});
  if (self.numel() == 0) return {std::move(a), std::move(tau)};
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  lapack::visit(self, [&](auto zero) {
    using T = decltype(zero);
    auto* factor = lapack::routine<T, Geqrf>("geqrf_");
    const Launch launch(self, self.numel() * k / 4);
    int info;
    for (int64_t i = 0; i < lapack::batch_count(self); ++i)
      lapack::with_work<T>([&](T* work, int size) {
        factor(&rows, &columns, lapack::matrix_at<T>(a, i), &rows, tau.data<T>() + i * k, work, &size, &info);
      });
  });
  return {std::move(a), std::move(tau)};
}

std::tuple<Tensor, Tensor, Tensor> linalg_ldl_factor_ex(const Tensor& self, bool hermitian) {
  lapack::check_square(self, "torch.linalg.ldl_factor_ex");
  if (is_floating(self.dtype()) && itemsize(self.dtype()) < 4) fail_not_implemented("ldl_factor_kernel_cpu", self.dtype());
  lapack::check_dtype(self, "torch.linalg.ldl_factor_ex");
  const int64_t n = self.size(-1);
  Tensor ld = lapack::copy_columns(self), pivots = lapack::batch_tensor(self, DType::Int32, {n});
  Tensor info = zeros(self.sizes().first(static_cast<size_t>(self.dim() - 2)), DType::Int32, self.device());
  if (self.numel() == 0) return {std::move(ld), std::move(pivots), std::move(info)};
  const int order = static_cast<int>(n);
  lapack::visit(self, [&](auto zero) {
    using T = decltype(zero);
    auto* factor = lapack::routine<T, Sytrf>("sytrf_", hermitian ? "hetrf_" : "sytrf_");
    const Launch launch(self, self.numel() * n / 8);
    for (int64_t i = 0; i < lapack::batch_count(self); ++i) {
      T* a = lapack::matrix_at<T>(ld, i);
      int* rows = pivots.data<int>() + i * n;
      if (!lapack::all_finite(a, n * n)) {  // LAPACK's search for a pivot may leave the matrix
        std::fill(a, a + n * n, T(std::numeric_limits<lapack::real_t<T>>::quiet_NaN()));
        std::iota(rows, rows + n, 1);
        continue;
      }
      lapack::with_work<T>([&](T* work, int size) { factor(&kLower, &order, a, &order, rows, work, &size, info.data<int>() + i); });
      for (int64_t column = 1; column < n; ++column) std::fill(a + column * n, a + column * n + column, T(0));  // not LAPACK's business
    }
  });
  return {std::move(ld), std::move(pivots), std::move(info)};
}

Tensor linalg_ldl_solve(const Tensor& LD, const Tensor& pivots, const Tensor& B, bool hermitian) {
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
  const int64_t n = LD.size(-1);
  Shape batch = broadcast_shapes(LD.sizes().first(static_cast<size_t>(LD.dim() - 2)), B.sizes().first(static_cast<size_t>(B.dim() - 2)));
  const auto with = [&](const Tensor& t, std::initializer_list<int64_t> tail) {
    Shape shape = batch;
    for (const int64_t size : tail) shape.sizes[shape.ndim++] = size;
    return expand_data(t, shape);
  };
  const Tensor factors = lapack::copy_columns(with(LD, {n, n}));
  const Tensor rows = contiguous_data(with(cast_data(pivots, DType::Int32), {n}));
  Tensor x = lapack::copy_columns(with(B, {n, B.size(-1)}));
  if (x.numel() == 0) return x;
  const int order = static_cast<int>(n), columns = static_cast<int>(B.size(-1));
  {
    const Tensor known = on_host(rows);
    for (int64_t i = 0; i < lapack::batch_count(x); ++i) check_pivots(known.data<int>() + i * n, n);
  }
  lapack::visit(x, [&](auto zero) {
    using T = decltype(zero);
    auto* solve = lapack::routine<T, Sytrs>("sytrs_", hermitian ? "hetrs_" : "sytrs_");
    const Launch launch(x, x.numel() * n / 8);
    int info;
    for (int64_t i = 0; i < lapack::batch_count(x); ++i)
      solve(&kLower, &order, &columns, lapack::matrix_at<T>(factors, i), &order, rows.data<int>() + i * n, lapack::matrix_at<T>(x, i),
            &order, &info);
  });
  return x;
}

}  // namespace impl
}  // namespace retrograd
