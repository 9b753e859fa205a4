// Attention by tiles: kernels/attention.h. What a thread works on is fixed by the shape alone, and so is the order in which tiles are added up.
#include "cpu/attention.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>

#include "cpu/blas.h"
#include "cpu/cpu.h"
#include "cpu/matmul.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kQueries = 128, kKeys = 256;  // of a tile: scores and their gradients stay in the second-level cache
constexpr int64_t kCausalQueries = 64;          // fewer, since all keys that the last of them meets are computed for the first too
constexpr int64_t kGrain = 128 * 1024;          // multiply-adds worth a thread
constexpr int64_t kItems = 8;                   // pieces of work that keep the threads there may be busy

template <class T> const AttentionTiles<T>& tiles() {
  if constexpr (std::is_same_v<T, float>)
    return attention_tiles().f32;
  else
    return attention_tiles().f64;
}

// A matrix in rows, or such a one transposed.
template <class T> struct Part {
  const T* data;
  int64_t rs, cs;
};
template <class T> Part<T> rows_of(const T* data, int64_t step) { return {data, step, 1}; }
template <class T> Part<T> transposed(const T* data, int64_t step) { return {data, 1, step}; }

// c = alpha * a @ b + beta * c on the calling thread, or in a way that gives the same bits.
template <class T> void multiply(int64_t m, int64_t n, int64_t k, T alpha, Part<T> a, Part<T> b, T beta, T* c, int64_t c_step) {
  const auto own = [] {
    if constexpr (std::is_same_v<T, float>)
      return gemm_kernels().f32;
    else
      return gemm_kernels().f64;
  };
  const auto blas = [] {
    if constexpr (std::is_same_v<T, float>)
      return blas_sgemm();
    else
      return blas_dgemm();
  };
  if (m * n * k <= gemm_kernels().blas_from || std::min({m, n, k}) <= 8 || !has_blas() ||
      std::max({a.rs, a.cs, b.rs, b.cs, c_step}) > INT32_MAX)
    return own()({m, n, k, alpha, beta, a.data, a.rs, a.cs, b.data, b.rs, b.cs, c, c_step, c, c_step});
  const char a_form = a.cs == 1 ? 'N' : 'T', b_form = b.cs == 1 ? 'N' : 'T';  // C^T = B^T A^T, as BLAS counts by columns
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k), ldc = static_cast<int>(c_step);
  const int lda = static_cast<int>(a.cs == 1 ? a.rs : a.cs), ldb = static_cast<int>(b.cs == 1 ? b.rs : b.cs);
  blas()(&b_form, &a_form, &columns, &rows, &depth, &alpha, b.data, &ldb, a.data, &lda, &beta, c, &ldc);
}

template <class T> T* at(const HeadRows& r, int64_t batch, int64_t head, int64_t row) {
  return r.data ? static_cast<T*>(r.data) + batch * r.batch_step + head * r.head_step + row * r.row_step : nullptr;
}

// Memory of a thread for its tiles.
template <class T> class Buffers {
 public:
  explicit Buffers(int64_t elements)
      : data_(static_cast<T*>(std::aligned_alloc(64, static_cast<size_t>((elements * sizeof(T) + 63) / 64 * 64)))), next_(data_) {
    if (!data_) throw std::bad_alloc();
  }
  ~Buffers() { std::free(data_); }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  T* take(int64_t elements) {
    T* taken = next_;
    next_ += elements;
    return taken;
  }

 private:
  T* data_;
  T* next_;
};

int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

// All of one call; a tile begins at query `i` and key `j`.
template <class T> struct Job {
  const AttentionShape& s;
  const HeadRows &query, &key, &value;
  const AttentionMask& mask;
  int64_t queries = std::min(s.queries, s.causal ? kCausalQueries : kQueries), keys = std::min(s.keys, kKeys);

  int64_t query_count(int64_t i) const { return std::min(queries, s.queries - i); }
  // How many keys of the tile at j the queries of the tile at i may meet.
  int64_t key_count(int64_t i, int64_t j) const {
    const int64_t n = std::min(keys, s.keys - j);
    return s.causal ? std::clamp<int64_t>(i + query_count(i) - j, 0, n) : n;
  }
  int64_t key_head(int64_t head) const { return head / (s.heads / s.key_heads); }
  const T* key_row(int64_t b, int64_t head, int64_t j) const { return at<T>(key, b, key_head(head), j); }
  const T* value_row(int64_t b, int64_t head, int64_t j) const { return at<T>(value, b, key_head(head), j); }

  ScoreTile<T> scores(int64_t b, int64_t head, int64_t i, int64_t j, T* memory) const {
    const int64_t rows = query_count(i), columns = key_count(i, j);
    multiply<T>(rows, columns, s.width, static_cast<T>(s.scale), rows_of<T>(at<T>(query, b, head, i), query.row_step),
                transposed<T>(key_row(b, head, j), key.row_step), T(0), memory, keys);
    ScoreTile<T> tile{memory, rows, columns, keys, mask.data, mask.is_bool, mask.row_step, mask.column_step, columns};
    if (mask.data) {
      const int64_t first = b * mask.batch_step + head * mask.head_step + i * mask.row_step + j * mask.column_step;
      tile.mask = static_cast<const char*>(mask.data) + first * (mask.is_bool ? 1 : static_cast<int64_t>(sizeof(T)));
    }
    if (s.causal) tile.allowed = i - j + 1;
    return tile;
  }
};

template <class T> void forward_of(const Job<T>& job, const HeadRows& out, T* logsumexp) {
  const AttentionShape& s = job.s;
  const int64_t blocks = pieces(s.queries, job.queries), width = s.value_width;
  const int64_t work = job.queries * std::max<int64_t>(1, s.keys) * (s.width + width);
  parallel_for(0, s.batch * s.heads * blocks, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    Buffers<T> memory(job.queries * (job.keys + width + 2));
    T *const scores = memory.take(job.queries * job.keys), *const gathered = memory.take(job.queries * width);
    T *const highest = memory.take(job.queries), *const sum = memory.take(job.queries);
    for (int64_t item = begin; item < end; ++item) {
      const int64_t i = item % blocks * job.queries, head = item / blocks % s.heads, b = item / blocks / s.heads, rows = job.query_count(i);
      std::fill_n(highest, rows, -std::numeric_limits<T>::infinity());
      std::fill_n(sum, rows, T(0));
      std::fill_n(gathered, rows * width, T(0));
      for (int64_t j = 0; j < s.keys && job.key_count(i, j); j += job.keys) {
        const ScoreTile<T> tile = job.scores(b, head, i, j, scores);
        tiles<T>().weigh(tile, highest, sum, gathered, width);
        multiply<T>(rows, width, tile.columns, T(1), rows_of<T>(scores, job.keys),
                    rows_of<T>(job.value_row(b, head, j), job.value.row_step), T(1), gathered, width);
      }
      tiles<T>().finish(rows, width, gathered, highest, sum, at<T>(out, b, head, i), out.row_step,
                        logsumexp + (b * s.heads + head) * s.queries + i);
    }
  });
}

template <class T> struct Gradients {
  const HeadRows &grad, &out;
  const T *logsumexp, *grad_logsumexp;
  HeadRows query, key, value;  // data null: not wanted
};

template <class T> void zero(T* rows, int64_t count, int64_t width, int64_t step) {
  for (int64_t r = 0; r < count; ++r) std::fill_n(rows + r * step, width, T(0));
}

// One thread's tiles of the gradients.
template <class T> class TileGradients {
 public:
  TileGradients(const Job<T>& job, const Gradients<T>& g)
      : job_(job),
        g_(g),
        memory_(job.queries * (2 * job.keys + 1)),
        weights_(memory_.take(job.queries * job.keys)),
        grads_(memory_.take(job.queries * job.keys)),
        shift_(memory_.take(job.queries)) {}

  // Adds what the tile gives to the gradients of its queries, keys and values. The first tile of the queries overwrites theirs.
  void run(int64_t b, int64_t head, int64_t i, int64_t j) {
    const AttentionShape& s = job_.s;
    const ScoreTile<T> tile = job_.scores(b, head, i, j, weights_);
    const int64_t rows = tile.rows, columns = tile.columns, keys = job_.keys, key_head = job_.key_head(head);
    const int64_t sums = (b * s.heads + head) * s.queries + i;
    const T* grad = at<T>(g_.grad, b, head, i);
    const bool through_scores = g_.query.data || g_.key.data;
    if (through_scores) {
      multiply<T>(rows, columns, s.value_width, T(1), rows_of<T>(grad, g_.grad.row_step),
                  transposed<T>(job_.value_row(b, head, j), job_.value.row_step), T(0), grads_, keys);
      tiles<T>().row_products(rows, s.value_width, grad, g_.grad.row_step, at<T>(g_.out, b, head, i), g_.out.row_step, shift_);
      if (g_.grad_logsumexp)
        for (int64_t r = 0; r < rows; ++r) shift_[r] -= g_.grad_logsumexp[sums + r];
    }
    tiles<T>().unweigh(tile, g_.logsumexp + sums, through_scores ? grads_ : nullptr, shift_, static_cast<T>(s.scale));
    if (g_.value.data)
      multiply<T>(columns, s.value_width, rows, T(1), transposed<T>(weights_, keys), rows_of<T>(grad, g_.grad.row_step), T(1),
                  at<T>(g_.value, b, key_head, j), g_.value.row_step);
    if (g_.query.data)
      multiply<T>(rows, s.width, columns, T(1), rows_of<T>(grads_, keys), rows_of<T>(job_.key_row(b, head, j), job_.key.row_step),
                  j == 0 ? T(0) : T(1), at<T>(g_.query, b, head, i), g_.query.row_step);
    if (g_.key.data)
      multiply<T>(columns, s.width, rows, T(1), transposed<T>(grads_, keys), rows_of<T>(at<T>(job_.query, b, head, i), job_.query.row_step),
                  T(1), at<T>(g_.key, b, key_head, j), g_.key.row_step);
  }

  // The keys from j on, of one head of keys: all tiles that meet them.
  void keys(int64_t b, int64_t key_head, int64_t j) {
    const AttentionShape& s = job_.s;
    const int64_t count = std::min(job_.keys, s.keys - j), group = s.heads / s.key_heads;
    int64_t met = 0;  // keys that have something, from the first on
    for (int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
      for (int64_t i = 0; i < s.queries; i += job_.queries) {
        const int64_t columns = job_.key_count(i, j);
        if (columns == 0) continue;
        if (columns > met) {  // causal tiles begin with fewer keys than those after them
          if (g_.key.data) zero(at<T>(g_.key, b, key_head, j + met), columns - met, s.width, g_.key.row_step);
          if (g_.value.data) zero(at<T>(g_.value, b, key_head, j + met), columns - met, s.value_width, g_.value.row_step);
          met = columns;
        }
        run(b, head, i, j);
      }
    }
    if (g_.key.data) zero(at<T>(g_.key, b, key_head, j + met), count - met, s.width, g_.key.row_step);
    if (g_.value.data) zero(at<T>(g_.value, b, key_head, j + met), count - met, s.value_width, g_.value.row_step);
  }

 private:
  const Job<T>& job_;
  const Gradients<T>& g_;
  Buffers<T> memory_;
  T *weights_, *grads_, *shift_;
};

template <class T> void backward_of(const Job<T>& job, const Gradients<T>& g) {
  const AttentionShape& s = job.s;
  const int64_t tile_work = job.queries * job.keys * (s.width + s.value_width) * 3;
  const auto grain = [&](int64_t tile_count) { return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, tile_work * tile_count)); };
  const int64_t query_blocks = pieces(s.queries, job.queries), key_blocks = pieces(s.keys, job.keys);
  const int64_t group = s.heads / s.key_heads;
  if (s.batch * s.key_heads >= kItems || query_blocks * key_blocks == 1) {  // heads share nothing: one pass over the tiles of each
    parallel_for(0, s.batch * s.key_heads, grain(query_blocks * key_blocks * group), [&](int64_t begin, int64_t end) {
      TileGradients<T> work(job, g);
      for (int64_t item = begin; item < end; ++item)
        for (int64_t j = 0; j < s.keys; j += job.keys) work.keys(item / s.key_heads, item % s.key_heads, j);
    });
    return;
  }
  // Few heads: pieces of queries, and then pieces of keys, each with weights of its own.
  if (g.query.data) {
    const Gradients<T> only{g.grad, g.out, g.logsumexp, g.grad_logsumexp, g.query, {}, {}};
    parallel_for(0, s.batch * s.heads * query_blocks, grain(key_blocks), [&](int64_t begin, int64_t end) {
      TileGradients<T> work(job, only);
      for (int64_t item = begin; item < end; ++item) {
        const int64_t i = item % query_blocks * job.queries;
        for (int64_t j = 0; j < s.keys && job.key_count(i, j); j += job.keys)
          work.run(item / query_blocks / s.heads, item / query_blocks % s.heads, i, j);
      }
    });
  }
  if (g.key.data || g.value.data) {
    const Gradients<T> only{g.grad, g.out, g.logsumexp, g.grad_logsumexp, {}, g.key, g.value};
    parallel_for(0, s.batch * s.key_heads * key_blocks, grain(query_blocks * group), [&](int64_t begin, int64_t end) {
      TileGradients<T> work(job, only);
      for (int64_t item = begin; item < end; ++item)
        work.keys(item / key_blocks / s.key_heads, item / key_blocks % s.key_heads, item % key_blocks * job.keys);
    });
  }
}

void forward(DType dtype, const AttentionShape& s, const HeadRows& query, const HeadRows& key, const HeadRows& value,
             const AttentionMask& mask, const HeadRows& out, void* logsumexp) {
  if (dtype == DType::Float64) return forward_of<double>({s, query, key, value, mask}, out, static_cast<double*>(logsumexp));
  forward_of<float>({s, query, key, value, mask}, out, static_cast<float*>(logsumexp));
}

void backward(DType dtype, const AttentionShape& s, const HeadRows& grad, const void* grad_logsumexp, const HeadRows& query,
              const HeadRows& key, const HeadRows& value, const AttentionMask& mask, const HeadRows& out, const void* logsumexp,
              const HeadRows& grad_query, const HeadRows& grad_key, const HeadRows& grad_value) {
  const auto run = [&](auto one) {
    using T = decltype(one);
    backward_of<T>({s, query, key, value, mask},
                   {grad, out, static_cast<const T*>(logsumexp), static_cast<const T*>(grad_logsumexp), grad_query, grad_key, grad_value});
  };
  dtype == DType::Float64 ? run(double{}) : run(float{});
}

}  // namespace

const AttentionKernels attention_kernels = {.forward = forward, .backward = backward};

}  // namespace retrograd::cpu
