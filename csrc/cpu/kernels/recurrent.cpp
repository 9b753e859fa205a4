// What a step makes of the input is one product for all steps. Then the rows of the batch are cut into blocks that never meet again, each of
// which goes through all steps on its own: a small product with the state, and one pass over the gates. Backward is the same from the last step
// to the first; after every few steps products over these give the gradients of the input and of weights. Blocks depend on the size of the batch
// alone, so the same products are summed up for every number of threads.
#include "kernels/recurrent.h"
#include "cpu/isa.h"

#include <algorithm>
#include <cstring>

#include "cpu/cpu.h"
#include "cpu/kernels/transpose.h"
#include "cpu/parallel.h"
#include "cpu/vecmath.h"
#include "kernels/matmul.h"

namespace retrograd::cpu {
namespace {

using namespace RG_LEVEL_NS;

constexpr int64_t kGrain = 128 * 1024;  // multiply-adds worth a thread

template <class T> constexpr DType kDType = sizeof(T) == 4 ? DType::Float32 : DType::Float64;

// C[m, n] = A[m, k] @ B[k, n] + beta * C
template <class T> void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_rs, int64_t a_cs, const T* b, int64_t b_rs,
                                int64_t b_cs, T beta, T* c, int64_t c_rs) {
  matmul_kernels.gemm(kDType<T>, m, n, k, 1.0, {const_cast<T*>(a), a_rs, a_cs}, {const_cast<T*>(b), b_rs, b_cs}, static_cast<double>(beta),
                      {c, c_rs, 1});
}

// A weight that every step multiplies with, B[k, n], cut into panels of columns that follow each other: a step reads it from beginning to end.
template <class T> constexpr int64_t kPanel = 2 * kVectorBytes / sizeof(T);
template <class F> void each_panel(int64_t n, int64_t width, F&& f) {
  for (int64_t j = 0; j < n; j += width) f(j, std::min(width, n - j));
}

// C[m, n] = A[m, k] @ B + beta * C
template <class T>
void panel_product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_rs, const T* panels, T beta, T* c, int64_t c_rs) {
  each_panel(n, kPanel<T>,
             [&](int64_t j, int64_t width) { product<T>(m, width, k, a, a_rs, 1, panels + j * k, width, 1, beta, c + j, c_rs); });
}

// Pieces of memory to work in, one after the other.
template <class T> struct Work {
  T* next;
  T* take(int64_t elements) {
    T* const here = next;
    next += RecurrentShape::padded(elements);
    return here;
  }
};

// f(first row, end) for each block of the batch.
template <class F> void each_block(const RecurrentShape& s, F&& f) {
  const int64_t height = s.batch >= 16 ? 8 : std::max<int64_t>(1, (s.batch + 1) / 2), blocks = (s.batch + height - 1) / height;
  const int64_t work = s.elements * s.rows() * s.shown / blocks;
  parallel_for(0, blocks, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i * height, std::min((i + 1) * height, s.batch));
  });
}

// Where the memory that step t takes comes from: the first `count` rows from another step, the others from the first memory.
struct Previous {
  int64_t count, offset;
  Previous(const RecurrentShape& s, int64_t t) {
    const int64_t other = s.reverse ? t + 1 : t - 1;
    const bool any = other >= 0 && other < s.steps;
    count = any ? s.host_batch_sizes[other] : 0;
    offset = any ? s.host_offsets[other] : 0;
  }
  template <class T> const T* row(int64_t r, const T* memories, const T* first, int64_t width) const {
    return r < count ? memories + (offset + r) * width : first + r * width;
  }
};

// ---- Forward.

template <class T> struct Forward {
  const RecurrentShape& s;
  const T *w_hh, *b_hh, *w_hr;  // w_hh transposed, in panels
  T *output, *hy, *cy, *gates, *rest, *before, *scratch;

  // gates: what comes from the input, then with the state added.
  void lstm_row(T* __restrict gate, const T* __restrict c_before, T* __restrict c, T* __restrict h) const {
    const int64_t n = s.hidden;
    for (int64_t j = 0; j < n; ++j) {
      const T in = sigmoid_(gate[j]), forget = sigmoid_(gate[n + j]), fresh = tanh_(gate[2 * n + j]), show = sigmoid_(gate[3 * n + j]);
      const T memory = forget * c_before[j] + in * fresh;
      gate[j] = in;
      gate[n + j] = forget;
      gate[2 * n + j] = fresh;
      gate[3 * n + j] = show;
      c[j] = memory;
      h[j] = show * tanh_(memory);
    }
  }

  void gru_row(T* __restrict gate, const T* __restrict from_state, T* __restrict kept, const T* __restrict h_before,
               T* __restrict h) const {
    const int64_t n = s.hidden;
    for (int64_t j = 0; j < n; ++j) {
      const T reset = sigmoid_(gate[j] + from_state[j]), update = sigmoid_(gate[n + j] + from_state[n + j]);
      const T part = from_state[2 * n + j] + (b_hh ? b_hh[2 * n + j] : T(0));
      const T fresh = tanh_(gate[2 * n + j] + reset * part);
      gate[j] = reset;
      gate[n + j] = update;
      gate[2 * n + j] = fresh;
      kept[j] = part;
      h[j] = update * (h_before[j] - fresh) + fresh;
    }
  }

  void step(int64_t row, int64_t r0, int64_t m) const {
    const int64_t n = s.hidden, p = s.shown, rows = s.rows();
    T *const h = hy + r0 * p, *const out = output + row * p;
    std::memcpy(before + row * p, h, static_cast<size_t>(m * p) * sizeof(T));
    switch (s.kind) {
      case Recurrence::Tanh:
      case Recurrence::Relu: {
        T* const state = gates + row * n;
        panel_product<T>(m, n, n, h, n, w_hh, 1, state, n);
        if (s.kind == Recurrence::Tanh) {
          for (int64_t i = 0; i < m * n; ++i) state[i] = tanh_(state[i]);
        } else {
          for (int64_t i = 0; i < m * n; ++i) state[i] = state[i] < 0 ? T(0) : state[i];  // nan stays
        }
        std::memcpy(out, state, static_cast<size_t>(m * n) * sizeof(T));
        break;
      }
      case Recurrence::Lstm: {
        T *const gate = gates + row * rows, *const c = rest + row * n, *const hidden = s.projected ? scratch + r0 * n : out;
        panel_product<T>(m, rows, p, h, p, w_hh, 1, gate, rows);
        for (int64_t r = 0; r < m; ++r) {
          T* const memory = cy + (r0 + r) * n;
          lstm_row(gate + r * rows, memory, c + r * n, hidden + r * n);
          std::memcpy(memory, c + r * n, static_cast<size_t>(n) * sizeof(T));
        }
        if (s.projected) product<T>(m, p, n, hidden, n, 1, w_hr, 1, n, 0, out, p);
        break;
      }
      case Recurrence::Gru: {
        T *const gate = gates + row * rows, *const from_state = scratch + r0 * rows;
        panel_product<T>(m, rows, n, h, n, w_hh, 0, from_state, rows);
        for (int64_t r = 0; r < m; ++r) gru_row(gate + r * rows, from_state + r * rows, rest + (row + r) * n, h + r * n, out + r * n);
        break;
      }
    }
    std::memcpy(h, out, static_cast<size_t>(m * p) * sizeof(T));
  }

  void block(int64_t r0, int64_t r1) const {
    for (int64_t k = 0; k < s.steps; ++k) {
      const int64_t t = s.reverse ? s.steps - 1 - k : k, m = std::min(s.host_batch_sizes[t], r1) - r0;
      if (m > 0) step(s.host_offsets[t] + r0, r0, m);
    }
  }
};

template <class T> void forward_of(const RecurrentShape& s, const T* input, const RecurrentWeights& w, T* output, T* hy, T* cy, T* saved,
                                   T* memory) {
  const int64_t rows = s.rows(), n = s.hidden;
  Work<T> work{memory};
  T* const turned = work.take(s.shown * rows);
  T* const bias = work.take(rows);
  T* const scratch = work.take(s.batch * (s.projected ? n : rows));
  const auto *b_ih = static_cast<const T*>(w.b_ih), *b_hh = static_cast<const T*>(w.b_hh);
  constexpr int64_t item = sizeof(T);
  each_panel(rows, kPanel<T>, [&](int64_t j, int64_t width) {
    transpose<T>(reinterpret_cast<char*>(turned + j * s.shown), width * item, static_cast<const char*>(w.w_hh) + j * s.shown * item,
                 s.shown * item, s.shown, width);
  });
  // Biases of gates that are sums go with the input. A GRU's new state resets the one that comes with the state.
  if (b_ih)
    for (int64_t j = 0; j < rows; ++j) bias[j] = s.kind == Recurrence::Gru && j >= 2 * n ? b_ih[j] : b_ih[j] + b_hh[j];
  T *const rest = saved + s.elements * rows, *const before = saved + s.saved() - s.elements * s.shown;
  matmul_kernels.gemm_bias(kDType<T>, s.elements, rows, s.input, {const_cast<T*>(input), s.input, 1},
                           {const_cast<void*>(w.w_ih), 1, s.input}, b_ih ? bias : nullptr, 1, {saved, rows, 1});
  const Forward<T> pass{s, turned, b_hh, static_cast<const T*>(w.w_hr), output, hy, cy, saved, rest, before, scratch};
  each_block(s, [&](int64_t r0, int64_t r1) { pass.block(r0, r1); });
}

// ---- Backward.

template <class T> struct Backward {
  const RecurrentShape& s;
  const T *w_hh, *w_hr, *cx, *gates, *rest, *before, *grad_output;  // w_hh in panels if it is wide
  T *grad_hx, *grad_cx, *grad_gates;
  T *grad_shown, *hidden, *scratch;  // with a projection: the gradients and values on both its sides
  int64_t from, first, end;          // the first row in these memories, and the steps they are for

  // `dh` is the gradient of the state before the projection, `dc` that of the memory, which becomes that of the memory before.
  void lstm_row(const T* __restrict gate, const T* __restrict c_before, const T* __restrict c, const T* __restrict dh, T* __restrict dc,
                T* __restrict out, T* __restrict h) const {
    const int64_t n = s.hidden;
    for (int64_t j = 0; j < n; ++j) {
      const T in = gate[j], forget = gate[n + j], fresh = gate[2 * n + j], show = gate[3 * n + j], seen = tanh_(c[j]);
      const T d = dc[j] + dh[j] * show * (1 - seen * seen);
      out[j] = d * fresh * in * (1 - in);
      out[n + j] = d * c_before[j] * forget * (1 - forget);
      out[2 * n + j] = d * in * (1 - fresh * fresh);
      out[3 * n + j] = dh[j] * seen * show * (1 - show);
      dc[j] = d * forget;
    }
    for (int64_t j = 0; h && j < n; ++j) h[j] = gate[3 * n + j] * tanh_(c[j]);  // on its own, or nothing is vectorised
  }

  // dh becomes what of the state before goes into the new one as it is.
  void gru_row(const T* __restrict gate, const T* __restrict kept, const T* __restrict h_before, T* __restrict dh,
               T* __restrict out) const {
    const int64_t n = s.hidden;
    for (int64_t j = 0; j < n; ++j) {
      const T reset = gate[j], update = gate[n + j], fresh = gate[2 * n + j];
      const T d = dh[j] * (1 - update) * (1 - fresh * fresh);
      out[j] = d * kept[j] * reset * (1 - reset);
      out[n + j] = dh[j] * (h_before[j] - fresh) * update * (1 - update);
      out[2 * n + j] = d * reset;
      out[3 * n + j] = d;
      dh[j] *= update;
    }
  }

  void step(int64_t t, int64_t r0, int64_t m) const {
    const int64_t n = s.hidden, p = s.shown, rows = s.rows(), width = s.gate_gradients(), row = s.host_offsets[t] + r0;
    const Previous previous(s, t);
    T *const dh = grad_hx + r0 * p, *const d_gate = grad_gates + (row - from) * width;
    if (grad_output) {
      const T* const more = grad_output + row * p;
      for (int64_t i = 0; i < m * p; ++i) dh[i] += more[i];
    }
    switch (s.kind) {
      case Recurrence::Tanh:
        for (int64_t i = 0; i < m * n; ++i) d_gate[i] = dh[i] * (1 - gates[row * n + i] * gates[row * n + i]);
        break;
      case Recurrence::Relu:
        for (int64_t i = 0; i < m * n; ++i) d_gate[i] = gates[row * n + i] <= 0 ? T(0) : dh[i];
        break;
      case Recurrence::Lstm: {
        const T* d = dh;
        if (s.projected) {
          std::memcpy(grad_shown + (row - from) * p, dh, static_cast<size_t>(m * p) * sizeof(T));
          product<T>(m, n, p, dh, p, 1, w_hr, n, 1, 0, scratch + r0 * n, n);
          d = scratch + r0 * n;
        }
        for (int64_t r = 0; r < m; ++r)
          lstm_row(gates + (row + r) * rows, previous.row(r0 + r, rest, cx, n), rest + (row + r) * n, d + r * n, grad_cx + (r0 + r) * n,
                   d_gate + r * width, s.projected ? hidden + (row - from + r) * n : nullptr);
        break;
      }
      case Recurrence::Gru:
        for (int64_t r = 0; r < m; ++r)
          gru_row(gates + (row + r) * rows, rest + (row + r) * n, before + (row + r) * n, dh + r * n, d_gate + r * width);
        break;
    }
    const T beta = s.kind == Recurrence::Gru ? T(1) : T(0);
    if (s.wide()) {
      panel_product<T>(m, p, rows, d_gate, width, w_hh, beta, dh, p);
    } else {
      product<T>(m, p, rows, d_gate, width, 1, w_hh, p, 1, beta, dh, p);
    }
  }

  void block(int64_t r0, int64_t r1) const {
    for (int64_t k = 0; k < end - first; ++k) {
      const int64_t t = s.reverse ? first + k : end - 1 - k, m = std::min(s.host_batch_sizes[t], r1) - r0;
      if (m > 0) step(t, r0, m);
    }
  }
};

// out[j] = beta * out[j] + the sum of column j of x[rows, width]
template <class T> void column_sums(const T* x, int64_t rows, int64_t width, int64_t columns, T beta, T* out) {
  parallel_for(0, columns, std::max<int64_t>(64, kGrain / rows), [&](int64_t begin, int64_t end) {
    if (beta == T(0)) std::fill(out + begin, out + end, T(0));
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t j = begin; j < end; ++j) out[j] += x[r * width + j];
  });
}

template <class T> void backward_of(const RecurrentShape& s, const T* input, const RecurrentWeights& w, const T* cx, const T* saved,
                                    const T* grad_output, T* grad_hx, T* grad_cx, const RecurrentGradients& out, T* memory) {
  const int64_t n = s.hidden, p = s.shown, rows = s.rows(), width = s.gate_gradients();
  const int64_t chunk_steps = s.chunk_steps(), most = std::min(s.elements, s.batch * chunk_steps);
  const T* const before = saved + s.saved() - s.elements * p;
  Work<T> work{memory};
  T* const d_gates = work.take(most * width);
  T* const d_shown = s.projected ? work.take(most * p) : nullptr;
  T* const hidden = s.projected ? work.take(most * n) : nullptr;
  T* const scratch = s.projected ? work.take(s.batch * n) : nullptr;
  const auto *w_ih = static_cast<const T*>(w.w_ih), *w_hr = static_cast<const T*>(w.w_hr), *w_hh = static_cast<const T*>(w.w_hh);
  if (s.wide()) {
    T* const panels = work.take(rows * p);
    each_panel(p, kPanel<T>, [&](int64_t j, int64_t columns) {
      for (int64_t r = 0; r < rows; ++r)
        std::memcpy(panels + j * rows + r * columns, w_hh + r * p + j, static_cast<size_t>(columns) * sizeof(T));
    });
    w_hh = panels;
  }

  for (int64_t done = 0; done < s.steps; done += chunk_steps) {
    const int64_t count = std::min(chunk_steps, s.steps - done), begin = s.reverse ? done : s.steps - done - count,
                  last = begin + count - 1;
    const int64_t from = s.host_offsets[begin], elements = s.host_offsets[last] + s.host_batch_sizes[last] - from;
    const Backward<T> pass{s,      w_hh,        w_hr,    cx,      saved,        saved + s.elements * rows,
                           before, grad_output, grad_hx, grad_cx, d_gates,      d_shown,
                           hidden, scratch,     from,    begin,   begin + count};
    each_block(s, [&](int64_t r0, int64_t r1) { pass.block(r0, r1); });

    // What came from the input has the gates' gradients side by side, but for a GRU's new state, whose own stands behind.
    const int64_t first = s.kind == Recurrence::Gru ? 2 * n : rows, second = rows - first;
    const T *const x = input + from * s.input, beta = done ? T(1) : T(0);
    if (auto* d = static_cast<T*>(out.input)) {
      d += from * s.input;
      product<T>(elements, s.input, first, d_gates, width, 1, w_ih, s.input, 1, 0, d, s.input);
      if (second) product<T>(elements, s.input, second, d_gates + rows, width, 1, w_ih + first * s.input, s.input, 1, 1, d, s.input);
    }
    if (auto* const d = static_cast<T*>(out.w_ih)) {
      product<T>(first, s.input, elements, d_gates, 1, width, x, s.input, 1, beta, d, s.input);
      if (second) product<T>(second, s.input, elements, d_gates + rows, 1, width, x, s.input, 1, beta, d + first * s.input, s.input);
    }
    if (auto* const d = static_cast<T*>(out.w_hh)) product<T>(rows, p, elements, d_gates, 1, width, before + from * p, p, 1, beta, d, p);
    if (auto* const d = static_cast<T*>(out.b_hh)) column_sums(d_gates, elements, width, rows, beta, d);
    if (auto* const d = static_cast<T*>(out.b_ih)) {
      column_sums(d_gates, elements, width, first, beta, d);
      if (second) column_sums(d_gates + rows, elements, width, second, beta, d + first);
    }
    if (auto* const d = static_cast<T*>(out.w_hr)) product<T>(p, n, elements, d_shown, 1, p, hidden, n, 1, beta, d, n);
  }
}

void forward(DType dtype, const RecurrentShape& s, const void* input, const RecurrentWeights& w, void* output, void* hy, void* cy,
             void* saved, void* work) {
  const auto as = [&]<class T>(T) {
    forward_of<T>(s, static_cast<const T*>(input), w, static_cast<T*>(output), static_cast<T*>(hy), static_cast<T*>(cy),
                  static_cast<T*>(saved), static_cast<T*>(work));
  };
  dtype == DType::Float32 ? as(float{}) : as(double{});
}

void backward(DType dtype, const RecurrentShape& s, const void* input, const RecurrentWeights& w, const void* cx, const void* saved,
              const void* grad_output, void* grad_hx, void* grad_cx, const RecurrentGradients& out, void* work) {
  const auto as = [&]<class T>(T) {
    backward_of<T>(s, static_cast<const T*>(input), w, static_cast<const T*>(cx), static_cast<const T*>(saved),
                   static_cast<const T*>(grad_output), static_cast<T*>(grad_hx), static_cast<T*>(grad_cx), out, static_cast<T*>(work));
  };
  dtype == DType::Float32 ? as(float{}) : as(double{});
}

}  // namespace

RG_EXPORT_KERNELS(RecurrentKernels, recurrent) = {.forward = forward, .backward = backward};

}  // namespace retrograd::cpu
