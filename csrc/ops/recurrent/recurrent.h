// Recurrent layers: what the files of this folder share.
#pragma once

#include "kernels/recurrent.h"
#include "ops/derivatives.h"

namespace retrograd {

using kernels::Recurrence;

// Of one layer and direction; undefined where there is none.
struct RecurrentParameters { Tensor w_ih, w_hh, b_ih, b_hh, w_hr; };

// Throws, in PyTorch's words where it has some, unless everything fits input [elements, input_size] with these batch sizes. `cx` is for LSTMs.
void check_recurrent_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w, IntSpan batch_sizes,
                           Recurrence kind);

// The same as the op _recurrent_layer, written in other ops.
struct RecurrentResult { Tensor output, hy, cy; };
RecurrentResult recurrent_layer_in_ops(const Tensor& input, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w,
                                       IntSpan batch_sizes, Recurrence kind, bool reverse);

}  // namespace retrograd
