// as_strided and its derivative. Both read memory under two geometries: see _as_strided_transfer.
#include <algorithm>

#include "core/transfer.h"
#include "kernels/create.h"
#include "kernels/index.h"
#include "native_shape.h"
#include "ops.h"
#include "ops/lazy.h"
#include "ops/shape/shape.h"

namespace retrograd {

using namespace shape;

namespace {

// One past the last element that a geometry reaches from its offset; 0 when it is empty.
int64_t reach(IntSpan sizes, IntSpan strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    last += (sizes[d] - 1) * strides[d];
  }
  return last + 1;
}

// Whether two elements may share a place. Sorted by stride, each dimension must step over all that the smaller ones reach.
bool may_overlap(IntSpan sizes, IntSpan strides) {
  int order[kMaxDims];
  int n = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return false;
    if (sizes[d] == 1) continue;
    int at = n++;
    while (at > 0 && strides[static_cast<size_t>(order[at - 1])] > strides[d]) {
      order[at] = order[at - 1];
      --at;
    }
    order[at] = static_cast<int>(d);
  }
  int64_t last = 0;
  for (int i = 0; i < n; ++i) {
    const auto d = static_cast<size_t>(order[i]);
    if (strides[d] <= last) return true;
    last += (sizes[d] - 1) * strides[d];
  }
  return false;
}

// Adds `values` to the places of `memory` (1-d) that a geometry names.
void add_at(const Tensor& memory, IntSpan sizes, IntSpan strides, int64_t offset, const Tensor& values) {
  Tensor places = retrograd::empty(memory.sizes(), DType::Int64, memory->device);
  {
    const Launch launch(places, places.numel());
    kernels::create(places->device).count(places.array(), 0, 1);
  }
  const Tensor index = contiguous_data(alias_as(places, sizes, strides, offset));
  Answer<kernels::IndexError> unused(memory->device);  // every index is below memory.numel()
  const Launch launch(memory, 4 * values.numel());
  kernels::indexing(memory->device).put(memory.array(), index.array(), values.array(), true, unused.data());
}

}  // namespace

namespace impl {

Tensor as_strided(const Tensor& self, IntSpan size, IntSpan stride, std::optional<int64_t> storage_offset) {
  RG_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape");
  bool overflow = false;
  int64_t last = 0, numel = 1;
  for (size_t d = 0; d < size.size(); ++d) {
    RG_CHECK(stride[d] >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
    RG_CHECK(size[d] >= 0, "Storage size calculation overflowed with sizes=", size, " and strides=", stride);
    int64_t steps;
    overflow |= __builtin_mul_overflow(numel, size[d], &numel);
    overflow |= __builtin_mul_overflow(std::max<int64_t>(size[d] - 1, 0), stride[d], &steps) || __builtin_add_overflow(last, steps, &last);
  }
  const int64_t offset = storage_offset.value_or(self->offset()), item = itemsize(self.dtype());
  RG_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  int64_t need = 0;
  overflow |= __builtin_add_overflow(last, offset, &last) || __builtin_mul_overflow(last + 1, item, &need);
  RG_CHECK(!overflow, "Storage size calculation overflowed with sizes=", size, " and strides=", stride);
  RG_CHECK(numel == 0 || static_cast<size_t>(need) <= self->storage->nbytes, "setStorage: sizes ", size, ", strides ", stride,
           ", storage offset ", offset, ", and itemsize ", item, " requiring a storage size of ", need,
           " are out of bounds for storage of size ", self->storage->nbytes);
  return alias_as(self, size, stride, offset);
}

}  // namespace impl

namespace {

// Where two geometries lie in the least memory that holds both.
struct Common {
  int64_t offset, out_offset, extent;
  bool is_output;  // the second fills it: it is the memory of the result
  Common(IntSpan sizes, IntSpan stride, int64_t from, IntSpan out_size, IntSpan out_stride, int64_t out_from)
      : offset(from - std::min(from, out_from)), out_offset(out_from - std::min(from, out_from)) {
    const int64_t reached = reach(out_size, out_stride);
    extent = std::max(offset + reach(sizes, stride), out_offset + reached);
    is_output = out_offset == 0 && reached == extent && !may_overlap(out_size, out_stride);
  }
};

}  // namespace

namespace rule {

Spec _as_strided_transfer(const Tensor& self, IntSpan stride, int64_t offset, IntSpan out_size, IntSpan out_stride, int64_t out_offset,
                          bool) {
  RG_CHECK(static_cast<int64_t>(stride.size()) == self.dim() && out_size.size() == out_stride.size(),
           "_as_strided_transfer: expected a stride for every dimension");
  const auto negative = [](int64_t n) { return n < 0; };
  RG_CHECK(offset >= 0 && out_offset >= 0 && std::ranges::none_of(stride, negative) && std::ranges::none_of(out_size, negative) &&
               std::ranges::none_of(out_stride, negative),
           "_as_strided_transfer: sizes, strides and offsets cannot be negative");
  Spec spec(out_size, self.dtype(), self->device);
  if (Common(self.sizes(), stride, offset, out_size, out_stride, out_offset).is_output) spec.with_strides(out_stride);
  return spec;
}

Spec unfold_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, int64_t size, int64_t step) {
  Geometry windows(input_sizes);
  unfold(windows, dim, size, step);
  RG_CHECK(same_sizes(self.sizes(), windows.shape()), "unfold_backward: windows of size ", windows.shape(), " are expected, got ",
           self.sizes());
  return Spec(input_sizes, self.dtype(), self->device);
}

}  // namespace rule

namespace compute {

void _as_strided_transfer(const Tensor& self, IntSpan stride, int64_t offset, IntSpan out_size, IntSpan out_stride, int64_t out_offset,
                          bool to_input, const Tensor& out) {
  const IntSpan sizes = self.sizes();
  const Common common(sizes, stride, offset, out_size, out_stride, out_offset);
  const int64_t extent[] = {common.extent}, one[] = {1};
  const Tensor memory = common.is_output ? alias_as(out, extent, one, 0) : retrograd::empty(extent, self.dtype(), self.device());
  fill_data(memory, Scalar(0));
  if (self.numel() > 0) {
    if (may_overlap(sizes, stride)) {
      add_at(memory, sizes, stride, common.offset, self);
    } else {
      copy_data(alias_as(memory, sizes, stride, common.offset), self);
    }
  }
  // Several elements of the input of as_strided in one place share its gradient: whoever made it so (expand) will add them up again.
  const IntSpan input_sizes = to_input ? out_size : sizes, input_strides = to_input ? out_stride : stride;
  if (may_overlap(input_sizes, input_strides)) {
    RG_CHECK(is_differentiable(self.dtype()), "_as_strided_transfer: a sum of integers cannot be shared out");
    const DType real = real_dtype(self.dtype());
    Tensor count = retrograd::zeros(memory.sizes(), real, self.device());
    const Tensor shares = expand_data(scalar_tensor(1.0, real, self->device), input_sizes);
    add_at(count, input_sizes, input_strides, to_input ? common.out_offset : common.offset, shares);
    const Tensor numbers = is_complex(self.dtype()) ? real_pairs(memory) : memory;
    const int64_t parts = is_complex(self.dtype()) ? 2 : 1;
    const Launch launch(memory, common.extent * parts);
    kernels::indexing(memory->device).share_out(numbers->data, count->data, real, common.extent * parts, parts);
  }
  if (!common.is_output) copy_data(out, alias_as(memory, out_size, out_stride, common.out_offset));
}

void unfold_backward(const Tensor& self, IntSpan input_sizes, int64_t dim, int64_t size, int64_t step, const Tensor& out) {
  Geometry windows(out.get());
  unfold(windows, dim, size, step);
  _as_strided_transfer(self, windows.steps(), 0, input_sizes, out.strides(), 0, true, out);
}

}  // namespace compute
}  // namespace retrograd
