// Optimizer steps over a whole parameter group in one call from Python.
#pragma once

#include <Python.h>

namespace retrograd {

void init_optim(PyObject* module);

}  // namespace retrograd
