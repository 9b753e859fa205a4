// Run-time choice of instruction set. Every file in cpu/kernels/ is compiled once per level with RG_LEVEL defined as v2, v3 or v4
// (x86-64-v2 / AVX2+FMA / AVX-512) or `base` on other machines, and exports its family as one struct of function pointers:
//
//   // cpu/families.h, for the struct of kernels/reduce.h
//   RG_DECLARE_KERNELS(ReduceKernels, reduce)          // declares reduce_v2/v3/v4 and `const ReduceKernels& reduce()`
//   // cpu/kernels/reduce.cpp
//   namespace { void sum(...) {...} }
//   RG_EXPORT_KERNELS(ReduceKernels, reduce) = {.sum = sum};
//
// Everything else in a kernel file lives in an unnamed namespace: inline functions with external linkage would be merged
// across levels by the linker, and a v2 machine would meet AVX-512 code. Templates from shared headers must be in one too, so the
// headers in cpu/ that kernels include open `namespace retrograd::cpu::RG_LEVEL_NS` for that purpose.
#pragma once

namespace retrograd::kernels {}

namespace retrograd::cpu {

using namespace kernels;  // the interface that this folder implements

enum class Level { Base, V2, V3, V4 };
Level cpu_level();  // the best level this machine runs; RETROGRAD_CPU_LEVEL=v2|v3|v4 lowers it

}  // namespace retrograd::cpu

#define RG_CAT_(a, b) a##_##b
#define RG_CAT(a, b) RG_CAT_(a, b)

#if defined(RG_ONLY_LEVEL)  // a developer's build for the machine at hand
#define RG_DECLARE_KERNELS(Struct, name)           \
  extern const Struct RG_CAT(name, RG_ONLY_LEVEL); \
  inline const Struct& name() { return RG_CAT(name, RG_ONLY_LEVEL); }
#elif defined(__x86_64__)
#define RG_DECLARE_KERNELS(Struct, name)                                                                                   \
  extern const Struct name##_v2, name##_v3, name##_v4;                                                                     \
  inline const Struct& name() {                                                                                            \
    static const Struct& chosen = cpu_level() == Level::V4 ? name##_v4 : cpu_level() == Level::V3 ? name##_v3 : name##_v2; \
    return chosen;                                                                                                         \
  }
#else
#define RG_DECLARE_KERNELS(Struct, name) \
  extern const Struct name##_base;       \
  inline const Struct& name() { return name##_base; }
#endif

#ifdef RG_LEVEL
#define RG_LEVEL_NS RG_CAT(level, RG_LEVEL)
#define RG_EXPORT_KERNELS(Struct, name)       \
  extern const Struct RG_CAT(name, RG_LEVEL); \
  const Struct RG_CAT(name, RG_LEVEL)
#endif
