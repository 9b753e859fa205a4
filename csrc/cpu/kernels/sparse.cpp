// Each element of a result is summed in the order of the elements of the sparse matrix, however the work is shared: by rows where they are in
// order, by columns where they are not.
#include "kernels/sparse.h"
#include "cpu/isa.h"

#include <cstring>

#include "cpu/families.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int64_t kGrain = 32768;  // products that are worth a thread

template <class F> void visit_element(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float64: return f(double{});
    case DType::Complex64: return f(Complex<float>{});
    case DType::Complex128: return f(Complex<double>{});
    case DType::Int64: return f(int64_t{});
    default: return f(float{});
  }
}

// The first index that is not in [0, size).
IndexError first_bad(const Array& index, int dim, int64_t size) {
  const int64_t n = index.sizes[0];
  const auto* at = index.ptr<const int64_t>();
  uint64_t largest = 0;  // negative ones count as large
  for (int64_t k = 0; k < n; ++k) largest = static_cast<uint64_t>(at[k]) > largest ? static_cast<uint64_t>(at[k]) : largest;
  if (n == 0 || largest < static_cast<uint64_t>(size)) return {};
  for (int64_t k = 0;; ++k)
    if (static_cast<uint64_t>(at[k]) >= static_cast<uint64_t>(size)) return {false, dim, at[k], size};
}

bool in_order(const int64_t* rows, int64_t n) {
  bool ordered = true;
  for (int64_t k = 1; k < n; ++k) ordered &= rows[k - 1] <= rows[k];
  return ordered;
}

template <class T> struct Product {
  T* out;
  const int64_t *rows, *columns;
  const T *values, *mat;
  int64_t width;

  // Columns [j, j + N) of one row, from its elements [from, to), without touching memory in between.
  template <int N> void strip(int64_t from, int64_t to, int64_t j) const {
    T sum[N] = {};
    for (int64_t k = from; k < to; ++k) {
      const T v = values[k];
      const T* m = mat + columns[k] * width + j;
      for (int i = 0; i < N; ++i) sum[i] += v * m[i];
    }
    T* o = out + rows[from] * width + j;
    for (int i = 0; i < N; ++i) o[i] = sum[i];
  }
  void whole_row(int64_t from, int64_t to) const {
    constexpr int wide = 256 / sizeof(T), narrow = 64 / sizeof(T);
    int64_t j = 0;
    for (; j + wide <= width; j += wide) strip<wide>(from, to, j);
    for (; j + narrow <= width; j += narrow) strip<narrow>(from, to, j);
    for (; j < width; ++j) strip<1>(from, to, j);
  }
  // Elements [begin, end) of rows in order; a row belongs to whoever has its first element.
  void ordered(int64_t begin, int64_t end, int64_t n) const {
    while (begin < end && begin > 0 && rows[begin] == rows[begin - 1]) ++begin;
    while (begin < end) {
      int64_t to = begin + 1;
      while (to < n && rows[to] == rows[begin]) ++to;
      whole_row(begin, to);
      begin = to;
    }
  }
  // Columns [from, to) of all rows.
  void unordered(int64_t from, int64_t to, int64_t n) const {
    for (int64_t k = 0; k < n; ++k) {
      const T v = values[k];
      const T* __restrict m = mat + columns[k] * width;
      T* __restrict o = out + rows[k] * width;
      for (int64_t j = from; j < to; ++j) o[j] += v * m[j];
    }
  }
};

IndexError mm(const Array& out, const Array& rows, const Array& columns, const Array& values, const Array& mat) {
  if (const IndexError error = first_bad(rows, 0, out.sizes[0]); !error.ok) return error;
  if (const IndexError error = first_bad(columns, 1, mat.sizes[0]); !error.ok) return error;
  const int64_t n = rows.sizes[0], width = out.sizes[1];
  if (out.numel() == 0) return {};
  std::memset(out.data, 0, static_cast<size_t>(out.numel() * itemsize(out.dtype)));
  visit_element(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const Product<T> p{out.ptr<T>(),          rows.ptr<const int64_t>(), columns.ptr<const int64_t>(),
                       values.ptr<const T>(), mat.ptr<const T>(),        width};
    if (in_order(p.rows, n)) {
      parallel_for(0, n, kGrain / width + 1, [&](int64_t begin, int64_t end) { p.ordered(begin, end, n); });
    } else {
      const int64_t line = static_cast<int64_t>(64 / sizeof(T)), least = kGrain / n + 1;
      const int64_t grain = (least + line - 1) / line * line;  // threads share no cache line
      parallel_for(0, (width + grain - 1) / grain, 1,
                   [&](int64_t begin, int64_t end) { p.unordered(begin * grain, end * grain < width ? end * grain : width, n); });
    }
  });
  return {};
}

template <class T> T dot(const T* a, const T* b, int64_t n) {
  constexpr int lanes = 128 / sizeof(T);
  T sums[lanes] = {}, total{};
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes)
    for (int i = 0; i < lanes; ++i) sums[i] += a[j + i] * b[j + i];
  for (int i = 0; i < lanes; ++i) total += sums[i];
  for (; j < n; ++j) total += a[j] * b[j];
  return total;
}

IndexError dots(const Array& out, const Array& rows, const Array& columns, const Array& a, const Array& b) {
  if (const IndexError error = first_bad(rows, 0, a.sizes[0]); !error.ok) return error;
  if (const IndexError error = first_bad(columns, 1, b.sizes[0]); !error.ok) return error;
  const int64_t n = rows.sizes[0], width = a.sizes[1];
  const auto *row = rows.ptr<const int64_t>(), *column = columns.ptr<const int64_t>();
  visit_element(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(0, n, kGrain / (width + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k)
        out.ptr<T>()[k] = dot(a.ptr<const T>() + row[k] * width, b.ptr<const T>() + column[k] * width, width);
    });
  });
  return {};
}

// A radix sort of positions by their keys, eleven bits at a time; digits that all keys share are passed over.
void group(int64_t* order, int64_t* group, int64_t* spare, int64_t* count, const int64_t* keys, int64_t n) {
  constexpr int bits = 11;
  constexpr int64_t digits = 1 << bits;
  int64_t all = 0;
  bool ordered = true;
  for (int64_t i = 0; i < n; ++i) {
    all |= keys[i];
    ordered &= i == 0 || keys[i - 1] <= keys[i];
  }
  *count = -1;
  if (all < 0) return;
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  // Keys move with their positions: (from, from_key) to (to, to_key) and back. `group` is free until the end.
  int64_t *from = order, *to = group, *from_key = spare, *to_key = spare + n;
  if (!ordered) {
    std::memcpy(from_key, keys, static_cast<size_t>(n) * sizeof(int64_t));
    for (int shift = 0; shift < 63 && all >> shift; shift += bits) {
      int64_t starts[digits + 1] = {};
      for (int64_t i = 0; i < n; ++i) ++starts[(from_key[i] >> shift & (digits - 1)) + 1];
      for (int64_t d = 0; d < digits; ++d) starts[d + 1] += starts[d];
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = starts[from_key[i] >> shift & (digits - 1)]++;
        to[place] = from[i];
        to_key[place] = from_key[i];
      }
      int64_t* swapped = from;
      from = to;
      to = swapped;
      swapped = from_key;
      from_key = to_key;
      to_key = swapped;
    }
    if (from != order) std::memcpy(order, from, static_cast<size_t>(n) * sizeof(int64_t));
  }
  int64_t number = -1, last = -1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = order[i], key = keys[at];
    number += key != last;
    last = key;
    group[at] = number;
  }
  *count = number + 1;
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(SparseKernels, sparse) = {
    .mm = Reporting<RG_LEVEL_NS::mm>::run, .dots = Reporting<RG_LEVEL_NS::dots>::run, .group = RG_LEVEL_NS::group};

}  // namespace retrograd::cpu
