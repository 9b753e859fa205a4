// Softmax, log_softmax, their gradients, logsumexp. Sums run in lanes of T over a piece of a line at a time, and from there in double.
// Outputs may be their own inputs, element for element: the loops that write them say so with ivdep.
#include "kernels/softmax.h"
#include "cpu/isa.h"

#include "cpu/kernels/lines.h"
#include "cpu/kernels/reduce_ops.h"
#include "cpu/vecmath.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int64_t kPiece = 1024;   // elements of a line between two passes over it, small enough for the first-level cache
constexpr int64_t kLine = 8192;    // longest line that is converted on the stack
constexpr int64_t kColumns = 256;  // columns at once
constexpr int64_t kShort = 8;      // lines of up to this many elements are transposed
constexpr int64_t kMedium = 64;    // and those of up to this many are padded
constexpr int kSumRows = 32;       // rows summed in T before they join a sum in double

template <class T> DType dtype_of() { return DTypeOf<T>::value; }

// An array seen line by line: in place where it is made of T and contiguous along the line, else through a buffer.
template <class T> struct Side {
  const Array& array;
  int64_t stride;
  bool direct;
  Side(const Array& a, int64_t s) : array(a), stride(s), direct(a.dtype == dtype_of<T>() && s == 1) {}

  const T* read(int64_t at, int64_t n, T* buffer) const {
    if (direct) return array.ptr<T>() + at;
    loader(array.dtype, dtype_of<T>())(array.data, at, stride, n, buffer);
    return buffer;
  }
  T* target(int64_t at, T* buffer) const { return direct ? array.ptr<T>() + at : buffer; }
  void write(int64_t at, int64_t n, const T* buffer) const {
    if (!direct) storer(array.dtype, dtype_of<T>())(array.data, at, stride, n, buffer);
  }
};

template <class T, class F> double sum_pieces(int64_t n, F&& piece) {
  double total = 0;
  for (int64_t i = 0; i < n; i += kPiece) total += static_cast<double>(piece(i, n - i < kPiece ? n - i : kPiece));
  return total;
}

// out[i] = exp(x[i] - shift), and their sum.
template <class T> double exp_line(T* out, const T* x, int64_t n, T shift) {
  return sum_pieces<T>(n, [&](int64_t i, int64_t m) {
    T* o = out + i;
    const T* p = x + i;
#pragma GCC ivdep
    for (int64_t j = 0; j < m; ++j) o[j] = exp_neg_(p[j] - shift);
    return fold<SumFold<T>>(o, m);
  });
}

template <class T, bool kLog> void softmax_line(T* out, const T* x, int64_t n) {
  const T highest = fold<MaxFold<T>>(x, n);
  if constexpr (kLog) {
    alignas(64) T buffer[kPiece];
    const double sum = sum_pieces<T>(n, [&](int64_t i, int64_t m) {
      for (int64_t j = 0; j < m; ++j) buffer[j] = exp_neg_(x[i + j] - highest);
      return fold<SumFold<T>>(buffer, m);
    });
    const T log_sum = log_(static_cast<T>(sum));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] - highest - log_sum;
  } else {
    const T scale = static_cast<T>(1 / exp_line(out, x, n, highest));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  }
}

// The sum of a[i] * b[i] over one piece, in the lanes of fold().
template <class T> T dot_piece(const T* a, const T* b, int64_t n) {
  using V = Vector<T>;
  constexpr int width = kVectorBytes / static_cast<int>(sizeof(T));
  V acc[kVectors] = {};
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) {
#pragma GCC unroll 16
    for (int k = 0; k < kVectors; ++k) acc[k] += load_vector<V>(a + i + k * width) * load_vector<V>(b + i + k * width);
  }
  T sum = n < kLanes<T> ? 0 : join_vector<SumFold<T>, width>(join_vectors<SumFold<T>>(acc, kVectors));
  if (i + 8 <= n) {
    Vector<T, 8> rest = {};
    for (; i + 8 <= n; i += 8) rest += load_vector<Vector<T, 8>>(a + i) * load_vector<Vector<T, 8>>(b + i);
    sum += join_vector<SumFold<T>, 8>(rest);
  }
#pragma GCC unroll 1
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// The first n elements of eight, fewer than that, with `rest` in the other lanes. Where there is an instruction for it nothing is stored in
// pieces, which the load of the whole would have to wait for.
template <class T> RG_INLINE Vector<T, 8> load_some(const T* p, int64_t n, T rest) {
#if defined(__AVX512VL__)
  const auto lanes = static_cast<__mmask8>((1u << n) - 1);
  if constexpr (std::is_same_v<T, float>)
    return reinterpret_cast<Vector<T, 8>>(_mm256_mask_loadu_ps(_mm256_set1_ps(rest), lanes, p));
  else
    return reinterpret_cast<Vector<T, 8>>(_mm512_mask_loadu_pd(_mm512_set1_pd(rest), lanes, p));
#else
  alignas(64) T buffer[8];
  for (int64_t j = 0; j < 8; ++j) buffer[j] = rest;
  for (int64_t j = 0; j < n; ++j) buffer[j] = p[j];
  return load_vector<Vector<T, 8>>(buffer);
#endif
}

// Lines of up to kMedium elements, several at a time: each is padded to whole vectors with -inf, which no sum or maximum notices.
template <class T, bool kLog> void softmax_medium(T* out, int64_t out_step, const T* in, int64_t in_step, int64_t lines, int64_t n) {
  constexpr int64_t batch = 16;
  using V = Vector<T, 8>;
  alignas(64) T x[batch][kMedium], e[batch][kMedium], highest[batch], sum[batch];
  const int64_t whole = n / 8 * 8, padded = (n + 7) / 8 * 8;
  for (int64_t first = 0; first < lines; first += batch, in += batch * in_step, out += batch * out_step) {
    const int64_t count = lines - first < batch ? lines - first : batch;
    for (int64_t i = 0; i < count; ++i) {
      const T* p = in + i * in_step;
      V top = V{} + kLowest<T>;
      for (int64_t j = 0; j < padded; j += 8) {
        const V v = j < whole ? load_vector<V>(p + j) : load_some(p + j, n - whole, kLowest<T>);
        __builtin_memcpy(x[i] + j, &v, sizeof v);
        top = MaxFold<T>::step(top, v);
      }
      highest[i] = join_vector<MaxFold<T>, 8>(top);
    }
    for (int64_t i = 0; i < count; ++i) {
      V total = {};
      for (int64_t j = 0; j < padded; j += 8) {
        for (int k = 0; k < 8; ++k) e[i][j + k] = exp_neg_(x[i][j + k] - highest[i]);
        total += load_vector<V>(e[i] + j);
      }
      sum[i] = join_vector<SumFold<T>, 8>(total);
    }
    for (int64_t i = 0; i < count; ++i) sum[i] = kLog ? log_(sum[i]) : 1 / sum[i];
    for (int64_t i = 0; i < count; ++i) {
      T* o = out + i * out_step;
      for (int64_t j = 0; j < n; ++j) o[j] = kLog ? x[i][j] - highest[i] - sum[i] : e[i][j] * sum[i];
    }
  }
}

// Up to seven columns that lie side by side, as lanes of one vector: lines too few for a tile.
template <class T, bool kLog> void softmax_few(T* out, int64_t out_line, const T* in, int64_t in_line, int64_t n, int64_t width) {
  using V = Vector<T, 8>;
  alignas(64) T x[kMedium][8], e[kMedium][8];
  V top = V{} + kLowest<T>, total = {};
  for (int64_t r = 0; r < n; ++r) {
    const V v = load_some(in + r * in_line, width, T(0));
    __builtin_memcpy(x[r], &v, sizeof v);
    top = MaxFold<T>::step(top, v);
  }
  alignas(64) T highest[8], factor[8];
  __builtin_memcpy(highest, &top, sizeof top);
  for (int64_t r = 0; r < n; ++r) {
    for (int k = 0; k < 8; ++k) e[r][k] = exp_neg_(x[r][k] - highest[k]);
    total += load_vector<V>(e[r]);
  }
  __builtin_memcpy(factor, &total, sizeof total);
  for (int k = 0; k < 8; ++k) factor[k] = kLog ? log_(factor[k]) : 1 / factor[k];
  for (int64_t r = 0; r < n; ++r)
    for (int64_t k = 0; k < width; ++k) out[r * out_line + k] = kLog ? x[r][k] - highest[k] - factor[k] : e[r][k] * factor[k];
}

template <class T, bool kLog> void backward_line(T* grad_in, const T* grad, const T* result, int64_t n) {
  if constexpr (kLog) {
    const T sum = static_cast<T>(sum_pieces<T>(n, [&](int64_t i, int64_t m) { return fold<SumFold<T>>(grad + i, m); }));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) grad_in[i] = grad[i] - exp_(result[i]) * sum;
  } else {
    const T sum = static_cast<T>(sum_pieces<T>(n, [&](int64_t i, int64_t m) { return dot_piece(grad + i, result + i, m); }));
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) grad_in[i] = (grad[i] - sum) * result[i];
  }
}

int64_t grain_of(int64_t n) { return n < 8192 ? 8192 / (n ? n : 1) : 1; }

// Sums over rows by column: add() takes a row in, flush() after the last.
template <class T> struct ColumnSums {
  alignas(64) T part[kColumns] = {};
  alignas(64) double total[kColumns] = {};
  int rows = 0;
  void row_done(int64_t width) {
    if (++rows == kSumRows) flush(width);
  }
  void flush(int64_t width) {
    for (int64_t j = 0; j < width; ++j) {
      total[j] += static_cast<double>(part[j]);
      part[j] = 0;
    }
    rows = 0;
  }
};

template <class T, bool kLog> void softmax_tile(const Side<T>& out, const Side<T>& in, const int64_t* at, int64_t n, const int64_t* line,
                                                int64_t width) {
  alignas(64) T buffer[kColumns], other[kColumns], highest[kColumns];
  ColumnSums<T> sums;
  for (int64_t j = 0; j < width; ++j) highest[j] = kLowest<T>;
  for (int64_t r = 0; r < n; ++r) {
    const T* x = in.read(at[1] + r * line[1], width, buffer);
    for (int64_t j = 0; j < width; ++j) highest[j] = MaxFold<T>::step(highest[j], x[j]);
  }
  const bool keep = !kLog && out.direct;  // exponentials wait in the output for their sum
  for (int64_t r = 0; r < n; ++r) {
    const T* x = in.read(at[1] + r * line[1], width, buffer);
    T* e = keep ? out.target(at[0] + r * line[0], nullptr) : other;
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) {
      e[j] = exp_neg_(x[j] - highest[j]);
      sums.part[j] += e[j];
    }
    sums.row_done(width);
  }
  sums.flush(width);
  alignas(64) T factor[kColumns];
  for (int64_t j = 0; j < width; ++j) factor[j] = kLog ? log_(static_cast<T>(sums.total[j])) : static_cast<T>(1 / sums.total[j]);
  for (int64_t r = 0; r < n; ++r) {
    T* o = out.target(at[0] + r * line[0], other);
    if (keep) {
#pragma GCC ivdep
      for (int64_t j = 0; j < width; ++j) o[j] *= factor[j];
      continue;
    }
    const T* x = in.read(at[1] + r * line[1], width, buffer);
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) o[j] = kLog ? x[j] - highest[j] - factor[j] : exp_neg_(x[j] - highest[j]) * factor[j];
    out.write(at[0] + r * line[0], width, o);
  }
}

template <class T, bool kLog> void backward_tile(const Side<T>& grad_in, const Side<T>& grad, const Side<T>& result, const int64_t* at,
                                                 int64_t n, const int64_t* line, int64_t width) {
  alignas(64) T g_buffer[kColumns], y_buffer[kColumns], o_buffer[kColumns], sum[kColumns];
  ColumnSums<T> sums;
  for (int64_t r = 0; r < n; ++r) {
    const T* g = grad.read(at[2] + r * line[2], width, g_buffer);
    if constexpr (kLog) {
      for (int64_t j = 0; j < width; ++j) sums.part[j] += g[j];
    } else {
      const T* y = result.read(at[1] + r * line[1], width, y_buffer);
      for (int64_t j = 0; j < width; ++j) sums.part[j] += g[j] * y[j];
    }
    sums.row_done(width);
  }
  sums.flush(width);
  for (int64_t j = 0; j < width; ++j) sum[j] = static_cast<T>(sums.total[j]);
  for (int64_t r = 0; r < n; ++r) {
    const T* g = grad.read(at[2] + r * line[2], width, g_buffer);
    const T* y = result.read(at[1] + r * line[1], width, y_buffer);
    T* o = grad_in.target(at[0] + r * line[0], o_buffer);
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) o[j] = kLog ? g[j] - exp_(y[j]) * sum[j] : (g[j] - sum[j]) * y[j];
    grad_in.write(at[0] + r * line[0], width, o);
  }
}

// Lines too short to fill vectors are put side by side in a block first, and so are columns of another dtype while they fit.
template <class T> struct Block {
  alignas(64) T data[kShort * kColumns];
  const Array array = {data, dtype_of<T>(), 0, nullptr, nullptr};
  Side<T> side() const { return Side<T>(array, 1); }

  void read(const Side<T>& from, int64_t at, int64_t n, int64_t line, int64_t width) {
    const Load load = loader(from.array.dtype, dtype_of<T>());
    for (int64_t r = 0; r < n; ++r) load(from.array.data, at + r * line, from.stride, width, data + r * kColumns);
  }
  void write(const Side<T>& to, int64_t at, int64_t n, int64_t line, int64_t width) {
    const Store store = storer(to.array.dtype, dtype_of<T>());
    for (int64_t r = 0; r < n; ++r) store(to.array.data, at + r * line, to.stride, width, data + r * kColumns);
  }
};
constexpr int64_t kBlockStart[3] = {0, 0, 0}, kBlockLine[3] = {kColumns, kColumns, kColumns};

bool by_columns(const Lines& lines, int64_t n) { return lines.columns_suit(n) || (n <= kShort && lines.ndim > 0 && lines.columns() >= 16); }

template <class T, bool kLog> void softmax_of(const Array& out, const Array& in, int dim) {
  const Lines lines({&out, &in}, dim);
  const int64_t n = out.ndim ? out.sizes[dim] : 1;
  if (n == 0 || lines.lines == 0) return;
  if (by_columns(lines, n)) {
    const Side<T> o(out, lines.column_strides()[0]), x(in, lines.column_strides()[1]);
    const bool direct = n > kShort || (o.direct && x.direct);
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      if (direct) return softmax_tile<T, kLog>(o, x, at, n, lines.stride, width);
      Block<T> block;
      block.read(x, at[1], n, lines.stride[1], width);
      softmax_tile<T, kLog>(block.side(), block.side(), kBlockStart, n, kBlockLine, width);
      block.write(o, at[0], n, lines.stride[0], width);
    });
    return;
  }
  const Side<T> o(out, lines.stride[0]), x(in, lines.stride[1]);
  if (o.direct && x.direct && n <= kMedium) {
    lines.each_run(
        grain_of(n), [] { return 0; },
        [&](int, const int64_t* at, int64_t count, const int64_t* step) {
          softmax_medium<T, kLog>(out.ptr<T>() + at[0], step[0], in.ptr<T>() + at[1], step[1], count, n);
        });
    return;
  }
  const int64_t* const between = lines.ndim > 0 ? lines.column_strides() : nullptr;
  if (between && between[0] == 1 && between[1] == 1 && lines.columns() < 8 && n <= kMedium && out.dtype == dtype_of<T>() &&
      in.dtype == dtype_of<T>()) {
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      softmax_few<T, kLog>(out.ptr<T>() + at[0], lines.stride[0], in.ptr<T>() + at[1], lines.stride[1], n, width);
    });
    return;
  }
  const int64_t buffered = o.direct && x.direct ? 0 : n;
  lines.each(
      grain_of(n), [&] { return Scratch<T, kLine>(buffered); },
      [&](Scratch<T, kLine>& scratch, const int64_t* at) {
        T* target = o.target(at[0], scratch.data());
        softmax_line<T, kLog>(target, x.read(at[1], n, scratch.data()), n);
        o.write(at[0], n, target);
      });
}

template <class T, bool kLog> void backward_of(const Array& grad_in, const Array& grad_out, const Array& result, int dim) {
  const Lines lines({&grad_in, &result, &grad_out}, dim);
  const int64_t n = result.ndim ? result.sizes[dim] : 1;
  if (n == 0 || lines.lines == 0) return;
  if (by_columns(lines, n)) {
    const int64_t* s = lines.column_strides();
    const Side<T> o(grad_in, s[0]), y(result, s[1]), g(grad_out, s[2]);
    const bool direct = n > kShort || (o.direct && y.direct && g.direct);
    lines.each_tile(n, kColumns, [&](const int64_t* at, int64_t width) {
      if (direct) return backward_tile<T, kLog>(o, g, y, at, n, lines.stride, width);
      Block<T> grads, results;
      grads.read(g, at[2], n, lines.stride[2], width);
      results.read(y, at[1], n, lines.stride[1], width);
      backward_tile<T, kLog>(grads.side(), grads.side(), results.side(), kBlockStart, n, kBlockLine, width);
      grads.write(o, at[0], n, lines.stride[0], width);
    });
    return;
  }
  const Side<T> o(grad_in, lines.stride[0]), y(result, lines.stride[1]), g(grad_out, lines.stride[2]);
  const int64_t buffered = o.direct && y.direct && g.direct ? 0 : 2 * n;
  lines.each(
      grain_of(n), [&] { return Scratch<T, kLine>(buffered); },
      [&](Scratch<T, kLine>& scratch, const int64_t* at) {
        T* target = o.target(at[0], scratch.data());
        backward_line<T, kLog>(target, g.read(at[2], n, scratch.data()), y.read(at[1], n, scratch.data() + n), n);
        o.write(at[0], n, target);
      });
}

// log(sum(exp)) of a part: the largest element and the sum of exp(x - largest). Infinite ones stand for themselves with sum 1.
template <class T> struct LogSum {
  T highest;
  double sum;
};

template <class Element> struct LogSumExp {
  using T = Element;
  using State = LogSum<T>;
  static State identity() { return {kLowest<T>, 0}; }
  static State merge(const State& a, const State& b) {
    if (a.highest == b.highest) return {a.highest, a.sum + b.sum};
    const bool less = a.highest < b.highest;
    const State &big = less ? b : a, &small = less ? a : b;
    return {big.highest, big.sum + small.sum * std::exp(static_cast<double>(small.highest) - static_cast<double>(big.highest))};
  }
  static State of(T highest, double sum) {
    if (highest != highest) return {0, NAN};
    if (std::isinf(highest)) return {highest, 1};
    return {highest, sum};
  }
  static State chunk(const T* p, int64_t n, int64_t, const Params&) {
    if (n == 0) return identity();
    alignas(64) T buffer[kChunk];
    const T highest = fold<MaxFold<T>>(p, n);
    return of(highest, exp_line(buffer, p, n, highest));
  }
  static void columns(State* states, bool first, const T* p, int64_t stride, int rows, int width, int64_t, const Params&) {
    alignas(64) T highest[kTile], sum[kTile];
    fold_columns<MaxFold<T>>(highest, p, stride, rows, width);
    for (int j = 0; j < width; ++j) sum[j] = 0;
    for (int r = 0; r < rows; ++r) {
      const T* __restrict row = p + r * stride;
      for (int j = 0; j < width; ++j) sum[j] += exp_neg_(row[j] - highest[j]);
    }
    for (int j = 0; j < width; ++j) states[j] = first ? of(highest[j], sum[j]) : merge(states[j], of(highest[j], sum[j]));
  }
  static State renumber(const State& s, int64_t, int64_t) { return s; }
  static void store(const State* s, int64_t n, const Target& out, const Params&) {
    store_batches<double>(out.data[0], out.dtype[0], out.at[0], out.step[0], n,
                          [&](int64_t i) { return static_cast<double>(s[i].highest) + std::log(s[i].sum); });
  }
};

template <bool kLog> void forward(const Array& out, const Array& in, int dim) {
  if (out.dtype == DType::Float64) return softmax_of<double, kLog>(out, in, dim);
  softmax_of<float, kLog>(out, in, dim);
}

template <bool kLog> void backward(const Array& grad_in, const Array& grad_out, const Array& result, int dim) {
  if (result.dtype == DType::Float64) return backward_of<double, kLog>(grad_in, grad_out, result, dim);
  backward_of<float, kLog>(grad_in, grad_out, result, dim);
}

void logsumexp(const Array& out, const Array& in) {
  if (out.dtype == DType::Float64) return reduce_with<LogSumExp<double>>(out, nullptr, in);
  reduce_with<LogSumExp<float>>(out, nullptr, in);
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(SoftmaxKernels, softmax) = {
    .softmax = RG_LEVEL_NS::forward<false>,
    .log_softmax = RG_LEVEL_NS::forward<true>,
    .softmax_backward = RG_LEVEL_NS::backward<false>,
    .log_softmax_backward = RG_LEVEL_NS::backward<true>,
    .logsumexp = RG_LEVEL_NS::logsumexp,
};

}  // namespace retrograd::cpu
