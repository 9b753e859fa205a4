// Which x86-64 level this machine runs: the processor's word (cpuid) and the operating system's (xgetbv: a kernel that does not
// save the wide registers on a context switch makes AVX unusable whatever the processor says).
#include "cpu/isa.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace retrograd::cpu {
namespace {

#if defined(__x86_64__)
bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

uint64_t os_saved_registers() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

Level detect() {
  uint32_t a, b, c, d, b7 = 0, c80 = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return Level::Base;
  const uint32_t c1 = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) b7 = b;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) c80 = c;

  // The feature lists of the x86-64 psABI, leaf by leaf.
  if (!has(c1, bit_SSE3 | bit_SSSE3 | bit_SSE4_1 | bit_SSE4_2 | bit_CMPXCHG16B | bit_POPCNT)) return Level::Base;
  const bool v3 =
      has(c1, bit_AVX | bit_FMA | bit_F16C | bit_MOVBE | bit_OSXSAVE) && has(b7, bit_AVX2 | bit_BMI | bit_BMI2) && has(c80, bit_LZCNT);
  if (!v3) return Level::V2;
  const uint64_t saved = os_saved_registers();
  constexpr uint64_t kAvxState = 0x06, kAvx512State = 0xe6;  // xmm + ymm; then opmask and both halves of zmm
  if ((saved & kAvxState) != kAvxState) return Level::V2;
  const bool v4 = has(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  return v4 && (saved & kAvx512State) == kAvx512State ? Level::V4 : Level::V3;
}

Level asked_for() {
  const char* text = std::getenv("RETROGRAD_CPU_LEVEL");
  if (text && !std::strcmp(text, "v2")) return Level::V2;
  if (text && !std::strcmp(text, "v3")) return Level::V3;
  return Level::V4;
}

Level choose() {
  const Level found = detect(), asked = asked_for();
  return asked < found ? asked : found;
}
#else
Level choose() { return Level::Base; }
#endif

}  // namespace

Level cpu_level() {
  static const Level level = choose();
  return level;
}

}  // namespace retrograd::cpu
