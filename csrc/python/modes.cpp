// no_grad, enable_grad, set_grad_enabled, inference_mode: context managers cheap enough to use around a single op, and decorators.
//
// Each is an ordinary type that programs may derive from. What is quick is only the exact type: it is made by a vectorcall, from a free list.
// An object knows the modes it found each time it was entered, so one that is entered again before it is left finds its way back.
#include <Python.h>
#include <structmember.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/allocator.h"
#include "core/guards.h"
#include "core/state.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"

namespace retrograd {
namespace {

// ---- the thread's modes ----

// Where recording is switched off, see Note [Where the history was cut]: the running line, or the function that a mode decorates.
void set_mode_site(PyCodeObject* decorated) {
  PyCodeObject* before = thread_state.mode_site.code;
  thread_state.mode_site = decorated ? copy_site({decorated, -1}) : current_site();
  thread_state.off = Off::User;
  Py_XDECREF(reinterpret_cast<PyObject*>(before));
}

void switch_grad(bool on, PyCodeObject* decorated = nullptr) {
  if (!on && thread_state.grad_mode) set_mode_site(decorated);
  set_grad_mode(on);
}

bool read_mode(PyObject* o, bool& value) {
  if (!PyBool_Check(o)) {
    PyErr_Format(PyExc_TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not %s", Py_TYPE(o)->tp_name);
    return false;
  }
  value = o == Py_True;
  return true;
}

PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  bool value;
  if (!read_mode(on, value)) return nullptr;
  switch_grad(value);
  Py_RETURN_NONE;
}
PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.grad_enabled); }
PyObject* is_inference(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.inference_mode); }

// ---- the objects ----

// Gradient and inference mode as found on entering, two bits for each time; more than one word of them only in deep recursions.
class Found {
 public:
  static constexpr unsigned kGrad = 1, kInference = 2;

  bool empty() const { return depth_ == 0; }
  unsigned newest() const { return recent_ & 3; }
  unsigned oldest() const {
    const uint64_t word = older_ ? older_->front() : recent_;
    return word >> 2 * (older_ ? kPerWord - 1 : depth_ - 1) & 3;
  }
  void push() {
    if (depth_ != 0 && depth_ % kPerWord == 0) {
      if (!older_) older_ = std::make_unique<std::vector<uint64_t>>();
      older_->push_back(recent_);
    }
    recent_ = recent_ << 2 | (thread_state.grad_enabled ? kGrad : 0) | (thread_state.inference_mode ? kInference : 0);
    ++depth_;
  }
  unsigned pop() {
    const unsigned found = newest();
    recent_ >>= 2;
    if (--depth_ != 0 && depth_ % kPerWord == 0) {
      recent_ = older_->back();
      older_->pop_back();
      if (older_->empty()) older_.reset();
    }
    return found;
  }

 private:
  static constexpr unsigned kPerWord = 32;
  uint64_t recent_ = 0;
  std::unique_ptr<std::vector<uint64_t>> older_;
  uint64_t depth_ = 0;
};

struct Mode {
  PyObject_HEAD
  PyObject* dict;  // made when the program puts an attribute there; only then does the collector meet the object
  PyObject* weak_references;
  Found found;
  ThreadState* thread;  // where inference_mode was entered
  bool mode;            // set_grad_enabled, inference_mode: what was asked for
  bool prev;            // set_grad_enabled: what was there when it was called
  PyCodeObject* code;   // of the function that is decorated, or null
  Site before;          // where recording had been switched off before this switched it on (owned)
};

Mode* as_mode(PyObject* o) { return reinterpret_cast<Mode*>(o); }

PyTypeObject* types[4];
PyTypeObject*& no_grad_type = types[0];
PyTypeObject*& enable_grad_type = types[1];
PyTypeObject*& set_grad_type = types[2];
PyTypeObject*& inference_type = types[3];

bool is_exact(PyTypeObject* type) {
  return type == no_grad_type || type == enable_grad_type || type == set_grad_type || type == inference_type;
}

constexpr int kKept = 16;
Mode* kept[kKept];  // the free list, of all four types: their memory is alike
int kept_count = 0;

// A new reference, or null with MemoryError set. Subclasses have more fields: those are the business of their own tp_alloc.
Mode* make(PyTypeObject* type) {
  Mode* self;
  if (is_exact(type)) {
    if (kept_count > 0) {
      self = kept[--kept_count];
      PyObject_INIT(reinterpret_cast<PyObject*>(self), type);
    } else {
      self = PyObject_GC_New(Mode, type);
      if (!self) return nullptr;
    }
    self->dict = self->weak_references = nullptr;
  } else {
    self = as_mode(type->tp_alloc(type, 0));
    if (!self) return nullptr;
  }
  new (&self->found) Found();
  self->thread = nullptr;
  self->mode = true;
  self->prev = false;
  self->code = nullptr;
  self->before = {};
  return self;
}

void mode_dealloc(PyObject* o) {
  Mode* self = as_mode(o);
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_UnTrack(o);
  if (self->weak_references) PyObject_ClearWeakRefs(o);
  Py_CLEAR(self->dict);
  Py_XDECREF(reinterpret_cast<PyObject*>(self->code));
  Py_XDECREF(reinterpret_cast<PyObject*>(self->before.code));
  // Inference mode ends with the object that holds it, should nobody have left it.
  if (self->thread == &thread_state && !self->found.empty()) {
    const unsigned before = self->found.oldest();
    set_inference_mode((before & Found::kInference) != 0);
    set_grad_mode((before & Found::kGrad) != 0);
  }
  self->found.~Found();
  if (caching && kept_count < kKept && is_exact(type)) {
    kept[kept_count++] = self;
  } else {
    type->tp_free(o);
  }
  Py_DECREF(type);
}

int mode_traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(as_mode(o)->dict);
  Py_VISIT(Py_TYPE(o));
  return 0;
}
int mode_clear(PyObject* o) {
  Py_CLEAR(as_mode(o)->dict);
  return 0;
}

void track_dict(PyObject* o) {
  if (as_mode(o)->dict && !PyObject_GC_IsTracked(o)) PyObject_GC_Track(o);
}
int mode_setattr(PyObject* o, PyObject* name, PyObject* value) {
  const int failed = PyObject_GenericSetAttr(o, name, value);
  track_dict(o);
  return failed;
}
PyObject* mode_dict(PyObject* o, void* context) {
  PyObject* dict = PyObject_GenericGetDict(o, context);
  track_dict(o);
  return dict;
}

// ---- entering and leaving ----

bool may_leave(PyObject* o, Py_ssize_t arguments) {
  if (arguments != 3) {
    PyErr_Format(PyExc_TypeError, "%s.__exit__() takes 3 positional arguments (exc_type, exc_value, traceback), but %zd were given",
                 Py_TYPE(o)->tp_name, arguments);
    return false;
  }
  if (as_mode(o)->found.empty()) {
    PyErr_Format(PyExc_RuntimeError, "%s.__exit__() was called on an object that is not entered", Py_TYPE(o)->tp_name);
    return false;
  }
  return true;
}

// What is switched on may be switched off again inside, elsewhere; the place that counts after leaving is the one from before.
void keep_site(Mode* self) {
  if (!thread_state.grad_mode && !self->before.code) self->before = copy_site(thread_state.mode_site);
}
void restore_site(Mode* self) {
  if (!self->before.code || thread_state.grad_mode) return;
  std::swap(thread_state.mode_site, self->before);
  Py_XDECREF(reinterpret_cast<PyObject*>(std::exchange(self->before.code, nullptr)));
}

template <bool On> PyObject* switch_enter(PyObject* o, PyObject*) {
  return guarded([&]() -> PyObject* {
    as_mode(o)->found.push();
    if (On) keep_site(as_mode(o));
    switch_grad(On, as_mode(o)->code);
    Py_RETURN_NONE;
  });
}
void leave_switch(Mode* self) {
  set_grad_mode((self->found.pop() & Found::kGrad) != 0);
  restore_site(self);
}
PyObject* switch_exit(PyObject* o, PyObject* const*, Py_ssize_t count) {
  if (!may_leave(o, count)) return nullptr;
  leave_switch(as_mode(o));
  Py_RETURN_NONE;
}

PyObject* set_grad_enter(PyObject* o, PyObject*) {
  if (as_mode(o)->mode) keep_site(as_mode(o));
  switch_grad(as_mode(o)->mode);
  Py_RETURN_NONE;
}
// The mode acts from the call on, so there is a way back without entering, as often as one likes.
PyObject* set_grad_exit(PyObject* o, PyObject* const*, Py_ssize_t) {
  switch_grad(as_mode(o)->prev);
  restore_site(as_mode(o));
  Py_RETURN_NONE;
}

PyObject* inference_enter(PyObject* o, PyObject*) {
  return guarded([&]() -> PyObject* {
    Mode* self = as_mode(o);
    self->found.push();
    self->thread = &thread_state;
    if (!self->mode) keep_site(self);
    if (self->mode && !thread_state.inference_mode) set_mode_site(self->code);
    set_inference_mode(self->mode);
    set_grad_mode(!self->mode);
    Py_RETURN_NONE;
  });
}
// Inference mode switches gradients off; leaving it brings back what was there.
void leave_inference(Mode* self) {
  const unsigned before = self->found.pop();
  set_inference_mode((before & Found::kInference) != 0);
  set_grad_mode((before & Found::kGrad) != 0);
  restore_site(self);
}
PyObject* inference_exit(PyObject* o, PyObject* const*, Py_ssize_t count) {
  if (!may_leave(o, count)) return nullptr;
  leave_inference(as_mode(o));
  Py_RETURN_NONE;
}

PyObject* found_grad(PyObject* o, void*) { return PyBool_FromLong(as_mode(o)->found.newest() & Found::kGrad); }

// ---- making ----

template <bool On> PyObject* switch_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"orig_func", nullptr};
  PyObject* function = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, On ? "|O:enable_grad" : "|O:no_grad", const_cast<char**>(names), &function))
    return nullptr;
  if (function == Py_None) return reinterpret_cast<PyObject*>(make(type));
  Owned self(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(type)));  // @no_grad without brackets
  return self ? PyObject_CallOneArg(self.get(), function) : nullptr;
}

// Unpickling hands both values to __new__; whether they are what a caller may give is for __init__ to say.
PyObject* set_grad_new(PyTypeObject* type, PyObject* args, PyObject*) {
  Mode* self = make(type);
  if (!self) return nullptr;
  if (PyTuple_GET_SIZE(args) == 2) {
    self->mode = PyTuple_GET_ITEM(args, 0) == Py_True;
    self->prev = PyTuple_GET_ITEM(args, 1) == Py_True;
  }
  return reinterpret_cast<PyObject*>(self);
}
int set_grad_init(PyObject* o, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"mode", nullptr};
  PyObject* mode;
  bool value;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:set_grad_enabled", const_cast<char**>(names), &mode) || !read_mode(mode, value))
    return -1;
  as_mode(o)->prev = thread_state.grad_enabled;
  as_mode(o)->mode = value;
  switch_grad(value);
  return 0;
}

PyObject* inference_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"mode", nullptr};
  PyObject* mode = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:inference_mode", const_cast<char**>(names), &mode)) return nullptr;
  if (PyBool_Check(mode)) {
    Mode* self = make(type);
    if (self) self->mode = mode == Py_True;
    return reinterpret_cast<PyObject*>(self);
  }
  Owned self(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(type)));
  return self ? PyObject_CallOneArg(self.get(), mode) : nullptr;
}
int inference_init(PyObject* o, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"mode", nullptr};
  int mode = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|p:inference_mode", const_cast<char**>(names), &mode)) return -1;
  as_mode(o)->mode = mode != 0;
  return 0;
}

// What type.__call__ does: for arguments that want reading, and should a program have replaced __new__ or __init__.
PyObject* call_slowly(PyObject* type, PyObject* const* args, size_t count, PyObject* names) {
  const auto positional = static_cast<Py_ssize_t>(PyVectorcall_NARGS(count));
  Owned tuple(PyTuple_New(positional));
  Owned keywords(names ? PyDict_New() : nullptr);
  if (!tuple || (names && !keywords)) return nullptr;
  for (Py_ssize_t i = 0; i < positional; ++i) PyTuple_SET_ITEM(tuple.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(keywords.get(), PyTuple_GET_ITEM(names, i), args[positional + i]) < 0) return nullptr;
  return PyType_Type.tp_call(type, tuple.get(), keywords.get());
}

initproc plain_init;  // object.__init__

template <bool On> PyObject* switch_call(PyObject* o, PyObject* const* args, size_t count, PyObject* names) {
  auto* type = reinterpret_cast<PyTypeObject*>(o);
  if (PyVectorcall_NARGS(count) != 0 || names || type->tp_new != switch_new<On> || type->tp_init != plain_init)
    return call_slowly(o, args, count, names);
  return reinterpret_cast<PyObject*>(make(type));
}
PyObject* set_grad_call(PyObject* o, PyObject* const* args, size_t count, PyObject* names) {
  auto* type = reinterpret_cast<PyTypeObject*>(o);
  if (PyVectorcall_NARGS(count) != 1 || names || !PyBool_Check(args[0]) || type->tp_new != set_grad_new || type->tp_init != set_grad_init)
    return call_slowly(o, args, count, names);
  Mode* self = make(type);
  if (!self) return nullptr;
  self->prev = thread_state.grad_enabled;
  self->mode = args[0] == Py_True;
  if (self->mode) keep_site(self);
  switch_grad(self->mode);
  return reinterpret_cast<PyObject*>(self);
}
PyObject* inference_call(PyObject* o, PyObject* const* args, size_t count, PyObject* names) {
  auto* type = reinterpret_cast<PyTypeObject*>(o);
  const Py_ssize_t n = PyVectorcall_NARGS(count);
  if (n > 1 || names || (n == 1 && !PyBool_Check(args[0])) || type->tp_new != inference_new || type->tp_init != inference_init)
    return call_slowly(o, args, count, names);
  Mode* self = make(type);
  if (self && n == 1) self->mode = args[0] == Py_True;
  return reinterpret_cast<PyObject*>(self);
}

PyObject* clone_plain(PyObject* o, PyObject*) { return PyObject_CallNoArgs(reinterpret_cast<PyObject*>(Py_TYPE(o))); }
PyObject* clone_mode(PyObject* o, PyObject*) {
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(o)), as_mode(o)->mode ? Py_True : Py_False);
}

// _clone_for(manager, code): manager.clone() for a call of a function with this code, which it decorates.
PyObject* clone_for(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !PyCode_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "_clone_for(manager, code)");
    return nullptr;
  }
  const bool recorded = thread_state.grad_mode;
  PyObject* clone = PyObject_CallMethod(args[0], "clone", nullptr);
  bool ours = false;
  for (PyTypeObject* type : types) ours |= clone && PyObject_TypeCheck(clone, type);
  if (!ours) return clone;
  Mode* mode = as_mode(clone);
  Py_XDECREF(reinterpret_cast<PyObject*>(mode->code));
  mode->code = reinterpret_cast<PyCodeObject*>(Py_NewRef(args[1]));
  if (recorded && !thread_state.grad_mode) set_mode_site(mode->code);  // set_grad_enabled acts when it is made
  return clone;
}

// _call_inside(manager, code, function, args, kwargs): `with _clone_for(manager, code): return function(*args, **kwargs)`, where the manager is
// a plain no_grad, enable_grad or inference_mode.
PyObject* call_inside(PyObject*, PyObject* const* args, Py_ssize_t count) {
  PyTypeObject* type = count == 5 ? Py_TYPE(args[0]) : nullptr;
  if (!type || !is_exact(type) || type == set_grad_type || !PyCode_Check(args[1]) || !PyTuple_Check(args[3]) || !PyDict_Check(args[4])) {
    PyErr_SetString(PyExc_TypeError, "_call_inside(manager, code, function, args, kwargs)");
    return nullptr;
  }
  Mode* mode = make(type);
  if (!mode) return nullptr;
  Owned held(reinterpret_cast<PyObject*>(mode));
  mode->mode = as_mode(args[0])->mode;
  mode->code = reinterpret_cast<PyCodeObject*>(Py_NewRef(args[1]));
  const bool inference = type == inference_type;
  Owned entered(inference                  ? inference_enter(held.get(), nullptr)
                : type == enable_grad_type ? switch_enter<true>(held.get(), nullptr)
                                           : switch_enter<false>(held.get(), nullptr));
  if (!entered) return nullptr;
  PyObject* result = PyObject_Call(args[2], args[3], args[4]);
  inference ? leave_inference(mode) : leave_switch(mode);
  return result;
}

PyObject* no_arguments(PyObject*, PyObject*) { return PyTuple_New(0); }
PyObject* set_grad_arguments(PyObject* o, PyObject*) {
  return Py_BuildValue("(NN)", PyBool_FromLong(as_mode(o)->mode), PyBool_FromLong(as_mode(o)->prev));
}
PyObject* inference_arguments(PyObject* o, PyObject*) { return Py_BuildValue("(N)", PyBool_FromLong(as_mode(o)->mode)); }

PyObject* set_grad_repr(PyObject* o) {
  return PyUnicode_FromFormat("torch.autograd.grad_mode.set_grad_enabled(mode=%s)", as_mode(o)->mode ? "True" : "False");
}

// ---- as decorators ----

// Wrapping a function is rare and long: it is Python, and not even imported before somebody asks for it.
PyObject* decorate(PyObject* o, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"orig_func", nullptr};
  PyObject* function;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:__call__", const_cast<char**>(names), &function)) return nullptr;
  Owned module(PyImport_ImportModule("retrograd.utils._contextlib"));
  return module ? PyObject_CallMethod(module.get(), "decorate", "OO", o, function) : nullptr;
}
PyObject* set_grad_decorate(PyObject* o, PyObject* args, PyObject* kwargs) {
  set_grad_mode(as_mode(o)->prev);  // a decorator acts when the function is called, not where it stands
  return decorate(o, args, kwargs);
}

// ---- the types ----

constexpr const char* kClone = "clone($self, /)\n--\n\nA new context manager of the same mode, for one call of a decorated function.";
constexpr const char* kBaseDoc =
    "Base of context managers that can also decorate: define __enter__, __exit__ and, if __init__ takes arguments, clone.";
constexpr const char* kNoGradDoc = R"(no_grad(orig_func=None)
--

Record no history: results do not require grad, whatever their inputs.

Factory functions that take `requires_grad` still heed it.

Example::

    >>> x = retrograd.ones(2, requires_grad=True)
    >>> with retrograd.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
)";
constexpr const char* kEnableGradDoc = R"(enable_grad(orig_func=None)
--

Record history, also inside `no_grad`.

Example::

    >>> with retrograd.no_grad():
    ...     with retrograd.enable_grad():
    ...         y = retrograd.ones(2, requires_grad=True) * 2
    >>> y.requires_grad
    True
)";
constexpr const char* kSetGradDoc = R"(set_grad_enabled(mode)
--

Switch history on or off: at once when called, until the end of the block in a ``with`` statement.

Example::

    >>> with retrograd.set_grad_enabled(False):
    ...     retrograd.is_grad_enabled()
    False
)";
constexpr const char* kInferenceDoc = R"(inference_mode(mode=True)
--

Like `no_grad`, and the tensors made inside can never enter a graph, which makes them cheaper.

``inference_mode(False)`` switches inference mode off, and history on, inside an outer block.

Example::

    >>> with retrograd.inference_mode():
    ...     y = retrograd.ones(2) * 2
    >>> y.is_inference()
    True
)";

template <bool On>
PyMethodDef switch_methods[] = {{"__enter__", switch_enter<On>, METH_NOARGS, nullptr},
                                {"__exit__", as_method(switch_exit), METH_FASTCALL, nullptr},
                                {"__getnewargs__", no_arguments, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};
PyMethodDef set_grad_methods[] = {{"__enter__", set_grad_enter, METH_NOARGS, nullptr},
                                  {"__exit__", as_method(set_grad_exit), METH_FASTCALL, nullptr},
                                  {"__getnewargs__", set_grad_arguments, METH_NOARGS, nullptr},
                                  {"clone", clone_mode, METH_NOARGS, kClone},
                                  {nullptr, nullptr, 0, nullptr}};
PyMethodDef inference_methods[] = {{"__enter__", inference_enter, METH_NOARGS, nullptr},
                                   {"__exit__", as_method(inference_exit), METH_FASTCALL, nullptr},
                                   {"__getnewargs__", inference_arguments, METH_NOARGS, nullptr},
                                   {"clone", clone_mode, METH_NOARGS, kClone},
                                   {nullptr, nullptr, 0, nullptr}};
PyMethodDef base_methods[] = {{"clone", clone_plain, METH_NOARGS, kClone}, {nullptr, nullptr, 0, nullptr}};

PyGetSetDef mode_attributes[] = {{"__dict__", mode_dict, PyObject_GenericSetDict, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef switch_attributes[] = {{"__dict__", mode_dict, PyObject_GenericSetDict, nullptr, nullptr},
                                   {"prev", found_grad, nullptr, "What gradient mode was when the block was entered.", nullptr},
                                   {nullptr, nullptr, nullptr, nullptr, nullptr}};
constexpr PyMemberDef kDict = {"__dictoffset__", T_PYSSIZET, offsetof(Mode, dict), READONLY, nullptr};
constexpr PyMemberDef kWeak = {"__weaklistoffset__", T_PYSSIZET, offsetof(Mode, weak_references), READONLY, nullptr};
PyMemberDef switch_members[] = {kDict, kWeak, {nullptr, 0, 0, 0, nullptr}};
PyMemberDef set_grad_members[] = {kDict,
                                  kWeak,
                                  {"mode", T_BOOL, offsetof(Mode, mode), 0, nullptr},
                                  {"prev", T_BOOL, offsetof(Mode, prev), 0, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
PyMemberDef inference_members[] = {kDict, kWeak, {"mode", T_BOOL, offsetof(Mode, mode), 0, nullptr}, {nullptr, 0, 0, 0, nullptr}};

template <class F> PyType_Slot slot(int id, F* f) { return {id, reinterpret_cast<void*>(f)}; }
PyType_Slot doc(const char* text) { return {Py_tp_doc, const_cast<char*>(text)}; }

PyObject* make_base() {
  PyType_Slot slots[] = {slot(Py_tp_call, decorate), slot(Py_tp_methods, base_methods), doc(kBaseDoc), {0, nullptr}};
  PyType_Spec spec = {"retrograd.utils._contextlib._DecoratorContextManager", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                      slots};
  return checked(PyType_FromSpec(&spec));
}

PyTypeObject* make_type(const char* name, PyObject* base, std::vector<PyType_Slot> slots, vectorcallfunc call) {
  for (const PyType_Slot& shared : {slot(Py_tp_dealloc, mode_dealloc), slot(Py_tp_traverse, mode_traverse), slot(Py_tp_clear, mode_clear),
                                    slot(Py_tp_setattro, mode_setattr), PyType_Slot{0, nullptr}})
    slots.push_back(shared);
  PyType_Spec spec = {name, sizeof(Mode), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  Owned bases(checked(PyTuple_Pack(1, base)));
  auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, bases.get())));
  type->tp_vectorcall = call;  // subclasses do not inherit it
  return type;
}

PyMethodDef functions[] = {
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS, RG_DOC("is_grad_enabled()", "Whether ops record a graph on this thread.")},
    {"is_inference_mode_enabled", is_inference, METH_NOARGS,
     RG_DOC("is_inference_mode_enabled()", "Whether inference mode is on for this thread.")},
    {"_clone_for", as_method(clone_for), METH_FASTCALL, nullptr},
    {"_call_inside", as_method(call_inside), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_modes(PyObject* module) {
  PyModule_AddFunctions(module, functions);
  plain_init = PyBaseObject_Type.tp_init;
  PyObject* base = make_base();
  no_grad_type = make_type("retrograd.autograd.grad_mode.no_grad", base,
                           {doc(kNoGradDoc), slot(Py_tp_new, switch_new<false>), slot(Py_tp_methods, switch_methods<false>),
                            slot(Py_tp_members, switch_members), slot(Py_tp_getset, switch_attributes)},
                           switch_call<false>);
  enable_grad_type = make_type("retrograd.autograd.grad_mode.enable_grad", base,
                               {doc(kEnableGradDoc), slot(Py_tp_new, switch_new<true>), slot(Py_tp_methods, switch_methods<true>),
                                slot(Py_tp_members, switch_members), slot(Py_tp_getset, switch_attributes)},
                               switch_call<true>);
  set_grad_type = make_type("retrograd.autograd.grad_mode.set_grad_enabled", base,
                            {doc(kSetGradDoc), slot(Py_tp_new, set_grad_new), slot(Py_tp_init, set_grad_init),
                             slot(Py_tp_call, set_grad_decorate), slot(Py_tp_repr, set_grad_repr), slot(Py_tp_methods, set_grad_methods),
                             slot(Py_tp_members, set_grad_members), slot(Py_tp_getset, mode_attributes)},
                            set_grad_call);
  inference_type =
      make_type("retrograd.autograd.grad_mode.inference_mode", base,
                {doc(kInferenceDoc), slot(Py_tp_new, inference_new), slot(Py_tp_init, inference_init),
                 slot(Py_tp_methods, inference_methods), slot(Py_tp_members, inference_members), slot(Py_tp_getset, mode_attributes)},
                inference_call);
  PyModule_AddObject(module, "_DecoratorContextManager", base);
  const std::pair<const char*, PyTypeObject*> named[] = {{"no_grad", no_grad_type},
                                                         {"enable_grad", enable_grad_type},
                                                         {"set_grad_enabled", set_grad_type},
                                                         {"inference_mode", inference_type}};
  for (const auto& [name, type] : named) PyModule_AddObject(module, name, Py_NewRef(reinterpret_cast<PyObject*>(type)));
}

}  // namespace retrograd
