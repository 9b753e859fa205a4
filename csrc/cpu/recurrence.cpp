#include "kernels/recurrence.h"

#include "cpu/cpu.h"
#include "cpu/iterate.h"

namespace retrograd::cpu {
namespace {

struct Slice {
  int64_t size, out, in, factor;  // strides along the dim, in elements
  bool reverse;
};

template <class T> void run_slice(T* out, const T* in, const T* factor, const Slice& s) {
  using C = compute_t<T>;
  C y = 0;
  if (!s.reverse) {
    for (int64_t i = 0; i < s.size; ++i) {
      y = C(in[i * s.in]) + (i ? C(factor[i * s.factor]) * y : C(0));
      out[i * s.out] = T(y);
    }
  } else {
    for (int64_t i = s.size - 1; i >= 0; --i) {
      y = C(in[i * s.in]) + (i + 1 < s.size ? C(factor[(i + 1) * s.factor]) * y : C(0));
      out[i * s.out] = T(y);
    }
  }
}

template <class T> void slices(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  const Slice& s = *static_cast<const Slice*>(params);
  for (int64_t i = 0; i < n; ++i) {
    run_slice(reinterpret_cast<T*>(data[0] + i * strides[0]), reinterpret_cast<const T*>(data[1] + i * strides[1]),
              reinterpret_cast<const T*>(data[2] + i * strides[2]), s);
  }
}

void linear_recurrence(const Array& out, const Array& in, const Array& factor, int dim, bool reverse) {
  // One call per slice: the dim itself is seen by iterate() as having one element.
  int64_t sizes[kMaxDims];
  for (int d = 0; d < out.ndim; ++d) sizes[d] = out.sizes[d];
  Slice s = {1, 0, 0, 0, reverse};
  if (out.ndim > 0) {
    s = {out.sizes[dim], out.strides[dim], in.strides[dim], factor.strides[dim], reverse};
    if (s.size == 0) return;
    sizes[dim] = 1;
  }
  Operands ops;
  ops.ndim = out.ndim;
  ops.sizes = sizes;
  ops.add(out);
  ops.add(in);
  ops.add(factor);
  const int64_t cost = s.size * 16;
  const auto run = [&](auto zero) { iterate(ops, slices<decltype(zero)>, &s, static_cast<int>(cost < 1'000'000 ? cost : 1'000'000)); };
  if (is_complex(out.dtype)) return visit_complex(out.dtype, run);
  visit_floating(out.dtype, run);
}

}  // namespace

const RecurrenceKernels recurrence_kernels = {.linear = linear_recurrence};

}  // namespace retrograd::cpu
