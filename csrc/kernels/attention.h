// Attention, softmax(query @ key^T * scale + mask) @ value, in tiles of queries and keys, so that the weights of all pairs are never in memory.
//
// dtype is Float32 or Float64. Elements of a row touch and rows do not overlap; the steps from batch to batch, head to head and row to row may
// be anything beside that. The same bits come out for every number of threads.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

// [batch, heads, rows, width]
struct HeadRows {
  void* data;
  int64_t batch_step, head_step, row_step;
};
// [batch, heads, queries, keys], steps of 0 where it is broadcast. Bools say which pairs count; elements of the dtype are added to scores.
struct AttentionMask {
  const void* data;  // null: none
  bool is_bool;
  int64_t batch_step, head_step, row_step, column_step;
};
struct AttentionShape {
  int64_t batch, heads, key_heads;  // key_heads divides heads: neighbouring heads share keys and values
  int64_t queries, keys, width, value_width;
  double scale;
  bool causal;  // query i meets keys 0 to i
};

struct AttentionKernels {
  // logsumexp [batch, heads, queries] of the scores, contiguous. A query that meets no key gives zeros, and -inf.
  Kernel<void(DType dtype, const AttentionShape& shape, const HeadRows& query, const HeadRows& key, const HeadRows& value,
              const AttentionMask& mask, const HeadRows& out, void* logsumexp)>
      forward;
  // From what forward was given and gave, and the gradients of both; grad_logsumexp may be null. Of the results those are computed whose data
  // is not null.
  Kernel<void(DType dtype, const AttentionShape& shape, const HeadRows& grad, const void* grad_logsumexp, const HeadRows& query,
              const HeadRows& key, const HeadRows& value, const AttentionMask& mask, const HeadRows& out, const void* logsumexp,
              const HeadRows& grad_query, const HeadRows& grad_key, const HeadRows& grad_value)>
      backward;
};
RG_KERNEL_FAMILY(AttentionKernels, attention)

}  // namespace retrograd::kernels
