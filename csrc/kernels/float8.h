// Floating point numbers of 8 bits, which are stored and converted but not computed with: Note [Guest dtypes] in core/dtype.h.
// A number is its sign and, as one integer, exponent and digits: the next integer is the next number. In `e4m3fnuz`, 4 bits are exponent
// and 3 digits, f: there are no infinities, n: one nan, uz: zero has no sign. e8m0fnu is a power of two.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/dtype.h"

namespace retrograd {

struct Float8Format {
  int digits;
  int lowest;    // the exponent of the smallest normal number
  int last;      // the largest number without its sign
  int beyond;    // what larger ones become
  int infinity;  // what an infinity becomes
  int nan;
  bool unsigned_;  // neither nan nor zero have a sign
};

// Larger numbers become the last one in e4m3fn, an infinity in e5m2, and nan in those that have one nan.
template <DType kind> constexpr Float8Format kFloat8Format = {};
template <> inline constexpr Float8Format kFloat8Format<DType::Float8_e4m3fn> = {3, -6, 0x7e, 0x7e, 0x7e, 0x7f, false};
template <> inline constexpr Float8Format kFloat8Format<DType::Float8_e5m2> = {2, -14, 0x7b, 0x7c, 0x7c, 0x7f, false};
template <> inline constexpr Float8Format kFloat8Format<DType::Float8_e4m3fnuz> = {3, -7, 0x7f, 0x80, 0x80, 0x80, true};
template <> inline constexpr Float8Format kFloat8Format<DType::Float8_e5m2fnuz> = {2, -15, 0x7f, 0x80, 0x80, 0x80, true};

template <DType kind> inline uint8_t to_float8(float x) {
  const float size = std::fabs(x);
  if constexpr (kind == DType::Float8_e8m0fnu) {
    if (!(size <= std::numeric_limits<float>::max())) return 0xff;
    uint32_t bits;
    std::memcpy(&bits, &size, sizeof bits);
    const uint32_t exponent = bits >> 23, digits = bits & 0x7fffff;
    // Half and more is rounded up; below the smallest normal number all that is above the lowest power, as in PyTorch.
    const bool up = exponent ? digits >= 0x400000 : digits > 0x400000;
    return static_cast<uint8_t>(exponent + up);
  } else {
    constexpr Float8Format f = kFloat8Format<kind>;
    const int sign = std::signbit(x) ? 0x80 : 0;
    if (x != x) return static_cast<uint8_t>(f.unsigned_ ? f.nan : f.nan | sign);
    int code;
    if (size > std::numeric_limits<float>::max()) {
      code = f.infinity;
    } else {
      const int exponent = size < std::ldexp(1.0f, f.lowest) ? f.lowest : std::ilogb(size);
      // In units of the last digit, rounded to even; one more than all digits carries into the exponent, as it should.
      code = ((exponent - f.lowest) << f.digits) + static_cast<int>(std::nearbyint(std::ldexp(size, f.digits - exponent)));
      if (exponent > f.lowest + 32 || code > f.last) code = f.beyond;
    }
    return static_cast<uint8_t>(f.unsigned_ && (code == 0 || code == f.nan) ? code : code | sign);
  }
}

template <DType kind> inline float from_float8(uint8_t code) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if constexpr (kind == DType::Float8_e8m0fnu) {
    return code == 0xff ? nan : std::ldexp(1.0f, code - 127);
  } else {
    constexpr Float8Format f = kFloat8Format<kind>;
    const int size = code & 0x7f;
    if (f.unsigned_ ? code == f.nan : size > f.last && size != f.infinity) return nan;
    if (size > f.last) return code & 0x80 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    const int exponent = size >> f.digits, rest = size & ((1 << f.digits) - 1);
    const float value = exponent ? std::ldexp(static_cast<float>(rest + (1 << f.digits)), exponent - 1 + f.lowest - f.digits)
                                 : std::ldexp(static_cast<float>(rest), f.lowest - f.digits);
    return code & 0x80 ? -value : value;
  }
}

// Calls f.template operator()<kind>() with the dtype as a constant.
template <class F> decltype(auto) visit_float8(DType t, F&& f) {
  switch (t) {
    case DType::Float8_e4m3fn: return f.template operator()<DType::Float8_e4m3fn>();
    case DType::Float8_e5m2: return f.template operator()<DType::Float8_e5m2>();
    case DType::Float8_e4m3fnuz: return f.template operator()<DType::Float8_e4m3fnuz>();
    case DType::Float8_e5m2fnuz: return f.template operator()<DType::Float8_e5m2fnuz>();
    default: return f.template operator()<DType::Float8_e8m0fnu>();
  }
}

}  // namespace retrograd
