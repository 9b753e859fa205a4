// Orthogonal decompositions: QR, symmetric eigenvalues, singular values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/tangent.h"
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

using Geqrf = void(const int* m, const int* n, void* a, const int* lda, void* tau, void* work, const int* lwork, int* info);
using Orgqr = void(const int* m, const int* n, const int* k, void* a, const int* lda, const void* tau, void* work, const int* lwork,
                   int* info);
using Syevd = void(const char* jobz, const char* uplo, const int* n, void* a, const int* lda, void* w, void* work, const int* lwork,
                   int* iwork, const int* liwork, int* info);
using Heevd = void(const char* jobz, const char* uplo, const int* n, void* a, const int* lda, void* w, void* work, const int* lwork,
                   void* rwork, const int* lrwork, int* iwork, const int* liwork, int* info);
using Gesdd = void(const char* jobz, const int* m, const int* n, void* a, const int* lda, void* s, void* u, const int* ldu, void* vt,
                   const int* ldvt, void* work, const int* lwork, int* iwork, int* info);
using GesddComplex = void(const char* jobz, const int* m, const int* n, void* a, const int* lda, void* s, void* u, const int* ldu, void* vt,
                          const int* ldvt, void* work, const int* lwork, void* rwork, int* iwork, int* info);

int ld(int64_t rows) { return static_cast<int>(std::max<int64_t>(1, rows)); }

Tensor columns_like(const Tensor& t, int64_t rows, int64_t columns) {
  int64_t sizes[kMaxDims];
  const size_t n = static_cast<size_t>(t.dim());
  for (size_t d = 0; d + 2 < n; ++d) sizes[d] = t.size(static_cast<int64_t>(d));
  sizes[n - 2] = rows, sizes[n - 1] = columns;
  return lapack::empty_columns({sizes, n}, t.dtype(), t.device());
}

// Ones on the diagonal: what an empty matrix decomposes into.
Tensor identity_like(const Tensor& t, int64_t rows, int64_t columns) {
  Tensor out = columns_like(t, rows, columns);
  fill_data(out, 0);
  if (out.numel()) fill_data(impl::diagonal(out, 0, -2, -1), 1);
  return out;
}

template <class T> using EigenFn = std::conditional_t<is_complex_v<T>, Heevd, Syevd>;

// The eigenvalues of a into w, the vectors into a; LAPACK's verdict.
template <class T> int symmetric_eigen(EigenFn<T>* evd, char job, char uplo, int n, T* a, lapack::real_t<T>* w) {
  using R = lapack::real_t<T>;
  int info = 0;
  const auto call = [&](T* work, int size, [[maybe_unused]] R* reals, [[maybe_unused]] int real_size, int* integers, int int_size) {
    if constexpr (is_complex_v<T>) {
      evd(&job, &uplo, &n, a, &n, w, work, &size, reals, &real_size, integers, &int_size, &info);
    } else {
      evd(&job, &uplo, &n, a, &n, w, work, &size, integers, &int_size, &info);
    }
  };
  T best[1];
  R best_real[1] = {0};
  int best_int[1] = {0};
  call(best, -1, best_real, -1, best_int, -1);
  std::vector<T> work(lapack::work_size(best[0]));
  std::vector<R> reals(lapack::work_size(best_real[0]));
  std::vector<int> integers(static_cast<size_t>(best_int[0]) + 1);
  call(work.data(), static_cast<int>(work.size()), reals.data(), static_cast<int>(reals.size()), integers.data(),
       static_cast<int>(integers.size()));
  return info;
}

}  // namespace

namespace impl {

std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, std::string_view mode) {
  lapack::check_matrix(A, "linalg.qr");
  lapack::check_dtype(A, "linalg.qr");
  RG_CHECK(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '", mode,
           "' but expected one of 'reduced' (default), 'r', or 'complete'");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n), wide = mode == "complete" ? m : k;
  const bool wants_q = mode != "r";
  if (A.numel() == 0) {
    Tensor r = columns_like(A, wide, n);
    fill_data(r, 0);
    return {wants_q ? identity_like(A, m, wide) : empty(ints({0}), A.dtype(), A.device()), std::move(r)};
  }
  const Tensor work_a = lapack::copy_columns(A);
  Tensor q = wants_q ? columns_like(A, m, wide) : empty(ints({0}), A.dtype(), A.device());
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), lda = ld(m), reflectors = static_cast<int>(k),
            q_columns = static_cast<int>(wide);
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    auto* geqrf = lapack::routine<T, Geqrf>("geqrf_");
    auto* orgqr = lapack::routine<T, Orgqr>("orgqr_", "ungqr_");
    std::vector<T> tau(static_cast<size_t>(k));
    const Launch launch(A, A.numel() * k / 4);
    int info;
    for (int64_t i = 0; i < lapack::batch_count(A); ++i) {
      T* a = lapack::matrix_at<T>(work_a, i);
      lapack::with_work<T>([&](T* work, int size) { geqrf(&rows, &columns, a, &lda, tau.data(), work, &size, &info); });
      if (!wants_q) continue;
      T* out = lapack::matrix_at<T>(q, i);
      std::copy(a, a + m * std::min(wide, n), out);  // the reflectors; columns past them are made by orgqr
      lapack::with_work<T>([&](T* work, int size) { orgqr(&rows, &q_columns, &reflectors, out, &lda, tau.data(), work, &size, &info); });
    }
  });
  Tensor r = lapack::copy_columns(slice(work_a, -2, 0, wide, 1));
  triu_(r, 0);
  return {std::move(q), std::move(r)};
}

std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  lapack::check_square(A, "linalg.eigh");
  lapack::check_dtype(A, "linalg.eigh");
  RG_CHECK(UPLO.size() == 1 && std::string_view("LUlu").find(UPLO[0]) != std::string_view::npos,
           "Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  const int64_t n = A.size(-1);
  Tensor values = lapack::batch_tensor(A, real_dtype(A.dtype()), {n});
  Tensor vectors = lapack::copy_columns(A);
  if (A.numel() == 0) return {std::move(values), std::move(vectors)};
  const char job = compute_v ? 'V' : 'N', uplo = UPLO[0] == 'L' || UPLO[0] == 'l' ? 'L' : 'U';
  int failed = 0;
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    using R = lapack::real_t<T>;
    auto* evd = lapack::routine<T, EigenFn<T>>("syevd_", "heevd_");
    const Launch launch(A, A.numel() * n);
    for (int64_t i = 0; i < lapack::batch_count(A) && !failed; ++i) {
      T* a = lapack::matrix_at<T>(vectors, i);
      R* w = values.data<R>() + i * n;
      if (lapack::all_finite(a, n * n)) {
        failed = symmetric_eigen<T>(evd, job, uplo, static_cast<int>(n), a, w);
      } else {  // LAPACK might not return
        std::fill(a, a + n * n, T(std::numeric_limits<R>::quiet_NaN()));
        std::fill(w, w + n, std::numeric_limits<R>::quiet_NaN());
      }
    }
  });
  if (failed)
    lapack::fail_to_converge("linalg.eigh", str_cat("is ill-conditioned or has too many equal eigenvalues (error code: ", failed, ")."));
  return {std::move(values), compute_v ? std::move(vectors) : empty(ints({0}), A.dtype(), A.device())};
}

std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv) {
  lapack::check_matrix(A, "linalg.svd");
  lapack::check_dtype(A, "linalg.svd");
  const int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  Tensor s = lapack::batch_tensor(A, real_dtype(A.dtype()), {k}), u, vh;
  const int64_t u_columns = full_matrices ? m : k, v_rows = full_matrices ? n : k;
  if (A.numel() == 0) {
    if (!compute_uv) return {empty(ints({0}), A.dtype(), A.device()), std::move(s), empty(ints({0}), A.dtype(), A.device())};
    return {identity_like(A, m, u_columns), std::move(s), identity_like(A, v_rows, n)};
  }
  u = compute_uv ? columns_like(A, m, u_columns) : empty(ints({0}), A.dtype(), A.device());
  vh = compute_uv ? columns_like(A, v_rows, n) : empty(ints({0}), A.dtype(), A.device());
  const Tensor work_a = lapack::copy_columns(A);
  // LAPACK may give nonsense for them, or never return.
  if (!lapack::all_finite(work_a)) lapack::fail_to_converge("linalg.svd", "contained non-finite values.");
  const char job = !compute_uv ? 'N' : full_matrices ? 'A' : 'S';
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), lda = ld(m), ldu = ld(m), ldvt = ld(compute_uv ? v_rows : 1);
  int failed = 0;
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    using R = lapack::real_t<T>;
    auto* gesdd = lapack::routine<T, std::conditional_t<is_complex_v<T>, GesddComplex, Gesdd>>("gesdd_");
    std::vector<int> integers(static_cast<size_t>(8 * k));
    std::vector<R> reals;
    if (is_complex_v<T>) reals.resize(static_cast<size_t>(k * std::max(5 * k + 7, 2 * std::max(m, n) + 2 * k + 1)));
    const Launch launch(A, A.numel() * k * 2);
    for (int64_t i = 0; i < lapack::batch_count(A) && !failed; ++i) {
      T* left = compute_uv ? lapack::matrix_at<T>(u, i) : nullptr;
      T* right = compute_uv ? lapack::matrix_at<T>(vh, i) : nullptr;
      T* a = lapack::matrix_at<T>(work_a, i);
      R* values = s.data<R>() + i * k;
      lapack::with_work<T>([&](T* work, int size) {
        if constexpr (is_complex_v<T>) {
          gesdd(&job, &rows, &columns, a, &lda, values, left, &ldu, right, &ldvt, work, &size, reals.data(), integers.data(), &failed);
        } else {
          gesdd(&job, &rows, &columns, a, &lda, values, left, &ldu, right, &ldvt, work, &size, integers.data(), &failed);
        }
      });
    }
  });
  if (failed)
    lapack::fail_to_converge("linalg.svd", str_cat("is ill-conditioned or has too many equal singular values (error code: ", failed, ")."));
  return {std::move(u), std::move(s), std::move(vh)};
}

// The Hermitian matrix whose lower triangle is that of A; imaginary parts of the diagonal are not read.
static Tensor mirrored(const Tensor& A) {
  const Tensor whole = impl::tril(A, 0), below = impl::tril(A, -1);
  if (!is_complex(A.dtype())) return impl::add(whole, transpose(below, -2, -1), 1);
  const Tensor matrix = impl::add(whole, transpose(impl::_conj_physical(below), -2, -1), 1);
  return impl::mul(impl::add(matrix, transpose(impl::_conj_physical(matrix), -2, -1), 1), 0.5);
}

// V diag(1/s) U^H over the singular values above the tolerance max(atol, rtol * largest).
Tensor linalg_pinv(const Tensor& A, std::optional<double> atol, std::optional<double> rtol, bool hermitian) {
  lapack::check_matrix(A, "linalg.pinv");
  if (hermitian) lapack::check_square(A, "linalg.pinv");
  lapack::check_dtype(A, "linalg.pinv");
  if (A.numel() == 0) return transpose(columns_like(A, A.size(-2), A.size(-1)), -2, -1);
  const double epsilon = real_dtype(A.dtype()) == DType::Float32 ? 1.1920929e-07 : 2.220446049250313e-16;
  const double absolute = atol.value_or(0),
               relative = rtol.value_or(absolute > 0 ? 0 : epsilon * static_cast<double>(std::max(A.size(-1), A.size(-2))));
  const auto [u, s, vh] = _linalg_svd(hermitian ? mirrored(A) : A, false, true);
  const int64_t k = s.size(-1);
  lapack::visit(s, [&](auto zero) {
    using T = lapack::real_t<decltype(zero)>;
    for (int64_t i = 0; i < s.numel() / k; ++i) {
      T* row = s.data<T>() + i * k;
      const double tolerance = std::max(absolute, relative * static_cast<double>(row[0]));
      for (int64_t j = 0; j < k; ++j) row[j] = static_cast<double>(row[j]) > tolerance ? T(1) / row[j] : T(0);
    }
  });
  const auto adjoint = [](const Tensor& t) { return is_complex(t.dtype()) ? _conj(transpose(t, -2, -1)) : transpose(t, -2, -1); };
  const Tensor scaled = mul(adjoint(vh), unsqueeze(s, -2)), uh = adjoint(u);
  const int64_t batch = lapack::batch_count(A), n = A.size(-1), m = A.size(-2);
  const Tensor product =
      bmm(_unsafe_view(contiguous_data(scaled), ints({batch, n, k})), _unsafe_view(contiguous_data(uh), ints({batch, k, m})));
  return _unsafe_view(product, columns_like(A, n, m).sizes());
}

}  // namespace impl

namespace composite {

using lapack::is_differentiated;

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& A, std::string_view UPLO) { return ops::_linalg_eigh(A, UPLO, true); }
Tensor linalg_eigvalsh(const Tensor& A, std::string_view UPLO) { return std::get<0>(ops::_linalg_eigh(A, UPLO, is_differentiated(A))); }
std::tuple<Tensor, Tensor, Tensor> linalg_svd(const Tensor& A, bool full_matrices) { return ops::_linalg_svd(A, full_matrices, true); }
Tensor linalg_svdvals(const Tensor& A) { return std::get<1>(ops::_linalg_svd(A, false, is_differentiated(A))); }

}  // namespace composite
}  // namespace retrograd
