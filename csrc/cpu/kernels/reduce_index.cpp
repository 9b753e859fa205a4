// Extrema with the index of their first occurrence. The extremum of a chunk is found without indices, at full speed, and then looked for in
// the chunk, which is still in the cache.
#include "cpu/kernels/reduce_index.h"
#include "cpu/isa.h"

#include "cpu/kernels/reduce_ops.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

// Whether x beats best: strictly better, or the first NaN.
template <class T, bool kMax> bool beats(T x, T best) {
  if constexpr (std::is_same_v<T, int64_t>)
    return kMax ? x > best : x < best;
  else
    return (best == best) & !(kMax ? x <= best : x >= best);
}

template <class T, class F> int64_t find_first(const T* p, int64_t n, F&& matches) {
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    int found = 0;
    for (int j = 0; j < 64; ++j) found |= matches(p[i + j]);
    if (found) break;
  }
  while (i < n - 1 && !matches(p[i])) ++i;
  return i;
}

template <class T> int64_t find_value(const T* p, int64_t n, T value) {
  if (value != value) return find_first(p, n, [](T x) { return x != x; });
  return find_first(p, n, [value](T x) { return x == value; });
}

template <class T> struct Indexed {
  T value;
  int64_t index;
};

template <class Element, bool kMax> struct ArgOp {
  using T = Element;
  using Fold = std::conditional_t<kMax, MaxFold<T>, MinFold<T>>;
  using State = Indexed<T>;

  static State identity() { return {Fold::start(), INT64_MAX}; }

  static State merge(const State& a, const State& b) {
    const bool tie = a.value == b.value || (a.value != a.value && b.value != b.value);
    return (tie ? b.index < a.index : beats<T, kMax>(b.value, a.value)) ? b : a;
  }

  static State renumber(const State& s, int64_t group, int64_t place) {
    return {s.value, s.index == INT64_MAX ? s.index : s.index * group + place};
  }

  static State chunk(const T* p, int64_t n, int64_t index, const Params&) {
    if (n == 0) return identity();
    if (n >= 16) {
      const T best = fold<Fold>(p, n);
      return {best, index + find_value(p, n, best)};
    }
    State s = {p[0], 0};
    for (int64_t i = 1; i < n; ++i)
      if (beats<T, kMax>(p[i], s.value)) s = {p[i], i};
    s.index += index;
    return s;
  }

  static void columns(State* states, bool first, const T* p, int64_t stride, int rows, int width, int64_t index, const Params&) {
    using Row = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;  // as wide as T, for the vectoriser
    alignas(64) T best[kTile];
    alignas(64) Row at[kTile];
    for (int j = 0; j < width; ++j) {
      best[j] = p[j];
      at[j] = 0;
    }
    for (int r = 1; r < rows; ++r) {
      const T* __restrict row = p + r * stride;
      for (int j = 0; j < width; ++j) {
        const bool better = beats<T, kMax>(row[j], best[j]);
        best[j] = better ? row[j] : best[j];
        at[j] = better ? static_cast<Row>(r) : at[j];
      }
    }
    for (int j = 0; j < width; ++j) {
      const State s = {best[j], index + at[j]};
      states[j] = first ? s : merge(states[j], s);
    }
  }

  static void store(const State* s, int64_t n, const Target& out, const Params&) {
    int64_t* indices = static_cast<int64_t*>(out.data[0]) + out.at[0];
    for (int64_t i = 0; i < n; ++i) indices[i * out.step[0]] = s[i].index;
    if (out.data[1]) store_batches<T>(out.data[1], out.dtype[1], out.at[1], out.step[1], n, [&](int64_t i) { return s[i].value; });
  }
};

template <bool kMax> void extremum(const Array* values, const Array& indices, const Array& in) {
  visit_compute(in.dtype, [&](auto zero) { reduce_with<ArgOp<decltype(zero), kMax>>(indices, values, in); });
}

}  // namespace

void argmax(const Array& indices, const Array& in) { extremum<true>(nullptr, indices, in); }
void argmin(const Array& indices, const Array& in) { extremum<false>(nullptr, indices, in); }
void max_with_index(const Array& values, const Array& indices, const Array& in) { extremum<true>(&values, indices, in); }
void min_with_index(const Array& values, const Array& indices, const Array& in) { extremum<false>(&values, indices, in); }

}  // namespace retrograd::cpu::RG_LEVEL_NS
