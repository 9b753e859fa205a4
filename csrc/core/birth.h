// Where inference tensors are made is worth a note: whoever uses one where autograd needs another asks for the line (autograd/cut.h).
#pragma once

#include "core/tensor.h"

namespace retrograd {

extern void (*note_birth)(TensorImpl* t);  // of a tensor made in inference mode; never null

}  // namespace retrograd
