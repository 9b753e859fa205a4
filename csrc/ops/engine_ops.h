// Gives the autograd layer the ops it needs (see autograd/engine_ops.h).
#pragma once

namespace retrograd {

void register_engine_ops();

}  // namespace retrograd
