// Whether a write could touch memory twice or memory that is still to be read.
#pragma once

#include "core/tensor.h"

namespace retrograd {

void fail_internal_overlap();
inline void check_no_internal_overlap(const Tensor& out) {
  if (RG_UNLIKELY(!out.is_contiguous() && has_internal_overlap(out.get()))) fail_internal_overlap();
}
void warn_expanded_write(const Tensor& out, const char* op);  // for ops that write one value anyway
// True when `out` may be written while `in` is read (disjoint, or element for element the same). False when that is unclear and a
// temporary is wanted; throws when the two certainly overlap in part.
bool check_no_partial_overlap(const TensorImpl* out, const TensorImpl* in);

}  // namespace retrograd
