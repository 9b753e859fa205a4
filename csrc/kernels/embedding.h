// Bags of rows of a table: sums, means or maxima of the rows that indices name. Indices are int64, contiguous; a bag is the indices from its
// offset to the next one's. Floating dtypes; a table and its gradient have any strides, what is given as memory is contiguous.
#pragma once

#include "kernels/index.h"

namespace retrograd::kernels {

enum class Bag : uint8_t { Sum, Mean, Max };

struct EmbeddingKernels {
  // out: [bags, width]. weights: a factor for each index, or null. Indices that are padding_idx (-1: none) are left out. Beside it, for all modes:
  // bag_of: the bag of each index; sizes: how many indices of a bag count; and for Max, else null, highest: [bags, width], the row
  // each maximum comes from, 0 for empty bags, which are 0. offsets: one for each bag, and behind them the number of indices.
  // Bad ones are reported: an index in dim 0, an offset that is not where it may be in dim 1.
  Kernel<void(const Array& out, const Array& table, const Array& indices, const Array& offsets, const void* weights, Bag mode,
              int64_t padding_idx, int64_t* bag_of, int64_t* sizes, int64_t* highest, IndexError* error)>
      bags;
  // grad_table[indices[i]] += grad[bag_of[i]] * weights[i] / (mean: sizes[bag_of[i]]) / (by_count: how often the index occurs), in the order
  // of indices for every number of threads. grad_table is zeroed by the caller. Sum and Mean.
  Kernel<void(const Array& grad_table, const Array& grad, const Array& indices, const int64_t* bag_of, const int64_t* sizes,
              const void* weights, Bag mode, int64_t padding_idx, bool by_count, IndexError* error)>
      bags_backward;
  // out[i] = grad[bag_of[i]] . table[indices[i]], 0 for padding.
  Kernel<void(const Array& out, const Array& grad, const Array& table, const Array& indices, const int64_t* bag_of, int64_t padding_idx,
              IndexError* error)>
      weights_backward;
};
RG_KERNEL_FAMILY(EmbeddingKernels, embedding)

}  // namespace retrograd::kernels
