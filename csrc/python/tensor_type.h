// The parts that make up retrograd.Tensor.
#pragma once

#include <Python.h>

#include <vector>

#include "core/tensor.h"

namespace retrograd {

void add_number_slots(std::vector<PyType_Slot>& slots);  // number_slots.cpp
void add_index_slots(std::vector<PyType_Slot>& slots);   // indexing.cpp
void add_buffer_slots(std::vector<PyType_Slot>& slots);  // buffer.cpp
void add_value_slots(std::vector<PyType_Slot>& slots);   // values.cpp: float(), int(), bool()
void init_tensor_type(PyObject* module);
void init_tensor_autograd();            // tensor_autograd.cpp: requires_grad, grad, grad_fn, ...
void init_from_data(PyObject* module);  // from_data.cpp: tensor(), from_numpy
void init_values();                     // values.cpp: item, tolist
void init_dlpack(PyObject* module);     // dlpack.cpp

void add_to_tensor(const char* name, PyObject* descriptor);  // takes the descriptor over

// A new tensor of another type on the memory of `source`, without its history.
Tensor share_as(PyTypeObject* type, const Tensor& source);
void set_requires_grad_to(TensorImpl* t, bool on, const char* refusal = "only Tensors of floating point dtype can require gradients");

}  // namespace retrograd
