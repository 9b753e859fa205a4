// Filled tensors: zeros, ones, full, empty, and their _like and new_ forms.
#include "ops/create/create.h"

#include "autograd/doctor.h"
#include "core/promote.h"
#include "native_create.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/pointwise/checks.h"

namespace retrograd {

void check_device(Device device) {
  RG_CHECK_AS(Assertion, device.type != DeviceType::CUDA,
              "Torch not compiled with CUDA enabled\n  Hint: there is the cpu alone: device='cpu', or device = 'cuda' if "
              "torch.cuda.is_available() else 'cpu'.");
}

Device creation_device(std::optional<Device> device, Device fallback, std::optional<Layout> layout, std::optional<bool> pin_memory) {
  const Device where = device.value_or(fallback);
  if (RG_UNLIKELY(!where.is_cpu())) check_device(where);
  RG_CHECK(!layout || *layout == Layout::Strided, "only the strided layout is supported, got torch.", layout_name(*layout));
  RG_CHECK(!pin_memory.value_or(false), "pin_memory=True requires a CUDA or other accelerator backend; there is none here.");
  return where;
}

void require_grad(const Tensor& t) {
  RG_CHECK(is_differentiable(t.dtype()), "Only Tensors of floating point and complex dtype can require gradients\n  this one is of ",
           dtype_name(t.dtype()), ": make it of floats, for example with 1.0 for 1 or dtype=torch.float32");
  note_leaf(t.get());
  t->flags |= kRequiresGrad;
}

void check_fill_value(const Scalar& value, DType dtype) { impl::check_representable(value, dtype); }

namespace rule {
namespace {

using Format = std::optional<MemoryFormat>;

DType fill_dtype(const Scalar& value) {
  if (value.is_complex()) return complex_dtype(default_dtype());
  return value.is_float() ? default_dtype() : value.is_bool() ? DType::Bool : DType::Int64;
}

Spec sized(IntSpan size, DType dtype, const Options& options, Device fallback = {}) {
  return Spec(size, dtype, creation_device(options, fallback));
}

Spec strided(IntSpan size, IntSpan stride, DType dtype, const Options& options, Device fallback = {}) {
  RG_CHECK(size.size() == stride.size(), "dimensionality of sizes (", size.size(), ") must match dimensionality of strides (",
           stride.size(), ")");
  Spec spec = sized(size, dtype, options, fallback);
  spec.with_strides(stride);
  return spec;
}

Spec like(const Tensor& self, const Options& options, Format format) {
  Spec spec = Spec::like(self, options.dtype.value_or(self.dtype()), format.value_or(MemoryFormat::Preserve));
  spec.on(creation_device(options, self.device()));
  return spec;
}

Spec new_sized(const Tensor& self, IntSpan size, const Options& options) {
  return sized(size, options.dtype.value_or(self.dtype()), options, self.device());
}

}  // namespace

Spec ones(IntSpan size, const Options& options) { return sized(size, options.dtype.value_or(default_dtype()), options); }
Spec zeros(IntSpan size, const Options& options) {
  for (const int64_t n : size) RG_CHECK(n >= 0, "zeros: Dimension size must be non-negative.\n  Got ", size);
  return ones(size, options);
}

Spec full(IntSpan size, Scalar fill_value, const Options& options) {
  const DType dtype = options.dtype.value_or(fill_dtype(fill_value));
  check_fill_value(fill_value, dtype);
  return sized(size, dtype, options);
}

Spec scalar_tensor(Scalar s, const Options& options) {
  const DType dtype = options.dtype.value_or(default_dtype());
  check_fill_value(s, dtype);
  return sized({}, dtype, options);
}

Spec empty(IntSpan size, const Options& options, Format memory_format) {
  Spec spec = ones(size, options);
  if (RG_LIKELY(!memory_format)) return spec;
  RG_CHECK(*memory_format != MemoryFormat::Preserve, "preserve_format needs a tensor to take the format from: use empty_like");
  spec.in_format(*memory_format);
  return spec;
}

Spec empty_strided(IntSpan size, IntSpan stride, const Options& options) {
  return strided(size, stride, options.dtype.value_or(default_dtype()), options);
}

Spec empty_permuted(IntSpan size, IntSpan physical_layout, const Options& options) {
  const auto n = static_cast<int64_t>(size.size());
  RG_CHECK(physical_layout.size() == size.size(),
           "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = ", n,
           " is not equal to len(physical_layout) = ", physical_layout.size());
  checked_numel(size);
  int64_t strides[kMaxDims];
  uint64_t seen = 0;
  int64_t step = 1;
  for (size_t i = size.size(); i-- > 0;) {
    const int64_t d = physical_layout[i];
    RG_CHECK(d >= 0 && d < n, "Dimension out of range (expected to be between 0 and ", n - 1, ", but got ", d, " at index ", i,
             "). NB: negative dims not currently supported; file an issue if you want it.");
    RG_CHECK(!(seen >> d & 1), "Duplicate dim not allowed");
    seen |= uint64_t{1} << d;
    strides[d] = step;
    step *= std::max<int64_t>(size[static_cast<size_t>(d)], 1);
  }
  return strided(size, {strides, size.size()}, options.dtype.value_or(default_dtype()), options);
}

// ---- like ----

Spec zeros_like(const Tensor& self, const Options& options, Format memory_format) { return like(self, options, memory_format); }
Spec ones_like(const Tensor& self, const Options& options, Format memory_format) { return like(self, options, memory_format); }
Spec empty_like(const Tensor& self, const Options& options, Format memory_format) { return like(self, options, memory_format); }
Spec full_like(const Tensor& self, Scalar fill_value, const Options& options, Format memory_format) {
  check_fill_value(fill_value, options.dtype.value_or(self.dtype()));
  return like(self, options, memory_format);
}

// ---- new_ ----

Spec new_zeros(const Tensor& self, IntSpan size, const Options& options) { return new_sized(self, size, options); }
Spec new_ones(const Tensor& self, IntSpan size, const Options& options) { return new_sized(self, size, options); }
Spec new_empty(const Tensor& self, IntSpan size, const Options& options) { return new_sized(self, size, options); }
Spec new_full(const Tensor& self, IntSpan size, Scalar fill_value, const Options& options) {
  check_fill_value(fill_value, options.dtype.value_or(self.dtype()));
  return new_sized(self, size, options);
}
Spec new_empty_strided(const Tensor& self, IntSpan size, IntSpan stride, const Options& options) {
  return strided(size, stride, options.dtype.value_or(self.dtype()), options, self.device());
}

}  // namespace rule

namespace compute {

void zeros(IntSpan, const Tensor& out) { fill_data(out, Scalar(0)); }
void zeros_like(const Tensor&, std::optional<MemoryFormat>, const Tensor& out) { fill_data(out, Scalar(0)); }
void new_zeros(const Tensor&, IntSpan, const Tensor& out) { fill_data(out, Scalar(0)); }
void ones(IntSpan, const Tensor& out) { fill_data(out, Scalar(1)); }
void ones_like(const Tensor&, std::optional<MemoryFormat>, const Tensor& out) { fill_data(out, Scalar(1)); }
void new_ones(const Tensor&, IntSpan, const Tensor& out) { fill_data(out, Scalar(1)); }
void full(IntSpan, Scalar fill_value, const Tensor& out) { fill_data(out, fill_value); }
void full_like(const Tensor&, Scalar fill_value, std::optional<MemoryFormat>, const Tensor& out) { fill_data(out, fill_value); }
void new_full(const Tensor&, IntSpan, Scalar fill_value, const Tensor& out) { fill_data(out, fill_value); }
void scalar_tensor(Scalar s, const Tensor& out) { fill_data(out, s); }

}  // namespace compute
}  // namespace retrograd
