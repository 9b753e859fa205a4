// Bags of rows of a table, and their gradients.
#include <cstdlib>

#include "cpu/families.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 8192;
constexpr int64_t kBlock = 256;  // columns at a time: sums stay in the nearest cache

IndexError check_rows(const Array& indices, int64_t rows) {
  const int64_t* at = indices.ptr<const int64_t>();
  for (int64_t i = 0; i < indices.sizes[0]; ++i)
    if (static_cast<uint64_t>(at[i]) >= static_cast<uint64_t>(rows)) return {false, 0, at[i], rows};
  return {};
}

// They start at 0, do not fall, and end where the indices end.
IndexError check_offsets(const Array& offsets, int64_t n) {
  const int64_t *at = offsets.ptr<const int64_t>(), bags = offsets.sizes[0] - 1;
  for (int64_t b = 0; b < bags; ++b)
    if (at[b] < (b ? at[b - 1] : 0) || at[b] > n || (b == 0 && at[b] != 0)) return {false, 1, at[b], b};
  return {};
}

struct Bags {
  const int64_t *indices, *offsets;
  int64_t bags, width, padding_idx;
};

// Sums of a block of columns of one bag.
template <class T, class C>
void add_rows(C* sums, const Bags& b, int64_t bag, const T* table, int64_t row_step, int64_t step, const T* weights, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) sums[j] = C(0);
  for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
    if (b.indices[i] == b.padding_idx) continue;
    const T* row = table + b.indices[i] * row_step;
    const C factor = weights ? static_cast<C>(weights[i]) : C(1);
    if (step == 1) {
      for (int64_t j = 0; j < columns; ++j) sums[j] += factor * static_cast<C>(row[j]);
    } else {
      for (int64_t j = 0; j < columns; ++j) sums[j] += factor * static_cast<C>(row[j * step]);
    }
  }
}

template <class T> void bag_sums(const Array& out, const Array& table, const Bags& b, const T* weights, bool mean, const int64_t* sizes) {
  using C = compute_t<T>;
  parallel_for(0, b.bags, kGrain / (b.width * 8 + 1) + 1, [&](int64_t begin, int64_t end) {
    C sums[kBlock];
    for (int64_t bag = begin; bag < end; ++bag)
      for (int64_t from = 0; from < b.width; from += kBlock) {
        const int64_t columns = from + kBlock < b.width ? kBlock : b.width - from;
        add_rows(sums, b, bag, table.ptr<const T>() + from * table.strides[1], table.strides[0], table.strides[1], weights, columns);
        const C by = mean && sizes[bag] > 1 ? C(1) / static_cast<C>(sizes[bag]) : C(1);
        T* to = out.ptr<T>() + bag * out.strides[0] + from * out.strides[1];
        for (int64_t j = 0; j < columns; ++j) to[j * out.strides[1]] = static_cast<T>(sums[j] * by);
      }
  });
}

template <class T> void bag_maxima(const Array& out, const Array& table, const Bags& b, int64_t* highest) {
  parallel_for(0, b.bags, kGrain / (b.width * 8 + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t bag = begin; bag < end; ++bag) {
      T* to = out.ptr<T>() + bag * out.strides[0];
      int64_t* at = highest + bag * b.width;
      for (int64_t j = 0; j < b.width; ++j) to[j * out.strides[1]] = T(0), at[j] = 0;
      bool first = true;
      for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
        if (b.indices[i] == b.padding_idx) continue;
        const T* row = table.ptr<const T>() + b.indices[i] * table.strides[0];
        for (int64_t j = 0; j < b.width; ++j) {
          const T value = row[j * table.strides[1]];
          T& best = to[j * out.strides[1]];
          if (!first && !(static_cast<compute_t<T>>(value) > static_cast<compute_t<T>>(best))) continue;
          best = value;
          at[j] = b.indices[i];
        }
        first = false;
      }
    }
  });
}

IndexError bags(const Array& out, const Array& table, const Array& indices, const Array& offsets, const void* weights, Bag mode,
                int64_t padding_idx, int64_t* bag_of, int64_t* sizes, int64_t* highest) {
  const int64_t n = indices.sizes[0];
  if (const IndexError error = check_offsets(offsets, n); !error.ok) return error;
  if (const IndexError error = check_rows(indices, table.sizes[0]); !error.ok) return error;
  const Bags b{indices.ptr<const int64_t>(), offsets.ptr<const int64_t>(), out.sizes[0], table.sizes[1], padding_idx};
  for (int64_t bag = 0; bag < b.bags; ++bag) {
    sizes[bag] = 0;
    for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
      bag_of[i] = bag;
      sizes[bag] += b.indices[i] != padding_idx;
    }
  }
  visit_floating(table.dtype, [&](auto zero) {
    using T = decltype(zero);
    if (mode == Bag::Max) {
      bag_maxima<T>(out, table, b, highest);
    } else {
      bag_sums<T>(out, table, b, static_cast<const T*>(weights), mode == Bag::Mean, sizes);
    }
  });
  return {};
}

// Threads share the rows of grad_table: each reads all indices and adds what falls to it.
IndexError bags_backward(const Array& grad_table, const Array& grad, const Array& indices, const int64_t* bag_of, const int64_t* sizes,
                         const void* weights, Bag mode, int64_t padding_idx, bool by_count) {
  const int64_t n = indices.sizes[0], rows = grad_table.sizes[0], width = grad_table.sizes[1];
  const int64_t* at = indices.ptr<const int64_t>();
  if (const IndexError error = check_rows(indices, rows); !error.ok) return error;
  for (int64_t i = 0; i < n; ++i)
    if (static_cast<uint64_t>(bag_of[i]) >= static_cast<uint64_t>(grad.sizes[0])) return {false, 1, bag_of[i], grad.sizes[0]};
  int64_t* counts = nullptr;
  if (by_count) {
    counts = static_cast<int64_t*>(std::calloc(static_cast<size_t>(rows) + 1, sizeof(int64_t)));
    if (!counts) std::abort();  // as the system itself does when memory it promised is not there
    for (int64_t i = 0; i < n; ++i) ++counts[at[i]];
  }
  visit_floating(grad.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = compute_t<T>;
    const int64_t share = (rows + num_threads() - 1) / num_threads();
    parallel_for(0, rows, n * width <= 2 * kGrain ? rows : share, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < n; ++i) {
        if (at[i] < begin || at[i] >= end || at[i] == padding_idx) continue;
        C factor = weights ? static_cast<C>(static_cast<const T*>(weights)[i]) : C(1);
        if (mode == Bag::Mean && sizes[bag_of[i]] > 1) factor /= static_cast<C>(sizes[bag_of[i]]);
        if (counts) factor /= static_cast<C>(counts[at[i]]);
        const T* from = grad.ptr<const T>() + bag_of[i] * grad.strides[0];
        T* to = grad_table.ptr<T>() + at[i] * grad_table.strides[0];
        const int64_t step = grad.strides[1], to_step = grad_table.strides[1];
        for (int64_t j = 0; j < width; ++j)
          to[j * to_step] = static_cast<T>(static_cast<C>(to[j * to_step]) + factor * static_cast<C>(from[j * step]));
      }
    });
  });
  std::free(counts);
  return {};
}

IndexError weights_backward(const Array& out, const Array& grad, const Array& table, const Array& indices, const int64_t* bag_of,
                            int64_t padding_idx) {
  const int64_t n = indices.sizes[0], width = table.sizes[1];
  const int64_t* at = indices.ptr<const int64_t>();
  if (const IndexError error = check_rows(indices, table.sizes[0]); !error.ok) return error;
  for (int64_t i = 0; i < n; ++i)
    if (static_cast<uint64_t>(bag_of[i]) >= static_cast<uint64_t>(grad.sizes[0])) return {false, 1, bag_of[i], grad.sizes[0]};
  visit_floating(table.dtype, [&](auto zero) {
    using T = decltype(zero);
    using C = compute_t<T>;
    parallel_for(0, n, kGrain / (width + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T *a = grad.ptr<const T>() + bag_of[i] * grad.strides[0], *b = table.ptr<const T>() + at[i] * table.strides[0];
        C sum = 0;
        if (at[i] != padding_idx)
          for (int64_t j = 0; j < width; ++j) sum += static_cast<C>(a[j * grad.strides[1]]) * static_cast<C>(b[j * table.strides[1]]);
        out.ptr<T>()[i * out.strides[0]] = static_cast<T>(sum);
      }
    });
  });
  return {};
}

}  // namespace

RG_EXPORT_KERNELS(EmbeddingKernels, embedding) = {
    .bags = Reporting<bags>::run, .bags_backward = Reporting<bags_backward>::run, .weights_backward = Reporting<weights_backward>::run};

}  // namespace retrograd::cpu
