// Telling the errors of this library from those of programs, once they are Python exceptions.
#pragma once

#include <Python.h>

namespace retrograd {

// Whether a Python exception is the one that an Error became last on this thread: its message is that very object.
bool is_last_error(PyObject* exception) noexcept;

}  // namespace retrograd
