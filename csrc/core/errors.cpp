#include "core/errors.h"

#include <cinttypes>
#include <cstdio>
#include <new>

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

}  // namespace

void set_python_error() noexcept {
  try {
    throw;
  } catch (const Error& e) {
    PyErr_SetString(exception_type(e.kind()), e.what());
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
