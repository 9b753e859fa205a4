// NumPy's arrays by NumPy's own C interface, which is a table of functions in a capsule: sharing memory with an array so costs a tenth of what it does
// through the buffer protocol. Its headers are not needed to build, nor NumPy to run: who has an array has imported it. What is not
// plain (a subclass, another byte order, dates, ...) is left to the buffer protocol, and so is a NumPy whose table is not known here.
#pragma once

#include <Python.h>

#include <optional>

#include "core/dtype.h"
#include "core/tensor.h"

namespace retrograd {

// What an array is, read from its struct; pointers live as long as the array and are not to be kept.
struct PlainArray {
  void* data;
  int ndim;
  const Py_ssize_t *shape, *strides;  // strides in bytes
  DType dtype;
  bool read_only;
  PyObject* base;  // whose memory it is, or null
};
std::optional<PlainArray> plain_array(PyObject* o);
Tensor from_plain_array(PyObject* o, const PlainArray& array);  // on its memory; buffer.cpp

// An array on the memory of a tensor, which it holds. Null without an error where it takes the buffer protocol.
PyObject* array_on(const Tensor& t);

void init_numpy_array(PyObject* module);

}  // namespace retrograd
