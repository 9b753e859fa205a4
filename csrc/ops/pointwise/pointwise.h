// The one executor of pointwise ops: type promotion, broadcasting, the output, then the kernel from the table.
#pragma once

#include <optional>
#include <span>

#include "core/spec.h"
#include "kernels/kernel_param.h"
#include "kernels/pointwise.h"

namespace retrograd {

enum class PointwiseOut : uint8_t {
  Same,   // the promoted dtype
  Bool,   // comparisons and predicates
  Float,  // integers are computed in the default float dtype
  Real,   // the promoted dtype, and of complex numbers a real one
};

struct PointwiseInfo {
  const char* name;
  uint32_t dtypes;  // bit per dtype the kernel exists for
  PointwiseOut out;
  uint8_t inputs;
  uint8_t cost;
  uint16_t row;                     // of pointwise_rows.h: how devices know the kernel
  bool exact_numbers = false;       // a number beside a 16-bit tensor is not rounded to its dtype
  const char* out_exact = nullptr;  // words for an out= of another dtype than the result, where it has to have that
  const char* out_cast = nullptr;   // words for one that cannot take the result, where they are not the usual ones
  bool any_overlap = false;         // may be written into memory that several elements share: doing it twice is doing it once
};

Tensor pointwise(const PointwiseInfo& op, std::span<const Operand> in, std::span<const KernelParam> params);
Tensor pointwise(const PointwiseInfo& op, TensorImpl* in, std::span<const KernelParam> params);
Tensor pointwise(const PointwiseInfo& op, TensorImpl* a, TensorImpl* b, std::span<const KernelParam> params);
Tensor pointwise(const PointwiseInfo& op, TensorImpl* a, const Scalar& b, std::span<const KernelParam> params);
void pointwise_out(const PointwiseInfo& op, std::span<const Operand> in, std::span<const KernelParam> params, const Tensor& out);

inline Tensor pointwise(const PointwiseInfo& op, const Operand& a, const Operand& b, std::span<const KernelParam> params) {
  if (RG_LIKELY(a.tensor && b.tensor)) return pointwise(op, a.tensor, b.tensor, params);
  if (a.tensor) return pointwise(op, a.tensor, b.scalar, params);
  const Operand in[] = {a, b};
  return pointwise(op, in, params);
}

inline KernelParam kernel_param(const Scalar& s) { return {s.to_double(), s.to_int(), s.imag}; }
inline KernelParam kernel_param(double v) { return {v, static_cast<int64_t>(v)}; }
inline KernelParam kernel_param(int64_t v) { return {static_cast<double>(v), v}; }
inline KernelParam kernel_param(bool v) { return {static_cast<double>(v), v}; }

// The shape two or more tensors broadcast to; throws when they do not.
struct Shape {
  int ndim = 0;
  int64_t sizes[kMaxDims];
  operator IntSpan() const { return {sizes, static_cast<size_t>(ndim)}; }
};
Shape broadcast_shapes(IntSpan a, IntSpan b);
void broadcast_into(Shape& shape, IntSpan sizes);

// What an elementwise op makes of these: their broadcast size, in the order of strides of the first that has it.
Spec broadcast_spec(std::span<const Operand> in, DType dtype, const char* op);

// Strides that read `t` as `shape` (0 where it is expanded).
void broadcast_strides(const TensorImpl* t, IntSpan shape, int64_t* strides);

[[noreturn, gnu::cold]] void fail_devices(const TensorImpl* a, const TensorImpl* b, const char* op);
inline void check_same_device(const TensorImpl* a, const TensorImpl* b, const char* op) {
  if (RG_UNLIKELY(a->device != b->device)) fail_devices(a, b, op);
}

}  // namespace retrograd
