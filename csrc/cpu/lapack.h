// LAPACK's routines, looked up in OpenBLAS by name, and what calling them takes. kernels/lapack.h says what the kernels do.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "cpu/blas.h"
#include "kernels/lapack.h"

namespace retrograd::cpu {

using kernels::BadPivot;
using kernels::Matrices;

template <class T> struct RealOf { using type = T; };
template <class R> struct RealOf<Complex<R>> { using type = R; };
template <class T> using real_t = typename RealOf<T>::type;

// The routine of T's precision: "getrf_" is sgetrf_, dgetrf_, cgetrf_ or zgetrf_.
template <class T, class Fn> Fn* routine(const std::string& name) {
  const char* precision = is_complex_v<T> ? sizeof(T) == 8 ? "c" : "z" : sizeof(T) == 4 ? "s" : "d";
  return reinterpret_cast<Fn*>(blas_symbol((precision + name).c_str()));
}

// Calls f(T{}) with the type of the elements.
template <class F> void visit_lapack(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f(float{});
    case DType::Float64: return f(double{});
    case DType::Complex64: return f(Complex<float>{});
    default: return f(Complex<double>{});
  }
}

template <class T> T* matrix_at(const Matrices& m, int64_t i) { return static_cast<T*>(m.data) + i * m.rows * m.columns; }
inline int lapack_int(int64_t n) { return static_cast<int>(n); }

template <class T> bool all_finite(const T* x, int64_t n) {
  const auto* parts = reinterpret_cast<const real_t<T>*>(x);
  return std::all_of(parts, parts + n * static_cast<int64_t>(sizeof(T) / sizeof(real_t<T>)), [](auto v) { return std::isfinite(v); });
}

// What a routine wants, as it says in the first element of its work space.
template <class T> size_t work_size(const T& asked) {
  real_t<T> count;
  std::memcpy(&count, &asked, sizeof count);  // the real part of a complex one
  return static_cast<size_t>(count) + 1;
}

// Of matrices up to this order no routine wants more than kSmallWork elements (130 for each row or column, as OpenBLAS says), so it is not asked, which takes
// as long as a tenth of the work; what is there is more than every LAPACK requires.
constexpr int kSmallOrder = 8;
constexpr size_t kSmallWork = 2048;

// Calls call(work, lwork) with the space that a routine wants for matrices of an order, the larger of rows and columns; it says so in a call with lwork -1.
template <class T, class F> void with_work(int order, F&& call) {
  if (order <= kSmallOrder) {
    alignas(T) char space[kSmallWork * sizeof(T)];
    return call(reinterpret_cast<T*>(space), static_cast<int>(kSmallWork));
  }
  T size = 0;
  call(&size, -1);
  std::vector<T> work(work_size(size));
  call(work.data(), static_cast<int>(work.size()));
}

// lapack_small.cpp: one small real matrix each; false, and nothing touched, where it is not for them.
template <class T> bool small_qr(int rows, int columns, T* a, T* tau);
template <class T> bool small_q(int rows, int columns, int steps, T* q, const T* tau);
template <class T> bool small_eigh(bool vectors, int n, T* a, T* w, int* verdict);                           // of the lower triangle
template <class T> bool small_svd(int rows, int columns, bool full, T* a, T* u, T* s, T* vh, int* verdict);  // u and vh may be null

// lapack_systems.cpp
void lu(const Matrices& a, int* pivots, int* info);
void lu_solve(const Matrices& lu, const int* pivots, bool transposed, const Matrices& b);
void determinant(const Matrices& lu, const int* pivots, void* out);
void log_determinant(const Matrices& lu, const int* pivots, void* sign, void* log_size);
void permutation(int64_t* order, const int64_t* pivots, int64_t count, int64_t steps, int64_t rows, bool* outside);
void cholesky(const Matrices& a, bool upper, int* info);
void solve_triangular(const Matrices& a, bool upper, bool left, bool unit, const Matrices& b);
void ldl(const Matrices& a, bool hermitian, int* pivots, int* info);
void ldl_solve(const Matrices& ld, const int* pivots, bool hermitian, const Matrices& b, BadPivot* bad);

}  // namespace retrograd::cpu
