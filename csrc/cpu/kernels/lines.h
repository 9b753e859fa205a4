// Iteration for kernels that work along one dim (softmax, scans, sorting): a line is the elements along that dim at one index of the others.
// Internal to kernels/.
//
// Where the elements of neighbouring lines are closer together than the elements of one, a kernel had better take many lines at once,
// row by row: those are columns. `Lines` sorts that out for up to kArrays arrays of equal sizes (but for the size along the dim).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <new>

#include "cpu/iterate.h"
#include "cpu/kernels/load.h"
#include "cpu/parallel.h"
#include "kernels/array.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int kArrays = 4;

struct Lines {
  struct Dim { int64_t size, stride[kArrays]; };
  int arrays = 0, ndim = 0;
  int64_t lines = 1;
  int64_t stride[kArrays] = {};  // along the line
  Dim dims[kMaxDims];            // the others, outermost first; ordered by the strides of the last array, the main input

  Lines(std::initializer_list<const Array*> list, int dim) {
    const Array* const* a = list.begin();
    arrays = static_cast<int>(list.size());
    const int nd = a[0]->ndim;
    for (int i = 0; i < arrays; ++i) stride[i] = nd ? a[i]->strides[dim] : 1;
    for (int d = 0; d < nd; ++d) {
      if (d == dim || a[0]->sizes[d] == 1) continue;
      Dim added = {a[0]->sizes[d], {}};
      for (int i = 0; i < arrays; ++i) added.stride[i] = a[i]->strides[d];
      lines *= added.size;
      insert(added);
    }
    merge();
  }

  // Calls f(local, offset, count, step) for runs of `count` lines: the offset in each array of the first element of the first line, and the
  // steps from line to line. On several threads when there are more than `grain` lines; setup() makes what each keeps for itself.
  template <class Setup, class F> void each_run(int64_t grain, Setup&& setup, F&& f) const {
    parallel_for(0, lines, grain, [&](int64_t begin, int64_t end) {
      auto local = setup();
      int64_t index[kMaxDims], at[kArrays] = {};
      for (int64_t d = ndim - 1, flat = begin; d >= 0; --d) {
        index[d] = flat % dims[d].size;
        flat /= dims[d].size;
        for (int i = 0; i < arrays; ++i) at[i] += index[d] * dims[d].stride[i];
      }
      const Dim inner = ndim ? dims[ndim - 1] : Dim{1, {}};
      while (begin < end) {
        const int64_t left = inner.size - (ndim ? index[ndim - 1] : 0), count = end - begin < left ? end - begin : left;
        f(local, static_cast<const int64_t*>(at), count, inner.stride);
        begin += count;
        for (int64_t d = ndim - 1, by = count; d >= 0; --d, by = 1) {
          for (int i = 0; i < arrays; ++i) at[i] += by * dims[d].stride[i];
          if ((index[d] += by) < dims[d].size) break;
          for (int i = 0; i < arrays; ++i) at[i] -= index[d] * dims[d].stride[i];
          index[d] = 0;
        }
      }
    });
  }

  // The same line by line: f(local, offset).
  template <class Setup, class F> void each(int64_t grain, Setup&& setup, F&& f) const {
    each_run(grain, setup, [&](auto& local, const int64_t* start, int64_t count, const int64_t* step) {
      int64_t at[kArrays] = {start[0], start[1], start[2], start[3]};
      for (int64_t line = 0; line < count; ++line) {
        f(local, static_cast<const int64_t*>(at));
        for (int i = 0; i < arrays; ++i) at[i] += step[i];
      }
    });
  }

  // Whether to work row by row on the innermost other dim, for lines of n elements.
  bool columns_suit(int64_t n) const {
    return ndim > 0 && n > 1 && dims[ndim - 1].size >= 8 && dims[ndim - 1].stride[arrays - 1] < stride[arrays - 1];
  }
  int64_t columns() const { return dims[ndim - 1].size; }
  const int64_t* column_strides() const { return dims[ndim - 1].stride; }

  // Calls f(offset, width) for tiles of up to `tile` columns; the offset is that of the tile's first element in each array.
  template <class F> void each_tile(int64_t n, int64_t tile, F&& f) const {
    const Dim& inner = dims[ndim - 1];
    const int64_t tiles = (inner.size + tile - 1) / tile;
    const int64_t work = n * (inner.size < tile ? inner.size : tile), grain = work < 16384 ? 16384 / work : 1;
    parallel_for(0, lines / inner.size * tiles, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t first = t % tiles * tile;
        int64_t at[kArrays], flat = t / tiles;
        for (int i = 0; i < arrays; ++i) at[i] = first * inner.stride[i];
        for (int d = ndim - 2; d >= 0; --d) {
          for (int i = 0; i < arrays; ++i) at[i] += flat % dims[d].size * dims[d].stride[i];
          flat /= dims[d].size;
        }
        f(at, inner.size - first < tile ? inner.size - first : tile);
      }
    });
  }

 private:
  void insert(const Dim& d) {
    int i = ndim++;
    const int key = arrays - 1;
    for (; i > 0 && dims[i - 1].stride[key] < d.stride[key]; --i) dims[i] = dims[i - 1];
    dims[i] = d;
  }
  bool joins(const Dim& outer, const Dim& inner) const {
    for (int i = 0; i < arrays; ++i)
      if (outer.stride[i] != inner.stride[i] * inner.size) return false;
    return true;
  }
  void merge() {
    int last = 0;
    for (int i = 1; i < ndim; ++i) {
      if (joins(dims[last], dims[i])) {
        const int64_t size = dims[last].size * dims[i].size;
        dims[last] = dims[i];
        dims[last].size = size;
      } else {
        dims[++last] = dims[i];
      }
    }
    if (ndim > 0) ndim = last + 1;
  }
};

// Memory for n elements that lives on the heap only when it is large.
template <class T, int64_t kInline> class Scratch {
  alignas(64) T inline_[kInline];
  T* data_;

 public:
  explicit Scratch(int64_t n) : data_(n <= kInline ? inline_ : static_cast<T*>(std::malloc(static_cast<size_t>(n) * sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  ~Scratch() {
    if (data_ != inline_) std::free(data_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }
};

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
