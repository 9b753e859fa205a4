#include "ops/lazy.h"

#include "core/promote.h"
#include "core/spec.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/data.h"

namespace retrograd {
namespace {

// On the same storage, elements of half the size.
Tensor real_view(const Tensor& t, bool pairs, int64_t part) {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  const size_t n = static_cast<size_t>(t.dim());
  RG_CHECK(n < kMaxDims || !pairs, "a tensor has at most ", kMaxDims, " dimensions, and the parts of a complex one take one more");
  for (size_t d = 0; d < n; ++d) {
    sizes[d] = t.sizes()[d];
    strides[d] = 2 * t.strides()[d];
  }
  sizes[n] = 2;
  strides[n] = 1;
  Tensor view = alias(t);
  const DType real = real_dtype(t.dtype());
  view->dtype = real;
  view->flags &= static_cast<uint16_t>(~kLazy);
  view->data = static_cast<char*>(t->data) + part * itemsize(real);
  set_geometry(view.get(), {sizes, n + pairs}, {strides, n + pairs});
  return view;
}

// What is in memory, as it is.
Tensor memory_of(const Tensor& t) {
  Tensor memory = alias(t);
  memory->flags &= static_cast<uint16_t>(~kLazy);
  return memory;
}

}  // namespace

Tensor real_pairs(const Tensor& t) { return real_view(t, true, 0); }
Tensor real_part(const Tensor& t) { return real_view(t, false, 0); }
Tensor imag_part(const Tensor& t) { return real_view(t, false, 1); }

void turn_memory(const Tensor& t, int flags) {
  if (!has_elements(t)) return;
  const bool complex = is_complex(t.dtype());
  if ((flags & kConj) && complex) {
    conjugate_into(t, t);
  }
  if (flags & kNeg) {
    const Tensor memory = complex ? real_pairs(t) : memory_of(t);
    impl::neg_out(memory, memory);
  }
}

void conjugate_into(const Tensor& from, const Tensor& to) { impl::_conj_elements_out(memory_of(from), memory_of(to)); }

Tensor resolved(const Tensor& t) {
  Tensor out = empty_like(t, t.dtype());
  copy_data(out, t);
  return out;
}

namespace {

// Flips the highest bit: between the order of uint64 and that of int64.
Tensor turned(const Tensor& bits) { return impl::bitwise_xor(bits, Scalar(INT64_MIN)); }

}  // namespace

DType StandIn::taken(DType dtype) const {
  if (!is_guest(result_) && is_differentiable(result_)) return result_;
  if (!is_float8(dtype)) return DType::Int64;
  if (is_guest(result_)) fail_no_kernel(op_, dtype);
  return DType::Float32;
}

Tensor StandIn::taken(const Tensor& t) const {
  Tensor bits = cast_data(t, taken(t.dtype()));
  return ordered_ && t.dtype() == DType::UInt64 ? turned(bits) : bits;
}

std::vector<Tensor> StandIn::operator()(std::span<const Tensor> list) const {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back((*this)(t));
  return out;
}

Tensor StandIn::back(const Tensor& result, DType wanted) const {
  return cast_data(ordered_ && wanted == DType::UInt64 ? turned(result) : result, wanted);
}

void fail_no_kernel(const char* op, DType dtype) { fail_not_implemented(str_cat(op, "_cpu"), dtype); }

}  // namespace retrograd
