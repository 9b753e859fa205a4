#include "cpu/distance.h"

#include <cmath>

#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int kLanes = 8;  // independent sums, so that the loop over columns vectorises

template <class T> struct Zero {
  static T term(T d, T) { return d != 0 ? T(1) : T(0); }
  static T join(T a, T b) { return a + b; }
  static T finish(T s, T) { return s; }
};
template <class T> struct One {
  static T term(T d, T) { return std::fabs(d); }
  static T join(T a, T b) { return a + b; }
  static T finish(T s, T) { return s; }
};
template <class T> struct Two {
  static T term(T d, T) { return d * d; }
  static T join(T a, T b) { return a + b; }
  static T finish(T s, T) { return std::sqrt(s); }
};
template <class T> struct Largest {
  static T term(T d, T) { return std::fabs(d); }
  static T join(T a, T b) { return a != a || a > b ? a : b; }
  static T finish(T s, T) { return s; }
};
template <class T> struct Any {
  static T term(T d, T p) { return std::pow(std::fabs(d), p); }
  static T join(T a, T b) { return a + b; }
  static T finish(T s, T p) { return std::pow(s, 1 / p); }
};

template <class Norm, class T> T row_distance(const T* a, const T* b, int64_t n, T p) {
  T lanes[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] = Norm::join(lanes[l], Norm::term(a[k + l] - b[k + l], p));
  }
  for (; k < n; ++k) lanes[0] = Norm::join(lanes[0], Norm::term(a[k] - b[k], p));
  for (int l = 1; l < kLanes; ++l) lanes[0] = Norm::join(lanes[0], lanes[l]);
  return Norm::finish(lanes[0], p);
}

template <template <class> class Norm, class T> void all_pairs(T* out, const T* x1, const T* x2, int64_t batch, int64_t rows1, int64_t rows2, int64_t n, double p) {
  const int64_t work = rows2 * (n + 8), grain = work < 32768 ? 32768 / (work ? work : 1) : 1;
  parallel_for(0, batch * rows1, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T *a = x1 + i * n, *b = x2 + i / rows1 * rows2 * n;
      for (int64_t j = 0; j < rows2; ++j) out[i * rows2 + j] = row_distance<Norm<T>>(a, b + j * n, n, static_cast<T>(p));
    }
  });
}

template <class T> void cdist_of(void* out, const void* x1, const void* x2, int64_t batch, int64_t rows1, int64_t rows2, int64_t n, double p) {
  auto *o = static_cast<T*>(out);
  const auto *a = static_cast<const T*>(x1), *b = static_cast<const T*>(x2);
  if (p == 2) return all_pairs<Two>(o, a, b, batch, rows1, rows2, n, p);
  if (p == 1) return all_pairs<One>(o, a, b, batch, rows1, rows2, n, p);
  if (p == 0) return all_pairs<Zero>(o, a, b, batch, rows1, rows2, n, p);
  if (p == HUGE_VAL) return all_pairs<Largest>(o, a, b, batch, rows1, rows2, n, p);
  all_pairs<Any>(o, a, b, batch, rows1, rows2, n, p);
}

void cdist(void* out, const void* x1, const void* x2, DType dtype, int64_t batch, int64_t rows1, int64_t rows2, int64_t columns, double p) {
  if (dtype == DType::Float64) return cdist_of<double>(out, x1, x2, batch, rows1, rows2, columns, p);
  cdist_of<float>(out, x1, x2, batch, rows1, rows2, columns, p);
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(DistanceKernels, distance) = {.cdist = RG_LEVEL_NS::cdist};

}  // namespace retrograd::cpu
