// Between tensors and other Python objects: from_data.cpp makes tensors from them, values.cpp reads numbers and lists out of tensors,
// buffer.cpp and dlpack.cpp share memory with them both ways.
#pragma once

#include <Python.h>

#include <optional>

#include "core/tensor.h"

namespace retrograd {

// A tensor with a copy of the data of nested sequences, numbers, arrays or tensors; the dtype is inferred when not given.
Tensor tensor_from_object(PyObject* data, std::optional<DType> dtype);
Tensor index_tensor(PyObject* data);  // a list used as an index: int64 or bool
bool is_ndarray(PyObject* o);         // without importing NumPy

// A tensor on the memory of an object with the buffer protocol.
Tensor from_buffer_object(PyObject* o, bool* read_only = nullptr);

// The tensor whose elements `what` is going to read: inside vmap one stands for all samples at once, unless it is the same for each.
const TensorImpl* readable(const TensorImpl* t, const char* what);
Scalar first_element(const TensorImpl* t);

// The memory that somebody else reads: held beside its tensor, which may get other memory (x.data = y, set_()) in the meantime.
class HeldStorage {
 public:
  explicit HeldStorage(Storage* s) : storage_(s) { retain(s); }
  HeldStorage(const HeldStorage&) = delete;
  HeldStorage& operator=(const HeldStorage&) = delete;
  ~HeldStorage() { release(storage_); }

 private:
  Storage* storage_;
};

}  // namespace retrograd
