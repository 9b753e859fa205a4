// where and masked_fill: a condition of one dtype chooses between values of another, which the pointwise executor does not do.
#include <bit>

#include "core/promote.h"
#include "core/transfer.h"
#include "kernels/select.h"
#include "native_pointwise.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/derivatives.h"
#include "ops/overlap.h"
#include "ops/pointwise/checks.h"

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

[[gnu::noinline]] void select_into(const Tensor& out, const Tensor& condition, const Operand& a, const Operand& b) {
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
Spec like_first(const Shape& shape, DType dtype, Device device, std::initializer_list<const TensorImpl*> operands) {
  Spec spec(shape, dtype, device);
  for (const TensorImpl* t : operands) {
    if (!t || !same_sizes(t->shape(), shape)) continue;
    if (t->is_contiguous()) break;
    if (!dense_and_nonoverlapping(t)) continue;
    spec.with_strides({t->strides(), t->ndim});
    break;
  }
  return spec;
}

// The common case, decided by a few loads: small, and all in one order. Numbers are stored as what the result is.
constexpr int64_t kFew = 80'000 / kCost;
inline bool is_flat(const TensorImpl* t, const TensorImpl* out) {
  return t->is_contiguous() && t->numel == out->numel && t->device == out->device;
}
inline bool is_flat(const Operand& o, const TensorImpl* out) {
  return !o.tensor || (o.tensor->dtype == out->dtype && is_flat(o.tensor, out));
}

void select(const Tensor& out, const Tensor& condition, const Operand& a, const Operand& b) {
  const TensorImpl* t = out.get();
  const kernels::Loop* loops = kernels::select(t->device).loops;
  if (!(loops && t->numel < kFew && t->is_contiguous() && is_flat(condition.get(), t) && is_flat(a, t) && is_flat(b, t)))
    return select_into(out, condition, a, b);
  const int64_t item = itemsize(t->dtype);
  alignas(16) char numbers[2][kMaxItemSize];
  const auto place = [&](const Operand& o, char* number) {
    if (o.tensor) return static_cast<char*>(o.tensor->data);
    o.scalar.store(t->dtype, number);
    return number;
  };
  char* const data[] = {static_cast<char*>(t->data), static_cast<char*>(condition->data), place(a, numbers[0]), place(b, numbers[1])};
  const int64_t steps[] = {item, 1, a.tensor ? item : 0, b.tensor ? item : 0};
  loops[std::countr_zero(static_cast<uint64_t>(item))](t->numel, data, steps, nullptr);
}

// Whether an operand is like `model`, contiguous and of its size: a tensor, or a number of no higher category.
inline bool is_like(const TensorImpl* t, const TensorImpl* model) {
  return t->is_contiguous() && t->device == model->device && same_sizes(t, model);
}
inline bool is_like(const Operand& o, const TensorImpl* model) {
  if (o.tensor) return o.tensor == model || (o.tensor->dtype == model->dtype && is_like(o.tensor, model));
  if (is_floating(model->dtype)) return !o.scalar.is_complex() && !(std::fabs(o.scalar.to_double()) > 1e38);
  if (is_complex(model->dtype)) return true;
  return model->dtype != DType::Bool && !o.scalar.is_float() && o.scalar.i >= -127 && o.scalar.i <= 127;
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
    if (value.tensor->dtype != self.dtype() && value.tensor->device.is_cpu())
      impl::check_representable(read_scalar(value.tensor), self.dtype());
    return;
  }
  impl::check_representable(value.scalar, self.dtype());
}

// Out of the ordinary, and so apart: the ordinary case needs no such frame.
[[gnu::noinline]] Spec chosen(const Tensor& condition, const Operand& self, const Operand& other) {
  RG_CHECK(condition.dtype() == DType::Bool || condition.dtype() == DType::UInt8,
           "where expected condition to be a boolean tensor, but got a tensor with dtype ", dtype_title(condition.dtype()));
  Promotion promotion;
  Shape shape;
  promotion.add(self);
  promotion.add(other);
  const DType dtype = promotion.result();
  broadcast_into(shape, condition.sizes());
  for (const Operand* o : {&self, &other}) {
    if (o->tensor)
      broadcast_into(shape, o->tensor->shape());
    else if (itemsize(dtype) != 2 || !is_floating(dtype))
      impl::check_representable(o->scalar, dtype);  // 16-bit ones take it for infinite
  }
  return like_first(shape, dtype, common_device(condition, self, other, "where"), {condition.get(), self.tensor, other.tensor});
}

// Whether a mask and what is filled are alike, so that there is nothing to broadcast or move.
bool are_alike(const Tensor& self, const Tensor& mask, const Operand& value) {
  return self->device == mask->device && same_sizes(self.get(), mask.get()) && (!value.tensor || value.tensor->device == self->device);
}

Spec filled(const Tensor& self, const Tensor& mask, const Operand& value) {
  check_mask(mask);
  check_fill_value(self, value);
  if (RG_LIKELY(are_alike(self, mask, value))) return Spec::of(self);
  return Spec(broadcast_shapes(mask.sizes(), self.sizes()), self.dtype(), common_device(mask, self, value, "masked_fill"));
}

void check_filled(const Tensor& self, const Tensor& mask, const Operand& value) {
  check_mask(mask);
  check_fill_value(self, value);
  warn_expanded_write(self, "masked_fill_");
  if (RG_LIKELY(are_alike(self, mask, value))) return;
  const Shape shape = broadcast_shapes(self.sizes(), mask.sizes());
  if (RG_UNLIKELY(!same_sizes(self.sizes(), shape))) fail_inplace_shape(self.sizes(), shape);
  common_device(mask, self, value, "masked_fill_");
}

}  // namespace

namespace rule {

Spec where(const Tensor& condition, const Operand& self, const Operand& other) {
  const TensorImpl* model = self.tensor ? self.tensor : other.tensor;
  const bool alike = model && model->is_contiguous() && condition.dtype() == DType::Bool && is_like(condition.get(), model) &&
                     is_like(self, model) && is_like(other, model);
  return alike ? Spec::of(model, model->dtype) : chosen(condition, self, other);
}

Spec masked_fill(const Tensor& self, const Tensor& mask, Scalar value) { return filled(self, mask, value); }
Spec masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value) { return filled(self, mask, value); }
void masked_fill_inplace(const Tensor& self, const Tensor& mask, Scalar value) { check_filled(self, mask, value); }
void masked_fill_tensor_inplace(const Tensor& self, const Tensor& mask, const Tensor& value) { check_filled(self, mask, value); }

}  // namespace rule

namespace compute {

void where(const Tensor& condition, const Operand& self, const Operand& other, const Tensor& out) { select(out, condition, self, other); }
void masked_fill(const Tensor& self, const Tensor& mask, Scalar value, const Tensor& out) { select(out, mask, value, self); }
void masked_fill_tensor(const Tensor& self, const Tensor& mask, const Tensor& value, const Tensor& out) { select(out, mask, value, self); }
void masked_fill_inplace(const Tensor& self, const Tensor& mask, Scalar value) { select(self, mask, value, self); }
void masked_fill_tensor_inplace(const Tensor& self, const Tensor& mask, const Tensor& value) { select(self, mask, value, self); }

}  // namespace compute

namespace composite {

std::vector<Tensor> where_nonzero(const Tensor& condition) {
  return ops::unbind(ops::_nonzero(condition.dim() ? condition : ops::unsqueeze(condition, 0)), 1);
}
Tensor where_method(const Tensor& self, const Tensor& condition, const Operand& other) { return ops::where(condition, self, other); }

}  // namespace composite
}  // namespace retrograd
