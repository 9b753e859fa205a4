// Where memory lives (two bytes, compared as a unit), and in which order work on it is done.
#pragma once

#include <cstdint>
#include <string>

namespace retrograd {

// Plugin: one that is registered while the process runs, under a name of its own; see core/backend.h.
enum class DeviceType : uint8_t { CPU, CUDA, Meta, Plugin };
inline constexpr int kDeviceTypes = 4;

struct Device {
  DeviceType type = DeviceType::CPU;
  int8_t index = -1;
  bool operator==(const Device&) const = default;
  bool is_cpu() const { return type == DeviceType::CPU; }
};

// An order of work on a device. Null is the device's own, and all there is on the CPU.
struct Stream { void* handle = nullptr; };

const char* device_type_name(DeviceType type);
std::string device_name(Device device);        // "cuda:0"
Device parse_device(const std::string& text);  // throws on unknown names

}  // namespace retrograd
