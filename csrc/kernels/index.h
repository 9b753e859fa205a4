// Reading and writing at places that other arrays name.
//
// Index arrays are int64. Every function that follows indices checks all of them before it writes anything. If there is a bad one it writes
// nothing but *error, with the first (in row-major order of the index array). `error` is memory of the device, and holds an error with
// `ok` set before: a device may leave one there and report it when something is read next. Where PyTorch lets negative indices
// count from the end so do we; each function says.
//
// Written arrays have distinct elements and do not overlap the others. Where several indices name the same element, assignments leave the
// last in row-major order of the index and sums add in that order, for every number of threads.
// dims are >= 0; a 0-d array counts as 1-d of one element (dim 0). `host_value` points at one element of the written array's dtype, in the memory of the process.
#pragma once

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct IndexError {
  bool ok = true;
  int dim = 0;        // the dim of the indexed array that `value` does not fit
  int64_t value = 0;  // as found, not wrapped
  int64_t size = 0;   // of that dim
};

enum class Reduce : uint8_t { Sum, Prod, Mean, Amax, Amin };

// self[..., i0, ..., i1, ...]: index arrays i0, i1, .. of one common (broadcast) shape stand for the dims `dim[0]` < `dim[1]` < .. of self;
// the dims that have none are taken whole. The result has the shape sizes[ndim]: the index shape, at the place of
// the first index array if they are adjacent and in front if they are not, and the whole dims around it.
// plan_index() fills it; the arrays it was given must outlive it.
struct Indexing {
  int ndim;                          // of the result
  int64_t sizes[kMaxDims];           // of the result
  int64_t self_strides[kMaxDims];    // self's, over the result's dims; 0 in the index dims
  int at, index_ndim;                // the index dims of the result are [at, at + index_ndim)
  int count;                         // index arrays
  int dim[kMaxDims];                 // the dim of self each stands for
  const int64_t* index[kMaxDims];    // their data
  const int64_t* strides[kMaxDims];  // theirs, index_ndim each
  int64_t size[kMaxDims];            // of self along dim[i]
  int64_t stride[kMaxDims];          // of self along dim[i]
};

// indices[d], d < count <= self.ndim, is null where dim d is taken whole. All others have the same sizes (strides may be 0).
// Fails (false) only when the result would have more than kMaxDims dims.
[[nodiscard]] bool plan_index(Indexing* plan, const Array& self, int count, const Array* const* indices);

struct IndexKernels {
  // out[i][j] = in[index[i][j]][j] for dim 0. out and index have the same sizes; in's may be larger but along dim. Negative: bad.
  Kernel<void(const Array& out, const Array& in, int dim, const Array& index, IndexError* error)> gather;

  // dst[index[i][j]][j] = src[i][j] for dim 0. index may be smaller than src and dst (dst: but along dim). Negative: bad.
  Kernel<void(const Array& dst, int dim, const Array& index, const Array& src, IndexError* error)> scatter;
  Kernel<void(const Array& dst, int dim, const Array& index, const void* host_value, IndexError* error)> scatter_value;
  // As scatter, combining with what is there. Without include_self, elements that an index names start from the reduction's identity.
  // Mean divides by the count, rounding down for integers. Amax and amin let nan win. scatter_add is Sum with include_self.
  Kernel<void(const Array& dst, int dim, const Array& index, const Array& src, Reduce op, bool include_self, IndexError* error)>
      scatter_reduce;

  // idx is 1-d of length n. Sizes along dim: n for out and src, any for in and dst; the other dims agree. index_fill wraps negative
  // indices; for the others they are bad. embedding(weight, idx) is index_select on dim 0 with idx flattened.
  Kernel<void(const Array& out, const Array& in, int dim, const Array& idx, IndexError* error)> index_select;
  Kernel<void(const Array& dst, int dim, const Array& idx, const Array& src, IndexError* error)> index_copy;
  Kernel<void(const Array& dst, int dim, const Array& idx, const void* host_value, IndexError* error)> index_fill;
  Kernel<void(const Array& dst, int dim, const Array& idx, const Array& src, double alpha, IndexError* error)> index_add;
  // dst as for scatter_reduce, with an index per slice.
  Kernel<void(const Array& dst, int dim, const Array& idx, const Array& src, Reduce op, bool include_self, IndexError* error)> index_reduce;
  // grad_weight[idx[i]] += grad[i] for grad [n, e], grad_weight [v, e] (zeroed by the caller), skipping idx[i] == padding_idx (-1: none).
  // scale_by_count divides each grad[i] by the number of times idx[i] occurs.
  Kernel<void(const Array& grad_weight, const Array& idx, const Array& grad, int64_t padding_idx, bool scale_by_count, IndexError* error)>
      embedding_backward;

  // out[i] = in.flatten()[index[i]], and the reverse. Same sizes for out / src and index; in and dst any layout. Negative indices wrap.
  Kernel<void(const Array& out, const Array& in, const Array& index, IndexError* error)> take;
  Kernel<void(const Array& dst, const Array& index, const Array& src, bool accumulate, IndexError* error)> put;

  // out has plan.sizes. values too (broadcast by the caller, stride 0 allowed). Negative indices wrap.
  Kernel<void(const Array& out, const Array& in, const Indexing& plan, IndexError* error)> index;
  Kernel<void(const Array& dst, const Indexing& plan, const Array& values, bool accumulate, IndexError* error)> index_put;

  // Masks are Bool and have the sizes of the other array (stride 0 allowed). Order is row-major.
  Kernel<void(const Array& dst, const Array& mask, const void* host_value)> masked_fill;
  Kernel<void(const Array& out, const Array& in, const Array& mask)> masked_select;    // out: 1-d, count_nonzero(mask) elements
  Kernel<void(const Array& dst, const Array& mask, const Array& src)> masked_scatter;  // src: contiguous, >= count_nonzero(mask) elements

  Kernel<void(int64_t* count, const Array& in)> count_nonzero;  // any dtype; nan counts
  Kernel<void(const Array& out, const Array& in)> nonzero;      // out: int64 [count_nonzero(in), in.ndim], any strides

  // out and in are [..., rows, columns], same sizes, may be the same array. Keeps column - row <= diagonal (tril), >= (triu), else zero.
  Kernel<void(const Array& out, const Array& in, int64_t diagonal)> tril;
  Kernel<void(const Array& out, const Array& in, int64_t diagonal)> triu;

  // out[index[i]] of the last dim is 1, the rest 0: out is [..., classes], index [...]. Any dtype. Negative: bad.
  Kernel<void(const Array& out, const Array& index, IndexError* error)> one_hot;

  // numbers[i] /= counts[i / parts] where that is more than 1. n numbers of a floating dtype, contiguous.
  Kernel<void(void* numbers, const void* counts, DType dtype, int64_t n, int64_t parts)> share_out;

  // The sum of the repeats, or -1 where one of them is negative. Contiguous.
  Kernel<void(int64_t* total, const int64_t* repeats, int64_t n)> repeat_total;
  // out[j] = i, repeats[i] times each: what to index_select with. repeats are >= 0 and out holds their sum. Both contiguous.
  Kernel<void(int64_t* out, const int64_t* repeats, int64_t n)> repeat_index;
};
RG_KERNEL_FAMILY(IndexKernels, indexing)

}  // namespace retrograd::kernels
