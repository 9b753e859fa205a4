#include "core/state.h"

#include <algorithm>
#include <utility>

#include "core/tensor.h"

namespace retrograd {

thread_local constinit ThreadState thread_state;
bool naming_ops = false;
int64_t live_batched = 0;

namespace {

void set_birth_bits() {
  const int depth = std::min<int>(thread_state.transform_depth, kDeepestBirth);
  thread_state.birth_bits = flag_bits(depth << kBirthShift);
  thread_state.fresh_bits = thread_state.birth_bits | (thread_state.inference_mode ? flag_bits(kInference) : 0);
}

}  // namespace

void set_naming_ops(bool on) {
  naming_ops = on;
  thread_state.op = nullptr;
  set_intercepting();
}

void set_inference_mode(bool on) {
  thread_state.inference_mode = on;
  set_birth_bits();
}

void set_transform_depth(uint8_t depth) {
  thread_state.transform_depth = depth;
  set_birth_bits();
}

RecordingScope::RecordingScope(bool on, Off off, const Site& site) {
  // Switched on, it may be switched off again inside, elsewhere.
  if (on ? !thread_state.grad_enabled : thread_state.grad_enabled || off == Off::Backward) {
    said_ = true;
    site_ = std::exchange(thread_state.mode_site, copy_site(site));
    thread_state.off = off;
  }
  set_grad_mode(on);
}

RecordingScope::~RecordingScope() {
  set_grad_mode(grad_enabled_);
  if (!said_) return;
  thread_state.off = off_;
  Py_XDECREF(reinterpret_cast<PyObject*>(thread_state.mode_site.code));
  thread_state.mode_site = site_;
}

}  // namespace retrograd
