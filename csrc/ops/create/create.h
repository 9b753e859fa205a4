// What the ops that make tensors share.
#pragma once

#include <optional>

#include "core/format.h"
#include "core/tensor.h"

namespace retrograd {

// Throws unless this build can hold memory there.
void check_device(Device device);
// Where a new tensor goes; throws for layouts and pinned memory that do not exist here.
Device creation_device(std::optional<Device> device, Device fallback, std::optional<Layout> layout, std::optional<bool> pin_memory);
// The last step of making a tensor: marks it as one that wants gradients.
Tensor created(Tensor t, std::optional<bool> requires_grad);
// Throws when `value` does not fit `dtype`.
void check_fill_value(const Scalar& value, DType dtype);

}  // namespace retrograd
