// Sums, products, extrema, norms, variance. The conventions are in kernels/reduce.h; the extrema with an index are in reduce_index.cpp.
#include "kernels/reduce.h"
#include "cpu/isa.h"

#include "cpu/kernels/reduce_index.h"
#include "cpu/kernels/reduce_ops.h"
#include "cpu/kernels/reduce_small.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

template <class T> using Sum = FoldOp<SumFold<T>, Wide<T>>;
template <class T> using Prod = FoldOp<ProdFold<T>, T>;

// Products of floats, in double: on the way there may be numbers that float has not, though the result is one. Four factors at a time are multiplied in
// float, which takes a third of the time, as long as all those products are normal numbers.
struct ProdOfFloats : FoldOp<ProdFold<double>, double, Same, float> {
  using Fold = ProdFold<double>;
  static constexpr int kWidth = kVectorBytes / 4;  // as many floats
  using Floats = Vector<float>;
  using Doubles = VectorOf<double, kWidth>::type;
  using Bits = Vector<uint32_t>;
  static constexpr uint32_t kLeast = 0x00800000, kNormal = 0x7f000000;  // the smallest normal number, and how many there are

  // `furthest` is how far products are from the smallest normal number; below it they wrap around to the far end.
  static Floats four(const float* a, const float* b, const float* c, const float* d, Bits& furthest) {
    const Floats q = (load_vector<Floats>(a) * load_vector<Floats>(b)) * (load_vector<Floats>(c) * load_vector<Floats>(d));
    const Bits distance = (reinterpret_cast<Bits>(q) & 0x7fffffffu) - kLeast;
    furthest = distance > furthest ? distance : furthest;
    return q;
  }
  static bool are_normal(const Bits& furthest) {
    bool all = true;
#pragma GCC unroll 16
    for (int k = 0; k < kWidth; ++k) all &= furthest[k] < kNormal;
    return all;
  }

  static double chunk(const float* p, int64_t n, int64_t, const Params&) {
    constexpr int64_t block = 4 * kLanes<float>;
    if (n < block) return fold<Fold>(p, n);
    Doubles acc[kVectors];
    Bits furthest{};
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) acc[k] = Doubles{} + 1;
    int64_t i = 0;
    for (; i + block <= n; i += block) {
#pragma GCC unroll 16
      for (int k = 0; k < kVectors; ++k) {
        const float* const q = p + i + k * kWidth;
        acc[k] *= __builtin_convertvector(four(q, q + kLanes<float>, q + 2 * kLanes<float>, q + 3 * kLanes<float>, furthest), Doubles);
      }
    }
    if (!are_normal(furthest)) return fold<Fold>(p, n);
    const double joined = join_vector<Fold, kWidth>(join_vectors<Fold>(acc, kVectors));
    return i == n ? joined : joined * fold<Fold>(p + i, n - i);
  }

  static void columns(State* __restrict states, bool first, const float* p, int64_t stride, int rows, int width, int64_t index,
                      const Params& params) {
    const int whole = width - width % kWidth;
    if (rows % 4 == 0 && whole > 0 && by_fours(states, first, p, stride, rows, whole)) {
      if (whole < width) FoldOp::columns(states + whole, first, p + whole, stride, rows, width - whole, index, params);
    } else {
      FoldOp::columns(states, first, p, stride, rows, width, index, params);
    }
  }
  static bool by_fours(State* __restrict states, bool first, const float* p, int64_t stride, int rows, int width) {
    alignas(64) double acc[kTile];
    Bits furthest{};
    for (int r = 0; r < rows; r += 4, p += 4 * stride)
      for (int j = 0; j < width; j += kWidth) {
        const float* const q = p + j;
        Doubles product = __builtin_convertvector(four(q, q + stride, q + 2 * stride, q + 3 * stride, furthest), Doubles);
        if (r > 0) product *= load_vector<Doubles>(acc + j);
        __builtin_memcpy(acc + j, &product, sizeof product);
      }
    if (!are_normal(furthest)) return false;
    for (int j = 0; j < width; ++j) states[j] = first ? acc[j] : states[j] * acc[j];
    return true;
  }
};
template <class T> using NanSum = FoldOp<NanSumFold<T>, Wide<T>>;
template <class T> using Max = FoldOp<MaxFold<T>, T>;
template <class T> using Min = FoldOp<MinFold<T>, T>;

struct Average {
  static double finish(double s, const Params& params) { return s / params.count; }
};
template <class T> using Mean = FoldOp<SumFold<T>, double, Average>;

// Maximum and minimum of 0s and 1s, with starting values to suit.
struct AnyFold : MaxFold<int64_t> {
  static int64_t start() { return 0; }
};
struct AllFold : MinFold<int64_t> {
  static int64_t start() { return 1; }
};

struct XorFold {
  using T = int64_t;
  static T start() { return 0; }
  template <class V> static V step(V acc, V x) { return acc ^ x; }
  template <class V> static V combine(V a, V b) { return a ^ b; }
};

template <class V> V absolute(V x) { return x < 0 ? -x : x; }

template <class Element> struct SquareFold : SumFold<Element> {
  template <class V> static V step(V acc, V x) { return acc + x * x; }
};
template <class Element> struct AbsFold : SumFold<Element> {
  template <class V> static V step(V acc, V x) { return acc + absolute(x); }
};
template <class Element> struct MaxAbsFold : MaxFold<Element> {
  static Element start() { return 0; }
  template <class V> static V step(V acc, V x) { return MaxFold<Element>::step(acc, absolute(x)); }
  static void of_numbers() = delete;  // it takes them as they are
};
template <class Element> struct MinAbsFold : MinFold<Element> {
  template <class V> static V step(V acc, V x) { return MinFold<Element>::step(acc, absolute(x)); }
  static void of_numbers() = delete;
};

struct PlusZero {  // absolute() leaves the sign of -0
  template <class V> static V finish(V s, const Params&) { return s + 0; }
};
struct SquareRoot {
  template <class V> static V finish(V s, const Params&) { return std::sqrt(s); }
};
struct Root {
  template <class V> static V finish(V s, const Params& params) { return std::pow(s, static_cast<V>(1 / params.p)); }
};
template <class Fold> using NormOp = FoldOp<Fold, Wide<typename Fold::T>, PlusZero>;
template <class T> using Norm2 = FoldOp<SquareFold<T>, Wide<T>, SquareRoot>;

// Any other exponent: elements are raised to it in a buffer, then summed.
template <class Element> struct NormP : FoldOp<SumFold<Element>, Wide<Element>, Root> {
  using T = Element;
  using State = Wide<T>;
  static void raise(T* __restrict out, const T* __restrict p, int64_t n, double exponent) {
    for (int64_t i = 0; i < n; ++i) out[i] = pow_(abs_(p[i]), static_cast<T>(exponent));
  }
  static void short_rows() = delete;  // those of the base know no exponent
  static State chunk(const T* p, int64_t n, int64_t, const Params& params) {
    alignas(64) T buffer[kChunk];
    raise(buffer, p, n, params.p);
    return fold<SumFold<T>>(buffer, n);
  }
  static void columns(State* __restrict states, bool first, const T* p, int64_t stride, int rows, int width, int64_t,
                      const Params& params) {
    alignas(64) T buffer[kTile];
    if (first)
      for (int j = 0; j < width; ++j) states[j] = 0;
    for (int r = 0; r < rows; ++r) {
      raise(buffer, p + r * stride, width, params.p);
      for (int j = 0; j < width; ++j) states[j] += buffer[j];
    }
  }
};

// Count, mean and sum of squared deviations (Chan, Golub and LeVeque's pairwise update).
struct Moments { double n, mean, m2; };

inline Moments merge_moments(const Moments& a, const Moments& b) {
  if (a.n == 0) return b;
  if (b.n == 0) return a;
  const double n = a.n + b.n, delta = b.mean - a.mean;
  if (!std::isfinite(delta)) return {n, (a.mean * a.n + b.mean * b.n) / n, NAN};  // an infinity or a NaN
  return {n, a.mean + delta * (b.n / n), a.m2 + b.m2 + delta * delta * (a.n * b.n / n)};
}

// Sums of elements, or of their deviations from a number, and of the squares of those.
struct Sums { double plain, square; };

// Moments of n elements from sums around `shift`.
inline Moments shifted_moments(int64_t n, double shift, Sums sums) {
  const double count = static_cast<double>(n);
  if (!std::isfinite(shift)) return {count, shift, NAN};
  return {count, shift + sums.plain / count, sums.square - sums.plain * sums.plain / count};
}

// Sums in kWidth lanes of double: of the elements, or of their deviations from `shift`.
constexpr int kDoubles = kVectorBytes / 8;
template <int kWidth> struct FloatSums {
  static constexpr int kCount = kWidth / kDoubles;
  Vector<double> sum[kCount] = {}, square[kCount] = {};
  template <class... Shift> RG_INLINE void add(const float* p, Shift... shift) {
#pragma GCC unroll 32
    for (int k = 0; k < kCount; ++k) {
      auto x = __builtin_convertvector(load_vector<Vector<float, kDoubles>>(p + k * kDoubles), Vector<double>);
      ((x -= shift), ...);
      sum[k] += x;
      square[k] += x * x;
    }
  }
  RG_INLINE Sums join() {
    return {join_vector<SumFold<double>, kDoubles>(join_vectors<SumFold<double>>(sum, kCount)),
            join_vector<SumFold<double>, kDoubles>(join_vectors<SumFold<double>>(square, kCount))};
  }
};

// The sums of a run of floats, in the same order at every CPU level.
template <class... Shift> RG_INLINE Sums float_sums(const float* p, int64_t n, Shift... shift) {
  Sums all = {0, 0};
  int64_t i = 0;
  if (n >= 32) {
    FloatSums<32> lanes;
    for (; i + 32 <= n; i += 32) lanes.add(p + i, shift...);
    all = lanes.join();
  }
  if (i + 8 <= n) {
    FloatSums<8> lanes;
    for (; i + 8 <= n; i += 8) lanes.add(p + i, shift...);
    const Sums rest = lanes.join();
    all = {all.plain + rest.plain, all.square + rest.square};
  }
  for (; i < n; ++i) {
    const double x = (p[i] - ... - shift);
    all.plain += x;
    all.square += x * x;
  }
  return all;
}

// Around a mean that is known well enough.
[[gnu::noinline]] Moments moments_around(double mean, const float* p, int64_t stride, int64_t n) {
  if (stride == 1) return shifted_moments(n, mean, float_sums(p, n, mean));
  Sums around = {0, 0};
  for (int64_t i = 0; i < n; ++i) {
    const double d = p[i * stride] - mean;
    around.plain += d;
    around.square += d * d;
  }
  return shifted_moments(n, mean, around);
}

// Floats are summed in double, where their squares are exact, in one pass. Where they lie close together and far from 0 the difference
// of the two sums has few digits left, and they are taken again around the mean.
inline Moments float_moments(const float* p, int64_t stride, int64_t n, Sums sums) {
  const Moments plain = shifted_moments(n, 0, sums);
  if (plain.m2 >= sums.square * 1e-6 || !std::isfinite(plain.mean)) return plain;
  return moments_around(plain.mean, p, stride, n);
}

template <class Element> struct VarMean {
  using T = Element;
  using State = Moments;
  static State identity() { return {0, 0, 0}; }
  static State merge(const State& a, const State& b) { return merge_moments(a, b); }

  static State chunk(const float* p, int64_t n, int64_t, const Params&) {
    if (n == 0) return identity();
    return float_moments(p, 1, n, float_sums(p, n));
  }

  static State chunk(const double* p, int64_t n, int64_t, const Params&) {
    if (n == 0) return identity();
    constexpr int half = kVectors / 2, lanes = kLanes<T> / 2, width = lanes / half;
    const T mean = fold<SumFold<T>>(p, n) / static_cast<T>(n);
    Vector<T> dev[half] = {}, square[half] = {};
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
#pragma GCC unroll 16
      for (int k = 0; k < half; ++k) {
        const Vector<T> d = load_vector<Vector<T>>(p + i + k * width) - mean;
        dev[k] += d;
        square[k] += d * d;
      }
    }
    T sum_dev = join_vector<SumFold<T>, width>(join_vectors<SumFold<T>>(dev, half));
    T sum_square = join_vector<SumFold<T>, width>(join_vectors<SumFold<T>>(square, half));
    for (; i < n; ++i) {
      const T d = p[i] - mean;
      sum_dev += d;
      sum_square += d * d;
    }
    return shifted_moments(n, mean, {sum_dev, sum_square});
  }

  static void columns(State* states, bool first, const float* p, int64_t stride, int rows, int width, int64_t, const Params&) {
    constexpr int strip = 8 * kDoubles, band = 8;  // columns that registers hold, and rows that are in cache while the strips go by
    alignas(64) double sum[kTile], square[kTile];
    for (int j = 0; j < width; ++j) sum[j] = square[j] = 0;
    for (int top = 0; top < rows; top += band) {
      const int bottom = top + band < rows ? top + band : rows;
      int j = 0;
      for (; j + strip <= width; j += strip) {
        FloatSums<strip> lanes;
        __builtin_memcpy(lanes.sum, sum + j, sizeof lanes.sum);
        __builtin_memcpy(lanes.square, square + j, sizeof lanes.square);
        for (int r = top; r < bottom; ++r) lanes.add(p + r * stride + j);
        __builtin_memcpy(sum + j, lanes.sum, sizeof lanes.sum);
        __builtin_memcpy(square + j, lanes.square, sizeof lanes.square);
      }
      for (int r = top; r < bottom; ++r) {
        for (int k = j; k < width; ++k) {
          const double x = p[r * stride + k];
          sum[k] += x;
          square[k] += x * x;
        }
      }
    }
    for (int j = 0; j < width; ++j) {
      const State s = float_moments(p + j, stride, rows, {sum[j], square[j]});
      states[j] = first ? s : merge(states[j], s);
    }
  }

  static void columns(State* states, bool first, const double* p, int64_t stride, int rows, int width, int64_t, const Params&) {
    alignas(64) T mean[kTile], dev[kTile], square[kTile];
    fold_columns<SumFold<T>>(mean, p, stride, rows, width);
    for (int j = 0; j < width; ++j) {
      mean[j] /= static_cast<T>(rows);
      dev[j] = square[j] = 0;
    }
    for (int r = 0; r < rows; ++r) {
      const T* __restrict row = p + r * stride;
      for (int j = 0; j < width; ++j) {
        const T d = row[j] - mean[j];
        dev[j] += d;
        square[j] += d * d;
      }
    }
    for (int j = 0; j < width; ++j) {
      const State s = shifted_moments(rows, mean[j], {dev[j], square[j]});
      states[j] = first ? s : merge(states[j], s);
    }
  }

  static State renumber(const State& s, int64_t, int64_t) { return s; }

  static void store(const State* s, int64_t n, const Target& out, const Params& params) {
    if (out.data[0]) {
      store_batches<double>(out.data[0], out.dtype[0], out.at[0], out.step[0], n, [&](int64_t i) {
        const double var = s[i].n == 0 ? NAN : s[i].m2 / std::fmax(0.0, s[i].n - params.correction);
        return params.take_sqrt ? std::sqrt(var) : var;
      });
    }
    if (out.data[1]) {
      store_batches<double>(out.data[1], out.dtype[1], out.at[1], out.step[1], n, [&](int64_t i) { return s[i].n == 0 ? NAN : s[i].mean; });
    }
  }
};

// Elements are cast to the compute type of `out`; a bool output asks only whether they are nonzero.
template <template <class> class Op> void cast_and_reduce(const Array& out, const Array& in) {
  if (in.dtype == DType::Float32 && out.dtype == DType::Float32) return reduce_with<Op<float>>(out, nullptr, in);  // nothing to decide
  visit_compute(out.dtype, [&](auto zero) { reduce_with<Op<decltype(zero)>>(out, nullptr, in, {}, out.dtype == DType::Bool); });
}

void sum(const Array& out, const Array& in) { cast_and_reduce<Sum>(out, in); }

// Input and output have the same dtype, and integers stay what they are.
template <template <class> class Op> void extremum(const Array& out, const Array& in) {
  switch (in.dtype) {
    case DType::Bool: return reduce_with<Op<int64_t>>(out, nullptr, in, {}, true);
    case DType::UInt8: return reduce_with<Op<uint8_t>>(out, nullptr, in);
    case DType::Int8: return reduce_with<Op<int8_t>>(out, nullptr, in);
    case DType::Int16: return reduce_with<Op<int16_t>>(out, nullptr, in);
    case DType::Int32: return reduce_with<Op<int32_t>>(out, nullptr, in);
    case DType::Int64: return reduce_with<Op<int64_t>>(out, nullptr, in);
    case DType::Float64: return reduce_with<Op<double>>(out, nullptr, in);
    default: return reduce_with<Op<float>>(out, nullptr, in);
  }
}
void max(const Array& out, const Array& in) { extremum<Max>(out, in); }
void min(const Array& out, const Array& in) { extremum<Min>(out, in); }

// Both in one pass, for what is read as it lies in memory.
template <class Element> struct MinMax {
  using T = Element;
  struct State { T low, high; };
  static State identity() { return {MinFold<T>::start(), MaxFold<T>::start()}; }
  static State merge(State a, State b) { return {MinFold<T>::combine(a.low, b.low), MaxFold<T>::combine(a.high, b.high)}; }
  static State chunk(const T* p, int64_t n, int64_t, const Params&) { return {fold<MinFold<T>>(p, n), fold<MaxFold<T>>(p, n)}; }
  static void columns(State* __restrict states, bool first, const T* p, int64_t stride, int rows, int width, int64_t, const Params&) {
    alignas(64) T low[kTile], high[kTile];
    fold_columns<MinFold<T>>(low, p, stride, rows, width);
    fold_columns<MaxFold<T>>(high, p, stride, rows, width);
    for (int j = 0; j < width; ++j) states[j] = first ? State{low[j], high[j]} : merge(states[j], {low[j], high[j]});
  }
  static State renumber(State s, int64_t, int64_t) { return s; }
  static void store(const State* s, int64_t n, const Target& out, const Params&) {
    store_batches<T>(out.data[0], out.dtype[0], out.at[0], out.step[0], n, [&](int64_t i) { return s[i].low; });
    store_batches<T>(out.data[1], out.dtype[1], out.at[1], out.step[1], n, [&](int64_t i) { return s[i].high; });
  }
};
void min_max(const Array& low, const Array& high, const Array& in) {
  if (in.dtype == DType::Float32) return reduce_with<MinMax<float>>(low, &high, in);
  if (in.dtype == DType::Float64) return reduce_with<MinMax<double>>(low, &high, in);
  if (in.dtype == DType::Int64) return reduce_with<MinMax<int64_t>>(low, &high, in);
  min(low, in);
  max(high, in);
}

void mean(const Array& out, const Array& in) {
  if (out.dtype == DType::Float64) return reduce_with<Mean<double>>(out, nullptr, in);
  reduce_with<Mean<float>>(out, nullptr, in);
}

void nansum(const Array& out, const Array& in) {
  if (out.dtype == DType::Float64) return reduce_with<NanSum<double>>(out, nullptr, in);
  reduce_with<NanSum<float>>(out, nullptr, in);
}

void prod(const Array& out, const Array& in) {
  if (is_floating(out.dtype) && is_floating(in.dtype) && in.dtype != DType::Float64) return reduce_with<ProdOfFloats>(out, nullptr, in);
  if (is_floating(out.dtype)) return reduce_with<Prod<double>>(out, nullptr, in);
  reduce_with<Prod<int64_t>>(out, nullptr, in, {}, out.dtype == DType::Bool);
}

void exclusive_or(const Array& out, const Array& in) { reduce_with<FoldOp<XorFold, int64_t>>(out, nullptr, in); }

// Looks for the first zero or nonzero byte, a few cache lines at a time.
bool any_byte(const uint8_t* p, int64_t n, bool zero) {
  int64_t i = 0;
  for (; i + 1024 <= n; i += 1024) {
    uint8_t found = 0;
    for (int j = 0; j < 1024; ++j) found |= (p[i + j] == 0) == zero;
    if (found) return true;
  }
  for (; i < n; ++i)
    if ((p[i] == 0) == zero) return true;
  return false;
}

// The number of elements if everything is reduced and `in` is contiguous, else -1.
int64_t full_contiguous(const Array& in, const int64_t* out_strides) {
  int64_t n = 1;
  for (int d = in.ndim - 1; d >= 0; --d) {
    if (in.sizes[d] == 1) continue;
    if (out_strides[d] != 0 || in.strides[d] != n) return -1;
    n *= in.sizes[d];
  }
  return n;
}

template <bool kAll> void any_all(const Array& out, const Array& in) {
  const int64_t n = itemsize(in.dtype) == 1 ? full_contiguous(in, out.strides) : -1;
  if (n < 0) return reduce_with<FoldOp<std::conditional_t<kAll, AllFold, AnyFold>, int64_t>>(out, nullptr, in, {}, true);
  const uint8_t* p = in.ptr<uint8_t>();
  *out.ptr<uint8_t>() = any_byte(p, n, kAll) != kAll;
}

void count_nonzero(const Array& out, const Array& in) { reduce_with<Sum<int64_t>>(out, nullptr, in, {}, true); }

template <class T> void norm_of(const Array& out, const Array& in, double p) {
  if (p == 2) return reduce_with<Norm2<T>>(out, nullptr, in);
  if (p == 1) return reduce_with<NormOp<AbsFold<T>>>(out, nullptr, in);
  if (p == HUGE_VAL) return reduce_with<NormOp<MaxAbsFold<T>>>(out, nullptr, in);
  if (p == -HUGE_VAL) return reduce_with<NormOp<MinAbsFold<T>>>(out, nullptr, in);
  Params params;
  params.p = p;
  reduce_with<NormP<T>>(out, nullptr, in, params);
}

void norm(const Array& out, const Array& in, double p) {
  if (p == 0) return count_nonzero(out, in);
  if (out.dtype == DType::Float64) return norm_of<double>(out, in, p);
  norm_of<float>(out, in, p);
}

void var_mean(const Array& var, const Array& mean, const Array& in, double correction, bool take_sqrt) {
  Params params;
  params.correction = correction;
  params.take_sqrt = take_sqrt;
  if ((var.data ? var : mean).dtype == DType::Float64) return reduce_with<VarMean<double>>(var, &mean, in, params);
  reduce_with<VarMean<float>>(var, &mean, in, params);
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(ReduceKernels, reduce) = {
    .sum = RG_LEVEL_NS::sum,
    .nansum = RG_LEVEL_NS::nansum,
    .mean = RG_LEVEL_NS::mean,
    .prod = RG_LEVEL_NS::prod,
    .max = RG_LEVEL_NS::max,
    .min = RG_LEVEL_NS::min,
    .min_max = RG_LEVEL_NS::min_max,
    .any = RG_LEVEL_NS::any_all<false>,
    .all = RG_LEVEL_NS::any_all<true>,
    .count_nonzero = RG_LEVEL_NS::count_nonzero,
    .exclusive_or = RG_LEVEL_NS::exclusive_or,
    .small_sum = RG_LEVEL_NS::small_sum,
    .largest = RG_LEVEL_NS::largest,
    .norm = RG_LEVEL_NS::norm,
    .var_mean = RG_LEVEL_NS::var_mean,
    .argmax = RG_LEVEL_NS::argmax,
    .argmin = RG_LEVEL_NS::argmin,
    .max_with_index = RG_LEVEL_NS::max_with_index,
    .min_with_index = RG_LEVEL_NS::min_with_index,
};

}  // namespace retrograd::cpu
