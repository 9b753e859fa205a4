// Average pooling, by steps and by sizes, and its transposes.
#include "native_pool.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/pool/pool.h"

namespace retrograd {
namespace {

using kernels::PoolCount;

constexpr const char* kAvgPool[] = {"", "", "avg_pool2d", "avg_pool3d"};

PoolNumbers avg_numbers(int64_t dims, IntSpan kernel, OptInts stride, IntSpan padding, bool ceil_mode) {
  const int64_t one = 1;
  return pool_numbers(kAvgPool[dims], dims, kernel, stride, padding, {&one, 1}, ceil_mode);
}
PoolCount count_of(bool count_include_pad, std::optional<int64_t> divisor) {
  return divisor ? PoolCount::Fixed : count_include_pad ? PoolCount::Padded : PoolCount::Inside;
}
void check_averaged(const char* kernel, DType dtype) {
  if (!is_floating(dtype) && dtype != DType::Int64) fail_not_implemented(kernel, dtype);
}

Spec avg_rule(int64_t dims, const Tensor& self, IntSpan kernel, OptInts stride, IntSpan padding, bool ceil_mode,
              std::optional<int64_t> divisor) {
  RG_CHECK(divisor != 0, "divisor must be not zero");
  const PoolSizes sizes = avg_pool_sizes(avg_numbers(dims, kernel, stride, padding, ceil_mode), self.sizes());
  check_averaged(dims == 2 ? "avg_pool2d" : "avg_pool3d_out_frame", self.dtype());
  const bool last = dims == 2 && !self.is_contiguous() && lies_channels_last(self.sizes(), self.strides(), dims);
  return pool_spec(sizes, self.dtype(), self->device, dims, last);
}

void run_mean(const Tensor& self, const PoolLayout& layout, const kernels::PoolShape& shape, PoolCount count, int64_t divisor,
              const Tensor& out) {
  const Tensor in = layout.read(self);
  const Launch launch(out, pool_ns(in, out));
  kernels::pool(out->device).mean(out.dtype(), shape, count, divisor, in->data, out->data);
}

void run_mean_backward(const Tensor& grad, const PoolLayout& layout, const kernels::PoolShape& shape, PoolCount count, int64_t divisor,
                       const Tensor& out) {
  const Tensor from = layout.read(grad);
  const Launch launch(out, pool_ns(out, from));
  kernels::pool(out->device).mean_backward(out.dtype(), shape, count, divisor, from->data, out->data);
}

void compute_avg(int64_t dims, const Tensor& self, IntSpan kernel, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                 std::optional<int64_t> divisor, const Tensor& out) {
  const PoolLayout layout(out, dims);
  run_mean(self, layout, layout.shape(self, out, avg_numbers(dims, kernel, stride, padding, ceil_mode)),
           count_of(count_include_pad, divisor), divisor.value_or(1), out);
}

Spec adaptive_rule(const char* op, int64_t dims, const Tensor& self, IntSpan output_size) {
  RG_CHECK(static_cast<int64_t>(output_size.size()) == dims, op, ": output_size must be ", dims);
  for (const int64_t size : output_size)
    RG_CHECK(size >= 0, op, ": elements of output_size must be greater than or equal to 0 but received ", output_size);
  RG_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, "(): Expected ", dims + 1, "D or ", dims + 2, "D tensor, but got ",
           self.sizes());
  for (int64_t d = self.dim() - dims - (dims == 3); d < self.dim(); ++d)  // images may have no channels, volumes may not
    RG_CHECK(self.size(d) > 0, op, "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", self.sizes(),
             " with dimension ", d, " being empty");
  if (!is_floating(self.dtype())) fail_not_implemented(dims == 2 ? "adaptive_avg_pool2d" : "adaptive_avg_pool3d_cpu", self.dtype());
  const bool last = dims == 2 && !self.is_contiguous() && lies_channels_last(self.sizes(), self.strides(), dims);
  return pool_spec(sized_pool(self.sizes(), output_size), self.dtype(), self->device, dims, last);
}

void compute_adaptive(int64_t dims, const Tensor& self, const Tensor& out) {
  const PoolLayout layout(out, dims);
  run_mean(self, layout, layout.shape(self, out), PoolCount::Inside, 1, out);
}

// A gradient fits the result of a pooling of `size`.
void check_gradient(const char* op, const Tensor& grad, IntSpan expected, int64_t dims) {
  RG_CHECK(dims == 2 || dims == 3, op, ": dims is 2 or 3, got ", dims);
  RG_CHECK(same_sizes(grad.sizes(), expected), op, ": expected a gradient of size ", expected, ", got ", grad.sizes());
  check_averaged(op, grad.dtype());
}

}  // namespace

namespace rule {

Spec avg_pool2d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool,
                std::optional<int64_t> divisor_override) {
  return avg_rule(2, self, kernel_size, stride, padding, ceil_mode, divisor_override);
}
Spec avg_pool3d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool,
                std::optional<int64_t> divisor_override) {
  return avg_rule(3, self, kernel_size, stride, padding, ceil_mode, divisor_override);
}
Spec _adaptive_avg_pool2d(const Tensor& self, IntSpan output_size) { return adaptive_rule("adaptive_avg_pool2d", 2, self, output_size); }
Spec _adaptive_avg_pool3d(const Tensor& self, IntSpan output_size) { return adaptive_rule("adaptive_avg_pool3d", 3, self, output_size); }

Spec _avg_pool_backward(const Tensor& grad, IntSpan input_size, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool,
                        std::optional<int64_t> divisor_override, int64_t dims, bool channels_last) {
  RG_CHECK(dims == 2 || dims == 3, "_avg_pool_backward: dims is 2 or 3, got ", dims);
  RG_CHECK(divisor_override != 0, "divisor must be not zero");
  const PoolSizes expected = avg_pool_sizes(avg_numbers(dims, kernel_size, stride, padding, ceil_mode), input_size);
  check_gradient("_avg_pool_backward", grad, expected, dims);
  return pool_spec(input_size, grad.dtype(), grad->device, dims, channels_last);
}
Spec _adaptive_avg_pool_backward(const Tensor& grad, IntSpan input_size, int64_t dims, bool channels_last) {
  const int64_t rank = static_cast<int64_t>(input_size.size());
  RG_CHECK(rank == grad.dim() && (rank == dims + 1 || rank == dims + 2), "_adaptive_avg_pool_backward: a gradient of size ", grad.sizes(),
           " does not fit an input of size ", input_size);
  check_gradient("_adaptive_avg_pool_backward", grad, sized_pool(input_size, grad.sizes().last(static_cast<size_t>(dims))), dims);
  return pool_spec(input_size, grad.dtype(), grad->device, dims, channels_last);
}

}  // namespace rule

namespace compute {

void avg_pool2d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor_override, const Tensor& out) {
  compute_avg(2, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out);
}
void avg_pool3d(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor_override, const Tensor& out) {
  compute_avg(3, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out);
}
void _adaptive_avg_pool2d(const Tensor& self, IntSpan, const Tensor& out) { compute_adaptive(2, self, out); }
void _adaptive_avg_pool3d(const Tensor& self, IntSpan, const Tensor& out) { compute_adaptive(3, self, out); }

void _avg_pool_backward(const Tensor& grad, IntSpan, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode,
                        bool count_include_pad, std::optional<int64_t> divisor_override, int64_t dims, bool, const Tensor& out) {
  const PoolLayout layout(out, dims);
  run_mean_backward(grad, layout, layout.shape(out, grad, avg_numbers(dims, kernel_size, stride, padding, ceil_mode)),
                    count_of(count_include_pad, divisor_override), divisor_override.value_or(1), out);
}
void _adaptive_avg_pool_backward(const Tensor& grad, IntSpan, int64_t dims, bool, const Tensor& out) {
  if (grad.numel() == 0) return fill_data(out, 0);
  const PoolLayout layout(out, dims);
  run_mean_backward(grad, layout, layout.shape(out, grad), PoolCount::Inside, 1, out);
}

}  // namespace compute

namespace derivatives {

Tensor avg_pool(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, bool ceil_mode, bool count_include_pad,
                std::optional<int64_t> divisor_override, int64_t dims) {
  return (dims == 2 ? ops::avg_pool2d : ops::avg_pool3d)(self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                                                         divisor_override);
}
Tensor adaptive_avg_pool(const Tensor& self, IntSpan grad_sizes, int64_t dims) {
  return (dims == 2 ? ops::_adaptive_avg_pool2d : ops::_adaptive_avg_pool3d)(self, grad_sizes.last(static_cast<size_t>(dims)));
}

}  // namespace derivatives
}  // namespace retrograd
