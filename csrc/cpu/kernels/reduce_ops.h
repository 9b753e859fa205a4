// The building blocks of reductions: what happens to the elements of a chunk. Internal to kernels/; see reduce_plan.h for the Op interface.
//
// A Fold is a reduction whose partial results are of the element type: step(acc, x) takes an element in, combine(a, b) joins two partial
// results. Both are written once for scalars and for GCC vectors. Partial results live in 256 bytes of lanes at every CPU level, so that
// the order of evaluation is the same at all of them.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/kernels/reduce_plan.h"
#include "cpu/vecmath.h"

// Vectors wider than the level has are passed between inlined functions here; no ABI is involved.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

template <class T, int kWidth> struct VectorOf { typedef T type __attribute__((vector_size(kWidth * sizeof(T)))); };
template <class T, int kWidth = kVectorBytes / static_cast<int>(sizeof(T))> using Vector = typename VectorOf<T, kWidth>::type;
template <class T> constexpr int kLanes = 256 / static_cast<int>(sizeof(T));
constexpr int kVectors = 256 / kVectorBytes;

// Elements of another type are converted on their way.
template <class V, class S> RG_INLINE V load_vector(const S* p) {
  using T = std::remove_cvref_t<decltype(V{}[0])>;
  using Stored = std::conditional_t<std::is_same_v<S, T>, V, Vector<S, static_cast<int>(sizeof(V) / sizeof(T))>>;
  Stored v;
  __builtin_memcpy(&v, p, sizeof v);
  if constexpr (std::is_same_v<S, T>)
    return v;
  else
    return __builtin_convertvector(v, V);
}

template <class V, int... kIndex> auto pick(V v, std::integer_sequence<int, kIndex...>, auto offset) {
  return __builtin_shufflevector(v, v, (kIndex + offset.value)...);
}

// Lanes to one value, halving: lane j meets lane j + width / 2.
template <class F, int kWidth> typename F::T join_vector(Vector<typename F::T, kWidth> v) {
  if constexpr (kWidth == 1) {
    return v[0];
  } else if constexpr (kWidth == 2) {
    return F::combine(v[0], v[1]);
  } else {
    constexpr int half = kWidth / 2;
    constexpr auto indices = std::make_integer_sequence<int, half>{};
    return join_vector<F, half>(
        F::combine(pick(v, indices, std::integral_constant<int, 0>{}), pick(v, indices, std::integral_constant<int, half>{})));
  }
}

// The same for several vectors, vector k meeting vector k + count / 2.
template <class F, class V> V join_vectors(V* v, int count) {
#pragma GCC unroll 16
  for (int half = count / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (int k = 0; k < half; ++k) v[k] = F::combine(v[k], v[k + half]);
  }
  return v[0];
}

template <class F, class S> typename F::T fold_short(const S* p, int64_t n) {
  using T = typename F::T;
  using V = Vector<T, 8>;
  T rest = F::start();
  if (n < 8) {
    for (int64_t i = 0; i < n; ++i) rest = F::step(rest, static_cast<T>(p[i]));
    return rest;
  }
  V lanes = F::step(V{} + F::start(), load_vector<V>(p));
  int64_t i = 8;
  for (; i + 8 <= n; i += 8) lanes = F::step(lanes, load_vector<V>(p + i));
  const T joined = join_vector<F, 8>(lanes);
  if (i == n) return joined;
#pragma GCC unroll 1
  for (; i < n; ++i) rest = F::step(rest, static_cast<T>(p[i]));
  return F::combine(joined, rest);
}

// Extrema of numbers, two instructions for two vectors and one that finds out whether one of them has a nan: then the answer is not known.
#if defined(__SSE2__)
#if defined(__AVX2__)
RG_INLINE Vector<float> greater(Vector<float> x, Vector<float> acc) {
  return reinterpret_cast<Vector<float>>(_mm256_max_ps(reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(acc)));
}
RG_INLINE Vector<float> lesser(Vector<float> x, Vector<float> acc) {
  return reinterpret_cast<Vector<float>>(_mm256_min_ps(reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(acc)));
}
RG_INLINE Vector<int> have_nan(Vector<float> x, Vector<float> y) {
  return reinterpret_cast<Vector<int>>(_mm256_cmp_ps(reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(y), _CMP_UNORD_Q));
}
RG_INLINE Vector<double> greater(Vector<double> x, Vector<double> acc) {
  return reinterpret_cast<Vector<double>>(_mm256_max_pd(reinterpret_cast<__m256d>(x), reinterpret_cast<__m256d>(acc)));
}
RG_INLINE Vector<double> lesser(Vector<double> x, Vector<double> acc) {
  return reinterpret_cast<Vector<double>>(_mm256_min_pd(reinterpret_cast<__m256d>(x), reinterpret_cast<__m256d>(acc)));
}
RG_INLINE Vector<int64_t> have_nan(Vector<double> x, Vector<double> y) {
  return reinterpret_cast<Vector<int64_t>>(_mm256_cmp_pd(reinterpret_cast<__m256d>(x), reinterpret_cast<__m256d>(y), _CMP_UNORD_Q));
}
#else
RG_INLINE Vector<float> greater(Vector<float> x, Vector<float> acc) {
  return reinterpret_cast<Vector<float>>(_mm_max_ps(reinterpret_cast<__m128>(x), reinterpret_cast<__m128>(acc)));
}
RG_INLINE Vector<float> lesser(Vector<float> x, Vector<float> acc) {
  return reinterpret_cast<Vector<float>>(_mm_min_ps(reinterpret_cast<__m128>(x), reinterpret_cast<__m128>(acc)));
}
RG_INLINE Vector<int> have_nan(Vector<float> x, Vector<float> y) {
  return reinterpret_cast<Vector<int>>(_mm_cmpunord_ps(reinterpret_cast<__m128>(x), reinterpret_cast<__m128>(y)));
}
RG_INLINE Vector<double> greater(Vector<double> x, Vector<double> acc) {
  return reinterpret_cast<Vector<double>>(_mm_max_pd(reinterpret_cast<__m128d>(x), reinterpret_cast<__m128d>(acc)));
}
RG_INLINE Vector<double> lesser(Vector<double> x, Vector<double> acc) {
  return reinterpret_cast<Vector<double>>(_mm_min_pd(reinterpret_cast<__m128d>(x), reinterpret_cast<__m128d>(acc)));
}
RG_INLINE Vector<int64_t> have_nan(Vector<double> x, Vector<double> y) {
  return reinterpret_cast<Vector<int64_t>>(_mm_cmpunord_pd(reinterpret_cast<__m128d>(x), reinterpret_cast<__m128d>(y)));
}
#endif
#else
RG_INLINE Vector<float> greater(Vector<float> x, Vector<float> acc) { return x > acc ? x : acc; }
RG_INLINE Vector<float> lesser(Vector<float> x, Vector<float> acc) { return x < acc ? x : acc; }
RG_INLINE Vector<int> have_nan(Vector<float> x, Vector<float> y) { return (x != x) | (y != y); }
RG_INLINE Vector<double> greater(Vector<double> x, Vector<double> acc) { return x > acc ? x : acc; }
RG_INLINE Vector<double> lesser(Vector<double> x, Vector<double> acc) { return x < acc ? x : acc; }
RG_INLINE Vector<int64_t> have_nan(Vector<double> x, Vector<double> y) { return (x != x) | (y != y); }
#endif

template <class F, class T> bool fold_numbers(const T* p, int64_t n, T& result) {
  using V = Vector<T>;
  constexpr int width = kVectorBytes / static_cast<int>(sizeof(T));
  V acc[kVectors];
  decltype(have_nan(V{}, V{})) nan[2] = {};
#pragma GCC unroll 16
  for (int k = 0; k < kVectors; ++k) acc[k] = V{} + F::start();
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; k += 2) {
      const auto x = load_vector<V>(p + i + k * width), y = load_vector<V>(p + i + (k + 1) * width);
      acc[k] = F::of_numbers(x, acc[k]);
      acc[k + 1] = F::of_numbers(y, acc[k + 1]);
      nan[k / 2 % 2] |= have_nan(x, y);
    }
  }
  const auto any = nan[0] | nan[1];
  bool found = false;
#pragma GCC unroll 16
  for (int k = 0; k < width; ++k) found |= any[k] != 0;
  if (found) return false;
  result = join_vector<F, width>(join_vectors<F>(acc, kVectors));
  if (i < n) result = F::combine(result, fold_short<F>(p + i, n - i));
  return true;
}

// Lanes take kSteps elements each, then join those of the elements before: sums of thousands of equal elements stay good to the last bits.
template <class F, class S> typename F::T fold(const S* p, int64_t n) {
  using T = typename F::T;
  using V = Vector<T>;
  constexpr int width = kVectorBytes / static_cast<int>(sizeof(T));
  constexpr int64_t kSteps = 16;
  if (n < kLanes<T>) return fold_short<F>(p, n);
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<S, T> && requires(V v) { F::of_numbers(v, v); }) {
    if (T result; fold_numbers<F>(p, n, result)) return result;
  }
  V total[kVectors];
#pragma GCC unroll 16
  for (int k = 0; k < kVectors; ++k) total[k] = V{} + F::start();
  int64_t i = 0;
  while (i + kLanes<T> <= n) {
    V acc[kVectors];
    const int64_t left = (n - i) / kLanes<T>, end = i + (left < kSteps ? left : kSteps) * kLanes<T>;
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) acc[k] = F::step(V{} + F::start(), load_vector<V>(p + i + k * width));
    for (i += kLanes<T>; i < end; i += kLanes<T>) {
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; ++k) acc[k] = F::step(acc[k], load_vector<V>(p + i + k * width));
    }
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) total[k] = F::combine(total[k], acc[k]);
  }
  const T joined = join_vector<F, width>(join_vectors<F>(total, kVectors));
  return i == n ? joined : F::combine(joined, fold_short<F>(p + i, n - i));
}

template <class F, class V, int kCount, class S> void fold_strip(typename F::T* acc, const S* p, int64_t stride, int rows) {
  constexpr int width = static_cast<int>(sizeof(V) / sizeof(typename F::T));
  V v[kCount];
#pragma GCC unroll 16
  for (int k = 0; k < kCount; ++k) v[k] = F::step(V{} + F::start(), load_vector<V>(p + k * width));
  for (int r = 1; r < rows; ++r) {
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) v[k] = F::step(v[k], load_vector<V>(p + r * stride + k * width));
  }
#pragma GCC unroll 16
  for (int k = 0; k < kCount; ++k) v[k] = F::combine(load_vector<V>(acc + k * width), v[k]);
  __builtin_memcpy(acc, v, sizeof v);
}

// acc[j] = the fold of column j, for `width` columns. A few rows at a time, so that memory is read in few streams.
template <class F, class S> void fold_columns(typename F::T* acc, const S* p, int64_t stride, int rows, int width) {
  using T = typename F::T;
  for (int j = 0; j < width; ++j) acc[j] = F::start();
  for (int r = 0; r < rows; r += 8, p += 8 * stride) {
    const int m = rows - r < 8 ? rows - r : 8;
    int j = 0;
    for (; j + kLanes<T> <= width; j += kLanes<T>) fold_strip<F, Vector<T>, kVectors>(acc + j, p + j, stride, m);
    for (; j + 8 <= width; j += 8) fold_strip<F, Vector<T, 8>, 1>(acc + j, p + j, stride, m);
    for (; j < width; ++j) {
      T part = F::start();
#pragma GCC unroll 1
      for (int i = 0; i < m; ++i) part = F::step(part, static_cast<T>(p[i * stride + j]));
      acc[j] = F::combine(acc[j], part);
    }
  }
}

// acc[i] = the fold of row i, of n elements, for n so small that a row does not fill a vector.
template <class F, class S> void fold_short_rows(typename F::T* __restrict acc, const S* __restrict p, int64_t stride, int64_t rows,
                                                 int64_t n) {
  for (int64_t i = 0; i < rows; ++i) acc[i] = F::start();
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < rows; ++i) acc[i] = F::step(acc[i], static_cast<typename F::T>(p[i * stride + j]));
}

// Integers wrap around, which for signed ones the language leaves to us.
template <class V> V wrapping_add(V a, V b) {
  if constexpr (std::is_same_v<V, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <class V> V wrapping_multiply(V a, V b) {
  if constexpr (std::is_same_v<V, int64_t>)
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

template <class Element> struct SumFold {
  using T = Element;
  static T start() { return 0; }
  template <class V> static V step(V acc, V x) { return wrapping_add(acc, x); }
  template <class V> static V combine(V a, V b) { return wrapping_add(a, b); }
};

// A nan counts for nothing.
template <class Element> struct NanSumFold : SumFold<Element> {
  template <class V> static V step(V acc, V x) { return acc + (x == x ? x : V{}); }
};

template <class Element> struct ProdFold {
  using T = Element;
  static T start() { return 1; }
  template <class V> static V step(V acc, V x) { return wrapping_multiply(acc, x); }
  template <class V> static V combine(V a, V b) { return wrapping_multiply(a, b); }
};

template <class Element> constexpr Element kLowest =
    std::numeric_limits<Element>::has_infinity ? -std::numeric_limits<Element>::infinity() : std::numeric_limits<Element>::lowest();
template <class Element> constexpr Element kHighest =
    std::numeric_limits<Element>::has_infinity ? std::numeric_limits<Element>::infinity() : std::numeric_limits<Element>::max();

// A NaN enters by x != x and stays, since no comparison with it is true.
template <class Element> struct MaxFold {
  using T = Element;
  static T start() { return kLowest<T>; }
  template <class V> static V step(V acc, V x) {
    const V larger = x > acc ? x : acc;
    if constexpr (std::is_integral_v<T>)
      return larger;
    else
      return x != x ? x : larger;
  }
  template <class V> static auto of_numbers(V x, V acc) -> decltype(greater(x, acc)) { return greater(x, acc); }
  template <class V> static V combine(V a, V b) { return step(a, b); }
};

template <class Element> struct MinFold {
  using T = Element;
  static T start() { return kHighest<T>; }
  template <class V> static V step(V acc, V x) {
    const V smaller = x < acc ? x : acc;
    if constexpr (std::is_integral_v<T>)
      return smaller;
    else
      return x != x ? x : smaller;
  }
  template <class V> static auto of_numbers(V x, V acc) -> decltype(lesser(x, acc)) { return lesser(x, acc); }
  template <class V> static V combine(V a, V b) { return step(a, b); }
};

// Results on their way to memory, a batch at a time; one alone in the commonest types at once.
template <class V, class F> void store_batches(void* data, DType dtype, int64_t at, int64_t step, int64_t n, F&& value) {
  if (n == 1) {
    if (dtype == DTypeOf<V>::value) {
      static_cast<V*>(data)[at] = value(0);
      return;
    }
    if constexpr (std::is_same_v<V, double>) {
      if (dtype == DType::Float32) {
        static_cast<float*>(data)[at] = static_cast<float>(value(0));
        return;
      }
    }
    if constexpr (std::is_integral_v<V>)
      return store_value(data, dtype, at, static_cast<int64_t>(value(0)));
    else
      return store_value(data, dtype, at, value(0));
  }
  constexpr int64_t batch = 256;
  const Store store = storer(dtype, DTypeOf<V>::value);
  V values[batch];
  for (int64_t i = 0; i < n; i += batch) {
    const int64_t count = n - i < batch ? n - i : batch;
    for (int64_t j = 0; j < count; ++j) values[j] = value(i + j);
    store(data, at + i * step, step, count, values);
  }
}

// A Fold as an Op, merged in the type Wide and brought to its result by Finish.
struct Same {
  template <class V> static V finish(V s, const Params&) { return s; }
};

template <class Fold, class Wide, class Finish = Same, class Source = typename Fold::T> struct FoldOp {
  using T = Source;
  using State = Wide;
  static State identity() { return Fold::start(); }
  static State merge(State a, State b) { return Fold::combine(a, b); }
  static State chunk(const T* p, int64_t n, int64_t, const Params&) { return fold<Fold>(p, n); }
  static void columns(State* __restrict states, bool first, const T* p, int64_t stride, int rows, int width, int64_t, const Params&) {
    alignas(64) typename Fold::T acc[kTile];
    fold_columns<Fold>(acc, p, stride, rows, width);
    if (first) {
      for (int j = 0; j < width; ++j) states[j] = acc[j];
    } else {
      for (int j = 0; j < width; ++j) states[j] = merge(states[j], acc[j]);
    }
  }
  static void short_rows(State* states, const T* p, int64_t stride, int64_t rows, int64_t n) {
    alignas(64) typename Fold::T acc[kRowBatch];
    fold_short_rows<Fold>(acc, p, stride, rows, n);
    for (int64_t i = 0; i < rows; ++i) states[i] = acc[i];
  }
  static State renumber(State s, int64_t, int64_t) { return s; }
  static void store(const State* s, int64_t n, const Target& out, const Params& params) {
    store_batches<State>(out.data[0], out.dtype[0], out.at[0], out.step[0], n, [&](int64_t i) { return Finish::finish(s[i], params); });
  }
};

template <class T> using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
