// Binary search and counting; the conventions are in kernels/sort.h.
#include "cpu/kernels/search.h"
#include "cpu/isa.h"

#include "cpu/kernels/lines.h"
#include "kernels/element.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int kTogether = 8;

// A sorted line: element i is at data[order[i * order_stride] * stride], or data[i * stride] without an order.
template <class T> struct Sorted {
  using C = compute_t<T>;
  const T* data;
  int64_t n, stride;
  const int64_t* order;
  int64_t order_stride;

  C at(int64_t i) const { return static_cast<C>(element(data + (order ? order[i * order_stride] : i) * stride)); }

  // The comparisons are negated so that NaN goes past everything.
  template <bool kRight> static bool is_past(C element, C x) { return kRight ? !(element > x) : !(element >= x); }

  template <bool kRight> int64_t find(C x) const {
    int64_t low = 0, high = n;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (is_past<kRight>(at(middle), x))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  // The same for several at once, step by step: no branch is guessed wrong, and none waits for another's memory.
  template <bool kRight> void find_together(const C (&x)[kTogether], int64_t (&low)[kTogether]) const {
    int64_t high[kTogether];
    for (int k = 0; k < kTogether; ++k) low[k] = 0, high[k] = n;
    for (int64_t length = n; length > 0; length /= 2)
      for (int k = 0; k < kTogether; ++k) {
        const int64_t rest = high[k] - low[k], middle = low[k] + rest / 2;
        const int64_t going = -static_cast<int64_t>(rest > 0);  // all bits or none, where a branch would be guessed
        const int64_t past = going & -static_cast<int64_t>(is_past<kRight>(at(middle & going), x[k]));
        low[k] += past & (middle + 1 - low[k]);
        high[k] -= going & ~past & (high[k] - middle);
      }
  }

  template <bool kRight> void find_row(const T* from, int64_t from_stride, int64_t count, auto&& store) const {
    int64_t i = 0;
    for (; i + kTogether <= count; i += kTogether) {
      C x[kTogether];
      int64_t found[kTogether];
      for (int k = 0; k < kTogether; ++k) x[k] = static_cast<C>(element(from + (i + k) * from_stride));
      find_together<kRight>(x, found);
      for (int k = 0; k < kTogether; ++k) store(i + k, found[k]);
    }
    for (; i < count; ++i) store(i, find<kRight>(static_cast<C>(element(from + i * from_stride))));
  }
};

template <class T> void search(const Array& out, const Array& sequence, const Array& values, const Array* sorter, bool right) {
  int64_t total = 1;
  for (int d = 0; d < values.ndim; ++d) total *= values.sizes[d];
  const int last = sequence.ndim - 1, row = values.ndim - 1;  // the values of a row are searched for in one line
  const int64_t width = row < 0 ? 1 : values.sizes[row], from_stride = row < 0 ? 0 : values.strides[row],
                to_stride = row < 0 ? 0 : out.strides[row];
  parallel_for(0, total, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t column = i % width, count = std::min(width - column, end - i);
      int64_t flat = i / width, to = column * to_stride, from = column * from_stride, line = 0, order = 0;
      for (int d = row - 1; d >= 0; --d) {
        const int64_t index = flat % values.sizes[d];
        flat /= values.sizes[d];
        to += index * out.strides[d];
        from += index * values.strides[d];
        if (d < last) {
          line += index * sequence.strides[d];
          if (sorter) order += index * sorter->strides[d];
        }
      }
      const Sorted<T> sorted = {sequence.ptr<T>() + line, sequence.sizes[last], sequence.strides[last],
                                sorter ? sorter->ptr<int64_t>() + order : nullptr, sorter ? sorter->strides[last] : 0};
      const auto store = [&](int64_t j, int64_t found) {
        if (out.dtype == DType::Int64)
          out.ptr<int64_t>()[to + j * to_stride] = found;
        else
          out.ptr<int32_t>()[to + j * to_stride] = static_cast<int32_t>(found);
      };
      if (right)
        sorted.template find_row<true>(values.ptr<T>() + from, from_stride, count, store);
      else
        sorted.template find_row<false>(values.ptr<T>() + from, from_stride, count, store);
      i += count;
    }
  });
}

template <class T> void count_bins(int64_t* counts, int64_t bins, const Array& in, T low, T high) {
  constexpr int64_t piece = 512;
  const Load load = loader(in.dtype, DTypeOf<T>::value);
  const Lines lines({&in}, in.ndim - 1);
  const int64_t n = in.ndim ? in.sizes[in.ndim - 1] : 1;
  lines.each(
      lines.lines + 1, [] { return 0; },
      [&](int, const int64_t* at) {
        alignas(64) T buffer[piece];
        for (int64_t i = 0; i < n; i += piece) {
          const int64_t m = n - i < piece ? n - i : piece;
          load(in.data, at[0] + i * lines.stride[0], lines.stride[0], m, buffer);
          for (int64_t j = 0; j < m; ++j) {
            if (!(buffer[j] >= low && buffer[j] <= high)) continue;
            const int64_t bin = static_cast<int64_t>((buffer[j] - low) * static_cast<T>(bins) / (high - low));
            ++counts[bin < bins ? bin : bins - 1];
          }
        }
      });
}

// Apart, so that its loop is vectorised whatever the elements are converted from.
template <class C, class Found> [[gnu::noinline]] void find_equal(const C* elements, C value, int64_t n, Found* found) {
  for (int64_t i = 0; i < n; ++i) found[i] |= elements[i] == value;
}

}  // namespace

void searchsorted(const Array& out, const Array& sequence, const Array& values, const Array* sorter, bool right) {
  visit_dtype(values.dtype, [&](auto zero) { search<decltype(zero)>(out, sequence, values, sorter, right); });
}

// A piece at a time is compared with one value after the other, in lanes as wide as the elements.
void among(bool* out, DType dtype, const void* in, int64_t numel, const void* values, int64_t n) {
  constexpr int64_t piece = 512;
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = compute_t<T>;
    using Found = std::conditional_t<sizeof(C) == 8, int64_t, int32_t>;
    const T *x = static_cast<const T*>(in), *v = static_cast<const T*>(values);
    parallel_for(0, numel, 262144 / (n + 1) + 1, [&](int64_t begin, int64_t end) {
      C part[piece];
      Found found[piece];
      for (int64_t from = begin; from < end; from += piece) {
        const int64_t count = from + piece < end ? piece : end - from;
        for (int64_t i = 0; i < count; ++i) part[i] = static_cast<C>(element(x + from + i)), found[i] = 0;
        for (int64_t k = 0; k < n; ++k) find_equal(part, static_cast<C>(element(v + k)), count, found);
        for (int64_t i = 0; i < count; ++i) out[from + i] = found[i] != 0;
      }
    });
  });
}

void histc(const Array& out, const Array& in, double low, double high) {
  const int64_t bins = out.sizes[0];
  Scratch<int64_t, 1024> counts(bins);
  for (int64_t i = 0; i < bins; ++i) counts.data()[i] = 0;
  if (in.dtype == DType::Float64) {
    count_bins<double>(counts.data(), bins, in, low, high);
  } else {
    count_bins<float>(counts.data(), bins, in, static_cast<float>(low), static_cast<float>(high));
  }
  storer(out.dtype, DType::Int64)(out.data, 0, out.strides[0], bins, counts.data());
}

// Apart, for its frame is large.
[[gnu::noinline]] static void add_weights(const Array& out, const int64_t* index, int64_t step, int64_t n, const Array& weights) {
  constexpr int64_t piece = 512;
  const int64_t bins = out.sizes[0];
  Scratch<double, 512> sums(bins);
  for (int64_t i = 0; i < bins; ++i) sums.data()[i] = 0;
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t m = n - i < piece ? n - i : piece;
    double w[piece];
    loader(weights.dtype, DType::Float64)(weights.data, i * weights.strides[0], weights.strides[0], m, w);
    for (int64_t j = 0; j < m; ++j) sums.data()[index[(i + j) * step]] += w[j];
  }
  storer(out.dtype, DType::Float64)(out.data, 0, out.strides[0], bins, sums.data());
}

void histogram(const Array& out, const Array& points, const Array& edges, const Array* weights) {
  const int64_t n = points.sizes[0], dims = points.sizes[1], bins = out.numel();
  Scratch<double, 512> sums(bins);
  for (int64_t i = 0; i < bins; ++i) sums.data()[i] = 0;
  visit_floating(points.dtype, [&](auto zero) {
    using T = decltype(zero);
    const T *x = points.ptr<T>(), *weight = weights ? weights->ptr<T>() : nullptr;
    for (int64_t i = 0; i < n; ++i) {
      int64_t at = 0;
      const T* edge = edges.ptr<T>();
      for (int64_t d = 0; d < dims; ++d, ++x) {
        const int64_t count = out.sizes[d];
        const auto value = static_cast<compute_t<T>>(*x);
        const int64_t place =
            value == static_cast<compute_t<T>>(edge[count]) ? count : Sorted<T>{edge, count + 1, 1, nullptr, 0}.template find<true>(value);
        at = at < 0 || place == 0 || place > count ? -1 : at * count + place - 1;  // NaN is past everything
        edge += count + 1;
      }
      if (at >= 0) sums.data()[at] += weight ? static_cast<double>(static_cast<compute_t<T>>(weight[i])) : 1.0;
    }
  });
  storer(out.dtype, DType::Float64)(out.data, 0, 1, bins, sums.data());
}

void segments(const Array& owner, const Array& counts, const Array& given, bool offsets, bool whole, SegmentFault* fault) {
  const int64_t rows = counts.sizes[0], size = owner.sizes[1], n = counts.sizes[1] - 1;
  SegmentFault worst = SegmentFault::None;
  const auto found = [&worst](SegmentFault f) { worst = f > worst ? f : worst; };
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t *g = given.ptr<int64_t>() + row * (n + offsets), base = row * (n + 1);
    int64_t *to = owner.ptr<int64_t>() + row * size, *count = counts.ptr<int64_t>() + base;
    for (int64_t i = 0; i < size; ++i) to[i] = base + n;
    uint64_t next = 0;  // wraps around where lengths are absurd
    for (int64_t s = 0; s < n; ++s) {
      const auto start = static_cast<int64_t>(offsets ? static_cast<uint64_t>(g[s]) : next);
      const auto length =
          static_cast<int64_t>(offsets ? static_cast<uint64_t>(g[s + 1]) - static_cast<uint64_t>(g[s]) : static_cast<uint64_t>(g[s]));
      next += static_cast<uint64_t>(length);
      count[s] = length;
      if (length < 0)
        found(SegmentFault::Negative);
      else if (start < 0 || start > size || length > size - start)
        found(SegmentFault::Past);
      else
        for (int64_t i = 0; i < length; ++i) to[start + i] = base + s;
    }
    count[n] = 1;
    if (whole && next != static_cast<uint64_t>(size)) found(SegmentFault::Total);
  }
  if (worst != SegmentFault::None) *fault = worst;
}

void bins(int64_t* bins, const Array& in) {
  const int64_t *index = in.ptr<int64_t>(), step = in.strides[0], n = in.sizes[0];
  int64_t low = 0, high = *bins - 1;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t x = index[i * step];
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  *bins = low < 0 || high == INT64_MAX ? -1 : high + 1;
}

void bincount(const Array& out, const Array& in, const Array* weights) {
  const int64_t *index = in.ptr<int64_t>(), step = in.strides[0], n = in.sizes[0];
  if (weights) return add_weights(out, index, step, n, *weights);
  const int64_t bins = out.sizes[0], stride = out.strides[0];
  int64_t* counts = out.ptr<int64_t>();
  for (int64_t i = 0; i < bins; ++i) counts[i * stride] = 0;
  for (int64_t i = 0; i < n; ++i) ++counts[index[i * step] * stride];
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
