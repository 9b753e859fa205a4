// CopySlices: the history of a base after one of its views was written. The gradient of the written part goes through the op that wrote
// it, the rest passes to what the base was before.
#pragma once

#include "autograd/node.h"

namespace retrograd {

// Takes over the reference to `writer`. Edge 0 leads to the base's former history, the others are the writer's.
Node* make_copy_slices(TensorImpl* base, const TensorImpl* view, Node* writer);

}  // namespace retrograd
