// Sorting and selection. Every element becomes an unsigned key that orders as the element does (NaN last, -0 equal to 0), complemented for
// descending order. Elements of up to four bytes are packed with their index into one 64-bit word, larger ones make a pair; comparing the index
// after the key makes any algorithm stable. Long lines are sorted by radix, short ones by comparison. Values are fetched from a copy of the line.
#include "kernels/sort.h"
#include "cpu/isa.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/kernels/lines.h"
#include "cpu/kernels/search.h"
#include "kernels/element.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

constexpr int64_t kRadix = 512;  // lines at least this long are sorted by radix

// The order-preserving key, in as many low bits as the element has.
template <class T> uint64_t key_of(T x) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, uint8_t>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<U>(static_cast<U>(x) ^ (U{1} << (8 * sizeof(T) - 1)));
  } else {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
    constexpr U sign = U{1} << (8 * sizeof(T) - 1);
    const compute_t<T> value = x;
    if (value != value) return static_cast<U>(~U{0});
    U bits;
    std::memcpy(&bits, &x, sizeof bits);
    if (bits == sign) bits = 0;
    return static_cast<U>(bits & sign ? ~bits : bits | sign);
  }
}
constexpr uint64_t low_bits(int64_t bytes) { return bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1; }
uint64_t nan_key(DType dtype) { return low_bits(itemsize(dtype)); }

// An element to be sorted: packed for keys of up to 32 bits, a pair for larger ones. The algorithms below exist once for each.
struct Packed {
  uint64_t word;
  Packed() = default;
  Packed(uint64_t key, int64_t index) : word(key << 32 | static_cast<uint64_t>(index)) {}
  uint64_t key() const { return word >> 32; }
  int64_t index() const { return static_cast<uint32_t>(word); }
  bool operator<(const Packed& o) const { return word < o.word; }
};
struct Pair {
  uint64_t key_;
  int64_t index_;
  Pair() = default;
  Pair(uint64_t key, int64_t index) : key_(key), index_(index) {}
  uint64_t key() const { return key_; }
  int64_t index() const { return index_; }
  bool operator<(const Pair& o) const { return key_ != o.key_ ? key_ < o.key_ : index_ < o.index_; }
};

// Lines of 2^32 elements and more need an index that Packed has no room for.
template <class F> decltype(auto) visit_item(DType dtype, int64_t n, F&& f) {
  if (itemsize(dtype) < 8 && n <= UINT32_MAX) return f(Packed{});
  return f(Pair{});
}

// Least significant digit first; a digit that all keys share costs nothing but its count. The result is in `items`.
template <class Item> void radix_sort(Item* items, Item* spare, int64_t n, int64_t key_bytes) {
  constexpr int max_passes = 6, buckets = 2048;
  const int bits = 8 * static_cast<int>(key_bytes), digit = bits <= 16 ? 8 : 11, passes = (bits + digit - 1) / digit;
  const uint64_t mask = (uint64_t{1} << digit) - 1;
  uint32_t counts[max_passes][buckets];
  std::memset(counts, 0, static_cast<size_t>(passes) * sizeof counts[0]);
  for (int64_t i = 0; i < n; ++i)
    for (int p = 0; p < passes; ++p) ++counts[p][items[i].key() >> (p * digit) & mask];
  Item *from = items, *to = spare;
  for (int p = 0; p < passes; ++p) {
    uint32_t* count = counts[p];
    const int shift = p * digit;
    if (count[from[0].key() >> shift & mask] == static_cast<uint64_t>(n)) continue;
    uint32_t start = 0;
    for (uint64_t b = 0; b <= mask; ++b) {
      const uint32_t c = count[b];
      count[b] = start;
      start += c;
    }
    for (int64_t i = 0; i < n; ++i) to[count[from[i].key() >> shift & mask]++] = from[i];
    Item* swap = from;
    from = to;
    to = swap;
  }
  if (from != items) std::memcpy(static_cast<void*>(items), from, static_cast<size_t>(n) * sizeof(Item));
}

template <class Item> void sort_items(Item* items, Item* spare, int64_t n, int64_t key_bytes) {
  if (n >= kRadix && n <= UINT32_MAX) return radix_sort(items, spare, n, key_bytes);
  std::sort(items, items + n, [](const Item& a, const Item& b) { return a < b; });
}

template <class Item> void select_item(Item* items, int64_t k, int64_t n) {
  std::nth_element(items, items + k, items + n, [](const Item& a, const Item& b) { return a < b; });
}

// Copies n elements, `stride` apart, and makes items of them, numbered from `first`.
template <class Item, class T> void read_items(const void* base, int64_t offset, int64_t stride, int64_t n, bool descending, int64_t first,
                                               void* copy, Item* items) {
  const T* p = static_cast<const T*>(base) + offset;
  T* c = static_cast<T*>(copy);
  const uint64_t flip = descending ? low_bits(sizeof(T)) : 0;
  for (int64_t i = 0; i < n; ++i) {
    c[i] = element(p + i * stride);
    items[i] = Item(key_of(c[i]) ^ flip, first + i);
  }
}
template <class Item> auto reader(DType dtype) {
  return visit_dtype(dtype, [](auto zero) { return &read_items<Item, decltype(zero)>; });
}

// values[i] = copy[index of item i], whatever the type of that size.
template <class Item, class U> void fetch(const Item* items, int64_t n, const void* copy, void* values, int64_t offset, int64_t stride) {
  U* out = static_cast<U*>(values) + offset;
  for (int64_t i = 0; i < n; ++i) out[i * stride] = static_cast<const U*>(copy)[items[i].index()];
}
template <class Item> void fetch_values(const Item* items, int64_t n, const void* copy, void* values, int64_t offset, int64_t stride,
                                        int64_t bytes) {
  switch (bytes) {
    case 1: return fetch<Item, uint8_t>(items, n, copy, values, offset, stride);
    case 2: return fetch<Item, uint16_t>(items, n, copy, values, offset, stride);
    case 4: return fetch<Item, uint32_t>(items, n, copy, values, offset, stride);
    default: return fetch<Item, uint64_t>(items, n, copy, values, offset, stride);
  }
}

// What a thread keeps for its lines: a copy of the line, its items, and as many again for radix_sort.
template <class Item> struct LineBuffers {
  static constexpr int64_t kSmall = 256;
  Scratch<uint64_t, kSmall> copy;
  Scratch<Item, kSmall> items, spare;
  explicit LineBuffers(int64_t n, bool sorting) : copy(n), items(n), spare(sorting && n >= kRadix ? n : 0) {}
};

int64_t grain_of(int64_t n) { return n < 1024 ? 1024 / (n ? n : 1) : 1; }

// Calls f(buffers, n) for every line of `in`; it returns where among the items the `count` that are to be written begin.
template <class Item, class F> void each_line(const Array& values, const Array& indices, const Array& in, int dim, int64_t count,
                                              bool descending, bool sorting, F&& f) {
  const Lines lines({values.data ? &values : &indices, &indices, &in}, dim);
  const int64_t n = in.ndim ? in.sizes[dim] : 1, bytes = itemsize(in.dtype);
  if (count == 0 || lines.lines == 0) return;
  const auto read = reader<Item>(in.dtype);
  lines.each(
      grain_of(n), [&] { return LineBuffers<Item>(n, sorting); },
      [&](LineBuffers<Item>& buffers, const int64_t* at) {
        read(in.data, at[2], lines.stride[2], n, descending, 0, buffers.copy.data(), buffers.items.data());
        const Item* kept = buffers.items.data() + f(buffers, n);
        if (values.data) fetch_values(kept, count, buffers.copy.data(), values.data, at[0], lines.stride[0], bytes);
        int64_t* index = indices.ptr<int64_t>() + at[1];
        for (int64_t i = 0; i < count; ++i) index[i * lines.stride[1]] = kept[i].index();
      });
}

int64_t length(const Array& in, int dim) { return in.ndim ? in.sizes[dim] : 1; }

void sort(const Array& values, const Array& indices, const Array& in, int dim, bool descending) {
  const int64_t length_of_line = length(in, dim), bytes = itemsize(in.dtype);
  visit_item(in.dtype, length_of_line, [&](auto kind) {
    using Item = decltype(kind);
    each_line<Item>(values, indices, in, dim, length_of_line, descending, true, [&](LineBuffers<Item>& b, int64_t n) {
      sort_items(b.items.data(), b.spare.data(), n, bytes);
      return int64_t{0};
    });
  });
}

// The k least items, in order. For small k a heap of the best so far refuses nearly everything at one comparison each.
template <class Item> void least_items(Item* items, int64_t n, int64_t k, bool sorted) {
  const auto less = [](const Item& a, const Item& b) { return a < b; };
  if (k * 8 <= n) {
    std::make_heap(items, items + k, less);
    for (int64_t i = k; i < n; ++i) {
      if (!(items[i] < items[0])) continue;
      std::pop_heap(items, items + k, less);
      items[k - 1] = items[i];
      std::push_heap(items, items + k, less);
    }
  } else if (k < n) {
    std::nth_element(items, items + k, items + n, less);
  }
  if (sorted) return std::sort(items, items + k, less);
  std::sort(items, items + k, [](const Item& a, const Item& b) { return a.index() < b.index(); });
}

void topk(const Array& values, const Array& indices, const Array& in, int dim, int64_t k, bool largest, bool sorted) {
  visit_item(in.dtype, length(in, dim), [&](auto kind) {
    using Item = decltype(kind);
    each_line<Item>(values, indices, in, dim, k, largest, false, [&](LineBuffers<Item>& b, int64_t n) {
      least_items(b.items.data(), n, k, sorted);
      return int64_t{0};
    });
  });
}

void kthvalue(const Array& values, const Array& indices, const Array& in, int dim, int64_t k) {
  visit_item(in.dtype, length(in, dim), [&](auto kind) {
    using Item = decltype(kind);
    each_line<Item>(values, indices, in, dim, 1, false, false, [&](LineBuffers<Item>& b, int64_t n) {
      select_item(b.items.data(), k - 1, n);
      return k - 1;
    });
  });
}

// Where the median is among the sorted items.
template <class Item> int64_t median_rank(const Item* items, int64_t n, DType dtype, bool ignore_nan) {
  int64_t nans = 0;
  if (is_floating(dtype)) {
    const uint64_t nan = nan_key(dtype);
    for (int64_t i = 0; i < n; ++i) nans += items[i].key() == nan;
  }
  if (nans > 0 && !ignore_nan) return n - nans;
  return nans == n ? 0 : (n - nans - 1) / 2;
}

void write_empty_median(const Array& values, const Array& indices, int dim) {
  const Lines lines({&values, &indices}, dim);
  const double nothing = is_floating(values.dtype) ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  lines.each(
      lines.lines, [] { return 0; },
      [&](int, const int64_t* at) {
        store_value(values.data, values.dtype, at[0], nothing);
        indices.ptr<int64_t>()[at[1]] = 0;
      });
}

void median(const Array& values, const Array& indices, const Array& in, int dim, bool ignore_nan) {
  if (length(in, dim) == 0) return write_empty_median(values, indices, dim);
  visit_item(in.dtype, length(in, dim), [&](auto kind) {
    using Item = decltype(kind);
    each_line<Item>(values, indices, in, dim, 1, false, false, [&](LineBuffers<Item>& b, int64_t n) {
      const int64_t rank = median_rank(b.items.data(), n, in.dtype, ignore_nan);
      select_item(b.items.data(), rank, n);
      return rank;
    });
  });
}

// Makes items of all elements in row-major order.
template <class Item> void read_all(const Array& in, void* copy, Item* items) {
  const auto read = reader<Item>(in.dtype);
  const int last = in.ndim - 1;
  const int64_t n = length(in, last), stride = in.ndim ? in.strides[last] : 1, bytes = itemsize(in.dtype);
  int64_t lines = 1, at = 0, index[kMaxDims] = {};
  for (int d = 0; d < last; ++d) lines *= in.sizes[d];
  for (int64_t line = 0; line < lines; ++line) {
    read(in.data, at, stride, n, false, line * n, static_cast<char*>(copy) + line * n * bytes, items + line * n);
    for (int d = last - 1; d >= 0; --d) {
      at += in.strides[d];
      if (++index[d] < in.sizes[d]) break;
      at -= index[d] * in.strides[d];
      index[d] = 0;
    }
  }
}

int64_t numel(const Array& in) {
  int64_t n = 1;
  for (int d = 0; d < in.ndim; ++d) n *= in.sizes[d];
  return n;
}

// Turns an ordered sequence into groups: same(i) says whether element i belongs with element i - 1, original(i) is its place in the input.
template <class Same, class Original, class Begin> int64_t group(int64_t n, int64_t* inverse, int64_t* counts, Same&& same,
                                                                 Original&& original, Begin&& begin) {
  int64_t groups = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || !same(i)) {
      begin(groups, i);
      if (counts) counts[groups] = 0;
      ++groups;
    }
    if (counts) ++counts[groups - 1];
    if (inverse) inverse[original(i)] = groups - 1;
  }
  return groups;
}

int64_t find_unique(void* values, int64_t* inverse, int64_t* counts, const Array& in, bool consecutive) {
  const int64_t n = numel(in), bytes = itemsize(in.dtype);
  const bool floating = is_floating(in.dtype);
  const uint64_t nan = nan_key(in.dtype);
  return visit_item(in.dtype, n, [&](auto kind) {
    using Item = decltype(kind);
    LineBuffers<Item> buffers(n, true);
    Item* items = buffers.items.data();
    read_all(in, buffers.copy.data(), items);
    if (!consecutive) sort_items(items, buffers.spare.data(), n, bytes);
    return group(
        n, inverse, counts, [&](int64_t i) { return items[i].key() == items[i - 1].key() && !(floating && items[i].key() == nan); },
        [&](int64_t i) { return items[i].index(); },
        [&](int64_t g, int64_t i) { fetch_values(items + i, 1, buffers.copy.data(), values, g, 1, bytes); });
  });
}

int64_t find_unique_dim(int64_t* first, int64_t* inverse, int64_t* counts, const Array& in, int dim, bool consecutive) {
  const int64_t n = in.sizes[dim], total = numel(in), width = n ? total / n : 0;
  int64_t after = 1;
  for (int d = dim + 1; d < in.ndim; ++d) after *= in.sizes[d];
  // A slice's keys in row-major order are runs of `after` that lie n * after apart.
  LineBuffers<Pair> buffers(total, false);
  Pair* items = buffers.items.data();
  read_all(in, buffers.copy.data(), items);
  const auto key = [=](int64_t slice, int64_t j) { return items[(j / after * n + slice) * after + j % after].key(); };
  Scratch<int64_t, 64> order(n);
  for (int64_t i = 0; i < n; ++i) order.data()[i] = i;
  if (!consecutive) {
    std::sort(order.data(), order.data() + n, [&](int64_t a, int64_t b) {
      for (int64_t j = 0; j < width; ++j)
        if (key(a, j) != key(b, j)) return key(a, j) < key(b, j);
      return a < b;
    });
  }
  const bool floating = is_floating(in.dtype);
  const uint64_t nan = nan_key(in.dtype);
  const auto same = [&](int64_t i) {
    for (int64_t j = 0; j < width; ++j) {
      const uint64_t k = key(order.data()[i], j);
      if (k != key(order.data()[i - 1], j) || (floating && k == nan)) return false;
    }
    return true;
  };
  return group(
      n, inverse, counts, same, [&](int64_t i) { return order.data()[i]; }, [&](int64_t g, int64_t i) { first[g] = order.data()[i]; });
}

void unique(int64_t* found, void* values, int64_t* inverse, int64_t* counts, const Array& in, bool consecutive) {
  *found = find_unique(values, inverse, counts, in, consecutive);
}
void unique_dim(int64_t* found, int64_t* first, int64_t* inverse, int64_t* counts, const Array& in, int dim, bool consecutive) {
  *found = find_unique_dim(first, inverse, counts, in, dim, consecutive);
}

template <class T> void find_modes(T* values, int64_t* indices, const T* p, const int64_t* places, int64_t rows, int64_t n) {
  using C = compute_t<T>;
  for (int64_t r = 0; r < rows; ++r, p += n, places += n) {
    int64_t best = 0, longest = 0;
    for (int64_t begin = 0, end; begin < n; begin = end) {
      for (end = begin + 1; end < n && static_cast<C>(element(p + end)) == static_cast<C>(element(p + begin));) ++end;
      if (end - begin > longest) longest = end - begin, best = end - 1;
    }
    values[r] = element(p + best);
    indices[r] = places[best];
  }
}

void mode(void* values, int64_t* indices, DType dtype, const void* sorted, const int64_t* places, int64_t rows, int64_t n) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    find_modes(static_cast<T*>(values), indices, static_cast<const T*>(sorted), places, rows, n);
  });
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(SortKernels, sort) = {
    .sort = RG_LEVEL_NS::sort,
    .topk = RG_LEVEL_NS::topk,
    .kthvalue = RG_LEVEL_NS::kthvalue,
    .median = RG_LEVEL_NS::median,
    .mode = RG_LEVEL_NS::mode,
    .searchsorted = RG_LEVEL_NS::searchsorted,
    .among = RG_LEVEL_NS::among,
    .unique = RG_LEVEL_NS::unique,
    .unique_dim = RG_LEVEL_NS::unique_dim,
    .histc = RG_LEVEL_NS::histc,
    .histogram = RG_LEVEL_NS::histogram,
    .bins = RG_LEVEL_NS::bins,
    .bincount = RG_LEVEL_NS::bincount,
    .segments = RG_LEVEL_NS::segments,
};

}  // namespace retrograd::cpu
