// The random generator and the fills drawn from it. Streams equal PyTorch 2.13's, bit for bit, for the same seed and the same
// sequence of calls (see Note [Same stream] for the exceptions), so runs can be compared across the two libraries.
//
// Generators are not locked: whoever shares one between threads (the default generator is shared) takes turns. Fills run on the
// calling thread, because the order of draws is the result.
//
// Note [Same stream]
//  - Every fill below writes n elements of contiguous memory, in order. The number of draws consumed is the same as PyTorch's in
//    every case.
//  - Tensors that are not contiguous are filled in memory order, not in logical order: PyTorch walks the dimensions sorted by
//    decreasing stride of the output. A transposed or channels_last tensor is thus filled as its memory lies (pass its data pointer and
//    numel); for one with gaps fill a dense buffer and copy it with the dimensions in that order.
//  - normal() has two algorithms. Contiguous tensors (in PyTorch's sense: the default memory format) of 16 elements or more take
//    normal(); everything else, whatever its size, takes normal_serial().
//  - PyTorch on Intel processors takes bernoulli(p) and exponential from MKL's own generator; there our streams differ from it, and equal
//    PyTorch's on every other processor. PyTorch on x86 without FMA (before 2013) rounds differently as well; we never do.
//  - Functions of double arguments (log1p, sin, ...) are the C library's, as in PyTorch, or give the same bits (cpu/kernels/draws.h).
#pragma once

#include <cstdint>

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

namespace detail {
inline uint32_t temper(uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}
}  // namespace detail

// Mersenne twister MT19937, and the normal sample that Box-Muller left over.
struct Generator {
  static constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's
  static constexpr int kStateSize = 5056;                   // bytes of torch.get_rng_state()

  explicit Generator(uint64_t seed_value = kDefaultSeed) { seed(seed_value); }

  void seed(uint64_t value);  // manual_seed(): the twister takes the low 32 bits, initial_seed() gives back all 64
  uint64_t initial_seed() const { return seed_; }

  uint32_t random32() {
    if (next_ == kN) refill();
    return detail::temper(state_[next_++]);
  }
  uint64_t random64() {  // high half first
    const uint64_t high = random32();
    return high << 32 | random32();
  }
  void random32(uint32_t* out, int64_t n);  // n draws at once: the same, faster

  double uniform53() { return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }  // [0, 1)
  float uniform24() { return static_cast<float>(random32() & ((1u << 24) - 1)) * 0x1p-24f; }
  double normal();  // standard normal; every other call uses the left-over sample
  bool has_left_over() const { return has_normal_; }

  // torch.get_rng_state() / set_rng_state(), byte for byte. deserialize() returns false, changing nothing, if the bytes are no state.
  void serialize(uint8_t* out) const;
  [[nodiscard]] bool deserialize(const uint8_t* in);

 private:
  static constexpr int kN = 624, kM = 397;

  void refill();

  uint64_t seed_;
  int next_;    // kN: refill before the next draw
  bool fresh_;  // no refill since seed(): PyTorch writes this down differently
  bool has_normal_;
  double next_normal_;
  uint32_t state_[kN];
};

enum class WeightFault : uint8_t { None, Negative, NotFinite, NoWeight };

// Fills. `dtype` is the dtype of `out`; the caller has checked arguments (from <= to, 0 <= p <= 1, std >= 0, lambda > 0, ...).
struct RandomKernels {
  // [from, to) for floating dtypes: 24 bits for float and the 16-bit types, 53 for double. A value that rounds to `to` becomes `from`.
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double from, double to)> uniform;

  // Floating dtypes. n >= 16: Box-Muller on blocks of 16, the last block redrawn when n is no multiple of 16. n < 16: normal_serial().
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double mean, double std)> normal;
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double mean, double std)> normal_serial;  // see Note [Same stream]
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double mean, double std)> log_normal;

  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double lambda)> exponential;
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double median, double sigma)> cauchy;
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double p)> geometric;  // any dtype but bool

  // 0 or 1 in any dtype. Dropout in PyTorch is `mask = empty_like(x).bernoulli_(1 - p).div_(1 - p)`, `x * mask`.
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, double p)> bernoulli;
  // The probability of each element: torch.bernoulli(p) and bernoulli_(p), p in a floating dtype of its own.
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, const void* p, DType p_dtype)> bernoulli_each;

  // Integers in [from, from + range), any dtype: randint and random_(from, to). range 0 stands for 2^64: any int64, `from` ignored.
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n, int64_t from, uint64_t range)> random_from;
  // random_(): [0, max] for integers, {0, 1} for bool, [0, 2^digits] for floats (digits: 11, 8, 24, 53)
  Kernel<void(Generator& g, void* out, DType dtype, int64_t n)> random_full;

  Kernel<void(Generator& g, void* out, DType dtype, int64_t n)> randperm;

  // What is wrong with [rows, categories] weights of float or double as a distribution: the first fault, row by row.
  Kernel<void(WeightFault* fault, const void* weights, DType dtype, int64_t rows, int64_t categories)> check_weights;

  // torch.multinomial draws without replacement, or a single sample, as the topk (argmax) of `probs / q` with q = exponential(1) of
  // probs' shape and dtype. This is the other case, several samples with replacement, for one row of float or double weights
  // that need not sum to 1 (convert 16-bit weights to float). `cumulative` is scratch for n_categories elements of `dtype`.
  // Rows are drawn one after the other.
  Kernel<void(Generator& g, int64_t* out, int64_t n_samples, const void* probs, DType dtype, int64_t n_categories, void* cumulative)>
      multinomial;

  // out[i] ~ Poisson(rates[i]), both of a floating dtype.
  Kernel<void(Generator& g, void* out, const void* rates, DType dtype, int64_t n)> poisson;

  // out[i] ~ Gamma(alpha[i], 1), at least the smallest normal number. Float or double, like the next.
  Kernel<void(Generator& g, void* out, const void* alpha, DType dtype, int64_t n)> gamma;
  // Each row ~ Dirichlet(that row of alpha), strictly between 0 and 1. `scratch` holds a row of doubles.
  Kernel<void(Generator& g, void* out, const void* alpha, DType dtype, int64_t rows, int64_t row, double* scratch)> dirichlet;

  // out[i] of count[i] trials succeed, with a chance of prob[i] each; all float or all double. nan where the distribution is.
  Kernel<void(Generator& g, void* out, const void* count, const void* prob, DType dtype, int64_t n)> binomial;
};
RG_KERNEL_FAMILY(RandomKernels, random)

}  // namespace retrograd::kernels
