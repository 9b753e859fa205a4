// Factors, systems, eigenvalues and singular values of batches of matrices, as LAPACK computes them.
//
// The matrices of a batch lie one after the other, each column by column without gaps, and none is empty. dtype is float32, float64 or complex
// of either; what is real of complex matrices too (singular values, say) has the real dtype of that precision. Matrices that are decomposed are
// overwritten. `info` takes a verdict per matrix, 0 or what LAPACK says is wrong with it; `failed` that of the first matrix for which the algorithm
// does not converge, where the batch ends, and is left alone otherwise.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct Matrices {
  void* data;
  DType dtype;
  int64_t count, rows, columns;
};

struct BadPivot {
  enum Fault : uint8_t { None, Zero, Outside, Alone } fault = None;  // Alone: negative ones come in pairs
  int64_t value = 0, place = 0;
};

struct LapackKernels {
  // Why there is no LAPACK to call, or null; asked before anything else. Not given by a device that always has it.
  const char* (*missing)() = nullptr;

  // P L U = A in place of A; min(rows, columns) pivots for each, the rows exchanged, from 1. info may be null.
  Kernel<void(const Matrices& a, int* pivots, int* info)> lu;
  Kernel<void(const Matrices& lu, const int* pivots, bool transposed, const Matrices& b)> lu_solve;  // A^-1 b or A^-T b in place of b
  Kernel<void(const Matrices& lu, const int* pivots, void* out)> determinant;
  // Its sign, of complex numbers the direction, and the logarithm of its size.
  Kernel<void(const Matrices& lu, const int* pivots, void* sign, void* log_size)> log_determinant;
  // order[j] is the row that `pivots` exchanges (from 1, `steps` for each of `count` matrices) brought to place j of `rows`.
  // *outside tells of one that is no row.
  Kernel<void(int64_t* order, const int64_t* pivots, int64_t count, int64_t steps, int64_t rows, bool* outside)> permutation;

  // The factor of a Hermitian matrix of which that triangle is read; the other becomes 0.
  Kernel<void(const Matrices& a, bool upper, int* info)> cholesky;
  // A X = b, or X A = b, in place of b; of A only that triangle is read, with `unit` without its diagonal.
  Kernel<void(const Matrices& a, bool upper, bool left, bool unit, const Matrices& b)> solve_triangular;
  // L D L^T, or L D L^H, in place of A, of which the lower triangle is read; the upper one becomes 0.
  Kernel<void(const Matrices& a, bool hermitian, int* pivots, int* info)> ldl;
  // Pivots are as ldl gives them. If others are among them nothing is solved, and *bad tells of the first.
  Kernel<void(const Matrices& ld, const int* pivots, bool hermitian, const Matrices& b, BadPivot* bad)> ldl_solve;

  // R and, below it, the min(rows, columns) reflections that make Q, in place of A; their factors in tau.
  Kernel<void(const Matrices& a, void* tau)> qr;
  Kernel<void(const Matrices& a, const Matrices& r)>
      copy_r;  // of what qr left: its first rows, as many as r has, and zeros below the diagonal
  Kernel<void(const Matrices& a, const void* tau, const Matrices& q)> make_q;  // of what qr left; q has as many columns as are wanted

  // Q x, or Q^H x, in place of x, for the Q of the first `steps` reflections of what qr left in a and tau, which has `steps` factors for each matrix.
  Kernel<void(const Matrices& a, const void* tau, int64_t steps, bool adjoint, const Matrices& x)> reflect;

  // Ascending eigenvalues of Hermitian matrices of which one triangle is read; on request the vectors, in place of A.
  Kernel<void(const Matrices& a, bool upper, bool vectors, void* values, int* failed)> eigh;
  // Eigenvalues in no order, and vectors unless null: complex, also of real matrices, which must be finite.
  Kernel<void(const Matrices& a, void* values, void* vectors, int* failed)> eig;
  // Descending singular values of finite matrices. u and vh are null or, with `full`, square.
  Kernel<void(const Matrices& a, bool full, void* u, void* s, void* vh, int* failed)> svd;
  // Rows of n descending singular values: those above `absolute` and above `relative` times the first become their inverses, the others 0.
  Kernel<void(void* s, DType dtype, int64_t count, int64_t n, double relative, double absolute)> invert;
};
RG_KERNEL_FAMILY(LapackKernels, lapack)

}  // namespace retrograd::kernels
