// Products with matrices of which only some elements are there: element k is at (rows[k], columns[k]), in any order, and an element that is
// there several times counts as the sum. All arrays are contiguous; indices are int64 and checked before anything is written, as
// kernels/index.h says: the first bad one is reported, `dim` 0 for a row and 1 for a column. Elements are float32, float64, complex or int64.
#pragma once

#include "kernels/array.h"
#include "kernels/family.h"
#include "kernels/index.h"

namespace retrograd::kernels {

struct SparseKernels {
  // out[rows[k]] += values[k] * mat[columns[k]], for k from 0 on: out [m, n] is written whole, mat is [l, n].
  Kernel<void(const Array& out, const Array& rows, const Array& columns, const Array& values, const Array& mat, IndexError* error)> mm;
  // out[k] = sum over j of a[rows[k]][j] * b[columns[k]][j].
  Kernel<void(const Array& out, const Array& rows, const Array& columns, const Array& a, const Array& b, IndexError* error)> dots;
  // Puts equal keys side by side: order is the stable permutation that sorts keys, which are at least 0, and group[order[i]] the number of
  // different keys before keys[order[i]]. `count` is how many different ones there are, -1 where one is negative.
  // spare is memory for 2 * n numbers.
  Kernel<void(int64_t* order, int64_t* group, int64_t* spare, int64_t* count, const int64_t* keys, int64_t n)> group;
};
RG_KERNEL_FAMILY(SparseKernels, sparse)

}  // namespace retrograd::kernels
