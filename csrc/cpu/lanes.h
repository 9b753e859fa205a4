// Special functions of several elements at once, one in each lane of a vector of doubles, for kernels whose entry says `lanes`. Where a loop
// counts terms it runs until every lane is done, and a lane that is done keeps what it has: no element's value depends on its neighbours.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/kernels/transpose.h"
#include "cpu/vecmath.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // the vectors are passed between functions of one file only

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

typedef double Lanes __attribute__((vector_size(kVectorBytes)));
typedef int64_t Mask __attribute__((vector_size(kVectorBytes)));  // what comparisons give: all bits or none
constexpr int kLaneCount = kVectorBytes / 8;

RG_INLINE Lanes spread(double x) { return x - Lanes{}; }

// The first m elements of a row; lanes that are left over get the first one too, which has no say in how long a loop takes.
template <class T> RG_INLINE Lanes load_lanes(const T* from, int64_t m) {
  typedef T Row __attribute__((vector_size(kLaneCount * sizeof(T))));
  Row row;
  if (m == kLaneCount) {
    std::memcpy(&row, from, sizeof row);
  } else {
    for (int i = 0; i < kLaneCount; ++i) row[i] = from[i < m ? i : 0];
  }
  return __builtin_convertvector(row, Lanes);
}
template <class T> RG_INLINE void store_lanes(T* to, Lanes y, int64_t m) {
  typedef T Row __attribute__((vector_size(kLaneCount * sizeof(T))));
  const Row row = __builtin_convertvector(y, Row);
  std::memcpy(to, &row, static_cast<size_t>(m) * sizeof(T));
}

RG_INLINE bool any(Mask m) {
#if defined(__AVX512DQ__)
  return _mm512_movepi64_mask(reinterpret_cast<__m512i>(m)) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(m)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_pd(reinterpret_cast<__m128d>(m)) != 0;
#else
  int64_t all = 0;
  for (int i = 0; i < kLaneCount; ++i) all |= m[i];
  return all != 0;
#endif
}

// f of each lane: with functions of vecmath.h it becomes SIMD code, if not in the middle of a loop over lanes. So what takes long is not inlined.
template <class F> RG_INLINE Lanes each(Lanes x, F f) {
  alignas(kVectorBytes) double a[kLaneCount];
  std::memcpy(a, &x, sizeof a);
  for (int i = 0; i < kLaneCount; ++i) a[i] = f(a[i]);
  std::memcpy(&x, a, sizeof a);
  return x;
}
template <class F> RG_INLINE Lanes each(Lanes x, Lanes y, F f) {
  alignas(kVectorBytes) double a[kLaneCount], b[kLaneCount];
  std::memcpy(a, &x, sizeof a);
  std::memcpy(b, &y, sizeof b);
  for (int i = 0; i < kLaneCount; ++i) a[i] = f(a[i], b[i]);
  std::memcpy(&x, a, sizeof a);
  return x;
}

// y, but for the few lanes of `where`, which f(lane) computes.
template <class F> RG_INLINE Lanes except(Mask where, Lanes y, F f) {
  if (any(where)) [[unlikely]]
    for (int i = 0; i < kLaneCount; ++i)
      if (where[i]) y[i] = f(i);
  return y;
}

[[gnu::noinline, maybe_unused]] Lanes exp_(Lanes x) {
  return each(x, [](double v) { return exp_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes expm1_(Lanes x) {
  return each(x, [](double v) { return expm1_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes log_(Lanes x) {
  return each(x, [](double v) { return log_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes log1p_(Lanes x) {
  return each(x, [](double v) { return log1p_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes sin_(Lanes x) {
  return each(x, [](double v) { return sin_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes tan_(Lanes x) {
  return each(x, [](double v) { return tan_(v); });
}
[[gnu::noinline, maybe_unused]] Lanes pow_(Lanes x, Lanes y) {
  return each(x, y, [](double v, double w) { return pow_(v, w); });
}
[[gnu::noinline, maybe_unused]] Lanes erfc_(Lanes x) {
  return each(x, [](double v) { return erfc_(v); });
}
namespace vm {
[[gnu::noinline, maybe_unused]] Lanes erfcx_large(Lanes x) {
  return each(x, [](double v) { return erfcx_large(v); });
}
}  // namespace vm
RG_INLINE Lanes sqrt_(Lanes x) {
  return each(x, [](double v) { return __builtin_sqrt(v); });
}
RG_INLINE Lanes trunc_(Lanes x) {
  return each(x, [](double v) { return __builtin_trunc(v); });
}
RG_INLINE Lanes floor_(Lanes x) {
  return each(x, [](double v) { return __builtin_floor(v); });
}
RG_INLINE Lanes rint_(Lanes x) {
  return each(x, [](double v) { return __builtin_rint(v); });
}
template <int N> RG_INLINE Lanes horner(Lanes x, const double (&c)[N]) {
  Lanes y = spread(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) y = y * x + c[i];
  return y;
}
RG_INLINE Lanes abs_(Lanes x) { return reinterpret_cast<Lanes>(reinterpret_cast<Mask>(x) & INT64_MAX); }

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
