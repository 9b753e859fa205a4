#include "core/device.h"

#include "core/backend.h"
#include "core/errors.h"

namespace retrograd {

const char* device_type_name(DeviceType type) {
  switch (type) {
    case DeviceType::CUDA: return "cuda";
    case DeviceType::Meta: return "meta";
    case DeviceType::Plugin: return backend_of({type}).name;
    case DeviceType::CPU: break;
  }
  return "cpu";
}

std::string device_name(Device device) {
  std::string name = device_type_name(device.type);
  if (device.index >= 0) name += ":" + std::to_string(device.index);
  return name;
}

Device parse_device(const std::string& text) {
  if (text == "cpu") return {};  // which most say
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  Device device;
  if (name == "cpu") {
    device.type = DeviceType::CPU;
  } else if (name == "cuda") {
    device.type = DeviceType::CUDA;
  } else if (name == "meta") {
    device.type = DeviceType::Meta;
  } else if (const Backend* plugin = backends[static_cast<int>(DeviceType::Plugin)]; plugin && name == plugin->name) {
    device.type = DeviceType::Plugin;
  } else {
    fail(ErrorKind::Runtime, "Expected one of cpu, cuda, meta device type at start of device string: ", text);
  }
  if (colon == std::string::npos) return device;
  const std::string digits = text.substr(colon + 1);
  const bool valid = !digits.empty() && digits.size() <= 3 && digits.find_first_not_of("0123456789") == std::string::npos &&
                     (digits.size() == 1 || digits[0] != '0') && std::stoi(digits) <= 127;
  RG_CHECK(valid, "Invalid device string: '", text, "': behind the colon stands a number from 0 to 127, as in 'cuda:0'");
  device.index = static_cast<int8_t>(std::stoi(digits));
  return device;
}

}  // namespace retrograd
