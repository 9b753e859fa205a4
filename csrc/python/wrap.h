// C++ results as Python objects.
#pragma once

#include <Python.h>

#include <initializer_list>
#include <tuple>
#include <vector>

#include "core/tensor.h"

namespace retrograd {

inline PyObject* wrap(Tensor&& t) {
  if (RG_UNLIKELY(!t)) Py_RETURN_NONE;
  return t.release()->object();
}
inline PyObject* wrap(const Tensor& t) { return wrap(Tensor(t)); }
inline PyObject* wrap(bool v) { return PyBool_FromLong(v); }
inline PyObject* wrap(int64_t v) { return PyLong_FromLongLong(v); }
inline PyObject* wrap(double v) { return PyFloat_FromDouble(v); }
PyObject* wrap(const Scalar& s);
inline PyObject* wrap(PyObject* o) { return o; }
PyObject* wrap_tuple(const std::vector<Tensor>& list);
PyObject* wrap_size(IntSpan sizes);  // torch.Size
PyObject* wrap_dtype(DType dtype);   // new reference
PyObject* wrap_device(Device device);
PyObject* wrap_ints(IntSpan values);  // tuple
inline PyObject* none() { Py_RETURN_NONE; }

// A named tuple: torch.return_types.max(values=..., indices=...). `type` is the caller's cache, null at first.
PyObject* wrap_named_list(PyTypeObject*& type, const char* op, std::initializer_list<const char*> fields, std::span<Tensor> values);
template <class... Ts>
PyObject* wrap_named(PyTypeObject*& type, const char* op, std::initializer_list<const char*> fields, std::tuple<Ts...>&& result) {
  return std::apply(
      [&](auto&... t) {
        Tensor values[] = {std::move(t)...};
        return wrap_named_list(type, op, fields, values);
      },
      result);
}
// The same for what out= was given, a tuple or list, whose reference it takes.
PyObject* wrap_named_out(PyTypeObject*& type, const char* op, std::initializer_list<const char*> fields, PyObject* given);
// A plain tuple, for results without names.
PyObject* wrap_plain_list(std::span<Tensor> values);
template <class... Ts> PyObject* wrap_plain(std::tuple<Ts...>&& result) {
  return std::apply(
      [&](auto&... t) {
        Tensor values[] = {std::move(t)...};
        return wrap_plain_list(values);
      },
      result);
}

}  // namespace retrograd
