// A few hundred contiguous floats, in lanes of 16 bytes at every level: the order of the sum, and so its bits, are the same everywhere.
#include "cpu/kernels/reduce_small.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

template <class T> struct Lanes {
  typedef T Vector __attribute__((vector_size(16), aligned(alignof(T)), may_alias));
  static constexpr int64_t kCount = 16 / sizeof(T);
  static Vector load(const T* p) { return *reinterpret_cast<const Vector*>(p); }
};

template <class T> T row_sum(const T* in, int64_t n) {
  using L = Lanes<T>;
  T total = 0;
  int64_t i = 0;
  if (n >= 2 * L::kCount) {
    auto a = L::load(in), b = L::load(in + L::kCount);
    for (i = 2 * L::kCount; i + 2 * L::kCount <= n; i += 2 * L::kCount) a += L::load(in + i), b += L::load(in + i + L::kCount);
    a += b;
    for (int64_t l = 0; l < L::kCount; ++l) total += a[l];
  }
  for (; i < n; ++i) total += in[i];
  return total;
}

template <class T> void sum_into(T* __restrict out, const T* __restrict in, int64_t outer, int64_t n, int64_t inner, T divisor) {
  using L = Lanes<T>;
  T* const begin = out;
  for (int64_t o = 0; o < outer; ++o, in += n * inner, out += inner) {
    if (inner == 1) {
      *out = row_sum(in, n);
      continue;
    }
    int64_t c = 0;
    for (; c + L::kCount <= inner; c += L::kCount) {
      auto total = L::load(in + c);
      for (int64_t i = 1; i < n; ++i) total += L::load(in + i * inner + c);
      *reinterpret_cast<typename L::Vector*>(out + c) = total;
    }
    for (; c < inner; ++c) {
      T total = in[c];
      for (int64_t i = 1; i < n; ++i) total += in[i * inner + c];
      out[c] = total;
    }
  }
  if (divisor == 1) return;
  for (int64_t i = 0; i < outer * inner; ++i) begin[i] /= divisor;
}

}  // namespace

void small_sum(void* out, const void* in, DType dtype, int64_t outer, int64_t n, int64_t inner, bool mean) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    sum_into(static_cast<T*>(out), static_cast<const T*>(in), outer, n, inner, mean ? static_cast<T>(n) : T(1));
  };
  if (dtype == DType::Float32) return run(float{});
  run(double{});
}

namespace {

// Compared as integers: without their sign, floats are ordered as their bits are, and infinity and NaN come last.
template <class T, class Bits> double largest_of(const Bits* in, int64_t n) {
  constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);
  constexpr int64_t kLanes = 64 / sizeof(Bits);
  typedef Bits Vector __attribute__((vector_size(64), aligned(alignof(Bits)), may_alias));
  const auto larger = [](Vector x, Vector y) { return x > y ? x : y; };
  const auto at = [&](int64_t i) { return *reinterpret_cast<const Vector*>(in + i) & ~kSign; };
  Bits most = 0;
  int64_t i = 0;
  if (n >= kLanes) {
    Vector a = at(0), b = {}, c = {}, d = {};
    for (i = kLanes; i + 4 * kLanes <= n; i += 4 * kLanes) {
      a = larger(at(i), a);
      b = larger(at(i + kLanes), b);
      c = larger(at(i + 2 * kLanes), c);
      d = larger(at(i + 3 * kLanes), d);
    }
    for (; i + kLanes <= n; i += kLanes) a = larger(at(i), a);
    a = larger(larger(a, b), larger(c, d));
    Bits lanes[kLanes];
    std::memcpy(lanes, &a, sizeof lanes);
    for (const Bits lane : lanes) most = std::max(most, lane);
  }
  for (; i < n; ++i) most = (in[i] & ~kSign) > most ? in[i] & ~kSign : most;
  return std::bit_cast<T>(most);
}

}  // namespace

void largest(double* out, const void* in, DType dtype, int64_t n) {
  *out = dtype == DType::Float32 ? largest_of<float>(static_cast<const int32_t*>(in), n)
                                 : largest_of<double>(static_cast<const int64_t*>(in), n);
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
