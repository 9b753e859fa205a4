// Linear systems and the factors they are solved with: LU, Cholesky, LDL, triangles.
#include <cstdlib>
#include <limits>
#include <numeric>

#include "cpu/lapack.h"

namespace retrograd::cpu {
namespace {

using Getrf = void(const int* m, const int* n, void* a, const int* lda, int* pivots, int* info);
using Getrs = void(const char* trans, const int* n, const int* nrhs, const void* a, const int* lda, const int* pivots, void* b,
                   const int* ldb, int* info);
using Potrf = void(const char* uplo, const int* n, void* a, const int* lda, int* info);
using Trsm = void(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n, const void* alpha,
                  const void* a, const int* lda, void* b, const int* ldb);
using Sytrf = void(const char* uplo, const int* n, void* a, const int* lda, int* pivots, void* work, const int* lwork, int* info);
using Sytrs = void(const char* uplo, const int* n, const int* nrhs, const void* a, const int* lda, const int* pivots, void* b,
                   const int* ldb, int* info);

constexpr char kLower = 'L';

// The triangle above the diagonal, or below it, becomes 0.
template <class T> void clear_triangle(T* a, int64_t n, bool above) {
  for (int64_t column = 0; column < n; ++column) {
    T* first = a + column * n;
    std::fill(above ? first : first + column + 1, above ? first + column : first + n, T(0));
  }
}

inline double size_of(double x) { return std::fabs(x); }
template <class R> R size_of(Complex<R> z) { return std::hypot(z.re, z.im); }

}  // namespace

void lu(const Matrices& a, int* pivots, int* info) {
  const int64_t steps = std::min(a.rows, a.columns);
  const int rows = lapack_int(a.rows), columns = lapack_int(a.columns);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Getrf* const getrf = routine<T, Getrf>("getrf_");
    int unread;
    for (int64_t i = 0; i < a.count; ++i) getrf(&rows, &columns, matrix_at<T>(a, i), &rows, pivots + i * steps, info ? info + i : &unread);
  });
}

void lu_solve(const Matrices& lu, const int* pivots, bool transposed, const Matrices& b) {
  const int order = lapack_int(lu.rows), columns = lapack_int(b.columns);
  const char trans = transposed ? 'T' : 'N';
  visit_lapack(lu.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Getrs* const getrs = routine<T, Getrs>("getrs_");
    int info;
    for (int64_t i = 0; i < b.count; ++i)
      getrs(&trans, &order, &columns, matrix_at<T>(lu, i), &order, pivots + i * lu.rows, matrix_at<T>(b, i), &order, &info);
  });
}

void determinant(const Matrices& lu, const int* pivots, void* out) {
  visit_lapack(lu.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < lu.count; ++i) {
      const T* u = matrix_at<T>(lu, i);
      T product = 1;
      for (int64_t d = 0; d < lu.rows; ++d) {
        if (pivots[i * lu.rows + d] != d + 1) product = -product;
        product *= u[d * (lu.rows + 1)];
      }
      static_cast<T*>(out)[i] = product;
    }
  });
}

void log_determinant(const Matrices& lu, const int* pivots, void* sign, void* log_size) {
  visit_lapack(lu.dtype, [&](auto zero) {
    using T = decltype(zero);
    using R = real_t<T>;
    for (int64_t i = 0; i < lu.count; ++i) {
      const T* diagonal = matrix_at<T>(lu, i);
      T s = 1;
      R l = 0;
      for (int64_t d = 0; d < lu.rows; ++d) {
        const T u = diagonal[d * (lu.rows + 1)];
        if (pivots[i * lu.rows + d] != d + 1) s = -s;
        const R size = static_cast<R>(size_of(u));
        if constexpr (is_complex_v<T>) {
          s *= size == 0 ? T(0) : T(u.re / size, u.im / size);
        } else {
          s *= static_cast<T>((T(0) < u) - (u < T(0)));
        }
        l += std::log(size);
      }
      static_cast<T*>(sign)[i] = s;
      static_cast<R*>(log_size)[i] = l;
    }
  });
}

void permutation(int64_t* order, const int64_t* pivots, int64_t count, int64_t steps, int64_t rows, bool* outside) {
  for (int64_t i = 0; i < count; ++i, order += rows, pivots += steps) {
    std::iota(order, order + rows, 0);
    for (int64_t j = 0; j < steps; ++j) {
      if (pivots[j] < 1 || pivots[j] > rows) {
        *outside = true;
        return;
      }
      std::swap(order[j], order[pivots[j] - 1]);
    }
  }
}

void cholesky(const Matrices& a, bool upper, int* info) {
  const int64_t n = a.rows;
  const int order = lapack_int(n);
  const char uplo = upper ? 'U' : 'L';
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Potrf* const potrf = routine<T, Potrf>("potrf_");
    for (int64_t i = 0; i < a.count; ++i) {
      T* factor = matrix_at<T>(a, i);
      int& verdict = info[i];
      potrf(&uplo, &order, factor, &order, &verdict);
      for (int64_t d = 0; d < n && !verdict; ++d) {  // not every LAPACK takes a NaN for "not positive"
        const T pivot = factor[d * (n + 1)], rest = pivot - pivot;
        if (!(pivot == pivot)) verdict = lapack_int(d + 1);
        if (pivot == pivot && !(rest == rest) && d + 1 < n) verdict = lapack_int(d + 2);  // 0 / inf is no number to go on with
      }
      clear_triangle(factor, n, !upper);
    }
  });
}

void solve_triangular(const Matrices& a, bool upper, bool left, bool unit, const Matrices& b) {
  const char side = left ? 'L' : 'R', uplo = upper ? 'U' : 'L', trans = 'N', diag = unit ? 'U' : 'N';
  const int order = lapack_int(a.rows), rows = lapack_int(b.rows), columns = lapack_int(b.columns);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    static Trsm* const trsm = routine<T, Trsm>("trsm_");
    const T one = 1;
    for (int64_t i = 0; i < b.count; ++i)
      trsm(&side, &uplo, &trans, &diag, &rows, &columns, &one, matrix_at<T>(a, i), &order, matrix_at<T>(b, i), &rows);
  });
}

namespace {

template <class T, class Fn> Fn* symmetric_routine(bool hermitian, const char* rest) {
  return routine<T, Fn>(is_complex_v<T> && hermitian ? std::string("he") + rest : std::string("sy") + rest);
}

}  // namespace

void ldl(const Matrices& a, bool hermitian, int* pivots, int* info) {
  const int64_t n = a.rows;
  const int order = lapack_int(n);
  visit_lapack(a.dtype, [&](auto zero) {
    using T = decltype(zero);
    Sytrf* const factor = symmetric_routine<T, Sytrf>(hermitian, "trf_");
    for (int64_t i = 0; i < a.count; ++i) {
      T* matrix = matrix_at<T>(a, i);
      int* rows = pivots + i * n;
      if (!all_finite(matrix, n * n)) {  // LAPACK's search for a pivot may leave the matrix
        std::fill(matrix, matrix + n * n, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
        std::iota(rows, rows + n, 1);
        info[i] = 0;
        continue;
      }
      with_work<T>(order, [&](T* work, int size) { factor(&kLower, &order, matrix, &order, rows, work, &size, info + i); });
      clear_triangle(matrix, n, true);
    }
  });
}

namespace {

BadPivot first_bad(const int* pivots, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    if (pivots[k] == 0) return {BadPivot::Zero, pivots[k], k};
    if (std::abs(static_cast<int64_t>(pivots[k])) > n) return {BadPivot::Outside, pivots[k], k};
  }
  for (int64_t k = 0; k < n; ++k) {
    if (pivots[k] > 0) continue;
    if (k + 1 == n || pivots[k + 1] > 0) return {BadPivot::Alone, pivots[k], k};
    ++k;
  }
  return {};
}

}  // namespace

void ldl_solve(const Matrices& ld, const int* pivots, bool hermitian, const Matrices& b, BadPivot* bad) {
  for (int64_t i = 0; i < b.count; ++i)
    if (const BadPivot found = first_bad(pivots + i * ld.rows, ld.rows); found.fault != BadPivot::None) {
      *bad = found;
      return;
    }
  const int order = lapack_int(ld.rows), columns = lapack_int(b.columns);
  visit_lapack(ld.dtype, [&](auto zero) {
    using T = decltype(zero);
    Sytrs* const solve = symmetric_routine<T, Sytrs>(hermitian, "trs_");
    int info;
    for (int64_t i = 0; i < b.count; ++i)
      solve(&kLower, &order, &columns, matrix_at<T>(ld, i), &order, pivots + i * ld.rows, matrix_at<T>(b, i), &order, &info);
  });
}

}  // namespace retrograd::cpu
