// Gives the autograd layer the ops it needs (see EngineOps in autograd/history.h).
#pragma once

namespace retrograd {

void register_engine_ops();

}  // namespace retrograd
