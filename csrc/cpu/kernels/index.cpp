// Indexing. Everything from gather to index_put is one walk (see Walk): over the elements of a dense array x, with an element of y beside
// each, whose place is a strided part plus, for every index array, index * stride. What differs is what is done to the pair: load,
// store, add, reduce.
#include "kernels/index.h"
#include "cpu/isa.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/families.h"
#include "cpu/kernels/mask.h"
#include "cpu/kernels/rows.h"
#include "cpu/parallel.h"
#include "kernels/element.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread

constexpr int64_t kOne = 1, kZero = 0;

// A 0-d array as 1-d of one element.
Array at_least_1d(const Array& a) { return a.ndim ? a : Array{a.data, a.dtype, 1, &kOne, &kOne}; }

// ---- What is done to a pair of elements. `row`: y has a stride; `list`: y's places are given; `picks`: they are numbers of adjacent elements,
// none negative; `few`: all of a small walk. Strides and offsets in bytes.

struct Walk;
struct Op {
  void (*row)(const Op&, char* x, int64_t xs, char* y, int64_t ys, int64_t n);
  void (*list)(const Op&, char* x, int64_t xs, char* y, const int64_t* offset, int64_t n);
  void (*picks)(const Op&, char* x, char* y, const int64_t* index, int64_t n);
  void (*few)(const Op&, const Walk&);
  double alpha = 1;
};

// F is called as F::apply(T& x, T& y, alpha).
template <class T, class F> void apply_row(const Op& op, char* x, int64_t xs, char* y, int64_t ys, int64_t n) {
  const auto alpha = F::scalar(op.alpha);
  constexpr int64_t item = sizeof(T);
  if (xs == item && ys == item) {
    T* __restrict xp = reinterpret_cast<T*>(x);
    T* __restrict yp = reinterpret_cast<T*>(y);
    for (int64_t i = 0; i < n; ++i) F::apply(xp[i], yp[i], alpha);
  } else {
    for (int64_t i = 0; i < n; ++i) F::apply(*reinterpret_cast<T*>(x + i * xs), *reinterpret_cast<T*>(y + i * ys), alpha);
  }
}
template <class T, class F> void apply_list(const Op& op, char* x, int64_t xs, char* y, const int64_t* offset, int64_t n) {
  const auto alpha = F::scalar(op.alpha);
  for (; n > 0; --n, x += xs, ++offset) F::apply(*reinterpret_cast<T*>(x), *reinterpret_cast<T*>(y + *offset), alpha);
}
template <class T, class F> void apply_picks(const Op& op, char* x, char* y, const int64_t* __restrict index, int64_t n) {
  const auto alpha = F::scalar(op.alpha);
  T* __restrict xp = reinterpret_cast<T*>(x);
  T* __restrict yp = reinterpret_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) F::apply(xp[i], yp[index[i]], alpha);
}
template <class T, class F> void apply_few(const Op& op, const Walk& w);
template <class T, class F> Op make_op(double alpha = 1) {
  return {apply_row<T, F>, apply_list<T, F>, apply_picks<T, F>, apply_few<T, F>, alpha};
}

struct Unscaled {
  static int scalar(double) { return 0; }
};
struct Load : Unscaled {
  template <class T> static void apply(T& x, T& y, int) { x = y; }
};
struct Store : Unscaled {
  template <class T> static void apply(T& x, T& y, int) { y = x; }
};

// Integers add and multiply as unsigned: they wrap.
template <class T> struct Wrapping { using type = compute_t<T>; };
template <> struct Wrapping<int8_t> { using type = uint32_t; };
template <> struct Wrapping<uint8_t> { using type = uint32_t; };
template <> struct Wrapping<int16_t> { using type = uint32_t; };
template <> struct Wrapping<int32_t> { using type = uint32_t; };
template <> struct Wrapping<int64_t> { using type = uint64_t; };
template <class T> using wrapping_t = typename Wrapping<T>::type;

template <class T> struct Add {
  using C = wrapping_t<T>;
  static C scalar(double alpha) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<C>(static_cast<int64_t>(alpha));
    else
      return static_cast<C>(alpha);
  }
  static void apply(T& x, T& y, C alpha) { y = static_cast<T>(static_cast<C>(element(&y)) + alpha * static_cast<C>(element(&x))); }
};
template <class T> struct Prod : Unscaled {
  using C = wrapping_t<T>;
  static void apply(T& x, T& y, int) { y = static_cast<T>(static_cast<C>(element(&y)) * static_cast<C>(element(&x))); }
};
template <class T> struct Amax : Unscaled {
  static void apply(T& x, T& y, int) {
    const compute_t<T> a = element(&x), b = element(&y);
    if (a > b || a != a) y = element(&x);  // nan wins, and stays: nothing is larger
  }
};
template <class T> struct Amin : Unscaled {
  static void apply(T& x, T& y, int) {
    const compute_t<T> a = element(&x), b = element(&y);
    if (a < b || a != a) y = element(&x);
  }
};

Op load_op(DType t) {
  return visit_itemsize(itemsize(t), [](auto zero) { return make_op<decltype(zero), Load>(); });
}
Op store_op(DType t) {
  return visit_itemsize(itemsize(t), [](auto zero) { return make_op<decltype(zero), Store>(); });
}
Op add_op(DType t, double alpha = 1) {
  return visit_all(t, [=](auto zero) {
    using T = decltype(zero);
    return make_op<T, Add<T>>(alpha);
  });
}
Op reduce_op(DType t, Reduce reduce) {
  if (is_complex(t)) {  // has no order: amax and amin do not come here
    return visit_complex(t, [=](auto zero) {
      using T = decltype(zero);
      return reduce == Reduce::Prod ? make_op<T, Prod<T>>() : make_op<T, Add<T>>();
    });
  }
  return visit_dtype(t, [=](auto zero) {
    using T = decltype(zero);
    switch (reduce) {
      case Reduce::Prod: return make_op<T, Prod<T>>();
      case Reduce::Amax: return make_op<T, Amax<T>>();
      case Reduce::Amin: return make_op<T, Amin<T>>();
      default: return make_op<T, Add<T>>();
    }
  });
}

// ---- The walk.

struct Walk {
  int ndim = 0;
  int64_t sizes[kMaxDims];
  char* x;
  int64_t xs[kMaxDims];  // bytes
  char* y;
  int64_t ys[kMaxDims];   // bytes; 0 along the dims of index arrays
  bool shared[kMaxDims];  // an index array has this dim: different positions may name the same element of y

  int count = 0;  // index arrays
  const int64_t* index[kMaxDims];
  int64_t is[kMaxDims][kMaxDims];  // [dim][array], elements
  int64_t size[kMaxDims];
  int64_t stride[kMaxDims];       // bytes
  int64_t adjacent = 0;           // bytes of an element, where none of the one index array is negative and it may count adjacent elements
  const Array* linear = nullptr;  // the one index array counts through this whole layout (take, put)
};

int64_t wrapped(int64_t i, int64_t size) { return i < 0 ? i + size : i; }

int64_t place_in(const Array& layout, int64_t i) {
  int64_t offset = 0;
  for (int d = layout.ndim - 1; d >= 0; --d) {
    offset += i % layout.sizes[d] * layout.strides[d];
    i /= layout.sizes[d];
  }
  return offset * itemsize(layout.dtype);
}

// At most two dims, and so few elements that finding out how to go fast would take longer.
constexpr int64_t kFew = 64;
template <class T, class F> void apply_few(const Op& op, const Walk& w) {
  const auto alpha = F::scalar(op.alpha);
  const int row = w.ndim == 2 ? 0 : -1, last = w.ndim - 1;  // -1: there is none
  const auto of = [](int d, const int64_t* numbers, int64_t none) { return d < 0 ? none : numbers[d]; };
  const int64_t rows = of(row, w.sizes, 1), n = of(last, w.sizes, 1);
  const int64_t xr = of(row, w.xs, 0), xs = of(last, w.xs, 0), yr = of(row, w.ys, 0), ys = of(last, w.ys, 0);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      char* y = w.y + r * yr + i * ys;
      for (int k = 0; k < w.count; ++k) {
        const int64_t at = (row < 0 ? 0 : r * w.is[row][k]) + (last < 0 ? 0 : i * w.is[last][k]);
        y += wrapped(w.index[k][at], w.size[k]) * w.stride[k];
      }
      F::apply(*reinterpret_cast<T*>(w.x + r * xr + i * xs), *reinterpret_cast<T*>(y), alpha);
    }
  }
}

void add_dim(Walk& w, int64_t size, int64_t xs, int64_t ys, bool shared) {
  w.sizes[w.ndim] = size;
  w.xs[w.ndim] = xs;
  w.ys[w.ndim] = ys;
  w.shared[w.ndim++] = shared;
}

// Merges neighbours that all operands run through in one go. Dims of one element were never added.
void merge_dims(Walk& w) {
  int kept = 0;
  for (int d = 1; d < w.ndim; ++d) {
    const int64_t n = w.sizes[d];
    bool joins = w.shared[kept] == w.shared[d] && w.xs[kept] == w.xs[d] * n && w.ys[kept] == w.ys[d] * n;
    for (int k = 0; joins && k < w.count; ++k) joins = w.is[kept][k] == w.is[d][k] * n;
    int64_t size = n;
    if (joins) {
      size *= w.sizes[kept];
    } else {
      ++kept;
    }
    w.sizes[kept] = size;
    w.xs[kept] = w.xs[d];
    w.ys[kept] = w.ys[d];
    w.shared[kept] = w.shared[d];
    for (int k = 0; k < w.count; ++k) w.is[kept][k] = w.is[d][k];
  }
  if (w.ndim) w.ndim = kept + 1;
}

// n elements along the last dim.
void walk_row(const Walk& w, const Op& op, char* x, char* y, const int64_t* const* index, int64_t n) {
  const int last = w.ndim - 1;
  const int64_t xs = last < 0 ? 0 : w.xs[last], ys = last < 0 ? 0 : w.ys[last];
  bool fixed = true;
  for (int k = 0; k < w.count; ++k) fixed = fixed && (last < 0 || w.is[last][k] == 0);
  if (fixed) {
    for (int k = 0; k < w.count; ++k) {
      const int64_t i = wrapped(*index[k], w.size[k]);
      y += w.linear ? place_in(*w.linear, i) : i * w.stride[k];
    }
    return op.row(op, x, xs, y, ys, n);
  }
  if (w.adjacent && w.is[last][0] == 1 && ys == 0 && xs == w.adjacent && w.stride[0] == w.adjacent) return op.picks(op, x, y, index[0], n);
  constexpr int64_t kPiece = 256;
  int64_t offset[kPiece];
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t m = smaller(kPiece, n - begin);
    for (int k = 0; k < w.count; ++k) {
      const int64_t s = w.is[last][k], size = w.size[k], stride = w.stride[k];
      const int64_t* p = index[k] + begin * s;
      const auto add = [&](auto&& place) {
        if (k == 0) {
          for (int64_t i = 0; i < m; ++i) offset[i] = (begin + i) * ys + place(i);
        } else {
          for (int64_t i = 0; i < m; ++i) offset[i] += place(i);
        }
      };
      if (w.linear) {
        add([=, &w](int64_t i) { return place_in(*w.linear, wrapped(p[i * s], size)); });
      } else if (s == 1 && stride >> 31 == 0 && size >> 31 == 0) {  // 32-bit products are a third of the work of 64-bit ones
        const uint32_t by = static_cast<uint32_t>(stride);
        add([=](int64_t i) { return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(wrapped(p[i], size))} * by); });
      } else {
        add([=](int64_t i) { return wrapped(p[i * s], size) * stride; });
      }
    }
    op.list(op, x + begin * xs, xs, y, offset, m);
  }
}

// All of it but for dim `cut`, of which only [begin, end). Row-major.
void walk_part(const Walk& w, const Op& op, int cut, int64_t begin, int64_t end) {
  char *x = w.x, *y = w.y;
  const int64_t* index[kMaxDims];
  for (int k = 0; k < w.count; ++k) index[k] = w.index[k];
  int64_t sizes[kMaxDims], at[kMaxDims];
  for (int d = 0; d < w.ndim; ++d) {
    sizes[d] = w.sizes[d];
    at[d] = 0;
  }
  if (w.ndim) {
    sizes[cut] = end - begin;
    x += begin * w.xs[cut];
    y += begin * w.ys[cut];
    for (int k = 0; k < w.count; ++k) index[k] += begin * w.is[cut][k];
  }
  const int64_t n = w.ndim ? sizes[w.ndim - 1] : 1;
  for (;;) {
    walk_row(w, op, x, y, index, n);
    int d = w.ndim - 2;
    for (; d >= 0; --d) {
      x += w.xs[d];
      y += w.ys[d];
      for (int k = 0; k < w.count; ++k) index[k] += w.is[d][k];
      if (++at[d] < sizes[d]) break;
      x -= w.xs[d] * sizes[d];
      y -= w.ys[d] * sizes[d];
      for (int k = 0; k < w.count; ++k) index[k] -= w.is[d][k] * sizes[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

// Threads share one dim: for reads the longest, for writes the longest in which no two positions can meet.
void walk(Walk& w, const Op& op, bool writes_y) {
  int64_t total = 1;
  for (int d = 0; d < w.ndim; ++d) total *= w.sizes[d];
  if (total == 0) return;
  if (total <= kFew && w.ndim <= 2 && !w.linear) return op.few(op, w);
  merge_dims(w);
  int cut = -1;
  for (int d = 0; d < w.ndim; ++d)
    if (!(writes_y && w.shared[d]) && (cut < 0 || w.sizes[d] > w.sizes[cut])) cut = d;
  if (cut < 0 || total <= 2 * kGrain) return walk_part(w, op, 0, 0, w.ndim ? w.sizes[0] : 1);
  // One piece for each thread: where the dim is the last, every piece visits every row, and short pieces of rows waste cache lines.
  const int64_t each = total / w.sizes[cut], share = (w.sizes[cut] + num_threads() - 1) / num_threads();
  parallel_for(0, w.sizes[cut], larger(share, kGrain / each), [&](int64_t begin, int64_t end) { walk_part(w, op, cut, begin, end); });
}

// ---- Checks.

IndexError check(const Array& index, int dim, int64_t size, bool wraps) {
  const uint64_t shift = wraps ? static_cast<uint64_t>(size) : 0, limit = shift + static_cast<uint64_t>(size);
  const auto is_bad = [=](const char* p) { return static_cast<uint64_t>(*reinterpret_cast<const int64_t*>(p)) + shift >= limit; };
  // The same in the sign, which vectors can collect: limit is no more than INT64_MAX.
  const auto sign_if_bad = [=](int64_t i) {
    const uint64_t place = static_cast<uint64_t>(i) + shift;
    return place | (limit - 1 - place);
  };
  IndexError error;
  for_rows(index, [&](const char* p, int64_t stride, int64_t n) {
    bool found = false;
    parallel_for(0, n, 8 * kGrain, [&](int64_t begin, int64_t end) {
      bool bad = false;
      if (stride == 8) {
        const int64_t* const values = reinterpret_cast<const int64_t*>(p);
        uint64_t signs = 0;
        for (int64_t i = begin; i < end; ++i) signs |= sign_if_bad(values[i]);
        bad = signs >> 63;
      } else {
        for (int64_t i = begin; i < end; ++i) bad |= is_bad(p + i * stride);
      }
      if (bad) __atomic_store_n(&found, true, __ATOMIC_RELAXED);
    });
    if (!found) return true;
    while (!is_bad(p)) p += stride;
    error = {false, dim, *reinterpret_cast<const int64_t*>(p), size};
    return false;
  });
  return error;
}

// ---- One index array along one dim: gather, scatter, index_select and their kin.

struct Along {
  Walk w;
  IndexError error;
};

// The walk goes over `sizes`; the index array has strides is[d] (or only along dim, where `flat`). x may be null: a single value.
void along_dim(Along& a, const Array& x, const void* value, const Array& y, int dim, const Array& index, const int64_t* sizes, bool flat,
               bool wraps) {
  a.error = check(index, dim, y.sizes[dim], wraps);
  if (!a.error.ok) return;
  Walk& w = a.w;
  const int64_t item = itemsize(y.dtype);
  w.x = value ? static_cast<char*>(const_cast<void*>(value)) : x.ptr<char>();
  w.y = y.ptr<char>();
  w.count = 1;
  w.index[0] = index.ptr<const int64_t>();
  w.size[0] = y.sizes[dim];
  w.stride[0] = y.strides[dim] * item;
  w.adjacent = wraps ? 0 : item;
  for (int d = 0; d < y.ndim; ++d) {
    if (sizes[d] == 1) continue;
    w.is[w.ndim][0] = flat ? (d == dim ? index.strides[0] : 0) : index.strides[d];
    add_dim(w, sizes[d], value ? 0 : x.strides[d] * item, d == dim ? 0 : y.strides[d] * item, d == dim);
  }
}

IndexError gather(const Array& out0, const Array& in0, int dim, const Array& index0) {
  const Array out = at_least_1d(out0), in = at_least_1d(in0), index = at_least_1d(index0);
  Along a;
  along_dim(a, out, nullptr, in, dim, index, out.sizes, false, false);
  if (a.error.ok) walk(a.w, load_op(out.dtype), false);
  return a.error;
}

IndexError scatter_with(const Array& dst0, int dim, const Array& index0, const Array* src0, const void* value, const Op& op) {
  const Array dst = at_least_1d(dst0), index = at_least_1d(index0), src = at_least_1d(src0 ? *src0 : dst0);
  Along a;
  along_dim(a, src, value, dst, dim, index, index.sizes, false, false);
  if (a.error.ok) walk(a.w, op, true);
  return a.error;
}

IndexError scatter(const Array& dst, int dim, const Array& index, const Array& src) {
  return scatter_with(dst, dim, index, &src, nullptr, store_op(dst.dtype));
}
IndexError scatter_value(const Array& dst, int dim, const Array& index, const void* value) {
  return scatter_with(dst, dim, index, nullptr, value, store_op(dst.dtype));
}

// idx is 1-d; x has idx's length along dim and y's sizes elsewhere.
IndexError select_with(const Array& y0, int dim, const Array& idx0, const Array* x0, const void* value, const Op& op, bool wraps,
                       bool writes_y) {
  const Array y = at_least_1d(y0), idx = at_least_1d(idx0), x = at_least_1d(x0 ? *x0 : y0);
  int64_t sizes[kMaxDims];
  for (int d = 0; d < y.ndim; ++d) sizes[d] = d == dim ? idx.sizes[0] : y.sizes[d];
  Along a;
  along_dim(a, x, value, y, dim, idx, sizes, true, wraps);
  if (a.error.ok) walk(a.w, op, writes_y);
  return a.error;
}

IndexError index_select(const Array& out, const Array& in, int dim, const Array& idx) {
  return select_with(in, dim, idx, &out, nullptr, load_op(in.dtype), false, false);
}
IndexError index_copy(const Array& dst, int dim, const Array& idx, const Array& src) {
  return select_with(dst, dim, idx, &src, nullptr, store_op(dst.dtype), false, true);
}
IndexError index_fill(const Array& dst, int dim, const Array& idx, const void* value) {
  return select_with(dst, dim, idx, nullptr, value, store_op(dst.dtype), true, true);
}
IndexError index_add(const Array& dst, int dim, const Array& idx, const Array& src, double alpha) {
  return select_with(dst, dim, idx, &src, nullptr, add_op(dst.dtype, alpha), false, true);
}

// ---- Reductions.

// The value a reduction starts from, as an element of dtype t.
void identity(Reduce op, DType t, void* out) {
  if (is_complex(t)) {
    visit_complex(t, [=](auto zero) { *static_cast<decltype(zero)*>(out) = decltype(zero)(op == Reduce::Prod ? 1 : 0); });
    return;
  }
  visit_dtype(t, [=](auto zero) {
    using T = decltype(zero);
    using C = compute_t<T>;
    C value = 0;
    if (op == Reduce::Prod) value = 1;
    if (op == Reduce::Amax || op == Reduce::Amin) {
      if constexpr (std::is_floating_point_v<C>) {
        value = op == Reduce::Amax ? -std::numeric_limits<C>::infinity() : std::numeric_limits<C>::infinity();
      } else {
        value = op == Reduce::Amax ? std::numeric_limits<C>::lowest() : std::numeric_limits<C>::max();
      }
    }
    *static_cast<T*>(out) = static_cast<T>(value);
  });
}

// dst[i] /= counts[i] + extra where that is more than one; counts are contiguous.
template <class T> void divide_rows(const Array& dst, const int64_t* counts, int64_t extra) {
  for_rows(dst, [&](char* p, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t by = *counts++ + extra;
      if (by <= 1) continue;
      T& v = *reinterpret_cast<T*>(p + i * stride);
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        const int64_t wide = static_cast<int64_t>(v), q = wide / by;
        v = static_cast<T>(q - (wide % by < 0));  // rounds down
      } else if constexpr (!std::is_same_v<T, bool>) {
        v = static_cast<T>(static_cast<compute_t<T>>(v) / static_cast<compute_t<T>>(by));
      }
    }
    return true;
  });
}

// `store` and `reduce` scatter a value, or src, over an array of dst's sizes.
template <class StoreFn, class ReduceFn>
IndexError reduce_with(const Array& dst, Reduce op, bool include_self, StoreFn&& store_value, ReduceFn&& reduce) {
  alignas(16) char start[kMaxItemSize];
  if (!include_self) {
    identity(op, dst.dtype, start);
    const IndexError error = store_value(dst, start, store_op(dst.dtype));
    if (!error.ok) return error;
  }
  const IndexError error = reduce(dst, reduce_op(dst.dtype, op));
  if (!error.ok || op != Reduce::Mean) return error;
  int64_t* counts = static_cast<int64_t*>(std::calloc(static_cast<size_t>(dst.numel()) + 1, 8));
  if (!counts) std::abort();  // as the system itself does when memory it promised is not there
  int64_t strides[kMaxDims], n = 1;
  for (int d = dst.ndim - 1; d >= 0; --d) {
    strides[d] = n;
    n *= dst.sizes[d];
  }
  const IndexError counted = store_value({counts, DType::Int64, dst.ndim, dst.sizes, strides}, &kOne, add_op(DType::Int64));
  visit_all(dst.dtype, [&](auto zero) { divide_rows<decltype(zero)>(dst, counts, include_self); });
  std::free(counts);
  return counted;
}

IndexError scatter_reduce(const Array& dst, int dim, const Array& index, const Array& src, Reduce op, bool include_self) {
  return reduce_with(
      dst, op, include_self,
      [&](const Array& to, const void* value, const Op& with) { return scatter_with(to, dim, index, nullptr, value, with); },
      [&](const Array& to, const Op& with) { return scatter_with(to, dim, index, &src, nullptr, with); });
}

IndexError index_reduce(const Array& dst, int dim, const Array& idx, const Array& src, Reduce op, bool include_self) {
  return reduce_with(
      dst, op, include_self,
      [&](const Array& to, const void* value, const Op& with) { return select_with(to, dim, idx, nullptr, value, with, false, true); },
      [&](const Array& to, const Op& with) { return select_with(to, dim, idx, &src, nullptr, with, false, true); });
}

// Threads share the rows of grad_weight: each reads all of idx and adds what falls to it, so rows sum in the order of idx.
IndexError embedding_backward(const Array& grad_weight, const Array& idx0, const Array& grad, int64_t padding_idx, bool scale_by_count) {
  const Array idx = at_least_1d(idx0);
  const int64_t n = idx.sizes[0], rows = grad_weight.sizes[0], width = grad_weight.sizes[1], item = itemsize(grad.dtype);
  const IndexError error = check(idx, 0, rows, false);
  if (!error.ok || n == 0 || width == 0) return error;
  const auto at = [&](int64_t i) { return idx.ptr<const int64_t>()[i * idx.strides[0]]; };
  int64_t* counts = nullptr;
  if (scale_by_count) {
    counts = static_cast<int64_t*>(std::calloc(static_cast<size_t>(rows), 8));
    if (!counts) std::abort();
    for (int64_t i = 0; i < n; ++i) ++counts[at(i)];
  }
  const Op add = add_op(grad.dtype);
  const int64_t share = (rows + num_threads() - 1) / num_threads();
  parallel_for(0, rows, n * width <= 2 * kGrain ? rows : share, [&](int64_t begin, int64_t end) {
    Op op = add;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = at(i);
      if (row < begin || row >= end || row == padding_idx) continue;
      if (counts) op.alpha = 1.0 / static_cast<double>(counts[row]);
      op.row(op, grad.ptr<char>() + i * grad.strides[0] * item, grad.strides[1] * item,
             grad_weight.ptr<char>() + row * grad_weight.strides[0] * item, grad_weight.strides[1] * item, width);
    }
  });
  std::free(counts);
  return error;
}

// ---- take, put: one index array through the whole array.

IndexError through_all(const Array& y, const Array& index, const Array& x, const Op& op, bool writes_y) {
  const IndexError error = check(index, 0, y.numel(), true);
  if (!error.ok) return error;
  Walk w;
  w.x = x.ptr<char>();
  w.y = y.ptr<char>();
  w.count = 1;
  w.index[0] = index.ptr<const int64_t>();
  w.size[0] = y.numel();
  w.stride[0] = itemsize(y.dtype);
  int64_t expected = 1;
  for (int d = y.ndim - 1; d >= 0; --d) {
    if (y.sizes[d] != 1 && y.strides[d] != expected) w.linear = &y;
    expected *= y.sizes[d];
  }
  for (int d = 0; d < index.ndim; ++d) {
    if (index.sizes[d] == 1) continue;
    w.is[w.ndim][0] = index.strides[d];
    add_dim(w, index.sizes[d], x.strides[d] * itemsize(x.dtype), 0, true);
  }
  walk(w, op, writes_y);
  return error;
}

IndexError take(const Array& out, const Array& in, const Array& index) { return through_all(in, index, out, load_op(in.dtype), false); }
IndexError put(const Array& dst, const Array& index, const Array& src, bool accumulate) {
  return through_all(dst, index, src, accumulate ? add_op(dst.dtype) : store_op(dst.dtype), true);
}

// ---- Advanced indexing.

IndexError index_with(const Array& y, const Indexing& plan, const Array& x, const Op& op, bool writes_y) {
  for (int k = 0; k < plan.count; ++k) {
    const Array index{const_cast<int64_t*>(plan.index[k]), DType::Int64, plan.index_ndim, plan.sizes + plan.at, plan.strides[k]};
    const IndexError error = check(index, plan.dim[k], plan.size[k], true);
    if (!error.ok) return error;
  }
  Walk w;
  const int64_t item = itemsize(y.dtype);
  w.x = x.ptr<char>();
  w.y = y.ptr<char>();
  w.count = plan.count;
  for (int k = 0; k < plan.count; ++k) {
    w.index[k] = plan.index[k];
    w.size[k] = plan.size[k];
    w.stride[k] = plan.stride[k] * item;
  }
  for (int d = 0; d < plan.ndim; ++d) {
    if (plan.sizes[d] == 1) continue;
    const bool shared = d >= plan.at && d < plan.at + plan.index_ndim;
    for (int k = 0; k < plan.count; ++k) w.is[w.ndim][k] = shared ? plan.strides[k][d - plan.at] : 0;
    add_dim(w, plan.sizes[d], x.strides[d] * item, plan.self_strides[d] * item, shared);
  }
  walk(w, op, writes_y);
  return {};
}

IndexError index(const Array& out, const Array& in, const Indexing& plan) { return index_with(in, plan, out, load_op(in.dtype), false); }
IndexError index_put(const Array& dst, const Indexing& plan, const Array& values, bool accumulate) {
  return index_with(dst, plan, values, accumulate ? add_op(dst.dtype) : store_op(dst.dtype), true);
}

IndexError one_hot(const Array& out, const Array& index) {
  alignas(16) char one[kMaxItemSize];
  RG_CAT(copy, RG_LEVEL).convert(one, out.dtype, &kOne, DType::Int64, 1);
  int64_t sizes[kMaxDims], strides[kMaxDims];
  for (int d = 0; d < index.ndim; ++d) {
    sizes[d] = index.sizes[d];
    strides[d] = index.strides[d];
  }
  sizes[index.ndim] = 1;
  strides[index.ndim] = 1;
  const Array column{index.data, DType::Int64, index.ndim + 1, sizes, strides};
  const int last = out.ndim - 1;
  const IndexError error = check(column, last, out.sizes[last], false);
  if (!error.ok) return error;
  RG_CAT(copy, RG_LEVEL).fill(out, &kZero);
  return scatter_value(out, last, column, one);
}

void share_out(void* numbers, const void* counts, DType dtype, int64_t n, int64_t parts) {
  visit_floating(dtype, [&](auto zero) {
    using V = decltype(zero);
    for (int64_t i = 0; i < n; ++i) {
      const double count = static_cast<double>(static_cast<const V*>(counts)[i / parts]);
      V& number = static_cast<V*>(numbers)[i];
      if (count > 1) number = static_cast<V>(static_cast<compute_t<V>>(static_cast<double>(number) / count));
    }
  });
}

void repeat_total(int64_t* total, const int64_t* repeats, int64_t n) {
  uint64_t sum = 0;  // which may wrap around
  int64_t signs = 0;
  for (int64_t i = 0; i < n; ++i) {
    sum += static_cast<uint64_t>(repeats[i]);
    signs |= repeats[i];
  }
  *total = signs < 0 ? -1 : static_cast<int64_t>(sum);
}

void repeat_index(int64_t* out, const int64_t* repeats, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    for (int64_t r = repeats[i]; r > 0; --r) *out++ = i;
}

}  // namespace

RG_EXPORT_KERNELS(IndexKernels, indexing) = {
    .gather = Reporting<gather>::run,
    .scatter = Reporting<scatter>::run,
    .scatter_value = Reporting<scatter_value>::run,
    .scatter_reduce = Reporting<scatter_reduce>::run,
    .index_select = Reporting<index_select>::run,
    .index_copy = Reporting<index_copy>::run,
    .index_fill = Reporting<index_fill>::run,
    .index_add = Reporting<index_add>::run,
    .index_reduce = Reporting<index_reduce>::run,
    .embedding_backward = Reporting<embedding_backward>::run,
    .take = Reporting<take>::run,
    .put = Reporting<put>::run,
    .index = Reporting<index>::run,
    .index_put = Reporting<index_put>::run,
    .masked_fill = RG_LEVEL_NS::masked_fill,
    .masked_select = RG_LEVEL_NS::masked_select,
    .masked_scatter = RG_LEVEL_NS::masked_scatter,
    .count_nonzero = RG_LEVEL_NS::count_nonzero,
    .nonzero = RG_LEVEL_NS::nonzero,
    .tril = RG_LEVEL_NS::tril,
    .triu = RG_LEVEL_NS::triu,
    .one_hot = Reporting<one_hot>::run,
    .share_out = share_out,
    .repeat_total = repeat_total,
    .repeat_index = repeat_index,
};

}  // namespace retrograd::cpu
