// LAPACK on tensors: batches of column-major matrices, routines looked up in OpenBLAS by name. float and double, real and
// complex.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/blas.h"
#include "ops/checks.h"

namespace retrograd::lapack {

template <class T> struct RealOf { using type = T; };
template <class R> struct RealOf<Complex<R>> { using type = R; };
template <class T> using real_t = typename RealOf<T>::type;

// A square or rectangular batch; throws in the words of the op `name` ("linalg.inv").
void check_matrix(const Tensor& t, const char* name, const char* argument = "A");
void check_square(const Tensor& t, const char* name, const char* argument = "A");
void check_dtype(const Tensor& t, const char* name);

// An uninitialised tensor of `sizes` whose matrices (the last two dims) lie column by column, batch after batch.
Tensor empty_columns(IntSpan sizes, DType dtype, Device device);
Tensor copy_columns(const Tensor& t);                                                    // a copy laid out like that
Tensor batch_tensor(const Tensor& t, DType dtype, std::initializer_list<int64_t> tail);  // t's batch dims, then `tail`
int64_t batch_count(const Tensor& t);                                                    // product of all but the last two dims

// Derivatives of eigenvalues and singular values need the vectors. Those of a batched tensor may be wanted outside its vmap.
bool is_differentiated(const Tensor& A);

bool all_finite(const Tensor& t);  // of empty_columns()
template <class T> bool all_finite(const T* x, int64_t n) {
  const auto* parts = reinterpret_cast<const real_t<T>*>(x);
  return std::all_of(parts, parts + n * static_cast<int64_t>(sizeof(T) / sizeof(real_t<T>)), [](auto v) { return std::isfinite(v); });
}

template <class T> T* matrix_at(const Tensor& t, int64_t i) { return t.data<T>() + i * t.size(-1) * t.size(-2); }  // of empty_columns()

[[noreturn]] void fail_missing(const std::string& routine);
[[noreturn]] void fail_to_converge(const char* name, std::string_view why);  // a LinAlgError

inline double magnitude(double x) { return std::fabs(x); }
template <class R> R magnitude(Complex<R> z) { return std::hypot(z.re, z.im); }

// The routine of T's precision: "getrf_" is sgetrf_, dgetrf_, cgetrf_ or zgetrf_. Some have another name for complex numbers.
template <class T, class Fn> Fn* routine(const char* real_name, const char* complex_name = nullptr) {
  const std::string name = is_complex_v<T> && complex_name ? complex_name : real_name;
  const std::string full = (is_complex_v<T> ? sizeof(T) == 8 ? "c" : "z" : sizeof(T) == 4 ? "s" : "d") + name;
  void* found = cpu::blas_symbol(full.c_str());
  if (!found) fail_missing(full);
  return reinterpret_cast<Fn*>(found);
}

// Calls f(T{}) with t's type of element, as one kernel: LAPACK is called from above the seam still.
template <class F> void visit(const Tensor& t, F&& f) {
  const Launch launch(t);
  switch (t.dtype()) {
    case DType::Float32: return f(float{});
    case DType::Float64: return f(double{});
    case DType::Complex64: return f(Complex<float>{});
    default: return f(Complex<double>{});
  }
}

// What a routine wants, as it says in the first element of its work space.
template <class T> size_t work_size(const T& asked) {
  real_t<T> count;
  std::memcpy(&count, &asked, sizeof count);  // the real part of a complex one
  return static_cast<size_t>(count) + 1;
}

// Asks a routine how much work space it wants: call(work, lwork) with lwork -1, then again with the space.
template <class T, class F> void with_work(F&& call) {
  T size = 0;
  call(&size, -1);
  std::vector<T> work(work_size(size));
  call(work.data(), static_cast<int>(work.size()));
}

}  // namespace retrograd::lapack
