// Reading and writing at places that other arrays name.
//
// Index arrays are int64. Every function that follows indices checks all of them before it writes anything and returns the first bad one
// (in row-major order of the index array) instead of writing; `ok` says that there was none. Where PyTorch lets negative indices
// count from the end so do we; each function says.
//
// Written arrays have distinct elements and do not overlap the others. Where several indices name the same element, assignments leave the
// last in row-major order of the index and sums add in that order, for every number of threads.
// dims are >= 0; a 0-d array counts as 1-d of one element (dim 0). `value` points at one element of the written array's dtype.
#pragma once

#include "cpu/array.h"
#include "cpu/isa.h"
#include "cpu/iterate.h"

namespace retrograd::cpu {

struct [[nodiscard]] IndexError {
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
  IndexError (*gather)(const Array& out, const Array& in, int dim, const Array& index);

  // dst[index[i][j]][j] = src[i][j] for dim 0. index may be smaller than src and dst (dst: but along dim). Negative: bad.
  IndexError (*scatter)(const Array& dst, int dim, const Array& index, const Array& src);
  IndexError (*scatter_value)(const Array& dst, int dim, const Array& index, const void* value);
  // As scatter, combining with what is there. Without include_self, elements that an index names start from the reduction's identity.
  // Mean divides by the count, rounding down for integers. Amax and amin let nan win. scatter_add is Sum with include_self.
  IndexError (*scatter_reduce)(const Array& dst, int dim, const Array& index, const Array& src, Reduce op, bool include_self);

  // idx is 1-d of length n. Sizes along dim: n for out and src, any for in and dst; the other dims agree. index_fill wraps negative
  // indices; for the others they are bad. embedding(weight, idx) is index_select on dim 0 with idx flattened.
  IndexError (*index_select)(const Array& out, const Array& in, int dim, const Array& idx);
  IndexError (*index_copy)(const Array& dst, int dim, const Array& idx, const Array& src);
  IndexError (*index_fill)(const Array& dst, int dim, const Array& idx, const void* value);
  IndexError (*index_add)(const Array& dst, int dim, const Array& idx, const Array& src, double alpha);
  // dst as for scatter_reduce, with an index per slice.
  IndexError (*index_reduce)(const Array& dst, int dim, const Array& idx, const Array& src, Reduce op, bool include_self);
  // grad_weight[idx[i]] += grad[i] for grad [n, e], grad_weight [v, e] (zeroed by the caller), skipping idx[i] == padding_idx (-1: none).
  // scale_by_count divides each grad[i] by the number of times idx[i] occurs.
  IndexError (*embedding_backward)(const Array& grad_weight, const Array& idx, const Array& grad, int64_t padding_idx, bool scale_by_count);

  // out[i] = in.flatten()[index[i]], and the reverse. Same sizes for out / src and index; in and dst any layout. Negative indices wrap.
  IndexError (*take)(const Array& out, const Array& in, const Array& index);
  IndexError (*put)(const Array& dst, const Array& index, const Array& src, bool accumulate);

  // out has plan.sizes. values too (broadcast by the caller, stride 0 allowed). Negative indices wrap.
  IndexError (*index)(const Array& out, const Array& in, const Indexing& plan);
  IndexError (*index_put)(const Array& dst, const Indexing& plan, const Array& values, bool accumulate);

  // Masks are Bool and have the sizes of the other array (stride 0 allowed). Order is row-major.
  void (*masked_fill)(const Array& dst, const Array& mask, const void* value);
  void (*masked_select)(const Array& out, const Array& in, const Array& mask);    // out: 1-d, count_nonzero(mask) elements
  void (*masked_scatter)(const Array& dst, const Array& mask, const Array& src);  // src: contiguous, >= count_nonzero(mask) elements

  int64_t (*count_nonzero)(const Array& in);           // any dtype; nan counts
  void (*nonzero)(const Array& out, const Array& in);  // out: int64 [count_nonzero(in), in.ndim], any strides

  // out and in are [..., rows, columns], same sizes, may be the same array. Keeps column - row <= diagonal (tril), >= (triu), else zero.
  void (*tril)(const Array& out, const Array& in, int64_t diagonal);
  void (*triu)(const Array& out, const Array& in, int64_t diagonal);

  // out[index[i]] of the last dim is 1, the rest 0: out is [..., classes], index [...]. Any dtype. Negative: bad.
  IndexError (*one_hot)(const Array& out, const Array& index);

  // out[j] = i, repeats[i] times each: what to index_select with. repeats are >= 0 and out holds their sum. Both contiguous.
  void (*repeat_index)(int64_t* out, const int64_t* repeats, int64_t n);
};
RG_DECLARE_KERNELS(IndexKernels, indexing)

// Negative log likelihood. in is [n, c, d] floating, target int64 [n, d], weight contiguous [c] of in's dtype or null.
// ignore_index may be any value; other targets outside [0, c) are reported (dim 1).
//   None: out is [n, d], out = -weight[t] * in[t], 0 where ignored; total_weight is not written.
//   Sum, Mean: out is one element; *total_weight (of in's dtype) = sum of weights of what was not ignored; Mean divides by it (0 / 0: nan).
// The backward writes all of grad_in (zero off target). grad_out is [n, d] for None, else one element (strides not read).
enum class Reduction : uint8_t { None, Mean, Sum };
struct LossKernels {
  IndexError (*nll_loss)(const Array& out, void* total_weight, const Array& in, const Array& target, const void* weight,
                         int64_t ignore_index, Reduction reduction);
  IndexError (*nll_loss_backward)(const Array& grad_in, const Array& grad_out, const void* total_weight, const Array& target,
                                  const void* weight, int64_t ignore_index, Reduction reduction);
};
RG_DECLARE_KERNELS(LossKernels, loss)

}  // namespace retrograd::cpu
