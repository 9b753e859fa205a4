// One recurrent layer in one direction: shape rules and kernel calls.
#include "native_recurrent.h"
#include "ops/checks.h"
#include "ops/recurrent/recurrent.h"

namespace retrograd {
namespace {

using kernels::RecurrentShape;

DType kernel_dtype(DType t) { return t == DType::Float64 ? t : DType::Float32; }

Recurrence recurrence(int64_t kind) {
  RG_CHECK(kind >= 0 && kind <= 3, "_recurrent_layer: expected a kind from 0 to 3 (tanh, relu, LSTM, GRU), got ", kind);
  return static_cast<Recurrence>(kind);
}

// The shape of checked arguments, with the first row of each step.
struct Sequence {
  std::vector<int64_t> offsets;
  RecurrentShape shape;
  Sequence(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_hr, IntSpan batch_sizes, int64_t kind, bool reverse)
      : offsets(batch_sizes.size()) {
    int64_t at = 0;
    for (size_t t = 0; t < batch_sizes.size(); ++t) {
      offsets[t] = at;
      at += batch_sizes[t];
    }
    shape = {recurrence(kind),
             reverse,
             static_cast<int64_t>(batch_sizes.size()),
             batch_sizes[0],
             at,
             input.size(1),
             (cx ? cx : hx).size(1),
             hx.size(1),
             batch_sizes.data(),
             offsets.data(),
             w_hr.defined()};
  }
  bool is_empty() const { return shape.elements == 0; }
  int64_t work_ns() const { return shape.elements * shape.rows() * (shape.input + shape.shown) / 32; }
};

Tensor prepared(const Tensor& t, DType dtype) { return t ? contiguous_data(cast_data(t, dtype)) : Tensor(); }
void* memory_of(const Tensor& t) { return t ? t->data : nullptr; }

// A result in the dtype of the kernels: it itself, or memory that finish() copies from.
struct Result {
  Tensor out, place;
  Result(const Tensor& out, DType dtype) : out(out), place(!out || out.dtype() == dtype ? out : empty(out.sizes(), dtype, out.device())) {}
  void finish() const {
    if (place && place.get() != out.get()) copy_data(out, place);
  }
};

}  // namespace

void check_recurrent_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w, IntSpan batch_sizes,
                           Recurrence kind) {
  RG_CHECK(!batch_sizes.empty(), "Expected sequence length to be larger than 0 in RNN");
  RG_CHECK(input.dim() == 2 && hx.dim() == 2 && (!cx || cx.dim() == 2),
           "Expected input [elements, input_size] and states [batch, size], got ", input.sizes(), " and ", hx.sizes());
  RG_CHECK(cx.defined() == (kind == Recurrence::Lstm), "Expected a memory for an LSTM, and for no other recurrent layer");
  RG_CHECK(!w.w_hr || cx, "Expected a projection for an LSTM alone");
  int64_t start = 0, before = batch_sizes[0];
  for (const int64_t size : batch_sizes) {
    RG_CHECK(size <= before && size >= 0, "The size of tensor a (", before, ") must match the size of tensor b (", size,
             ") at non-singleton dimension 0: the batch sizes of packed sequences, longest first, do not grow and are not negative");
    RG_CHECK(start + size <= input.size(0), "start (", start, ") + length (", size, ") exceeds dimension size (", input.size(0), ").");
    start += size;
    before = size;
  }
  // PyTorch leaves the rest out.
  RG_CHECK(start == input.size(0), "Expected as many elements as batch_sizes say, but got ", input.size(0), " and ", start);

  const int64_t batch = batch_sizes[0], shown = hx.size(1), hidden = (cx ? cx : hx).size(1), rows = kernels::recurrent_gates(kind) * hidden;
  for (const Tensor* state : {&hx, &cx})
    RG_CHECK(!*state || state->size(0) == batch, "The size of tensor a (", state->size(0), ") must match the size of tensor b (", batch,
             ") at non-singleton dimension 0: the batch sizes of a hidden state and of the input");
  RG_CHECK(w.w_hr || shown == hidden, "Expected states of one size without a projection, got ", shown, " and ", hidden);
  const auto check = [&](const char* name, const Tensor& t, int64_t times, int64_t out, int64_t in) {
    RG_CHECK(t.dim() == 2, "Expected ", name, " of two dimensions, got ", t.sizes());
    RG_CHECK(t.size(1) == in, "mat1 and mat2 shapes cannot be multiplied (", times, "x", in, " and ", t.size(1), "x", t.size(0),
             "): ", name);
    RG_CHECK(t.size(0) == out, "The size of tensor a (", out, ") must match the size of tensor b (", t.size(0),
             ") at non-singleton dimension 0: expected ", name, " of ", out, " rows");
  };
  check("w_ih", w.w_ih, input.size(0), rows, input.size(1));
  check("w_hh", w.w_hh, batch, rows, shown);
  if (w.w_hr) check("w_hr", w.w_hr, batch, shown, hidden);
  RG_CHECK(w.b_ih.defined() == w.b_hh.defined(), "Expected both biases or none");
  for (const Tensor* b : {&w.b_ih, &w.b_hh})
    RG_CHECK(!*b || (b->dim() == 1 && b->size(0) == rows), "The size of tensor a (", rows, ") must match the size of tensor b (",
             b->dim() ? b->size(0) : 1, ") at non-singleton dimension 0: expected biases of ", rows, " elements");
  for (const Tensor* t : {&hx, &cx, &w.w_ih, &w.w_hh, &w.b_ih, &w.b_hh, &w.w_hr}) {
    if (!*t) continue;
    RG_CHECK(t->dtype() == input.dtype(), "mat1 and mat2 must have the same dtype, but got ", dtype_title(input.dtype()), " and ",
             dtype_title(t->dtype()));
  }
}

namespace rule {

std::array<Spec, 4> _recurrent_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh, const Tensor& w_hr, IntSpan batch_sizes, int64_t kind,
                                     bool reverse) {
  check_recurrent_layer(input, hx, cx, {w_ih, w_hh, b_ih, b_hh, w_hr}, batch_sizes, recurrence(kind));
  if (!is_floating(input.dtype())) fail_not_implemented("recurrent_layer", input.dtype());
  for (const Tensor* t : {&hx, &cx, &w_ih, &w_hh, &b_ih, &b_hh, &w_hr})
    if (*t) check_same_device(input.get(), t->get(), "recurrent layer");
  const Sequence q(input, hx, cx, w_hr, batch_sizes, kind, reverse);
  const DType dtype = input.dtype();
  const Device device = input->device;
  return {Spec(ints({input.size(0), hx.size(1)}), dtype, device), Spec(hx.sizes(), dtype, device),
          cx ? Spec(cx.sizes(), dtype, device) : Spec(ints({0}), dtype, device),
          Spec(ints({q.shape.saved()}), kernel_dtype(dtype), device)};
}

std::array<Spec, 8> _recurrent_layer_backward(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input,
                                              const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                                              const Tensor& b_ih, const Tensor& b_hh, const Tensor& w_hr, const Tensor& saved,
                                              IntSpan batch_sizes, int64_t kind, bool reverse, bool needs_input, bool needs_weights) {
  _recurrent_layer(input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, kind, reverse);
  const Sequence q(input, hx, cx, w_hr, batch_sizes, kind, reverse);
  const auto check = [&](const char* name, const Tensor& t, IntSpan sizes, DType dtype) {
    RG_CHECK(!t || (same_sizes(t.sizes(), sizes) && t.dtype() == dtype), "_recurrent_layer_backward: expected ", name, " of size ", sizes,
             " and dtype ", dtype_name(dtype), ", got ", t.sizes(), " and ", dtype_name(t.dtype()));
    if (t) check_same_device(input.get(), t.get(), "_recurrent_layer_backward");
  };
  const int64_t shown[2] = {input.size(0), hx.size(1)}, kept[1] = {q.shape.saved()};
  check("grad_output", grad_output, IntSpan(shown), input.dtype());
  check("grad_hy", grad_hy, hx.sizes(), input.dtype());
  if (grad_cy) {
    RG_CHECK(cx, "_recurrent_layer_backward: a gradient of a memory that is not there");
    check("grad_cy", grad_cy, cx.sizes(), input.dtype());
  }
  check("saved", saved, IntSpan(kept), kernel_dtype(input.dtype()));
  const auto same = [](const Tensor& t, bool wanted) { return t && wanted ? Spec(t.sizes(), t.dtype(), t->device) : Spec(); };
  return {same(input, needs_input),
          same(hx, true),
          same(cx, true),
          same(w_ih, needs_weights),
          same(w_hh, needs_weights),
          same(b_ih, needs_weights),
          same(b_hh, needs_weights),
          same(w_hr, needs_weights)};
}

}  // namespace rule

namespace compute {

void _recurrent_layer(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                      const Tensor& b_hh, const Tensor& w_hr, IntSpan batch_sizes, int64_t kind, bool reverse, const Tensor& output,
                      const Tensor& hy, const Tensor& cy, const Tensor& saved) {
  const Sequence q(input, hx, cx, w_hr, batch_sizes, kind, reverse);
  const DType dtype = kernel_dtype(input.dtype());
  const Result out(output, dtype), h(hy, dtype), c(cx ? cy : Tensor(), dtype);
  if (hy.numel()) copy_data(h.place, hx);
  if (cx && cy.numel()) copy_data(c.place, cx);
  if (!q.is_empty()) {
    const Tensor x = prepared(input, dtype),
                 p[5] = {prepared(w_ih, dtype), prepared(w_hh, dtype), prepared(b_ih, dtype), prepared(b_hh, dtype), prepared(w_hr, dtype)};
    const Tensor work = empty(ints({q.shape.forward_work()}), dtype, input.device());
    const Launch launch(input, q.work_ns());
    kernels::recurrent(input->device)
        .forward(dtype, q.shape, x->data, {memory_of(p[0]), memory_of(p[1]), memory_of(p[2]), memory_of(p[3]), memory_of(p[4])},
                 out.place->data, h.place->data, memory_of(c.place), saved->data, work->data);
  }
  out.finish();
  h.finish();
  c.finish();
}

void _recurrent_layer_backward(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input,
                               const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                               const Tensor& b_hh, const Tensor& w_hr, const Tensor& saved, IntSpan batch_sizes, int64_t kind, bool reverse,
                               bool, bool, const Tensor& grad_input, const Tensor& grad_hx, const Tensor& grad_cx, const Tensor& grad_w_ih,
                               const Tensor& grad_w_hh, const Tensor& grad_b_ih, const Tensor& grad_b_hh, const Tensor& grad_w_hr) {
  const Sequence q(input, hx, cx, w_hr, batch_sizes, kind, reverse);
  const DType dtype = kernel_dtype(input.dtype());
  const Result results[8] = {{grad_input, dtype}, {grad_hx, dtype},   {grad_cx, dtype},   {grad_w_ih, dtype},
                             {grad_w_hh, dtype},  {grad_b_ih, dtype}, {grad_b_hh, dtype}, {grad_w_hr, dtype}};
  const auto start = [](const Tensor& place, const Tensor& grad) {
    if (!place || !place.numel()) return;
    grad ? copy_data(place, grad) : fill_data(place, 0);
  };
  start(results[1].place, grad_hy);
  start(results[2].place, grad_cy);
  if (q.is_empty()) {
    for (const size_t i : {0, 3, 4, 5, 6, 7}) start(results[i].place, Tensor());
  } else {
    const Tensor x = prepared(input, dtype),
                 p[5] = {prepared(w_ih, dtype), prepared(w_hh, dtype), prepared(b_ih, dtype), prepared(b_hh, dtype), prepared(w_hr, dtype)};
    const Tensor c = prepared(cx, dtype), kept = prepared(saved, dtype), dy = prepared(grad_output, dtype);
    const Tensor work = empty(ints({q.shape.backward_work()}), dtype, input.device());
    const auto at = [&](size_t i) { return memory_of(results[i].place); };
    const Launch launch(input, 2 * q.work_ns());
    kernels::recurrent(input->device)
        .backward(dtype, q.shape, x->data, {memory_of(p[0]), memory_of(p[1]), memory_of(p[2]), memory_of(p[3]), memory_of(p[4])},
                  memory_of(c), kept->data, memory_of(dy), at(1), at(2), {at(0), at(3), at(4), at(5), at(6), at(7)}, work->data);
  }
  for (const Result& r : results) r.finish();
}

}  // namespace compute
}  // namespace retrograd
