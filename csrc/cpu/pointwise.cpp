#include <bit>
#include <cmath>

#include "cpu/cpu.h"
#include "cpu/iterate.h"
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

void run(int row, DType dtype, const Operands& ops, const void* params, int cost) {
  iterate(ops, pointwise_loops().rows[row][static_cast<int>(dtype)], params, cost);
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
const SelectKernels select_kernels = {.select = select};
const PointwiseKernels& pointwise_kernels() {
  static const PointwiseKernels kernels = {.run = run, .loops = pointwise_loops().rows, .next_after = next_after};
  return kernels;
}

}  // namespace retrograd::cpu
