// What a transform of one length needs to know, computed once: roots of unity, and the passes that a length without large prime factors
// is done in. Internal to kernels/.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cpu/isa.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

struct Root { double re, im; };

// exp(-2 pi i e / n) to rounding: the angle is brought to the first eighth of a turn while it is an integer. n is below 2^59.
Root root(int64_t e, int64_t n) {
  int64_t x = e % n * 8;
  const bool below = x > 4 * n;
  if (below) x = 8 * n - x;
  const bool left = x > 2 * n;
  if (left) x = 4 * n - x;
  const bool steep = x > n;
  if (steep) x = 2 * n - x;
  const double angle = 0.785398163397448309616 * static_cast<double>(x) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  return {left ? -c : c, below ? s : -s};
}

// The same for many e, from two short tables.
class Roots {
 public:
  explicit Roots(int64_t n) {
    while (int64_t{1} << 2 * shift_ < n) ++shift_;
    for (int64_t i = 0; i < int64_t{1} << shift_; ++i) low_.push_back(root(i, n));
    for (int64_t i = 0; i <= n >> shift_; ++i) high_.push_back(root(i << shift_, n));
  }
  Root operator()(int64_t e) const {
    const Root a = high_[static_cast<size_t>(e >> shift_)], b = low_[static_cast<size_t>(e & ((int64_t{1} << shift_) - 1))];
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }

 private:
  int shift_ = 0;
  std::vector<Root> low_, high_;
};

template <class T> void push(std::vector<T>& to, Root r) {
  to.push_back(static_cast<T>(r.re));
  to.push_back(static_cast<T>(r.im));
}

constexpr int64_t kLargestRadix = 127;  // of a pass; lengths with larger prime factors are done otherwise, see Line

// The radices of n, or none where a prime factor is too large. As few passes as possible: each goes through all of the memory.
inline std::vector<int> radices(int64_t n) {
  std::vector<int> found;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos > 4 || twos == 3; twos -= 3) found.push_back(8);
  for (; twos >= 2; twos -= 2) found.push_back(4);
  if (twos) found.push_back(2);
  for (int64_t p = 3; p <= kLargestRadix && n > 1; p += 2)
    for (; n % p == 0; n /= p) found.push_back(static_cast<int>(p));
  return n == 1 ? found : std::vector<int>();
}

// Stockham's passes, which need no reordering: with s the product of the radices before, r the radix, and m what is left,
//   out[q + s (r p + k)] = exp(-2 pi i p k / (r m)) * sum over j of in[q + s (p + m j)] exp(-2 pi i j k / r),     q < s, p < m, k < r
template <class T> struct Passes {
  struct Pass {
    int radix;
    int64_t m, s;
    int64_t twiddles, roots;  // where they begin
  };
  int64_t n;
  std::vector<Pass> passes;  // none: n is 1, or cannot be done so
  std::vector<T> numbers;

  explicit Passes(int64_t n) : n(n) {
    int64_t left = n, s = 1;
    for (const int r : radices(n)) {
      const int64_t m = left / r;
      Pass pass{r, m, s, static_cast<int64_t>(numbers.size()), 0};
      for (int64_t p = 1; p < m; ++p)  // those of p = 0 are 1
        for (int64_t k = 1; k < r; ++k) push(numbers, root(p * k, left));
      pass.roots = static_cast<int64_t>(numbers.size());
      for (int64_t k = 0; k < r; ++k) push(numbers, root(k, r));
      passes.push_back(pass);
      left = m;
      s *= r;
    }
  }
  bool possible() const { return n == 1 || !passes.empty(); }
  int64_t bytes() const { return static_cast<int64_t>(numbers.size() * sizeof(T)); }
};

// Plans by length. They are shared with whoever computes with one, and all forgotten when they come to more than `most` bytes.
template <class Plan> std::shared_ptr<const Plan> cached(int64_t n) {
  constexpr int64_t most = 32 << 20;
  static std::mutex mutex;
  static std::unordered_map<int64_t, std::shared_ptr<const Plan>> plans;
  static int64_t bytes = 0;
  {
    const std::lock_guard lock(mutex);
    if (const auto it = plans.find(n); it != plans.end()) return it->second;
  }
  auto made = std::make_shared<const Plan>(n);  // may ask for other plans
  const std::lock_guard lock(mutex);
  if (bytes + made->bytes() > most || plans.size() > 4096) {
    plans.clear();
    bytes = 0;
  }
  if (plans.emplace(n, made).second) bytes += made->bytes();
  return made;
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
