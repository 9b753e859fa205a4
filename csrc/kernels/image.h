// Images, signals and volumes in another size, and sampled at points of a grid, as functions on dense memory.
//
// The same bits come out for every number of threads. No size is 0, and the memory of a result overlaps nothing.
#pragma once

#include "core/dtype.h"
#include "kernels/family.h"

namespace retrograd::kernels {

// What an element of the result is made of: one element, or its neighbours weighted by a polynomial of the distance. The smooth ones widen where
// the image shrinks, so that each of its elements counts.
enum class Resampling : uint8_t { Nearest, NearestExact, Linear, Cubic, SmoothLinear, SmoothCubic, SmoothLanczos };

// [outer, depth, height, width, inner]; axes that are not there have one element.
struct ResizeShape {
  int64_t outer, inner;
  int64_t from[3], to[3];
  double scale[3];  // how many times larger, as it was asked for; 0: as the sizes say
  Resampling mode;
  bool align_corners;
};

// What lies around an image: its mirror image about the outermost elements, these themselves, or its other end.
enum class Around : uint8_t { Reflection, Replication, Circular };

// [outer, depth, height, width, inner], with elements before and after each axis; where there are fewer than none, some are cut off.
struct PadShape {
  int64_t outer, inner;
  int64_t from[3], before[3], after[3];
  Around around;
  int64_t to(int d) const { return from[d] + before[d] + after[d]; }
};

enum class Sampling : uint8_t { Linear, Nearest, Cubic };
enum class Beyond : uint8_t { Zeros, Border, Reflection };  // what is found outside the image

// in [batch, channels, depth, height, width], grid [batch, points, dims], out [batch, channels, points]. A row of the grid has places from -1 to 1,
// those along the width first.
struct SampleShape {
  int64_t batch, channels, points;
  int64_t in[3];  // in[0] is 1 where dims is 2
  int dims;
  Sampling mode;
  Beyond beyond;
  bool align_corners;
  int64_t plane() const { return in[0] * in[1] * in[2]; }
};

struct ImageKernels {
  // From the sizes `from` to the sizes `to`. 16-bit floats compute in float; UInt8 is rounded after each axis, and has no depth unless the mode is
  // one of the nearest.
  Kernel<void(DType dtype, const ResizeShape& shape, const void* in, void* out)> resize;
  // The transposed map of a floating dtype, from `to` back to `from`.
  Kernel<void(DType dtype, const ResizeShape& shape, const void* grad, void* grad_in)> resize_backward;

  // Elements of any kind of 1, 2, 4 or 8 bytes.
  Kernel<void(int64_t itemsize, const PadShape& shape, const void* in, void* out)> pad;
  // The transposed map of a floating dtype: each element of the gradient is added where its own came from.
  Kernel<void(DType dtype, const PadShape& shape, const void* grad, void* grad_in)> pad_backward;

  // Float32 or Float64. A plane has fewer than 2^31 elements.
  Kernel<void(DType dtype, const SampleShape& shape, const void* in, const void* grid, void* out)> sample;
  // Either result may be null: not wanted.
  Kernel<void(DType dtype, const SampleShape& shape, const void* grad, const void* in, const void* grid, void* grad_in, void* grad_grid)>
      sample_backward;
};
RG_KERNEL_FAMILY(ImageKernels, image)

}  // namespace retrograd::kernels
