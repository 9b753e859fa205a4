// autograd as Python sees it: nodes, backward, modes.
#pragma once

#include <Python.h>

#include "autograd/node.h"

namespace retrograd {

void init_node_type(PyObject* module);     // node_type.cpp
void init_engine(PyObject* module);        // backward.cpp: Tensor.backward, autograd.grad, callbacks
void init_function(PyObject* module);      // function.cpp: autograd.Function
void init_error_nodes(PyObject* module);   // error_nodes.cpp: derivatives that raise, or give nothing
void init_hooks(PyObject* module);         // engine_hooks.cpp
void init_saved_hooks(PyObject* module);   // saved_hooks.cpp
void init_modes(PyObject* module);         // modes.cpp: no_grad and the like
void init_settings(PyObject* module);      // settings.cpp
void init_transforms(PyObject* module);    // transforms.cpp: vmap, func, forward mode
void init_autocast(PyObject* module);      // autocast.cpp: the thread's autocast
void init_surroundings(PyObject* module);  // surroundings.cpp: the transforms around a program, noted and brought back

// node._raw_saved_*: a saved tensor that hooks can be put on. `find` says where it is (saved_hooks.cpp).
PyObject* raw_saved(Node* owner, SavedTensor* (*find)(Node*, size_t), size_t index);

}  // namespace retrograd
