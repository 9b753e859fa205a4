// Softmax, log-softmax and their derivatives.
#include "kernels/softmax.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using K = kernels::SoftmaxKernels;
using Forward = decltype(&K::softmax);
using Backward = decltype(&K::softmax_backward);

Spec forward(const Tensor& self, int64_t dim, OptDType dtype, const char* name) {
  const DType result = dtype.value_or(self.dtype());
  const int d = kernel_dim(dim, self);
  if (RG_UNLIKELY(!is_floating(result) && self.numel() != 0)) {  // PyTorch notices only where there is work
    fail_not_implemented(str_cat(name, d + 1 >= self.dim() ? "_lastdim_kernel_impl" : "_kernel_impl"), result);
  }
  return Spec::of(self, result);
}

Spec backward(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype) {
  RG_CHECK(same_sizes(grad.get(), output.get()), "softmax_backward: the gradient has shape ", grad.sizes(), " and the output ",
           output.sizes());
  wrap_dim(dim, grad.dim());
  return Spec::of(output, dtype);
}

void run_forward(const Tensor& self, int64_t dim, Forward kernel, const Tensor& out) {
  run_kernel(self, 16, [&] { (kernels::softmax(self->device).*kernel)(out.array(), self.array(), kernel_dim(dim, self)); });
}

void run_backward(const Tensor& grad, const Tensor& output, int64_t dim, Backward kernel, const Tensor& out) {
  run_kernel(grad, 8, [&] { (kernels::softmax(grad->device).*kernel)(out.array(), grad.array(), output.array(), kernel_dim(dim, grad)); });
}

}  // namespace

namespace rule {

Spec softmax(const Tensor& self, int64_t dim, OptDType dtype) { return forward(self, dim, dtype, "softmax"); }
Spec log_softmax(const Tensor& self, int64_t dim, OptDType dtype) { return forward(self, dim, dtype, "log_softmax"); }
Spec _softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype) {
  return backward(grad, output, dim, dtype);
}
Spec _log_softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, DType dtype) {
  return backward(grad, output, dim, dtype);
}

}  // namespace rule

namespace compute {

void softmax(const Tensor& self, int64_t dim, OptDType, const Tensor& out) { run_forward(self, dim, &K::softmax, out); }
void log_softmax(const Tensor& self, int64_t dim, OptDType, const Tensor& out) { run_forward(self, dim, &K::log_softmax, out); }
void _softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, DType, const Tensor& out) {
  run_backward(grad, output, dim, &K::softmax_backward, out);
}
void _log_softmax_backward_data(const Tensor& grad, const Tensor& output, int64_t dim, DType, const Tensor& out) {
  run_backward(grad, output, dim, &K::log_softmax_backward, out);
}

}  // namespace compute
}  // namespace retrograd
