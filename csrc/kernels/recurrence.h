// First-order linear recurrences along one dim: what the derivatives of running products are made of.
//   forward:  out[i] = in[i] + factor[i] * out[i - 1]          reverse:  out[i] = in[i] + factor[i + 1] * out[i + 1]
// Either is the transpose of the other. All arrays have the same sizes and one floating dtype, any strides. A 0-d array is one element.
#pragma once

#include "kernels/array.h"
#include "kernels/family.h"

namespace retrograd::kernels {

struct RecurrenceKernels { Kernel<void(const Array& out, const Array& in, const Array& factor, int dim, bool reverse)> linear; };
RG_KERNEL_FAMILY(RecurrenceKernels, recurrence)

}  // namespace retrograd::kernels
