#include "core/backend.h"

#include <cstring>

#include "kernels/family.h"

namespace retrograd {
namespace {

void* allocate(size_t bytes, size_t& capacity, Stream) { return allocate_block(bytes, capacity); }
void copy_bytes(void* to, const void* from, size_t bytes, Stream) { std::memcpy(to, from, bytes); }

constexpr Backend kHost = {.name = "cpu",
                           .allocate = allocate,
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

thread_local Device launched_device;

namespace {
constexpr const char* kNoValues =
    "attempted to run this operator with Meta tensors, but its result depends on values, which they do not have";
}

MissingKernel::MissingKernel(Device device)
    : Error(ErrorKind::NotImplemented, device.type == DeviceType::Meta
                                           ? std::string(kNoValues)
                                           : str_cat("the device '", device_name(device), "' has no kernel for this operation")),
      device_(device) {}

std::string MissingKernel::of(const char* op) const {
  if (device_.type == DeviceType::Meta) return std::string_view(op).starts_with("__") ? kNoValues : str_cat("aten::", op, ": ", kNoValues);
  return str_cat("Could not run '", op, "' on the device '", device_name(device_), "': it has no kernel for it");
}

void kernels::fail_missing() { throw MissingKernel(launched_device); }

}  // namespace retrograd
