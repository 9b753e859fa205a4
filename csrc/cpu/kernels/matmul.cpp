// Our own matrix product: C (row-major) is cut into tiles that fit the registers, kRows x (2 vectors); a tile walks down k, broadcasting
// elements of A and loading rows of B. A may have any strides since it is read one element at a time. B's columns must touch: where
// they do not, a panel of B is transposed or gathered into a buffer on the stack first. There is no other setup, so small products cost
// little more than their arithmetic. Every element of C is summed in the same order for any split among threads.
#include "cpu/matmul.h"
#include "cpu/isa.h"

#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "cpu/kernels/transpose.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kDepth = 256;         // rows of B per pass: a panel of them stays in the first-level cache
constexpr int64_t kGrain = 128 * 1024;  // multiply-adds worth a thread

int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// ---- Vectors of W elements, whole or their first n elements.

template <class T, int W> struct Vec { typedef T type __attribute__((vector_size(W * sizeof(T)))); };
template <class T, int W> using vec = typename Vec<T, W>::type;

template <class T, int W> inline vec<T, W> load(const T* p) {
  vec<T, W> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T, int W> inline void store(T* p, vec<T, W> v) { std::memcpy(p, &v, sizeof v); }

// Lanes past n come back as zero and are not read from memory.
template <class T, int W> inline vec<T, W> load_first(const T* p, int64_t n) {
  [[maybe_unused]] constexpr int bytes = W * sizeof(T);
#if defined(__AVX512VL__)
  const unsigned mask = (1u << n) - 1;
  if constexpr (bytes == 64 && sizeof(T) == 4) return (vec<T, W>)_mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), p);
  if constexpr (bytes == 64 && sizeof(T) == 8) return (vec<T, W>)_mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), p);
  if constexpr (bytes == 32 && sizeof(T) == 4) return (vec<T, W>)_mm256_maskz_loadu_epi32(static_cast<__mmask8>(mask), p);
  if constexpr (bytes == 32 && sizeof(T) == 8) return (vec<T, W>)_mm256_maskz_loadu_epi64(static_cast<__mmask8>(mask), p);
  if constexpr (bytes == 16 && sizeof(T) == 4) return (vec<T, W>)_mm_maskz_loadu_epi32(static_cast<__mmask8>(mask), p);
#elif defined(__AVX2__)
  if constexpr (bytes == 32 && sizeof(T) == 4) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return (vec<T, W>)_mm256_maskload_epi32(reinterpret_cast<const int*>(p),
                                            _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane));
  }
  if constexpr (bytes == 32 && sizeof(T) == 8) {
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return (vec<T, W>)_mm256_maskload_epi64(reinterpret_cast<const long long*>(p), _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), lane));
  }
  if constexpr (bytes == 16 && sizeof(T) == 4) {
    const __m128i lane = _mm_setr_epi32(0, 1, 2, 3);
    return (vec<T, W>)_mm_maskload_epi32(reinterpret_cast<const int*>(p), _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)), lane));
  }
#endif
  vec<T, W> v{};
  for (int i = 0; i < W; ++i)
    if (i < n) v[i] = p[i];
  return v;
}

template <class T, int W> inline void store_first(T* p, vec<T, W> v, int64_t n) {
#if defined(__AVX512VL__)
  constexpr int bytes = W * sizeof(T);
  const unsigned mask = (1u << n) - 1;
  if constexpr (bytes == 64 && sizeof(T) == 4) return _mm512_mask_storeu_epi32(p, static_cast<__mmask16>(mask), (__m512i)v);
  if constexpr (bytes == 64 && sizeof(T) == 8) return _mm512_mask_storeu_epi64(p, static_cast<__mmask8>(mask), (__m512i)v);
  if constexpr (bytes == 32 && sizeof(T) == 4) return _mm256_mask_storeu_epi32(p, static_cast<__mmask8>(mask), (__m256i)v);
  if constexpr (bytes == 32 && sizeof(T) == 8) return _mm256_mask_storeu_epi64(p, static_cast<__mmask8>(mask), (__m256i)v);
  if constexpr (bytes == 16 && sizeof(T) == 4) return _mm_mask_storeu_epi32(p, static_cast<__mmask8>(mask), (__m128i)v);
#endif
  for (int i = 0; i < W; ++i)
    if (i < n) p[i] = v[i];
}

// ---- Tiles.

// B as a tile reads it: columns touch.
template <class T> struct Panel {
  const T* b;
  int64_t rs;
  int64_t column;  // of C, of the panel's first
  int64_t width;
};

// kM rows from `row` on, kN vectors of W columns. In a partial tile the last vector has `last` columns, else W.
template <class T, int W, int kN, int kM, bool kPartial>
inline __attribute__((always_inline)) void tile(const GemmArgs<T>& g, const Panel<T>& panel, int64_t row) {
  using V = vec<T, W>;
  const int64_t last = kPartial ? panel.width - (kN - 1) * W : W;
  const int64_t a_rs = g.a_rs, a_cs = g.a_cs, b_rs = panel.rs;
  const T* a = g.a + row * a_rs;
  const T* b = panel.b;
  V sum[kM][kN] = {};
  for (int64_t p = g.k; p > 0; --p) {
    V bv[kN];
#pragma GCC unroll 8
    for (int j = 0; j < kN; ++j) bv[j] = kPartial && j == kN - 1 ? load_first<T, W>(b + j * W, last) : load<T, W>(b + j * W);
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i) {
      const T av = a[i * a_rs];
#pragma GCC unroll 8
      for (int j = 0; j < kN; ++j) sum[i][j] += av * bv[j];
    }
    a += a_cs;
    b += b_rs;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kN; ++j) {
      const bool cut = kPartial && j == kN - 1;
      const int64_t column = panel.column + j * W;
      V out = sum[i][j];
      if (g.alpha != T(1)) out *= g.alpha;
      if (g.beta != T(0)) {
        const T* d = g.d + (row + i) * g.d_rs + column;
        out += g.beta * (cut ? load_first<T, W>(d, last) : load<T, W>(d));
      }
      T* c = g.c + (row + i) * g.c_rs + column;
      if (cut) {
        store_first<T, W>(c, out, last);
      } else {
        store<T, W>(c, out);
      }
    }
  }
}

template <class T> constexpr bool kFloat = std::is_floating_point_v<T>;

#if defined(__AVX512F__)
constexpr int kRows = 8;
#else
constexpr int kRows = 4;  // 16 registers: 8 for sums
#endif

// All rows of one panel. Integers do with fewer variants.
template <class T, int W, int kN, bool kPartial> void rows(const GemmArgs<T>& g, const Panel<T>& panel, int64_t row, int64_t end) {
  if constexpr (kRows >= 8 && kFloat<T>)
    for (; row + 8 <= end; row += 8) tile<T, W, kN, 8, kPartial>(g, panel, row);
  for (; row + 4 <= end; row += 4) tile<T, W, kN, 4, kPartial>(g, panel, row);
  if constexpr (kFloat<T>)
    if (row + 2 <= end) tile<T, W, kN, 2, kPartial>(g, panel, row), row += 2;
  for (; row < end; ++row) tile<T, W, kN, 1, kPartial>(g, panel, row);
}

// Full vectors where the width allows, the narrowest that holds the rest otherwise.
template <class T> void panel_rows(const GemmArgs<T>& g, const Panel<T>& panel, int64_t row, int64_t end) {
  constexpr int W = kVectorBytes / sizeof(T);
  const int64_t width = panel.width;
  if (width == 2 * W) return rows<T, W, 2, false>(g, panel, row, end);
  if (width > W) return rows<T, W, 2, true>(g, panel, row, end);
  if (width == W) return rows<T, W, 1, false>(g, panel, row, end);
  if constexpr (kFloat<T> && W >= 16) {
    if (width == 8) return rows<T, 8, 1, false>(g, panel, row, end);
  }
  if constexpr (kFloat<T> && W >= 8) {
    if (width == 4) return rows<T, 4, 1, false>(g, panel, row, end);
    if (width < 4) return rows<T, 4, 1, true>(g, panel, row, end);
  }
  rows<T, W, 1, true>(g, panel, row, end);
}

// ---- The whole product.

#if defined(__AVX2__)
constexpr bool kPadPartial = false;
#else
constexpr bool kPadPartial = true;  // no masked loads: a buffer padded with zeros does instead
#endif

// Rows [p0, p0 + depth) of B's columns [panel.column, + width) into the buffer.
template <class T> void pack(Panel<T>* panel, T* buffer, const GemmArgs<T>& g, int64_t p0, int64_t depth) {
  constexpr int64_t kWidth = 2 * kVectorBytes / sizeof(T);
  const T* from = g.b + p0 * g.b_rs + panel->column * g.b_cs;
  const int64_t width = panel->width;
  if (g.b_rs == 1) {
    transpose<T>(reinterpret_cast<char*>(buffer), kWidth * sizeof(T), reinterpret_cast<const char*>(from),
                 g.b_cs * static_cast<int64_t>(sizeof(T)), depth, width);
  } else if (g.b_cs == 1 && width == kWidth) {
    for (int64_t p = 0; p < depth; ++p) std::memcpy(buffer + p * kWidth, from + p * g.b_rs, kWidth * sizeof(T));
  } else {
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t j = 0; j < width; ++j) buffer[p * kWidth + j] = from[p * g.b_rs + j * g.b_cs];
  }
  if (kPadPartial)
    for (int64_t p = 0; p < depth; ++p)
      for (int64_t j = width; j < kWidth; ++j) buffer[p * kWidth + j] = T(0);
  panel->b = buffer;
  panel->rs = kWidth;
}

template <class T> void block(const GemmArgs<T>& whole, int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
  constexpr int64_t W = kVectorBytes / sizeof(T), kWidth = 2 * W;
  alignas(64) T buffer[kDepth * kWidth];
  GemmArgs<T> g = whole;
  // Rows far apart share few places of the cache, so where many tiles read a panel it is copied too.
  const bool packed = whole.b_cs != 1 || (row_end - row >= 64 && whole.k >= 64 && whole.b_rs * static_cast<int64_t>(sizeof(T)) >= 1024);
  for (int64_t j = column; j < column_end; j += kWidth) {
    const int64_t width = smaller(kWidth, column_end - j);
    g.d = whole.d;
    g.d_rs = whole.d_rs;
    g.beta = whole.beta;
    for (int64_t p = 0; p < whole.k || p == 0; p += kDepth) {
      g.k = smaller(kDepth, whole.k - p);
      g.a = whole.a + p * whole.a_cs;
      Panel<T> panel{whole.b + p * whole.b_rs + j, whole.b_rs, j, width};
      if (packed || (kPadPartial && width % W)) pack(&panel, buffer, whole, p, g.k);
      panel_rows<T>(g, panel, row, row_end);
      g.d = whole.c;
      g.d_rs = whole.c_rs;
      g.beta = T(1);
    }
  }
}

// A few columns of a small B that do not touch, as of a layer's weight. Apart, for the frame of block() takes longer to enter than this.
constexpr int64_t kFewRows = 32;
template <class T> [[gnu::noinline]] void small_block(const GemmArgs<T>& g) {
  alignas(64) T buffer[kFewRows * 2 * kVectorBytes / sizeof(T)];
  Panel<T> panel{nullptr, 0, 0, g.n};
  pack(&panel, buffer, g, 0, g.k);
  panel_rows<T>(g, panel, 0, g.m);
}

// The sums of the lanes of four vectors, each in the same order.
template <class T, int W> inline void sum_lanes(T* out, const vec<T, W> (&v)[4]) {
  if constexpr (W > 4) {
    vec<T, W / 2> half[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      vec<T, W / 2> parts[2];
      std::memcpy(parts, &v[i], sizeof parts);
      half[i] = parts[0] + parts[1];
    }
    sum_lanes<T, W / 2>(out, half);
  } else if constexpr (W == 4) {
    const auto a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5) + __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const auto b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5) + __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    store<T, 4>(out, __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7));
  } else {
    for (int i = 0; i < 4; ++i) out[i] = v[i][0] + v[i][1];
  }
}

// y = A x, one dot product per row, four rows at a time. A's and x's elements touch.
template <class T, int kM> inline void row_dots(const GemmArgs<T>& g, const T* x, int64_t row) {
  constexpr int W = kVectorBytes / sizeof(T);
  using V = vec<T, W>;
  const T* a = g.a + row * g.a_rs;
  V sum[4] = {};
  int64_t p = 0;
  for (; p + W <= g.k; p += W) {
    const V xv = load<T, W>(x + p);
#pragma GCC unroll 4
    for (int i = 0; i < kM; ++i) sum[i] += load<T, W>(a + i * g.a_rs + p) * xv;
  }
  if (p < g.k) {
    const V xv = load_first<T, W>(x + p, g.k - p);
#pragma GCC unroll 4
    for (int i = 0; i < kM; ++i) sum[i] += load_first<T, W>(a + i * g.a_rs + p, g.k - p) * xv;
  }
  T totals[4];
  sum_lanes<T, W>(totals, sum);
#pragma GCC unroll 4
  for (int i = 0; i < kM; ++i) {
    T total = totals[i] * g.alpha;
    if (g.beta != T(0)) total += g.beta * g.d[(row + i) * g.d_rs];
    g.c[(row + i) * g.c_rs] = total;
  }
}

template <class T> void gemv(const GemmArgs<T>& g) {
  constexpr int64_t kPiece = 2048;
  const T* x = g.b;
  T buffer[kPiece];
  if (g.b_rs != 1 && g.k > 1) {
    if (g.k > kPiece) {  // piece by piece, adding to what the pieces before gave
      GemmArgs<T> part = g;
      for (int64_t p = 0; p < g.k; p += kPiece) {
        part.k = smaller(kPiece, g.k - p);
        part.a = g.a + p;
        part.b = g.b + p * g.b_rs;
        gemv(part);
        part.d = g.c;
        part.d_rs = g.c_rs;
        part.beta = T(1);
      }
      return;
    }
    for (int64_t p = 0; p < g.k; ++p) buffer[p] = g.b[p * g.b_rs];
    x = buffer;
  }
  parallel_for(0, g.m, larger(8, kGrain / larger(1, g.k)), [&](int64_t row, int64_t end) {
    for (; row + 4 <= end; row += 4) row_dots<T, 4>(g, x, row);
    for (; row < end; ++row) row_dots<T, 1>(g, x, row);
  });
}

// One row of C: as many columns at a time as there are registers, so that rows of B are read in long runs.
template <class T> void row_times_matrix(const GemmArgs<T>& g) {
  constexpr int64_t W = kVectorBytes / sizeof(T), kWide = 8 * W;
  parallel_for(0, (g.n + kWide - 1) / kWide, larger(1, kGrain / (kWide * larger(1, g.k))), [&](int64_t begin, int64_t end) {
    int64_t j = begin * kWide;
    const int64_t j_end = smaller(end * kWide, g.n);
    for (; j + kWide <= j_end; j += kWide) tile<T, W, 8, 1, false>(g, {g.b + j, g.b_rs, j, kWide}, 0);
    if (j < j_end) block(g, 0, 1, j, j_end);
  });
}

template <class T> void gemm(const GemmArgs<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  constexpr int64_t kWidth = 2 * kVectorBytes / sizeof(T);
  if (g.n == 1 && (g.a_cs == 1 || g.k == 1)) return gemv(g);
  if (g.m == 1 && g.b_cs == 1 && g.n > kWidth) return row_times_matrix(g);
  if (g.n <= kWidth && g.b_cs == 1 && g.k <= kDepth && g.m <= 64 && !(kPadPartial && g.n % (kWidth / 2)))
    return panel_rows<T>(g, {g.b, g.b_rs, 0, g.n}, 0, g.m);
  if (g.n <= kWidth && g.b_cs != 1 && g.k <= kFewRows && g.m <= 64) return small_block(g);
  if (g.m * g.n * g.k <= 2 * kGrain) return block(g, 0, g.m, 0, g.n);
  // Threads share panels, or rows where there are more of them.
  const int64_t panels = (g.n + kWidth - 1) / kWidth, bands = (g.m + 31) / 32;
  if (panels >= bands) {
    parallel_for(0, panels, larger(1, kGrain / (g.m * kWidth * larger(1, g.k))),
                 [&](int64_t begin, int64_t end) { block(g, 0, g.m, begin * kWidth, smaller(end * kWidth, g.n)); });
  } else {
    parallel_for(0, bands, larger(1, kGrain / (32 * g.n * larger(1, g.k))),
                 [&](int64_t begin, int64_t end) { block(g, begin * 32, smaller(end * 32, g.m), 0, g.n); });
  }
}

// ---- Dot products: pieces of fixed length, so that the sum does not depend on the number of threads.

// 16-bit integers would be promoted to int, whose overflow is undefined.
template <class T> using dot_t = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, uint32_t, compute_t<T>>;

template <class T> dot_t<T> dot_piece(const T* x, int64_t xs, const T* y, int64_t ys, int64_t n) {
  using A = dot_t<T>;
  constexpr int kLanes = 64;
  A lanes[kLanes] = {};
  int64_t i = 0;
  if (xs == 1 && ys == 1) {
    for (; i + kLanes <= n; i += kLanes)
      for (int l = 0; l < kLanes; ++l) lanes[l] += static_cast<A>(x[i + l]) * static_cast<A>(y[i + l]);
  } else {
    for (; i + 4 <= n; i += 4)
      for (int l = 0; l < 4; ++l) lanes[l] += static_cast<A>(x[(i + l) * xs]) * static_cast<A>(y[(i + l) * ys]);
  }
  for (; i < n; ++i) lanes[i % 4] += static_cast<A>(x[i * xs]) * static_cast<A>(y[i * ys]);
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  return lanes[0];
}

template <class T> T dot_of(const T* x, int64_t xs, const T* y, int64_t ys, int64_t n) {
  constexpr int64_t kPieces = 256, kLeast = 16384;
  if (n <= kLeast) return static_cast<T>(dot_piece(x, xs, y, ys, n));
  const int64_t length = larger(kLeast, (n + kPieces - 1) / kPieces), pieces = (n + length - 1) / length;
  dot_t<T> partial[kPieces] = {};
  parallel_for(0, pieces, larger(1, kGrain / length), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      partial[p] = dot_piece(x + p * length * xs, xs, y + p * length * ys, ys, smaller(length, n - p * length));
  });
  for (int64_t p = 1; p < pieces; ++p) partial[0] += partial[p];
  return static_cast<T>(partial[0]);
}

void dot_any(DType dtype, int64_t n, const void* x, int64_t xs, const void* y, int64_t ys, void* out) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    *static_cast<T*>(out) = dot_of(static_cast<const T*>(x), xs, static_cast<const T*>(y), ys, n);
  };
  switch (dtype) {  // integers wrap, so signed ones compute as unsigned
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8: return as(uint8_t{});
    case DType::Int16: return as(uint16_t{});
    case DType::Int32: return as(uint32_t{});
    case DType::Int64: return as(uint64_t{});
    default: return visit_floating(dtype, as);
  }
}

template <class R, int W, int... I> inline vec<R, W> swap_pairs(vec<R, W> v, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(v, v, (I ^ 1)...);
}

// Complex numbers are pairs of real ones: x * y of the pairs gives re * re and im * im side by side, x times y with its pairs turned re * im
// and im * re.
template <class R> void dot_parts_piece(const R* x, int64_t xs, const R* y, int64_t ys, int64_t n, R out[4]) {
  constexpr int W = kVectorBytes / sizeof(R), kVectors = 2;
  using V = vec<R, W>;
  V straight[kVectors] = {}, crossed[kVectors] = {};
  int64_t i = 0;
  if (xs == 1 && ys == 1)
    for (; i + kVectors * W / 2 <= n; i += kVectors * W / 2)
#pragma GCC unroll 2
      for (int j = 0; j < kVectors; ++j) {
        const V a = load<R, W>(x + 2 * i + j * W), b = load<R, W>(y + 2 * i + j * W);
        straight[j] += a * b;
        crossed[j] += a * swap_pairs<R, W>(b, std::make_integer_sequence<int, W>());
      }
  R lanes[2][W];
  store<R, W>(lanes[0], straight[0] + straight[1]);
  store<R, W>(lanes[1], crossed[0] + crossed[1]);
  for (; i < n; ++i)
    for (int l = 0; l < 2; ++l) {
      const R a = x[2 * i * xs + l];
      lanes[0][(2 * i + l) % W] += a * y[2 * i * ys + l];
      lanes[1][(2 * i + l) % W] += a * y[2 * i * ys + (l ^ 1)];
    }
  for (int half = W / 2; half >= 2; half /= 2)
    for (int l = 0; l < half; ++l) lanes[0][l] += lanes[0][l + half], lanes[1][l] += lanes[1][l + half];
  out[0] = lanes[0][0], out[1] = lanes[0][1], out[2] = lanes[1][0], out[3] = lanes[1][1];
}

template <class R> void dot_parts_of(const R* x, int64_t xs, const R* y, int64_t ys, int64_t n, R out[4]) {
  constexpr int64_t kPieces = 256, kLeast = 8192;
  if (n <= kLeast) return dot_parts_piece(x, xs, y, ys, n, out);
  const int64_t length = larger(kLeast, (n + kPieces - 1) / kPieces), pieces = (n + length - 1) / length;
  R partial[kPieces][4];
  parallel_for(0, pieces, larger(1, kGrain / 4 / length), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      dot_parts_piece(x + 2 * p * length * xs, xs, y + 2 * p * length * ys, ys, smaller(length, n - p * length), partial[p]);
  });
  for (int j = 0; j < 4; ++j) {
    out[j] = partial[0][j];
    for (int64_t p = 1; p < pieces; ++p) out[j] += partial[p][j];
  }
}

void dot_parts(DType real, int64_t n, const void* x, int64_t xs, const void* y, int64_t ys, void* out) {
  const auto as = [&](auto zero) {
    using R = decltype(zero);
    dot_parts_of(static_cast<const R*>(x), xs, static_cast<const R*>(y), ys, n, static_cast<R*>(out));
  };
  real == DType::Float32 ? as(float{}) : as(double{});
}

}  // namespace

// With AVX-512 our tiles keep up with OpenBLAS for as long as A stays in the second-level cache, and longer where its rows are read along memory;
// with 16 registers OpenBLAS is soon better.
RG_EXPORT_KERNELS(GemmKernels, gemm_kernels) = {.blas_from = kRows == 8 ? int64_t{512} * 512 * 512 : 96 * 96 * 96,
                                                .blas_from_in_rows = kRows == 8 ? int64_t{1024} * 1024 * 1024 : 96 * 96 * 96,
                                                .f32 = gemm<float>,
                                                .f64 = gemm<double>,
                                                .i32 = gemm<uint32_t>,
                                                .i64 = gemm<uint64_t>,
                                                .dot = dot_any,
                                                .dot_parts = dot_parts};

}  // namespace retrograd::cpu
