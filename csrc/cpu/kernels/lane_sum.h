// Sums in lanes, which the compiler turns into vectors. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cstdint>

#include "cpu/isa.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kLanes = 32;

// sum of f(i) for i < n, in a fixed order.
template <class C, class F> inline C lane_sum(int64_t n, F&& f) {
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int64_t j = 0; j < kLanes; ++j) lanes[j] += f(i + j);
  for (int64_t j = 0; i + j < n; ++j) lanes[j] += f(i + j);
  for (int64_t width = kLanes / 2; width; width /= 2)
    for (int64_t j = 0; j < width; ++j) lanes[j] += lanes[j + width];
  return lanes[0];
}

}  // namespace
}  // namespace retrograd::cpu
