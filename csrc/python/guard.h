// The boundary: C++ exceptions become Python ones.
#pragma once

#include <Python.h>

#include "core/errors.h"

namespace retrograd {

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
