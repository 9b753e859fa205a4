// Reductions. Convention: `in` and every output have the same ndim and sizes; an output has stride 0 in each reduced dim.
// (A 0-d or full reduction: all strides of the output are 0.) Any set of dims may be reduced and any stride of `in` is good, 0 included.
//
// Dtypes. Each element of `in` is first cast to the compute type of `out` (16-bit floats: float; integers and bool: int64), so
// sum/prod/mean/norm/var take any `in` with any `out`: sum of int8 into int64, sum of float16 into float32, and so on. Integers wrap around.
// 16- and 32-bit floats are added up in lanes of float over a few thousand elements at a time, and from there in double.
//
// The order of evaluation depends on sizes and strides alone: the same bits for any number of threads, and for any CPU level
// up to the rounding of fused multiply-adds. A reduction over nothing writes the identity (0, 1, nan for mean and var);
// callers raise for max and min before they get here. NaN wins in max and min.
#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct ReduceKernels {
  Kernel<void(const Array& out, const Array& in)> sum;
  Kernel<void(const Array& out, const Array& in)> nansum;  // nan counts for nothing; both are floating
  Kernel<void(const Array& out, const Array& in)> mean;    // the sum over the number of elements reduced; out is floating
  Kernel<void(const Array& out, const Array& in)> prod;    // floats multiply in double
  Kernel<void(const Array& out, const Array& in)> max;     // amax, amin; out has the dtype of in
  Kernel<void(const Array& out, const Array& in)> min;
  Kernel<void(const Array& min, const Array& max, const Array& in)> min_max;
  Kernel<void(const Array& out, const Array& in)> any;  // 0 or 1 in out's dtype (bool, or uint8 for uint8); NaN counts as true
  Kernel<void(const Array& out, const Array& in)> all;
  Kernel<void(const Array& out, const Array& in)> count_nonzero;  // out: usually int64
  Kernel<void(const Array& out, const Array& in)> exclusive_or;   // both int64

  // A sum or mean of few contiguous floats or doubles over adjacent dims, [outer, n, inner] -> [outer, inner], n > 0. It adds up in an order of
  // its own, which depends on the sizes alone.
  Kernel<void(void* out, const void* in, DType dtype, int64_t outer, int64_t n, int64_t inner, bool mean)> small_sum;

  // The largest |x| of n > 0 contiguous floats or doubles; NaN or infinity if one of them is.
  Kernel<void(double* out, const void* in, DType dtype, int64_t n)> largest;

  // (sum |x|^p)^(1/p) for any p; p = 0 counts nonzeros, inf and -inf are the largest and smallest |x|. out is floating.
  Kernel<void(const Array& out, const Array& in, double p)> norm;

  // Variance (or standard deviation, when take_sqrt) and mean. The divisor is max(0, n - correction). Either output may have
  // data == nullptr when it is not wanted; sizes and strides are read from `var`, and from `mean` when it has data.
  Kernel<void(const Array& var, const Array& mean, const Array& in, double correction, bool take_sqrt)> var_mean;

  // Extrema with the index (int64) along the reduced dim, of which there is exactly one, marked by stride 0 as everywhere here.
  // First occurrence wins, the first NaN before everything. For an argmax over a whole tensor pass it as one flat dim (a contiguous copy
  // where it cannot be flattened). values.data may be nullptr.
  Kernel<void(const Array& indices, const Array& in)> argmax;
  Kernel<void(const Array& indices, const Array& in)> argmin;
  Kernel<void(const Array& values, const Array& indices, const Array& in)> max_with_index;
  Kernel<void(const Array& values, const Array& indices, const Array& in)> min_with_index;
};
RG_KERNEL_FAMILY(ReduceKernels, reduce)

}  // namespace retrograd::kernels
