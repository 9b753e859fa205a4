// Fused optimizer steps. A step is checked for all parameters before the first is written.
#include "kernels/optim.h"

#include <algorithm>

#include "autograd/history.h"
#include "core/launch.h"
#include "core/write_notes.h"
#include "native_optim.h"
#include "ops.h"

namespace retrograd {
namespace {

constexpr size_t kMaxOperands = 5;

// The tensors of a step, list by list, in the order of the loop's operands: the gradients are the last, the others are written.
class Step {
 public:
  explicit Step(std::span<const Tensor> params) : params_(params) { add(params); }
  void add(std::span<const Tensor> list) {
    RG_CHECK(list.size() == params_.size(), "a fused step takes lists of one length, got ", params_.size(), " parameters beside ",
             list.size(), " other tensors");
    lists_[count_++] = list.data();
  }

  // Whether one pass can do it: memory of one device, one floating dtype and one shape for each parameter, none shared, and nobody to be asked
  // about the write (inference tensors outside inference mode, forward-mode tangents, samples of a vmap, views).
  bool fits() const {
    for (size_t i = 0; i < params_.size(); ++i)
      if (!fits(i)) return false;
    return true;
  }

  // Calls kernel(kernels, i, operands, dtype) for each parameter, and counts the writes. `cost` is a rough number of nanoseconds per 8 elements.
  template <class K> void run(int cost, K kernel) const;

 private:
  TensorImpl* at(size_t list, size_t i) const { return lists_[list][i].get(); }
  bool fits(size_t i) const;
  template <class K> void run(size_t i, int cost, K kernel) const;

  std::span<const Tensor> params_;
  const Tensor* lists_[kMaxOperands];
  size_t count_ = 0;
};

bool can_write(const TensorImpl* t) {
  return !(t->has(kInference) && !thread_state.inference_mode) && !t->base && (t->is_contiguous() || !has_internal_overlap(t));
}

// Whether two storages have bytes in common: one storage, or two on memory from elsewhere.
bool share_memory(const Storage* a, const Storage* b) {
  const char *x = static_cast<const char*>(a->data), *y = static_cast<const char*>(b->data);
  return x < y + b->nbytes && y < x + a->nbytes;
}

bool Step::fits(size_t i) const {
  constexpr uint64_t kAlike = kDtypeBits | kDeviceBits | kNdimBits, kStrange = kLazyBits | flag_bits(kBatched);
  const TensorImpl* first = at(0, i);
  if (!is_floating(first->dtype) || first->device.type == DeviceType::Meta) return false;
  for (size_t l = 0; l < count_; ++l) {
    const TensorImpl* t = at(l, i);
    const uint64_t traits = traits_word(t);
    if ((traits & kStrange) || ((traits ^ traits_word(first)) & kAlike) || !same_sizes(t, first)) return false;
    if ((t->extra && t->extra->tangents) || (l + 1 < count_ && !can_write(t))) return false;
    for (size_t k = 0; k < l; ++k)
      if (share_memory(at(k, i)->storage, t->storage)) return false;
  }
  return true;
}

template <class K> void Step::run(int cost, K kernel) const {
  for (size_t i = 0; i < params_.size(); ++i) {
    for (size_t l = 0; l + 1 < count_; ++l) before_write(at(l, i));
    run(i, cost, kernel);
    for (size_t l = 0; l + 1 < count_; ++l)
      if (TensorImpl* t = at(l, i); RG_LIKELY(!t->has(kInference))) bump_version(t);
  }
}

template <class K> void Step::run(size_t i, int cost, K kernel) const {
  const TensorImpl* first = at(0, i);
  bool flat = true;
  for (size_t l = 0; l < count_; ++l) flat = flat && at(l, i)->is_contiguous();
  flat |= first->numel == 0;
  static constexpr int64_t kOne[] = {1};
  kernels::Operands operands;
  operands.ndim = flat ? 1 : first->ndim;
  operands.sizes = flat ? &first->numel : first->sizes();
  for (size_t l = 0; l < count_; ++l) operands.add(at(l, i)->data, flat ? kOne : at(l, i)->strides(), itemsize(first->dtype));
  const Launch launch(first->device, first->numel * cost / 8);
  kernel(kernels::optim(first->device), i, operands, first->dtype);
}

bool can_count(const TensorImpl* count) {
  if (count->numel != 1 || !count->device.is_cpu() || count->base || count->has(kBatched)) return false;
  if (count->has(kInference) && !thread_state.inference_mode) return false;
  return count->dtype == DType::Float32 || count->dtype == DType::Float64;
}

using Tensors = std::span<const Tensor>;

Step sgd_lists(Tensors self, Tensors grads, Tensors buffers, double momentum) {
  Step step(self);
  if (momentum != 0) step.add(buffers);
  step.add(grads);
  return step;
}

Step adam_lists(Tensors self, Tensors grads, Tensors means, Tensors squares, Tensors largest, bool amsgrad) {
  Step step(self);
  step.add(means);
  step.add(squares);
  if (amsgrad) step.add(largest);
  step.add(grads);
  return step;
}

void step_adam(const Step& lists, Tensors counts, kernels::AdamStep step) {
  lists.run(8, [&](const kernels::OptimKernels& k, size_t i, const kernels::Operands& operands, DType dtype) {
    TensorImpl* count = counts[i].get();
    before_write(count);
    k.adam(operands, dtype, &step, count->data, count->dtype);
    if (!count->has(kInference)) bump_version(count);
  });
}

}  // namespace

namespace rule {

bool _fused_sgd_(Tensors self, Tensors grads, Tensors buffers, double, double momentum, double, double, bool, bool) {
  return sgd_lists(self, grads, buffers, momentum).fits();
}

bool _fused_adam_(Tensors self, Tensors grads, Tensors exp_avgs, Tensors exp_avg_sqs, Tensors max_exp_avg_sqs, Tensors state_steps, double,
                  double, double, double, double, bool amsgrad, bool) {
  const Step lists = adam_lists(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, amsgrad);
  RG_CHECK(state_steps.size() == self.size(), "a fused step takes a count of steps for each of the ", self.size(), " parameters, got ",
           state_steps.size());
  return lists.fits() && std::ranges::all_of(state_steps, [](const Tensor& count) { return can_count(count.get()); });
}

bool _fused_adamw_(Tensors self, Tensors grads, Tensors exp_avgs, Tensors exp_avg_sqs, Tensors max_exp_avg_sqs, Tensors state_steps,
                   double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize) {
  return _fused_adam_(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad,
                      maximize);
}

}  // namespace rule

namespace compute {

void _fused_sgd_(Tensors self, Tensors grads, Tensors buffers, double weight_decay, double momentum, double lr, double dampening,
                 bool nesterov, bool maximize) {
  const kernels::SgdStep step{lr, momentum, dampening, weight_decay, nesterov, maximize};
  const Step lists = sgd_lists(self, grads, buffers, momentum);
  lists.run(momentum != 0 ? 3 : 2,
            [&](const kernels::OptimKernels& k, size_t, const kernels::Operands& operands, DType dtype) { k.sgd(operands, dtype, step); });
}

void _fused_adam_(Tensors self, Tensors grads, Tensors exp_avgs, Tensors exp_avg_sqs, Tensors max_exp_avg_sqs, Tensors state_steps,
                  double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize) {
  step_adam(adam_lists(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, amsgrad), state_steps,
            {lr, beta1, beta2, eps, weight_decay, 1, amsgrad, maximize});
}

void _fused_adamw_(Tensors self, Tensors grads, Tensors exp_avgs, Tensors exp_avg_sqs, Tensors max_exp_avg_sqs, Tensors state_steps,
                   double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize) {
  step_adam(adam_lists(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, amsgrad), state_steps,
            {lr, beta1, beta2, eps, 0, 1 - lr * weight_decay, amsgrad, maximize});
}

}  // namespace compute
}  // namespace retrograd
