// How elements are laid out: what torch.memory_format and torch.layout name.
#pragma once

#include <cstdint>

#include "core/tensor.h"

namespace retrograd {

enum class MemoryFormat : uint8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
enum class Layout : uint8_t { Strided, SparseCoo, SparseCsr, SparseCsc, SparseBsr, SparseBsc, Jagged };

const char* memory_format_name(MemoryFormat format);  // "contiguous_format"
const char* layout_name(Layout layout);               // "strided"

// The strides a tensor of these sizes has in a format; Preserve counts as Contiguous. Throws when the format asks for another rank.
void format_strides(IntSpan sizes, MemoryFormat format, int64_t* strides);
bool has_format(const TensorImpl* t, MemoryFormat format);
// What the strides look like: one of the channels_last formats, be there gaps, or Contiguous. What could be either is Contiguous.
MemoryFormat apparent_format(const TensorImpl* t);

Tensor empty_in(IntSpan sizes, MemoryFormat format, DType dtype, Device device);
// The strides of a new tensor of the sizes of `like`. Preserve keeps the order of its strides and closes gaps.
void like_strides(const TensorImpl* like, MemoryFormat format, int64_t* strides);
Tensor empty_like(const Tensor& like, DType dtype, Device device, MemoryFormat format);

}  // namespace retrograd
