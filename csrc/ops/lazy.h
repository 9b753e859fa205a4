// Tensors whose elements are the conjugates or negatives of what is in memory: Note [Lazy conjugation] in core/tensor.h.
#pragma once

#include <span>
#include <vector>

#include "core/tensor.h"

namespace retrograd {

// The memory of a complex tensor as real numbers, whatever its flags: both parts in a new last dim, or one of them.
Tensor real_pairs(const Tensor& t);
Tensor real_part(const Tensor& t);
Tensor imag_part(const Tensor& t);

void turn_memory(const Tensor& t, int flags);    // conjugates (kConj) or negates (kNeg) what is in memory
[[gnu::cold]] Tensor resolved(const Tensor& t);  // a copy without the flags

// One test per argument: whether a kernel that is not made for them meets complex or lazy elements.
inline bool is_lazy(const TensorImpl* t) { return t && (traits_word(t) & kLazyBits); }
inline bool is_unusual(const TensorImpl* t) { return t && (traits_word(t) & (kLazyBits | kComplexBits)); }
inline bool is_lazy(const Tensor& t) { return is_lazy(t.get()); }
inline bool is_unusual(const Tensor& t) { return is_unusual(t.get()); }
inline bool is_lazy(const Operand& o) { return is_lazy(o.tensor); }
inline bool is_unusual(const Operand& o) { return o.tensor ? is_unusual(o.tensor) : o.scalar.is_complex(); }
inline bool is_lazy(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (is_lazy(t)) return true;
  return false;
}
inline bool is_unusual(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (is_unusual(t)) return true;
  return false;
}

// An argument as a kernel may have it.
inline Tensor plain(const Tensor& t) { return is_lazy(t) ? resolved(t) : t; }
struct PlainOperand {
  Tensor held;
  Operand operand;
  explicit PlainOperand(const Operand& o) : held(plain(Tensor::borrow(o.tensor))), operand(o) { operand.tensor = held.get(); }
  operator const Operand&() const { return operand; }
};
inline PlainOperand plain(const Operand& o) { return PlainOperand(o); }
inline std::vector<Tensor> plain(std::span<const Tensor> list) {
  std::vector<Tensor> out;
  out.reserve(list.size());
  for (const Tensor& t : list) out.push_back(plain(t));
  return out;
}

// What an op without a complex kernel says to a complex tensor.
[[noreturn, gnu::cold]] void fail_complex(const char* op, DType dtype);
inline void check_real(const char* op, const TensorImpl* t) {
  if (t && is_complex(t->dtype)) fail_complex(op, t->dtype);
}
inline void check_real(const char* op, const Tensor& t) { check_real(op, t.get()); }
inline void check_real(const char* op, const Scalar& s) {
  if (s.is_complex()) fail_complex(op, DType::Complex64);
}
inline void check_real(const char* op, const Operand& o) { o.tensor ? check_real(op, o.tensor) : check_real(op, o.scalar); }
inline void check_real(const char* op, std::span<const Tensor> list) {
  for (const Tensor& t : list) check_real(op, t.get());
}

}  // namespace retrograd
