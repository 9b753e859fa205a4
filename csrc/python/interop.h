// Between tensors and other Python objects: numbers, sequences, NumPy, buffers, DLPack.
#pragma once

#include <Python.h>

#include <optional>

#include "core/tensor.h"

namespace retrograd {

// A tensor with a copy of the data of nested sequences, numbers, arrays or tensors; the dtype is inferred when not given.
Tensor tensor_from_object(PyObject* data, std::optional<DType> dtype);
Tensor index_tensor(PyObject* data);  // a list used as an index: int64 or bool
bool is_ndarray(PyObject* o);         // without importing NumPy

}  // namespace retrograd
