// What happens to the scores of a tile of attention, compiled for each level of processor: see attention.cpp, which does the products.
#pragma once

#include "cpu/isa.h"
#include "kernels/attention.h"

namespace retrograd::cpu {

// Scores of `rows` queries and `columns` keys, `step` from row to row.
template <class T> struct ScoreTile {
  T* scores;
  int64_t rows, columns, step;
  const void* mask;  // of its first element; null: none
  bool mask_is_bool;
  int64_t mask_row_step, mask_column_step;
  int64_t allowed;  // row r meets the first `allowed` + r columns: causal
};
template <class T> struct AttentionTiles {
  // Scores become weights relative to the highest score so far of their row. `highest` and `sum` are kept from tile to tile, and what a row of
  // `out`, `width` elements, has gathered so far is brought to the new scale.
  void (*weigh)(const ScoreTile<T>& tile, T* highest, T* sum, T* out, int64_t width);
  // out = gathered / sum, and the logarithms of the sums.
  void (*finish)(int64_t rows, int64_t width, const T* gathered, const T* highest, const T* sum, T* out, int64_t out_step, T* logsumexp);
  // The products of rows of a and b.
  void (*row_products)(int64_t rows, int64_t width, const T* a, int64_t a_step, const T* b, int64_t b_step, T* out);
  // Scores become weights. Gradients of weights, where there are any, become those of scores: weight * (gradient - shift) * scale.
  void (*unweigh)(const ScoreTile<T>& tile, const T* logsumexp, T* grads, const T* shift, T scale);
};
struct AttentionTileKernels {
  AttentionTiles<float> f32;
  AttentionTiles<double> f64;
};
RG_DECLARE_KERNELS(AttentionTileKernels, attention_tiles)

}  // namespace retrograd::cpu
