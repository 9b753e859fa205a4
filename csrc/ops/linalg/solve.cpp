// Linear systems: LU, solve, inverse, determinants, triangular systems, Cholesky.
#include <cmath>
#include <numeric>

#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

using Getrf = void(const int* m, const int* n, void* a, const int* lda, int* pivots, int* info);
using Getrs = void(const char* trans, const int* n, const int* nrhs, const void* a, const int* lda, const int* pivots, void* b,
                   const int* ldb, int* info);
using Potrf = void(const char* uplo, const int* n, void* a, const int* lda, int* info);
using Trsm = void(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n, const void* alpha,
                  const void* a, const int* lda, void* b, const int* ldb);

int ld(int64_t rows) { return static_cast<int>(std::max<int64_t>(1, rows)); }

// A [.., n, n] and B [.., n, k] with the batch they broadcast to. A vector B (per matrix) is a matrix of one column.
struct System {
  bool vector;
  Shape batch;
  Tensor a, b;

  System(const char* name, const Tensor& A, const Tensor& B, bool left) {
    lapack::check_square(A, name);
    lapack::check_dtype(A, name);
    RG_CHECK(A.dtype() == B.dtype(), name, ": Expected A and B to have the same dtype, but found A of type ", dtype_title(A.dtype()),
             " and B of type ", dtype_title(B.dtype()), " instead");
    check_same_device(A.get(), B.get(), name);
    vector = B.dim() == 1 || (A.dim() - 1 == B.dim() && same_sizes(A.sizes().first(static_cast<size_t>(A.dim() - 1)), B.sizes()));
    RG_CHECK(B.dim() >= 1, name, ": The input tensor B must have at least 2 dimensions.");
    b = vector ? impl::unsqueeze(B, -1) : B;
    a = A;
    const int64_t need = left ? b.size(-2) : b.size(-1);
    RG_CHECK(A.size(-1) == need && (left || !vector), name, ": Incompatible shapes of A and B for the equation ",
             left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1), " and ", b.size(-2), "x", b.size(-1), ")");
    batch = broadcast_shapes(A.sizes().first(static_cast<size_t>(A.dim() - 2)), b.sizes().first(static_cast<size_t>(b.dim() - 2)));
  }

  Tensor expanded(const Tensor& t) const {
    Shape shape = batch;
    shape.sizes[shape.ndim++] = t.size(-2);
    shape.sizes[shape.ndim++] = t.size(-1);
    return expand_data(t, shape);
  }
};

struct Factors { Tensor lu, pivots, info; };

Factors factor(const Tensor& A) {
  Factors f{lapack::copy_columns(A), {}, {}};
  const int64_t m = A.size(-2), n = A.size(-1);
  f.pivots = lapack::batch_tensor(A, DType::Int32, {std::min(m, n)});
  f.info = zeros(A.sizes().first(static_cast<size_t>(A.dim() - 2)), DType::Int32, A.device());
  if (A.numel() == 0) return f;
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), lda = ld(m);
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    auto* getrf = lapack::routine<T, Getrf>("getrf_");
    const Launch launch(A, A.numel() * std::min(m, n) / 8);
    for (int64_t i = 0; i < lapack::batch_count(A); ++i)
      getrf(&rows, &columns, lapack::matrix_at<T>(f.lu, i), &lda, f.pivots.data<int>() + i * std::min(m, n), f.info.data<int>() + i);
  });
  return f;
}

// b := inverse(LU) b for square factors; b is laid out by columns and has the batch of the factors.
void solve_factored(const Factors& f, const Tensor& b, char trans) {
  if (b.numel() == 0) return;
  const int64_t n = f.lu.size(-1);
  const int order = static_cast<int>(n), columns = static_cast<int>(b.size(-1)), lda = ld(n);
  lapack::visit(b, [&](auto zero) {
    using T = decltype(zero);
    auto* getrs = lapack::routine<T, Getrs>("getrs_");
    const Launch launch(b, b.numel() * n / 8);
    int info;
    for (int64_t i = 0; i < lapack::batch_count(b); ++i)
      getrs(&trans, &order, &columns, lapack::matrix_at<T>(f.lu, i), &lda, f.pivots.data<int>() + i * n, lapack::matrix_at<T>(b, i), &lda,
            &info);
  });
}

}  // namespace

namespace impl {

std::tuple<Tensor, Tensor, Tensor> linalg_lu_factor_ex(const Tensor& A, bool pivot) {
  RG_CHECK(A.dim() >= 2, "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: ", A.sizes(), " instead");
  lapack::check_dtype(A, "torch.linalg.lu_factor");
  RG_CHECK(pivot, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
  Factors f = factor(A);
  return {std::move(f.lu), std::move(f.pivots), std::move(f.info)};
}

std::tuple<Tensor, Tensor> linalg_solve_ex(const Tensor& A, const Tensor& B, bool left) {
  const System s("linalg.solve", A, B, left);
  // XA = B is A^T X^T = B^T.
  const Factors f = factor(s.expanded(s.a));
  const Tensor b = s.expanded(s.b);
  Tensor x = lapack::copy_columns(left ? b : transpose(b, -2, -1));
  solve_factored(f, x, left ? 'N' : 'T');
  if (!left) x = transpose(x, -2, -1);
  if (!s.vector) return {std::move(x), f.info};
  x = squeeze_dim(x, -1);
  if (x.dim() > 1) x = lapack::copy_columns(x);  // vectors come back one element after the other, as in PyTorch
  return {std::move(x), f.info};
}

std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A) {
  lapack::check_square(A, "linalg.inv");
  lapack::check_dtype(A, "linalg.inv");
  RG_CHECK(itemsize(A.dtype()) >= 4, "linalg.inv: Low precision dtypes not supported. Got ", dtype_title(A.dtype()));
  const Factors f = factor(A);
  Tensor out = lapack::empty_columns(A.sizes(), A.dtype(), A.device());
  fill_data(out, 0);
  if (out.numel()) {
    fill_data(diagonal(out, 0, -2, -1), 1);
    solve_factored(f, out, 'N');
  }
  return {std::move(out), f.info};
}

namespace {

// log|det| and sign, or det itself, from the diagonal of U and the parity of the pivots. The sign of a complex number is its direction.
template <class T> void determinant(const T* lu, const int* pivots, int64_t n, T* sign, lapack::real_t<T>* log_abs, T* det) {
  using R = lapack::real_t<T>;
  T s = 1, d = 1;
  R l = 0;
  for (int64_t i = 0; i < n; ++i) {
    const T u = lu[i * n + i];
    if (pivots[i] != i + 1) s = -s, d = -d;
    const R size = static_cast<R>(lapack::magnitude(u));
    if constexpr (is_complex_v<T>) {
      s *= size == 0 ? T(0) : T(u.re / size, u.im / size);
    } else {
      s *= static_cast<T>((T(0) < u) - (u < T(0)));
    }
    l += std::log(size);
    d *= u;
  }
  if (det) *det = d;
  if (sign) *sign = s, *log_abs = l;
}

}  // namespace

Tensor linalg_det(const Tensor& A) {
  lapack::check_square(A, "linalg.det");
  lapack::check_dtype(A, "linalg.det");
  Tensor det = lapack::batch_tensor(A, A.dtype(), {});
  if (A.numel() == 0) fill_data(det, 1);
  if (A.numel() == 0) return det;
  const Factors f = factor(A);
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = A.size(-1);
    for (int64_t i = 0; i < det.numel(); ++i)
      determinant<T>(lapack::matrix_at<T>(f.lu, i), f.pivots.data<int>() + i * n, n, nullptr, nullptr, det.data<T>() + i);
  });
  return det;
}

std::tuple<Tensor, Tensor> linalg_slogdet(const Tensor& A) {
  lapack::check_square(A, "linalg.slogdet");
  lapack::check_dtype(A, "linalg.slogdet");
  Tensor sign = lapack::batch_tensor(A, A.dtype(), {}), log_abs = lapack::batch_tensor(A, real_dtype(A.dtype()), {});
  if (A.numel() == 0) {
    fill_data(sign, 1);
    fill_data(log_abs, 0);
    return {std::move(sign), std::move(log_abs)};
  }
  const Factors f = factor(A);
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    const int64_t n = A.size(-1);
    for (int64_t i = 0; i < sign.numel(); ++i)
      determinant<T>(lapack::matrix_at<T>(f.lu, i), f.pivots.data<int>() + i * n, n, sign.data<T>() + i,
                     log_abs.data<lapack::real_t<T>>() + i, nullptr);
  });
  return {std::move(sign), std::move(log_abs)};
}

Tensor linalg_solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  constexpr const char* kName = "linalg.solve_triangular";
  lapack::check_square(A, kName);
  lapack::check_matrix(B, kName, "B");
  lapack::check_dtype(A, kName);
  RG_CHECK(A.dtype() == B.dtype(), kName, ": Expected A and B to have the same dtype, but found A of type ", dtype_title(A.dtype()),
           " and B of type ", dtype_title(B.dtype()), " instead");
  check_same_device(A.get(), B.get(), kName);
  RG_CHECK(A.size(-1) == (left ? B.size(-2) : B.size(-1)), kName, ": Incompatible shapes of A and B for the equation ",
           left ? "AX = B" : "XA = B", " (", A.size(-2), "x", A.size(-1), " and ", B.size(-2), "x", B.size(-1), ")");
  Shape batch = broadcast_shapes(A.sizes().first(static_cast<size_t>(A.dim() - 2)), B.sizes().first(static_cast<size_t>(B.dim() - 2)));
  const int64_t n = A.size(-1), m = B.size(-2), k = B.size(-1);
  batch.sizes[batch.ndim] = n, batch.sizes[batch.ndim + 1] = n;
  const Tensor a = lapack::copy_columns(expand_data(A, {batch.sizes, static_cast<size_t>(batch.ndim + 2)}));
  batch.sizes[batch.ndim] = m, batch.sizes[batch.ndim + 1] = k;
  Tensor x = lapack::copy_columns(expand_data(B, {batch.sizes, static_cast<size_t>(batch.ndim + 2)}));
  if (x.numel() == 0) return x;
  const char side = left ? 'L' : 'R', uplo = upper ? 'U' : 'L', trans = 'N', diag = unitriangular ? 'U' : 'N';
  const int rows = static_cast<int>(m), columns = static_cast<int>(k), lda = ld(n), ldb = ld(m);
  lapack::visit(x, [&](auto zero) {
    using T = decltype(zero);
    auto* trsm = lapack::routine<T, Trsm>("trsm_");
    const T one = 1;
    const Launch launch(x, x.numel() * n / 8);
    for (int64_t i = 0; i < lapack::batch_count(x); ++i)
      trsm(&side, &uplo, &trans, &diag, &rows, &columns, &one, lapack::matrix_at<T>(a, i), &lda, lapack::matrix_at<T>(x, i), &ldb);
  });
  return x;
}

std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& A, bool upper) {
  lapack::check_square(A, "linalg.cholesky");
  lapack::check_dtype(A, "linalg.cholesky");
  Tensor out = lapack::copy_columns(A);
  Tensor info = zeros(A.sizes().first(static_cast<size_t>(A.dim() - 2)), DType::Int32, A.device());
  if (A.numel() == 0) return {std::move(out), std::move(info)};
  const int64_t n = A.size(-1);
  const int order = static_cast<int>(n), lda = ld(n);
  const char uplo = upper ? 'U' : 'L';
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    auto* potrf = lapack::routine<T, Potrf>("potrf_");
    const Launch launch(A, A.numel() * n / 16);
    for (int64_t i = 0; i < lapack::batch_count(A); ++i) {
      T* a = lapack::matrix_at<T>(out, i);
      int* verdict = info.data<int>() + i;
      potrf(&uplo, &order, a, &lda, verdict);
      for (int64_t d = 0; d < n && !*verdict; ++d) {  // not every LAPACK takes a NaN for "not positive"
        const T pivot = a[d * (n + 1)], rest = pivot - pivot;
        if (!(pivot == pivot)) *verdict = static_cast<int>(d + 1);
        if (pivot == pivot && !(rest == rest) && d + 1 < n) *verdict = static_cast<int>(d + 2);  // 0 / inf is no number to go on with
      }
    }
  });
  upper ? triu_(out, 0) : tril_(out, 0);  // LAPACK leaves the other triangle as it was
  return {std::move(out), std::move(info)};
}

// Row i of P is the unit vector of the row that ended up in place i; P L U = A.
Tensor _lu_permutation(const Tensor& pivots, int64_t rows, DType dtype) {
  RG_CHECK(pivots.dim() >= 1 && pivots.size(-1) <= rows, "lu_unpack: LU_pivots of size ", pivots.sizes(), " do not go with ", rows,
           " rows");
  int64_t sizes[kMaxDims];
  const size_t batch_dims = static_cast<size_t>(pivots.dim() - 1);
  for (size_t d = 0; d < batch_dims; ++d) sizes[d] = pivots.size(static_cast<int64_t>(d));
  sizes[batch_dims] = rows, sizes[batch_dims + 1] = rows;
  const DType computed = dtype == DType::Float64 ? dtype : DType::Float32;  // an empty LU may be of any precision, a full one complex
  Tensor p = zeros({sizes, batch_dims + 2}, computed, pivots.device());
  RG_CHECK(!is_meta(pivots), "lu_unpack needs the values of its pivots, and this tensor has none to read here");
  const Tensor given = on_host(contiguous_data(cast_data(pivots, DType::Int64)));
  const int64_t k = pivots.size(-1), batch = k ? pivots.numel() / k : checked_numel({sizes, batch_dims});
  std::vector<int64_t> order(static_cast<size_t>(rows));
  lapack::visit(p, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < batch; ++i) {
      std::iota(order.begin(), order.end(), 0);
      for (int64_t j = 0; j < k; ++j) {
        const int64_t with = given.data<int64_t>()[i * k + j] - 1;
        RG_CHECK(with >= 0 && with < rows, "lu_unpack: LU_pivots has an element outside of 1..", rows);
        std::swap(order[static_cast<size_t>(j)], order[static_cast<size_t>(with)]);
      }
      for (int64_t j = 0; j < rows; ++j) p.data<T>()[(i * rows + order[static_cast<size_t>(j)]) * rows + j] = T(1);
    }
  });
  return cast_data(p, dtype);
}

}  // namespace impl

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

}  // namespace composite
}  // namespace retrograd
