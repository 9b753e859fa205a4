// Products of complex matrices by the kernels for real ones. With the parts of a row of A side by side as they are in memory, and each element
// b of B as a block of real numbers,
//
//     [a.re a.im]   [ b.re  b.im]
//                   [-b.im  b.re]
//
// one real product of [m, 2k] and [2k, 2n] gives the parts of C side by side, with no more arithmetic than complex numbers take. It is done by
// tiles that fit into buffers on the stack. Conjugates and alpha go into the blocks, beta is for when a tile is written.
#include <algorithm>

#include "cpu/cpu.h"
#include "cpu/matmul.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kRows = 64, kColumns = 32, kReals = 4096;  // of a tile of C; numbers in a buffer

template <class R> struct Product {
  using C = Complex<R>;
  int64_t m, n, k;
  C alpha, beta;
  Matrix a, b, c;
  bool a_direct = a.cs == 1 || k == 1;  // its rows can be read where they are

  // A real factor does not mix the parts: an infinite one would spread as nan.
  static C scaled(C x, C factor) { return factor.im == 0 ? C(x.re * factor.re, x.im * factor.re) : x * factor; }

  static C* at(const Matrix& x, int64_t row, int64_t column) { return static_cast<C*>(x.data) + row * x.rs + column * x.cs; }

  // The blocks of rows [p, p + depth) and columns [j, j + width) of alpha * B.
  void pack_b(R* out, int64_t p, int64_t depth, int64_t j, int64_t width) const {
    const R a_sign = a.conj ? R(-1) : R(1), b_sign = b.conj ? R(-1) : R(1);
    for (int64_t row = 0; row < depth; ++row, out += 4 * width)
      for (int64_t column = 0; column < width; ++column) {
        const C given = *at(b, p + row, j + column), x = scaled({given.re, b_sign * given.im}, alpha);
        R* pair = out + 2 * column;
        pair[0] = x.re;
        pair[1] = x.im;
        pair[2 * width] = -a_sign * x.im;
        pair[2 * width + 1] = a_sign * x.re;
      }
  }

  void pack_a(R* out, int64_t i, int64_t height, int64_t p, int64_t depth) const {
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < depth; ++column) {
        const C x = *at(a, i + row, p + column);
        *out++ = x.re;
        *out++ = x.im;
      }
  }

  void write(const R* sums, int64_t i, int64_t height, int64_t j, int64_t width) const {
    const bool keeps = !(beta == C(0));
    for (int64_t row = 0; row < height; ++row)
      for (int64_t column = 0; column < width; ++column, sums += 2) {
        C* to = at(c, i + row, j + column);
        *to = keeps ? C(sums[0], sums[1]) + scaled(*to, beta) : C(sums[0], sums[1]);
      }
  }

  void tile(int64_t i, int64_t height, int64_t j, int64_t width, int64_t deepest) const {
    alignas(64) R sums[2 * kRows * kColumns], b_blocks[kReals], a_rows[kReals];
    if (k == 0) std::fill(sums, sums + 2 * height * width, R(0));
    for (int64_t p = 0; p < k; p += deepest) {
      const int64_t depth = std::min(deepest, k - p);
      pack_b(b_blocks, p, depth, j, width);
      if (!a_direct) pack_a(a_rows, i, height, p, depth);
      const Matrix left = a_direct ? Matrix{at(a, i, p), 2 * a.rs, 1} : Matrix{a_rows, 2 * depth, 1};
      matmul_kernels.gemm(DTypeOf<R>::value, height, 2 * width, 2 * depth, 1, left, {b_blocks, 2 * width, 1}, p ? 1 : 0,
                          {sums, 2 * width, 1});
    }
    write(sums, i, height, j, width);
  }

  void run() const {
    const int64_t width = std::min(n, kColumns), depth = std::clamp<int64_t>(k, 1, kReals / (4 * width));
    const int64_t height = std::min({m, kRows, a_direct ? kRows : kReals / (2 * depth)});
    const int64_t rows = (m + height - 1) / height, columns = (n + width - 1) / width;
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, height * width * k));
    parallel_for(0, rows * columns, grain, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) {
        const int64_t i = t / columns * height, j = t % columns * width;
        tile(i, std::min(height, m - i), j, std::min(width, n - j), depth);
      }
    });
  }
};

}  // namespace

void gemm_complex(DType dtype, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, const Matrix& b,
                  Complex<double> beta, const Matrix& c) {
  visit_complex(dtype, [&](auto zero) {
    using C = decltype(zero);
    Product<typename C::real_type>{m, n, alpha == 0 ? 0 : k, C(alpha), C(beta), a, b, c}.run();
  });
}

}  // namespace retrograd::cpu
