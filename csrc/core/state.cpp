#include "core/state.h"

namespace retrograd {

thread_local constinit ThreadState thread_state;
int64_t live_batched = 0;

}  // namespace retrograd
