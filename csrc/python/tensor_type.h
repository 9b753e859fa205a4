// The parts that make up retrograd.Tensor.
#pragma once

#include <Python.h>

#include <vector>

namespace retrograd {

void add_number_slots(std::vector<PyType_Slot>& slots);  // number_slots.cpp
void add_index_slots(std::vector<PyType_Slot>& slots);   // indexing.cpp
void add_buffer_slots(std::vector<PyType_Slot>& slots);  // interop.cpp
void init_tensor_type(PyObject* module);
void init_interop(PyObject* module);  // interop.cpp: tensor(), from_numpy, DLPack, item, tolist

}  // namespace retrograd
