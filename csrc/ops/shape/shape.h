// Geometry shared by the shape ops: sizes with a hole in them, strides of a view, places of a diagonal or a slice.
#pragma once

#include <optional>

#include "core/promote.h"
#include "core/tensor.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd::shape {

// The memory of `t` under another geometry that starts `shift` elements on.
inline Tensor view_of(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t shift = 0) {
  Tensor out = alias_as(t, sizes, strides, 0);
  out->data = static_cast<char*>(t->data) + shift * itemsize(t.dtype());
  return out;
}

// Sizes and strides under construction.
struct Geometry {
  int ndim = 0;
  int64_t sizes[kMaxDims];
  int64_t strides[kMaxDims];
  int64_t shift = 0;  // of the first element, from where it was

  Geometry() = default;
  explicit Geometry(const TensorImpl* t) : ndim(t->ndim) {
    for (int d = 0; d < ndim; ++d) {
      sizes[d] = t->size(d);
      strides[d] = t->stride(d);
    }
  }
  explicit Geometry(IntSpan shape) : ndim(static_cast<int>(shape.size())) {  // sizes alone
    RG_CHECK(shape.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", shape.size());
    copy_dims(sizes, shape.data(), shape.size());
    for (int d = 0; d < ndim; ++d) {
      strides[d] = 0;
      asm("" : "+r"(d));  // see copy_dims
    }
  }
  void add(int64_t size, int64_t stride) {
    RG_CHECK(ndim < kMaxDims, "a tensor has at most ", kMaxDims, " dimensions");
    sizes[ndim] = size;
    strides[ndim++] = stride;
  }
  void erase(int64_t dim) {
    --ndim;
    for (int64_t d = dim; d < ndim; ++d) {
      sizes[d] = sizes[d + 1];
      strides[d] = strides[d + 1];
    }
  }
  void insert(int64_t dim, int64_t size, int64_t stride) {
    add(0, 0);
    for (int64_t d = ndim - 1; d > dim; --d) {
      sizes[d] = sizes[d - 1];
      strides[d] = strides[d - 1];
    }
    sizes[dim] = size;
    strides[dim] = stride;
  }
  IntSpan shape() const { return {sizes, static_cast<size_t>(ndim)}; }
  IntSpan steps() const { return {strides, static_cast<size_t>(ndim)}; }
  Tensor on(const Tensor& t) const { return view_of(t, shape(), steps(), shift); }
};

// The sizes with -1 replaced by what fits `numel`.
Shape infer_sizes(IntSpan sizes, int64_t numel);

// The strides with which `t` reads as `sizes`; false when that takes a copy.
bool view_strides(const TensorImpl* t, IntSpan sizes, int64_t* strides);

void check_no_zero_dims(const Tensor& t, const char* op);

// Make a geometry that of a part.
void select(Geometry& g, int64_t dim, int64_t index);
void slice(Geometry& g, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step);
void diagonal(Geometry& g, int64_t offset, int64_t dim1, int64_t dim2);
void unfold(Geometry& g, int64_t dim, int64_t size, int64_t step);
Geometry transposed(const Tensor& t, int64_t dim0, int64_t dim1);

}  // namespace retrograd::shape
