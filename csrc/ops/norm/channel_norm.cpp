// Batch and group normalisation.
#include "kernels/channel_norm.h"
#include "autograd/history.h"
#include "native_norm.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/nn/nn.h"

namespace retrograd {
namespace {

void* data_of(const Tensor& t) { return t ? t->data : nullptr; }
Tensor contiguous_or_none(const Tensor& t) { return t ? contiguous_data(t) : Tensor(); }

Spec spec_of(const Tensor& input) {
  if (RG_LIKELY(input.is_contiguous())) return Spec::of(input);
  Spec spec(input.sizes(), input.dtype(), input->device);
  spec.in_format(apparent_format(input.get()));
  return spec;
}
kernels::ChannelShape shape_of(const Tensor& input, MemoryFormat format) {
  const int64_t batch = input.size(0), channels = input.size(1);
  return {batch, channels, input.numel() / (batch * channels), format != MemoryFormat::Contiguous};
}

// Memory for a kernel to work in.
Tensor workspace(const Tensor& input, const kernels::ChannelShape& shape, int64_t groups) {
  const int64_t bytes = kernels::channel_norm(input->device).workspace(shape, groups);
  return empty(ints({(bytes + 7) / 8}), DType::Float64, input->device);
}

// The dtype of parameters and statistics: that of the input, or Float beside 16-bit floats, if the first that there are have it.
DType param_dtype(const Tensor& input, const Tensor& first, const Tensor& second) {
  const auto is_float = [](const Tensor& t) { return t && t.dtype() == DType::Float32; };
  return itemsize(input.dtype()) == 2 && (is_float(first) || is_float(second)) ? DType::Float32 : input.dtype();
}
void check_param_dtype(const Tensor& input, const Tensor& t, DType dtype, const char* op) {
  if (!t) return;
  check_same_device(input.get(), t.get(), op);
  if (t.dtype() == dtype) return;
  RG_CHECK(input.dtype() != DType::Float64, "mixed dtype (CPU): all inputs must share same datatype.");
  fail(ErrorKind::Runtime, "mixed dtype (CPU): expect parameter to have scalar type of Float");
}

// A running statistic as the kernel writes it, which goes back to where it belongs.
class Running {
 public:
  Running(const Tensor& t, bool written) : t_(t), held_(contiguous_or_none(t)), written_(written && t) {
    if (!written_) return;
    check_no_internal_overlap(t);
    check_side_write(t);
  }
  void* data() const { return data_of(held_); }
  void finish() const {
    if (!written_) return;
    if (!held_.is(t_)) copy_data(t_, held_);
    wrote_inplace(t_);
  }

 private:
  const Tensor& t_;
  Tensor held_;
  bool written_;
};

// What is asked of the arguments of a batch norm, be there elements or not.
void check_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                      bool training) {
  const int64_t channels = input.size(wrap_dim(1, input.dim()));
  const auto check = [&](const Tensor& t, const char* name) {
    if (t) RG_CHECK(t.numel() == channels, name, " should contain ", channels, " elements not ", t.numel());
  };
  const auto check_running = [&](const Tensor& t, const char* name) {
    RG_CHECK(t || training, name, " must be defined in evaluation mode");
    check(t, name);
  };
  if (training && bool(running_mean) != bool(running_var))
    fail(ErrorKind::Value, "running_mean and running_var must either both be None or neither be None");
  check_running(running_mean, "running_mean");
  check_running(running_var, "running_var");
  check(weight, "weight");
  check(bias, "bias");
  check_constant(running_mean, "native_batch_norm", "running_mean");
  check_constant(running_var, "native_batch_norm", "running_var");
}

void check_groups(const Tensor& input, int64_t channels, int64_t groups) {
  RG_CHECK(groups > 0, "Expected num groups to be greater than 0, got ", groups);
  RG_CHECK(channels % groups == 0, "Expected number of channels in input to be divisible by num_groups, but got input of shape ",
           input.sizes(), " and num_groups=", groups);
}

void check_backward(const char* op, const Tensor& grad, const Tensor& input, const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                    int64_t statistics) {
  wrap_dim(1, input.dim());
  if (!is_floating(input.dtype())) fail_not_implemented(op, input.dtype());
  RG_CHECK(same_sizes(grad.sizes(), input.sizes()), op, ": expected a gradient of shape ", input.sizes(), ", got ", grad.sizes());
  RG_CHECK(mean.numel() == statistics && rstd.numel() == statistics, op, ": expected ", statistics, " means and deviations, got ",
           mean.numel(), " and ", rstd.numel());
  RG_CHECK(!weight || weight.numel() == input.size(1), op, ": expected a weight for each of the ", input.size(1), " channels, got ",
           weight ? weight.numel() : 0);
  const DType dtype = param_dtype(input, mean, rstd);
  for (const Tensor* t : {&mean, &rstd, &weight})
    RG_CHECK(!*t || t->dtype() == dtype, op, ": expected parameters and statistics of one dtype, ", dtype_title(dtype));
  for (const Tensor* t : {&grad, &mean, &rstd, &weight})
    if (*t) check_same_device(input.get(), t->get(), op);
}
std::array<Spec, 3> backward_specs(const Tensor& input, DType dtype, bool needs_input, bool needs_weight, bool needs_bias) {
  const auto parameter = [&](bool wanted) { return wanted ? Spec(ints({input.size(1)}), dtype, input->device) : Spec(); };
  return {needs_input ? spec_of(input) : Spec(), parameter(needs_weight), parameter(needs_bias)};
}

}  // namespace

namespace rule {

std::array<Spec, 3> native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                                      const Tensor& running_var, bool training, double, double) {
  check_batch_norm(input, weight, bias, running_mean, running_var, training);
  RG_CHECK(input.numel() != 0, "input tensor must have at least one element, but got input_sizes = ", input.sizes());
  if (!is_floating(input.dtype())) fail_not_implemented("batch_norm", input.dtype());
  const bool has_params = weight || bias;
  const DType dtype = param_dtype(input, has_params ? weight : running_mean, has_params ? bias : running_var);
  check_param_dtype(input, weight, dtype, "batch_norm");
  check_param_dtype(input, bias, dtype, "batch_norm");
  for (const Tensor* t : {&running_mean, &running_var}) {
    if (has_params && dtype == input.dtype())
      RG_CHECK(!*t || t->dtype() == dtype, "expected scalar type ", dtype_title(dtype), " but found ", dtype_title(t->dtype()));
    check_param_dtype(input, *t, dtype, "batch_norm");
  }
  const Spec each(ints({input.size(1)}), dtype, input->device);
  return {spec_of(input), each, each};
}

std::array<Spec, 3> native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& mean,
                                               const Tensor& invstd, bool, bool needs_input, bool needs_weight, bool needs_bias) {
  check_backward("native_batch_norm_backward", grad_out, input, weight, mean, invstd, input.dim() > 1 ? input.size(1) : 0);
  return backward_specs(input, mean.dtype(), needs_input, needs_weight, needs_bias);
}

std::array<Spec, 3> native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C, int64_t HxW,
                                      int64_t group, double) {
  const int64_t channels = input.size(wrap_dim(1, input.dim()));
  check_groups(input, C, group);
  const auto check = [&](const Tensor& t, const char* name) {
    RG_CHECK(!t || (t.dim() == 1 && t.numel() == C), "Expected ", name,
             " to be a vector of size equal to the number of channels in input, but got ", name, " of shape ", t ? t.sizes() : IntSpan(),
             " and input of shape ", input.sizes());
  };
  check(weight, "weight");
  check(bias, "bias");
  RG_CHECK(input.size(0) == N && channels == C && input.numel() == N * C * HxW, "Expected X.numel() == N * C * HxW to be true, but got ",
           "an input of shape ", input.sizes(), " for N=", N, ", C=", C, ", HxW=", HxW);
  if (!is_floating(input.dtype())) fail_not_implemented("GroupNormKernelImpl", input.dtype());
  const DType dtype = param_dtype(input, weight, bias);
  check_param_dtype(input, weight, dtype, "group_norm");
  check_param_dtype(input, bias, dtype, "group_norm");
  const Spec each(ints({N, group}), dtype, input->device);
  return {spec_of(input), each, each};
}

std::array<Spec, 3> native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                               const Tensor& weight, int64_t group, bool needs_input, bool needs_weight, bool needs_bias) {
  wrap_dim(1, input.dim());
  check_groups(input, input.size(1), group);
  check_backward("native_group_norm_backward", grad_out, input, weight, mean, rstd, input.size(0) * group);
  return backward_specs(input, mean.dtype(), needs_input, needs_weight, needs_bias);
}

}  // namespace rule

namespace compute {

void native_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                       bool training, double momentum, double eps, const Tensor& output, const Tensor& save_mean,
                       const Tensor& save_invstd) {
  const MemoryFormat format = apparent_format(input.get());
  const kernels::ChannelShape shape = shape_of(input, format);
  const Tensor in = in_format(input, format), w = contiguous_or_none(weight), b = contiguous_or_none(bias);
  const Running mean(running_mean, training), var(running_var, training);
  const Tensor work = workspace(input, shape, 0);
  {
    const Launch launch(input, input.numel());
    kernels::channel_norm(input->device)
        .batch_norm(input.dtype(), save_mean.dtype(), shape, in->data, data_of(w), data_of(b), mean.data(), var.data(), training, momentum,
                    eps, output->data, save_mean->data, save_invstd->data, work->data);
  }
  mean.finish();
  var.finish();
}

void native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& weight, const Tensor& mean, const Tensor& invstd,
                                bool training, bool, bool, bool, const Tensor& grad_input, const Tensor& grad_weight,
                                const Tensor& grad_bias) {
  if (input.numel() == 0) {
    for (const Tensor* t : {&grad_weight, &grad_bias})
      if (*t) fill_data(*t, 0);
    return;
  }
  const MemoryFormat format = apparent_format(input.get());
  const kernels::ChannelShape shape = shape_of(input, format);
  const Tensor dy = in_format(cast_data(grad_out, input.dtype()), format), x = in_format(input, format), w = contiguous_or_none(weight),
               m = contiguous_data(mean), r = contiguous_data(invstd), work = workspace(input, shape, 0);
  const Launch launch(input, input.numel() * 2);
  kernels::channel_norm(input->device)
      .batch_norm_backward(input.dtype(), mean.dtype(), shape, dy->data, x->data, data_of(w), m->data, r->data, training,
                           data_of(grad_input), data_of(grad_weight), data_of(grad_bias), work->data);
}

void native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t, int64_t, int64_t, int64_t group, double eps,
                       const Tensor& output, const Tensor& mean, const Tensor& rstd) {
  if (input.numel() == 0) {  // groups of no elements
    fill_data(mean, 0);
    fill_data(rstd, std::numeric_limits<double>::quiet_NaN());
    return;
  }
  const MemoryFormat format = apparent_format(input.get());
  const kernels::ChannelShape shape = shape_of(input, format);
  const Tensor in = in_format(input, format), w = contiguous_or_none(weight), b = contiguous_or_none(bias),
               work = workspace(input, shape, group);
  const Launch launch(input, input.numel());
  kernels::channel_norm(input->device)
      .group_norm(input.dtype(), mean.dtype(), shape, group, in->data, data_of(w), data_of(b), eps, output->data, mean->data, rstd->data,
                  work->data);
}

void native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                                int64_t group, bool, bool, bool, const Tensor& grad_input, const Tensor& grad_weight,
                                const Tensor& grad_bias) {
  if (input.numel() == 0) {
    for (const Tensor* t : {&grad_weight, &grad_bias})
      if (*t) fill_data(*t, 0);
    return;
  }
  const MemoryFormat format = apparent_format(input.get());
  const kernels::ChannelShape shape = shape_of(input, format);
  const Tensor dy = in_format(cast_data(grad_out, input.dtype()), format), x = in_format(input, format), w = contiguous_or_none(weight),
               m = contiguous_data(mean), r = contiguous_data(rstd), work = workspace(input, shape, group);
  const Launch launch(input, input.numel() * 2);
  kernels::channel_norm(input->device)
      .group_norm_backward(input.dtype(), mean.dtype(), shape, group, dy->data, x->data, data_of(w), m->data, r->data, data_of(grad_input),
                           data_of(grad_weight), data_of(grad_bias), work->data);
}

}  // namespace compute

namespace composite {

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                  bool training, double momentum, double eps, bool) {
  if (RG_UNLIKELY(input.numel() == 0)) {  // no values, and no statistics; the parameters have gradients all the same
    check_batch_norm(input, weight, bias, running_mean, running_var, training);
    Tensor out = ops::clone(input);
    if (weight) out = out * ops::sum(weight, std::nullopt);
    if (bias) out = out + ops::sum(bias, std::nullopt);
    return out;
  }
  return std::get<0>(ops::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps, bool) {
  RG_CHECK_AS(Index, input.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  const int64_t channels = input.size(wrap_dim(1, input.dim()));
  int64_t plane = 1;
  for (int64_t d = 2; d < input.dim(); ++d) plane *= input.size(d);
  return std::get<0>(ops::native_group_norm(input, weight, bias, input.size(0), channels, plane, num_groups, eps));
}

// A batch norm in which every sample has channels of its own.
Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                     bool use_input_stats, double momentum, double eps, bool) {
  RG_CHECK(use_input_stats || (running_mean && running_var),
           "Expected running_mean and running_var to be defined when use_input_stats is false");
  RG_CHECK_AS(Index, input.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  const int64_t channels = input.size(wrap_dim(1, input.dim())), batch = input.size(0);
  const auto each = [&](const Tensor& t) { return t ? ops::repeat(t, ints({batch})) : Tensor(); };
  Shape flat;
  for (int64_t d = 0; d < input.dim(); ++d) flat.sizes[flat.ndim++] = d == 0 ? 1 : d == 1 ? batch * channels : input.size(d);
  const Tensor mean = each(running_mean), var = each(running_var);
  const Tensor out = ops::batch_norm(ops::view(ops::contiguous(input), IntSpan(flat)), each(weight), each(bias), mean, var, use_input_stats,
                                     momentum, eps, true);
  if (use_input_stats) {  // the running ones of a channel: the mean over samples
    const auto keep = [&](const Tensor& running, const Tensor& repeated) {
      if (running) ops::copy_(running, ops::mean_dim(ops::view(repeated, ints({batch, channels})), ints({0}), false, std::nullopt), false);
    };
    keep(running_mean, mean);
    keep(running_var, var);
  }
  return ops::view(out, input.sizes());
}

}  // namespace composite
}  // namespace retrograd
