// The guard around kernels: whoever calls one holds a Launch. It tells the device, which may have to make its memory or its stream ready, and
// gives up the GIL when there is enough work to be worth it (about 20 us). On the CPU a small kernel pays for the test of one byte.
#pragma once

#include "core/backend.h"
#include "core/tensor.h"

namespace retrograd {

class Launch {
 public:
  explicit Launch(Device device, int64_t work_ns = 0, Stream stream = {}) : device_(device), stream_(stream) {
    if (RG_UNLIKELY(!device.is_cpu())) begin();
    if (work_ns > 20'000) release_gil();
  }
  explicit Launch(const Tensor& t, int64_t work_ns = 0, Stream stream = {}) : Launch(t->device, work_ns, stream) {}
  ~Launch() {
    if (state_) take_gil();
    if (RG_UNLIKELY(!device_.is_cpu())) end();
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

 private:
  void begin();
  void end() noexcept;
  void release_gil();
  void take_gil() noexcept;

  Device device_;
  Stream stream_;
  PyThreadState* state_ = nullptr;
};

}  // namespace retrograd
