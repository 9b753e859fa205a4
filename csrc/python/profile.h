// Profiles: who records which threads, and what they recorded as Python objects. The events themselves are those of core/events.h.
#pragma once

#include <Python.h>

namespace retrograd {

void init_profile(PyObject* module);

}  // namespace retrograd
