// What retrograd/amp knows of the thread's autocast, and functions written in Python that it has to do with. Devices go by the number of their
// row in ops/autocast.h; the names, and what PyTorch says of others, are Python's business.
#include "ops/autocast.h"

#include "python/autocast.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/types.h"

namespace retrograd {
namespace {

constexpr const char* kPolicies[] = {nullptr, "lower precision", "float32", "promote", "as it is"};

// A tensor, or tensors in a list or tuple, as casts make them; anything else as it is. New references.
template <class F> PyObject* each_tensor(PyObject* o, F f) {
  if (is_tensor(o)) return f(o);
  if (!PyList_CheckExact(o) && !PyTuple_CheckExact(o)) return Py_NewRef(o);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(o);
  Owned out(checked(PyTuple_CheckExact(o) ? PyTuple_New(count) : PyList_New(count)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    PyObject* made = is_tensor(item) ? f(item) : Py_NewRef(item);
    if (PyTuple_CheckExact(o))
      PyTuple_SET_ITEM(out.get(), i, made);
    else
      PyList_SET_ITEM(out.get(), i, made);
  }
  return out.release();
}

int read_row(PyObject* o) {
  const long row = PyLong_AsLong(o);
  if (row == -1 && PyErr_Occurred()) throw PythonError();
  RG_CHECK_AS(Value, row >= 0 && row < kAutocastDevices, "there is no device of number ", row);
  return static_cast<int>(row);
}

PyObject* devices(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    Owned out(checked(PyTuple_New(kAutocastDevices)));
    for (int i = 0; i < kAutocastDevices; ++i) PyTuple_SET_ITEM(out.get(), i, checked(PyUnicode_FromString(kAutocastDevice[i].name)));
    return out.release();
  });
}
PyObject* is_enabled(PyObject*, PyObject* row) {
  return guarded([&] { return PyBool_FromLong(thread_state.autocast >> read_row(row) & 1); });
}
PyObject* is_any_enabled(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.autocast != 0); }
PyObject* set_enabled(PyObject*, PyObject* const* args, Py_ssize_t) {
  return guarded([&]() -> PyObject* {
    const auto bit = static_cast<uint16_t>(1 << read_row(args[0]));
    const int on = PyObject_IsTrue(args[1]);
    if (on < 0) throw PythonError();
    set_autocast(static_cast<uint16_t>(on ? thread_state.autocast | bit : thread_state.autocast & ~bit));
    Py_RETURN_NONE;
  });
}
PyObject* get_dtype(PyObject*, PyObject* row) {
  return guarded([&] { return wrap_dtype(autocast_state().dtype[read_row(row)]); });
}
PyObject* set_dtype(PyObject*, PyObject* const* args, Py_ssize_t) {
  return guarded([&]() -> PyObject* {
    DType dtype;
    RG_CHECK_AS(Type, read_dtype(args[1], dtype), "set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not ",
                Py_TYPE(args[1])->tp_name);
    autocast_state().dtype[read_row(args[0])] = dtype;
    Py_RETURN_NONE;
  });
}
PyObject* keeps_casts(PyObject*, PyObject*) { return PyBool_FromLong(autocast_state().keeps_casts); }
PyObject* set_keeps_casts(PyObject*, PyObject* on) {
  autocast_state().keeps_casts = on == Py_True;
  Py_RETURN_NONE;
}
PyObject* clear(PyObject*, PyObject*) {
  forget_casts();
  Py_RETURN_NONE;
}
PyObject* increment(PyObject*, PyObject*) { return PyLong_FromLongLong(++autocast_state().nesting); }
PyObject* decrement(PyObject*, PyObject*) { return PyLong_FromLongLong(--autocast_state().nesting); }

PyMethodDef methods[] = {
    {"_autocast_devices", devices, METH_NOARGS, "the names of devices, in the order of their numbers"},
    {"_is_autocast_enabled", is_enabled, METH_O, nullptr},
    {"_is_any_autocast_enabled", is_any_enabled, METH_NOARGS, nullptr},
    {"_set_autocast_enabled", as_method(set_enabled), METH_FASTCALL, "(number of a device, on)"},
    {"_get_autocast_dtype", get_dtype, METH_O, nullptr},
    {"_set_autocast_dtype", as_method(set_dtype), METH_FASTCALL, "(number of a device, dtype)"},
    {"is_autocast_cache_enabled", keeps_casts, METH_NOARGS,
     "is_autocast_cache_enabled()\n--\n\nWhether casts of weights are kept until autocast is left."},
    {"_set_autocast_cache_enabled", set_keeps_casts, METH_O, nullptr},
    {"clear_autocast_cache", clear, METH_NOARGS, "clear_autocast_cache()\n--\n\nForgets the casts of weights that autocast has kept."},
    {"autocast_increment_nesting", increment, METH_NOARGS,
     "autocast_increment_nesting()\n--\n\nOne more autocast region is entered; how many there are."},
    {"autocast_decrement_nesting", decrement, METH_NOARGS,
     "autocast_decrement_nesting()\n--\n\nAn autocast region is left; how many there are still."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* policy_text(Autocast policy) {
  const char* text = kPolicies[static_cast<int>(policy)];
  if (!text) Py_RETURN_NONE;
  return PyUnicode_FromString(text);
}

Autocast read_policy(PyObject* o) {
  if (o == Py_None) return Autocast::None;
  const char* text = PyUnicode_AsUTF8(o);
  if (!text) throw PythonError();
  if (!*text) return Autocast::None;
  for (int i = 1; i < static_cast<int>(std::size(kPolicies)); ++i)
    if (std::string_view(text) == kPolicies[i]) return static_cast<Autocast>(i);
  fail(ErrorKind::Value, "there is no policy of autocast called ", text);
}

PyObject* call_autocast(Autocast policy, PyObject* function, PyObject* const* args, size_t positional, PyObject* kwnames) {
  const size_t count = positional + (kwnames ? static_cast<size_t>(PyTuple_GET_SIZE(kwnames)) : 0);
  Casting casting(policy);
  for (size_t i = 0; i < count; ++i) {
    Py_DECREF(each_tensor(args[i], [&](PyObject* t) {
      casting.see(Tensor::borrow(t));
      return Py_NewRef(t);
    }));
  }
  std::vector<Owned<>> held;
  std::vector<PyObject*> made;
  for (size_t i = 0; i < count; ++i) {
    held.emplace_back(each_tensor(args[i], [&](PyObject* t) { return wrap(casting.cast(Tensor::borrow(t))); }));
    made.push_back(held.back().get());
  }
  const AutocastOff off;
  return PyObject_Vectorcall(function, made.data(), positional, kwnames);
}

void init_autocast(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
