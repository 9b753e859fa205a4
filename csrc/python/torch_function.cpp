#include "python/torch_function.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/guards.h"
#include "python/caller_state.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {

PyTypeObject* parameter_type = nullptr;

namespace {

PyObject* disabled_impl = nullptr;  // the function a class names as __torch_function__ to opt out
PyObject* name_torch_function = nullptr;

PyObject* lookup(PyTypeObject* type) { return _PyType_Lookup(type, name_torch_function); }

PyObject* build_kwargs(PyObject* const* values, PyObject* kwnames) {
  PyObject* kwargs = checked(PyDict_New());
  if (kwnames)
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(kwnames); ++i) PyDict_SetItem(kwargs, PyTuple_GET_ITEM(kwnames, i), values[i]);
  return kwargs;
}

// Overloaded arguments in the order they are asked: left to right, subclasses before their parents.
void collect(PyObject* o, std::vector<PyObject*>& out) {
  if (PyTuple_Check(o) || PyList_Check(o)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(o, i);
      if (!PyTuple_Check(item) && !PyList_Check(item)) collect(item, out);
    }
    return;
  }
  if (!has_torch_function(o)) return;
  for (PyObject* seen : out)
    if (Py_TYPE(seen) == Py_TYPE(o)) return;
  size_t at = out.size();
  for (size_t i = 0; i < out.size(); ++i)
    if (PyType_IsSubtype(Py_TYPE(o), Py_TYPE(out[i]))) {
      at = i;
      break;
    }
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), o);
}

// Everybody who could have handled the call returned NotImplemented.
void explain_refusal(PyObject* function, const std::vector<PyObject*>& overloaded, PyObject* mode) {
  PyObject* name = PyObject_GetAttrString(function, "__name__");
  if (!name) PyErr_Clear();
  const bool method = Py_TYPE(function) == &PyMethodDescr_Type || Py_TYPE(function) == &PyWrapperDescr_Type;
  std::string text = std::string("Multiple dispatch failed for 'torch.") + (method ? "Tensor." : "") + (name ? text_of(name) : "?") +
                     "'; all __torch_function__ handlers returned NotImplemented:\n";
  Py_XDECREF(name);
  auto add = [&](const char* what, PyObject* o) {
    PyObject* shown = PyObject_Repr(o);
    text += std::string("\n  - ") + what + " " + (shown ? text_of(shown) : "?");
    Py_XDECREF(shown);
  };
  if (mode) add("mode object", mode);
  for (PyObject* o : overloaded) add(is_tensor(o) ? "tensor subclass" : "type", reinterpret_cast<PyObject*>(Py_TYPE(o)));
  PyErr_SetString(PyExc_TypeError, text.c_str());
}

// The modes of this thread, outermost first, each owned. The first `hidden` of them see nothing; thread_state.function_modes counts the rest.
thread_local std::vector<PyObject*> modes;
thread_local size_t hidden = 0;

void count_modes() {
  hidden = std::min(hidden, modes.size());
  thread_state.function_modes = static_cast<uint32_t>(modes.size() - hidden);
}
void push_mode(PyObject* mode) {
  modes.push_back(Py_NewRef(mode));
  context_count.change(1);
  count_modes();
}
PyObject* pop_mode() {  // new reference
  RG_CHECK(!modes.empty(), "trying to pop from empty mode stack: each __torch_function__ mode that was entered has been left");
  PyObject* mode = modes.back();
  modes.pop_back();
  context_count.change(-1);
  count_modes();
  return mode;
}

}  // namespace

bool type_is_plain_slow(PyTypeObject* type) {
  PyObject* f = lookup(type);
  return f == nullptr || f == disabled_impl;
}

bool has_torch_function(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (type == tensor_type || type == parameter_type) return false;
  if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type || type == &PyTuple_Type || type == &PyList_Type ||
      o == Py_None || type == &PyBool_Type || type == &PyDict_Type)
    return false;
  PyObject* f = lookup(type);
  return f && f != disabled_impl;
}

namespace {
void exchange_modes(std::vector<PyObject*>& others) {  // and lets go of what was there
  std::swap(modes, others);
  context_count.change(static_cast<int>(modes.size()) - static_cast<int>(others.size()));
  count_modes();
  for (PyObject* mode : std::exchange(others, {})) Py_DECREF(mode);
}
}  // namespace

FunctionModesState::FunctionModesState() : modes_(modes), hidden_(hidden) {
  for (PyObject* mode : modes_) Py_INCREF(mode);
}
FunctionModesState::~FunctionModesState() {
  hidden = hidden_;
  exchange_modes(modes_);
}
void leave_all_function_modes() {
  std::vector<PyObject*> none;
  exchange_modes(none);
}

bool any_overloaded(PyObject* const* args, Py_ssize_t count) {
  if (!thread_state.torch_function_enabled || !thread_state.torch_function_subclasses) return false;
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < count && found.empty(); ++i) collect(args[i], found);
  return !found.empty();
}

FunctionModesOff::FunctionModesOff() : hidden_(std::exchange(hidden, modes.size())) { thread_state.function_modes = 0; }
FunctionModesOff::~FunctionModesOff() {
  hidden = hidden_;
  count_modes();
}

PyObject* call_torch_function(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Py_ssize_t shift = self ? 1 : 0;
  PyObject* tuple = checked(PyTuple_New(nargs + shift));
  if (self) PyTuple_SET_ITEM(tuple, 0, Py_NewRef(self));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(tuple, i + shift, Py_NewRef(args[i]));
  PyObject* kwargs = build_kwargs(args + nargs, kwnames);

  std::vector<PyObject*> overloaded;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) collect(PyTuple_GET_ITEM(tuple, i), overloaded);
  for (Py_ssize_t i = 0; kwnames && i < PyTuple_GET_SIZE(kwnames); ++i) collect(args[nargs + i], overloaded);
  for (PyObject* o : overloaded) Py_INCREF(o);  // what is called below may empty the lists that hold them
  PyObject* types = checked(PyTuple_New(static_cast<Py_ssize_t>(overloaded.size())));
  for (size_t i = 0; i < overloaded.size(); ++i)
    PyTuple_SET_ITEM(types, static_cast<Py_ssize_t>(i), Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(overloaded[i]))));

  PyObject* result = nullptr;
  PyObject* declined = nullptr;
  bool failed = false;
  if (function_modes_active()) {
    // The mode is off the stack while it runs.
    PyObject* mode = pop_mode();
    PyObject* method = PyObject_GetAttr(mode, name_torch_function);
    result = method ? PyObject_CallFunctionObjArgs(method, function, types, tuple, kwargs, nullptr) : nullptr;
    Py_XDECREF(method);
    failed = !result;
    push_mode(mode);
    if (result == Py_NotImplemented) {
      Py_CLEAR(result);
      declined = Py_NewRef(mode);
    }
    Py_DECREF(mode);
  }
  for (size_t i = 0; i < overloaded.size() && !result && !failed; ++i) {
    PyObject* method = PyObject_GetAttr(overloaded[i], name_torch_function);
    if (!method) {
      failed = true;
      break;
    }
    result = PyObject_CallFunctionObjArgs(method, function, types, tuple, kwargs, nullptr);
    Py_DECREF(method);
    failed = !result;
    if (result == Py_NotImplemented) Py_CLEAR(result);
  }
  if (!result && !failed) explain_refusal(function, overloaded, declined);
  for (PyObject* o : overloaded) Py_DECREF(o);
  Py_XDECREF(declined);
  Py_DECREF(tuple);
  Py_DECREF(kwargs);
  Py_DECREF(types);
  return result;
}

// ---- Python side ----

namespace {

PyObject* py_disabled(PyObject*, PyObject* args) {
  PyObject *func, *types, *call_args = nullptr, *kwargs = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO", &func, &types, &call_args, &kwargs)) return nullptr;
  const Restore off(thread_state.torch_function_subclasses, false);
  PyObject* empty = nullptr;
  if (!call_args) call_args = empty = PyTuple_New(0);
  PyObject* result = PyObject_Call(func, call_args, kwargs == Py_None ? nullptr : kwargs);
  Py_XDECREF(empty);
  return result;
}

// 0: everything on; 1: subclasses off; 2: modes and subclasses off.
long function_state() { return !thread_state.torch_function_enabled ? 2 : !thread_state.torch_function_subclasses ? 1 : 0; }
void set_function_state(long state) {
  thread_state.torch_function_enabled = state < 2;
  thread_state.torch_function_subclasses = state < 1;
}
PyObject* py_get_state(PyObject*, PyObject*) { return PyLong_FromLong(function_state()); }
PyObject* py_set_state(PyObject*, PyObject* state) {
  const long s = PyLong_AsLong(state);
  if (s == -1 && PyErr_Occurred()) return nullptr;
  set_function_state(s);
  Py_RETURN_NONE;
}

PyObject* py_push_mode(PyObject*, PyObject* mode) {
  push_mode(mode);
  Py_RETURN_NONE;
}
PyObject* py_pop_mode(PyObject*, PyObject*) {
  return guarded([] { return pop_mode(); });
}
PyObject* py_count(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(thread_state.function_modes); }
PyObject* py_mode_at(PyObject*, PyObject* index) {  // 0 is the outermost
  const long wanted = PyLong_AsLong(index);
  if (wanted == -1 && PyErr_Occurred()) return nullptr;
  if (wanted < 0 || static_cast<size_t>(wanted) >= modes.size() - hidden) {
    PyErr_Format(PyExc_IndexError, "there are %u active modes, number %ld was asked for", thread_state.function_modes, wanted);
    return nullptr;
  }
  return Py_NewRef(modes[hidden + static_cast<size_t>(wanted)]);
}

PyObject* py_mode_enabled(PyObject*, PyObject*) { return PyBool_FromLong(function_modes_active()); }

// Context managers that switch __torch_function__ off for a block.
struct DisableObject {
  PyObject_HEAD
  long level;
  long previous;
};
template <long Level> PyObject* disable_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* d = reinterpret_cast<DisableObject*>(type->tp_alloc(type, 0));
  if (d) d->level = Level;
  return reinterpret_cast<PyObject*>(d);
}
PyObject* disable_enter(PyObject* self, PyObject*) {
  auto* d = reinterpret_cast<DisableObject*>(self);
  d->previous = function_state();
  set_function_state(d->level > d->previous ? d->level : d->previous);
  Py_RETURN_NONE;
}
PyObject* disable_exit(PyObject* self, PyObject*) {
  set_function_state(reinterpret_cast<DisableObject*>(self)->previous);
  Py_RETURN_NONE;
}
PyMethodDef disable_methods[] = {
    {"__enter__", disable_enter, METH_NOARGS, nullptr}, {"__exit__", disable_exit, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot disable_all_slots[] = {{Py_tp_new, reinterpret_cast<void*>(disable_new<2>)}, {Py_tp_methods, disable_methods}, {0, nullptr}};
PyType_Slot disable_subclass_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(disable_new<1>)}, {Py_tp_methods, disable_methods}, {0, nullptr}};
PyType_Spec disable_all_spec = {"retrograd._C.DisableTorchFunction", sizeof(DisableObject), 0, Py_TPFLAGS_DEFAULT, disable_all_slots};
PyType_Spec disable_subclass_spec = {"retrograd._C.DisableTorchFunctionSubclass", sizeof(DisableObject), 0, Py_TPFLAGS_DEFAULT,
                                     disable_subclass_slots};

// _overloaded(args, kwargs): whether a call with these goes to __torch_function__.
PyObject* py_overloaded(PyObject*, PyObject* const* given, Py_ssize_t count) {
  if (function_modes_active()) Py_RETURN_TRUE;
  if (count > 0 && PyTuple_Check(given[0]) && any_overloaded(PySequence_Fast_ITEMS(given[0]), PyTuple_GET_SIZE(given[0]))) Py_RETURN_TRUE;
  if (count > 1 && PyDict_Check(given[1])) {
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(given[1], &at, &key, &value);)
      if (any_overloaded(&value, 1)) Py_RETURN_TRUE;
  }
  Py_RETURN_FALSE;
}

PyObject* py_has(PyObject*, PyObject* o) { return PyBool_FromLong(thread_state.torch_function_subclasses && has_torch_function(o)); }

PyObject* py_set_parameter_type(PyObject*, PyObject* type) {
  parameter_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
}

PyObject* py_call(PyObject*, PyObject* args) {
  PyObject *function, *call_args, *kwargs;
  if (!PyArg_ParseTuple(args, "OO!O!", &function, &PyTuple_Type, &call_args, &PyDict_Type, &kwargs)) return nullptr;
  try {
    std::vector<PyObject*> items;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(call_args); ++i) items.push_back(PyTuple_GET_ITEM(call_args, i));
    const Py_ssize_t n = PyTuple_GET_SIZE(call_args);
    PyObject* names = checked(PyTuple_New(PyDict_Size(kwargs)));
    PyObject *key, *value;
    Py_ssize_t pos = 0, k = 0;
    while (PyDict_Next(kwargs, &pos, &key, &value)) {
      PyTuple_SET_ITEM(names, k++, Py_NewRef(key));
      items.push_back(value);
    }
    PyObject* result = call_torch_function(function, nullptr, items.data(), n, names);
    Py_DECREF(names);
    return result;
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

PyMethodDef methods[] = {{"_disabled_torch_function_impl", py_disabled, METH_VARARGS,
                          "A __torch_function__ that opts out: runs the function on the plain tensors."},
                         {"_overloaded", as_method(py_overloaded), METH_FASTCALL,
                          "_overloaded(args, kwargs): whether a call with these goes to __torch_function__"},
                         {"_get_torch_function_state", py_get_state, METH_NOARGS, nullptr},
                         {"_set_torch_function_state", py_set_state, METH_O, nullptr},
                         {"_push_function_mode", py_push_mode, METH_O, "enters a __torch_function__ mode"},
                         {"_pop_function_mode", py_pop_mode, METH_NOARGS, "leaves the innermost mode, and returns it"},
                         {"_len_function_modes", py_count, METH_NOARGS, "how many modes see calls"},
                         {"_get_function_mode", py_mode_at, METH_O, "(n): the n-th of them, outermost first"},
                         {"_is_torch_function_mode_enabled", py_mode_enabled, METH_NOARGS, nullptr},
                         {"_has_torch_function", py_has, METH_O, nullptr},
                         {"_set_parameter_type", py_set_parameter_type, METH_O, nullptr},
                         {"_call_torch_function", py_call, METH_VARARGS, "(function, args, kwargs): dispatches to __torch_function__"},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_torch_function(PyObject* module) {
  name_torch_function = PyUnicode_InternFromString("__torch_function__");
  PyModule_AddFunctions(module, methods);
  PyModule_AddObject(module, "DisableTorchFunction", checked(PyType_FromSpec(&disable_all_spec)));
  PyModule_AddObject(module, "DisableTorchFunctionSubclass", checked(PyType_FromSpec(&disable_subclass_spec)));
  disabled_impl = PyObject_GetAttrString(module, "_disabled_torch_function_impl");
}

}  // namespace retrograd
