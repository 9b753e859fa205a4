// Discrete Fourier transforms along one dimension, of any length.
//
//   out[k] = scale * sum over j of in[j] * exp(-2 pi i j k / n)       forward; + in the exponent otherwise
//
// Arrays have any strides. Dtypes are Complex64 and Complex128, and Float32 and Float64 for what is real. The same bits come out for every
// number of threads. All sizes are positive.
#pragma once

#include "kernels/array.h"
#include "kernels/family.h"
#include "kernels/workspace.h"

namespace retrograd::kernels {

struct FftKernels {
  // The bytes that a transform of these arrays wants to work in.
  Kernel<int64_t(const Array& out, const Array& in, int dim)> workspace;
  // Complex to complex. out may be in.
  Kernel<void(const Array& out, const Array& in, int dim, bool forward, double scale, Workspace work)> c2c;
  // Of n real numbers, forward: the first n / 2 + 1 of the result, or all, as out has room for; the others are their conjugates.
  Kernel<void(const Array& out, const Array& in, int dim, double scale, Workspace work)> r2c;
  // The n real numbers, backward, of which in is the first n / 2 + 1: n is the size of out. Where a real number is due, only that part is read.
  Kernel<void(const Array& out, const Array& in, int dim, double scale, Workspace work)> c2r;
};
RG_KERNEL_FAMILY(FftKernels, fft)

}  // namespace retrograd::kernels
