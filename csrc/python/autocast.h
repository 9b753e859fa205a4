// Autocast, as functions written in Python meet it.
#pragma once

#include <Python.h>

#include "ops/record.h"

namespace retrograd {

PyObject* policy_text(Autocast policy);  // new reference; None for none
Autocast read_policy(PyObject* o);

// Calls a function on its tensors, those in lists and tuples among them, as an op of this policy runs.
PyObject* call_autocast(Autocast policy, PyObject* function, PyObject* const* args, size_t positional, PyObject* kwnames);

}  // namespace retrograd
