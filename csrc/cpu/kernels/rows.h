// Small helpers of kernels that move elements. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cstdint>

#include "cpu/iterate.h"
#include "kernels/array.h"

namespace retrograd::cpu {
namespace {

typedef uint8_t u8 __attribute__((may_alias));
typedef uint16_t u16 __attribute__((may_alias));
typedef uint32_t u32 __attribute__((may_alias));
typedef uint64_t u64 __attribute__((may_alias));
struct __attribute__((may_alias)) u128 { uint64_t low, high; };

[[maybe_unused]] int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
[[maybe_unused]] int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

template <class F> decltype(auto) visit_itemsize(int64_t size, F&& f) {
  switch (size) {
    case 1: return f(u8{});
    case 2: return f(u16{});
    case 4: return f(u32{});
    case 16: return f(u128{});
    default: return f(u64{});
  }
}

// Calls f(pointer, stride, n) for the rows of an array in row-major order until it returns false; the stride is in bytes.
template <class F> void for_rows(const Array& a, F&& f) {
  const int64_t item = itemsize(a.dtype);
  if (a.numel() == 0) return;
  if (a.ndim == 0) return static_cast<void>(f(a.ptr<char>(), item, int64_t{1}));
  int ndim = a.ndim;  // trailing dims that are contiguous count as one
  int64_t n = a.sizes[ndim - 1], stride = a.strides[ndim - 1];
  for (--ndim; ndim > 0 && a.strides[ndim - 1] == stride * n; --ndim) n *= a.sizes[ndim - 1];
  char* p = a.ptr<char>();
  int64_t at[kMaxDims];
  for (int d = 0; d < ndim; ++d) at[d] = 0;
  for (;;) {
    if (!f(p, stride * item, n)) return;
    int d = ndim - 1;
    for (; d >= 0; --d) {
      p += a.strides[d] * item;
      if (++at[d] < a.sizes[d]) break;
      p -= a.strides[d] * a.sizes[d] * item;
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace
}  // namespace retrograd::cpu
