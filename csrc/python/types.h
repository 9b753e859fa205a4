// The small Python types around tensors: torch.dtype, torch.device, torch.Size, torch.Generator.
#pragma once

#include <Python.h>

#include "core/format.h"
#include "core/tensor.h"

namespace retrograd {

extern PyTypeObject* dtype_type;
extern PyTypeObject* device_type;
extern PyTypeObject* size_type;
extern PyTypeObject* generator_type;
extern PyTypeObject* memory_format_type;
extern PyTypeObject* layout_type;

struct DtypeObject {
  PyObject_HEAD
  DType value;
};
struct DeviceObject {
  PyObject_HEAD
  Device value;
};
struct ConstantObject {  // torch.memory_format, torch.layout
  PyObject_HEAD
  uint8_t value;
};

PyObject* dtype_object(DType t);  // borrowed
PyObject* wrap_memory_format(MemoryFormat format);
PyObject* wrap_layout(Layout layout);
inline bool is_generator(PyObject* o) { return PyObject_TypeCheck(o, generator_type); }

void init_types(PyObject* module);
void init_formats(PyObject* module);
void init_generator(PyObject* module);

}  // namespace retrograd
