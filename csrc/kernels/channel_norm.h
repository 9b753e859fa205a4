// Normalisation by channel (batch norm) and by groups of channels within a sample (group norm). 16-bit floats compute in float.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

// Elements [batch, channels, plane], or with channels_last [batch, plane, channels]; none of the sizes is 0.
struct ChannelShape {
  int64_t batch, channels, plane;
  bool channels_last;
  int64_t numel() const { return batch * channels * plane; }
};

// in, out and gradients have `dtype`; parameters and statistics `param_dtype`: the same, or Float32 beside 16-bit floats. Parameters, their
// gradients and the statistics of a batch norm have an element per channel, the statistics of a group norm one per sample and group.
// The same bits come out for every number of threads.
struct ChannelNormKernels {
  // Bytes that each of the kernels wants to work in, for `groups` per sample; a batch norm has none.
  Kernel<int64_t(const ChannelShape& shape, int64_t groups)> workspace;

  // out = (in - mean) * invstd * weight + bias. mean and invstd = 1 / sqrt(variance + eps) are those of the batch when training, which moves the
  // running ones towards them by momentum, and else the running ones. All of weight, bias, running_mean and running_var may be null.
  Kernel<void(DType dtype, DType param_dtype, const ChannelShape& shape, const void* in, const void* weight, const void* bias,
              void* running_mean, void* running_var, bool training, double momentum, double eps, void* out, void* mean, void* invstd,
              void* work)>
      batch_norm;
  // Any of the three results may be null: not wanted.
  Kernel<void(DType dtype, DType param_dtype, const ChannelShape& shape, const void* grad, const void* in, const void* weight,
              const void* mean, const void* invstd, bool training, void* grad_in, void* grad_weight, void* grad_bias, void* work)>
      batch_norm_backward;

  Kernel<void(DType dtype, DType param_dtype, const ChannelShape& shape, int64_t groups, const void* in, const void* weight,
              const void* bias, double eps, void* out, void* mean, void* rstd, void* work)>
      group_norm;
  Kernel<void(DType dtype, DType param_dtype, const ChannelShape& shape, int64_t groups, const void* grad, const void* in,
              const void* weight, const void* mean, const void* rstd, void* grad_in, void* grad_weight, void* grad_bias, void* work)>
      group_norm_backward;
};
RG_KERNEL_FAMILY(ChannelNormKernels, channel_norm)

}  // namespace retrograd::kernels
