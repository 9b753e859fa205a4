// Compile without contraction (-ffp-contract=off) where the base target has fused multiply-add: products and sums are fused here
// exactly where PyTorch's are, and nowhere else.
#include "kernels/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cpu/cpu.h"
#include "cpu/families.h"

// The loops that matter are built twice, once for processors with AVX2 and fused multiply-add. Both give the same bits: where
// the instruction is missing, fma() is the C library's.
#if defined(__x86_64__)
#define RG_FAST_TARGET [[gnu::target("avx2,fma")]]
#else
#define RG_FAST_TARGET
#endif
#define RG_INLINE [[gnu::always_inline]] inline
#define RG_INLINE_LAMBDA __attribute__((always_inline))  // so that the body is compiled for the loop it ends up in

namespace retrograd::cpu {
namespace {

constexpr double kPi = 3.141592653589793;
constexpr int64_t kChunk = 512;  // elements drawn at a time

template <class F> RG_FAST_TARGET void loop_fast(int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) f(i);
}
template <class F> void loop_plain(int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) f(i);
}
template <class F> RG_INLINE void for_each_index(int64_t n, F f) {
#if defined(__x86_64__)
  if (cpu_level() < Level::V3) return loop_plain(n, f);
#endif
  loop_fast(n, f);
}

// Conversions go through float for the 16-bit types, as everywhere.
template <class T> T cast(double x) { return static_cast<T>(x); }
template <> Half cast<Half>(double x) { return Half(static_cast<float>(x)); }
template <> BFloat16 cast<BFloat16>(double x) { return BFloat16(static_cast<float>(x)); }
template <class T> T cast_int(int64_t x) { return static_cast<T>(x); }
template <> Half cast_int<Half>(int64_t x) { return Half(static_cast<float>(x)); }
template <> BFloat16 cast_int<BFloat16>(int64_t x) { return BFloat16(static_cast<float>(x)); }
template <> bool cast_int<bool>(int64_t x) { return x != 0; }
template <class T> RG_INLINE T one_if(bool yes) {  // without a branch, which would be mispredicted half the time
  if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
    T x;
    x.bits = static_cast<uint16_t>(-yes & T(1.0f).bits);
    return x;
  } else {
    return static_cast<T>(yes);
  }
}

// Two draws, high half first, to 53 bits in [0, 1). The halves become doubles by setting the exponent bits of 2^52 around them,
// which vectorises where converting a 64-bit integer does not; every step is exact.
RG_INLINE double to_unit(const uint32_t* draws) {
  constexpr uint64_t exponent = 0x4330000000000000u;
  const double high = __builtin_bit_cast(double, exponent | (draws[0] & 0x1fffffu)) - 0x1p52;
  const double low = __builtin_bit_cast(double, exponent | draws[1]) - 0x1p52;
  return (high * 0x1p32 + low) * 0x1p-53;
}
RG_INLINE float to_unit_float(uint32_t draw) { return static_cast<float>(static_cast<int32_t>(draw & 0xffffffu)) * 0x1p-24f; }

// Calls f(i, u) with u uniform in [0, 1), or f(i, draw), for each element.
template <class F> void each_uniform53(Generator& g, int64_t n, F f) {
  uint32_t draws[2 * kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t m = std::min(kChunk, n - start);
    g.random32(draws, 2 * m);
    for_each_index(m, [&draws, &f, start](int64_t i) RG_INLINE_LAMBDA { f(start + i, to_unit(draws + 2 * i)); });
  }
}
// n of them at a time, up to kChunk: f(start, n, u).
template <class F> void in_chunks53(Generator& g, int64_t n, F f) {
  uint32_t draws[2 * kChunk];
  double u[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t m = std::min(kChunk, n - start);
    g.random32(draws, 2 * m);
    for_each_index(m, [&draws, &u](int64_t i) RG_INLINE_LAMBDA { u[i] = to_unit(draws + 2 * i); });
    f(start, m, u);
  }
}
template <class F> void each_draw32(Generator& g, int64_t n, F f) {
  uint32_t draws[kChunk];
  for (int64_t start = 0; start < n; start += kChunk) {
    const int64_t m = std::min(kChunk, n - start);
    g.random32(draws, m);
    for_each_index(m, [&draws, &f, start](int64_t i) RG_INLINE_LAMBDA { f(start + i, draws[i]); });
  }
}

// ---- uniform

void uniform_floats(Generator& g, float* out, int64_t n, float from, float to) {
  const float width = to - from;
  each_draw32(g, n, [=](int64_t i, uint32_t draw) RG_INLINE_LAMBDA {
    const float x = __builtin_fmaf(to_unit_float(draw), width, from);
    out[i] = x == to ? from : x;
  });
}

void uniform_doubles(Generator& g, double* out, int64_t n, double from, double to) {
  const double width = to - from;
  each_uniform53(g, n, [=](int64_t i, double u) RG_INLINE_LAMBDA {
    const double x = __builtin_fma(u, width, from);
    out[i] = x == to ? from : x;
  });
}

// The 16-bit types take a float's worth of bits and round at the end; `to` is compared after rounding.
template <class T> void uniform_16(Generator& g, T* out, int64_t n, float from, float to) {
  const T low(from), high(to);
  const float width = to - from;
  each_draw32(g, n, [=](int64_t i, uint32_t draw) RG_INLINE_LAMBDA {
    const T x(__builtin_fmaf(to_unit_float(draw), width, from));
    out[i] = x.bits == high.bits ? low : x;
  });
}

// ---- normal, 16 elements or more

// u in memory: 8 radii, then 8 angles; the results replace them. Single precision uses the polynomials of Cephes' logf and sinf/cosf,
// with the multiply-adds fused in just this way, because PyTorch's bits depend on it.
RG_INLINE void box_muller_floats(float* data, int64_t blocks, float mean, float std) {
  const auto fma = [](float a, float b, float c) __attribute__((always_inline)) { return __builtin_fmaf(a, b, c); };
  for (int64_t block = 0; block < blocks; ++block, data += 16) {
    for (int j = 0; j < 8; ++j) {
      // log of 1 - u
      const float u = 1 - data[j];
      const int32_t bits = __builtin_bit_cast(int32_t, u);
      const float mantissa = __builtin_bit_cast(float, (bits & 0x007fffff) | 0x3f000000);  // [1/2, 1)
      const bool low = mantissa < 0.707106781186547524f;
      const float e = static_cast<float>((bits >> 23) - 126) - (low ? 1.0f : 0.0f);
      const float x = (mantissa - 1) + (low ? mantissa : 0.0f);
      const float x2 = x * x;
      float p = 7.0376836292e-2f;
      p = fma(p, x, -1.1514610310e-1f);
      p = fma(p, x, 1.1676998740e-1f);
      p = fma(p, x, -1.2420140846e-1f);
      p = fma(p, x, 1.4249322787e-1f);
      p = fma(p, x, -1.6668057665e-1f);
      p = fma(p, x, 2.0000714765e-1f);
      p = fma(p, x, -2.4999993993e-1f);
      p = fma(p, x, 3.3333331174e-1f);
      p = fma(p * x, x2, e * -2.12194440e-4f);
      p = fma(-x2, 0.5f, p);
      const float log_u = fma(e, 0.693359375f, x + p);
      const float radius = __builtin_sqrtf(-2 * log_u);

      // cos and sin of 2 pi u, by octants
      const float angle = 6.283185307179586f * data[j + 8];
      const int32_t octant = (static_cast<int32_t>(angle * 1.27323954473516f) + 1) & ~1;
      const float turns = static_cast<float>(octant);
      float r = fma(turns, -0.78515625f, angle);
      r = fma(turns, -2.4187564849853515625e-4f, r);
      r = fma(turns, -3.77489497744594108e-8f, r);
      const float z = r * r;
      float c = fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
      c = fma(c, z, 4.166664568298827e-2f);
      c = fma(c * z, z, -(z * 0.5f)) + 1;
      float s = fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
      s = fma(s, z, -1.6666654611e-1f);
      s = fma(s * z, r, r);
      const bool straight = (octant & 2) == 0;
      const float sine = straight ? s : c, cosine = straight ? c : s;
      const int32_t flip_sine = (octant & 4) << 29, flip_cosine = (~(octant - 2) & 4) << 29;
      const float cos_value = __builtin_bit_cast(float, __builtin_bit_cast(int32_t, cosine) ^ flip_cosine);
      const float sin_value = __builtin_bit_cast(float, __builtin_bit_cast(int32_t, sine) ^ flip_sine);
      data[j] = fma(radius * cos_value, std, mean);
      data[j + 8] = fma(radius * sin_value, std, mean);
    }
  }
}
RG_FAST_TARGET void box_muller_fast(float* data, int64_t blocks, float mean, float std) { box_muller_floats(data, blocks, mean, std); }
void box_muller(float* data, int64_t blocks, double mean, double std) {
  const float m = static_cast<float>(mean), s = static_cast<float>(std);
#if defined(__x86_64__)
  if (cpu_level() < Level::V3) return box_muller_floats(data, blocks, m, s);
#endif
  box_muller_fast(data, blocks, m, s);
}

void box_muller(double* data, int64_t blocks, double mean, double std) {
  for (int64_t block = 0; block < blocks; ++block, data += 16) {
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2 * std::log(1 - data[j])), angle = 2 * kPi * data[j + 8];
      data[j] = std::fma(radius * std::cos(angle), std, mean);
      data[j + 8] = std::fma(radius * std::sin(angle), std, mean);
    }
  }
}

void fill_unit(Generator& g, float* out, int64_t n) { uniform_floats(g, out, n, 0, 1); }
void fill_unit(Generator& g, double* out, int64_t n) { uniform_doubles(g, out, n, 0, 1); }

template <class T> void normal_blocks(Generator& g, T* out, int64_t n, double mean, double std) {
  fill_unit(g, out, n);
  box_muller(out, n / 16, mean, std);
  if (n % 16) {  // the last 16 again, from new draws
    fill_unit(g, out + n - 16, 16);
    box_muller(out + n - 16, 1, mean, std);
  }
}

// 16-bit types: block by block in float, so the unfinished block's draws are never made.
template <class T> void normal_blocks_16(Generator& g, T* out, int64_t n, double mean, double std) {
  float block[16];
  for (int64_t start = 0; start < n; start += 16) {
    const int64_t at = std::min(start, n - 16);
    fill_unit(g, block, 16);
    box_muller(block, 1, mean, std);
    for (int j = 0; j < 16; ++j) out[at + j] = T(block[j]);
  }
}
void normal_blocks(Generator& g, Half* out, int64_t n, double mean, double std) { normal_blocks_16(g, out, n, mean, std); }
void normal_blocks(Generator& g, BFloat16* out, int64_t n, double mean, double std) { normal_blocks_16(g, out, n, mean, std); }

// ---- Poisson

int64_t poisson_small(Generator& g, double rate) {  // Knuth: how many uniforms until their product falls below e^-rate
  const double end = std::exp(-rate);
  double product = g.uniform53();
  int64_t k = 0;
  for (; product > end; ++k) product *= g.uniform53();
  return k;
}

int64_t poisson_large(Generator& g, double rate) {  // Hoermann 1993, transformed rejection with squeeze (PTRS)
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = g.uniform53() - 0.5, v = g.uniform53(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= v_r) return static_cast<int64_t>(k);
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double accept = std::log(v) + std::log(inv_alpha) - std::log(a / (us * us) + b);
    if (accept <= -rate + k * std::log(rate) - std::lgamma(k + 1)) return static_cast<int64_t>(k);
  }
}

// Marsaglia and Tsang 2000; below 1 by the power of a uniform number. What PyTorch rounds to T is rounded here, the 1/3 always to float.
template <class T> double gamma_one(Generator& g, T alpha) {
  if (alpha == 0) return 0;
  double scale = 1;
  if (alpha < 1) {
    scale = std::pow(1 - g.uniform53(), static_cast<double>(1 / alpha));
    alpha += 1;
  }
  const T d = alpha - static_cast<T>(1.0f / 3);
  const double c = 1 / std::sqrt(9 * static_cast<double>(d));
  for (;;) {
    double x, y;
    do {
      x = g.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - g.uniform53(), xx = x * x;
    if (u < 1 - 0.0331 * xx * xx || std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

template <class T> T gamma_at_least_tiny(Generator& g, T alpha) {
  const T x = static_cast<T>(gamma_one(g, alpha));
  return x > std::numeric_limits<T>::min() ? x : std::numeric_limits<T>::min();
}

// In the order in which PyTorch sums up to 256 doubles: the tail, then four vectors of four.
double row_sum(const double* x, int64_t n) {
  const int64_t whole = n / 4 * 4, blocks = whole / 16 * 16;
  double lanes[16] = {}, sum = 0;
  for (int64_t i = 0; i < whole; ++i) lanes[i < blocks ? i % 16 : i % 4] += x[i];
  for (int64_t i = whole; i < n; ++i) sum += x[i];
  for (int lane = 0; lane < 4; ++lane) sum += lanes[lane] + lanes[lane + 4] + lanes[lane + 8] + lanes[lane + 12];
  return sum;
}

template <class T> void dirichlet_row(Generator& g, T* out, const T* alpha, int64_t n, double* gammas) {
  constexpr T least = std::numeric_limits<T>::min(), most = 1 - std::numeric_limits<T>::epsilon() / 2;
  for (int64_t i = 0; i < n; ++i) gammas[i] = gamma_at_least_tiny(g, static_cast<double>(alpha[i]));
  const double sum = row_sum(gammas, n);
  for (int64_t i = 0; i < n; ++i) {
    const T x = static_cast<T>(gammas[i] / sum);
    out[i] = x > least ? std::min(x, most) : least;
  }
}

double binomial_small(Generator& g, double count, double prob) {  // how many gaps between successes fit
  double reached = 0;
  for (double successes = 0;; ++successes) {
    reached += std::ceil(std::log(g.uniform53()) / std::log1p(-prob));
    if (!(reached <= count)) return successes;
  }
}

double stirling_tail(double k) {  // log(k!) less Stirling's formula for it
  static constexpr double first[] = {0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
                                     0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return first[static_cast<int>(k)];
  const double z = 1 / ((k + 1) * (k + 1));
  return (1.0 / 12 - (1.0 / 360 - z / 1260) * z) / (k + 1);
}

double binomial_large(Generator& g, double count, double prob) {  // Hoermann 1993, transformed rejection with squeeze (BTRS)
  const double spread = std::sqrt(count * prob * (1 - prob)), odds = prob / (1 - prob), mode = std::floor((count + 1) * prob);
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * prob, v_r = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * spread;
  for (;;) {
    const double u = g.uniform53() - 0.5, v = g.uniform53(), us = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / us + b) * u + count * prob + 0.5);
    if (us >= 0.07 && v <= v_r) return k;
    if (!(k >= 0 && k <= count)) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(odds * (count - k + 1) / (k + 1)) + stirling_tail(mode) + stirling_tail(count - mode) -
                         stirling_tail(k) - stirling_tail(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

double binomial_one(Generator& g, double count, double prob) {
  if (count != count || prob != prob) return count + prob;
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1 || count > 1e300) return prob >= 1 ? count : std::numeric_limits<double>::quiet_NaN();
  const double less = prob > 0.5 ? 1 - prob : prob;
  const double k = count * less >= 10 ? binomial_large(g, count, less) : binomial_small(g, count, less);
  return prob > 0.5 ? count - k : k;
}

template <class T> void multinomial_row(Generator& g, int64_t* out, int64_t n_samples, const T* probs, int64_t n, T* cumulative) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) cumulative[i] = sum += probs[i];
  for (int64_t i = 0; i < n; ++i) cumulative[i] /= sum;
  cumulative[n - 1] = 1;
  for (int64_t s = 0; s < n_samples; ++s) {
    const double u = g.uniform53();
    out[s] = std::lower_bound(cumulative, cumulative + n, u, [](T c, double v) { return c < v; }) - cumulative;
  }
}

}  // namespace
}  // namespace retrograd::cpu

namespace retrograd::kernels {

using cpu::for_each_index;

void Generator::seed(uint64_t value) {
  seed_ = value;
  state_[0] = static_cast<uint32_t>(value);
  for (int i = 1; i < kN; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  next_ = kN;
  fresh_ = true;
  has_normal_ = false;
  next_normal_ = 0;
}

void Generator::refill() {
  const auto twist = [](uint32_t a, uint32_t b, uint32_t c)
                         RG_INLINE_LAMBDA { return c ^ (((a & 0x80000000u) | (b & 0x7fffffffu)) >> 1) ^ (-(b & 1u) & 0x9908b0dfu); };
  // A word depends on the one 227 before it in the new state, so a run of 227 can be done at once.
  uint32_t* s = state_;
  uint32_t first[kN];
  std::memcpy(first, state_, sizeof first);
  const uint32_t* old = first;
  for_each_index(kN - kM, [=](int64_t i) RG_INLINE_LAMBDA { s[i] = twist(old[i], old[i + 1], old[i + kM]); });
  for (int from = kN - kM; from < kN - 1; from += kN - kM) {
    const int64_t n = std::min(kN - kM, kN - 1 - from);
    for_each_index(n, [=](int64_t i) RG_INLINE_LAMBDA { s[from + i] = twist(old[from + i], old[from + i + 1], s[from + i + kM - kN]); });
  }
  s[kN - 1] = twist(old[kN - 1], s[0], s[kM - 1]);
  next_ = 0;
  fresh_ = false;
}

void Generator::random32(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (next_ == kN) refill();
    const int64_t m = std::min<int64_t>(n, kN - next_);
    const uint32_t* from = state_ + next_;
    for_each_index(m, [=](int64_t i) RG_INLINE_LAMBDA { out[i] = detail::temper(from[i]); });
    next_ += static_cast<int>(m);
    out += m;
    n -= m;
  }
}

double Generator::normal() {
  if (has_normal_) {
    has_normal_ = false;
    return next_normal_;
  }
  const double u1 = uniform53(), u2 = uniform53();
  const double radius = std::sqrt(-2 * std::log1p(-u2)), angle = 2 * cpu::kPi * u1;
  next_normal_ = radius * std::sin(angle);
  has_normal_ = true;
  return radius * std::cos(angle);
}

// Layout of the state (little endian): seed u64, draws left until the next refill plus one i32, seeded i32, next u64, state 624 u64,
// unused f64, left-over normal f64, unused f64, whether there is one i32, and 12 bytes for a single-precision one, never set.
void Generator::serialize(uint8_t* out) const {
  std::memset(out, 0, kStateSize);
  const int32_t left = fresh_ ? 1 : kN - next_ + 1, seeded = 1, valid = has_normal_;
  const uint64_t next = fresh_ ? 0 : static_cast<uint64_t>(next_);
  const double cached = has_normal_ ? next_normal_ : 0;
  std::memcpy(out, &seed_, 8);
  std::memcpy(out + 8, &left, 4);
  std::memcpy(out + 12, &seeded, 4);
  std::memcpy(out + 16, &next, 8);
  for (int i = 0; i < kN; ++i) std::memcpy(out + 24 + 8 * i, &state_[i], 4);
  std::memcpy(out + 24 + 8 * kN + 8, &cached, 8);
  std::memcpy(out + 24 + 8 * kN + 24, &valid, 4);
}

bool Generator::deserialize(const uint8_t* in) {
  int32_t left, seeded, valid;
  uint64_t next;
  std::memcpy(&left, in + 8, 4);
  std::memcpy(&seeded, in + 12, 4);
  std::memcpy(&next, in + 16, 8);
  if (seeded != 1 || left < 1 || left > kN || next > kN) return false;
  std::memcpy(&seed_, in, 8);
  for (int i = 0; i < kN; ++i) std::memcpy(&state_[i], in + 24 + 8 * i, 4);
  fresh_ = left == 1 && next == 0;
  next_ = left == 1 ? kN : static_cast<int>(next);
  std::memcpy(&next_normal_, in + 24 + 8 * kN + 8, 8);
  std::memcpy(&valid, in + 24 + 8 * kN + 24, 4);
  has_normal_ = valid != 0;
  return true;
}

}  // namespace retrograd::kernels

namespace retrograd::cpu {
namespace {

void uniform(Generator& g, void* out, DType dtype, int64_t n, double from, double to) {
  const float f = static_cast<float>(from), t = static_cast<float>(to);
  switch (dtype) {
    case DType::Float64: return uniform_doubles(g, static_cast<double*>(out), n, from, to);
    case DType::Float16: return uniform_16(g, static_cast<Half*>(out), n, f, t);
    case DType::BFloat16: return uniform_16(g, static_cast<BFloat16*>(out), n, f, t);
    default: return uniform_floats(g, static_cast<float*>(out), n, f, t);
  }
}

void normal_serial(Generator& g, void* out, DType dtype, int64_t n, double mean, double std) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = cast<T>(std::fma(g.normal(), std, mean));
  });
}

void normal(Generator& g, void* out, DType dtype, int64_t n, double mean, double std) {
  if (n < 16) return normal_serial(g, out, dtype, n, mean, std);
  visit_floating(dtype, [&](auto zero) { normal_blocks(g, static_cast<decltype(zero)*>(out), n, mean, std); });
}

// Functions of uniform numbers that become floats, or are rounded further: a chunk at a time by f(u, n, floats).
template <class T, class F> void floats_of(Generator& g, T* out, int64_t n, F f) {
  in_chunks53(g, n, [&](int64_t start, int64_t m, const double* u) {
    if constexpr (std::is_same_v<T, float>) {
      f(u, m, out + start);
    } else {
      float x[kChunk];
      f(u, m, x);
      for (int64_t i = 0; i < m; ++i) out[start + i] = T(x[i]);
    }
  });
}

void log_normal(Generator& g, void* out, DType dtype, int64_t n, double mean, double std) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = static_cast<T*>(out);
    int64_t at = 0;
    const auto one_by_one = [&](int64_t end) {
      for (; at < end; ++at) to[at] = cast<T>(std::exp(std::fma(g.normal(), std, mean)));
    };
    if constexpr (!std::is_same_v<T, double>) {
      if (g.has_left_over()) one_by_one(std::min<int64_t>(n, 1));
      const int64_t even = (n - at) / 2 * 2;
      floats_of(g, to + at, even, [=](const double* u, int64_t m, float* x) { draws().log_normal(u, m / 2, mean, std, x); });
      at += even;
    }
    one_by_one(n);
  });
}

void exponential(Generator& g, void* out, DType dtype, int64_t n, double lambda) {
  const double scale = -1 / lambda;
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = static_cast<T*>(out);
    if constexpr (std::is_same_v<T, double>) {
      each_uniform53(g, n, [=](int64_t i, double u) { to[i] = scale * std::log1p(-u); });
    } else {
      floats_of(g, to, n, [=](const double* u, int64_t m, float* x) { draws().exponential(u, m, scale, x); });
    }
  });
}

void cauchy(Generator& g, void* out, DType dtype, int64_t n, double median, double sigma) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* const to = static_cast<T*>(out);
    if constexpr (std::is_same_v<T, double>) {
      each_uniform53(g, n, [=](int64_t i, double u) { to[i] = std::fma(sigma, std::tan(kPi * (u - 0.5)), median); });
    } else {
      floats_of(g, to, n, [=](const double* u, int64_t m, float* x) { draws().cauchy(u, m, median, sigma, x); });
    }
  });
}

void geometric(Generator& g, void* out, DType dtype, int64_t n, double p) {
  const double log_q = std::log1p(-p);
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    each_uniform53(g, n, [&](int64_t i, double u) { static_cast<T*>(out)[i] = cast<T>(std::ceil(std::log(u) / log_q)); });
  });
}

void bernoulli(Generator& g, void* out, DType dtype, int64_t n, double p) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* o = static_cast<T*>(out);
    each_uniform53(g, n, [=](int64_t i, double u) RG_INLINE_LAMBDA { o[i] = one_if<T>(u < p); });
  });
}

void bernoulli_each(Generator& g, void* out, DType dtype, int64_t n, const void* p, DType p_dtype) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* o = static_cast<T*>(out);
    if (p_dtype == DType::Float64) {
      const auto* probs = static_cast<const double*>(p);
      return each_uniform53(g, n, [=](int64_t i, double u) RG_INLINE_LAMBDA { o[i] = one_if<T>(u < probs[i]); });
    }
    visit_floating(p_dtype, [&](auto p_zero) {
      const auto* probs = static_cast<const decltype(p_zero)*>(p);
      each_draw32(g, n,
                  [=](int64_t i, uint32_t draw) RG_INLINE_LAMBDA { o[i] = one_if<T>(to_unit_float(draw) < static_cast<float>(probs[i])); });
    });
  });
}

template <class T> RG_INLINE void draw_integers(Generator& g, void* out, int64_t n, int64_t from, uint64_t range) {
  T* o = static_cast<T*>(out);
  const auto shifted = [from](uint64_t x) { return cast_int<T>(static_cast<int64_t>(x + static_cast<uint64_t>(from))); };
  if (range != 0 && range < (uint64_t{1} << 28)) {      // few enough values for 32 bits to be fair
    const uint64_t inverse = ~uint64_t{0} / range + 1;  // draw % range by two products (Lemire, Kaser and Kurz 2019)
    each_draw32(g, n, [=](int64_t i, uint32_t draw) {
      o[i] = shifted(static_cast<uint64_t>((static_cast<unsigned __int128>(inverse * draw) * range) >> 64));
    });
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t draw = g.random64();
      o[i] = range ? shifted(draw % range) : cast_int<T>(static_cast<int64_t>(draw));
    }
  }
}

void random_from(Generator& g, void* out, DType dtype, int64_t n, int64_t from, uint64_t range) {
  const auto draw_all = [&](auto zero) { draw_integers<decltype(zero)>(g, out, n, from, range); };
  is_guest(dtype) ? visit_guest(dtype, draw_all) : visit_dtype(dtype, draw_all);
}

// The ranges are constants here, which saves a division.
void random_full(Generator& g, void* out, DType dtype, int64_t n) {
  switch (dtype) {
    case DType::Bool: return draw_integers<bool>(g, out, n, 0, 2);
    case DType::UInt8: return draw_integers<uint8_t>(g, out, n, 0, 1u << 8);
    case DType::Int8: return draw_integers<int8_t>(g, out, n, 0, 1u << 7);
    case DType::Int16: return draw_integers<int16_t>(g, out, n, 0, 1u << 15);
    case DType::Int32:  // 32-bit draws, though the range would ask for 64
      return each_draw32(g, n, [&](int64_t i, uint32_t d) { static_cast<int32_t*>(out)[i] = static_cast<int32_t>(d & 0x7fffffffu); });
    case DType::Int64: return draw_integers<int64_t>(g, out, n, 0, uint64_t{1} << 63);
    case DType::Float16: return draw_integers<Half>(g, out, n, 0, (1u << 11) + 1);
    case DType::BFloat16: return draw_integers<BFloat16>(g, out, n, 0, (1u << 8) + 1);
    case DType::Float32: return draw_integers<float>(g, out, n, 0, (1u << 24) + 1);
    case DType::Float64: return draw_integers<double>(g, out, n, 0, (uint64_t{1} << 53) + 1);
    default: return;  // the op refuses the others
  }
}

void randperm(Generator& g, void* out, DType dtype, int64_t n) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    T* o = static_cast<T*>(out);
    if (n >= 0xffffffff / 20) {  // 64-bit draws keep it fair; PyTorch builds the permutation from the front in this case
      for (int64_t i = 0; i < n; ++i) {
        const int64_t j = static_cast<int64_t>(g.random64() % static_cast<uint64_t>(i + 1));
        o[i] = o[j];
        o[j] = cast_int<T>(i);
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) o[i] = cast_int<T>(i);
    for (int64_t i = 0; i < n - 1; ++i) std::swap(o[i], o[i + g.random32() % static_cast<uint32_t>(n - i)]);
  });
}

bool are_weights(const float* x, int64_t n) { return draws().are_weights(x, n); }
bool are_weights(const double* x, int64_t n) { return draws().are_weights_double(x, n); }

template <class T> WeightFault find_fault(const T* weights, int64_t rows, int64_t categories) {
  for (int64_t r = 0; r < rows; ++r) {
    if (are_weights(weights + r * categories, categories)) continue;
    double sum = 0;
    for (int64_t i = 0; i < categories; ++i) {
      const auto weight = static_cast<double>(weights[r * categories + i]);
      if (weight < 0) return WeightFault::Negative;
      if (!std::isfinite(weight)) return WeightFault::NotFinite;
      sum += weight;
    }
    if (!(sum > 0)) return WeightFault::NoWeight;
  }
  return WeightFault::None;
}

void check_weights(WeightFault* fault, const void* weights, DType dtype, int64_t rows, int64_t categories) {
  *fault = dtype == DType::Float64 ? find_fault(static_cast<const double*>(weights), rows, categories)
                                   : find_fault(static_cast<const float*>(weights), rows, categories);
}

void multinomial(Generator& g, int64_t* out, int64_t n_samples, const void* probs, DType dtype, int64_t n_categories, void* cumulative) {
  if (dtype == DType::Float64)
    multinomial_row(g, out, n_samples, static_cast<const double*>(probs), n_categories, static_cast<double*>(cumulative));
  else
    multinomial_row(g, out, n_samples, static_cast<const float*>(probs), n_categories, static_cast<float*>(cumulative));
}

void poisson(Generator& g, void* out, const void* rates, DType dtype, int64_t n) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) {
      const double rate = static_cast<double>(static_cast<const T*>(rates)[i]);
      const int64_t k = rate >= 10 ? poisson_large(g, rate) : rate == 0 ? 0 : poisson_small(g, rate);
      static_cast<T*>(out)[i] = cast_int<T>(k);
    }
  });
}

void gamma(Generator& g, void* out, const void* alpha, DType dtype, int64_t n) {
  const auto draw = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = gamma_at_least_tiny(g, static_cast<const T*>(alpha)[i]);
  };
  return dtype == DType::Float32 ? draw(0.0f) : draw(0.0);
}

void dirichlet(Generator& g, void* out, const void* alpha, DType dtype, int64_t rows, int64_t row, double* scratch) {
  const auto draw = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t r = 0; r < rows; ++r)
      dirichlet_row(g, static_cast<T*>(out) + r * row, static_cast<const T*>(alpha) + r * row, row, scratch);
  };
  return dtype == DType::Float32 ? draw(0.0f) : draw(0.0);
}

void binomial(Generator& g, void* out, const void* count, const void* prob, DType dtype, int64_t n) {
  const auto draw = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] = static_cast<T>(binomial_one(g, static_cast<const T*>(count)[i], static_cast<const T*>(prob)[i]));
  };
  return dtype == DType::Float32 ? draw(0.0f) : draw(0.0);
}

}  // namespace

const RandomKernels random_kernels = {
    .uniform = uniform,
    .normal = normal,
    .normal_serial = normal_serial,
    .log_normal = log_normal,
    .exponential = exponential,
    .cauchy = cauchy,
    .geometric = geometric,
    .bernoulli = bernoulli,
    .bernoulli_each = bernoulli_each,
    .random_from = random_from,
    .random_full = random_full,
    .randperm = randperm,
    .check_weights = check_weights,
    .multinomial = multinomial,
    .poisson = poisson,
    .gamma = gamma,
    .dirichlet = dirichlet,
    .binomial = binomial,
};

}  // namespace retrograd::cpu
