// Quick attribute lookup and calls for nn.Module.
#pragma once

#include <Python.h>

namespace retrograd {

void init_module_type(PyObject* module);

}  // namespace retrograd
