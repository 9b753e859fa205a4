#include "python/call_error.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "autograd/sparse.h"
#include "core/backend.h"
#include "core/coded_error.h"
#include "core/last_error.h"
#include "core/promote.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/types.h"

namespace retrograd {
namespace {

constexpr const char* kIn = "\n  in ";
constexpr Py_ssize_t kMostItems = 6;
constexpr size_t kLongest = 60;  // of a value

std::string tensor_text(const TensorImpl* t) {
  std::string text = str_cat(dtype_name(t->dtype), t->shape());
  if (t->has(kBatched)) return text + " of each sample";
  if (is_sparse(t)) return text + " (sparse)";
  if (!t->is_contiguous()) text += str_cat(" with strides ", IntSpan(t->strides(), t->ndim));
  if (!t->device.is_cpu()) text += " on " + device_name(t->device);
  return text;
}

std::string list_text(PyObject* list, int depth);
std::string slice_text(PyObject* o);

// Of values whose repr runs no code of the program; of others the type.
std::string value_text(PyObject* o, int depth = 0) {
  if (is_tensor(o)) return tensor_text(reinterpret_cast<TensorImpl*>(o));
  if ((PyTuple_CheckExact(o) || PyList_CheckExact(o) || Py_TYPE(o) == size_type) && depth < 3) return list_text(o, depth);
  if (PySlice_Check(o)) return slice_text(o);
  const bool plain = o == Py_None || o == Py_Ellipsis || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
                     PyComplex_CheckExact(o) || PyUnicode_CheckExact(o) || Py_TYPE(o) == dtype_type || Py_TYPE(o) == device_type ||
                     Py_TYPE(o) == layout_type || Py_TYPE(o) == memory_format_type;
  if (!plain) return Py_TYPE(o)->tp_name;
  PyObject* shown = PyObject_Repr(o);
  std::string text = shown ? text_of(shown) : Py_TYPE(o)->tp_name;
  if (!shown) PyErr_Clear();
  Py_XDECREF(shown);
  return text.size() > kLongest && !PyUnicode_CheckExact(o) ? std::string(Py_TYPE(o)->tp_name) : text.substr(0, kLongest);
}

std::string list_text(PyObject* list, int depth) {
  const bool tuple = PyTuple_CheckExact(list);
  std::string text = tuple ? "(" : "[";
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
  for (Py_ssize_t i = 0; i < n && i < kMostItems; ++i) text += (i ? ", " : "") + value_text(PySequence_Fast_GET_ITEM(list, i), depth + 1);
  if (n > kMostItems) text += str_cat(", and ", static_cast<int64_t>(n - kMostItems), " more");
  return text + (tuple ? ")" : "]");
}

std::string slice_text(PyObject* o) {
  const auto* s = reinterpret_cast<PySliceObject*>(o);
  const auto part = [](PyObject* p) { return p == Py_None ? std::string() : value_text(p); };
  return part(s->start) + ":" + part(s->stop) + (s->step == Py_None ? "" : ":" + part(s->step));
}

std::string named(const std::string& name, PyObject* value) {
  if (name.empty()) return value_text(value);
  return name + (is_tensor(value) ? ": " : "=") + value_text(value);
}

// What a caller that passes everything on passes along.
bool is_default(const ParamSpec& spec, PyObject* o) {
  if (!(spec.flags & kHasDefault)) return false;
  const DefaultValue& usual = spec.fallback;
  if (o == Py_None) return usual.none;
  if (usual.none || usual.count) return false;
  if (PyFloat_CheckExact(o)) return PyFloat_AS_DOUBLE(o) == (usual.is_float ? usual.d : static_cast<double>(usual.i));
  int overflow = 0;
  return (PyBool_Check(o) || PyLong_CheckExact(o)) && !usual.is_float && !usual.text &&
         PyLong_AsLongLongAndOverflow(o, &overflow) == usual.i && !overflow;
}

std::string line_of(const CallText& call) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const size_t first = call.self ? 1 : 0;
  if (call.self) add(named(call.params.empty() ? "" : call.params[0].name, call.self));
  // view(2, 3): one list of integers, spread over the positional arguments.
  const bool spread = call.positional > 1 && call.params.size() == first + 1;
  for (Py_ssize_t i = 0; i < call.positional; ++i) {
    const size_t at = first + static_cast<size_t>(i);
    if (!spread && at < call.params.size() && is_default(call.params[at], call.items[i])) continue;
    add(named(!spread && at < call.params.size() ? call.params[at].name : "", call.items[i]));
  }
  for (Py_ssize_t k = 0; call.kwnames && k < PyTuple_GET_SIZE(call.kwnames); ++k)
    add(named(text_of(PyTuple_GET_ITEM(call.kwnames, k)), call.items[call.positional + k]));
  return str_cat(kIn, call.name, "(", text, ")");
}

// The line stands below the words of the check, and of calls inside this one, and above what else there is to say, which is indented. A call
// inside of the same name is this one, as a handler passed it on.
std::string with_line(std::string text, const CallText& call) {
  const std::string opening = str_cat(kIn, call.name, "(");
  size_t at = text.find("\n  ");
  while (at != std::string::npos && text.compare(at, std::strlen(kIn), kIn) == 0) {
    const size_t end = std::min(text.find('\n', at + 1), text.size());
    if (text.compare(at, opening.size(), opening) == 0) {
      text.erase(at, end - at);
    } else {
      at = end == text.size() ? std::string::npos : end;
    }
  }
  return text.insert(std::min(at, text.size()), line_of(call));
}

// An error of this library that comes back through Python, from a handler that ran the call in other ones: vmap, say.
void extend_python_error(const CallText& call) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value && is_last_error(value)) {
    PyObject* message = PyTuple_GET_ITEM(reinterpret_cast<PyBaseExceptionObject*>(value)->args, 0);
    reword_last_error(value, with_line(text_of(message), call));
  }
  PyErr_Restore(type, value, trace);
}

}  // namespace

void set_call_error(const CallText& call) noexcept {
  try {
    try {
      throw;
    } catch (const MissingKernel& e) {
      throw Error(e.kind(), with_line(e.of(call.name), call));
    } catch (const Error& e) {
      rethrow_with(e, with_line(e.what(), call));
    } catch (const PythonError&) {
      extend_python_error(call);
      throw;
    }
  } catch (...) {
    set_python_error();
  }
}

}  // namespace retrograd
