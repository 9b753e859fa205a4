// What the files of this family share: outputs in the kernels' convention and the checks that many reductions make.
#pragma once

#include <bit>
#include <optional>
#include <tuple>

#include "core/launch.h"
#include "core/promote.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "kernels/scan.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/dims.h"

namespace retrograd {

using OptDType = std::optional<DType>;

inline bool has_dim(uint64_t mask, int64_t d) { return mask >> d & 1; }
inline uint64_t one_dim(int64_t dim, int64_t ndim) { return (uint64_t{1} << wrap_dim(dim, ndim)) & every_dim(ndim); }

inline int64_t reduced_count(const Tensor& self, uint64_t mask) {
  int64_t n = 1;
  for (int d = 0; d < self.dim(); ++d)
    if (has_dim(mask, d)) n *= self.size(d);
  return n;
}

// What a reduction of everything gives, and one over the dims of a mask.
inline Spec whole(const Tensor& self, DType dtype) { return Spec(dtype, self->device); }
inline Spec reduced(const Tensor& self, uint64_t mask, bool keepdim, DType dtype) {
  Spec spec(dtype, self->device);
  if (mask == every_dim(self->ndim) && !keepdim) return spec;
  for (int d = 0; d < self->ndim; ++d) {
    if (!has_dim(mask, d)) {
      spec.add_dim(self->size(d));
    } else if (keepdim) {
      spec.add_dim(1);
    }
  }
  return spec;
}

// Input and results as kernels want them: results with strides over the dims of the input, 0 where reduced (see kernels/reduce.h). All of
// a contiguous tensor is one row.
class Reduced {
 public:
  Reduced(const Tensor& self, uint64_t mask) {
    static constexpr int64_t kOne[] = {1};
    if (self.is_contiguous() && mask == every_dim(self->ndim)) {
      in_ = {self->data, self->dtype, 1, &self->numel, kOne};
      strides_[0] = 0;
      return;
    }
    in_ = self.array();
    int64_t next = 1;
    for (int d = self->ndim - 1; d >= 0; --d) {
      if (has_dim(mask, d)) {
        strides_[d] = 0;
      } else {
        strides_[d] = next;
        next *= self->size(d) ? self->size(d) : 1;
      }
    }
  }
  Reduced(const Reduced&) = delete;
  Reduced& operator=(const Reduced&) = delete;

  const kernels::Array& in() const { return in_; }
  kernels::Array out(void* data, DType dtype) const { return {data, dtype, in_.ndim, in_.sizes, strides_}; }
  kernels::Array out(const Tensor& t) const { return out(t->data, t->dtype); }

 private:
  kernels::Array in_;
  int64_t strides_[kMaxDims];
};

// Runs a kernel on the memory of `self`; `cost` is nanoseconds per 16 elements.
template <class F> void run_kernel(const Tensor& self, int cost, F&& kernel) {
  const Launch launch(self, self.numel() * cost / 16);
  kernel();
}

inline DType sum_dtype(const Tensor& self, OptDType dtype) {
  if (dtype) return *dtype;
  return is_differentiable(self.dtype()) ? self.dtype() : DType::Int64;
}

// Sums or means over the dims of a mask; `out` is contiguous, with or without them.
void sum_into(const Tensor& self, uint64_t mask, bool mean, const Tensor& out);
// Variances or their roots, and means where they are wanted.
void spread_into(const Tensor& self, uint64_t mask, double correction, bool take_sqrt, const Tensor& out, const Tensor& mean);
using ScanKernel = decltype(&kernels::ScanKernels::cumsum);
void scan_into(const Tensor& self, int dim, bool reverse, ScanKernel kernel, const Tensor& out);

// The same and others of complex numbers, see complex.cpp. `out` is complex.
void complex_sum(const Tensor& self, uint64_t mask, bool mean, const Tensor& out);
void complex_prod(const Tensor& self, uint64_t mask, const Tensor& out);
void complex_cumsum(const Tensor& self, int dim, bool reverse, const Tensor& out);
void complex_cumprod(const Tensor& self, int dim, const Tensor& out);
void complex_logsumexp(const Tensor& self, uint64_t mask, const Tensor& out);
void complex_logcumsumexp(const Tensor& self, int dim, const Tensor& out);
void complex_spread(const Tensor& self, uint64_t mask, double correction, bool take_sqrt, const Tensor& out, const Tensor& mean);

inline void check_nonempty_dim(const Tensor& self, int64_t dim, const char* op) {
  RG_CHECK_AS(Index, self.dim() == 0 || self.size(dim) != 0, op, "(): Expected reduction dim ", dim, " to have non-zero size.");
}

// The dim an array function works along: 0 for a 0-d tensor.
inline int kernel_dim(int64_t dim, const Tensor& self) { return static_cast<int>(wrap_dim(dim, self.dim())); }

}  // namespace retrograd
