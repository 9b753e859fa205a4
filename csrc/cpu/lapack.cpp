// Orthogonal decompositions: QR, eigenvalues, singular values.
#include "cpu/lapack.h"

#include "cpu/reflect.h"

#include <limits>

#include "cpu/cpu.h"

namespace retrograd::cpu {
namespace {

using Geqrf = void(const int* m, const int* n, void* a, const int* lda, void* tau, void* work, const int* lwork, int* info);
using Orgqr = void(const int* m, const int* n, const int* k, void* a, const int* lda, const void* tau, void* work, const int* lwork,
                   int* info);
using Syevd = void(const char* jobz, const char* uplo, const int* n, void* a, const int* lda, void* w, void* work, const int* lwork,
                   int* iwork, const int* liwork, int* info);
using Heevd = void(const char* jobz, const char* uplo, const int* n, void* a, const int* lda, void* w, void* work, const int* lwork,
                   void* rwork, const int* lrwork, int* iwork, const int* liwork, int* info);
using Geev = void(const char* jobvl, const char* jobvr, const int* n, void* a, const int* lda, void* wr, void* wi, void* vl,
                  const int* ldvl, void* vr, const int* ldvr, void* work, const int* lwork, int* info);
using GeevComplex = void(const char* jobvl, const char* jobvr, const int* n, void* a, const int* lda, void* w, void* vl, const int* ldvl,
                         void* vr, const int* ldvr, void* work, const int* lwork, void* rwork, int* info);
using Gesdd = void(const char* jobz, const int* m, const int* n, void* a, const int* lda, void* s, void* u, const int* ldu, void* vt,
                   const int* ldvt, void* work, const int* lwork, int* iwork, int* info);
using GesddComplex = void(const char* jobz, const int* m, const int* n, void* a, const int* lda, void* s, void* u, const int* ldu, void* vt,
                          const int* ldvt, void* work, const int* lwork, void* rwork, int* iwork, int* info);

const char* missing() {
  static const bool found = blas_symbol("sgetrf_");
  return found ? nullptr : blas_error() ? blas_error() : "the library of BLAS has none";
}

void qr(const Matrices& a, void* tau) {
  const int rows = lapack_int(a.rows), columns = lapack_int(a.columns);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Geqrf* const geqrf = routine<T, Geqrf>("geqrf_");
    T* factors = static_cast<T*>(tau);
    int info;
    for (int64_t i = 0; i < a.count; ++i, factors += std::min(a.rows, a.columns)) {
      T* const matrix = matrix_at<T>(a, i);
      if constexpr (!is_complex_v<T>) {
        if (small_qr(rows, columns, matrix, factors)) continue;
      }
      with_work<T>(std::max(rows, columns), [&](T* work, int size) { geqrf(&rows, &columns, matrix, &rows, factors, work, &size, &info); });
    }
  });
}

void copy_r(const Matrices& a, const Matrices& r) {
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < a.count; ++i) {
      const T* packed = matrix_at<T>(a, i);
      T* out = matrix_at<T>(r, i);
      for (int64_t j = 0; j < r.columns; ++j, packed += a.rows, out += r.rows) {
        const int64_t height = std::min(j + 1, r.rows);
        std::copy(packed, packed + height, out);
        std::fill(out + height, out + r.rows, T(0));
      }
    }
  });
}

void make_q(const Matrices& a, const void* tau, const Matrices& q) {
  const int64_t k = std::min(a.rows, a.columns);
  const int rows = lapack_int(q.rows), columns = lapack_int(q.columns), reflections = lapack_int(k);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Orgqr* const orgqr = routine<T, Orgqr>(is_complex_v<T> ? "ungqr_" : "orgqr_");
    const T* factors = static_cast<const T*>(tau);
    int info;
    for (int64_t i = 0; i < a.count; ++i, factors += k) {
      const T* packed = matrix_at<T>(a, i);
      T* out = matrix_at<T>(q, i);
      std::copy(packed, packed + a.rows * std::min(q.columns, a.columns), out);  // columns past the reflections are made by orgqr
      if constexpr (!is_complex_v<T>) {
        if (small_q(rows, columns, reflections, out, factors)) continue;
      }
      with_work<T>(std::max(rows, columns),
                   [&](T* work, int size) { orgqr(&rows, &columns, &reflections, out, &rows, factors, work, &size, &info); });
    }
  });
}

template <class T> using EighFn = std::conditional_t<is_complex_v<T>, Heevd, Syevd>;

// The eigenvalues of a into w, the vectors into a; LAPACK's verdict.
template <class T> int eigen_of_symmetric(EighFn<T>* evd, char job, char uplo, int n, T* a, real_t<T>* w) {
  using R = real_t<T>;
  int info = 0;
  if constexpr (!is_complex_v<T>) {
    if (uplo == 'L' && small_eigh(job == 'V', n, a, w, &info)) return info;
  }
  const auto call = [&](T* work, int size, [[maybe_unused]] R* reals, [[maybe_unused]] int real_size, int* integers, int int_size) {
    if constexpr (is_complex_v<T>) {
      evd(&job, &uplo, &n, a, &n, w, work, &size, reals, &real_size, integers, &int_size, &info);
    } else {
      evd(&job, &uplo, &n, a, &n, w, work, &size, integers, &int_size, &info);
    }
  };
  if (n <= kSmallOrder) {
    alignas(T) char space[kSmallWork * sizeof(T)];
    R reals[256];      // 1 + 5n + 2n^2 of them are wanted
    int integers[64];  // 3 + 5n
    call(reinterpret_cast<T*>(space), static_cast<int>(kSmallWork), reals, 256, integers, 64);
    return info;
  }
  T best[1];
  R best_real[1] = {0};
  int best_int[1] = {0};
  call(best, -1, best_real, -1, best_int, -1);
  std::vector<T> work(work_size(best[0]));
  std::vector<R> reals(work_size(best_real[0]));
  std::vector<int> integers(static_cast<size_t>(best_int[0]) + 1);
  call(work.data(), static_cast<int>(work.size()), reals.data(), static_cast<int>(reals.size()), integers.data(),
       static_cast<int>(integers.size()));
  return info;
}

void eigh(const Matrices& a, bool upper, bool vectors, void* values, int* failed) {
  const int64_t n = a.rows;
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    using R = real_t<T>;
    static EighFn<T>* const evd = routine<T, EighFn<T>>(is_complex_v<T> ? "heevd_" : "syevd_");
    R* w = static_cast<R*>(values);
    for (int64_t i = 0; i < a.count; ++i, w += n) {
      T* matrix = matrix_at<T>(a, i);
      if (!all_finite(matrix, n * n)) {  // LAPACK might not return
        std::fill(matrix, matrix + n * n, T(std::numeric_limits<R>::quiet_NaN()));
        std::fill(w, w + n, std::numeric_limits<R>::quiet_NaN());
      } else if (const int verdict = eigen_of_symmetric<T>(evd, vectors ? 'V' : 'N', upper ? 'U' : 'L', lapack_int(n), matrix, w)) {
        *failed = verdict;
        return;
      }
    }
  });
}

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

// One matrix, which is overwritten; LAPACK's verdict.
template <class R> int eigen(Geev* geev, int n, R* a, Complex<R>* values, Complex<R>* vectors) {
  const size_t order = static_cast<size_t>(n);
  const char no = 'N', job = vectors ? 'V' : 'N';
  std::vector<R> parts(2 * order + (vectors ? order * order : 1));
  R *const wr = parts.data(), *const wi = wr + order, *const columns = wi + order;
  int info = 0;
  with_work<R>(n, [&](R* work, int size) { geev(&no, &job, &n, a, &n, wr, wi, nullptr, &n, columns, &n, work, &size, &info); });
  for (size_t i = 0; i < order; ++i) values[i] = {wr[i], wi[i]};
  if (vectors) join_pairs(wi, columns, n, vectors);
  return info;
}

template <class R> int eigen(GeevComplex* geev, int n, Complex<R>* a, Complex<R>* values, Complex<R>* vectors) {
  const char no = 'N', job = vectors ? 'V' : 'N';
  std::vector<R> reals(static_cast<size_t>(2 * n));
  int info = 0;
  with_work<Complex<R>>(n, [&](Complex<R>* work, int size) {
    geev(&no, &job, &n, a, &n, values, nullptr, &n, vectors, &n, work, &size, reals.data(), &info);
  });
  return info;
}

void eig(const Matrices& a, void* values, void* vectors, int* failed) {
  const int64_t n = a.rows;
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = Complex<real_t<T>>;
    using Fn = std::conditional_t<is_complex_v<T>, GeevComplex, Geev>;
    static Fn* const geev = routine<T, Fn>("geev_");
    for (int64_t i = 0; i < a.count; ++i) {
      C* columns = vectors ? static_cast<C*>(vectors) + i * n * n : nullptr;
      if (const int verdict = eigen(geev, lapack_int(n), matrix_at<T>(a, i), static_cast<C*>(values) + i * n, columns)) {
        *failed = verdict;
        return;
      }
    }
  });
}

void svd(const Matrices& a, bool full, void* u, void* s, void* vh, int* failed) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n), u_columns = full ? m : k, v_rows = full ? n : k;
  const char job = !u ? 'N' : full ? 'A' : 'S';
  const int rows = lapack_int(m), columns = lapack_int(n), ldvt = lapack_int(u ? v_rows : 1);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    using R = real_t<T>;
    using Fn = std::conditional_t<is_complex_v<T>, GesddComplex, Gesdd>;
    static Fn* const gesdd = routine<T, Fn>("gesdd_");
    int few[8 * kSmallOrder];
    std::vector<int> many(k > kSmallOrder ? static_cast<size_t>(8 * k) : 0);
    int* const integers = many.empty() ? few : many.data();
    std::vector<R> reals;
    if (is_complex_v<T>) reals.resize(static_cast<size_t>(k * std::max(5 * k + 7, 2 * std::max(m, n) + 2 * k + 1)));
    for (int64_t i = 0; i < a.count; ++i) {
      T* left = u ? static_cast<T*>(u) + i * m * u_columns : nullptr;
      T* right = u ? static_cast<T*>(vh) + i * v_rows * n : nullptr;
      T* matrix = matrix_at<T>(a, i);
      R* values = static_cast<R*>(s) + i * k;
      int verdict = 0;
      bool done = false;
      if constexpr (!is_complex_v<T>) done = small_svd(rows, columns, full, matrix, left, values, right, &verdict);
      if (!done)
        with_work<T>(std::max(rows, columns), [&](T* work, int size) {
          if constexpr (is_complex_v<T>) {
            gesdd(&job, &rows, &columns, matrix, &rows, values, left, &rows, right, &ldvt, work, &size, reals.data(), integers, &verdict);
          } else {
            gesdd(&job, &rows, &columns, matrix, &rows, values, left, &rows, right, &ldvt, work, &size, integers, &verdict);
          }
        });
      if (verdict) {
        *failed = verdict;
        return;
      }
    }
  });
}

template <class T> void invert_rows(T* s, int64_t count, int64_t n, T relative, T absolute) {
  for (const T* const end = s + count * n; s != end; s += n) {
    const T part = s[0] * relative, tolerance = part < absolute ? absolute : part;
    for (int64_t i = 0; i < n; ++i) s[i] = s[i] > tolerance ? 1 / s[i] : 0;
  }
}

void invert(void* s, DType dtype, int64_t count, int64_t n, double relative, double absolute) {
  if (dtype == DType::Float64) return invert_rows(static_cast<double*>(s), count, n, relative, absolute);
  invert_rows(static_cast<float*>(s), count, n, static_cast<float>(relative), static_cast<float>(absolute));
}

void reflect(const Matrices& a, const void* tau, int64_t steps, bool adjoint, const Matrices& x) {
  reflect_kernels().run(a, tau, steps, adjoint, x);
}

}  // namespace

const LapackKernels lapack_kernels = {
    .missing = missing,
    .lu = lu,
    .lu_solve = lu_solve,
    .determinant = determinant,
    .log_determinant = log_determinant,
    .permutation = permutation,
    .cholesky = cholesky,
    .solve_triangular = solve_triangular,
    .ldl = ldl,
    .ldl_solve = ldl_solve,
    .qr = qr,
    .copy_r = copy_r,
    .make_q = make_q,
    .reflect = reflect,
    .eigh = eigh,
    .eig = eig,
    .svd = svd,
    .invert = invert,
};

}  // namespace retrograd::cpu
