// What self[i0, :, i1, ...] with tensors for indices reads or writes. The shape of the result takes most of what a kernel wants to know, so
// rule and kernel share it.
#pragma once

#include <optional>
#include <span>

#include "core/spec.h"
#include "kernels/index.h"

namespace retrograd {

// The index tensors by dimension of self, int64 and of one shape: a mask stands for the columns of its nonzero(), integers index as they are;
// all broadcast together. Where the result's dimensions go is plan_index()'s business (kernels/index.h).
class Indices {
 public:
  Indices() {}
  ~Indices() {
    for (int i = 0; i < count_; ++i) slot(i).~Tensor();
  }
  Indices(const Indices&) = delete;
  Indices& operator=(const Indices&) = delete;

  void add(const Tensor& self, std::span<const Tensor> given);
  void move_apart_from(const Tensor& written);
  // False when there is nothing to read or write; throws when that is because an index cannot fit.
  bool plan(kernels::Indexing* plan, const Tensor& self);

 private:
  Tensor& slot(int i) { return reinterpret_cast<Tensor*>(memory_)[i]; }
  void append(const Tensor& self, Tensor t);
  void append_mask(const Tensor& self, const Tensor& mask);
  void broadcast();

  alignas(Tensor) char memory_[kMaxDims * sizeof(Tensor)];  // only the slots in use are ever constructed
  int count_ = 0;
  int64_t numel_ = 0;
};

class IndexPlan {
 public:
  IndexPlan(const Tensor& self, std::span<const Tensor> indices);
  Spec spec() const { return Spec({sizes.sizes, static_cast<size_t>(sizes.ndim)}, dtype_, device_); }

  Tensor mask;  // for the whole of self; needs no list of positions
  kernels::Indexing sizes;

 private:
  void plan(const Tensor& self, std::span<const Tensor> indices);

  Indices list_;
  DType dtype_;
  Device device_;
};

class PutPlan {
 public:
  PutPlan(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate);

  Tensor mask;   // for the whole of self, to be filled with one value
  Tensor given;  // otherwise: the values in the shape of what is written
  bool everything = false, nothing = false;
  kernels::Indexing at;

 private:
  void plan(const Tensor& self, std::span<const Tensor> indices, const Tensor& values, bool accumulate);

  Indices list_;
};

}  // namespace retrograd
