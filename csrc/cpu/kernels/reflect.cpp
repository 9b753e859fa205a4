// Householder reflections, applied to the columns of matrices one after the other. A few columns at a time read each reflection once, and what
// is between two of them stays in the cache.
#include "cpu/reflect.h"

#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int kColumns = 4, kLanes = 16;

template <class T> T conjugate(T x) {
  if constexpr (is_complex_v<T>)
    return {x.re, -x.im};
  else
    return x;
}

// x[c] -= t * v * (v^H x[c]) with v = (1, rest): m elements in each column.
template <class T, int columns> void reflect_columns(T* x, int64_t stride, const T* v, T t, int64_t m) {
  T lanes[columns][kLanes];
  for (int c = 0; c < columns; ++c)
    for (int l = 0; l < kLanes; ++l) lanes[c][l] = T(0);
  int64_t r = 1;
  for (; r + kLanes <= m; r += kLanes)
    for (int c = 0; c < columns; ++c)
      for (int l = 0; l < kLanes; ++l) lanes[c][l] = lanes[c][l] + conjugate(v[r + l]) * x[c * stride + r + l];
  for (int c = 0; c < columns; ++c) {
    T* column = x + c * stride;
    T sum = column[0];
    for (int l = 0; l < kLanes; ++l) sum = sum + lanes[c][l];
    for (int64_t i = r; i < m; ++i) sum = sum + conjugate(v[i]) * column[i];
    sum = t * sum;
    column[0] = column[0] - sum;
    for (int64_t i = 1; i < m; ++i) column[i] = column[i] - sum * v[i];
  }
}

template <class T> void reflect_of(const Matrices& a, const T* tau, int64_t steps, bool adjoint, const Matrices& x) {
  const int64_t m = x.rows, n = x.columns, blocks = (n + kColumns - 1) / kColumns;
  const int64_t work = m * steps * kColumns, grain = work < 32768 ? 32768 / (work ? work : 1) : 1;
  parallel_for(0, x.count * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t matrix = block / blocks, first = block % blocks * kColumns, count = n - first < kColumns ? n - first : kColumns;
      const T* vectors = static_cast<const T*>(a.data) + matrix * a.rows * a.columns;
      T* columns = static_cast<T*>(x.data) + (matrix * n + first) * m;
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t i = adjoint ? step : steps - 1 - step;
        const T t = adjoint ? conjugate(tau[matrix * steps + i]) : tau[matrix * steps + i];
        const T* v = vectors + i * m + i;
        if (count == kColumns) {
          reflect_columns<T, kColumns>(columns + i, m, v, t, m - i);
        } else {
          for (int64_t c = 0; c < count; ++c) reflect_columns<T, 1>(columns + c * m + i, m, v, t, m - i);
        }
      }
    }
  });
}

void reflect(const Matrices& a, const void* tau, int64_t steps, bool adjoint, const Matrices& x) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    reflect_of(a, static_cast<const T*>(tau), steps, adjoint, x);
  };
  if (is_complex(x.dtype)) return visit_complex(x.dtype, run);
  x.dtype == DType::Float64 ? run(double{}) : run(float{});
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(ReflectKernels, reflect_kernels) = {.run = RG_LEVEL_NS::reflect};

}  // namespace retrograd::cpu
