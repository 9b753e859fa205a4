// _Overridable(function, attributes=None, policy of autocast=None, native=None, most=0, inplace=False, names=()): a function written in Python that
// __torch_function__ may take over (retrograd/_overridable.py). Native, because the test stands before every call of nn.functional, linalg and the ops in
// Python: a Python wrapper would cost more than many of these functions do. In place of the function, its address will do, "module:name": it is imported by
// the first call. A call with at most `most` arguments, by position or by one of `names`, is a call of `native`, and the function is not run, unless that gives
// NotImplemented; with `inplace`, also one that says `inplace` is False behind them.
#include <Python.h>
#include <structmember.h>

#include <string>

#include "core/guards.h"
#include "python/autocast.h"
#include "python/guard.h"
#include "python/overridable.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

struct Overridable {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* function;  // owned; the address of it, until it is called
  Autocast autocast;
  bool inplace;
  Py_ssize_t most;
  PyObject* native;  // owned; null where there is none
  PyObject* names;   // owned; a tuple
  PyObject* dict;    // what functools.update_wrapper() copies
  PyObject* weakrefs;
};

Overridable* cast(PyObject* o) { return reinterpret_cast<Overridable*>(o); }

// False with an error set.
[[gnu::noinline]] bool import_function(Overridable* o) {
  const std::string address = PyUnicode_AsUTF8(o->function);
  const size_t colon = address.find(':');
  PyObject* module = PyImport_ImportModule(address.substr(0, colon).c_str());
  if (!module) return false;
  PyObject* found = PyObject_GetAttrString(module, address.substr(colon + 1).c_str());
  Py_DECREF(module);
  if (!found) return false;
  Py_SETREF(o->function, found);
  return true;
}
bool is_there(Overridable* o) { return RG_LIKELY(!PyUnicode_Check(o->function)) || import_function(o); }

// Names in calls are interned, as are those of parameters.
bool has_all(PyObject* names, PyObject* kwnames) {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(kwnames); ++k) {
    bool known = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) known |= PyTuple_GET_ITEM(names, i) == PyTuple_GET_ITEM(kwnames, k);
    if (!known) return false;
  }
  return true;
}

// The native function's arguments: how many there are by position, and the names of the others. None where the function itself has to read them.
struct Straight {
  Py_ssize_t positional = -1;
  PyObject* kwnames = nullptr;
};
Straight straight(const Overridable* o, PyObject* const* args, Py_ssize_t positional, PyObject* kwnames) {
  if (!o->native) return {};
  if (RG_LIKELY(!kwnames)) {
    if (RG_LIKELY(positional <= o->most)) return {positional};
    return o->inplace && positional == o->most + 1 && args[o->most] == Py_False ? Straight{o->most} : Straight{};
  }
  if (positional + PyTuple_GET_SIZE(kwnames) <= o->most && has_all(o->names, kwnames)) return {positional, kwnames};
  return o->inplace && positional <= o->most && PyTuple_GET_SIZE(kwnames) == 1 && args[positional] == Py_False &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "inplace") == 0
             ? Straight{positional}
             : Straight{};
}

// After a failure: PyTorch's words for an argument of a wrong type, where one is to blame (retrograd/_ops/__init__.py); else the failure as it is.
[[gnu::cold, gnu::noinline]] void blame_argument(PyObject* self, PyObject* const* args, Py_ssize_t positional, PyObject* kwnames) {
  PyObject* blame = cast(self)->dict ? PyDict_GetItemString(cast(self)->dict, "__blame__") : nullptr;
  if (!blame) return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* found = nullptr;
  PyObject *given = PyTuple_New(positional), *named = PyDict_New();
  if (given && named) {
    for (Py_ssize_t i = 0; i < positional; ++i) PyTuple_SET_ITEM(given, i, Py_NewRef(args[i]));
    for (Py_ssize_t k = 0; kwnames && k < PyTuple_GET_SIZE(kwnames); ++k)
      PyDict_SetItem(named, PyTuple_GET_ITEM(kwnames, k), args[positional + k]);
    found = PyObject_CallFunctionObjArgs(blame, given, named, nullptr);
  }
  Py_XDECREF(given);
  Py_XDECREF(named);
  PyErr_Clear();
  if (found && PyUnicode_Check(found)) {
    PyErr_SetObject(PyExc_TypeError, found);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  } else {
    PyErr_Restore(type, value, trace);
  }
  Py_XDECREF(found);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  const Py_ssize_t positional = PyVectorcall_NARGS(nargsf);
  const Py_ssize_t count = positional + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  bool asked = RG_UNLIKELY(function_modes_active());
  for (Py_ssize_t i = 0; i < count && !asked; ++i) asked = !is_simple(args[i]) && any_overloaded(args + i, 1);
  if (RG_LIKELY(!asked)) {
    const Straight taken = straight(cast(self), args, positional, kwnames);
    if (taken.positional >= 0) {
      PyObject* result = PyObject_Vectorcall(cast(self)->native, args, static_cast<size_t>(taken.positional), taken.kwnames);
      if (RG_UNLIKELY(!result)) blame_argument(self, args, positional, kwnames);
      if (RG_LIKELY(result != Py_NotImplemented)) return result;
      Py_DECREF(result);
    }
  }
  if (!is_there(cast(self))) return nullptr;
  if (RG_UNLIKELY(thread_state.autocast) && !asked && cast(self)->autocast != Autocast::None)
    return guarded(
        [&] { return call_autocast(cast(self)->autocast, cast(self)->function, args, static_cast<size_t>(positional), kwnames); });
  if (RG_LIKELY(!asked)) {
    PyObject* result = PyObject_Vectorcall(cast(self)->function, args, nargsf, kwnames);
    if (RG_UNLIKELY(!result)) blame_argument(self, args, positional, kwnames);
    return result;
  }
  return guarded([&] { return call_torch_function(self, nullptr, args, positional, kwnames); });
}

PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *function, *attributes = Py_None, *policy = Py_None, *native = Py_None, *names = nullptr;
  Py_ssize_t most = 0;
  int inplace = 0;
  if (!PyArg_ParseTuple(args, "O|OOOnpO!", &function, &attributes, &policy, &native, &most, &inplace, &PyTuple_Type, &names))
    return nullptr;
  if (attributes != Py_None && !PyDict_Check(attributes)) {
    PyErr_SetString(PyExc_TypeError, "_Overridable: expected a dict of attributes, or None");
    return nullptr;
  }
  if (PyUnicode_Check(function) && PyUnicode_FindChar(function, ':', 0, PyUnicode_GET_LENGTH(function), 1) < 0) {
    PyErr_SetString(PyExc_ValueError, "_Overridable: expected a function or its address, 'module:name'");
    return nullptr;
  }
  auto* made = reinterpret_cast<Overridable*>(type->tp_alloc(type, 0));
  if (!made) return nullptr;
  made->call = call;
  made->function = Py_NewRef(function);
  if (attributes != Py_None) made->dict = Py_NewRef(attributes);
  if (native != Py_None) made->native = Py_NewRef(native);
  made->names = names ? Py_NewRef(names) : PyTuple_New(0);
  made->most = most;
  made->inplace = inplace != 0;
  return guarded([&]() -> PyObject* {
    Owned held(reinterpret_cast<PyObject*>(made));
    made->autocast = read_policy(policy);
    return held.release();
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->function);
  Py_VISIT(cast(self)->native);
  Py_VISIT(cast(self)->names);
  Py_VISIT(cast(self)->dict);
  return 0;
}
int clear(PyObject* self) {
  Py_CLEAR(cast(self)->function);
  Py_CLEAR(cast(self)->native);
  Py_CLEAR(cast(self)->names);
  Py_CLEAR(cast(self)->dict);
  return 0;
}
void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {  // as a method
  return !object || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}
PyObject* repr(PyObject* self) { return is_there(cast(self)) ? PyObject_Repr(cast(self)->function) : nullptr; }
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }  // pickled by name, as functions are

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(Overridable, call), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(Overridable, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(Overridable, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef attributes[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {0, nullptr}};
PyType_Spec spec = {"retrograd._C._Overridable", sizeof(Overridable), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};

}  // namespace

void init_overridable_function(PyObject* module) { PyModule_AddObject(module, "_Overridable", checked(PyType_FromSpec(&spec))); }

}  // namespace retrograd
