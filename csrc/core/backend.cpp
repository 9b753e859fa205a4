#include "core/backend.h"

#include <cstring>

#include "core/errors.h"
#include "kernels/family.h"

namespace retrograd {
namespace {

void copy_bytes(void* to, const void* from, size_t bytes, Stream) { std::memcpy(to, from, bytes); }

constexpr Backend kHost = {.name = "cpu",
                           .allocate = allocate_block,
                           .free = free_block,
                           .statistics = memory_stats,
                           .to_host = copy_bytes,
                           .from_host = copy_bytes,
                           .begin = nullptr,
                           .end = nullptr};

}  // namespace

const Backend* backends[kDeviceTypes] = {&kHost};

void register_backend(DeviceType type, const Backend& backend) {
  const Backend*& slot = backends[static_cast<int>(type)];
  RG_CHECK(!slot, "a device named '", slot->name, "' is registered already, and there is room for one");
  slot = &backend;
}

void kernels::fail_missing() { fail(ErrorKind::NotImplemented, "the device has no kernel for this operation"); }

}  // namespace retrograd
