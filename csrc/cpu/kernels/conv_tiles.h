// Products of small matrices in registers, and the columns that they read. Local to each file that includes it (see isa.h).
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include "cpu/kernels/conv_plan.h"
#include "cpu/kernels/transpose.h"

namespace retrograd::cpu {
namespace {

using namespace RG_LEVEL_NS;

template <class T, int W> struct Vec { typedef T type __attribute__((vector_size(W * sizeof(T)))); };
template <class T> inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T> using Vector = typename Vec<T, kLanes<T>>::type;

template <class T> inline Vector<T> load(const T* p) {
  Vector<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T> inline void store(T* p, Vector<T> v) { std::memcpy(p, &v, sizeof v); }

// Every other element of two vectors, from kFrom on.
template <class T, int kFrom> inline Vector<T> every_other(Vector<T> a, Vector<T> b) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (2 * I + kFrom)...);
  }(std::make_index_sequence<kLanes<T>>{});
}

// d[l] = s[l * step]
template <class T> inline void copy_apart(T* d, const T* s, int64_t n, int64_t step) {
  int64_t l = 0;
#if defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4)
    for (; step == 2 && l < n; l += kLanes<T>) {
      const int64_t some = smaller(kLanes<T>, n - l);
      const uint32_t read = static_cast<uint32_t>((uint64_t{1} << (2 * some - 1)) - 1);
      const __m512i a = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(read), s + 2 * l);
      const __m512i b = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(read >> 16), s + 2 * l + kLanes<T>);
      const __m512i both = (__m512i)every_other<T, 0>((Vector<T>)a, (Vector<T>)b);
      _mm512_mask_storeu_epi32(d + l, static_cast<__mmask16>((1u << some) - 1), both);
    }
#endif
  for (; l < n; ++l) d[l] = s[l * step];
}

// d[l * step] = s[l]; what lies between stays as it is.
template <class T> inline void store_apart(T* d, const T* s, int64_t n, int64_t step) {
  int64_t l = 0;
#if defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4)
    for (; step == 2 && l < n; l += 16) {
      const uint32_t some = n - l >= 16 ? 0xffffu : (1u << (n - l)) - 1;
      const __m512i v = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(some), s + l);
      const __m512i low = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
      const uint32_t where = _pdep_u32(some, 0x55555555u);
      _mm512_mask_storeu_epi32(d + 2 * l, static_cast<__mmask16>(where), _mm512_permutexvar_epi32(low, v));
      if (where >> 16)
        _mm512_mask_storeu_epi32(d + 2 * l + 16, static_cast<__mmask16>(where >> 16),
                                 _mm512_permutexvar_epi32(_mm512_add_epi32(low, _mm512_set1_epi32(8)), v));
    }
#endif
  for (; l < n; ++l) d[l * step] = s[l];
}

// Copies n < kLanes elements.
template <class T> inline void copy_few(T* d, const T* s, int64_t n) {
#if defined(__AVX512VL__)
  const unsigned mask = (1u << n) - 1;
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(d, static_cast<__mmask16>(mask), _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), s));
  } else {
    _mm512_mask_storeu_epi64(d, static_cast<__mmask8>(mask), _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), s));
  }
#else
  for (int64_t l = 0; l < n; ++l) d[l] = s[l];
#endif
}

// A tile has up to kTall rows and kWide vectors: as many sums as leave registers for what is multiplied.
#if defined(__AVX512F__)
inline constexpr int kTall = 8, kWide = 2;
#else
inline constexpr int kTall = 4, kWide = 2;
#endif
template <class T> inline constexpr int kPanel = kWide * kLanes<T>;

// So many products are summed on their own, and the sums of these: that rounds less than one long sum.
inline constexpr int kLongRun = 64;

// The rows of the last tile: the rest, to a power of two.
inline int64_t tail_rows(int64_t rows) {
  int64_t n = 1;
  while (n < rows) n *= 2;
  return n;
}

// c[i][j] = start + sum over p of a[p][i] * b[p][j], where start is what c held, or the bias, or 0. kRun: how many products are summed on their own.
template <class T, int kM, int kN, int kRun>
inline __attribute__((always_inline)) void tile(int64_t depth, const T* a, const T* b, T* c, int64_t ldc, bool first, const T* bias) {
  using V = Vector<T>;
  int64_t left = depth;
  do {
    const bool fresh = kRun && (left < depth || !first);
    V sum[kM][kN];
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) sum[i][j] = fresh ? V{} : first ? V{} + (bias ? bias[i] : T(0)) : load<T>(c + i * ldc + j * kLanes<T>);
    for (int64_t p = kRun ? smaller(left, kRun) : left; p > 0; --p) {
      V bv[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) bv[j] = load<T>(b + j * kLanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) sum[i][j] += a[i] * bv[j];
      a += kM;
      b += kPanel<T>;
    }
#pragma GCC unroll 8
    for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) {
        T* const at = c + i * ldc + j * kLanes<T>;
        store<T>(at, fresh ? load<T>(at) + sum[i][j] : sum[i][j]);
      }
    left -= kRun;
  } while (kRun && left > 0);
}

// All rows of a panel of columns. `a` is packed: tiles of kTall rows, [depth][rows of the tile] each, `a_tile` elements apart. What is past the
// rows in the last tile goes to a buffer. kN: how many vectors of the panel are computed.
template <class T, int kN = kWide, int kRun> void panel_times(int64_t rows, int64_t depth, const T* a, int64_t a_tile, const T* b, T* c,
                                                              int64_t ldc, bool first, const T* bias) {
  int64_t i = 0;
  for (; i + kTall <= rows; i += kTall, a += a_tile)
    tile<T, kTall, kN, kRun>(depth, a, b, c + i * ldc, ldc, first, bias ? bias + i : nullptr);
  if (i == rows) return;
  const int64_t rest = rows - i;
  T buffer[kTall * kPanel<T>], start[kTall] = {};
  T* at = c + i * ldc;
  int64_t ld = ldc;
  if (rest != tail_rows(rest)) {
    at = buffer;
    ld = kPanel<T>;
    for (int64_t r = 0; r < rest && r < kTall; ++r) {
      if (!first) std::memcpy(buffer + r * ld, c + (i + r) * ldc, sizeof(T) * kPanel<T>);
      if (bias) start[r] = bias[i + r];
    }
    for (int64_t r = rest; !first && r < kTall; ++r) std::memset(buffer + r * ld, 0, sizeof(T) * kPanel<T>);
  } else {
    for (int64_t r = 0; bias && r < rest; ++r) start[r] = bias[i + r];
  }
  switch (tail_rows(rest)) {
    case 1: tile<T, 1, kN, kRun>(depth, a, b, at, ld, first, start); break;
    case 2: tile<T, 2, kN, kRun>(depth, a, b, at, ld, first, start); break;
    case 4: tile<T, 4, kN, kRun>(depth, a, b, at, ld, first, start); break;
    default: tile<T, kTall, kN, kRun>(depth, a, b, at, ld, first, start);
  }
  if (at == buffer)
    for (int64_t r = 0; r < rest; ++r) std::memcpy(c + (i + r) * ldc, buffer + r * ld, sizeof(T) * kPanel<T>);
}

// ---- Columns: for a panel of positions, a row for each channel and tap.

// For each channel: d[l] = s[l * step] for lo <= l < hi, else 0, for l < length. There is room for `room` elements, of which those past the length
// are written later.
template <class T>
void copy_run(T* d, int64_t d_next, const T* s, int64_t s_next, int64_t channels, int64_t lo, int64_t hi, int64_t length, int64_t step,
              [[maybe_unused]] int64_t room) {
#if defined(__AVX512VL__)
  if constexpr (sizeof(T) == 4) {
    const auto bits = [](int64_t from, int64_t to) {
      return static_cast<uint32_t>(((uint64_t{1} << to) - 1) & ~((uint64_t{1} << from) - 1));
    };
    const uint32_t read = hi > lo ? bits(lo, hi) : 0, write = bits(0, length);
    const __mmask16 r0 = static_cast<__mmask16>(read), r1 = static_cast<__mmask16>(read >> 16), w0 = static_cast<__mmask16>(write),
                    w1 = static_cast<__mmask16>(write >> 16);
    // Whole vectors where there is room: stores under a mask are slow.
    const bool whole0 = room >= 16, whole1 = room >= 32;
    const auto put = [](float* at, bool whole, __mmask16 mask, __m512 v) {
      if (whole) {
        _mm512_storeu_ps(at, v);
      } else {
        _mm512_mask_storeu_ps(at, mask, v);
      }
    };
    if (step == 1 || step == 2) {
      const uint32_t e0 = _pdep_u32(read & 0xffff, 0x55555555u), e1 = _pdep_u32(read >> 16, 0x55555555u);
      const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      const auto gather = [&](const float* at, uint32_t mask) {
        const __m512 a = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), at);
        return _mm512_permutex2var_ps(a, even, _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), at + 16));
      };
      for (int64_t c = 0; c < channels; ++c, d += d_next, s += s_next) {
        put(d, whole0, w0, step == 1 ? _mm512_maskz_loadu_ps(r0, s) : gather(s, e0));
        if (length > 16) put(d + 16, whole1, w1, step == 1 ? _mm512_maskz_loadu_ps(r1, s + 16) : gather(s + 32, e1));
      }
      return;
    }
  }
#endif
  for (int64_t c = 0; c < channels; ++c, d += d_next, s += s_next) {
    for (int64_t l = 0; l < lo; ++l) d[l] = T(0);
    if (step == 1) {
      for (int64_t l = lo; l < hi; ++l) d[l] = s[l];
    } else {
      for (int64_t l = lo; l < hi; ++l) d[l] = s[l * step];
    }
    for (int64_t l = hi; l < length; ++l) d[l] = T(0);
  }
}

// Positions that follow one another along the last axis, in the columns [column, column + length) of a panel.
struct Run { int64_t column, length, image, j[3]; };

// The runs of `count` positions from number `q` on, counted through all images.
inline int find_runs(const Gather& g, int64_t q, int64_t count, Run* runs) {
  const int64_t width = g.axis[2].count, height = g.axis[1].count, plane = g.positions();
  int n = 0;
  for (int64_t column = 0; column < count;) {
    const int64_t image = q / plane, p = q % plane, w = p % width, length = smaller(width - w, count - column);
    runs[n++] = {column, length, image, {p / width / height, p / width % height, w}};
    column += length;
    q += length;
  }
  return n;
}

// The panels of positions [q, q + count) and channels [c, c + channels): [panel][channel][tap][kPanel]. Past the last position zero.
template <class T> void columns(const Gather& g, const T* in, int64_t image_step, int64_t c, int64_t channels, int64_t q, int64_t count,
                                T* out) {
  const int64_t taps = g.taps(), plane = g.in_plane();
  const Axis &x = g.axis[0], &y = g.axis[1], &z = g.axis[2];
  const auto steps = [&](int64_t n) { return z.in_step == 1 ? n : (n + z.in_step - 1) / z.in_step; };  // a division takes as long as a run
  Run runs[kPanel<T>];
  for (int64_t column = 0; column < count; column += kPanel<T>, out += channels * taps * kPanel<T>) {
    const int64_t width = smaller(kPanel<T>, count - column);
    const int n = find_runs(g, q + column, width, runs);
    for (int r = 0; r < n; ++r) {
      const Run& run = runs[r];
      T* d = out + run.column;
      for (int64_t tx = 0; tx < x.taps; ++tx)
        for (int64_t ty = 0; ty < y.taps; ++ty) {
          const int64_t ix = run.j[0] * x.in_step + x.offset + tx * x.offset_step,
                        iy = run.j[1] * y.in_step + y.offset + ty * y.offset_step;
          const bool inside = ix >= 0 && ix < x.in && iy >= 0 && iy < y.in;
          const T* row = in + run.image * image_step + c * plane + (inside ? (ix * y.in + iy) * z.in : 0);
          for (int64_t tz = 0; tz < z.taps; ++tz, d += kPanel<T>) {
            const int64_t iz = run.j[2] * z.in_step + z.offset + tz * z.offset_step;
            // iz + l * step is inside for lo <= l < hi
            int64_t lo = iz < 0 ? steps(-iz) : 0, hi = iz < z.in ? steps(z.in - iz) : 0;
            if (!inside) hi = 0;
            hi = smaller(hi, run.length);
            lo = smaller(lo, larger(hi, 0));
            copy_run<T>(d, taps * kPanel<T>, row + iz, plane, channels, lo, hi, run.length, z.in_step, kPanel<T> - run.column);
          }
        }
    }
    if (width < kPanel<T>)
      for (int64_t r = 0; r < channels * taps; ++r)
        for (int64_t l = width; l < kPanel<T>; ++l) out[r * kPanel<T> + l] = T(0);
  }
}

}  // namespace
}  // namespace retrograd::cpu
