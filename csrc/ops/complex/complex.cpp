// Complex numbers: the parts of tensors, their conjugates, and the views between complex and real ones.
#include "autograd/history.h"
#include "core/promote.h"
#include "native_complex.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/derivatives.h"
#include "ops/lazy.h"

namespace retrograd {
namespace {

Spec of_parts(const Tensor& re, const Tensor& im, const char* op) {
  const auto takes = [](DType t) { return t == DType::Float16 || t == DType::Float32 || t == DType::Float64; };
  RG_CHECK(takes(re.dtype()) && takes(im.dtype()), "Expected both inputs to be Half, Float or Double tensors but got ",
           dtype_title(re.dtype()), " and ", dtype_title(im.dtype()));
  RG_CHECK(re.dtype() == im.dtype(), "Expected object of scalar type ", dtype_title(re.dtype()), " but got scalar type ",
           dtype_title(im.dtype()), " for second argument");
  RG_CHECK(re.dtype() != DType::Float16, op, ": there is no complex dtype of two halves; convert the inputs to float32 first");
  check_same_device(re.get(), im.get(), op);
  const Operand parts[] = {re, im};
  return broadcast_spec(parts, complex_dtype(re.dtype()), op);
}

}  // namespace

namespace impl {

Tensor _conj(const Tensor& self) {
  Tensor view = alias(self);
  view->flags ^= kConj;
  return view;
}

Tensor _neg_view(const Tensor& self) {
  Tensor view = alias(self);
  view->flags ^= kNeg;
  return view;
}

Tensor view_as_real(const Tensor& self) {
  RG_CHECK(is_complex(self.dtype()), "view_as_real is only supported for complex tensors");
  RG_CHECK(!self->has(kConj),
           "view_as_real doesn't work on unresolved conjugated tensors. Their conjugation has not been carried out in memory yet: use "
           "view_as_real(self.resolve_conj())");
  Tensor view = real_pairs(self);
  view->flags |= self->flags & kNeg;
  return view;
}

Tensor view_as_complex(const Tensor& self) {
  RG_CHECK(
      is_floating(self.dtype()) && self.dtype() != DType::BFloat16,
      "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ", dtype_title(self.dtype()));
  RG_CHECK(self.dtype() != DType::Float16, "view_as_complex: there is no complex dtype of two halves; convert the tensor to float32 first");
  RG_CHECK(self.dim() > 0, "Input tensor must have one or more dimensions");
  RG_CHECK(self.size(-1) == 2, "Tensor must have a last dimension of size 2");
  RG_CHECK(self.stride(-1) == 1 || self.numel() == 0, "Tensor must have a last dimension with stride 1");
  const size_t n = static_cast<size_t>(self.dim()) - 1;
  int64_t strides[kMaxDims];
  for (size_t d = 0; d < n; ++d) {
    RG_CHECK(self.strides()[d] % 2 == 0 || self.numel() == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    strides[d] = self.strides()[d] / 2;
  }
  RG_CHECK(self->offset() % 2 == 0 || self.numel() == 0, "Tensor must have a storage_offset divisible by 2");
  Tensor view = alias(self);
  view->dtype = complex_dtype(self.dtype());
  if (self->offset() % 2) view->data = view->storage->data;  // of nothing, which may be anywhere
  set_geometry(view.get(), self.sizes().first(n), {strides, n});
  return view;
}

Tensor angle(const Tensor& self) { return is_differentiable(self.dtype()) ? _angle(self) : _angle(cast_data(self, default_dtype())); }

}  // namespace impl

namespace rule {

Spec _conj_physical(const Tensor& self) { return Spec::like(self); }
void conj_physical_inplace(const Tensor&) {}
Spec complex(const Tensor& real, const Tensor& imag) { return of_parts(real, imag, "complex"); }
Spec polar(const Tensor& abs, const Tensor& angle) { return of_parts(abs, angle, "polar"); }

}  // namespace rule

namespace compute {

void _conj_physical(const Tensor& self, const Tensor& out) { copy_data(out, impl::_conj(self)); }
void conj_physical_inplace(const Tensor& self) { turn_memory(self, kConj); }

void complex(const Tensor& real, const Tensor& imag, const Tensor& out) {
  copy_data(real_part(out), real);
  copy_data(imag_part(out), imag);
}
void polar(const Tensor& abs, const Tensor& angle, const Tensor& out) {
  complex(abs, angle, out);
  impl::_polar_out(out, out);
}

}  // namespace compute

namespace composite {

Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj(self) : self; }
Tensor conj_physical(const Tensor& self) { return is_complex(self.dtype()) ? ops::_conj_physical(self) : self; }
void conj_physical_(const Tensor& self) { ops::_conj_physical_(self); }
Tensor resolve_conj(const Tensor& self) { return self->has(kConj) ? ops::clone(self) : self; }
Tensor resolve_neg(const Tensor& self) { return self->has(kNeg) ? ops::clone(self) : self; }

Tensor real(const Tensor& self) {
  if (!is_complex(self.dtype())) return self;
  return ops::select(ops::view_as_real(self->has(kConj) ? ops::_conj(self) : self), -1, 0);
}
Tensor imag(const Tensor& self) {
  RG_CHECK(is_complex(self.dtype()), "imag is not implemented for tensors with non-complex dtypes.");
  if (self->has(kConj)) return ops::select(ops::_neg_view(ops::view_as_real(ops::_conj(self))), -1, 1);
  return ops::select(ops::view_as_real(self), -1, 1);
}

}  // namespace composite

namespace derivatives {

// Re(conj(direction) t): how fast a real function moves whose gradient is `direction`.
Tensor along(const Tensor& t, const Tensor& direction) {
  return is_complex(direction.dtype()) ? ops::real(t * ops::conj(direction)) : t * direction;
}

Tensor sgn_backward(const Tensor& grad, const Tensor& self, const Tensor& result) {
  if (!is_complex(self.dtype())) return zero_gradient(grad);
  const Tensor size = ops::abs(self);
  const Tensor radial = result * ops::real(grad * ops::conj(result));
  return ops::masked_fill((grad - radial) / size, ops::eq(size, 0), Scalar(0));
}

Tensor angle_backward(const Tensor& grad, const Tensor& self) {
  if (!is_complex(self.dtype())) return zero_gradient(grad);
  const Tensor size = ops::abs(self);
  return ops::masked_fill(quarter_turn(self) * (grad / (size * size)), ops::eq(size, 0), Scalar(0));
}

Tensor convert_back(const Tensor& grad, DType dtype, Device device) {
  return ops::_to_copy(is_complex(dtype) ? grad : ops::real(grad), dtype, device);
}

Tensor complex_of_pairs(const Tensor& pairs) {
  const Tensor dense = ops::contiguous(pairs);
  Tensor memory = dense;
  while (memory->has(kBatched)) memory = Tensor::borrow(memory->extra->batched);
  return ops::view_as_complex(memory->offset() % 2 ? ops::clone(dense) : dense);
}

Tensor quarter_turn(const Tensor& t) { return t * Operand(Scalar(Complex<double>(0, 1))); }

}  // namespace derivatives
}  // namespace retrograd
