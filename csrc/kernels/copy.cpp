// Permutations written as copies between views.
#include "kernels/copy.h"

namespace retrograd::kernels {

void flip(Device device, const Array& out, const Array& in, const bool* flipped) {
  int64_t strides[kMaxDims];
  char* data = in.ptr<char>();
  for (int d = 0; d < in.ndim; ++d) {
    if (in.sizes[d] == 0) return;
    strides[d] = flipped[d] ? -in.strides[d] : in.strides[d];
    if (flipped[d]) data += (in.sizes[d] - 1) * in.strides[d] * itemsize(in.dtype);
  }
  copy(device).copy(out, {data, in.dtype, in.ndim, in.sizes, strides});
}

// Each rolled dim splits the array in two; bit i of `part` says which side of the i-th rolled dim a piece is on.
void roll(Device device, const Array& out, const Array& in, const int64_t* shift) {
  int rolled[kMaxDims];
  int count = 0;
  int64_t by[kMaxDims], sizes[kMaxDims];
  for (int d = 0; d < in.ndim; ++d) {
    if (in.sizes[d] == 0) return;
    by[d] = (shift[d] % in.sizes[d] + in.sizes[d]) % in.sizes[d];
    if (by[d]) rolled[count++] = d;
    sizes[d] = in.sizes[d];
  }
  const int64_t item = itemsize(in.dtype);
  for (uint64_t part = 0; part < uint64_t{1} << count; ++part) {
    char* to = out.ptr<char>();
    char* from = in.ptr<char>();
    for (int i = 0; i < count; ++i) {
      const int d = rolled[i];
      const bool wraps = part >> i & 1;  // the last by[d] elements go to the front
      sizes[d] = wraps ? by[d] : in.sizes[d] - by[d];
      if (wraps) from += (in.sizes[d] - by[d]) * in.strides[d] * item;
      if (!wraps) to += by[d] * out.strides[d] * item;
    }
    copy(device).copy({to, out.dtype, out.ndim, sizes, out.strides}, {from, in.dtype, in.ndim, sizes, in.strides});
  }
}

}  // namespace retrograd::kernels
