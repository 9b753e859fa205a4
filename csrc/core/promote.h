// Type promotion, as PyTorch defines it: dtypes fall in categories (bool < integer < floating < complex); the result takes the highest
// category among tensors with dimensions, then 0-d tensors, then Python numbers, and within it the larger dtype.
#pragma once

#include "core/tensor.h"

namespace retrograd {

DType promote(DType a, DType b);
DType default_dtype();
void set_default_dtype(DType dtype);
const char* dtype_name(DType dtype);          // "float32"
const char* dtype_storage_name(DType dtype);  // "FloatTensor"
std::string dtype_title(DType dtype);         // "Float"
const char* cpp_type_name(DType dtype);       // "float", "long int": as a few messages have it
const char* number_type_name(DType dtype);    // "float", "int64_t": as those about numbers do

class Promotion {
 public:
  void add(const TensorImpl* t);
  void add(const Scalar& s);
  void add(const Operand& o) { o.tensor ? add(o.tensor) : add(o.scalar); }
  DType result() const;

 private:
  // one dtype per priority: dimensioned tensors, 0-d tensors, numbers
  DType level_[3];
  bool used_[3] = {false, false, false};
  void add(int level, DType t);
};

bool can_cast(DType from, DType to);  // whether an in-place result of dtype `from` may be written to `to`

}  // namespace retrograd
