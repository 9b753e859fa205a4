// Losses between two tensors of one shape: a pointwise kernel, then a reduction.
#include <cmath>

#include "autograd/history.h"
#include "kernels/reduce.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/nn/nn.h"

namespace retrograd {

void check_constant(const Tensor& t, const char* op, const char* argument) {
  RG_CHECK(!(t && thread_state.grad_mode && requires_grad(t)), "The function '", op, "' is not differentiable with respect to argument '",
           argument, "'. This input cannot have requires_grad True.");
}

namespace impl {
namespace {

Tensor reduced(Tensor elements, int64_t reduction) {
  switch (static_cast<Reduction>(reduction)) {
    case Reduction::Mean: return mean(elements, std::nullopt);
    case Reduction::Sum: return sum(elements, std::nullopt);
    default: return elements;
  }
}

void check_floating(const Tensor& self, const Tensor& target, const char* kernel) {
  const DType dtype = promote(self.dtype(), target.dtype());
  if (RG_UNLIKELY(!is_floating(dtype))) fail_not_implemented(kernel, dtype);
}

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_floating(self, target, "mse_cpu");
  return reduced(_squared_difference(self, target), reduction);
}

Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  RG_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  check_floating(self, target, "smooth_l1_cpu");
  if (beta == 0) return reduced(abs(sub(self, target, 1)), reduction);
  return reduced(_smooth_l1(self, target, beta), reduction);
}

Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  RG_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  check_floating(self, target, "huber_cpu");
  return reduced(_huber(self, target, delta), reduction);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  check_floating(self, target, "soft_margin_cpu");
  return reduced(_soft_margin(self, target), reduction);
}

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  check_constant(weight, "binary_cross_entropy", "weight");
  RG_CHECK(self.dtype() == target.dtype(), "Found dtype ", dtype_title(target.dtype()), " but expected ", dtype_title(self.dtype()),
           "\n  Hint: convert the target with .to(input.dtype).");
  if (!is_floating(self.dtype())) fail_not_implemented("binary_cross_entropy", self.dtype());
  RG_CHECK(all_within(self, 0, 1),
           "all elements of input should be between 0 and 1\n  Hint: this loss takes probabilities: apply sigmoid() first, or "
           "use binary_cross_entropy_with_logits, which takes scores of any size.");
  RG_CHECK(all_within(target, 0, 1),
           "all elements of target should be between 0 and 1\n  Hint: targets are probabilities, or 0 and 1 for the two "
           "classes.");
  Tensor elements = _binary_cross_entropy(self, target);
  if (weight) elements = mul(elements, weight);
  return reduced(elements, reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
                                        int64_t reduction) {
  check_constant(weight, "binary_cross_entropy_with_logits", "weight");
  check_constant(pos_weight, "binary_cross_entropy_with_logits", "pos_weight");
  check_floating(self, target, "binary_cross_entropy_with_logits");
  Tensor elements = pos_weight ? _bce_with_logits_weighted(self, target, pos_weight) : _bce_with_logits(self, target);
  if (weight) elements = mul(elements, weight);
  return reduced(elements, reduction);
}

}  // namespace impl

namespace composite {
Tensor reduced(const Tensor& loss, int64_t reduction) {
  switch (static_cast<Reduction>(reduction)) {
    case Reduction::Mean: return ops::mean(loss, std::nullopt);
    case Reduction::Sum: return ops::sum(loss, std::nullopt);
    default: return loss;
  }
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) { return reduced(ops::abs(self - target), reduction); }

Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  RG_CHECK(!is_complex(self.dtype()) && !is_complex(target.dtype()), "kl_div: Complex inputs not supported.");
  RG_CHECK(is_floating(self.dtype()) && is_floating(target.dtype()), "kl_div: Integral inputs not supported.");
  return reduced(log_target ? ops::exp(target) * (target - self) : ops::xlogy(target, target) - target * self, reduction);
}

}  // namespace composite
}  // namespace retrograd
