// LAPACK on tensors: batches of column-major matrices, routines looked up in OpenBLAS by name. float and double only.
#pragma once

#include <string>
#include <vector>

#include "cpu/blas.h"
#include "ops/checks.h"

namespace retrograd::lapack {

// A square or rectangular batch; throws in the words of the op `name` ("linalg.inv").
void check_matrix(const Tensor& t, const char* name, const char* argument = "A");
void check_square(const Tensor& t, const char* name, const char* argument = "A");
void check_dtype(const Tensor& t, const char* name);

// An uninitialised tensor of `sizes` whose matrices (the last two dims) lie column by column, batch after batch.
Tensor empty_columns(IntSpan sizes, DType dtype, Device device);
Tensor copy_columns(const Tensor& t);                                                    // a copy laid out like that
Tensor batch_tensor(const Tensor& t, DType dtype, std::initializer_list<int64_t> tail);  // t's batch dims, then `tail`
int64_t batch_count(const Tensor& t);                                                    // product of all but the last two dims

bool all_finite(const Tensor& t);  // of empty_columns()

template <class T> T* matrix_at(const Tensor& t, int64_t i) { return t.data<T>() + i * t.size(-1) * t.size(-2); }  // of empty_columns()

[[noreturn]] void fail_missing(const std::string& routine);

// The routine of T's precision: "getrf_" is sgetrf_ or dgetrf_.
template <class T, class Fn> Fn* routine(const char* name) {
  const std::string full = (sizeof(T) == 4 ? "s" : "d") + std::string(name);
  void* found = cpu::blas_symbol(full.c_str());
  if (!found) fail_missing(full);
  return reinterpret_cast<Fn*>(found);
}

// Calls f(T{}) for float or double.
template <class F> void visit(const Tensor& t, F&& f) {
  if (t.dtype() == DType::Float32) {
    f(float{});
  } else {
    f(double{});
  }
}

// Asks a routine how much work space it wants: call(work, lwork) with lwork -1, then again with the space.
template <class T, class F> void with_work(F&& call) {
  T size = 0;
  call(&size, -1);
  std::vector<T> work(static_cast<size_t>(size) + 1);
  call(work.data(), static_cast<int>(work.size()));
}

}  // namespace retrograd::lapack
