// __torch_function__: arguments whose type wants to handle the call itself.
#pragma once

#include <Python.h>

#include "core/state.h"
#include "core/tensor.h"

namespace retrograd {

struct Group;

extern PyTypeObject* parameter_type;  // nn.Parameter and friends: subclasses that behave as plain tensors
bool type_is_plain_slow(PyTypeObject* type);

// A tensor no __torch_function__ has to be asked about.
inline bool is_plain_tensor(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  return RG_LIKELY(type == tensor_type) || type == parameter_type || (PyType_IsSubtype(type, tensor_type) && type_is_plain_slow(type));
}

bool has_torch_function(PyObject* o);  // anything, also objects that are not tensors

// Calls __torch_function__ of the overloaded arguments (or the active modes), in PyTorch's order. New reference or null with an error set.
PyObject* call_torch_function(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
bool function_modes_active();

void init_torch_function(PyObject* module);

}  // namespace retrograd
