// where and masked_fill: a condition of one dtype chooses between values of another, which the pointwise executor does not do.
#include "core/promote.h"
#include "cpu/select.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/overlap.h"
#include "ops/util.h"

namespace retrograd {
namespace {

constexpr int kCost = 4;

// A value operand ready for the kernel: memory of the right dtype, strides of the broadcast shape.
struct Source {
  Tensor converted;
  alignas(8) char number[8];
  int64_t strides[kMaxDims];

  void* prepare(const Operand& o, DType dtype, IntSpan shape) {
    if (!o.tensor) {
      o.scalar.store(dtype, number);
      for (size_t d = 0; d < shape.size(); ++d) strides[d] = 0;
      return number;
    }
    if (o.tensor->dtype != dtype) converted = cast_data(Tensor::borrow(o.tensor), dtype);
    const TensorImpl* t = converted ? converted.get() : o.tensor;
    broadcast_strides(t, shape, strides);
    return t->data;
  }
};

void select_into(const Tensor& out, const Tensor& condition, const Operand& a, const Operand& b) {
  if (out.numel() == 0 || is_meta(out)) return;
  const IntSpan shape = out.sizes();
  const DType dtype = out.dtype();
  const int64_t item = itemsize(dtype);
  int64_t mask_strides[kMaxDims];
  Source x, y;
  cpu::Operands ops;
  ops.ndim = static_cast<int>(shape.size());
  ops.sizes = shape.data();
  ops.add(out->data, out->strides(), item);
  broadcast_strides(condition.get(), shape, mask_strides);
  ops.add(condition->data, mask_strides, 1);
  ops.add(x.prepare(a, dtype, shape), x.strides, item);
  ops.add(y.prepare(b, dtype, shape), y.strides, item);
  GilRelease release(out.numel() * kCost / 8);
  cpu::iterate(ops, cpu::select_loop(item), nullptr, kCost);
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
  RG_CHECK(mask.dtype() == DType::Bool, "masked_fill_ only supports boolean masks, but got mask with dtype ", dtype_name(mask.dtype()));
}

void check_fill_value(const Tensor& self, const Operand& value) {
  if (value.tensor) {
    RG_CHECK(value.tensor->ndim == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ", static_cast<int64_t>(value.tensor->ndim), " dimension(s).");
    RG_CHECK(can_cast(value.tensor->dtype, self.dtype()), "value cannot be converted to type ", dtype_name(self.dtype()), " without overflow");
    return;
  }
  const Scalar& s = value.scalar;
  bool fits = true;
  switch (self.dtype()) {
    case DType::UInt8: fits = s.to_double() >= -255 && s.to_double() <= 255; break;
    case DType::Int8: fits = s.to_double() >= -128 && s.to_double() <= 127; break;
    case DType::Int16: fits = s.to_double() >= -32768 && s.to_double() <= 32767; break;
    case DType::Int32: fits = s.to_double() >= -2147483648.0 && s.to_double() <= 2147483647.0; break;
    case DType::Int64: fits = !s.is_float() || (s.d >= -9223372036854775808.0 && s.d < 9223372036854775808.0); break;
    default: break;
  }
  RG_CHECK(fits, "value cannot be converted to type ", dtype_name(self.dtype()), " without overflow");
}

void masked_fill_into(const Tensor& self, const Tensor& mask, const Operand& value) {
  check_mask(mask);
  check_fill_value(self, value);
  const Shape shape = broadcast_shapes(self.sizes(), mask.sizes());
  RG_CHECK(same_sizes(self.sizes(), shape), "output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntSpan(shape));
  check_no_internal_overlap(self);
  common_device(mask, self, value, "masked_fill_");
  select_into(self, mask, value, self);
}

}  // namespace

namespace impl {

Tensor where(const Tensor& condition, const Operand& self, const Operand& other) {
  RG_CHECK(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8, "where expected condition to be a boolean tensor, but got a tensor with dtype ",
           dtype_title(condition.dtype()));
  Promotion promotion;
  Shape shape;
  promotion.add(self);
  promotion.add(other);
  broadcast_into(shape, condition.sizes());
  for (const Operand* o : {&self, &other})
    if (o->tensor) broadcast_into(shape, o->tensor->shape());
  Tensor out = empty(shape, promotion.result(), common_device(condition, self, other, "where"));
  select_into(out, condition, self, other);
  return out;
}

Tensor masked_fill(const Tensor& self, const Tensor& mask, Scalar value) {
  check_mask(mask);
  check_fill_value(self, value);
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

Tensor where_method(const Tensor& self, const Tensor& condition, const Operand& other) { return ops::where(condition, self, other); }

}  // namespace composite
}  // namespace retrograd
