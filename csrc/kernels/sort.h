// Sorting, selection, and the kernels that live on sorted data. NaN is greater than everything, as in PyTorch. All dtypes, any strides.
// These may take scratch memory of a few times the length of one slice from the heap (the unique family: of the whole input).
// ndim 0 counts as one dim of size 1 (dim ignored). Indices are int64 everywhere.
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

enum class SegmentFault : uint8_t { None, Past, Total, Negative };  // the worst last

struct SortKernels {
  // values and indices have in's sizes. Always stable, ascending and descending (equal elements keep their order in both).
  // values may be exactly `in`. values.data == nullptr gives argsort alone.
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim, bool descending)> sort;

  // values and indices have in's sizes but k along dim, 0 <= k <= size. `sorted` orders them best first; without it the order is that
  // of the input. Among equals the earlier index is taken.
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim, int64_t k, bool largest, bool sorted)> topk;

  // The k-th smallest, k from 1; values and indices have in's sizes but 1 along dim. Among equals the index is that of a stable sort.
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim, int64_t k)> kthvalue;

  // The lower median along dim, outputs as kthvalue. NaN wins unless ignore_nan (nanmedian), where it is left out
  // (all NaN gives NaN). An empty slice gives NaN / 0 and index 0.
  Kernel<void(const Array& values, const Array& indices, const Array& in, int dim, bool ignore_nan)> median;

  // The mode of each row of a sorted [rows, n] array, contiguous: the longest run of equals, and of the smallest such the last place.
  // `places` (int64, of the same sizes) says where each element was; values and indices have `rows` elements.
  Kernel<void(void* values, int64_t* indices, DType dtype, const void* sorted, const int64_t* places, int64_t rows, int64_t n)> mode;

  // out (int64 or int32) has the sizes of `values`. `sequence` is sorted along its last dim and has the same dtype as `values`; either it is 1-d
  // and serves all values, or all its dims but the last equal those of values. right: first position > value, else first >= value.
  // `sorter` (int64, sizes of sequence) or nullptr: a permutation that sorts the sequence. bucketize(x, edges) is this with a 1-d sequence.
  Kernel<void(const Array& out, const Array& sequence, const Array& values, const Array* sorter, bool right)> searchsorted;

  // out[i]: whether in[i] equals one of n values of its dtype. All contiguous.
  Kernel<void(bool* out, DType dtype, const void* in, int64_t numel, const void* values, int64_t n)> among;

  // Unique elements of the flattened (row-major) input, sorted unless `consecutive`, which only merges neighbours. Writes up to in.numel()
  // elements of in's dtype to `values` (contiguous), and, where not nullptr, the index into values of each element to inverse[numel] and the
  // number of each to counts. *found is how many there are. Each NaN is its own element.
  Kernel<void(int64_t* found, void* values, int64_t* inverse, int64_t* counts, const Array& in, bool consecutive)> unique;

  // The same for slices along `dim`, compared lexicographically: first[i] is the index along dim of the first slice in group i (take them with index_select),
  // inverse and counts as above, each of in.sizes[dim] elements at most; inverse and counts may be nullptr. *found is the number of groups.
  Kernel<void(int64_t* found, int64_t* first, int64_t* inverse, int64_t* counts, const Array& in, int dim, bool consecutive)> unique_dim;

  // Histogram of in over out.sizes[0] equal bins of [low, high]; elements outside and NaN are left out; high falls into the last bin.
  // out: 1-d of the dtype of in (floating) as torch.histc. The caller resolves low == high (see torch.histc) and checks finiteness.
  Kernel<void(const Array& out, const Array& in, double low, double high)> histc;

  // How many points, or what weight of them, fall into each bin. points: [n, d] as edges; edges: 1-d, those of each of the d dimensions one after the
  // other, out.sizes[k] + 1 of them ascending; a bin holds its left edge, the last its right one too. weights: null or [n], of the dtype of points.
  // All contiguous; out is [d sizes], of the dtype of points.
  Kernel<void(const Array& out, const Array& points, const Array& edges, const Array* weights)> histogram;

  // Raises *bins to the largest element + 1; -1 where there is a negative one. in: 1-d int64.
  Kernel<void(int64_t* bins, const Array& in)> bins;

  // out[x] += 1, or += weights[i] when given (1-d, same length as in). in: 1-d int64, every value in [0, out.sizes[0]), checked by the caller. out: 1-d,
  // int64, or float32/float64 with weights (sums run in double and are then rounded). out is overwritten.
  Kernel<void(const Array& out, const Array& in, const Array* weights)> bincount;

  // Which of s segments each of `size` places is in. given: [rows, s] lengths, or with `offsets` [rows, s + 1] places where segments begin and
  // end. owner: [rows, size], the number of the segment, s for none, plus row * (s + 1); counts: [rows, s + 1] lengths, and 1 at the end. All int64 and
  // contiguous. With `whole` the lengths of a row must add up to `size`. *fault is left alone where all is well.
  Kernel<void(const Array& owner, const Array& counts, const Array& given, bool offsets, bool whole, SegmentFault* fault)> segments;
};
RG_KERNEL_FAMILY(SortKernels, sort)

}  // namespace retrograd::kernels
