// The gradient of ctc_loss: by the kernel, or in ordinary ops where it is to be differentiated again.
#include <vector>

#include "autograd/layers.h"
#include "core/state.h"
#include "ops/derivatives.h"
#include "ops/nn/nn.h"

namespace retrograd::derivatives {
namespace {

// Stands for log(0). A number, because the derivative of log(0 + 0) is none; too small for exp() to give anything else than 0.
constexpr double kNever = -1e30;

// A constant that depends on lengths, made where they are and moved.
template <class T, class F> Tensor constant(IntSpan sizes, DType dtype, Device device, F&& value) {
  const Tensor t = empty(sizes, dtype, Device{});
  for (int64_t i = 0; i < t.numel(); ++i) static_cast<T*>(t->data)[i] = static_cast<T>(value(i));
  return brought_to(t, device);
}

struct Alignment {
  int64_t steps, batch, states;
  Tensor classes;               // [batch, states]: the labels with blanks around them; behind the end of a target blanks
  Tensor skip;                  // [batch, states]: 0 where a state may follow the last but one, else never
  Tensor starts, ends;          // [batch, states]: 0 where an alignment may start or end, else never
  Tensor known;                 // [steps, batch, 1]: whether the sequence has this step
  std::vector<Tensor> is_last;  // [batch, 1] for each step: whether it is the last
};

Alignment alignment_of(const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths, int64_t blank) {
  Alignment a{.steps = log_probs.size(0),
              .batch = log_probs.size(1),
              .states = 1,
              .classes = {},
              .skip = {},
              .starts = {},
              .ends = {},
              .known = {},
              .is_last = {}};
  int64_t longest = 0, all = 0;
  std::vector<int64_t> starts;
  for (const int64_t length : target_lengths) {
    starts.push_back(targets.dim() == 1 ? all : static_cast<int64_t>(starts.size()) * targets.size(1));
    all += length;
    longest = std::max(longest, length);
  }
  a.states = 2 * longest + 1;
  const Device device = log_probs.device();
  const DType dtype = log_probs.dtype();
  const auto grid = [&](auto&& f) {
    return [&, f](int64_t i) { return f(i / a.states, i % a.states, 2 * target_lengths[static_cast<size_t>(i / a.states)] + 1); };
  };
  const auto mask = [&](auto&& f) {  // 0 or never
    const Tensor yes = constant<bool>(ints({a.batch, a.states}), DType::Bool, device, grid(f));
    return ops::where(yes, zeros(ints({a.batch, a.states}), dtype, device), kNever);
  };
  a.starts = mask([](int64_t, int64_t s, int64_t n) { return s < 2 && s < n; });
  a.ends = mask([](int64_t, int64_t s, int64_t n) { return s < n && s >= n - 2; });
  const Tensor is_label = constant<bool>(ints({a.batch, a.states}), DType::Bool, device,
                                         grid([](int64_t, int64_t s, int64_t n) { return s % 2 == 1 && s < n; }));
  if (longest == 0) {
    a.classes = full(ints({a.batch, a.states}), blank, DType::Int64, device);
  } else {
    const Tensor at = constant<int64_t>(ints({a.batch * a.states}), DType::Int64, device, [&](int64_t i) {
      const int64_t n = i / a.states, s = i % a.states;
      return s % 2 == 1 && s < 2 * target_lengths[static_cast<size_t>(n)] ? starts[static_cast<size_t>(n)] + s / 2 : 0;
    });
    const Tensor labels = ops::index_select(ops::reshape(cast_to(targets, DType::Int64), ints({-1})), 0, at);
    a.classes = ops::where(is_label, ops::reshape(labels, ints({a.batch, a.states})), Operand(blank));
  }
  const Tensor two_before = ops::constant_pad_nd(ops::narrow(a.classes, 1, 0, std::max<int64_t>(a.states - 2, 0)),
                                                 ints({std::min<int64_t>(a.states, 2), 0}), blank);
  const Tensor differs = ops::logical_and(ops::ne(a.classes, two_before), is_label);
  a.skip = ops::where(differs, zeros(ints({a.batch, a.states}), dtype, device), kNever);
  // The first label has nothing two before it; what stands there is a blank, and a label may be equal to it.
  if (a.states > 1) {
    const Tensor first = constant<bool>(ints({1, a.states}), DType::Bool, device, [](int64_t s) { return s < 2; });
    a.skip = ops::masked_fill(a.skip, first, kNever);
  }
  a.known = constant<bool>(ints({a.steps, a.batch, 1}), DType::Bool, device,
                           [&](int64_t i) { return i / a.batch < input_lengths[static_cast<size_t>(i % a.batch)]; });
  for (int64_t t = 0; t < a.steps; ++t)
    a.is_last.push_back(
        constant<bool>(ints({a.batch, 1}), DType::Bool, device, [&](int64_t i) { return input_lengths[static_cast<size_t>(i)] - 1 == t; }));
  return a;
}

// `row` moved by `by` states, towards the end if positive; what comes in is never.
Tensor moved(const Tensor& row, int64_t by) {
  const int64_t kept = std::max<int64_t>(row.size(1) - std::abs(by), 0), gone = row.size(1) - kept;
  const Tensor part = ops::narrow(row, 1, by > 0 ? 0 : gone, kept);
  return ops::constant_pad_nd(part, by > 0 ? ints({gone, 0}) : ints({0, gone}), kNever);
}

Tensor log_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  const Tensor parts[3] = {a, b, c};
  return ops::logsumexp(ops::stack(std::span<const Tensor>(parts, 3), 0), ints({0}), false);
}

// How likely each class is emitted at each step, [steps, batch, classes], given that the targets come out.
Tensor emissions(const Alignment& a, const Tensor& log_probs) {
  const Tensor classes = ops::expand(ops::unsqueeze(a.classes, 0), ints({a.steps, a.batch, a.states}), false);
  const Tensor emitted = ops::clamp_min(ops::gather(log_probs, 2, classes, false), kNever);
  const std::vector<Tensor> at = ops::unbind(emitted, 0), known = ops::unbind(a.known, 0);
  std::vector<Tensor> alpha, beta(static_cast<size_t>(a.steps));
  for (size_t t = 0; t < at.size(); ++t) {
    if (t == 0) {
      alpha.push_back(a.starts + at[0]);
      continue;
    }
    const Tensor& before = alpha.back();
    const Tensor next = log_sum(before, moved(before, 1), moved(before, 2) + a.skip) + at[t];
    alpha.push_back(ops::where(known[t], next, before));  // so the last one is that of the last step
  }
  const Tensor skip_from = moved(a.skip, -2);
  for (size_t t = at.size(); t-- > 0;) {
    const Tensor last = a.ends + at[t];
    if (t + 1 == at.size()) {
      beta[t] = last;
      continue;
    }
    const Tensor& after = beta[t + 1];
    const Tensor next = log_sum(after, moved(after, -1), moved(after, -2) + skip_from) + at[t];
    beta[t] = ops::where(a.is_last[t], last, next);
  }
  const Tensor likelihood = ops::logsumexp(alpha.back() + a.ends, ints({1}), true);
  const Tensor both = ops::stack(alpha, 0) + ops::stack(beta, 0) - emitted - likelihood;
  const Tensor share = ops::where(a.known, ops::exp(ops::clamp_max(both, 80.0)), 0.0);
  return ops::scatter_add(zeros(log_probs.sizes(), log_probs.dtype(), log_probs.device()), 2, classes, share);
}

}  // namespace

Tensor ctc_loss_grad(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, IntSpan input_lengths, IntSpan target_lengths,
                     const Tensor& neg_log_likelihood, const Tensor& log_alpha, int64_t blank, bool zero_infinity) {
  if (!grad) return {};
  if (!thread_state.grad_mode && !has_layers(grad, log_probs, targets))
    return ops::_ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank,
                                   zero_infinity);
  const Alignment a = alignment_of(log_probs, targets, input_lengths, target_lengths, blank);
  const Tensor factor = ops::unsqueeze(grad, -1);  // [batch, 1]
  const Tensor found = ops::where(a.known, (ops::exp(log_probs) - emissions(a, log_probs)) * factor, 0.0);
  const Tensor impossible = ops::logical_and(ops::unsqueeze(ops::isinf(neg_log_likelihood), -1), a.known);
  return ops::masked_fill(found, impossible, zero_infinity ? 0.0 : std::numeric_limits<double>::quiet_NaN());
}

}  // namespace retrograd::derivatives
