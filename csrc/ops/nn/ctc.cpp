// Connectionist temporal classification: ctc_loss and the ops it is made of.
#include "kernels/ctc.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "native_nn.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/nn/nn.h"

namespace retrograd {
namespace {

// Throws unless the arguments fit; the length of the longest target.
int64_t check_ctc(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank) {
  constexpr const char* where = " (while checking arguments for ctc_loss_allocate_outputs)";
  RG_CHECK(log_probs.numel() > 0, "log_probs tensor must not be empty");
  RG_CHECK(log_probs.dim() == 3, "Expected 3-dimensional tensor, but got ", log_probs.dim(),
           "-dimensional tensor for argument #1 'log_probs'", where);
  if (log_probs.dtype() != DType::Float32 && log_probs.dtype() != DType::Float64) fail_not_implemented("ctc_loss_cpu", log_probs.dtype());
  const int64_t steps = log_probs.size(0), batch = log_probs.size(1);
  RG_CHECK(blank >= 0 && blank < log_probs.size(2), "blank must be in label range");
  RG_CHECK(static_cast<int64_t>(input_lengths.size()) == batch, "input_lengths must be of size batch_size");
  RG_CHECK(static_cast<int64_t>(target_lengths.size()) == batch, "target_lengths must be of size batch_size");
  check_same_device(log_probs.get(), targets.get(), "ctc_loss");
  int64_t longest = 0, all = 0;
  for (const int64_t length : target_lengths) {
    RG_CHECK(length >= 0, "Expected target_lengths to have value at least 0, but got value ", length, where);
    longest = std::max(longest, length);
    all += length;
  }
  RG_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ", targets.dim(),
           "-dimensional tensor for argument #2 'targets'", where);
  const int64_t rows = targets.dim() == 1 ? all : batch;
  RG_CHECK(targets.size(0) == rows, "Expected tensor to have size ", rows, " at dimension 0, but got size ", targets.size(0),
           " for argument #2 'targets'", where);
  RG_CHECK(targets.dim() == 1 || targets.size(1) >= longest, "Expected tensor to have size at least ", longest,
           " at dimension 1, but got size ", targets.dim() == 1 ? 0 : targets.size(1), " for argument #2 'targets'", where);
  for (const int64_t length : input_lengths) {
    RG_CHECK(length >= 0, "Expected input_lengths to have value at least 0, but got value ", length, where);
    RG_CHECK(length <= steps, "Expected input_lengths to have value at most ", steps, ", but got value ", length, where);
  }
  return longest;
}

// What the kernels are told, with the labels as they want them.
struct Sequences {
  Tensor labels;
  std::vector<int64_t> starts;
  kernels::CtcShape shape;

  Sequences(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank)
      : labels(contiguous_data(cast_data(targets, DType::Int64))), starts(input_lengths.size()) {
    int64_t longest = 0, all = 0;
    for (size_t i = 0; i < starts.size(); ++i) {
      starts[i] = targets.dim() == 1 ? all : static_cast<int64_t>(i) * targets.size(1);
      all += target_lengths[i];
      longest = std::max(longest, target_lengths[i]);
    }
    shape = {log_probs.size(0),    log_probs.size(1),     log_probs.size(2), longest, blank, 1,
             input_lengths.data(), target_lengths.data(), starts.data()};
  }
  const int64_t* data() const { return static_cast<const int64_t*>(labels->data); }
  int64_t work() const { return shape.batch * shape.steps * (2 * shape.longest + 1) * 20; }
};

// Lengths that a tensor holds, read back.
std::vector<int64_t> lengths_of(const Tensor& t, const char* name) {
  RG_CHECK(is_integral(t.dtype()) && t.dtype() != DType::Bool, name, " must be integral");
  check_no_batch(t);
  check_has_values(t, Device{});
  const Tensor held = on_host(contiguous_data(cast_data(t, DType::Int64)));
  const auto* data = static_cast<const int64_t*>(held->data);
  return {data, data + held.numel()};
}

}  // namespace

Tensor brought_to(const Tensor& made, Device device) {
  if (device.is_cpu()) return made;
  return device.type == DeviceType::Meta ? empty(made.sizes(), made.dtype(), device) : moved_to(made, device);
}

namespace rule {

std::array<Spec, 2> _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
                              bool) {
  const int64_t longest = check_ctc(log_probs, targets, input_lengths, target_lengths, blank), batch = log_probs.size(1);
  return {Spec(ints({batch}), log_probs.dtype(), log_probs->device),
          Spec(ints({batch, log_probs.size(0), 2 * longest + 1}), log_probs.dtype(), log_probs->device)};
}

Spec _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                        const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool) {
  const int64_t longest = check_ctc(log_probs, targets, input_lengths, target_lengths, blank), batch = log_probs.size(1);
  RG_CHECK(same_sizes(neg_log_likelihood.sizes(), ints({batch})) && same_sizes(grad.sizes(), ints({batch})) &&
               same_sizes(log_alpha.sizes(), ints({batch, log_probs.size(0), 2 * longest + 1})),
           "_ctc_loss_backward: expected a gradient, a loss and log_alpha as of _ctc_loss, got ", grad.sizes(), ", ",
           neg_log_likelihood.sizes(), " and ", log_alpha.sizes());
  for (const Tensor* t : {&grad, &neg_log_likelihood, &log_alpha}) {
    RG_CHECK(t->dtype() == log_probs.dtype(), "_ctc_loss_backward: expected ", dtype_title(log_probs.dtype()), ", got ",
             dtype_title(t->dtype()));
    check_same_device(log_probs.get(), t->get(), "_ctc_loss_backward");
  }
  return Spec::of(log_probs);
}

}  // namespace rule

namespace compute {

void _ctc_loss(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank, bool,
               const Tensor& neg_log_likelihood, const Tensor& log_alpha) {
  const Sequences sequences(log_probs, targets, input_lengths, target_lengths, blank);
  IndexSlot e(log_probs->device);
  {
    const Launch launch(log_probs, sequences.work());
    kernels::ctc(log_probs->device)
        .loss(sequences.shape, log_probs.array(), sequences.data(), neg_log_likelihood->data, log_alpha->data, e.data());
  }
  RG_CHECK(e.read().ok, "ctc_loss: target ", e.read().value, " is out of bounds: labels are from 0 to ", log_probs.size(2) - 1);
}

void _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                        const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool zero_infinity, const Tensor& out) {
  const Sequences sequences(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor loss = contiguous_data(neg_log_likelihood), alpha = contiguous_data(log_alpha), given = contiguous_data(grad);
  const Launch launch(log_probs, 2 * sequences.work());
  kernels::ctc(log_probs->device)
      .backward(sequences.shape, out.array(), log_probs.array(), sequences.data(), loss->data, alpha->data, given->data, zero_infinity);
}

}  // namespace compute

namespace composite {

Tensor ctc_loss_IntList(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank,
                        int64_t reduction, bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  const Tensor probs = batched ? log_probs : ops::unsqueeze(log_probs, 1);
  Tensor loss = std::get<0>(ops::_ctc_loss(probs, targets, input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) loss = ops::where(ops::eq(loss, std::numeric_limits<double>::infinity()), 0.0, loss);
  if (static_cast<Reduction>(reduction) == Reduction::Mean) {
    const Tensor counts = empty(ints({static_cast<int64_t>(target_lengths.size())}), loss.dtype(), Device{});
    for (size_t i = 0; i < target_lengths.size(); ++i)
      Scalar(std::max<int64_t>(target_lengths[i], 1)).store(loss.dtype(), static_cast<char*>(counts->data) + i * itemsize(loss.dtype()));
    return ops::mean(ops::div(loss, brought_to(counts, loss.device())), std::nullopt);
  }
  if (static_cast<Reduction>(reduction) == Reduction::Sum) return ops::sum(loss, std::nullopt);
  return batched ? loss : ops::squeeze_dim(loss, 0);
}

Tensor ctc_loss_Tensor(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
                       int64_t blank, int64_t reduction, bool zero_infinity) {
  return ctc_loss_IntList(log_probs, targets, lengths_of(input_lengths, "input_lengths"), lengths_of(target_lengths, "target_lengths"),
                          blank, reduction, zero_infinity);
}

}  // namespace composite
}  // namespace retrograd
