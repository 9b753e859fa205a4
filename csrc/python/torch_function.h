// __torch_function__: arguments whose type wants to handle the call itself, and modes, which see every call from Python inside their block.
// What a mode sees are calls of the program, with the tensors that the program has: inside vmap those of one sample. What op handlers and
// levels of vmap (python/intercept.h) compute with in turn it does not see.
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
// Whether one of these, or of the items of lists and tuples among them, wants to handle the call, and is allowed to.
bool any_overloaded(PyObject* const* args, Py_ssize_t count);

// Calls __torch_function__ of the overloaded arguments (or the active modes), in PyTorch's order. New reference or null with an error set.
PyObject* call_torch_function(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
inline bool function_modes_active() { return thread_state.function_modes != 0 && thread_state.torch_function_enabled; }

// Hides the modes that are active: while Python code of ours computes what a kernel would.
class FunctionModesOff {
 public:
  FunctionModesOff();
  ~FunctionModesOff();
  FunctionModesOff(const FunctionModesOff&) = delete;
  FunctionModesOff& operator=(const FunctionModesOff&) = delete;

 private:
  size_t hidden_;
};

void init_torch_function(PyObject* module);
void init_overridable_function(PyObject* module);

}  // namespace retrograd
