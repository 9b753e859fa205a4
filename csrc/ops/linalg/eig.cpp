// Eigenvalues and eigenvectors of matrices that need not be symmetric: complex numbers, also of real matrices.
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace {

using Geev = void(const char* jobvl, const char* jobvr, const int* n, void* a, const int* lda, void* wr, void* wi, void* vl,
                  const int* ldvl, void* vr, const int* ldvr, void* work, const int* lwork, int* info);
using GeevComplex = void(const char* jobvl, const char* jobvr, const int* n, void* a, const int* lda, void* w, void* vl, const int* ldvl,
                         void* vr, const int* ldvr, void* work, const int* lwork, void* rwork, int* info);

// LAPACK gives a conjugate pair of eigenvectors of a real matrix as two columns: their real part, and the imaginary part of the first.
template <class R> void join_pairs(const R* wi, const R* columns, int64_t n, Complex<R>* out) {
  for (int64_t j = 0; j < n; ++j) {
    const R* re = columns + j * n;
    const bool pair = wi[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R im = pair ? re[n + i] : R(0);
      out[j * n + i] = {re[i], im};
      if (pair) out[(j + 1) * n + i] = {re[i], -im};
    }
    if (pair) ++j;
  }
}

// One matrix, which is overwritten. vectors is null where they are not wanted. Gives LAPACK's verdict.
template <class R> int eigen(Geev* geev, int n, R* a, Complex<R>* values, Complex<R>* vectors) {
  const size_t order = static_cast<size_t>(n);
  const char no = 'N', job = vectors ? 'V' : 'N';
  std::vector<R> wr(order), wi(order), columns(vectors ? order * order : 1);
  int info = 0;
  lapack::with_work<R>(
      [&](R* work, int size) { geev(&no, &job, &n, a, &n, wr.data(), wi.data(), nullptr, &n, columns.data(), &n, work, &size, &info); });
  for (size_t i = 0; i < order; ++i) values[i] = {wr[i], wi[i]};
  if (vectors) join_pairs(wi.data(), columns.data(), n, vectors);
  return info;
}

template <class R> int eigen(GeevComplex* geev, int n, Complex<R>* a, Complex<R>* values, Complex<R>* vectors) {
  const char no = 'N', job = vectors ? 'V' : 'N';
  std::vector<R> reals(static_cast<size_t>(2 * n));
  int info = 0;
  lapack::with_work<Complex<R>>(
      [&](Complex<R>* work, int size) { geev(&no, &job, &n, a, &n, values, nullptr, &n, vectors, &n, work, &size, reals.data(), &info); });
  return info;
}

}  // namespace

namespace impl {

std::tuple<Tensor, Tensor> _linalg_eig(const Tensor& A, bool compute_v) {
  lapack::check_square(A, "linalg.eig");
  if (is_floating(A.dtype()) && itemsize(A.dtype()) < 4) fail_not_implemented("linalg_eig_out_cpu", A.dtype());
  lapack::check_dtype(A, "linalg.eig");
  const DType dtype = complex_dtype(A.dtype());
  const int64_t n = A.size(-1);
  Tensor values = lapack::batch_tensor(A, dtype, {n});
  Tensor vectors = compute_v ? lapack::empty_columns(A.sizes(), dtype, A.device()) : empty(ints({0}), dtype, A.device());
  if (A.numel() == 0) return {std::move(values), std::move(vectors)};
  const Tensor work_a = lapack::copy_columns(A);
  RG_CHECK(lapack::all_finite(work_a), "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  int failed = 0;
  lapack::visit(A, [&](auto zero) {
    using T = decltype(zero);
    using C = Complex<lapack::real_t<T>>;
    auto* geev = lapack::routine<T, std::conditional_t<is_complex_v<T>, GeevComplex, Geev>>("geev_");
    const Launch launch(A, A.numel() * n * 4);
    for (int64_t i = 0; i < lapack::batch_count(A) && !failed; ++i)
      failed = eigen(geev, static_cast<int>(n), lapack::matrix_at<T>(work_a, i), values.data<C>() + i * n,
                     compute_v ? lapack::matrix_at<C>(vectors, i) : nullptr);
  });
  if (failed)
    lapack::fail_to_converge("linalg.eig", str_cat("is ill-conditioned or has too many equal eigenvalues (error code: ", failed, ")."));
  return {std::move(values), std::move(vectors)};
}

}  // namespace impl

namespace composite {

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& A) { return ops::_linalg_eig(A, true); }

Tensor linalg_eigvals(const Tensor& A) {
  lapack::check_square(A, "linalg.eigvals");
  return std::get<0>(ops::_linalg_eig(A, lapack::is_differentiated(A)));
}

}  // namespace composite
}  // namespace retrograd
