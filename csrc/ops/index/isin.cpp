// Whether elements are among others: compared with each of a few, looked up among many that are sorted.
#include "kernels/sort.h"

#include "autograd/history.h"
#include "core/promote.h"
#include "native_index.h"
#include "ops/checks.h"
#include "ops/dims.h"

namespace retrograd {
namespace rule {

Spec _among(const Tensor& self, const Tensor& values) {
  RG_CHECK(values.dim() == 1 && values.dtype() == self.dtype() && !is_complex(self.dtype()), "_among: expected a list of ",
           dtype_name(self.dtype()), " to compare with, got ", dtype_name(values.dtype()), " of size ", values.sizes());
  return Spec(self.sizes(), DType::Bool, self->device);
}

}  // namespace rule

namespace compute {

void _among(const Tensor& self, const Tensor& values, const Tensor& out) {
  const Tensor in = contiguous_data(self), given = contiguous_data(values);
  const Launch launch(out, in.numel() * given.numel() / 8);
  kernels::sort(out->device).among(out.data<bool>(), in.dtype(), in->data, in.numel(), given->data, given.numel());
}

}  // namespace compute

namespace composite {

Tensor isin(const Operand& elements, const Operand& test_elements, bool, bool invert) {
  constexpr int64_t kFewPairs = 32768, kFewValues = 16;
  RG_CHECK_AS(Type, elements.tensor || test_elements.tensor, "isin(): one of elements and test_elements must be a Tensor, got two numbers");
  const Device device = Tensor::borrow(elements.tensor ? elements.tensor : test_elements.tensor).device();
  Promotion promotion;
  for (const Operand* o : {&elements, &test_elements}) {
    const DType dtype = o->tensor ? o->tensor->dtype : o->scalar.natural_dtype();
    RG_CHECK(dtype != DType::Bool, "Unsupported input type encountered for isin(): Bool");
    RG_CHECK(!is_complex(dtype), "Unsupported input type encountered for isin(): ", dtype_title(dtype));
    promotion.add(*o);
  }
  const DType promoted = promotion.result(), dtype = is_float8(promoted) ? DType::Float32 : promoted;
  const auto known = [&](const Operand& o) {
    if (!o.tensor) return scalar_tensor(o.scalar, dtype, device);
    const Tensor& t = Tensor::borrow(o.tensor);
    const Tensor plain = requires_grad(t) ? ops::detach(t) : t;
    return plain.dtype() == dtype ? plain : ops::_to_copy(plain, dtype, {});
  };
  const Tensor wanted = known(elements), given = known(test_elements), values = given.dim() == 1 ? given : ops::reshape(given, ints({-1}));
  const int64_t count = values.size(0);
  Tensor found;
  if (count <= kFewValues || count * wanted.numel() <= kFewPairs) {
    found = ops::_among(wanted, values);
  } else {
    const Tensor sorted = std::get<0>(ops::sort(values, -1, false));
    const Tensor places = ops::searchsorted_Tensor(sorted, ops::contiguous(wanted), false, false, {}, {});
    const Tensor at = ops::reshape(ops::clamp(places, {}, Scalar(count - 1)), ints({-1}));
    found = ops::eq(ops::reshape(ops::index_select(sorted, 0, at), wanted.sizes()), wanted);
  }
  return invert ? ops::logical_not(found) : found;
}

}  // namespace composite
}  // namespace retrograd
