// The boundary: C++ exceptions become Python ones.
#pragma once

#include <Python.h>

#include "core/errors.h"

namespace retrograd {

// A Python str for a message: what UTF-8 cannot say (a lone surrogate) is escaped. Leaves no Python error behind.
inline std::string text_of(PyObject* str) {
  if (const char* text = PyUnicode_AsUTF8(str)) return text;
  PyErr_Clear();
  PyObject* bytes = PyUnicode_AsEncodedString(str, "utf-8", "backslashreplace");
  std::string text = bytes ? PyBytes_AS_STRING(bytes) : "?";
  if (!bytes) PyErr_Clear();
  Py_XDECREF(bytes);
  return text;
}

// Any method as PyMethodDef takes it.
template <class F> PyCFunction as_method(F* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)); }

// Where memory is freed by whoever reads it last, on a thread of its own perhaps.
class GilHeld {
 public:
  GilHeld() = default;
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_ = PyGILState_Ensure();
};

template <class F> PyObject* guarded(F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

template <class F> int guarded_int(F&& f) noexcept {
  try {
    f();
    return 0;
  } catch (...) {
    set_python_error();
    return -1;
  }
}

}  // namespace retrograd
