// A recurrent layer and its gradients in ordinary ops, step by step: for numbers that kernels do not have, and where gradients have derivatives.
#include <algorithm>

#include "autograd/layers.h"
#include "core/state.h"
#include "ops/recurrent/recurrent.h"

namespace retrograd {
namespace {

Tensor rows(const Tensor& t, int64_t begin, int64_t end) { return begin == 0 && end == t.size(0) ? t : ops::slice(t, 0, begin, end, 1); }

// What a step took and made.
struct Step {
  Tensor h, c;                // the state before
  std::vector<Tensor> gates;  // as the kernels keep them
  Tensor memory, hidden;      // of an LSTM, after; the state before it is projected
};

struct Run {
  RecurrentResult result;
  std::vector<Step> steps;  // in the order of time
};

// h and c become the state after the step.
void take_step(Step& step, const Tensor& from_input, Tensor& h, Tensor& c, const RecurrentParameters& w, Recurrence kind) {
  const Tensor from_state = ops::linear(h, w.w_hh, w.b_hh);
  step.h = h;
  step.c = c;
  switch (kind) {
    case Recurrence::Tanh: h = ops::tanh(from_input + from_state); break;
    case Recurrence::Relu: h = ops::relu(from_input + from_state); break;
    case Recurrence::Lstm: {
      step.gates = ops::chunk(from_input + from_state, 4, -1);
      for (size_t i = 0; i < 4; ++i) step.gates[i] = i == 2 ? ops::tanh(step.gates[i]) : ops::sigmoid(step.gates[i]);
      step.memory = c = step.gates[1] * c + step.gates[0] * step.gates[2];
      h = step.gates[3] * ops::tanh(c);
      break;
    }
    case Recurrence::Gru: {
      const std::vector<Tensor> x = ops::chunk(from_input, 3, -1), y = ops::chunk(from_state, 3, -1);
      const Tensor reset = ops::sigmoid(x[0] + y[0]), update = ops::sigmoid(x[1] + y[1]), fresh = ops::tanh(x[2] + reset * y[2]);
      step.gates = {reset, update, fresh, y[2]};
      h = update * (h - fresh) + fresh;
      break;
    }
  }
  step.hidden = h;
  if (w.w_hr) h = ops::linear(h, w.w_hr, Tensor());
}

// The rows [0, n) of a state changed, the others as they were.
Tensor with_first_rows(const Tensor& all, const Tensor& first, int64_t n) {
  if (n == all.size(0)) return first;
  const Tensor parts[2] = {first, rows(all, n, all.size(0))};
  return ops::cat(parts, 0);
}

Run run_in_ops(const Tensor& input, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w, IntSpan batch_sizes, Recurrence kind,
               bool reverse) {
  Run run;
  const size_t count = batch_sizes.size();
  run.steps.resize(count);
  const std::vector<Tensor> mapped = ops::split_with_sizes(ops::linear(input, w.w_ih, w.b_ih), batch_sizes, 0);
  std::vector<Tensor> outputs(count);
  Tensor h = hx, c = cx;
  for (size_t k = 0; k < count; ++k) {
    const size_t t = reverse ? count - 1 - k : k;
    const int64_t active = batch_sizes[t];
    Tensor h_step = rows(h, 0, active), c_step = c ? rows(c, 0, active) : Tensor();
    take_step(run.steps[t], mapped[t], h_step, c_step, w, kind);
    outputs[t] = h_step;
    h = with_first_rows(h, h_step, active);
    if (c) c = with_first_rows(c, c_step, active);
  }
  run.result = {ops::cat(outputs, 0), h, c};
  return run;
}

// The gradients of what comes from the input and from the state, each [active, rows of a weight]. dh and dc, those of the state after the step,
// become what of the gradient of the state before does not go through w_hh; undefined: nothing.
struct GateGradients { Tensor input, state; };
GateGradients gates_backward(const Step& s, Tensor& dh, Tensor& dc, Recurrence kind) {
  const auto slope = [](const Tensor& gate) { return gate * (1 - gate); };
  const auto tanh_slope = [](const Tensor& y) { return 1 - y * y; };
  Tensor d;
  switch (kind) {
    case Recurrence::Tanh: d = dh * tanh_slope(s.hidden); break;
    case Recurrence::Relu: d = ops::threshold_backward(dh, s.hidden, 0); break;
    case Recurrence::Lstm: {
      const Tensor &in = s.gates[0], &forget = s.gates[1], &fresh = s.gates[2], &show = s.gates[3], seen = ops::tanh(s.memory);
      const Tensor memory = dc + dh * show * tanh_slope(seen);
      const Tensor parts[4] = {memory * fresh * slope(in), memory * s.c * slope(forget), memory * in * tanh_slope(fresh),
                               dh * seen * slope(show)};
      d = ops::cat(parts, -1);
      dc = memory * forget;
      break;
    }
    case Recurrence::Gru: {
      const Tensor &reset = s.gates[0], &update = s.gates[1], &fresh = s.gates[2], &kept = s.gates[3];
      const Tensor d_fresh = dh * (1 - update) * tanh_slope(fresh);
      const Tensor d_reset = d_fresh * kept * slope(reset), d_update = dh * (s.h - fresh) * slope(update);
      const Tensor from_input[3] = {d_reset, d_update, d_fresh}, from_state[3] = {d_reset, d_update, d_fresh * reset};
      dh = dh * update;
      return {ops::cat(from_input, -1), ops::cat(from_state, -1)};
    }
  }
  dh = Tensor();
  return {d, d};
}

using Gradients = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>;

Gradients grad_in_ops(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input, const Tensor& hx,
                      const Tensor& cx, const RecurrentParameters& w, IntSpan batch_sizes, Recurrence kind, bool reverse, bool needs_input,
                      bool needs_weights) {
  const Run run = run_in_ops(input, hx, cx, w, batch_sizes, kind, reverse);
  const auto zeros_like = [](const Tensor& t) {
    return ops::zeros_like(t, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  };
  const size_t count = batch_sizes.size();
  std::vector<Tensor> from_input(count), from_state(count), shown(count), hidden(count), before(count);
  const std::vector<Tensor> grads = grad_output ? ops::split_with_sizes(grad_output, batch_sizes, 0) : std::vector<Tensor>();
  Tensor dh = grad_hy ? grad_hy : zeros_like(hx), dc = !cx ? Tensor() : grad_cy ? grad_cy : zeros_like(cx);
  for (size_t k = count; k-- > 0;) {
    const size_t t = reverse ? count - 1 - k : k;
    const int64_t active = batch_sizes[t];
    const Step& step = run.steps[t];
    Tensor dh_step = rows(dh, 0, active), dc_step = dc ? rows(dc, 0, active) : Tensor();
    if (grad_output) dh_step = dh_step + grads[t];
    shown[t] = dh_step;
    if (w.w_hr) dh_step = ops::mm(dh_step, w.w_hr);
    const GateGradients d = gates_backward(step, dh_step, dc_step, kind);
    const Tensor through = ops::mm(d.state, w.w_hh);
    dh = with_first_rows(dh, dh_step ? dh_step + through : through, active);
    if (dc) dc = with_first_rows(dc, dc_step, active);
    from_input[t] = d.input;
    from_state[t] = d.state;
    hidden[t] = step.hidden;
    before[t] = step.h;
  }
  const Tensor d_input = ops::cat(from_input, 0), d_state = ops::cat(from_state, 0);
  const int64_t first_dim[1] = {0};
  const auto weight = [](const Tensor& d, const Tensor& x) { return ops::mm(ops::t(d), x); };
  const auto bias = [&](const Tensor& d) { return ops::sum_dim(d, IntSpan(first_dim), false, std::nullopt); };
  return {needs_input ? ops::mm(d_input, w.w_ih) : Tensor(),
          dh,
          dc,
          needs_weights ? weight(d_input, input) : Tensor(),
          needs_weights ? weight(d_state, ops::cat(before, 0)) : Tensor(),
          needs_weights && w.b_ih ? bias(d_input) : Tensor(),
          needs_weights && w.b_hh ? bias(d_state) : Tensor(),
          needs_weights && w.w_hr ? weight(ops::cat(shown, 0), ops::cat(hidden, 0)) : Tensor()};
}

}  // namespace

RecurrentResult recurrent_layer_in_ops(const Tensor& input, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w,
                                       IntSpan batch_sizes, Recurrence kind, bool reverse) {
  return run_in_ops(input, hx, cx, w, batch_sizes, kind, reverse).result;
}

namespace derivatives {

Gradients recurrent_grad(const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& input, const Tensor& hx,
                         const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                         const Tensor& w_hr, const Tensor& saved, IntSpan batch_sizes, int64_t kind, bool reverse, bool needs_input,
                         bool needs_weights) {
  if (!grad_output && !grad_hy && !grad_cy) return {};
  // The one op has no derivative and no tangents, and a vmap would run it sample by sample.
  if (thread_state.grad_mode || has_layers(grad_output, grad_hy, grad_cy, input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr))
    return grad_in_ops(grad_output, grad_hy, cx ? grad_cy : Tensor(), input, hx, cx, {w_ih, w_hh, b_ih, b_hh, w_hr}, batch_sizes,
                       static_cast<Recurrence>(kind), reverse, needs_input, needs_weights);
  return ops::_recurrent_layer_backward(grad_output, grad_hy, cx ? grad_cy : Tensor(), input, hx, cx, w_ih, w_hh, b_ih, b_hh, w_hr, saved,
                                        batch_sizes, kind, reverse, needs_input, needs_weights);
}

}  // namespace derivatives
}  // namespace retrograd
