#include "kernels/select.h"
#include "cpu/iterate.h"

namespace retrograd::cpu {
namespace {

template <class T> void select(int64_t n, char* const* data, const int64_t* strides, const void*) {
  constexpr int64_t item = sizeof(T);
  const auto* c = reinterpret_cast<const uint8_t*>(data[1]);
  const T* a = reinterpret_cast<const T*>(data[2]);
  const T* b = reinterpret_cast<const T*>(data[3]);
  if (strides[0] == item && strides[1] == 1) {
    T* out = reinterpret_cast<T*>(data[0]);
    const T x = *a, y = *b;
    if (strides[2] == item && strides[3] == item) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? a[i] : b[i];
      return;
    }
    if (strides[2] == 0 && strides[3] == item) {  // masked_fill
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? x : b[i];
      return;
    }
    if (strides[2] == item && strides[3] == 0) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? a[i] : y;
      return;
    }
    if (strides[2] == 0 && strides[3] == 0) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) out[i] = c[i] ? x : y;
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i)
    *reinterpret_cast<T*>(data[0] + i * strides[0]) =
        *reinterpret_cast<const T*>(data[1][i * strides[1]] ? data[2] + i * strides[2] : data[3] + i * strides[3]);
}

}  // namespace

RG_EXPORT_KERNELS(SelectLoops, select_loops) = {
    .select = {select<uint8_t>, select<uint16_t>, select<uint32_t>, select<uint64_t>, select<Complex<double>>}};

}  // namespace retrograd::cpu
