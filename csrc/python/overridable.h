// Attributes and methods of Tensor that __torch_function__ may take over. Each is reached through a trampoline, which for a plain tensor
// outside of modes costs one test; otherwise the call goes to call_torch_function() with the descriptor's own function
// (`Tensor.shape.__get__`, `Tensor.size`), as PyTorch hands it over.
#pragma once

#include <Python.h>

#include <array>
#include <string_view>
#include <utility>

#include "autograd/sparse.h"
#include "core/errors.h"
#include "python/guard.h"
#include "python/torch_function.h"

namespace retrograd {

// Whether a call on `self` is somebody else's business.
inline bool overridden(PyObject* self) {
  if (RG_LIKELY(thread_state.function_modes == 0 && Py_TYPE(self) == tensor_type)) return false;
  return thread_state.torch_function_enabled &&
         (thread_state.function_modes != 0 || (thread_state.torch_function_subclasses && !is_plain_tensor(self)));
}

// Attributes and methods that are C functions: of a sparse tensor they say what is true of every tensor, or its class has its own.
inline bool part_overridden(PyObject* self) { return overridden(self) && Py_TYPE(self) != sparse_type; }

// Numbers, words and plain tensors: what no override has to be asked about.
inline bool is_simple(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  return type == tensor_type || type == parameter_type || o == Py_None || type == &PyLong_Type || type == &PyFloat_Type ||
         type == &PyBool_Type || type == &PyUnicode_Type || type == &PySlice_Type;
}

// The call of Tensor.<name>, or of one of the functions of an attribute's descriptor, through __torch_function__.
inline PyObject* override_call(PyObject* self, const char* name, const char* part, PyObject* const* args, Py_ssize_t nargs,
                               PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* function = checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
    if (part) {
      PyObject* whole = function;
      function = PyObject_GetAttrString(whole, part);
      Py_DECREF(whole);
      checked(function);
    }
    PyObject* result = nullptr;
    try {
      result = call_torch_function(function, self, args, nargs, kwnames);
    } catch (...) {
      Py_DECREF(function);
      throw;
    }
    Py_DECREF(function);
    return result;
  });
}
inline PyObject* override_method(PyObject* self, const char* name) { return override_call(self, name, nullptr, nullptr, 0, nullptr); }

// `Defs`: a table whose functions do the work. What starts with an underscore and has no part in PyTorch's interface stays as it is.
template <auto& Defs> class OverridableGetset {
  static constexpr size_t kCount = std::size(Defs);

  static bool internal(std::string_view name) { return name == "__dict__" || name == "_cut" || name == "_has_history"; }
  static PyObject* get(PyObject* self, void* closure) {
    const PyGetSetDef& def = *static_cast<PyGetSetDef*>(closure);
    if (RG_LIKELY(!part_overridden(self))) return def.get(self, def.closure);
    return override_call(self, def.name, "__get__", nullptr, 0, nullptr);
  }
  static int set(PyObject* self, PyObject* value, void* closure) {
    const PyGetSetDef& def = *static_cast<PyGetSetDef*>(closure);
    if (RG_LIKELY(!part_overridden(self))) return def.set(self, value, def.closure);
    PyObject* result = override_call(self, def.name, value ? "__set__" : "__delete__", &value, value ? 1 : 0, nullptr);
    Py_XDECREF(result);
    return result ? 0 : -1;
  }

 public:
  static PyGetSetDef* table() {
    static std::array<PyGetSetDef, kCount> made;
    for (size_t i = 0; i < kCount; ++i) {
      PyGetSetDef& def = Defs[i];
      made[i] = def;
      if (!def.name || internal(def.name)) continue;
      made[i].get = get;
      if (def.set) made[i].set = set;
      made[i].closure = &def;
    }
    return made.data();
  }
};

template <auto& Defs> class OverridableMethods {
  static constexpr size_t kCount = std::size(Defs);

  template <size_t I> static PyObject* one(PyObject* self, PyObject* arg) {  // METH_NOARGS and METH_O
    const PyMethodDef& def = Defs[I];
    if (RG_LIKELY(!part_overridden(self))) return def.ml_meth(self, arg);
    return override_call(self, def.ml_name, nullptr, &arg, arg ? 1 : 0, nullptr);
  }
  template <size_t I> static PyObject* fast(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
    const PyMethodDef& def = Defs[I];
    if (RG_LIKELY(!part_overridden(self))) {
      const auto function = reinterpret_cast<PyCFunctionFastWithKeywords>(reinterpret_cast<void (*)()>(def.ml_meth));
      return function(self, args, nargs, kwnames);
    }
    return override_call(self, def.ml_name, nullptr, args, nargs, kwnames);
  }
  using PyCFunctionFastWithKeywords = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

  static bool internal(std::string_view name) { return name[0] == '_' || name == "as_subclass"; }
  template <size_t I> static PyMethodDef wrapped() {
    PyMethodDef def = Defs[I];
    if (!def.ml_name || internal(def.ml_name)) return def;
    if (def.ml_flags == METH_NOARGS || def.ml_flags == METH_O) def.ml_meth = one<I>;
    if (def.ml_flags == (METH_FASTCALL | METH_KEYWORDS)) def.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(fast<I>));
    return def;
  }

 public:
  static PyMethodDef* table() {
    static std::array<PyMethodDef, kCount> made = []<size_t... I>(std::index_sequence<I...>) {
      return std::array<PyMethodDef, kCount>{wrapped<I>()...};
    }(std::make_index_sequence<kCount>());
    return made.data();
  }
};

}  // namespace retrograd
