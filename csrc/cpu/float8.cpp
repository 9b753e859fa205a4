#include "cpu/float8.h"

#include <array>

#include "kernels/float8.h"

namespace retrograd::cpu {
namespace {

template <DType kind> void round_all(void* dst, const void* src, int64_t n) {
  auto* d = static_cast<uint8_t*>(dst);
  const auto* s = static_cast<const float*>(src);
  for (int64_t i = 0; i < n; ++i) d[i] = to_float8<kind>(s[i]);
}

template <DType kind> void widen_all(void* dst, const void* src, int64_t n) {
  static const auto values = [] {
    std::array<float, 256> all;
    for (int code = 0; code < 256; ++code) all[static_cast<size_t>(code)] = from_float8<kind>(static_cast<uint8_t>(code));
    return all;
  }();
  auto* d = static_cast<float*>(dst);
  const auto* s = static_cast<const uint8_t*>(src);
  for (int64_t i = 0; i < n; ++i) d[i] = values[s[i]];
}

}  // namespace

ConvertFn float8_from_floats(DType to) {
  return visit_float8(to, []<DType kind>() -> ConvertFn { return round_all<kind>; });
}
ConvertFn floats_from_float8(DType from) {
  return visit_float8(from, []<DType kind>() -> ConvertFn { return widen_all<kind>; });
}

}  // namespace retrograd::cpu
