// where and masked_fill: a condition of one dtype chooses between values of another, which the pointwise executor does not do.
#include "core/promote.h"
#include "core/transfer.h"
#include "kernels/select.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/overlap.h"
#include "ops/pointwise/checks.h"
#include "ops/util.h"

namespace retrograd {
namespace {

constexpr int kCost = 4;

// A value operand ready for the kernel: memory of the right dtype, strides of the broadcast shape.
struct Source {
  Tensor converted;
  alignas(16) char number[kMaxItemSize];
  int64_t strides[kMaxDims];

  void add(kernels::Operands& ops, const Operand& o, DType dtype, IntSpan shape, Device device) {
    if (!o.tensor) {
      o.scalar.store(dtype, number);
      for (size_t d = 0; d < shape.size(); ++d) strides[d] = 0;
      return ops.add_host(number, strides, itemsize(dtype));
    }
    if (o.tensor->dtype != dtype) converted = cast_data(Tensor::borrow(o.tensor), dtype);
    const TensorImpl* t = converted ? converted.get() : o.tensor;
    broadcast_strides(t, shape, strides);
    if (RG_UNLIKELY(t->device != device)) return ops.add_host(t->data, strides, itemsize(dtype));  // a CPU scalar
    ops.add(t->data, strides, itemsize(dtype));
  }
};

void select_into(const Tensor& out, const Tensor& condition, const Operand& a, const Operand& b) {
  if (out.numel() == 0 || is_meta(out)) return;
  const IntSpan shape = out.sizes();
  const DType dtype = out.dtype();
  const int64_t item = itemsize(dtype);
  int64_t mask_strides[kMaxDims];
  Source x, y;
  kernels::Operands ops;
  ops.ndim = static_cast<int>(shape.size());
  ops.sizes = shape.data();
  ops.add(out->data, out->strides(), item);
  broadcast_strides(condition.get(), shape, mask_strides);
  ops.add(condition->data, mask_strides, 1);
  x.add(ops, a, dtype, shape, out->device);
  y.add(ops, b, dtype, shape, out->device);
  const Launch launch(out, out.numel() * kCost / 8);
  kernels::select(out->device).select(ops, item);
}

// Laid out like the first operand of the full size whose memory has no gaps.
Tensor new_output(const Shape& shape, DType dtype, Device device, std::initializer_list<const TensorImpl*> operands) {
  for (const TensorImpl* t : operands) {
    if (!t || !same_sizes(t->shape(), shape)) continue;
    if (t->is_contiguous()) break;
    if (dense_and_nonoverlapping(t)) return empty_strided(shape, {t->strides(), t->ndim}, dtype, device);
  }
  return empty(shape, dtype, device);
}

bool is_flat(const TensorImpl* t, const TensorImpl* like) { return t->is_contiguous() && t->device.is_cpu() && same_sizes(t, like); }

// The common case, decided by a few loads: small, contiguous, of one size, the values of one dtype. Undefined when it is another.
Tensor where_flat(const TensorImpl* condition, const Operand& self, const Operand& other) {
  const TensorImpl *a = self.tensor, *b = other.tensor, *first = a ? a : b;
  if (!first || condition->dtype != DType::Bool || !is_flat(condition, first) || !is_flat(first, first) || first->numel * kCost >= 80'000)
    return {};
  const DType dtype = first->dtype;
  const int64_t item = itemsize(dtype);
  alignas(16) char value[kMaxItemSize];
  if (a && b) {
    if (b->dtype != dtype || !is_flat(b, first)) return {};
  } else {
    const Scalar& number = a ? other.scalar : self.scalar;
    if (dtype == DType::Bool || (number.is_float() && !is_differentiable(dtype)) || (number.is_complex() && !is_complex(dtype))) return {};
    number.store(dtype, value);
  }
  Tensor out = empty(first->shape(), dtype);
  if (out.numel() == 0) return out;
  static constexpr int64_t kOne[] = {1}, kZero[] = {0};
  kernels::Operands ops;
  ops.ndim = 1;
  ops.sizes = &out->numel;
  ops.add(out->data, kOne, item);
  ops.add(condition->data, kOne, 1);
  a ? ops.add(a->data, kOne, item) : ops.add_host(value, kZero, item);
  b ? ops.add(b->data, kOne, item) : ops.add_host(value, kZero, item);
  kernels::select(out->device).select(ops, item);
  return out;
}

// A CPU scalar goes with any device.
Device common_device(const Tensor& condition, const Operand& a, const Operand& b, const char* name) {
  const TensorImpl* first = condition.get();
  for (const TensorImpl* t : {a.tensor, b.tensor}) {
    if (!t || (t->ndim == 0 && t->device.is_cpu())) continue;
    if (first->ndim == 0 && first->device.is_cpu()) first = t;
    check_same_device(first, t, name);
  }
  return first->device;
}

void check_mask(const Tensor& mask) {
  RG_CHECK(mask.dtype() == DType::Bool, "masked_fill_ only supports boolean masks, but got mask with dtype ", cpp_type_name(mask.dtype()));
}

void check_fill_value(const Tensor& self, const Operand& value) {
  if (value.tensor) {
    RG_CHECK(value.tensor->ndim == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
             static_cast<int64_t>(value.tensor->ndim), " dimension(s).");
    if (RG_UNLIKELY(is_complex(value.tensor->dtype) && !is_complex(self.dtype()) && value.tensor->device.is_cpu())) {
      impl::check_representable(read_scalar(value.tensor), self.dtype());
    }
    return;
  }
  impl::check_representable(value.scalar, self.dtype());
}

void masked_fill_into(const Tensor& self, const Tensor& mask, const Operand& value) {
  check_mask(mask);
  check_fill_value(self, value);
  const Shape shape = broadcast_shapes(self.sizes(), mask.sizes());
  RG_CHECK(same_sizes(self.sizes(), shape), "output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntSpan(shape));
  warn_expanded_write(self, "masked_fill_");
  common_device(mask, self, value, "masked_fill_");
  select_into(self, mask, value, self);
}

}  // namespace

namespace impl {

Tensor where(const Tensor& condition, const Operand& self, const Operand& other) {
  if (Tensor fast = where_flat(condition.get(), self, other)) return fast;
  RG_CHECK(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8,
           "where expected condition to be a boolean tensor, but got a tensor with dtype ", dtype_title(condition.dtype()));
  Promotion promotion;
  Shape shape;
  promotion.add(self);
  promotion.add(other);
  broadcast_into(shape, condition.sizes());
  for (const Operand* o : {&self, &other})
    if (o->tensor) broadcast_into(shape, o->tensor->shape());
  Tensor out =
      new_output(shape, promotion.result(), common_device(condition, self, other, "where"), {condition.get(), self.tensor, other.tensor});
  select_into(out, condition, self, other);
  return out;
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  check_mask(mask);
  check_fill_value(self, value);
  if (Tensor fast = where_flat(mask.get(), value, self)) return fast;
  Tensor out = empty(broadcast_shapes(self.sizes(), mask.sizes()), self.dtype(), common_device(mask, self, value, "masked_fill"));
  select_into(out, mask, value, self);
  return out;
}
Tensor masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_mask(mask);
  check_fill_value(self, value);
  Tensor out = empty(broadcast_shapes(self.sizes(), mask.sizes()), self.dtype(), common_device(mask, self, value, "masked_fill"));
  select_into(out, mask, value, self);
  return out;
}
void masked_fill_inplace(const Tensor& self, const Tensor& mask, Scalar value) { masked_fill_into(self, mask, value); }
void masked_fill_tensor_inplace(const Tensor& self, const Tensor& mask, const Tensor& value) { masked_fill_into(self, mask, value); }

}  // namespace impl

namespace composite {

std::vector<Tensor> where_nonzero(const Tensor& condition) {
  return ops::unbind(ops::_nonzero(condition.dim() ? condition : ops::unsqueeze(condition, 0)), 1);
}
Tensor where_method(const Tensor& self, const Tensor& condition, const Operand& other) { return ops::where(condition, self, other); }

}  // namespace composite
}  // namespace retrograd
