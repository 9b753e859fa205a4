// Losses over classes: nll_loss and cross_entropy.
#include "kernels/loss.h"
#include "native_nn.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/nn/nn.h"

namespace retrograd {
namespace {

bool is_whole(int64_t reduction) { return static_cast<Reduction>(reduction) != Reduction::None; }

kernels::Reduction kernel_reduction(int64_t reduction) {
  switch (static_cast<Reduction>(reduction)) {
    case Reduction::None: return kernels::Reduction::None;
    case Reduction::Sum: return kernels::Reduction::Sum;
    default: return kernels::Reduction::Mean;
  }
}

// The input as [n, c, d] (batch, classes, places) and the target as [n, d].
struct Counts {
  int64_t n, c, d = 1;
  explicit Counts(const Tensor& self) {
    n = self.dim() == 1 ? 1 : self.size(0);
    c = self.dim() == 1 ? self.size(0) : self.size(1);
    for (int64_t i = 2; i < self.dim(); ++i) d *= self.size(i);
  }
};

void check_classes(const Tensor& self, const Tensor& target, const Tensor& weight) {
  RG_CHECK(target.dtype() == DType::Int64 || target.dtype() == DType::UInt8, "expected target dtype to be Long or Byte, but got ",
           dtype_title(target.dtype()),
           "\n  Hint: targets are class numbers: convert them with .long(). Probabilities of classes, for cross_entropy, are floats of the "
           "input's shape.");
  if (!is_floating(self.dtype())) fail_not_implemented("nll_loss_out_frame", self.dtype());
  RG_CHECK(self.dim() > 0, "input tensor should be 1D or 2D");
  const Counts counts(self);
  check_same_device(self.get(), target.get(), "nll_loss");
  RG_CHECK(target.numel() == counts.n * counts.d, "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  if (!weight) return;
  RG_CHECK(weight.dim() == 1 && weight.numel() == counts.c, "weight tensor should be defined either for all ", counts.c,
           " classes or no classes but got weight tensor of shape: ", weight.sizes());
  RG_CHECK(weight.dtype() == self.dtype(), "expected scalar type ", dtype_title(self.dtype()), " but found ", dtype_title(weight.dtype()));
  check_same_device(self.get(), weight.get(), "nll_loss");
}

// Arrays for the kernels. `shaped` is the input or its gradient.
struct Classes : Counts {
  Tensor shaped, target, weight;
  int64_t sizes[3], strides[3], target_sizes[2], target_strides[2], loss_strides[2];

  Classes(const Tensor& given, const Tensor& given_target, const Tensor& given_weight, int64_t reduction)
      : Counts(given),
        shaped(given.dim() > 3 ? contiguous_data(given) : given),
        target(contiguous_data(cast_data(given_target, DType::Int64))),
        weight(given_weight ? contiguous_data(given_weight) : Tensor()) {
    sizes[0] = n, sizes[1] = c, sizes[2] = d;
    strides[0] = shaped.dim() == 1 ? 0 : shaped.stride(0);
    strides[1] = shaped.dim() == 1 ? shaped.stride(0) : shaped.stride(1);
    strides[2] = shaped.dim() == 3 ? shaped.stride(2) : 1;
    target_sizes[0] = n, target_sizes[1] = d;
    target_strides[0] = d, target_strides[1] = 1;
    loss_strides[0] = is_whole(reduction) ? 0 : d, loss_strides[1] = is_whole(reduction) ? 0 : 1;
  }

  kernels::Array array() const { return {shaped->data, shaped->dtype, 3, sizes, strides}; }
  kernels::Array target_array() const { return {target->data, DType::Int64, 2, target_sizes, target_strides}; }
  kernels::Array loss_array(const Tensor& t) const { return {t->data, t->dtype, 2, target_sizes, loss_strides}; }
  const void* weight_data() const { return weight ? weight->data : nullptr; }
};

void check_target(const kernels::IndexError& e) {
  RG_CHECK_AS(Index, e.ok, "Target ", e.value, " is out of bounds.\n  The input has ", e.size, " classes, so targets go from 0 to ",
              e.size - 1,
              ".\n  Hint: give the last layer as many outputs as there are classes, or mark what is to be left out with ignore_index.");
}

using Pair = std::array<Spec, 2>;
Pair loss_and_weight(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction) {
  check_classes(self, target, weight);
  const Spec one(self.dtype(), self->device);
  return {is_whole(reduction) ? one : Spec::of(target, self.dtype()), one};
}

}  // namespace

namespace rule {

Pair nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t) {
  check_constant(weight, "nll_loss_forward", "weight");
  RG_CHECK(self.dim() == 1 || self.dim() == 2, "input tensor should be 1D or 2D");
  RG_CHECK(target.dim() <= 1, "0D or 1D target tensor expected, multi-target not supported");
  RG_CHECK(self.dim() == 1 ? target.numel() == 1 : target.dim() == 1 && self.size(0) == target.size(0),
           "size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  return loss_and_weight(self, target, weight, reduction);
}

Pair nll_loss2d_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t) {
  check_constant(weight, "nll_loss2d_forward", "weight");
  RG_CHECK(self.dim() >= 3, "only batches of spatial inputs supported (3D tensors and up), but got input of dimension: ", self.dim());
  bool match = target.dim() == self.dim() - 1 && target.size(0) == self.size(0);
  for (int64_t d = 1; match && d < target.dim(); ++d) match = target.size(d) == self.size(d + 1);
  RG_CHECK(match, "size mismatch (got input: ", self.sizes(), " , target: ", target.sizes(), ")");
  return loss_and_weight(self, target, weight, reduction);
}

Spec nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                       int64_t, const Tensor& total_weight) {
  check_classes(self, target, weight);
  const int64_t count = is_whole(reduction) ? 1 : target.numel();
  RG_CHECK(grad_output.numel() == count && total_weight.numel() == 1 && total_weight.dtype() == self.dtype(),
           "nll_loss_backward: expected a gradient of ", count, " element(s) and one total weight of dtype ", dtype_name(self.dtype()),
           ", got ", grad_output.sizes(), " and ", total_weight.sizes(), " of ", dtype_name(total_weight.dtype()));
  check_same_device(self.get(), grad_output.get(), "nll_loss_backward");
  check_same_device(self.get(), total_weight.get(), "nll_loss_backward");
  return Spec::of(self);
}

}  // namespace rule

namespace compute {

void nll_loss_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                      const Tensor& output, const Tensor& total_weight) {
  const Classes classes(self, target, weight, reduction);
  IndexSlot e(self->device);
  {
    const Launch launch(self, classes.n * classes.d * 2);
    kernels::loss(self->device)
        .nll_loss(classes.loss_array(output), total_weight->data, classes.array(), classes.target_array(), classes.weight_data(),
                  ignore_index, kernel_reduction(reduction), e.data());
  }
  check_target(e.read());
}

void nll_loss2d_forward(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                        const Tensor& output, const Tensor& total_weight) {
  nll_loss_forward(self, target, weight, reduction, ignore_index, output, total_weight);
}

void nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction,
                       int64_t ignore_index, const Tensor& total_weight, const Tensor& out) {
  const Classes classes(out, target, weight, reduction);
  const Tensor grad = contiguous_data(cast_data(grad_output, self.dtype()));
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel());
    kernels::loss(self->device)
        .nll_loss_backward(classes.array(), classes.loss_array(grad), total_weight->data, classes.target_array(), classes.weight_data(),
                           ignore_index, kernel_reduction(reduction), e.data());
  }
  check_target(e.read());
}

}  // namespace compute

namespace composite {
namespace {

// A weight per class, shaped to multiply a tensor with classes along `dim`.
Tensor class_weight(const Tensor& weight, int64_t ndim, int64_t dim) {
  int64_t sizes[kMaxDims];
  for (int64_t d = 0; d < ndim; ++d) sizes[d] = d == dim ? weight.numel() : 1;
  return ops::reshape(weight, {sizes, static_cast<size_t>(ndim)});
}

Tensor with_probabilities(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, double label_smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1, classes = self.size(dim);
  RG_CHECK(!weight || (weight.dim() == 1 && weight.numel() == classes), "cross_entropy: weight tensor should be defined either for all ",
           classes, " classes or no classes but got weight tensor of shape: ", weight.sizes());
  const Tensor log_p = ops::log_softmax(self, dim, std::nullopt);
  Tensor product = log_p * (label_smoothing > 0 ? target * (1 - label_smoothing) + label_smoothing / static_cast<double>(classes) : target);
  if (weight) product = product * class_weight(weight, self.dim(), dim);
  if (static_cast<Reduction>(reduction) == Reduction::None) return -ops::sum_dim(product, ints({dim}), false, std::nullopt);
  const Tensor sum = -ops::sum(product, std::nullopt);
  if (static_cast<Reduction>(reduction) == Reduction::Sum) return sum;
  return sum / (static_cast<double>(self.numel()) / static_cast<double>(classes));
}

Tensor smoothed(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                double label_smoothing) {
  const int64_t dim = self.dim() == 1 ? 0 : 1, classes = self.size(dim);
  const Tensor log_p = ops::log_softmax(self, dim, std::nullopt);
  const Tensor nll = ops::nll_loss(log_p, target, weight, reduction, ignore_index);
  Tensor smooth = -ops::sum_dim(weight ? log_p * class_weight(weight, self.dim(), dim) : log_p, ints({dim}), false, std::nullopt);
  const Tensor ignored = ops::eq(target, Operand(ignore_index));
  smooth = ops::where(ignored, 0.0, smooth);
  if (static_cast<Reduction>(reduction) == Reduction::Mean) {
    Tensor counted =
        weight ? ops::reshape(ops::index_select(weight, 0, ops::reshape(ops::where(ignored, 0, target), ints({-1}))), target.sizes())
               : full(target.sizes(), 1, self.dtype(), self.device());
    counted = ops::where(ignored, 0.0, counted);
    smooth = ops::sum(smooth, std::nullopt) / ops::sum(counted, std::nullopt);
  } else {
    smooth = reduced(smooth, reduction);
  }
  return nll * (1 - label_smoothing) + smooth * (label_smoothing / static_cast<double>(classes));
}

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index) {
  RG_CHECK_AS(Value, self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (self.dim() != 1) {
    RG_CHECK_AS(Value, target.dim() >= 1 && self.size(0) == target.size(0), "Expected input batch_size (", self.size(0),
                ") to match target batch_size (", target.dim() ? target.size(0) : 0, ").");
  }
  if (self.dim() <= 2) return std::get<0>(ops::nll_loss_forward(self, target, weight, reduction, ignore_index));
  if (self.dim() == 3) {
    RG_CHECK(target.dim() == 2 && target.size(1) == self.size(2), "Expected target size ", ints({self.size(0), self.size(2)}), ", got ",
             target.sizes());
  }
  return std::get<0>(ops::nll_loss2d_forward(self, target, weight, reduction, ignore_index));
}

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const Tensor& weight, int64_t reduction, int64_t ignore_index,
                          double label_smoothing) {
  if (same_sizes(self.get(), target.get())) {
    RG_CHECK(is_floating(target.dtype()), "Expected floating point type for target with class probabilities, got ",
             dtype_title(target.dtype()));
    RG_CHECK(ignore_index < 0, "ignore_index is not supported for floating point target");
    RG_CHECK(!(label_smoothing > 1), "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
    return with_probabilities(self, target, weight, reduction, label_smoothing);
  }
  RG_CHECK(!(label_smoothing > 1), "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  RG_CHECK_AS(Value, self.dim() >= 1, "Expected 1 or more dimensions (got ", self.dim(), ")");
  if (label_smoothing > 0) return smoothed(self, target, weight, reduction, ignore_index, label_smoothing);
  return ops::nll_loss(ops::log_softmax(self, self.dim() == 1 ? 0 : 1, std::nullopt), target, weight, reduction, ignore_index);
}

}  // namespace composite
}  // namespace retrograd
