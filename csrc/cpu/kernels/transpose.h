// Transposing rectangles of memory through registers. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

namespace retrograd::cpu {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// T is an unsigned integer that may alias (see copy.cpp) or the element type itself. Strides are in bytes.
template <class T, int kSide> struct Square {
  typedef T Vector __attribute__((vector_size(kSide * sizeof(T))));

  template <size_t... I> static Vector low(Vector a, Vector b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (I % 2 * kSide + I / 2)...);
  }
  template <size_t... I> static Vector high(Vector a, Vector b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (I % 2 * kSide + I / 2 + kSide / 2)...);
  }
  // d[i][j] = s[j][i]. log2(kSide) perfect shuffles of the rows transpose them.
  static inline __attribute__((always_inline)) void transpose(char* d, int64_t d_row, const char* s, int64_t s_row) {
    constexpr auto all = std::make_index_sequence<kSide>{};
    Vector v[kSide], w[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) std::memcpy(&v[i], s + i * s_row, sizeof(Vector));
#pragma GCC unroll 4
    for (int stage = 1; stage < kSide; stage *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kSide / 2; ++i) {
        w[2 * i] = low(v[i], v[i + kSide / 2], all);
        w[2 * i + 1] = high(v[i], v[i + kSide / 2], all);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kSide; ++i) v[i] = w[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) std::memcpy(d + i * d_row, &v[i], sizeof(Vector));
  }
};

// Squares of kSide while they fit, by blocks of a cache line to each side: where row strides are powers of two, all rows fall in the same
// few places of the cache, and a line that is not used up at once is fetched again.
template <class T, int kSide>
inline void transpose_squares(char* d, int64_t d_row, const char* s, int64_t s_row, int64_t rows, int64_t columns) {
  constexpr int64_t item = sizeof(T), line = 64 / item > kSide ? 64 / item : kSide;
  for (int64_t j0 = 0; j0 < columns; j0 += line) {
    const int64_t j_end = j0 + line < columns ? j0 + line : columns;
    for (int64_t i0 = 0; i0 < rows; i0 += line) {
      const int64_t i_end = i0 + line < rows ? i0 + line : rows;
      for (int64_t i = i0; i < i_end; i += kSide)
        for (int64_t j = j0; j < j_end; j += kSide)
          Square<T, kSide>::transpose(d + i * d_row + j * item, d_row, s + j * s_row + i * item, s_row);
    }
  }
}

// Squares of kSide, then smaller ones for what they leave over at the right and at the bottom.
template <class T, int kSide>
inline void transpose_with(char* d, int64_t d_row, const char* s, int64_t s_row, int64_t rows, int64_t columns) {
  constexpr int64_t item = sizeof(T);
  if constexpr (kSide == 1) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) std::memcpy(d + i * d_row + j * item, s + j * s_row + i * item, item);
  } else {
    const int64_t r = rows / kSide * kSide, c = columns / kSide * kSide;
    if (r && c) transpose_squares<T, kSide>(d, d_row, s, s_row, r, c);
    constexpr int kNext = kSide > 4 ? 4 : 1;
    if (c < columns && r) transpose_with<T, kNext>(d + c * item, d_row, s + c * s_row, s_row, r, columns - c);
    if (r < rows) transpose_with<T, kNext>(d + r * d_row, d_row, s + r * item, s_row, rows - r, columns);
  }
}

// d[i][j] = s[j][i] for i < rows, j < columns; rows of d are d_row bytes apart, rows of s are s_row bytes apart, elements touch.
template <class T> void transpose(char* d, int64_t d_row, const char* s, int64_t s_row, int64_t rows, int64_t columns) {
  constexpr int lanes = sizeof(T) > 8 ? 1 : kVectorBytes / static_cast<int>(sizeof(T));
  transpose_with < T, sizeof(T) == 1 ? 16 : lanes<16 ? lanes : 16>(d, d_row, s, s_row, rows, columns);
}

}  // namespace
}  // namespace retrograd::cpu
