// Sums in lanes, which the compiler turns into vectors. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kFewLanes = 8;

template <class C, int64_t kCount, class F> inline C sum_in_lanes(int64_t n, F&& f) {
  C lanes[kCount] = {};
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount)
    for (int64_t j = 0; j < kCount; ++j) lanes[j] += f(i + j);
  for (int64_t j = 0; i + j < n; ++j) lanes[j] += f(i + j);
  for (int64_t width = kCount / 2; width; width /= 2)
    for (int64_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

// sum of f(i) for i < n, in a fixed order. That of few is the same in as many lanes as they need: the others would add zeros.
template <class C, class F> inline C lane_sum(int64_t n, F&& f) {
  if (n > kFewLanes) return sum_in_lanes<C, kLanes>(n, f);
  return sum_in_lanes<C, kFewLanes>(n, f);
}

}  // namespace
}  // namespace retrograd::cpu
