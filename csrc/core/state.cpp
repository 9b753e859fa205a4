#include "core/state.h"

namespace retrograd {

thread_local constinit ThreadState thread_state;

}  // namespace retrograd
