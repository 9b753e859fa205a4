#include "core/errors.h"

#include <cinttypes>
#include <cstdio>
#include <new>

#include "core/coded_error.h"
#include "core/last_error.h"

namespace retrograd {

namespace detail {

void append(std::string& out, std::string_view text) { out.append(text); }
void append(std::string& out, const char* text) { out.append(text); }

void append(std::string& out, int64_t value) {
  char buffer[32];
  out.append(buffer, static_cast<size_t>(std::snprintf(buffer, sizeof buffer, "%" PRId64, value)));
}

void append(std::string& out, double value) {
  char buffer[48];
  out.append(buffer, static_cast<size_t>(std::snprintf(buffer, sizeof buffer, "%g", value)));
}

void append(std::string& out, std::span<const int64_t> values) {
  out.push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out.append(", ");
    append(out, values[i]);
  }
  out.push_back(']');
}

}  // namespace detail

namespace {

PyObject* exception_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Type: return PyExc_TypeError;
    case ErrorKind::Value: return PyExc_ValueError;
    case ErrorKind::Index: return PyExc_IndexError;
    case ErrorKind::NotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::Memory: return PyExc_MemoryError;
    case ErrorKind::Attribute: return PyExc_AttributeError;
    case ErrorKind::Buffer: return PyExc_BufferError;
    case ErrorKind::Assertion: return PyExc_AssertionError;
    case ErrorKind::Overflow: return PyExc_OverflowError;
    case ErrorKind::Recursion: return PyExc_RecursionError;
    case ErrorKind::Runtime: break;
  }
  return PyExc_RuntimeError;
}

// The message of the last error: held, so that no other string can have its address.
thread_local PyObject* last_message = nullptr;

void set_error(const Error& e) noexcept {
  PyObject* message = PyUnicode_FromString(e.what());
  if (!message) return;  // not UTF-8, or no memory: that is the error then
  PyObject* type = exception_type(e.kind());
  const auto* coded = dynamic_cast<const CodedError*>(&e);
  PyObject* instance = coded ? PyObject_CallOneArg(type, message) : nullptr;
  PyObject* code = instance ? PyUnicode_FromString(coded->code()) : nullptr;
  if (code && PyObject_SetAttrString(instance, "code", code) < 0) PyErr_Clear();
  PyErr_SetObject(type, instance ? instance : message);
  Py_XDECREF(code);
  Py_XDECREF(instance);
  Py_XSETREF(last_message, message);
}

}  // namespace

bool is_last_error(PyObject* exception) noexcept {
  if (!last_message || !PyExceptionInstance_Check(exception)) return false;
  PyObject* args = reinterpret_cast<PyBaseExceptionObject*>(exception)->args;
  return args && PyTuple_GET_SIZE(args) == 1 && PyTuple_GET_ITEM(args, 0) == last_message;
}

void reword_last_error(PyObject* exception, const std::string& text) noexcept {
  PyObject* message = PyUnicode_FromString(text.c_str());
  PyObject* args = message ? PyTuple_Pack(1, message) : nullptr;
  if (args && PyObject_SetAttrString(exception, "args", args) == 0) Py_XSETREF(last_message, Py_NewRef(message));
  Py_XDECREF(args);
  Py_XDECREF(message);
  PyErr_Clear();  // the exception has the message that it had
}

void set_python_error() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    set_error(e);
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "retrograd: an error was signalled without an exception set");
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "retrograd: unknown C++ exception");
  }
}

}  // namespace retrograd
