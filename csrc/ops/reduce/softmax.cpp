// Softmax, log-softmax and their derivatives.
#include "kernels/softmax.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd::impl {
namespace {

using Forward = decltype(&kernels::SoftmaxKernels::softmax);
using Backward = decltype(&kernels::SoftmaxKernels::softmax_backward);

Tensor forward(const Tensor& self, int64_t dim, OptDType dtype, Forward kernel, const char* name) {
  const DType result = dtype.value_or(self.dtype());
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(!is_floating(result) && self.numel() != 0)) {  // PyTorch notices only where there is work
    fail_dtype(str_cat(name, d + 1 >= self.dim() ? "_lastdim_kernel_impl" : "_kernel_impl").c_str(), result);
  }
  Tensor out = empty(self.sizes(), result, self.device());
  if (out.numel()) run_kernel(self, 16, [&] { (kernels::softmax(self->device).*kernel)(out.array(), self.array(), d); });
  return out;
}

Tensor backward(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype, Backward kernel) {
  RG_CHECK(same_sizes(grad.get(), output.get()), "softmax_backward: the gradient has shape ", grad.sizes(), " and the output ",
           output.sizes());
  Tensor out = empty(output.sizes(), dtype, output.device());
  run_kernel(grad, 8, [&] { (kernels::softmax(grad->device).*kernel)(out.array(), grad.array(), output.array(), kernel_dim(dim, grad)); });
  return out;
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, OptDType dtype) {
  return forward(self, dim, dtype, &kernels::SoftmaxKernels::softmax, "softmax");
}
Tensor log_softmax(const Tensor& self, int64_t dim, OptDType dtype) {
  return forward(self, dim, dtype, &kernels::SoftmaxKernels::log_softmax, "log_softmax");
}

Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, DType input_dtype) {
  return backward(grad_output, output, dim, input_dtype, &kernels::SoftmaxKernels::softmax_backward);
}
Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, int64_t dim, DType input_dtype) {
  return backward(grad_output, output, dim, input_dtype, &kernels::SoftmaxKernels::log_softmax_backward);
}

}  // namespace retrograd::impl
