#include "cpu/attention.h"
#include "cpu/isa.h"

#include "cpu/kernels/reduce_ops.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

// Masked scores are -inf. Gives how many columns at the start of the row are not masked by causality.
template <class T> int64_t mask_row(const ScoreTile<T>& tile, int64_t row) {
  T* scores = tile.scores + row * tile.step;
  const int64_t met = tile.allowed + row, columns = met < 0 ? 0 : met < tile.columns ? met : tile.columns;
  if (tile.mask && tile.mask_is_bool) {
    const auto* mask = static_cast<const uint8_t*>(tile.mask) + row * tile.mask_row_step;
    if (tile.mask_column_step == 1) {
      for (int64_t j = 0; j < columns; ++j) scores[j] = mask[j] ? scores[j] : -kInf<T>;
    } else {
      for (int64_t j = 0; j < columns; ++j) scores[j] = mask[j * tile.mask_column_step] ? scores[j] : -kInf<T>;
    }
  } else if (tile.mask) {
    const T* mask = static_cast<const T*>(tile.mask) + row * tile.mask_row_step;
    if (tile.mask_column_step == 1) {
      for (int64_t j = 0; j < columns; ++j) scores[j] += mask[j];
    } else {
      for (int64_t j = 0; j < columns; ++j) scores[j] += mask[j * tile.mask_column_step];
    }
  }
  return columns;
}

template <class T> void weigh(const ScoreTile<T>& tile, T* highest, T* sum, T* out, int64_t width) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    T* scores = tile.scores + row * tile.step;
    const int64_t columns = mask_row(tile, row);
    const T before = highest[row], here = columns ? fold<MaxFold<T>>(scores, columns) : -kInf<T>;
    const T top = MaxFold<T>::step(before, here);
    const T shift = top == -kInf<T> ? T(0) : top;  // nothing met so far: -inf less 0 stays what it is
    for (int64_t j = 0; j < columns; ++j) scores[j] = exp_neg_(scores[j] - shift);
    for (int64_t j = columns; j < tile.columns; ++j) scores[j] = 0;
    const T scale = exp_neg_(before - shift);
    highest[row] = top;
    sum[row] = sum[row] * scale + (columns ? fold<SumFold<T>>(scores, columns) : T(0));
    if (scale != T(1)) {
      T* gathered = out + row * width;
      for (int64_t j = 0; j < width; ++j) gathered[j] *= scale;
    }
  }
}

template <class T> void finish(int64_t rows, int64_t width, const T* gathered, const T* highest, const T* sum, T* out, int64_t out_step,
                               T* logsumexp) {
  for (int64_t row = 0; row < rows; ++row, gathered += width, out += out_step) {
    const T scale = sum[row] == 0 ? T(0) : 1 / sum[row];
    for (int64_t j = 0; j < width; ++j) out[j] = gathered[j] * scale;
    logsumexp[row] = highest[row] + log_(sum[row]);
  }
}

template <class T> void row_products(int64_t rows, int64_t width, const T* a, int64_t a_step, const T* b, int64_t b_step, T* out) {
  constexpr int lanes = 16;
  for (int64_t row = 0; row < rows; ++row, a += a_step, b += b_step) {
    T sums[lanes] = {}, total = 0;
    int64_t j = 0;
    for (; j + lanes <= width; j += lanes)
      for (int l = 0; l < lanes; ++l) sums[l] += a[j + l] * b[j + l];
    for (; j < width; ++j) total += a[j] * b[j];
    for (int l = 0; l < lanes; ++l) total += sums[l];
    out[row] = total;
  }
}

template <class T> void unweigh(const ScoreTile<T>& tile, const T* logsumexp, T* grads, const T* shift, T scale) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    T* __restrict weights = tile.scores + row * tile.step;
    const int64_t columns = mask_row(tile, row);
    const T all = logsumexp[row] == -kInf<T> ? kInf<T> : logsumexp[row];  // a query that met nothing
    for (int64_t j = 0; j < columns; ++j) weights[j] = exp_neg_(weights[j] - all);
    for (int64_t j = columns; j < tile.columns; ++j) weights[j] = 0;
    if (!grads) continue;
    T* __restrict grad = grads + row * tile.step;
    const T less = shift[row];
    for (int64_t j = 0; j < tile.columns; ++j) grad[j] = weights[j] * ((grad[j] - less) * scale);
  }
}

template <class T> constexpr AttentionTiles<T> kTiles = {weigh<T>, finish<T>, row_products<T>, unweigh<T>};

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(AttentionTileKernels, attention_tiles) = {RG_LEVEL_NS::kTiles<float>, RG_LEVEL_NS::kTiles<double>};

}  // namespace retrograd::cpu
