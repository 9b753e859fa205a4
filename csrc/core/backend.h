// What a device offers beside its kernels (kernels/family.h): memory, copies to and from the memory of the process, and the marks around kernels.
// Each type of device has one, registered once and never removed; `meta`, which has no memory, has none. All functions are called with the
// GIL held, but `end` may be called from the thread that called `begin` at any time.
#pragma once

#include <cstddef>

#include "core/allocator.h"
#include "core/device.h"
#include "core/errors.h"

namespace retrograd {

struct Backend {
  const char* name;  // "cuda", as in torch.device("cuda")

  // As allocate_block() of core/allocator.h. Work on `stream` may use the block at once, also where it was freed while earlier work on that
  // stream still runs; the device remembers the stream for `free`. Data behind the header of a storage (core/inline_storage.h) is the CPU's alone.
  void* (*allocate)(size_t bytes, size_t& capacity, Stream stream);
  void (*free)(void* block, size_t capacity) noexcept;
  MemoryStats (*statistics)() noexcept;

  // Both are done when they return: what was launched on the stream before has run.
  void (*to_host)(void* host, const void* data, size_t bytes, Stream stream);
  void (*from_host)(void* data, const void* host, size_t bytes, Stream stream);

  // Around kernels; null where there is nothing to do. They nest.
  void (*begin)(Device device, Stream stream);
  void (*end)(Device device, Stream stream) noexcept;
};

extern const Backend* backends[kDeviceTypes];  // null for meta, and for what is not there
inline const Backend& backend_of(Device device) { return *backends[static_cast<int>(device.type)]; }

// A device was asked for a kernel that it does not have. The boundary to Python names the op.
class MissingKernel : public Error {
 public:
  explicit MissingKernel(Device device);
  std::string of(const char* op) const;

 private:
  Device device_;
};
extern thread_local Device launched_device;  // of the last Launch that was not for the CPU, which has them all

void register_backend(DeviceType type, const Backend& backend);

}  // namespace retrograd
