// Telling the errors of this library from those of programs, once they are Python exceptions.
#pragma once

#include <Python.h>

#include <string>

namespace retrograd {

// Whether a Python exception is the one that an Error became last on this thread: its message is that very object.
bool is_last_error(PyObject* exception) noexcept;

// Gives that exception another message; it stays the last error.
void reword_last_error(PyObject* exception, const std::string& text) noexcept;

}  // namespace retrograd
