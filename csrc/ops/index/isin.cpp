// Whether elements are among others: compared with each of a few, looked up among many that are sorted.
#include "core/promote.h"
#include "ops.h"
#include "ops/dims.h"

namespace retrograd::composite {

Tensor _isin(const Tensor& elements, const Tensor& test_elements, bool invert) {
  constexpr int64_t kFewPairs = 4096, kFewValues = 16;
  Promotion promotion;
  for (const Tensor& t : {elements, test_elements}) {
    RG_CHECK(t.dtype() != DType::Bool, "Unsupported input type encountered for isin(): Bool");
    RG_CHECK(!is_complex(t.dtype()), "Unsupported input type encountered for isin(): torch.", dtype_name(t.dtype()));
    promotion.add(t.get());
  }
  const DType dtype = promotion.result();
  const auto known = [&](const Tensor& t) {
    const Tensor plain = ops::detach(t);
    return plain.dtype() == dtype ? plain : ops::_to_copy(plain, dtype, {});
  };
  const Tensor wanted = known(elements), values = ops::reshape(known(test_elements), ints({-1}));
  const int64_t count = values.size(0);
  Tensor found;
  if (count * wanted.numel() <= kFewPairs) {
    found = ops::any_dims(ops::eq(ops::unsqueeze(wanted, -1), values), ints({-1}), false);
  } else if (count <= kFewValues) {
    for (const Tensor& value : ops::unbind(values, 0)) {
      const Tensor same = ops::eq(wanted, value);
      found = found ? ops::logical_or(found, same) : same;
    }
  } else {
    const Tensor sorted = std::get<0>(ops::sort(values, -1, false));
    const Tensor places = ops::searchsorted_Tensor(sorted, ops::contiguous(wanted), false, false, {}, {});
    const Tensor at = ops::reshape(ops::clamp(places, {}, Scalar(count - 1)), ints({-1}));
    found = ops::eq(ops::reshape(ops::index_select(sorted, 0, at), wanted.sizes()), wanted);
  }
  return invert ? ops::logical_not(found) : found;
}

}  // namespace retrograd::composite
