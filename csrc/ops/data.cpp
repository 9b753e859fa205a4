#include "ops/data.h"

#include <array>

#include "core/promote.h"
#include "core/spec.h"
#include "core/transfer.h"
#include "core/write_notes.h"
#include "kernels/copy.h"
#include "kernels/reduce.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/lazy.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

// The strides of t seen as a tensor of these sizes, which it must broadcast to.
void strides_in(const Tensor& t, IntSpan sizes, int64_t* strides) {
  bool fits = t.dim() <= static_cast<int64_t>(sizes.size());
  const size_t shift = fits ? sizes.size() - t.sizes().size() : 0;
  for (size_t d = 0; fits && d < t.sizes().size(); ++d) fits = t.sizes()[d] == 1 || t.sizes()[d] == sizes[shift + d];
  RG_CHECK(fits, "a tensor of size ", t.sizes(), " does not broadcast to size ", sizes);
  broadcast_strides(t.get(), sizes, strides);
}

}  // namespace

void copy_data(const Tensor& dst, const Tensor& src) {
  if (!has_elements(dst)) return;
  if (RG_UNLIKELY(is_meta(src))) {
    check_no_batch(src);
    fail_no_values();
  }
  if (RG_UNLIKELY(src->has(kNeg) && !is_differentiable(dst.dtype())))
    return copy_data(dst, resolved(src));  // not every integer has a negative
  if (RG_UNLIKELY(src->device != dst->device)) return copy_data(dst, moved_to(src, dst->device));
  int64_t strides[kMaxDims];
  const bool same = same_sizes(dst.get(), src.get());
  if (RG_UNLIKELY(((dst->flags ^ src->flags) & kLazy) == kConj) && same && dst.dtype() == src.dtype() && is_complex(dst.dtype()))
    return conjugate_into(src, dst);
  if (!same) strides_in(src, dst.sizes(), strides);
  {
    const Launch launch(dst, dst.numel() / 2);
    if (same) {
      kernels::copy(dst->device).copy(dst.array(), src.array());
    } else {
      kernels::copy(dst->device).copy(dst.array(), {src->data, src->dtype, dst->ndim, dst->sizes(), strides});
    }
  }
  if (RG_LIKELY(!((dst->flags | src->flags) & kLazy))) return;
  if (is_complex(dst.dtype()) && !is_complex(src.dtype())) {
    // A negative real number has no imaginary part to negate: -0 would be on the other side of the branch cut of a root or logarithm.
    if (src->has(kNeg)) turn_memory(real_part(dst), kNeg);
    turn_memory(dst, dst->flags & kLazy);
  } else {
    turn_memory(dst, (dst->flags ^ src->flags) & kLazy);
  }
}

Tensor cast_data(const Tensor& t, DType dtype) {
  if (t.dtype() == dtype && RG_LIKELY(!(t->flags & kLazy))) return t;
  Tensor out = empty_like(t, dtype);
  copy_data(out, t);
  return out;
}

Tensor contiguous_data(const Tensor& t) {
  if (t.is_contiguous() && RG_LIKELY(!(t->flags & kLazy))) return t;
  Tensor out = empty(t.sizes(), t.dtype(), t.device());
  copy_data(out, t);
  return out;
}

Tensor expand_data(const Tensor& t, IntSpan sizes) {
  int64_t strides[kMaxDims];
  strides_in(t, sizes, strides);
  return alias_as(t, sizes, {strides, sizes.size()}, t->offset());
}

bool any_element(const Tensor& t, kernels::Is what, double low, double high) {
  if (!has_elements(t)) return false;
  const Tensor flat = contiguous_data(is_guest(t) ? cast_data(t, DType::Int64) : t);
  Answer<bool> found(flat->device);
  {
    const Launch launch(flat, flat.numel());
    kernels::values(flat->device).any(found.data(), flat->dtype, flat->data, flat.numel(), what, low, high);
  }
  return found.read();
}

// Verdicts are mostly single numbers that are 0, looked at behind each call: no op is run for these.
bool any_true(const Tensor& condition) {
  Tensor t = condition;
  while (t->has(kBatched)) t = Tensor::borrow(t->extra->batched);
  return !is_meta(t) && !read_scalar(t.numel() == 1 ? t : impl::any(t)).equals(0);
}

template <class T> std::pair<T, T> range_of(const Tensor& t) {
  constexpr DType dtype = DTypeOf<T>::value;
  Answer<std::array<T, 2>> range(t->device);
  T* low = range.data()->data();
  const Reduced shape(t, every_dim(t.dim()));
  run_kernel(t, 8, [&] { kernels::reduce(t->device).min_max(shape.out(low, dtype), shape.out(low + 1, dtype), shape.in()); });
  return {range.read()[0], range.read()[1]};
}
template std::pair<int64_t, int64_t> range_of(const Tensor& t);
template std::pair<double, double> range_of(const Tensor& t);

void fill_data(const Tensor& t, Scalar value) {
  if (!has_elements(t)) return;
  alignas(16) char element[kMaxItemSize];
  if (RG_UNLIKELY(t->has(kConj))) value = value.conj();
  if (RG_UNLIKELY(t->has(kNeg))) value = -value;
  value.store(t.dtype(), element);
  const Launch launch(t, t.numel() / 4);
  kernels::copy(t->device).fill(t.array(), element);
}

Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device) {
  Tensor t = empty(sizes, dtype, device);
  fill_data(t, value);
  return t;
}

Tensor zeros(IntSpan sizes, DType dtype, Device device) { return full(sizes, Scalar(0), dtype, device); }

void resize_data(const Tensor& t, IntSpan sizes) {
  TensorImpl* p = t.get();
  if (same_sizes(t.sizes(), sizes)) return;
  const int64_t offset = p->offset();
  const int64_t numel = checked_numel(sizes);
  const size_t need = static_cast<size_t>((offset + numel) * itemsize(p->dtype));
  if (numel && need > p->storage->nbytes) {
    resize_storage(p->storage, need);
    p->data = static_cast<char*>(p->storage->data) + offset * itemsize(p->dtype);
  }
  const std::vector<int64_t> copy(sizes.begin(), sizes.end());
  set_contiguous_geometry(p, copy);
  before_write(p);  // to more elements than it had
}

}  // namespace retrograd
