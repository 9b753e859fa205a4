// Which way a matrix product goes: our own kernels, OpenBLAS in pieces on our pool, or through a wider type.
#include "cpu/matmul.h"

#include <algorithm>
#include <climits>
#include <memory>
#include <new>
#include <type_traits>

#include "cpu/blas.h"
#include "cpu/cpu.h"
#include "cpu/families.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

struct Bias {
  const void* data = nullptr;  // null: none
  int64_t stride = 0;          // from column to column
  int64_t rs = 0;              // from row to row
};

// One product as the caller described it; `c` is written, the rest read.
struct Problem {
  DType dtype;
  int64_t m, n, k;
  Complex<double> alpha, beta;
  Matrix a, b, c;
  Bias bias;
};

void run(const Problem& q);

Matrix offset(const Matrix& x, DType t, int64_t row, int64_t column) {
  return {static_cast<char*>(x.data) + (row * x.rs + column * x.cs) * itemsize(t), x.rs, x.cs, x.conj};
}

Problem part_of(const Problem& q, int64_t row, int64_t rows, int64_t column, int64_t columns) {
  Problem part = q;
  part.m = rows;
  part.n = columns;
  part.a = offset(q.a, q.dtype, row, 0);
  part.b = offset(q.b, q.dtype, 0, column);
  part.c = offset(q.c, q.dtype, row, column);
  if (q.bias.data) part.bias.data = static_cast<const char*>(q.bias.data) + (row * q.bias.rs + column * q.bias.stride) * itemsize(q.dtype);
  return part;
}

void copy_matrix(const Matrix& to, DType to_type, const Matrix& from, DType from_type, int64_t rows, int64_t columns) {
  const int64_t sizes[2] = {rows, columns}, to_strides[2] = {to.rs, to.cs}, from_strides[2] = {from.rs, from.cs};
  copy().copy({to.data, to_type, 2, sizes, to_strides}, {from.data, from_type, 2, sizes, from_strides});
}

// Memory for packing. Small requests come from the caller's stack.
template <size_t kOnStack> struct Scratch {
  alignas(64) char local[kOnStack];
  std::unique_ptr<char[]> heap;
  char* get(int64_t bytes) {
    if (bytes <= static_cast<int64_t>(kOnStack)) return local;
    heap.reset(new (std::nothrow) char[static_cast<size_t>(bytes)]);
    return heap.get();
  }
};

// ---- Our own kernels.

template <class T> void run_own(const Problem& q, void (*kernel)(const GemmArgs<T>&)) {
  const auto scalar = [](Complex<double> x) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<int64_t>(x.re));
    else
      return static_cast<T>(x.re);
  };
  kernel({q.m, q.n, q.alpha.re == 0 ? 0 : q.k, scalar(q.alpha), scalar(q.beta), static_cast<const T*>(q.a.data), q.a.rs, q.a.cs,
          static_cast<const T*>(q.b.data), q.b.rs, q.b.cs, static_cast<T*>(q.c.data), q.c.rs,
          static_cast<const T*>(q.bias.data ? q.bias.data : q.c.data), q.bias.data ? q.bias.rs : q.c.rs});
}

void run_own(const Problem& q) {
  switch (q.dtype) {
    case DType::Float32: return run_own<float>(q, gemm_kernels().f32);
    case DType::Float64: return run_own<double>(q, gemm_kernels().f64);
    case DType::Int32: return run_own<uint32_t>(q, gemm_kernels().i32);
    default: return run_own<uint64_t>(q, gemm_kernels().i64);
  }
}

// ---- OpenBLAS.

// A matrix as column-major BLAS sees it: 'N' if its columns' elements touch, 'T' if its rows' do, 'R' and 'C' for the conjugates of these.
struct Operand {
  const void* data;
  char trans;
  int ld;
};

// Seen row-major, i.e. as the transpose BLAS wants. False if BLAS cannot read it as it is.
bool as_operand(Operand* out, const Matrix& x, int64_t rows, int64_t columns) {
  const int64_t rs = rows == 1 ? std::max<int64_t>(x.rs, columns) : x.rs, cs = columns == 1 ? std::max<int64_t>(x.cs, rows) : x.cs;
  if ((cs == 1 || columns == 1) && rs >= columns && rs <= INT_MAX) {
    *out = {x.data, x.conj ? 'R' : 'N', static_cast<int>(rs)};
    return true;
  }
  if ((rs == 1 || rows == 1) && cs >= rows && cs <= INT_MAX) {
    *out = {x.data, x.conj ? 'C' : 'T', static_cast<int>(cs)};
    return true;
  }
  return false;
}

template <class T, class Fn> void call_blas(Fn fn, const Problem& q, const Operand& a, const Operand& b) {
  const int m = static_cast<int>(q.m), n = static_cast<int>(q.n), k = static_cast<int>(q.k), ldc = static_cast<int>(std::max(q.c.rs, q.n));
  T alpha, beta;
  if constexpr (is_complex_v<T>) {
    alpha = T(q.alpha), beta = T(q.beta);
  } else {
    alpha = static_cast<T>(q.alpha.re), beta = static_cast<T>(q.beta.re);
  }
  fn(&b.trans, &a.trans, &n, &m, &k, &alpha, static_cast<const T*>(b.data), &b.ld, static_cast<const T*>(a.data), &a.ld, &beta,
     static_cast<T*>(q.c.data), &ldc);  // C^T = B^T A^T
}

// The grid of pieces, rows x columns, that threads work on: nearly square ones pack least.
void split(int64_t m, int64_t n, int64_t threads, int64_t* rows, int64_t* columns) {
  *rows = 1;
  *columns = 1;
  while (*rows * *columns < threads) {
    const int64_t height = m / *rows, width = n / *columns;
    if (height < 64 && width < 64) return;
    (height >= width ? *rows : *columns) *= 2;
  }
}

// C's columns touch, no bias. False where BLAS cannot do it.
bool run_blas(const Problem& q) {
  if (!has_blas() || q.m > INT_MAX || q.n > INT_MAX || q.k > INT_MAX || q.c.rs > INT_MAX) return false;
  const DType t = q.dtype;
  Problem packed = q;
  Operand a, b;
  Scratch<1> a_copy, b_copy;
  if (!as_operand(&a, q.a, q.m, q.k)) {
    packed.a = {a_copy.get(q.m * q.k * itemsize(t)), q.k, 1, q.a.conj};
    if (!packed.a.data) return false;
    copy_matrix(packed.a, t, q.a, t, q.m, q.k);
  }
  if (!as_operand(&b, q.b, q.k, q.n)) {
    packed.b = {b_copy.get(q.k * q.n * itemsize(t)), q.n, 1, q.b.conj};
    if (!packed.b.data) return false;
    copy_matrix(packed.b, t, q.b, t, q.k, q.n);
  }
  int64_t rows, columns;
  const int64_t worth = std::max<int64_t>(1, q.m * q.n * q.k / (128 * 128 * 64));
  split(q.m, q.n, std::min<int64_t>(num_threads(), worth), &rows, &columns);
  const int64_t height = ((q.m + rows - 1) / rows + 15) / 16 * 16, width = ((q.n + columns - 1) / columns + 15) / 16 * 16;
  parallel_for(0, rows * columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t i = piece / columns * height, j = piece % columns * width;
      if (i >= q.m || j >= q.n) continue;
      const Problem part = part_of(packed, i, std::min(height, q.m - i), j, std::min(width, q.n - j));
      Operand pa, pb;
      as_operand(&pa, part.a, packed.m, q.k);
      as_operand(&pb, part.b, q.k, packed.n);
      switch (t) {
        case DType::Float32: call_blas<float>(blas_sgemm(), part, pa, pb); break;
        case DType::Float64: call_blas<double>(blas_dgemm(), part, pa, pb); break;
        case DType::Complex64: call_blas<Complex<float>>(blas_cgemm(), part, pa, pb); break;
        default: call_blas<Complex<double>>(blas_zgemm(), part, pa, pb); break;
      }
    }
  });
  return true;
}

// OpenBLAS packs both operands, so besides enough arithmetic it needs enough of it per element of each matrix.
bool is_large(const Problem& q) {
  const int64_t from = q.a.cs == 1 ? gemm_kernels().blas_from_in_rows : gemm_kernels().blas_from;
  return q.m * q.n * q.k > from && std::min({q.m, q.n, q.k}) > 8;
}

// ---- Narrow types: tiles of C are computed in float (16-bit floats) or int32 (small integers) and rounded once.

DType wide_type(DType t) { return is_floating(t) ? DType::Float32 : DType::Int32; }

// Not inlined: GCC 12 fails with an internal error on the loop that results.
[[gnu::noinline]] void run_tile_wide(const Problem& q, char* scratch, int64_t depth) {
  const DType wide = wide_type(q.dtype);
  char* const sums = scratch;
  char* const a = sums + q.m * q.n * 4;
  char* const b = a + q.m * depth * 4;
  Problem w{wide, q.m, q.n, 0, q.alpha, q.beta, {a, depth, 1}, {b, q.n, 1}, {sums, q.n, 1}, {}};
  if (q.bias.data) {
    const Matrix bias{const_cast<void*>(q.bias.data), q.bias.rs, q.bias.stride};
    copy_matrix(w.c, wide, bias, q.dtype, q.m, q.n);
    w.beta = 1;
  } else if (q.beta.re != 0) {
    copy_matrix(w.c, wide, q.c, q.dtype, q.m, q.n);
  }
  for (int64_t p = 0; p < q.k || p == 0; p += depth) {
    w.k = std::min(depth, q.k - p);
    copy_matrix(w.a, wide, offset(q.a, q.dtype, 0, p), q.dtype, q.m, w.k);
    copy_matrix(w.b, wide, offset(q.b, q.dtype, p, 0), q.dtype, w.k, q.n);
    run(w);
    w.beta = 1;
  }
  copy_matrix(q.c, q.dtype, w.c, wide, q.m, q.n);
}

// As above without memory to be had: by tiles of 32 x 32 x 32.
void run_tile_in_little_memory(const Problem& q, char* scratch) {
  constexpr int64_t kSide = 32;
  for (int64_t i = 0; i < q.m; i += kSide)
    for (int64_t j = 0; j < q.n; j += kSide)
      run_tile_wide(part_of(q, i, std::min(kSide, q.m - i), j, std::min(kSide, q.n - j)), scratch, kSide);
}

void run_wide(const Problem& q) {
  constexpr int64_t kSide = 256;
  const int64_t height = std::min(q.m, kSide), width = std::min(q.n, kSide), depth = std::clamp<int64_t>(q.k, 1, kSide);
  const int64_t bytes = (height * width + height * depth + depth * width) * 4;
  const int64_t rows = (q.m + height - 1) / height, columns = (q.n + width - 1) / width;
  const int64_t grain = std::max<int64_t>(1, (1 << 17) / std::max<int64_t>(1, height * width * q.k));
  parallel_for(0, rows * columns, grain, [&](int64_t begin, int64_t end) {
    Scratch<16384> memory;
    char* const scratch = memory.get(bytes);
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t i = tile / columns * height, j = tile % columns * width;
      const Problem part = part_of(q, i, std::min(height, q.m - i), j, std::min(width, q.n - j));
      scratch ? run_tile_wide(part, scratch, depth) : run_tile_in_little_memory(part, memory.local);
    }
  });
}

// ---- The choice.

// C's rows and columns are both apart: compute by stripes that are not, and copy.
void run_scattered(const Problem& q) {
  constexpr int64_t kBytes = 65536;
  const int64_t item = itemsize(q.dtype), width = std::min<int64_t>(q.n, 512), height = std::max<int64_t>(1, kBytes / (width * item));
  alignas(64) char local[kBytes];
  for (int64_t i = 0; i < q.m; i += height)
    for (int64_t j = 0; j < q.n; j += width) {
      const Problem part = part_of(q, i, std::min(height, q.m - i), j, std::min(width, q.n - j));
      Problem inner = part;
      inner.c = {local, part.n, 1};
      if (q.beta.re != 0 && !q.bias.data) copy_matrix(inner.c, q.dtype, part.c, q.dtype, part.m, part.n);
      run(inner);
      copy_matrix(part.c, q.dtype, inner.c, q.dtype, part.m, part.n);
    }
}

Problem transposed(const Problem& q) {
  return {q.dtype,
          q.n,
          q.m,
          q.k,
          q.alpha,
          q.beta,
          {q.b.data, q.b.cs, q.b.rs, q.b.conj},
          {q.a.data, q.a.cs, q.a.rs, q.a.conj},
          {q.c.data, q.c.cs, q.c.rs},
          {q.bias.data, q.bias.rs, q.bias.stride}};
}

// Our kernels want C's columns to touch, and vectors times matrices the way round in which the matrix is read along its memory.
bool is_better_transposed(const Problem& q) {
  if (q.m == 1) return q.b.cs != 1 && q.b.rs == 1 && q.n != 1;
  if (q.n == 1) return q.a.cs != 1 && q.a.rs == 1 && q.c.rs == 1;
  return q.c.cs != 1;
}

// The bias made part of C: nobody can add it on the way.
Problem with_bias_in_place(const Problem& q) {
  copy_matrix(q.c, q.dtype, {const_cast<void*>(q.bias.data), q.bias.rs, q.bias.stride}, q.dtype, q.m, q.n);
  Problem added = q;
  added.beta = 1;
  added.bias = {};
  return added;
}

void run_complex(const Problem& q) {
  constexpr int64_t kBlasFrom = 32 * 32 * 32;
  if (q.bias.data) return run_complex(with_bias_in_place(q));
  if (q.m * q.n * q.k > kBlasFrom && q.alpha != 0 && blas_cgemm() && blas_zgemm()) {
    if ((q.c.cs == 1 || q.n == 1) && run_blas(q)) return;
    if ((q.c.rs == 1 || q.m == 1) && run_blas(transposed(q))) return;
  }
  gemm_complex(q.dtype, q.m, q.n, q.k, q.alpha, q.a, q.b, q.beta, q.c);
}

void run(const Problem& q) {
  if (q.m == 0 || q.n == 0) return;
  if (q.dtype != DType::Float32 && q.dtype != DType::Float64 && q.dtype != DType::Int32 && q.dtype != DType::Int64)
    return is_complex(q.dtype) ? run_complex(q) : run_wide(q);
  if (is_better_transposed(q)) return q.c.rs == 1 || q.m == 1 ? run(transposed(q)) : run_scattered(q);
  if (q.c.cs != 1 && q.n != 1) return run(transposed(q));  // a row with gaps: a column with gaps will do
  const bool to_blas = is_large(q) && is_floating(q.dtype) && q.alpha.re != 0 && has_blas();
  if (q.bias.data && (to_blas || (q.bias.stride != 1 && q.n != 1))) return run(with_bias_in_place(q));
  if (to_blas && run_blas(q)) return;
  run_own(q);
}

// The way of small products, which is nearly all there is to many programs: nothing between the caller and the kernel.
template <class T>
inline bool run_at_once(void (*kernel)(const GemmArgs<T>&), int64_t m, int64_t n, int64_t k, double alpha, const Matrix& a, const Matrix& b,
                        double beta, const void* bias, const Matrix& c) {
  const T* d = static_cast<const T*>(bias ? bias : c.data);
  kernel({m, n, k, static_cast<T>(alpha), static_cast<T>(beta), static_cast<const T*>(a.data), a.rs, a.cs, static_cast<const T*>(b.data),
          b.rs, b.cs, static_cast<T*>(c.data), c.rs, d, bias ? 0 : c.rs});
  return true;
}

inline bool run_at_once(DType dtype, int64_t m, int64_t n, int64_t k, double alpha, const Matrix& a, const Matrix& b, double beta,
                        const void* bias, int64_t bias_stride, const Matrix& c) {
  if (c.cs != 1 || m * n * k > 4096 * 64 || alpha == 0 || (bias && bias_stride != 1)) return false;
  if ((m == 1 && b.cs != 1) || (n == 1 && a.cs != 1)) return false;
  if (dtype == DType::Float32) return run_at_once<float>(gemm_kernels().f32, m, n, k, alpha, a, b, beta, bias, c);
  if (dtype == DType::Float64) return run_at_once<double>(gemm_kernels().f64, m, n, k, alpha, a, b, beta, bias, c);
  return false;
}

void gemm(DType dtype, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, const Matrix& b, Complex<double> beta,
          const Matrix& c) {
  if (!run_at_once(dtype, m, n, k, alpha.re, a, b, beta.re, nullptr, 0, c)) run({dtype, m, n, k, alpha, beta, a, b, c, {}});
}

void gemm_bias(DType dtype, int64_t m, int64_t n, int64_t k, const Matrix& a, const Matrix& b, const void* bias, int64_t bias_stride,
               const Matrix& c) {
  const double beta = bias ? 1 : 0;
  if (!run_at_once(dtype, m, n, k, 1, a, b, beta, bias, bias_stride, c)) run({dtype, m, n, k, 1, beta, a, b, c, {bias, bias_stride, 0}});
}

void bmm(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, Complex<double> alpha, const Matrix& a, int64_t a_step,
         const Matrix& b, int64_t b_step, Complex<double> beta, const Matrix& c, int64_t c_step) {
  if (batch == 0 || m == 0 || n == 0) return;
  if (b_step == 0 && a_step == m * a.rs && c_step == m * c.rs) return gemm(dtype, batch * m, n, k, alpha, a, b, beta, c);
  const int64_t item = itemsize(dtype), work = m * n * std::max<int64_t>(k, 1);
  const auto one = [&](int64_t i) {
    const auto at = [&](const Matrix& x, int64_t step) { return Matrix{static_cast<char*>(x.data) + i * step * item, x.rs, x.cs, x.conj}; };
    gemm(dtype, m, n, k, alpha, at(a, a_step), at(b, b_step), beta, at(c, c_step));
  };
  // A few large products are better shared one by one; else every thread has its own.
  if (work > (1 << 22) && batch < 4 * num_threads()) {
    for (int64_t i = 0; i < batch; ++i) one(i);
    return;
  }
  parallel_for(0, batch, std::max<int64_t>(1, (1 << 17) / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) one(i);
  });
}

void dot(DType dtype, int64_t n, const void* x, int64_t x_stride, const void* y, int64_t y_stride, void* out, bool conj_x) {
  if (!is_complex(dtype)) return gemm_kernels().dot(dtype, n, x, x_stride, y, y_stride, out);
  visit_complex(dtype, [&](auto zero) {
    using C = decltype(zero);
    using R = typename C::real_type;
    R parts[4];
    gemm_kernels().dot_parts(real_dtype(dtype), n, x, x_stride, y, y_stride, parts);
    const auto [rr, ii, ri, ir] = parts;
    *static_cast<C*>(out) = conj_x ? C(rr + ii, ri - ir) : C(rr - ii, ri + ir);
  });
}

}  // namespace

const MatmulKernels matmul_kernels = {.gemm = gemm, .gemm_bias = gemm_bias, .bmm = bmm, .dot = dot};

}  // namespace retrograd::cpu
