// Max pooling, by steps, by sizes and by chance, and what is made of the places it finds.
#include "native_pool.h"
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/pool/pool.h"

namespace retrograd {
namespace {

std::array<Spec, 2> with_places(const Tensor& self, IntSpan sizes, int64_t dims, bool channels_last) {
  return {pool_spec(sizes, self.dtype(), self->device, dims, channels_last),
          pool_spec(sizes, DType::Int64, self->device, dims, channels_last)};
}
bool lies_channels_last(const Tensor& t, int64_t dims) {
  return !t.is_contiguous() && retrograd::lies_channels_last(t.sizes(), t.strides(), dims);
}

constexpr const char* kMaxPool[] = {"", "", "max_pool2d", "max_pool3d"};

std::array<Spec, 2> max_rule(int64_t dims, const Tensor& self, IntSpan kernel, OptInts stride, IntSpan padding, IntSpan dilation,
                             bool ceil_mode) {
  const PoolNumbers n = pool_numbers(kMaxPool[dims], dims, kernel, stride, padding, dilation, ceil_mode);
  const PoolSizes sizes = max_pool_sizes(n, self.sizes());
  if (self.dtype() == DType::Bool || is_complex(self.dtype())) fail_not_implemented(kMaxPool[dims], self.dtype());
  return with_places(self, sizes, dims, lies_channels_last(self, dims));
}

void compute_max(const Tensor& self, const PoolLayout& layout, const kernels::PoolShape& shape, const Tensor& out, const Tensor& places) {
  const Tensor in = layout.read(self);
  const Launch launch(out, pool_ns(in, out));
  kernels::pool(out->device).max(out.dtype(), shape, in->data, out->data, places.data<int64_t>());
}

void compute_max(int64_t dims, const Tensor& self, IntSpan kernel, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode,
                 const Tensor& out, const Tensor& places) {
  const PoolLayout layout(out, dims);
  compute_max(self, layout, layout.shape(self, out, pool_numbers(kMaxPool[dims], dims, kernel, stride, padding, dilation, ceil_mode)), out,
              places);
}

// ---- adaptive ----

void check_adaptive(const char* op, int64_t dims, const Tensor& self) {
  RG_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, op, "(): Expected ", dims + 1, "D or ", dims + 2,
           "D tensor, but got: ", self.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d)
    RG_CHECK(self.size(d) > 0, op, "(): Expected input to have non-zero size for non-batch dimensions, but input has sizes ", self.sizes(),
             " with dimension ", d, " being empty");
}

std::array<Spec, 2> adaptive_rule(const char* op, int64_t dims, const Tensor& self, IntSpan output_size) {
  check_adaptive(op, dims, self);
  RG_CHECK(static_cast<int64_t>(output_size.size()) == dims, op, "(): internal error: output_size.size() must be ", dims, ", but got ",
           output_size);
  const PoolSizes sizes = sized_pool(self.sizes(), output_size);
  for (const int64_t size : IntSpan(sizes))
    RG_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", IntSpan(sizes));
  if (!is_floating(self.dtype())) fail_not_implemented(dims == 2 ? "adaptive_max_pool2d" : "adaptive_max_pool3d_cpu", self.dtype());
  return with_places(self, sizes, dims, dims == 2 && lies_channels_last(self, dims));
}

void compute_adaptive(int64_t dims, const Tensor& self, const Tensor& out, const Tensor& places) {
  const PoolLayout layout(out, dims);
  compute_max(self, layout, layout.shape(self, out), out, places);
}

// ---- fractional ----

struct Fractional {
  const char* op;     // in errors
  const char* label;  // of the function that does it
  int64_t dims;
};
constexpr Fractional kFractional2d = {"fractional_max_pool2d", "fractional_max_pool2d", 2};
constexpr Fractional kFractional3d = {"fractional_max_pool3d", "fractional_max_pool3d_out", 3};

void fractional_numbers(const Fractional& f, const char* name, IntSpan given, int64_t* out) {
  const bool one = given.size() == 1;
  RG_CHECK(one || static_cast<int64_t>(given.size()) == f.dims, f.op, ": ", name, " must either be a single Int or tuple of ",
           f.dims == 3 ? "three " : "", "Ints, but got ", given);
  for (int64_t d = 0; d < f.dims; ++d) out[d] = given[one ? 0 : static_cast<size_t>(d)];
}

std::array<Spec, 2> fractional_rule(const Fractional& f, const Tensor& self, IntSpan kernel_size, IntSpan output_size,
                                    const Tensor& samples) {
  int64_t kernel[3], out[3];
  const int64_t dims = f.dims;
  fractional_numbers(f, "kernel_size", kernel_size, kernel);
  fractional_numbers(f, "output_size", output_size, out);
  RG_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, f.label, "(): Expected ", dims + 1, "D or ", dims + 2,
           "D tensor, but got: ", self.sizes());
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d)
    RG_CHECK(self.size(d) > 0, f.label, "(): Expected input to have non-zero size for non-batch dimensions, but got", self.sizes(),
             " with dimension ", d, " being empty.");
  static constexpr const char* kAxes[] = {"time", "height", "width"};
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t size = self.size(self.dim() - dims + d);
    const char* axis = kAxes[3 - dims + d];
    RG_CHECK(kernel[d] > 0, f.label, "(): pool ", axis, " must be greater than zero, but got ", kernel[d]);
    RG_CHECK(kernel[d] <= size && out[d] + (dims == 3) <= size - kernel[d] + 1, f.label, "(): pool ", axis, " ", kernel[d],
             " too large relative to input ", axis, " ", size);
  }
  const PoolSizes sizes = sized_pool(self.sizes(), {out, static_cast<size_t>(dims)});
  for (const int64_t size : IntSpan(sizes))
    RG_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", IntSpan(sizes));
  if (!is_floating(self.dtype()))
    fail_not_implemented(dims == 2 ? "fractional_max_pool2d_out_frame" : "fractional_max_pool3d_out_frame", self.dtype());
  RG_CHECK(samples.dtype() == self.dtype(), "Expect _random_samples to have the same dtype as input");
  RG_CHECK(samples.dim() == 3, "Expect _random_samples to have 3 dimensions, got ", samples.dim());
  const int64_t batch = self.dim() == dims + 2 ? self.size(0) : 1;
  RG_CHECK(samples.size(0) >= batch, "Expect _random_samples.size(0) no less then input batch size.");
  RG_CHECK(samples.size(1) == self.size(self.dim() - dims - 1), "Expect _random_samples.size(1) equals to input channel size.");
  RG_CHECK(samples.size(2) == dims, "Expect _random_samples.size(2) equals to ", dims, "; got ", samples.size(2), ".");
  check_same_device(self.get(), samples.get(), f.op);
  return with_places(self, sizes, dims, false);
}

void compute_fractional(const Fractional& f, const Tensor& self, IntSpan kernel_size, const Tensor& samples, const Tensor& out,
                        const Tensor& places) {
  PoolNumbers n{f.dims, {}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, false};
  fractional_numbers(f, "kernel_size", kernel_size, n.kernel);
  const PoolLayout layout(out, f.dims);
  const Tensor in = layout.read(self), drawn = contiguous_data(samples);
  const kernels::PoolShape shape = layout.shape(in, out, n);
  const Launch launch(out, pool_ns(in, out));
  kernels::pool(out->device)
      .fractional_max(out.dtype(), shape, in->data, drawn->data, static_cast<int>(f.dims), f.dims == 2, out->data, places.data<int64_t>());
}

// ---- places ----

using IndexSlot = Answer<kernels::IndexError>;

// Dims that values of places have, beside the batch.
void check_places(const char* op, const Tensor& values, const Tensor& places, int64_t dims) {
  RG_CHECK(dims == 2 || dims == 3, op, ": dims is 2 or 3, got ", dims);
  RG_CHECK(places.dtype() == DType::Int64, op, ": indices are int64, got ", dtype_name(places.dtype()));
  RG_CHECK(values.dim() == dims + 1 || values.dim() == dims + 2, op, ": expected ", dims + 1, " or ", dims + 2, " dimensions, got ",
           values.sizes());
  if (!is_floating(values.dtype())) fail_not_implemented(op, values.dtype());
  check_same_device(values.get(), places.get(), op);
}

void run_put(const Tensor& values, const Tensor& indices, int64_t dims, bool assign, const Tensor& out, IndexSlot& bad) {
  if (values.numel() == 0) return fill_data(out, 0);
  const PoolLayout layout(out, dims);
  const Tensor from = layout.read(values), places = layout.read(indices);
  const kernels::PoolShape shape = layout.shape(out, from);
  const Launch launch(out, pool_ns(out, from));
  kernels::pool(out->device).put(out.dtype(), shape, from->data, places.data<int64_t>(), assign, out->data, bad.data());
}

void check_found(IndexSlot& bad) {
  RG_CHECK(bad.read().ok, "Found an invalid max index: ", bad.read().value, " (there are ", bad.read().size, " elements)");
}

// ---- unpooling ----

Spec unpool_rule(int64_t dims, const Tensor& self, const Tensor& indices, IntSpan output_size) {
  const char* op = dims == 2 ? "max_unpooling2d" : "max_unpooling3d";
  RG_CHECK(static_cast<int64_t>(output_size.size()) == dims, "There should be exactly ", dims == 2 ? "two" : "three", " elements (",
           dims == 2 ? "" : "depth, ", "height, width) in output_size, but got ", output_size.size(), " elements.");
  RG_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "Input to ", op, " should be a ", dims + 1, "d or ", dims + 2,
           "d Tensor, but got a tensor with ", self.dim(), " dimensions.");
  RG_CHECK(indices.dtype() == DType::Int64, "elements in indices should be type int64",
           dims == 2 ? " but got: " : "; got: ", dtype_title(indices.dtype()));
  RG_CHECK(same_sizes(self.sizes(), indices.sizes()), "Expected shape of indices to be same as that of the input tensor (", self.sizes(),
           ") but got indices tensor with shape: ", indices.sizes());
  for (const int64_t size : output_size)
    RG_CHECK(size >= 0, op, "(): output_size must contain non-negative spatial dimensions, but got output_size=", output_size);
  for (int64_t d = self.dim() - dims - 1; d < self.dim(); ++d)
    RG_CHECK(self.size(d) > 0, op, "_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, but got ",
             self.sizes(), " with dimension ", d, " being empty.");
  if (!is_floating(self.dtype())) fail_not_implemented(dims == 2 ? "max_unpool2d" : "max_unpool3d", self.dtype());
  check_same_device(self.get(), indices.get(), op);
  return pool_spec(sized_pool(self.sizes(), output_size), self.dtype(), self->device, dims, dims == 2 && lies_channels_last(self, dims));
}

void compute_unpool(int64_t dims, const Tensor& self, const Tensor& indices, const Tensor& out) {
  IndexSlot bad(out->device);
  run_put(self, indices, dims, true, out, bad);
  if (RG_LIKELY(bad.read().ok)) return;
  std::string size;
  for (int64_t d = out.dim() - dims; d < out.dim(); ++d) size += str_cat(size.empty() ? "" : "x", out.size(d));
  fail(ErrorKind::Runtime, "Found an invalid max index: ", bad.read().value, " (output volumes are of size ", size, ")");
}

}  // namespace

namespace rule {

std::array<Spec, 2> max_pool2d_with_indices(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation,
                                            bool ceil_mode) {
  return max_rule(2, self, kernel_size, stride, padding, dilation, ceil_mode);
}
std::array<Spec, 2> max_pool3d_with_indices(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation,
                                            bool ceil_mode) {
  return max_rule(3, self, kernel_size, stride, padding, dilation, ceil_mode);
}
std::array<Spec, 2> adaptive_max_pool2d(const Tensor& self, IntSpan output_size) {
  return adaptive_rule("adaptive_max_pool2d", 2, self, output_size);
}
std::array<Spec, 2> adaptive_max_pool3d(const Tensor& self, IntSpan output_size) {
  return adaptive_rule("adaptive_max_pool3d", 3, self, output_size);
}
std::array<Spec, 2> fractional_max_pool2d(const Tensor& self, IntSpan kernel_size, IntSpan output_size, const Tensor& random_samples) {
  return fractional_rule(kFractional2d, self, kernel_size, output_size, random_samples);
}
std::array<Spec, 2> fractional_max_pool3d(const Tensor& self, IntSpan kernel_size, IntSpan output_size, const Tensor& random_samples) {
  return fractional_rule(kFractional3d, self, kernel_size, output_size, random_samples);
}

Spec max_unpool2d(const Tensor& self, const Tensor& indices, IntSpan output_size) { return unpool_rule(2, self, indices, output_size); }
Spec max_unpool3d(const Tensor& self, const Tensor& indices, IntSpan output_size, IntSpan stride, IntSpan padding) {
  RG_CHECK(stride.size() == 3, "There should be exactly three elements (depth, height, width) in stride, but got: ", stride.size(),
           " elements.");
  RG_CHECK(padding.size() == 3, "There should be exactly three elements (depth, height, width) in padding, but got: ", padding.size(),
           " elements.");
  RG_CHECK(stride[0] > 0 && stride[1] > 0 && stride[2] > 0, "strides should be greater than zero, but got stride: ", stride);
  return unpool_rule(3, self, indices, output_size);
}

Spec _pool_take(const Tensor& self, const Tensor& indices, int64_t dims) {
  check_places("_pool_take", self, indices, dims);
  const int64_t before = self.dim() - dims;
  RG_CHECK(indices.dim() == self.dim() &&
               same_sizes(indices.sizes().first(static_cast<size_t>(before)), self.sizes().first(static_cast<size_t>(before))),
           "_pool_take: indices of size ", indices.sizes(), " do not fit a tensor of size ", self.sizes());
  return pool_spec(indices.sizes(), self.dtype(), self->device, dims, lies_channels_last(indices, dims));
}

Spec _pool_put(const Tensor& values, const Tensor& indices, IntSpan size, int64_t dims, bool channels_last) {
  check_places("_pool_put", values, indices, dims);
  const size_t before = static_cast<size_t>(values.dim() - dims);
  RG_CHECK(same_sizes(values.sizes(), indices.sizes()) && size.size() == values.sizes().size() &&
               same_sizes(size.first(before), values.sizes().first(before)),
           "_pool_put: values of size ", values.sizes(), " and indices of size ", indices.sizes(), " do not fit a result of size ", size);
  return pool_spec(size, values.dtype(), values->device, dims, channels_last);
}

}  // namespace rule

namespace compute {

void max_pool2d_with_indices(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode,
                             const Tensor& out, const Tensor& places) {
  compute_max(2, self, kernel_size, stride, padding, dilation, ceil_mode, out, places);
}
void max_pool3d_with_indices(const Tensor& self, IntSpan kernel_size, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode,
                             const Tensor& out, const Tensor& places) {
  compute_max(3, self, kernel_size, stride, padding, dilation, ceil_mode, out, places);
}
void adaptive_max_pool2d(const Tensor& self, IntSpan, const Tensor& out, const Tensor& places) { compute_adaptive(2, self, out, places); }
void adaptive_max_pool3d(const Tensor& self, IntSpan, const Tensor& out, const Tensor& places) { compute_adaptive(3, self, out, places); }
void fractional_max_pool2d(const Tensor& self, IntSpan kernel_size, IntSpan, const Tensor& random_samples, const Tensor& out,
                           const Tensor& places) {
  compute_fractional(kFractional2d, self, kernel_size, random_samples, out, places);
}
void fractional_max_pool3d(const Tensor& self, IntSpan kernel_size, IntSpan, const Tensor& random_samples, const Tensor& out,
                           const Tensor& places) {
  compute_fractional(kFractional3d, self, kernel_size, random_samples, out, places);
}
void max_unpool2d(const Tensor& self, const Tensor& indices, IntSpan, const Tensor& out) { compute_unpool(2, self, indices, out); }
void max_unpool3d(const Tensor& self, const Tensor& indices, IntSpan, IntSpan, IntSpan, const Tensor& out) {
  compute_unpool(3, self, indices, out);
}

void _pool_take(const Tensor& self, const Tensor& indices, int64_t dims, const Tensor& out) {
  IndexSlot bad(out->device);
  if (self.numel() == 0) return fill_data(out, 0);
  {
    const PoolLayout layout(out, dims);
    const Tensor from = layout.read(self), places = layout.read(indices);
    const kernels::PoolShape shape = layout.shape(from, out);
    const Launch launch(out, out.numel());
    kernels::pool(out->device).take(out.dtype(), shape, from->data, places.data<int64_t>(), out->data, bad.data());
  }
  check_found(bad);
}

void _pool_put(const Tensor& values, const Tensor& indices, IntSpan, int64_t dims, bool, const Tensor& out) {
  IndexSlot bad(out->device);
  run_put(values, indices, dims, false, out, bad);
  check_found(bad);
}

}  // namespace compute
}  // namespace retrograd
