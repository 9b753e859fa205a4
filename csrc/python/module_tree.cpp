// Module.parameters() and its like: an iterator over the tables of a module and of those below it.
//
// In Python they are generators inside generators, a few hundred nanoseconds for each module, in every step that clips gradients or zeroes them.
// The iterator gives what they would, in the same order and as late: code that runs in between may change the tables. Where it comes to
// anything that is not as nn.Module has it (a class or an instance with a named_modules() of its own, a table that is not a dict, members
// that are not tensors) it asks `general`, which makes the Python iterator, for the rest.
#include <new>
#include <utility>
#include <vector>

#include "core/guards.h"
#include "core/tensor.h"
#include "python/guard.h"
#include "python/module_type.h"

namespace retrograd {
namespace {

PyTypeObject* iterator_type;
PyObject *name_modules, *name_getattribute, *dot;
PyObject* object_getattribute;
PyObject* name_training;

// Methods, and what they are in nn.Module.
template <size_t N> struct Methods {
  const char* spelled[N];
  PyObject *names[N], *of_root[N];
  bool are_of_root(PyTypeObject* type) const {
    for (size_t i = 0; i < N; ++i)
      if (_PyType_Lookup(type, names[i]) != of_root[i]) return false;
    return true;
  }
  void intern() {
    for (size_t i = 0; i < N; ++i) names[i] = checked(PyUnicode_InternFromString(spelled[i]));
  }
  void read(PyTypeObject* root) {
    for (size_t i = 0; i < N; ++i) of_root[i] = Py_XNewRef(_PyType_Lookup(root, names[i]));
  }
};
Methods<1> of_each = {{"named_modules"}, {}, {}};  // which the walk stands in for, of each module
Methods<3> of_start = {{"named_parameters", "named_buffers", "_named_members"}, {}, {}};
Methods<4> of_trained = {{"train", "children", "named_children", "__setattr__"}, {}, {}};

// Objects that were met, by identity. They are held, or another might come to live at the address of one.
class Visited {
 public:
  bool insert(PyObject* o) {
    if (2 * (held.size() + 1) > slots_.size()) grow();
    if (!place(o)) return false;
    held.emplace_back(Py_NewRef(o));
    return true;
  }
  std::vector<Owned<>> held;

 private:
  std::vector<PyObject*> slots_;

  bool place(PyObject* o) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = (reinterpret_cast<size_t>(o) >> 4) * 0x9e3779b97f4a7c15u >> 32 & mask;; i = (i + 1) & mask) {
      if (slots_[i] == o) return false;
      if (slots_[i]) continue;
      slots_[i] = o;
      return true;
    }
  }
  void grow() {
    slots_.assign(slots_.empty() ? 16 : 4 * slots_.size(), nullptr);
    for (const Owned<>& o : held) place(o.get());
  }
};

// Where an iteration over a dict is. As in Python, a dict that grows or shrinks meanwhile is an error.
struct Place {
  Owned<> dict;
  Py_ssize_t size = 0, at = 0;

  explicit Place(PyObject* d) : dict(Py_NewRef(d)), size(PyDict_GET_SIZE(d)) {}
  bool next(Owned<>& key, Owned<>& value) {
    RG_CHECK(PyDict_GET_SIZE(dict.get()) == size, "dictionary changed size during iteration");
    PyObject *k, *v;
    if (!PyDict_Next(dict.get(), &at, &k, &v)) return false;
    key = Owned<>(Py_NewRef(k));
    value = Owned<>(Py_NewRef(v));
    return true;
  }
};

class Walk {
 public:
  Walk(PyObject* root, PyObject* table, PyObject* prefix, PyObject* general, bool once)  // table and prefix are taken over
      : start_(Py_NewRef(root)), table_(table), prefix_(prefix), general_(Py_XNewRef(general)), once_(once) {}
  bool is_ordinary = true;  // so far

  // New reference; null at the end.
  PyObject* next() {
    if (RG_UNLIKELY(rest_)) return next_of_rest();
    if (start_) {
      const Owned<> root = std::move(start_);
      is_new(root.get());
      if (!enter(root.get(), Owned<>(Py_XNewRef(prefix_.get())))) return ask_general();
      if (!table_) return given(root.get(), frames_.back().prefix.get());
    }
    while (!frames_.empty()) {
      Owned<> key, value;
      if (!members_.empty()) {
        if (!members_.back().next(key, value)) {
          members_.pop_back();
          continue;
        }
        if (value.get() == Py_None) continue;
        if (!is_tensor(value.get()) || !PyUnicode_CheckExact(key.get())) return ask_general();
        if (is_new(value.get())) return given(value.get(), prefix_ ? name_in_top(key.get()).get() : nullptr);
        continue;
      }
      if (!frames_.back().modules.next(key, value)) {
        frames_.pop_back();
        continue;
      }
      if (value.get() == Py_None) continue;
      if (!is_module(value.get()) || !PyUnicode_CheckExact(key.get())) return ask_general();
      if (!is_new(value.get())) continue;
      if (!enter(value.get(), prefix_ ? name_in_top(key.get()) : Owned<>())) return ask_general();
      if (!table_) return given(value.get(), frames_.back().prefix.get());
    }
    return nullptr;
  }

  // At an end from then on. What it held dies with these, when nothing can be reached from here any more.
  void clear() {
    const Owned<> start(std::move(start_)), general(std::move(general_)), rest(std::move(rest_));
    const auto frames = std::exchange(frames_, {});
    const auto members = std::exchange(members_, {});
    const auto held = std::exchange(visited_.held, {});
  }

  int traverse(visitproc visit, void* arg) {
    for (PyObject* o : {start_.get(), general_.get(), rest_.get()}) Py_VISIT(o);
    for (const Owned<>& o : visited_.held) Py_VISIT(o.get());
    for (const Frame& f : frames_) Py_VISIT(f.modules.dict.get());
    for (const Place& p : members_) Py_VISIT(p.dict.get());
    return 0;
  }

 private:
  struct Frame {
    Place modules;
    Owned<> prefix;
  };
  Owned<> start_;           // until the first call
  Owned<> table_;           // interned: whose members are wanted; null: the modules
  Owned<> prefix_;          // null: without names
  Owned<> general_, rest_;  // rest: once it was asked
  std::vector<Frame> frames_;
  std::vector<Place> members_;  // of the module entered last: one or none
  bool once_;                   // whatever is met again is passed over
  Visited visited_;
  Py_ssize_t count_ = 0;
  static constexpr size_t kDeep = 500;  // a module that contains itself has no end: Python finds that out

  bool is_new(PyObject* o) { return !once_ || visited_.insert(o); }

  Owned<> name_in_top(PyObject* name) const {
    PyObject* prefix = frames_.back().prefix.get();
    if (PyUnicode_GET_LENGTH(prefix) == 0) return Owned<>(Py_NewRef(name));
    const Owned<> with_dot(checked(PyUnicode_Concat(prefix, dot)));
    return Owned<>(checked(PyUnicode_Concat(with_dot.get(), name)));
  }

  PyObject* given(PyObject* o, PyObject* name) {
    ++count_;
    return prefix_ ? checked(PyTuple_Pack(2, name, o)) : Py_NewRef(o);
  }

  PyObject* next_of_rest() {
    PyObject* item = PyIter_Next(rest_.get());
    if (!item && PyErr_Occurred()) throw PythonError();
    return item;
  }

  PyObject* ask_general() {
    is_ordinary = false;
    if (!general_) return nullptr;  // nobody to ask; or it was garbage
    const Owned<> iterable(checked(PyObject_CallNoArgs(general_.get())));
    rest_ = Owned<>(checked(PyObject_GetIter(iterable.get())));
    for (Py_ssize_t i = 0; i < count_; ++i)
      if (const Owned<> skipped(next_of_rest()); !skipped) return nullptr;
    return next_of_rest();
  }

  static PyObject* table_of(PyObject* module, PyObject* dict, PyObject* name) {
    if (_PyType_Lookup(Py_TYPE(module), name)) return nullptr;
    PyObject* table = PyDict_GetItemWithError(dict, name);
    if (!table && PyErr_Occurred()) throw PythonError();
    return table && is_plain_dict(table) ? table : nullptr;
  }

  // False where it is not ordinary.
  bool enter(PyObject* module, Owned<> prefix) {
    PyTypeObject* type = Py_TYPE(module);
    const bool is_root = frames_.empty();
    if (!once_ && frames_.size() > kDeep) return false;
    if (!of_each.are_of_root(type) || (is_root && table_ && !of_start.are_of_root(type)) || type->tp_hash != PyBaseObject_Type.tp_hash ||
        _PyType_Lookup(type, name_getattribute) != object_getattribute)
      return false;
    PyObject** place = _PyObject_GetDictPtr(module);
    if (!place || !*place) return false;
    if (PyDict_GetItemWithError(*place, of_each.names[0])) return false;
    if (PyErr_Occurred()) throw PythonError();
    PyObject* modules = table_of(module, *place, name_modules);
    PyObject* members = modules && table_ ? table_of(module, *place, table_.get()) : nullptr;
    if (!modules || (table_ && !members)) return false;
    if (members && PyDict_GET_SIZE(members)) members_.emplace_back(members);
    frames_.push_back({Place(modules), std::move(prefix)});
    return true;
  }
};

struct TreeIterator {
  PyObject_HEAD
  Walk walk;
};

Walk& walk_of(PyObject* self) { return reinterpret_cast<TreeIterator*>(self)->walk; }

// _module_tree(module, table, prefix, general, once): with a prefix, pairs of names and members.
PyObject* module_tree(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, nargs == 5 && (args[2] == Py_None || PyUnicode_Check(args[2])),
                "_module_tree(module, table, prefix, general, once): prefix has to be a str, or None");
    const int once = PyObject_IsTrue(args[4]);
    if (once < 0) throw PythonError();
    PyObject* self = checked(iterator_type->tp_alloc(iterator_type, 0));
    PyObject* table = args[1] == Py_None ? nullptr : args[1];
    if (table) {
      Py_INCREF(table);
      PyUnicode_InternInPlace(&table);
    }
    new (&walk_of(self)) Walk(args[0], table, args[2] == Py_None ? nullptr : Py_NewRef(args[2]), args[3], once != 0);
    return self;
  });
}

PyObject* next(PyObject* self) {
  return guarded([&] { return walk_of(self).next(); });
}
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return walk_of(self).traverse(visit, arg);
}
// _set_training(module, mode): of all of the tree, where nothing in it has a say in that; whether it was done.
PyObject* set_training(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, nargs == 2 && is_module(args[0]) && PyBool_Check(args[1]), "_set_training(module, mode)");
    Walk walk(args[0], nullptr, nullptr, nullptr, true);
    std::vector<Owned<>> all;
    while (PyObject* module = walk.next()) {
      all.emplace_back(module);
      PyTypeObject* type = Py_TYPE(module);
      const bool has_own = !of_trained.are_of_root(type) || _PyType_Lookup(type, name_training) ||
                           PyDict_GetItemWithError(*_PyObject_GetDictPtr(module), of_trained.names[0]);
      if (has_own) Py_RETURN_FALSE;
      if (PyErr_Occurred()) throw PythonError();
    }
    if (!walk.is_ordinary) Py_RETURN_FALSE;
    for (const Owned<>& module : all)
      if (PyDict_SetItem(*_PyObject_GetDictPtr(module.get()), name_training, args[1]) != 0) throw PythonError();
    Py_RETURN_TRUE;
  });
}

int clear(PyObject* self) {
  walk_of(self).clear();
  return 0;
}
void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  walk_of(self).~Walk();
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)}, {Py_tp_iternext, reinterpret_cast<void*>(next)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},      {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},        {0, nullptr}};
PyType_Spec spec = {"retrograd._C.ModuleTree", sizeof(TreeIterator), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
PyMethodDef methods[] = {{"_module_tree", as_method(module_tree), METH_FASTCALL,
                          "(module, table, prefix, general, once): an iterator over the members of a module and of all below it."},
                         {"_set_training", as_method(set_training), METH_FASTCALL,
                          "(module, mode): of a module and all below it; False, and nothing is done, where Python has to look."},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void set_tree_root(PyTypeObject* root) {
  of_each.read(root);
  of_start.read(root);
  of_trained.read(root);
}

void init_module_tree(PyObject* module) {
  const auto intern = [](const char* text) { return checked(PyUnicode_InternFromString(text)); };
  name_modules = intern("_modules");
  name_getattribute = intern("__getattribute__");
  dot = intern(".");
  object_getattribute = Py_XNewRef(_PyType_Lookup(&PyBaseObject_Type, name_getattribute));
  name_training = intern("training");
  of_each.intern();
  of_start.intern();
  of_trained.intern();
  iterator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
