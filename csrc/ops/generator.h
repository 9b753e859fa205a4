// torch.Generator: a Python object around the CPU random stream.
#pragma once

#include <Python.h>

#include "kernels/random.h"

namespace retrograd {

struct Generator {
  PyObject_HEAD
  kernels::Generator stream;
};

Generator* default_generator();  // borrowed
inline Generator& generator_or_default(Generator* g) { return g ? *g : *default_generator(); }

}  // namespace retrograd
