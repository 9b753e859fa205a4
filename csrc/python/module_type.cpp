// Note [Quick modules]
// nn.Module is an ordinary Python class with __getattr__, which finds parameters, buffers and submodules in their tables, and __call__, which
// calls forward. CPython gets to the first only by raising and clearing an AttributeError, and to the second through an extra frame.
// Two type slots do the same without: Module puts them into itself, and through __init_subclass__ into each subclass, where
//   - __getattr__ (and __getattribute__) is the one Module (and object) has, so that classes with their own keep it, and
//   - the slot is the one every Python class gets. Assigning cls.__getattr__ or cls.__call__ later makes CPython put that one back, in
//     subclasses too.
// Whatever is not simple goes to the Python functions, so these slots change how long things take and nothing else.
//
// An error that leaves a call is shown to explain() of src/retrograd/nn/modules/_errors.py, which says in it which layer that was. Calls
// that succeed do not know of it.
#include "python/module_type.h"

#include <iterator>

#include "core/events.h"
#include "core/guards.h"
#include "core/last_error.h"
#include "core/tensor.h"
#include "python/doctor.h"
#include "python/guard.h"
#include "python/interpreter.h"

namespace retrograd {
namespace {

PyTypeObject* root;  // nn.Module
PyObject *root_getattr, *root_call, *object_getattribute;
PyObject* explain;             // (error, whether an op raised it, module, args, kwargs)
getattrofunc python_getattro;  // the slots of a Python class that defines these methods
ternaryfunc python_call;
PyTypeObject* ordered_dict;
PyObject *name_getattr, *name_getattribute, *name_call, *name_forward, *name_hooked;
PyObject* name_tables[3];  // _parameters, _buffers, _modules

// A member of one of the tables, a new reference; null without an error when there is none, or when a table is not a plain dict.
PyObject* find_member(PyObject* dict, PyObject* name) {
  for (PyObject* key : name_tables) {
    PyObject* table = PyDict_GetItemWithError(dict, key);
    if (!table || !is_plain_dict(table)) return nullptr;
    if (PyObject* value = PyDict_GetItemWithError(table, name)) return Py_NewRef(value);
    if (PyErr_Occurred()) return nullptr;
  }
  return nullptr;
}

PyObject* ask_getattr(PyObject* self, PyObject* name) {
  PyObject* arguments[] = {self, name};
  return PyObject_Vectorcall(root_getattr, arguments, 2, nullptr);
}

PyObject* getattro(PyObject* self, PyObject* name) {
  if (RG_UNLIKELY(!PyUnicode_CheckExact(name))) return python_getattro(self, name);
  if (_PyType_Lookup(Py_TYPE(self), name)) {
    PyObject* value = PyObject_GenericGetAttr(self, name);
    if (RG_LIKELY(value) || !PyErr_ExceptionMatches(PyExc_AttributeError)) return value;
    PyErr_Clear();  // a property that raised: __getattr__ has the last word
    return ask_getattr(self, name);
  }
  // Nothing in the class, so an attribute is in the instance's dictionary or nowhere.
  PyObject* dict = PyObject_GenericGetDict(self, nullptr);
  if (RG_UNLIKELY(!dict)) return nullptr;
  PyObject* value = Py_XNewRef(PyDict_GetItemWithError(dict, name));
  if (!value && !PyErr_Occurred()) value = find_member(dict, name);
  Py_DECREF(dict);
  return RG_LIKELY(value) || PyErr_Occurred() ? value : ask_getattr(self, name);
}

// Dictionaries of instances without a forward and without hooks of their own, by what they hold.
uint64_t plain_dicts[256];

bool is_plain(PyObject* dict) {
  const uint64_t content = content_number(dict);
  uint64_t& known = plain_dicts[content % std::size(plain_dicts)];
  if (RG_LIKELY(content != 0 && known == content)) return true;
  if (PyDict_GetItemWithError(dict, name_hooked) || PyDict_GetItemWithError(dict, name_forward) || PyErr_Occurred()) return false;
  known = content;
  return true;
}

// What module(*args, **kwargs) is to call with self in front: the class's forward, borrowed. Null when hooks have to run, when the
// instance has a forward of its own, or when forward is not a plain function.
PyObject* plain_forward(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject* forward = _PyType_Lookup(type, name_forward);
  if (!forward || !PyFunction_Check(forward) || _PyType_Lookup(type, name_hooked) != Py_False) return nullptr;
  PyObject** dict = _PyObject_GetDictPtr(self);
  return dict && *dict && is_plain(*dict) ? forward : nullptr;
}

// The types that ops raise for what they were given. Others, of which theirs may be the base, are not theirs.
bool may_be_explained(PyObject* type) {
  for (PyObject* candidate :
       {PyExc_RuntimeError, PyExc_ValueError, PyExc_IndexError, PyExc_TypeError, PyExc_NotImplementedError, PyExc_AssertionError})
    if (type == candidate) return true;
  return false;
}

// The error in flight, on its way out of a call of `self`.
[[gnu::cold, gnu::noinline]] PyObject* failed(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  if (explain && may_be_explained(type)) {
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback) PyException_SetTraceback(value, traceback);
    PyObject* done = PyObject_CallFunctionObjArgs(explain, value, is_last_error(value) ? Py_True : Py_False, self, args,
                                                  kwargs ? kwargs : Py_None, nullptr);
    if (!done) PyErr_Clear();  // a module that cannot be described (its extra_repr raises): the error as it is
    Py_XDECREF(done);
  }
  PyErr_Restore(type, value, traceback);
  return nullptr;
}

PyObject* call_inside(PyObject* self, PyObject* args, PyObject* kwargs) {
  constexpr Py_ssize_t kFew = 8;
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject* forward = count <= kFew ? plain_forward(self) : nullptr;
  if (RG_UNLIKELY(!forward)) {
    if (PyErr_Occurred()) return nullptr;
    PyObject* result = python_call(self, args, kwargs);
    return RG_LIKELY(result) ? result : failed(self, args, kwargs);
  }
  PyObject* all[kFew + 1] = {self};
  for (Py_ssize_t i = 0; i < count; ++i) all[i + 1] = PyTuple_GET_ITEM(args, i);
  Py_INCREF(forward);  // the call may replace it in its class
  PyObject* result = PyObject_VectorcallDict(forward, all, static_cast<size_t>(count) + 1, kwargs);
  Py_DECREF(forward);
  return RG_LIKELY(result) ? result : failed(self, args, kwargs);
}

// An outermost call is one that no module made; the doctor may want to know of it.
inline PyObject* call_unrecorded(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (RG_LIKELY(in_module) || !doctor.on) return call_inside(self, args, kwargs);
  return guarded([&]() -> PyObject* {
    const bool told = tell_call(self, args, kwargs);
    PyObject* result;
    {
      const Restore outermost(in_module, true);
      result = call_inside(self, args, kwargs);
    }
    if (told) {
      const Owned held(result);
      tell_return(self, result);
      Py_XINCREF(result);
    }
    return result ? result : throw PythonError();
  });
}

// A profile that was asked for modules.
[[gnu::cold, gnu::noinline]] PyObject* call_recorded(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    const OpenEvent event(EventKind::Module, Py_NewRef(Py_TYPE(self)), reinterpret_cast<intptr_t>(self));
    return call_unrecorded(self, args, kwargs);
  });
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  if (RG_UNLIKELY(thread_state.log != nullptr) && thread_state.log->wanted.modules) return call_recorded(self, args, kwargs);
  return call_unrecorded(self, args, kwargs);
}

bool as_in_root(PyTypeObject* type) {
  return _PyType_Lookup(type, name_getattr) == root_getattr && _PyType_Lookup(type, name_getattribute) == object_getattribute;
}

PyObject* quicken(PyObject*, PyObject* o) {
  if (!PyType_Check(o) || !root || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(o), root)) {
    PyErr_SetString(PyExc_TypeError, "_quicken_module() takes a subclass of the class given to _set_module_class()");
    return nullptr;
  }
  auto* type = reinterpret_cast<PyTypeObject*>(o);
  if (type->tp_getattro == python_getattro && as_in_root(type)) type->tp_getattro = getattro;
  if (type->tp_call == python_call && _PyType_Lookup(type, name_call) == root_call) type->tp_call = call;
  Py_RETURN_NONE;
}

PyObject* set_module_class(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyType_Check(o), "_set_module_class() takes a class");
    auto* type = reinterpret_cast<PyTypeObject*>(o);
    PyObject* collections = checked(PyImport_ImportModule("collections"));
    ordered_dict = reinterpret_cast<PyTypeObject*>(checked(PyObject_GetAttrString(collections, "OrderedDict")));
    Py_DECREF(collections);
    root = reinterpret_cast<PyTypeObject*>(Py_NewRef(o));
    root_getattr = Py_XNewRef(_PyType_Lookup(type, name_getattr));
    root_call = Py_XNewRef(_PyType_Lookup(type, name_call));
    object_getattribute = Py_XNewRef(_PyType_Lookup(&PyBaseObject_Type, name_getattribute));
    RG_CHECK_AS(Type, root_getattr && root_call, "_set_module_class() takes a class that defines __getattr__ and __call__");
    python_getattro = type->tp_getattro;
    python_call = type->tp_call;
    set_tree_root(type);
    return quicken(nullptr, o);
  });
}

PyObject* explain_errors_with(PyObject*, PyObject* o) {
  Py_XSETREF(explain, Py_NewRef(o));
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_explain_errors_with", explain_errors_with, METH_O, "Says who explains errors that leave a module; see Note [Quick modules]."},
    {"_set_module_class", set_module_class, METH_O, "Makes a class nn.Module; see Note [Quick modules]."},
    {"_quicken_module", quicken, METH_O, "Gives a subclass of nn.Module the quick slots where they apply."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool is_module(PyObject* o) { return root && PyObject_TypeCheck(o, root); }
bool is_plain_dict(PyObject* o) { return PyDict_CheckExact(o) || Py_TYPE(o) == ordered_dict; }

void init_module_type(PyObject* module) {
  const auto intern = [](const char* text) { return checked(PyUnicode_InternFromString(text)); };
  name_getattr = intern("__getattr__");
  name_getattribute = intern("__getattribute__");
  name_call = intern("__call__");
  name_forward = intern("forward");
  name_hooked = intern("_hooked");
  name_tables[0] = intern("_parameters");
  name_tables[1] = intern("_buffers");
  name_tables[2] = intern("_modules");
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
