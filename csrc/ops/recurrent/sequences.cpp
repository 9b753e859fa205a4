// torch.lstm, gru, rnn_tanh and rnn_relu: layers and directions over sequences, dense or packed.
#include "core/state.h"
#include "ops/checks.h"
#include "ops/recurrent/recurrent.h"

namespace retrograd {
namespace {

struct Network {
  Recurrence kind;
  std::span<const Tensor> states;  // [layers * directions, batch, size] each: one, or output and memory of an LSTM
  std::span<const Tensor> params;
  bool has_biases;
  int64_t layers;
  double dropout;  // 0 when it does not train
  bool bidirectional;
  bool packed = false;

  int64_t directions() const { return bidirectional ? 2 : 1; }
};

// What a layer and direction has of the flat list of parameters.
class Parameters {
 public:
  explicit Parameters(const Network& net)
      : params_(net.params),
        has_biases_(net.has_biases),
        projected_(net.states.size() == 2 && net.states[0].size(2) != net.states[1].size(2)) {
    each_ = 2 + (has_biases_ ? 2 : 0) + (projected_ ? 1 : 0);
    const size_t wanted = each_ * static_cast<size_t>(net.layers * net.directions());
    RG_CHECK(params_.size() % each_ == 0, "got an incorrect number of RNN parameters: ", params_.size(),
             ", where each layer and direction has ", each_);
    RG_CHECK(params_.size() == wanted, "Expected ", params_.size() < wanted ? "more" : "fewer", " weights in stacked_rnn: ", wanted,
             ", but got ", params_.size());
  }
  RecurrentParameters of(size_t i) const {
    const auto p = params_.subspan(i * each_, each_);
    return {p[0], p[1], has_biases_ ? p[2] : Tensor(), has_biases_ ? p[3] : Tensor(), projected_ ? p[each_ - 1] : Tensor()};
  }

 private:
  std::span<const Tensor> params_;
  bool has_biases_, projected_;
  size_t each_;
};

RecurrentResult run_layer(const Tensor& data, const Tensor& hx, const Tensor& cx, const RecurrentParameters& w, IntSpan batch_sizes,
                          Recurrence kind, bool reverse, bool packed) {
  // Where autocast has a say, PyTorch has one op for an LSTM over dense sequences, and ordinary ops for all the rest.
  const bool whole = !thread_state.autocast || (kind == Recurrence::Lstm && !packed && !w.w_hr);
  if (RG_UNLIKELY(!is_floating(data.dtype()) || !whole)) {
    check_recurrent_layer(data, hx, cx, w, batch_sizes, kind);
    return recurrent_layer_in_ops(data, hx, cx, w, batch_sizes, kind, reverse);
  }
  const auto [output, hy, cy, saved] =
      ops::_recurrent_layer(data, hx, cx, w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr, batch_sizes, static_cast<int64_t>(kind), reverse);
  return {output, hy, cx ? cy : Tensor()};
}

// data: [elements, input_size].
RecurrentResult run_network(const Network& net, Tensor data, IntSpan batch_sizes) {
  RG_CHECK(net.layers > 0, "Expected at least one layer, got num_layers=", net.layers);
  const int64_t runs = net.layers * net.directions();
  for (const Tensor& state : net.states)
    RG_CHECK(state.dim() == 3, "Expected states [layers * directions, batch, size], got ", state.sizes());
  const Parameters parameters(net);
  for (const Tensor& state : net.states)
    RG_CHECK(state.size(0) == runs, "Expected more hidden states in stacked_rnn, or fewer: ", runs, ", but got ", state.size(0));
  std::vector<Tensor> hy, cy;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    Tensor outputs[2];
    for (int64_t direction = 0; direction < net.directions(); ++direction) {
      const int64_t i = layer * net.directions() + direction;
      const bool two = net.states.size() == 2;
      RecurrentResult r = run_layer(data, ops::select(net.states[0], 0, i), two ? ops::select(net.states[1], 0, i) : Tensor(),
                                    parameters.of(static_cast<size_t>(i)), batch_sizes, net.kind, direction == 1, net.packed);
      outputs[direction] = std::move(r.output);
      hy.push_back(std::move(r.hy));
      if (two) cy.push_back(std::move(r.cy));
    }
    data = net.bidirectional ? ops::cat(outputs, -1) : outputs[0];
    if (net.dropout != 0 && layer + 1 < net.layers) data = ops::dropout(data, net.dropout, true);
  }
  return {data, ops::stack(hy, 0), cy.empty() ? Tensor() : ops::stack(cy, 0)};
}

RecurrentResult run_dense(const Network& net, const Tensor& input, bool batch_first) {
  RG_CHECK_AS(Index, input.dim() == 3, "Dimension out of range (expected an input of three dimensions, [time, batch, input_size], got ",
              input.sizes(), ")");
  const Tensor x = batch_first ? ops::transpose(input, 0, 1) : input;
  const int64_t steps = x.size(0), batch = x.size(1);
  RG_CHECK(steps > 0, "Expected sequence length to be larger than 0 in RNN");
  const std::vector<int64_t> sizes(static_cast<size_t>(steps), batch);
  RecurrentResult r = run_network(net, ops::reshape(x, ints({steps * batch, x.size(2)})), sizes);
  const Tensor output = ops::reshape(r.output, ints({steps, batch, r.output.size(1)}));
  r.output = batch_first ? ops::transpose(output, 0, 1) : output;
  return r;
}

RecurrentResult run_packed(Network net, const Tensor& data, const Tensor& batch_sizes) {
  RG_CHECK(batch_sizes.dtype() == DType::Int64, "expected scalar type Long but found ", dtype_title(batch_sizes.dtype()));
  RG_CHECK_AS(Index, data.dim() > 0 && batch_sizes.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  RG_CHECK(data.dim() == 2 && batch_sizes.dim() == 1, "Expected data [elements, input_size] and batch_sizes [time], got ", data.sizes(),
           " and ", batch_sizes.sizes());
  check_no_batch(batch_sizes);
  check_has_values(batch_sizes, Device{});
  const Tensor sizes = on_host(contiguous_data(batch_sizes));
  RG_CHECK(sizes.numel() > 0, "Expected sequence length to be larger than 0 in RNN");
  net.packed = true;
  return run_network(net, data, IntSpan{sizes.data<int64_t>(), static_cast<size_t>(sizes.numel())});
}

Network lstm_network(std::span<const Tensor> hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout,
                     bool train, bool bidirectional) {
  RG_CHECK(hx.size() == 2, "lstm expects two hidden states");
  return {Recurrence::Lstm, hx, params, has_biases, num_layers, train ? dropout : 0.0, bidirectional};
}

Network plain_network(Recurrence kind, const Tensor& hx, std::span<const Tensor> params, bool has_biases, int64_t num_layers,
                      double dropout, bool train, bool bidirectional) {
  return {kind, {&hx, 1}, params, has_biases, num_layers, train ? dropout : 0.0, bidirectional};
}

}  // namespace

namespace composite {

std::tuple<Tensor, Tensor, Tensor> lstm_data(const Tensor& data, const Tensor& batch_sizes, std::span<const Tensor> hx,
                                             std::span<const Tensor> params, bool has_biases, int64_t num_layers, double dropout,
                                             bool train, bool bidirectional) {
  const RecurrentResult r = run_packed(lstm_network(hx, params, has_biases, num_layers, dropout, train, bidirectional), data, batch_sizes);
  return {r.output, r.hy, r.cy};
}
std::tuple<Tensor, Tensor, Tensor> lstm_input(const Tensor& input, std::span<const Tensor> hx, std::span<const Tensor> params,
                                              bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional,
                                              bool batch_first) {
  const RecurrentResult r = run_dense(lstm_network(hx, params, has_biases, num_layers, dropout, train, bidirectional), input, batch_first);
  return {r.output, r.hy, r.cy};
}

#define RG_RECURRENT(name, kind)                                                                                                           \
  std::tuple<Tensor, Tensor> name##_data(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, std::span<const Tensor> params,  \
                                         bool has_biases, int64_t num_layers, double dropout, bool train, bool bidirectional) {            \
    const RecurrentResult r =                                                                                                              \
        run_packed(plain_network(Recurrence::kind, hx, params, has_biases, num_layers, dropout, train, bidirectional), data, batch_sizes); \
    return {r.output, r.hy};                                                                                                               \
  }                                                                                                                                        \
  std::tuple<Tensor, Tensor> name##_input(const Tensor& input, const Tensor& hx, std::span<const Tensor> params, bool has_biases,          \
                                          int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {          \
    const RecurrentResult r =                                                                                                              \
        run_dense(plain_network(Recurrence::kind, hx, params, has_biases, num_layers, dropout, train, bidirectional), input, batch_first); \
    return {r.output, r.hy};                                                                                                               \
  }
RG_RECURRENT(rnn_tanh, Tanh)
RG_RECURRENT(rnn_relu, Relu)
RG_RECURRENT(gru, Gru)
#undef RG_RECURRENT

}  // namespace composite
}  // namespace retrograd
