// Errors that say which call they come from: the op and what it was given, in one place for all ops. Below the words of the check
//
//   The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1
//     in add(input: float32[2, 3], other: float32[2, 4])
//
// so that a check need not repeat the sizes, dtypes and numbers that the caller passed.
#pragma once

#include <Python.h>

#include <span>

namespace retrograd {

struct ParamSpec;

// A call from Python: `self` is null for functions, keywords follow the positional arguments in `items`, and `params` name the latter (self first, if
// there is one) where they are known.
struct CallText {
  const char* name;
  PyObject* self;
  PyObject* const* items;
  Py_ssize_t positional;
  PyObject* kwnames = nullptr;
  std::span<const ParamSpec> params = {};
};

// As set_python_error(), with a line about the call in what C++ threw; call inside catch (...).
void set_call_error(const CallText& call) noexcept;

// An operator, or whatever else has a fixed number of operands.
template <class F> PyObject* guarded_call(const char* name, PyObject* a, PyObject* b, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    set_call_error({.name = name, .self = a, .items = &b, .positional = b ? 1 : 0});
    return nullptr;
  }
}

}  // namespace retrograd
