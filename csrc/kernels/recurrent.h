// One layer of a recurrent network in one direction, over whole sequences, as functions on contiguous memory.
//
// Sequences are packed: `elements` rows, those of the first step of all sequences, then of the second step of the sequences that have one,
// and so on, longest sequence first. The states of a step, [batch, *], are rows that each step takes and leaves behind, so those of sequences
// that end early, or begin late as backwards, stay what they are. A step's weights have `gates` blocks of `hidden` rows: input, forget,
// cell and output gate (Lstm), or reset gate, update gate and new state (Gru). What a step shows of its state is `hidden` wide, or, with w_hr,
// a projection of it.
//
// dtype is Float32 or Float64. There is at least one element; other sizes may be 0. The same bits come out for every number of threads.
#pragma once

#include <algorithm>

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

enum class Recurrence : uint8_t { Tanh, Relu, Lstm, Gru };

constexpr int64_t recurrent_gates(Recurrence kind) { return kind == Recurrence::Lstm ? 4 : kind == Recurrence::Gru ? 3 : 1; }

struct RecurrentShape {
  Recurrence kind;
  bool reverse;  // from the last step to the first
  int64_t steps, batch, elements;
  int64_t input, hidden, shown;
  const int64_t* host_batch_sizes;  // of each step; they do not grow
  const int64_t* host_offsets;      // the first row of each step
  bool projected;

  int64_t rows() const { return recurrent_gates(kind) * hidden; }  // of a weight
  // What forward leaves for backward, one after the other: the gates, or the new state where there are none; the memory of an LSTM, or the part of
  // a GRU's new state that is reset; the states that steps took. So nobody keeps the output, which programs may write to.
  int64_t saved() const { return elements * (rows() + (kind >= Recurrence::Lstm ? hidden : 0) + shown); }
  // The gradients of the gates; a GRU's new state has two, for what comes from the state and from the input.
  int64_t gate_gradients() const { return kind == Recurrence::Gru ? 4 * hidden : rows(); }

  static constexpr int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }
  // Elements to work in.
  int64_t forward_work() const { return padded(shown * rows()) + padded(rows()) + padded(batch * (projected ? hidden : rows())); }
  // Whether rows of a weight are so far apart that backward works with a copy in panels.
  bool wide() const { return shown >= 128; }
  // Backward goes through some steps at a time, so that the gradients of gates are never all in memory; few, where products would be small.
  int64_t chunk_steps() const { return std::min(steps, std::max((steps + 3) / 4, (127 + batch) / batch)); }
  int64_t backward_work() const {
    const int64_t chunk = std::min(elements, batch * chunk_steps());
    return padded(chunk * gate_gradients()) + (wide() ? padded(shown * rows()) : 0) +
           (projected ? padded(chunk * shown) + padded(chunk * hidden) + padded(batch * hidden) : 0);
  }
};

struct RecurrentWeights {
  const void *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;  // null where there is none
};
struct RecurrentGradients {
  void *input, *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;  // null where it is not wanted
};

struct RecurrentKernels {
  // hy and cy hold the first states and come to hold the last ones; cy is null but for LSTMs.
  Kernel<void(DType dtype, const RecurrentShape& shape, const void* input, const RecurrentWeights& weights, void* output, void* hy,
              void* cy, void* saved, void* work)>
      forward;
  // grad_hx and grad_cx hold the gradients of the last states and come to hold those of the first ones; grad_output may be null.
  Kernel<void(DType dtype, const RecurrentShape& shape, const void* input, const RecurrentWeights& weights, const void* cx,
              const void* saved, const void* grad_output, void* grad_hx, void* grad_cx, const RecurrentGradients& gradients, void* work)>
      backward;
};
RG_KERNEL_FAMILY(RecurrentKernels, recurrent)

}  // namespace retrograd::kernels
