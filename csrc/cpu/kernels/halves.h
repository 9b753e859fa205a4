// Rows of halves to floats and back, which the compiler does not vectorise. Internal to kernels/.
#pragma once

#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "core/dtype.h"
#include "cpu/isa.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

// How many of n elements, from the first, are done; the rest is left to the caller.
[[maybe_unused]] inline int64_t floats_of([[maybe_unused]] const Half* from, [[maybe_unused]] int64_t n, [[maybe_unused]] float* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i))));
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
#endif
  return i;
}
[[maybe_unused]] inline int64_t halves_of([[maybe_unused]] const float* from, [[maybe_unused]] int64_t n, [[maybe_unused]] Half* to) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
#endif
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
#endif
  return i;
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
