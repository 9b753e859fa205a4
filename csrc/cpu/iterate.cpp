#include "cpu/iterate.h"

#include <algorithm>

#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrainNs = 10000;  // the least work worth handing to another thread
constexpr int64_t kShortRow = 8;     // rows shorter than this cost more in calls than in work
constexpr int64_t kBlock = 1024;     // elements of a swapped row walked before the next row: what they touch stays in the L1 cache

struct Dim {
  int64_t size;
  int64_t stride[kMaxOperands];  // bytes
};

// Dimensions from the innermost out.
struct Plan {
  int count;  // operands
  int ndim;
  char* data[kMaxOperands];
  Dim dim[kMaxDims];
};

int64_t grain_for(int cost) { return kGrainNs * 8 / std::max(cost, 1); }            // elements
bool is_small(int64_t numel, int cost) { return numel * cost < 2 * kGrainNs * 8; }  // without grain_for's division

void run_1d(int count, char* const* data, const int64_t* strides, int64_t n, Loop loop, const void* params, int cost) {
  if (is_small(n, cost)) return loop(n, data, strides, params);
  parallel_for(0, n, grain_for(cost), [&](int64_t from, int64_t to) {
    char* at[kMaxOperands];
    for (int i = 0; i < count; ++i) at[i] = data[i] + from * strides[i];
    loop(to - from, at, strides, params);
  });
}

// Whether dimension a belongs outside b: by the output's strides, then by the inputs'. Strides of 0 have no opinion.
bool outside(const Dim& a, const Dim& b, int count) {
  for (int i = 0; i < count; ++i) {
    if (a.stride[i] == 0 || b.stride[i] == 0 || a.stride[i] == b.stride[i]) continue;
    return a.stride[i] > b.stride[i];
  }
  return false;
}

// Insertion sort: the order is partial (see outside), the number of dimensions small, and sorted is the usual case.
void sort_dims(Plan& p) {
  for (int d = 1; d < p.ndim; ++d) {
    int at = d;
    for (int k = d - 1; k >= 0; --k) {
      if (outside(p.dim[k], p.dim[at], p.count)) {
        std::swap(p.dim[k], p.dim[at]);
        at = k;
      } else if (outside(p.dim[at], p.dim[k], p.count)) {
        break;  // where the order is open, keep looking further in
      }
    }
  }
}

bool mergeable(const Dim& inner, const Dim& outer, int count) {
  for (int i = 0; i < count; ++i)
    if (outer.stride[i] != inner.stride[i] * inner.size) return false;
  return true;
}

void merge_dims(Plan& p) {
  int last = 0;
  for (int d = 1; d < p.ndim; ++d) {
    if (mergeable(p.dim[last], p.dim[d], p.count)) {
      p.dim[last].size *= p.dim[d].size;
    } else if (++last != d) {
      p.dim[last] = p.dim[d];
    }
  }
  p.ndim = last + 1;
}

// Rows [from, to), counted over all dimensions but the innermost, of which it takes `n` elements starting at `start`.
void run_rows(const Plan& p, int64_t from, int64_t to, int64_t start, int64_t n, Loop loop, const void* params) {
  char* at[kMaxOperands];
  int64_t index[kMaxDims];
  for (int i = 0; i < p.count; ++i) at[i] = p.data[i] + start * p.dim[0].stride[i];
  int64_t rest = from;
  for (int d = 1; d < p.ndim; ++d) {
    index[d] = rest % p.dim[d].size;
    rest /= p.dim[d].size;
    for (int i = 0; i < p.count; ++i) at[i] += index[d] * p.dim[d].stride[i];
  }
  for (int64_t row = from;;) {
    loop(n, at, p.dim[0].stride, params);
    if (++row == to) return;
    for (int d = 1;; ++d) {
      const Dim& dim = p.dim[d];
      if (++index[d] < dim.size) {
        for (int i = 0; i < p.count; ++i) at[i] += dim.stride[i];
        break;
      }
      index[d] = 0;
      for (int i = 0; i < p.count; ++i) at[i] -= (dim.size - 1) * dim.stride[i];
    }
  }
}

void run_plan(Plan& p, Loop loop, const void* params, int cost) {
  if (p.ndim == 1) return run_1d(p.count, p.data, p.dim[0].stride, p.dim[0].size, loop, params, cost);

  const bool swapped = p.dim[0].size < kShortRow && p.dim[1].size > p.dim[0].size;
  if (swapped) std::swap(p.dim[0], p.dim[1]);
  const int64_t n = p.dim[0].size;
  int64_t rows = 1;
  for (int d = 1; d < p.ndim; ++d) rows *= p.dim[d].size;

  const int64_t block = swapped ? kBlock : n;
  const auto run = [&](int64_t row_from, int64_t row_to, int64_t from, int64_t to) {
    for (int64_t start = from; start < to; start += block) run_rows(p, row_from, row_to, start, std::min(block, to - start), loop, params);
  };
  if (is_small(rows * n, cost)) return run(0, rows, 0, n);
  const int64_t grain = grain_for(cost);
  if (rows < n && (swapped || rows < 4 * num_threads()))
    parallel_for(0, n, std::max(grain / rows, int64_t{64}), [&](int64_t from, int64_t to) { run(0, rows, from, to); });
  else
    parallel_for(0, rows, std::max(grain / n, int64_t{1}), [&](int64_t from, int64_t to) { run(from, to, 0, n); });
}

[[gnu::noinline]] void run_general(const Operands& ops, Loop loop, const void* params, int cost) {
  Plan p;
  p.count = ops.count;
  p.ndim = 0;
  for (int i = 0; i < ops.count; ++i) p.data[i] = static_cast<char*>(ops.data[i]);
  for (int d = ops.ndim - 1; d >= 0; --d) {
    if (ops.sizes[d] == 1) continue;
    Dim& dim = p.dim[p.ndim++];
    dim.size = ops.sizes[d];
    for (int i = 0; i < ops.count; ++i) dim.stride[i] = ops.strides[i][d] * ops.itemsize[i];
  }
  sort_dims(p);
  merge_dims(p);
  run_plan(p, loop, params, cost);
}

// Whether an operand is one row over all dimensions, given the strides `dense` of a contiguous one: contiguous, or a single element
// broadcast everywhere.
inline bool is_row(const Operands& ops, int i, const int64_t* dense, int64_t* stride) {
  const int64_t* s = ops.strides[i];
  int d = 0;
  while (d < ops.ndim && (s[d] == dense[d] || ops.sizes[d] == 1)) ++d;
  *stride = ops.itemsize[i];
  if (d == ops.ndim) return true;
  *stride = 0;
  for (d = 0; d < ops.ndim; ++d)
    if (s[d] != 0 && ops.sizes[d] != 1) return false;
  return true;
}

}  // namespace

void iterate(const Operands& ops, Loop loop, const void* params, int cost) {
  char* data[kMaxOperands];
  int64_t strides[kMaxOperands];
  if (ops.ndim == 1) {
    for (int i = 0; i < ops.count; ++i) {
      data[i] = static_cast<char*>(ops.data[i]);
      strides[i] = ops.strides[i][0] * ops.itemsize[i];
    }
    if (ops.sizes[0] != 0) run_1d(ops.count, data, strides, ops.sizes[0], loop, params, cost);
    return;
  }
  int64_t dense[kMaxDims];
  int64_t n = 1;
  for (int d = ops.ndim - 1; d >= 0; --d) {
    dense[d] = n;
    n *= ops.sizes[d];
  }
  if (n == 0) return;
  for (int i = 0; i < ops.count; ++i) {
    data[i] = static_cast<char*>(ops.data[i]);
    if (!is_row(ops, i, dense, &strides[i])) return run_general(ops, loop, params, cost);
  }
  run_1d(ops.count, data, strides, n, loop, params, cost);
}

}  // namespace retrograd::cpu
