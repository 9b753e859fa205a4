// Products of matrices held by tensors, without history: what the linalg ops and their derivatives share.
#pragma once

#include "core/tensor.h"
#include "kernels/matmul.h"

namespace retrograd {

// The last two dims of t as a matrix, transposed on request. Pending conjugation is left to the kernel; pending negation there must be none.
inline kernels::Matrix matrix_of(const Tensor& t, bool transposed = false) {
  const int d = static_cast<int>(t.dim());
  const int64_t rs = t->stride(d - 2), cs = t->stride(d - 1);
  const bool conj = t->flags & kConj;
  return transposed ? kernels::Matrix{t->data, cs, rs, conj} : kernels::Matrix{t->data, rs, cs, conj};
}
inline bool either_negated(const Tensor& a, const Tensor& b) { return (a->flags | b->flags) & kNeg; }

// A rough duration of a product, to decide whether the GIL is worth releasing.
inline int64_t product_ns(DType dtype, int64_t m, int64_t n, int64_t k) {
  const int64_t flops = m * n * k;
  return dtype == DType::Float32 ? flops >> 5 : dtype == DType::Float64 ? flops >> 4 : is_complex(dtype) ? flops >> 2 : flops;
}

}  // namespace retrograd
