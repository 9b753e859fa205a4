// What the files of this family share: outputs in the kernels' convention and the checks that many reductions make.
#pragma once

#include <bit>
#include <optional>
#include <tuple>

#include "core/promote.h"
#include "core/tensor.h"
#include "ops/util.h"

namespace retrograd {

using OptInts = std::optional<IntSpan>;
using OptDType = std::optional<DType>;

inline constexpr uint64_t every_dim(int64_t ndim) { return ndim >= 64 ? ~uint64_t{0} : (uint64_t{1} << ndim) - 1; }
inline bool has_dim(uint64_t mask, int64_t d) { return mask >> d & 1; }
inline uint64_t one_dim(int64_t dim, int64_t ndim) { return (uint64_t{1} << wrap_dim(dim, ndim)) & every_dim(ndim); }

inline int64_t reduced_count(const Tensor& self, uint64_t mask) {
  int64_t n = 1;
  for (int d = 0; d < self.dim(); ++d)
    if (has_dim(mask, d)) n *= self.size(d);
  return n;
}

// The geometry of a reduction's outputs: their sizes for the caller, and their strides over the dims of the input (0 where reduced), which
// is how kernels want them (see kernels/reduce.h).
class ReducedShape {
 public:
  ReducedShape(const Tensor& self, uint64_t mask, bool keepdim) : self_(self) {
    const int ndim = self->ndim;
    int64_t next = 1;
    int at = keepdim ? ndim : ndim - std::popcount(mask);
    ndim_ = at;
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t size = self->size(d);
      if (has_dim(mask, d)) {
        strides_[d] = 0;
        if (keepdim) sizes_[--at] = 1;
      } else {
        strides_[d] = next;
        next *= size ? size : 1;
        sizes_[--at] = size;
      }
    }
  }
  ReducedShape(const ReducedShape&) = delete;
  ReducedShape& operator=(const ReducedShape&) = delete;

  Tensor make(DType dtype) const { return empty({sizes_, static_cast<size_t>(ndim_)}, dtype, self_.device()); }
  kernels::Array array(const Tensor& out) const { return {out->data, out->dtype, self_->ndim, self_->sizes(), strides_}; }
  kernels::Array nothing(DType dtype) const { return {nullptr, dtype, self_->ndim, self_->sizes(), strides_}; }

 private:
  const Tensor& self_;
  int ndim_;
  int64_t sizes_[kMaxDims];
  int64_t strides_[kMaxDims];
};

// Runs a kernel on the memory of `self` unless there is none; `cost` is nanoseconds per 16 elements.
template <class F> void run_kernel(const Tensor& self, int cost, F&& kernel) {
  if (RG_UNLIKELY(is_meta(self))) return;
  const Launch launch(self, self.numel() * cost / 16);
  kernel();
}

inline DType sum_dtype(const Tensor& self, OptDType dtype) {
  if (dtype) return *dtype;
  return is_differentiable(self.dtype()) ? self.dtype() : DType::Int64;
}

// Of complex numbers, see reduce/complex.cpp. `dtype` is complex.
Tensor complex_sum(const Tensor& self, uint64_t mask, bool keepdim, DType dtype, bool mean);
Tensor complex_prod(const Tensor& self, uint64_t mask, bool keepdim, DType dtype);
Tensor complex_cumsum(const Tensor& self, int64_t dim, DType dtype, bool reverse);
Tensor complex_cumprod(const Tensor& self, int64_t dim, DType dtype);
Tensor complex_logsumexp(const Tensor& self, uint64_t mask, bool keepdim);
Tensor complex_logcumsumexp(const Tensor& self, int64_t dim);
std::tuple<Tensor, Tensor> complex_var_mean(const Tensor& self, uint64_t mask, std::optional<Scalar> correction, bool keepdim,
                                            bool take_sqrt);

[[noreturn, gnu::cold]] inline void fail_dtype(const char* kernel, DType dtype) {
  fail(ErrorKind::NotImplemented, "\"", kernel, "\" not implemented for '", dtype_title(dtype), "'");
}

inline void check_nonempty_dim(const Tensor& self, int64_t dim, const char* op) {
  RG_CHECK_AS(Index, self.dim() == 0 || self.size(dim) != 0, op, "(): Expected reduction dim ", dim, " to have non-zero size.");
}

// The dim an array function works along: 0 for a 0-d tensor.
inline int kernel_dim(int64_t dim, const Tensor& self) { return static_cast<int>(wrap_dim(dim, self.dim())); }

}  // namespace retrograd
