#include "core/state.h"

#include <algorithm>

#include "core/tensor.h"

namespace retrograd {

thread_local constinit ThreadState thread_state;
int64_t live_batched = 0;

namespace {

void set_birth_bits() {
  const int depth = std::min<int>(thread_state.transform_depth, kDeepestBirth);
  thread_state.birth_bits = flag_bits(depth << kBirthShift);
  thread_state.fresh_bits = thread_state.birth_bits | (thread_state.inference_mode ? flag_bits(kInference) : 0);
}

}  // namespace

void set_inference_mode(bool on) {
  thread_state.inference_mode = on;
  set_birth_bits();
}

void set_transform_depth(uint8_t depth) {
  thread_state.transform_depth = depth;
  set_birth_bits();
}

}  // namespace retrograd
