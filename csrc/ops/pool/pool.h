// What the shape rules of pooling and their kernel calls share.
#pragma once

#include <optional>

#include "core/format.h"
#include "core/spec.h"
#include "kernels/pool.h"

namespace retrograd {

// The numbers of a pooling, one for each of its 1 to 3 dimensions, checked but for what depends on the input.
struct PoolNumbers {
  int64_t dims;
  int64_t kernel[3], stride[3], padding[3], dilation[3];
  bool ceil_mode;
};
// `op` is the name in errors, max_pool2d or so.
PoolNumbers pool_numbers(const char* op, int64_t dims, IntSpan kernel, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode);

// The sizes of results of a tensor of some size: that of the last dims is what pool_numbers leave of it. `op` as above.
struct PoolSizes {
  int64_t sizes[5];
  size_t count;
  operator IntSpan() const { return {sizes, count}; }
};
PoolSizes max_pool_sizes(const PoolNumbers& n, IntSpan input);
PoolSizes avg_pool_sizes(const PoolNumbers& n, IntSpan input);
// The same with the sizes given for the last dims.
PoolSizes sized_pool(IntSpan input, IntSpan output_size);

// Tensors as [N, C, ...] where they may have no batch: an alias.
Tensor with_batch(const Tensor& t, int64_t dims);
// Whether the last of these strides are those of channels_last, of an input of `dims` dimensions beside channels and perhaps a batch.
bool lies_channels_last(IntSpan sizes, IntSpan strides, int64_t dims);
Spec pool_spec(IntSpan sizes, DType dtype, Device device, int64_t dims, bool channels_last);

// Both sides of a pooling in memory: the tensor that a kernel writes decides how all lie.
struct PoolLayout {
  int64_t dims;
  bool channels_last;
  PoolLayout(const Tensor& written, int64_t dims_) : dims(dims_), channels_last(!with_batch(written, dims_).is_contiguous()) {}
  Tensor read(const Tensor& t) const;                                   // in the same layout
  kernels::PoolShape shape(const Tensor& in, const Tensor& out) const;  // with the windows of an adaptive pooling
  kernels::PoolShape shape(const Tensor& in, const Tensor& out, const PoolNumbers& n) const;

 private:
  kernels::PoolShape sizes(const Tensor& in, const Tensor& out) const;
};

// Nanoseconds that a pooling takes.
inline int64_t pool_ns(const Tensor& in, const Tensor& out) { return in.numel() + out.numel(); }

}  // namespace retrograd
