// The transforms around a piece of a program, noted and brought back. A checkpoint runs its function a second time, in a backward that may
// run inside other transforms than the first run did: under the vmap of jacrev, say, or after the vmap of the first run is over. What an op
// records and computes follows from the levels of vmap and the depth of transforms around it, so the second run gets those of the first, and
// its autocast.
#include <cstring>

#include "ops/autocast.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/intercept.h"

namespace retrograd {
namespace {

struct Autocasts {
  uint16_t devices = thread_state.autocast;
  AutocastState state = autocast_state();
};

// (depth of transforms, ((batch, level, dual level, transforms) for each level of vmap, outermost first), autocast as bytes).
PyObject* surroundings(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    PyObject* levels = checked(PyList_New(0));
    for (const Handler* h = thread_state.handlers; h; h = h->next) {
      if (h->kind != HandlerKind::Batch) continue;
      PyObject* level = checked(Py_BuildValue("(OiIi)", h->callable, static_cast<int>(h->level), h->dual_level, int{h->transforms}));
      PyList_Append(levels, level);
      Py_DECREF(level);
    }
    PyList_Reverse(levels);
    PyObject* tuple = PyList_AsTuple(levels);
    Py_DECREF(levels);
    const Autocasts autocasts;
    PyObject* bytes = PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&autocasts), sizeof autocasts);
    return checked(Py_BuildValue("(iNN)", int{thread_state.transform_depth}, checked(tuple), bytes));
  });
}

struct Level {
  PyObject* batch;
  int level;
  unsigned dual_level;
  int transforms;
};

struct SurroundedObject {
  PyObject_HEAD
  PyObject* levels;  // owned
  int depth;
  bool inside;
  Autocasts autocasts;
  Handler* handlers;  // from here on what is put back
  uint32_t dual_levels;
  uint32_t last_visible_level;
  uint8_t transform_depth;
  Autocasts outer;
};

std::vector<Level> levels_in(PyObject* tuple) {
  std::vector<Level> out;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    Level l;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(tuple, i), "OiIi", &l.batch, &l.level, &l.dual_level, &l.transforms)) throw PythonError();
    out.push_back(l);
  }
  return out;
}

Handler* copy_of(const Handler* h, Handler* next) {
  return new Handler{Py_NewRef(h->callable), h->kind, h->level, h->dual_level, h->transforms, next};
}

// The stack as it is, with other levels of vmap: those that both have stay where they are, others leave, and what is missing comes on top.
Handler* with_levels(const std::vector<Level>& wanted) {
  std::vector<const Handler*> stack;
  for (const Handler* h = thread_state.handlers; h; h = h->next) stack.push_back(h);
  Handler* top = nullptr;
  size_t found = 0;
  for (auto it = stack.rbegin(); it != stack.rend(); ++it) {
    if ((*it)->kind != HandlerKind::Batch) {
      top = copy_of(*it, top);
    } else if (found < wanted.size() && wanted[found].level == (*it)->level) {
      top = copy_of(*it, top);
      ++found;
    }
  }
  for (; found < wanted.size(); ++found) {
    const Level& l = wanted[found];
    top = new Handler{Py_NewRef(l.batch), HandlerKind::Batch, l.level, l.dual_level, static_cast<uint8_t>(l.transforms), top};
  }
  return top;
}

PyObject* surrounded_new(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *levels, *autocasts;
  int depth;
  if (!PyArg_ParseTuple(args, "(iO!S)", &depth, &PyTuple_Type, &levels, &autocasts)) return nullptr;
  if (PyBytes_GET_SIZE(autocasts) != sizeof(Autocasts)) {
    PyErr_SetString(PyExc_ValueError, "these are no surroundings that _surroundings() gave");
    return nullptr;
  }
  auto* o = reinterpret_cast<SurroundedObject*>(type->tp_alloc(type, 0));
  if (!o) return nullptr;
  o->levels = Py_NewRef(levels);
  o->depth = depth;
  std::memcpy(&o->autocasts, PyBytes_AS_STRING(autocasts), sizeof(Autocasts));
  return reinterpret_cast<PyObject*>(o);
}

PyObject* surrounded_enter(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    auto* o = reinterpret_cast<SurroundedObject*>(self);
    RG_CHECK(!o->inside, "these surroundings have been entered already");
    Handler* stack = with_levels(levels_in(o->levels));
    o->inside = true;
    o->handlers = thread_state.handlers;
    o->dual_levels = thread_state.dual_levels;
    o->last_visible_level = thread_state.last_visible_level;
    o->transform_depth = thread_state.transform_depth;
    set_handler_stack(stack);
    set_dual_levels(0);  // a checkpoint inside forward mode has no second run
    thread_state.last_visible_level = UINT32_MAX;
    set_transform_depth(static_cast<uint8_t>(o->depth));
    o->outer = Autocasts();
    const int64_t nesting = o->outer.state.nesting + (o->autocasts.devices != 0);
    set_autocast(o->autocasts.devices);
    autocast_state() = o->autocasts.state;
    autocast_state().nesting = nesting;
    Py_RETURN_NONE;
  });
}

PyObject* surrounded_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  auto* o = reinterpret_cast<SurroundedObject*>(self);
  if (!o->inside) Py_RETURN_NONE;
  o->inside = false;
  Handler* stack = thread_state.handlers;
  set_handler_stack(o->handlers);
  set_dual_levels(o->dual_levels);
  thread_state.last_visible_level = o->last_visible_level;
  set_transform_depth(o->transform_depth);
  set_autocast(o->outer.devices);
  autocast_state() = o->outer.state;
  if (o->outer.state.nesting == 0) forget_casts();
  release(stack);
  Py_RETURN_NONE;
}

void surrounded_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(reinterpret_cast<SurroundedObject*>(self)->levels);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef surrounded_methods[] = {{"__enter__", surrounded_enter, METH_NOARGS, nullptr},
                                    {"__exit__", as_method(surrounded_exit), METH_FASTCALL, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
PyType_Slot surrounded_slots[] = {{Py_tp_new, reinterpret_cast<void*>(surrounded_new)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(surrounded_dealloc)},
                                  {Py_tp_methods, surrounded_methods},
                                  {0, nullptr}};
PyType_Spec surrounded_spec = {"retrograd._C._Surrounded", sizeof(SurroundedObject), 0, Py_TPFLAGS_DEFAULT, surrounded_slots};

PyMethodDef methods[] = {{"_surroundings", surroundings, METH_NOARGS, "the transforms that run here, for _Surrounded"},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_surroundings(PyObject* module) {
  PyModule_AddFunctions(module, methods);
  PyModule_AddObject(module, "_Surrounded", checked(PyType_FromSpec(&surrounded_spec)));
}

}  // namespace retrograd
