// autograd as Python sees it: nodes, backward, modes.
#pragma once

#include <Python.h>

namespace retrograd {

void init_node_type(PyObject* module);   // node_type.cpp
void init_engine(PyObject* module);      // backward.cpp: Tensor.backward, autograd.grad, callbacks
void init_function(PyObject* module);    // function.cpp: autograd.Function
void init_hooks();                       // engine_hooks.cpp
void init_saved_hooks(PyObject* module); // saved_hooks.cpp
void init_modes(PyObject* module);       // modes.cpp

}  // namespace retrograd
