#include "cpu/kernels/blocks.h"

#include <cstring>
#include <type_traits>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "cpu/iterate.h"
#include "cpu/kernels/halves.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int kMaxInputs = 3;

// One operand's row into a contiguous buffer, and back. Types that are computed in themselves go by their size.
template <class T> void gather(int64_t n, const char* from, int64_t stride, char* buffer) {
  auto* __restrict to = reinterpret_cast<compute_t<T>*>(buffer);
  int64_t i = 0;
  if (stride == 0) {
    const auto one = static_cast<compute_t<T>>(*reinterpret_cast<const T*>(from));
    for (; i < n; ++i) to[i] = one;
  } else if (stride == static_cast<int64_t>(sizeof(T))) {
    const T* p = reinterpret_cast<const T*>(from);
    if constexpr (std::is_same_v<T, Half>) i = floats_of(p, n, to);
    for (; i < n; ++i) to[i] = static_cast<compute_t<T>>(p[i]);
  }
  for (; i < n; ++i) to[i] = static_cast<compute_t<T>>(*reinterpret_cast<const T*>(from + i * stride));
}
template <class T> void scatter(int64_t n, const char* buffer, char* to, int64_t stride) {
  const auto* __restrict from = reinterpret_cast<const compute_t<T>*>(buffer);
  int64_t i = 0;
  if (stride == static_cast<int64_t>(sizeof(T))) {
    T* p = reinterpret_cast<T*>(to);
    if constexpr (std::is_same_v<T, Half>) i = halves_of(from, n, p);
    for (; i < n; ++i) p[i] = static_cast<T>(from[i]);
  }
  for (; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = static_cast<T>(from[i]);
}

struct Element {
  void (*gather)(int64_t n, const char* from, int64_t stride, char* buffer);
  void (*scatter)(int64_t n, const char* buffer, char* to, int64_t stride);
  int64_t size, computed_size;
  bool is_dense(int64_t stride) const { return size == computed_size && stride == size; }
};
template <class T> constexpr Element kElement = {gather<T>, scatter<T>, sizeof(T), sizeof(compute_t<T>)};
constexpr Element kElements[kNumLoops] = {kElement<uint8_t>,
                                          kElement<uint8_t>,
                                          kElement<uint8_t>,
                                          kElement<uint16_t>,
                                          kElement<uint32_t>,
                                          kElement<uint64_t>,
                                          kElement<Half>,
                                          kElement<BFloat16>,
                                          kElement<uint32_t>,
                                          kElement<uint64_t>,
                                          kElement<uint64_t>,
                                          {},
                                          {},
                                          {},
                                          {},
                                          {},
                                          kElement<uint64_t>,
                                          kElement<Complex<double>>};

#if defined(__SSE2__)
void stream(char* to, const char* from, int64_t bytes) {
#if defined(__AVX512F__)
  using Vector = __m512i;
  constexpr auto put = [](char* d, const Vector& v) { _mm512_stream_si512(reinterpret_cast<Vector*>(d), v); };
#elif defined(__AVX2__)
  using Vector = __m256i;
  constexpr auto put = [](char* d, const Vector& v) { _mm256_stream_si256(reinterpret_cast<Vector*>(d), v); };
#else
  using Vector = __m128i;
  constexpr auto put = [](char* d, const Vector& v) { _mm_stream_si128(reinterpret_cast<Vector*>(d), v); };
#endif
  int64_t i = 0;
  for (; i + static_cast<int64_t>(sizeof(Vector)) <= bytes; i += sizeof(Vector)) {
    Vector v;
    std::memcpy(&v, from + i, sizeof v);
    put(to + i, v);
  }
  std::memcpy(to + i, from + i, static_cast<size_t>(bytes - i));
}
#else
constexpr decltype(StreamKernels::copy) stream = nullptr;
#endif

}  // namespace

void run_blocks(const RowTypes& types, int64_t n, char* const* data, const int64_t* strides, const KernelParam* params, DenseLoop dense) {
  alignas(64) char buffers[(1 + kMaxInputs) * kBlockItems * kMaxItemSize];
  const Element &in = kElements[loop_of(types.in)], &out = kElements[loop_of(types.out)];
  const bool out_is_dense = out.is_dense(strides[0]);
  char* at[1 + kMaxInputs];
  for (int64_t start = 0; start < n; start += kBlockItems) {
    const int64_t m = n - start < kBlockItems ? n - start : kBlockItems;
    char *to = data[0] + start * strides[0], *buffer = buffers;
    at[0] = out_is_dense ? to : buffer;
    buffer += kBlockItems * out.computed_size;
    for (int k = 1; k <= types.inputs; ++k, buffer += kBlockItems * in.computed_size) {
      char* from = data[k] + start * strides[k];
      at[k] = in.is_dense(strides[k]) ? from : buffer;
      // One element for the whole row is spread once: the first block is the longest.
      if (at[k] == buffer && (strides[k] != 0 || start == 0)) in.gather(m, from, strides[k], buffer);
    }
    dense(m, at, params);
    if (!out_is_dense) out.scatter(m, at[0], to, strides[0]);
  }
}

}  // namespace retrograd::cpu::RG_LEVEL_NS

namespace retrograd::cpu {
RG_EXPORT_KERNELS(StreamKernels, stream_kernels) = {.copy = RG_LEVEL_NS::stream};
}  // namespace retrograd::cpu
