#include "core/launch.h"

#include "core/fork_gate.h"

namespace retrograd {

void Launch::begin() {
  launched_device = device_;
  const Backend* backend = backends[static_cast<int>(device_.type)];
  if (backend && backend->begin) backend->begin(device_, stream_);
}

void Launch::end() noexcept {
  const Backend* backend = backends[static_cast<int>(device_.type)];
  if (backend && backend->end) backend->end(device_, stream_);
}

void Launch::release_gil() {
  state_ = PyEval_SaveThread();
  enter_kernel();
}

void Launch::take_gil() noexcept {
  leave_kernel();
  PyEval_RestoreThread(state_);
}

}  // namespace retrograd
