#include <algorithm>
#include <bit>
#include <cmath>

#include "cpu/cpu.h"
#include "cpu/iterate.h"
#include "cpu/parallel.h"
#include "kernels/optim.h"
#include "kernels/select.h"
#include "pointwise_tables.h"

namespace retrograd::cpu {
namespace {

// The 16-bit float next to `from` in the direction of `to`: neighbours differ by one when their bits are read as an integer.
template <class T> T step16(T from, T to) {
  const float a = from, b = to;
  if (a != a || b != b) return a != a ? from : to;
  if (a == b) return to;
  T out;
  if (a == 0) {
    out.bits = static_cast<uint16_t>(b < 0 ? 0x8001 : 0x0001);
  } else {
    out.bits = static_cast<uint16_t>(from.bits + ((a < b) == (a > 0) ? 1 : -1));
  }
  return out;
}

void next_after(void* out, const void* from, const void* to, DType dtype, int64_t n) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = step16(static_cast<const T*>(from)[i], static_cast<const T*>(to)[i]);
  };
  dtype == DType::Float16 ? run(Half{}) : run(BFloat16{});
}

// ---- Results that no cache will hold are written past it: an ordinary store reads the line first, a third of the traffic of a product.

// Before a thread says that it is done.
void fence() {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

constexpr int64_t kCacheBytes = 32 << 20;  // what C libraries say of the last level is often that of all sockets

// One row, of which result and at least one input are dense, the result apart from all inputs, and more than the cache holds.
bool is_streamed(const Operands& ops) {
  if (ops.ndim != 1 || ops.strides[0][0] != 1 || reinterpret_cast<uintptr_t>(ops.data[0]) % 64 || !stream_kernels().copy) return false;
  const int64_t n = ops.sizes[0];
  const auto begin = [&](int i) { return static_cast<const char*>(ops.data[i]); };
  const auto end = [&](int i) { return begin(i) + (ops.strides[i][0] * (n - 1) + 1) * ops.itemsize[i]; };
  int64_t bytes = n * ops.itemsize[0];
  for (int i = 1; i < ops.count; ++i) {
    if (ops.strides[i][0] < 0 || (begin(i) < end(0) && begin(0) < end(i))) return false;
    bytes += end(i) - begin(i);
  }
  return bytes >= kCacheBytes;
}

void run_streamed(const Operands& ops, Loop loop, const void* params) {
  constexpr int64_t kBytes = 1024;  // short, so that reading goes on while stores are on their way
  const int64_t item = ops.itemsize[0], block = kBytes / item;
  int64_t strides[kMaxOperands];
  for (int i = 0; i < ops.count; ++i) strides[i] = ops.strides[i][0] * ops.itemsize[i];
  parallel_for(0, (ops.sizes[0] + block - 1) / block, 64, [&](int64_t from, int64_t to) {
    alignas(64) char buffer[kBytes];
    for (int64_t b = from; b < to; ++b) {
      const int64_t start = b * block, n = std::min(block, ops.sizes[0] - start);
      char* at[kMaxOperands] = {buffer};
      for (int i = 1; i < ops.count; ++i) at[i] = static_cast<char*>(ops.data[i]) + start * strides[i];
      loop(n, at, strides, params);
      stream_kernels().copy(static_cast<char*>(ops.data[0]) + start * item, buffer, n * item);
    }
    fence();
  });
}

// ---- A few elements in several rows: each input is laid out like the result, and the loop is called once instead of for each row.

constexpr int64_t kTiny = 64;  // elements

bool is_dense(const Operands& ops, int i) {
  int64_t next = 1;
  for (int d = ops.ndim - 1; d >= 0; --d) {
    if (ops.sizes[d] != 1 && ops.strides[i][d] != next) return false;
    next *= ops.sizes[d];
  }
  return true;
}

bool is_one_number(const Operands& ops, int i) {
  int64_t any = 0;
  for (int d = 0; d < ops.ndim; ++d) any |= ops.strides[i][d];
  return any == 0;
}

template <class T> void lay_out(const Operands& ops, int i, int64_t numel, char* buffer) {
  const int64_t *sizes = ops.sizes, *strides = ops.strides[i], row = sizes[ops.ndim - 1], step = strides[ops.ndim - 1];
  const T* from = static_cast<const T*>(ops.data[i]);
  T* to = reinterpret_cast<T*>(buffer);
  int64_t index[kMaxDims];
  for (int d = 0; d < ops.ndim; ++d) index[d] = 0;
  for (T* const end = to + numel; to != end;) {
    for (int64_t j = 0; j < row; ++j) *to++ = from[j * step];
    for (int d = ops.ndim - 2; d >= 0; --d) {
      from += strides[d];
      if (++index[d] < sizes[d]) break;
      from -= index[d] * strides[d];
      index[d] = 0;
    }
  }
}

bool run_tiny(const Operands& ops, Loop loop, const void* params) {
  constexpr int kInputs = 3;
  int64_t numel = 1;
  for (int d = 0; d < ops.ndim; ++d)
    if ((numel *= ops.sizes[d]) > kTiny) return false;
  if (ops.ndim < 2 || numel == 0 || ops.count > kInputs + 1 || !is_dense(ops, 0)) return false;
  alignas(64) char buffers[kInputs][kTiny * kMaxItemSize];
  char* data[kInputs + 1] = {static_cast<char*>(ops.data[0])};
  int64_t items[kInputs + 1] = {ops.itemsize[0]};
  for (int i = 1; i < ops.count; ++i) {
    items[i] = ops.itemsize[i];
    data[i] = static_cast<char*>(ops.data[i]);
    if (is_dense(ops, i)) continue;
    if (is_one_number(ops, i)) {
      items[i] = 0;
      continue;
    }
    data[i] = buffers[i - 1];
    switch (items[i]) {
      case 1: lay_out<uint8_t>(ops, i, numel, data[i]); break;
      case 2: lay_out<uint16_t>(ops, i, numel, data[i]); break;
      case 4: lay_out<uint32_t>(ops, i, numel, data[i]); break;
      case 8: lay_out<uint64_t>(ops, i, numel, data[i]); break;
      default: lay_out<Complex<double>>(ops, i, numel, data[i]);
    }
  }
  loop(numel, data, items, params);
  return true;
}

void run(int row, DType dtype, const Operands& ops, const void* params, int cost) {
  const Loop loop = pointwise_loops().rows[row][loop_of(dtype)];
  if (run_tiny(ops, loop, params)) return;
  if (is_streamed(ops)) return run_streamed(ops, loop, params);
  iterate(ops, loop, params, cost);
}

void sgd(const Operands& ops, DType dtype, const SgdStep& step) {
  iterate(ops, optim_loops().sgd[static_cast<int>(dtype)], &step, step.momentum != 0 ? 3 : 2);
}

double add_step(void* count, DType dtype) {
  return dtype == DType::Float32 ? static_cast<double>(*static_cast<float*>(count) += 1) : *static_cast<double*>(count) += 1;
}

void adam(const Operands& ops, DType dtype, AdamStep* step, void* count, DType count_dtype) {
  if (const double n = add_step(count, count_dtype); n != step->count) {
    step->count = n;
    step->step_size = step->lr / (1 - std::pow(step->beta1, n));
    step->root_correction = std::sqrt(1 - std::pow(step->beta2, n));
  }
  iterate(ops, optim_loops().adam[static_cast<int>(dtype)], step, 8);
}

void select(const Operands& ops, int64_t itemsize) {
  iterate(ops, select_loops().select[std::countr_zero(static_cast<uint64_t>(itemsize))], nullptr, 4);
}

}  // namespace

const OptimKernels optim_kernels = {.sgd = sgd, .adam = adam};
const SelectKernels& select_kernels() {
  static const SelectKernels kernels = {.select = select, .loops = select_loops().select};
  return kernels;
}
const PointwiseKernels& pointwise_kernels() {
  static const PointwiseKernels kernels = {.run = run, .loops = pointwise_loops().rows, .next_after = next_after};
  return kernels;
}

}  // namespace retrograd::cpu
