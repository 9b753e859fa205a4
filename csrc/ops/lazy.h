// Tensors that most kernels do not meet as they are. Those whose elements are the conjugates or negatives of what is in memory: Note [Lazy
// conjugation] in core/tensor.h. Those of a dtype that kernels do not know: Note [Guest dtypes] in core/dtype.h.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "core/spec.h"
#include "core/tensor.h"

namespace retrograd {

// The memory of a complex tensor as real numbers, whatever its flags: both parts in a new last dim, or one of them.
Tensor real_pairs(const Tensor& t);
Tensor real_part(const Tensor& t);
Tensor imag_part(const Tensor& t);

void turn_memory(const Tensor& t, int flags);               // conjugates (kConj) or negates (kNeg) what is in memory
void conjugate_into(const Tensor& from, const Tensor& to);  // what is in memory, of one complex dtype and size
[[gnu::cold]] Tensor resolved(const Tensor& t);             // a copy without the flags

// One test per argument: whether a kernel meets what it is not made for, some of kLazyBits, kComplexBits and kGuestBits.
template <uint64_t kBits> inline bool has_trait(const TensorImpl* t) { return t && (traits_word(t) & kBits); }
template <uint64_t kBits> inline bool has_trait(const Tensor& t) { return has_trait<kBits>(t.get()); }
template <uint64_t kBits> inline bool has_trait(const Operand& o) {
  return o.tensor ? has_trait<kBits>(o.tensor) : (kBits & kComplexBits) && o.scalar.is_complex();
}
template <uint64_t kBits> inline bool has_trait(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (has_trait<kBits>(t)) return true;
  return false;
}
inline bool is_lazy(const Tensor& t) { return has_trait<kLazyBits>(t); }
template <class T> inline bool is_guest(const T& argument) { return has_trait<kGuestBits>(argument); }
inline bool is_guest(const std::optional<DType>& dtype) { return dtype && is_guest(*dtype); }

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

// An argument of a guest dtype as what kernels know: floats, where the result is of floats, and otherwise int64. Of uint64 these are its bits,
// which is right for sums and products; where the order matters they are turned to what compares alike. Floats of 8 bits, for which it is
// float32, are not computed with: the result must be of another kind.
class StandIn {
 public:
  StandIn(const char* op, bool ordered, DType result) : op_(op), ordered_(ordered), result_(result) {}
  StandIn(const char* op, bool ordered, const Spec& result) : StandIn(op, ordered, result.dtype()) {}
  template <size_t n> StandIn(const char* op, bool ordered, const std::array<Spec, n>& results) : StandIn(op, ordered, results[0]) {}
  Tensor operator()(const Tensor& t) const { return is_guest(t) ? taken(t) : plain(t); }
  std::vector<Tensor> operator()(std::span<const Tensor> list) const;
  std::optional<DType> operator()(std::optional<DType> dtype) const { return is_guest(dtype) ? taken(*dtype) : dtype; }
  DType operator()(DType dtype) const { return is_guest(dtype) ? taken(dtype) : dtype; }

  // A result as it was meant.
  Tensor back(const Tensor& result, DType wanted) const;
  Tensor back(const Tensor& result, const Spec& wanted) const { return result ? back(result, wanted.dtype()) : result; }
  template <class... Ts> std::tuple<Ts...> back(const std::tuple<Ts...>& results, const std::array<Spec, sizeof...(Ts)>& wanted) const {
    return back_each(results, wanted, std::index_sequence_for<Ts...>());
  }

 private:
  const char* op_;
  bool ordered_;
  DType result_;
  DType taken(DType dtype) const;
  [[gnu::cold]] Tensor taken(const Tensor& t) const;
  template <class Tuple, size_t... i> Tuple back_each(const Tuple& results, const auto& wanted, std::index_sequence<i...>) const {
    return Tuple(back(std::get<i>(results), wanted[i])...);
  }
};

// What an op without a complex kernel says to a complex tensor, and one that guests may not use to those.
[[noreturn, gnu::cold]] void fail_no_kernel(const char* op, DType dtype);
inline void check_known(const char* op, std::optional<DType> dtype) {
  if (is_guest(dtype)) fail_no_kernel(op, *dtype);
}
inline void check_known(const char* op, const TensorImpl* t) {
  if (t) check_known(op, t->dtype);
}
inline void check_known(const char* op, const Tensor& t) { check_known(op, t.get()); }
inline void check_known(const char* op, const Operand& o) { check_known(op, o.tensor); }
inline void check_known(const char* op, std::span<const Tensor> list) {
  for (const Tensor& t : list) check_known(op, t.get());
}
inline void check_real(const char* op, const TensorImpl* t) {
  if (t && is_complex(t->dtype)) fail_no_kernel(op, t->dtype);
}
inline void check_real(const char* op, const Tensor& t) { check_real(op, t.get()); }
inline void check_real(const char* op, const Scalar& s) {
  if (s.is_complex()) fail_no_kernel(op, DType::Complex64);
}
inline void check_real(const char* op, const Operand& o) { o.tensor ? check_real(op, o.tensor) : check_real(op, o.scalar); }
inline void check_real(const char* op, std::span<const Tensor> list) {
  for (const Tensor& t : list) check_real(op, t.get());
}

}  // namespace retrograd
