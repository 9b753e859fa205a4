// What the ops that make tensors share.
#pragma once

#include <optional>

#include "core/spec.h"

namespace retrograd {

// Throws unless this build can hold memory there.
void check_device(Device device);
// Where a new tensor goes; throws for layouts and pinned memory that do not exist here.
Device creation_device(std::optional<Device> device, Device fallback, std::optional<Layout> layout, std::optional<bool> pin_memory);
inline Device creation_device(const Options& options, Device fallback = {}) {
  return creation_device(options.device, fallback, options.layout, options.pin_memory);
}
// Marks a new tensor as one that wants gradients.
void require_grad(const Tensor& t);
inline Tensor created(Tensor t, std::optional<bool> requires_grad) {
  if (RG_UNLIKELY(requires_grad.value_or(false))) require_grad(t);
  return t;
}
// Throws when `value` does not fit `dtype`.
void check_fill_value(const Scalar& value, DType dtype);

}  // namespace retrograd
