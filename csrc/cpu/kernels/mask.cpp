// Masks, nonzero and triangles.
#include "cpu/kernels/mask.h"
#include "cpu/isa.h"

#include <cstring>

#include "cpu/kernels/rows.h"
#include "cpu/parallel.h"
#include "kernels/element.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 32768;

template <class T> void fill_where(int64_t n, char* const* data, const int64_t* strides, const void* value) {
  const T v = *static_cast<const T*>(value);
  const int64_t item = sizeof(T);
  if (strides[0] == item && strides[1] == 1) {
    T* __restrict d = reinterpret_cast<T*>(data[0]);
    const u8* __restrict m = reinterpret_cast<const u8*>(data[1]);
    for (int64_t i = 0; i < n; ++i) d[i] = m[i] ? v : d[i];
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    if (data[1][i * strides[1]]) *reinterpret_cast<T*>(data[0] + i * strides[0]) = v;
}

template <class T> bool is_set(const char* p) {
  return static_cast<compute_t<T>>(element(reinterpret_cast<const T*>(p))) != compute_t<T>(0);
}

// Says of each element of a row, `stride` bytes apart, whether it is set: 1 or 0.
using Mark = void (*)(int64_t n, const char* p, int64_t stride, uint8_t* set);
template <class T> void mark(int64_t n, const char* __restrict p, int64_t stride, uint8_t* __restrict set) {
  constexpr int64_t item = sizeof(T);
  if (stride == item) {
    for (int64_t i = 0; i < n; ++i) set[i] = is_set<T>(p + i * item);
  } else {
    for (int64_t i = 0; i < n; ++i) set[i] = is_set<T>(p + i * stride);
  }
}

// Calls f(i) for the elements of a row that are set. Their places are collected without a branch first: random masks are hard to predict.
template <class F> void for_set(Mark mark, const char* p, int64_t stride, int64_t n, F&& f) {
  constexpr int64_t kPiece = 512;
  uint32_t places[kPiece];  // from the first of the piece
  uint8_t set[kPiece];
  for (int64_t begin = 0; begin < n; begin += kPiece, p += kPiece * stride) {
    const int64_t m = smaller(kPiece, n - begin);
    mark(m, p, stride, set);
    int64_t found = 0;
    for (int64_t i = 0; i < m; ++i) {
      places[found] = static_cast<uint32_t>(i);
      found += set[i];
    }
    for (int64_t k = 0; k < found; ++k) f(begin + places[k]);
  }
}

// Steps through the rows of an array in row-major order: the first `outer` dims.
struct RowCounter {
  int outer;
  const int64_t* sizes;
  int64_t at[kMaxDims];

  RowCounter(const Array& a, int dims) : outer(dims), sizes(a.sizes) {
    for (int d = 0; d < outer; ++d) at[d] = 0;
  }
  bool next() {
    for (int d = outer - 1; d >= 0; --d) {
      if (++at[d] < sizes[d]) return true;
      at[d] = 0;
    }
    return false;
  }
  char* row(const Array& a) const {
    int64_t offset = 0;
    for (int d = 0; d < outer; ++d) offset += at[d] * a.strides[d];
    return a.ptr<char>() + offset * itemsize(a.dtype);
  }
};

// Calls f(element of a) where the mask is set, in row-major order. Dims that lie as one in both are one row.
template <class F> void for_masked(const Array& a, const Array& mask, F&& f) {
  if (a.numel() == 0) return;
  int last = a.ndim - 1;
  const int64_t as = a.ndim ? a.strides[last] : 0, ms = a.ndim ? mask.strides[last] : 0;
  int64_t n = a.ndim ? a.sizes[last] : 1;
  while (last > 0 && (a.sizes[last - 1] == 1 || (a.strides[last - 1] == n * as && mask.strides[last - 1] == n * ms))) n *= a.sizes[--last];
  RowCounter counter(a, last);
  do {
    char* p = counter.row(a);
    for_set(mark<bool>, counter.row(mask), ms, n, [&](int64_t i) { f(p + i * as * itemsize(a.dtype)); });
  } while (counter.next());
}

template <class T> int64_t count_row(const char* p, int64_t stride, int64_t n) {
  int64_t count = 0, i = 0;
  if (sizeof(T) == 1 && stride == 1) {  // bytes are counted in bytes, 64 at a time, for as long as those do not overflow
    constexpr int64_t kLanes = 64, kRounds = 255;
    while (i + kLanes <= n) {
      uint8_t lanes[kLanes] = {};
      const int64_t end = smaller(n - kLanes, i + kLanes * (kRounds - 1));
      for (; i <= end; i += kLanes)
        for (int64_t l = 0; l < kLanes; ++l) lanes[l] = static_cast<uint8_t>(lanes[l] + (p[i + l] != 0));
      for (int64_t l = 0; l < kLanes; ++l) count += lanes[l];
    }
  }
  if (stride == static_cast<int64_t>(sizeof(T))) {
    for (; i < n; ++i) count += is_set<T>(p + i * static_cast<int64_t>(sizeof(T)));
  } else {
    for (; i < n; ++i) count += is_set<T>(p + i * stride);
  }
  return count;
}

// Writes the places of the elements that are set; `out` is [.., ndim].
void find_set(const Array& out, const Array& in, Mark mark) {
  if (out.sizes[0] == 0 || in.ndim == 0) return;
  int64_t* to = out.ptr<int64_t>();
  const int64_t step = out.strides[0], column = out.strides[1];
  const int last = in.ndim - 1;
  RowCounter counter(in, last);
  do {
    for_set(mark, counter.row(in), in.strides[last] * itemsize(in.dtype), in.sizes[last], [&](int64_t i) {
      for (int d = 0; d < last; ++d) to[d * column] = counter.at[d];
      to[last * column] = i;
      to += step;
    });
  } while (counter.next());
}

// Columns [begin, end) of row `to` come from `from`, the others are zero.
template <class T> void keep_columns(char* to, int64_t ts, const char* from, int64_t fs, int64_t columns, int64_t begin, int64_t end) {
  constexpr int64_t item = sizeof(T);
  if (ts == item && fs == item) {
    std::memset(to, 0, static_cast<size_t>(begin * item));
    if (to != from) std::memcpy(to + begin * item, from + begin * item, static_cast<size_t>((end - begin) * item));
    std::memset(to + end * item, 0, static_cast<size_t>((columns - end) * item));
    return;
  }
  for (int64_t j = 0; j < columns; ++j)
    *reinterpret_cast<T*>(to + j * ts) = j >= begin && j < end ? *reinterpret_cast<const T*>(from + j * fs) : T{};
}

template <class T> void triangle(const Array& out, const Array& in, int64_t diagonal, bool lower) {
  constexpr int64_t item = sizeof(T);
  const int r = in.ndim - 2, c = in.ndim - 1;
  const int64_t rows = in.sizes[r], columns = in.sizes[c], all_rows = columns ? in.numel() / columns : 0;
  parallel_for(0, all_rows, larger(1, kGrain / larger(1, columns)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % rows;
      int64_t rest = i / rows, to = row * out.strides[r], from = row * in.strides[r];
      for (int d = r - 1; d >= 0; --d) {
        to += rest % in.sizes[d] * out.strides[d];
        from += rest % in.sizes[d] * in.strides[d];
        rest /= in.sizes[d];
      }
      const int64_t edge = smaller(columns, larger(0, lower ? row + diagonal + 1 : row + diagonal));
      keep_columns<T>(out.ptr<char>() + to * item, out.strides[c] * item, in.ptr<char>() + from * item, in.strides[c] * item, columns,
                      lower ? 0 : edge, lower ? edge : columns);
    }
  });
}

}  // namespace

namespace RG_LEVEL_NS {

void masked_fill(const Array& dst, const Array& mask, const void* value) {
  Operands ops;
  ops.ndim = dst.ndim;
  ops.sizes = dst.sizes;
  ops.add(dst);
  ops.add(mask);
  iterate(ops, visit_itemsize(itemsize(dst.dtype), [](auto zero) -> Loop { return fill_where<decltype(zero)>; }), value);
}

void masked_select(const Array& out, const Array& in, const Array& mask) {
  visit_itemsize(itemsize(in.dtype), [&](auto zero) {
    using T = decltype(zero);
    char* to = out.ptr<char>();
    const int64_t step = out.strides[0] * static_cast<int64_t>(sizeof(T));
    for_masked(in, mask, [&](const char* p) {
      *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(p);
      to += step;
    });
  });
}

void masked_scatter(const Array& dst, const Array& mask, const Array& src) {
  visit_itemsize(itemsize(dst.dtype), [&](auto zero) {
    using T = decltype(zero);
    const T* from = src.ptr<const T>();
    for_masked(dst, mask, [&](char* p) { *reinterpret_cast<T*>(p) = *from++; });
  });
}

void count_nonzero(int64_t* found, const Array& in) {
  *found = visit_all(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    int64_t count = 0;
    for_rows(in, [&](const char* p, int64_t stride, int64_t n) {
      if (n <= 4 * kGrain) {
        count += count_row<T>(p, stride, n);
      } else {
        parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
          __atomic_fetch_add(&count, count_row<T>(p + begin * stride, stride, end - begin), __ATOMIC_RELAXED);
        });
      }
      return true;
    });
    return count;
  });
}

void nonzero(const Array& out, const Array& in) {
  find_set(out, in, visit_all(in.dtype, [](auto zero) -> Mark { return mark<decltype(zero)>; }));
}

void tril(const Array& out, const Array& in, int64_t diagonal) {
  visit_itemsize(itemsize(in.dtype), [&](auto zero) { triangle<decltype(zero)>(out, in, diagonal, true); });
}

void triu(const Array& out, const Array& in, int64_t diagonal) {
  visit_itemsize(itemsize(in.dtype), [&](auto zero) { triangle<decltype(zero)>(out, in, diagonal, false); });
}

}  // namespace RG_LEVEL_NS
}  // namespace retrograd::cpu
