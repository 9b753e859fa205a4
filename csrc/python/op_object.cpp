// _C.Op: a record as Python sees it. Calling it runs the op below the current handler; its attributes are the facts of the entry.
#include <Python.h>
#include <structmember.h>

#include <string_view>
#include <unordered_map>

#include "boxed_arguments.h"
#include "python/autocast.h"
#include "python/guard.h"
#include "python/intercept.h"

namespace retrograd {
namespace {

struct OpObject {
  PyObject_HEAD
  vectorcallfunc call;
  OpRecord* record;
  PyObject* parameters;  // made when they are asked for: tuples
  PyObject* mutates;
  PyObject* batching;
};

OpRecord& record_of(PyObject* self) { return *reinterpret_cast<OpObject*>(self)->record; }

// ---- calling it ----

// The arguments of a call by position that gives what out= is, after the parameters: that one by name.
struct WithOut {
  std::vector<PyObject*> items;  // borrowed, but for the tuple
  PyObject* names = nullptr;
  PyObject* outs = nullptr;
  WithOut(const OpRecord& op, PyObject* const* args, Py_ssize_t given) : items(args, args + given - op.outs) {
    names = checked(Py_BuildValue("(s)", "out"));
    if (op.outs > 1) {
      outs = checked(PyTuple_New(op.outs));
      for (Py_ssize_t i = 0; i < op.outs; ++i) PyTuple_SET_ITEM(outs, i, Py_NewRef(args[given - op.outs + i]));
    }
    items.push_back(outs ? outs : args[given - 1]);
  }
  ~WithOut() {
    Py_XDECREF(names);
    Py_XDECREF(outs);
  }
};

PyObject* op_call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const OpRecord& op = record_of(self);
    RG_CHECK_AS(NotImplemented, op.group, "op ", op.name, " has no Python binding");
    const auto signature = op.group->signatures.subspan(static_cast<size_t>(op.overload), 1);
    // Who is asked by __torch_function__ gets this very op: what is positional here may be a keyword of the function.
    const Group one{op.group->name, signature, false, "", false, self};
    const Reenter reenter(op);
    const Py_ssize_t given = PyVectorcall_NARGS(nargs);
    if (RG_LIKELY(!op.outs || names || given != static_cast<Py_ssize_t>(signature[0].params.size()) + op.outs))
      return call_group(one, nullptr, args, given, names, true);
    const WithOut call(op, args, given);
    return call_group(one, nullptr, call.items.data(), given - op.outs, call.names, true);
  });
}

// ---- what it says about itself ----

PyTypeObject type_of_parameters;  // a named tuple
PyStructSequence_Field parameter_fields[] = {{"name", nullptr},
                                             {"type", "as schemas spell it: Tensor, int[], Scalar?"},
                                             {"default", "None where there is none, too: see required"},
                                             {"keyword_only", nullptr},
                                             {"required", nullptr},
                                             {nullptr, nullptr}};
PyStructSequence_Desc parameter_desc = {"retrograd._C.Parameter", "A parameter of an op.", parameter_fields, 5};

PyObject* text(const char* s) { return s ? PyUnicode_FromString(s) : Py_NewRef(Py_None); }

PyObject* words(const char* const* list) {
  Py_ssize_t count = 0;
  while (list && list[count]) ++count;
  PyObject* tuple = checked(PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple, i, checked(PyUnicode_InternFromString(list[i])));
  return tuple;
}

PyObject* parameter(const char* name, const char* type, PyObject* fallback, bool keyword_only, bool required) {
  PyObject* p = checked(PyStructSequence_New(&type_of_parameters));
  PyStructSequence_SET_ITEM(p, 0, PyUnicode_InternFromString(name));
  PyStructSequence_SET_ITEM(p, 1, PyUnicode_InternFromString(type));
  PyStructSequence_SET_ITEM(p, 2, fallback);
  PyStructSequence_SET_ITEM(p, 3, PyBool_FromLong(keyword_only));
  PyStructSequence_SET_ITEM(p, 4, PyBool_FromLong(required));
  return p;
}

PyObject* make_parameters(const OpRecord& op) {
  const std::span<const ParamSpec> specs = op.group->signatures[static_cast<size_t>(op.overload)].params;
  PyObject* tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(specs.size()) + op.outs));
  Py_ssize_t k = 0;
  for (const ParamSpec& spec : specs) {
    PyObject* fallback = Py_NewRef(Py_None);
    if ((spec.flags & kHasDefault) && !spec.fallback.none) {
      Parsed parsed;
      parsed.fill_default(0, spec);
      Py_SETREF(fallback, checked(boxed(parsed, 0, spec.kind)));
    }
    PyTuple_SET_ITEM(tuple, k++,
                     parameter(spec.flags & kSelf ? "self" : spec.name, kKindSpellings[static_cast<int>(spec.kind)], fallback,
                               spec.flags & kKeywordOnly, !(spec.flags & kHasDefault)));
  }
  for (int i = 0; i < op.outs; ++i)
    PyTuple_SET_ITEM(tuple, k++, parameter(op.outs > 1 ? op.results[i] : "out", "Tensor", Py_NewRef(Py_None), true, true));
  return tuple;
}

// A tuple that is made once.
template <class Make> PyObject* kept(PyObject*& slot, Make make) {
  return guarded([&] {
    if (!slot) slot = make();
    return Py_NewRef(slot);
  });
}

PyObject* op_parameters(PyObject* self, void*) {
  return kept(reinterpret_cast<OpObject*>(self)->parameters, [&] {
    RG_CHECK_AS(NotImplemented, record_of(self).group, "op ", record_of(self).name, " has no Python binding");
    return make_parameters(record_of(self));
  });
}

// The name of an argument by its place.
PyObject* argument_name(PyObject* self, Py_ssize_t place) {
  PyObject* parameters = checked(op_parameters(self, nullptr));
  PyObject* name = Py_NewRef(PyStructSequence_GET_ITEM(PyTuple_GET_ITEM(parameters, place), 0));
  Py_DECREF(parameters);
  return name;
}

PyObject* op_mutates(PyObject* self, void*) {
  return kept(reinterpret_cast<OpObject*>(self)->mutates, [&] {
    const uint32_t bits = record_of(self).mutates;
    PyObject* names = checked(PyTuple_New(__builtin_popcount(bits)));
    Py_ssize_t k = 0;
    for (int i = 0; i < 32; ++i)
      if (bits >> i & 1) PyTuple_SET_ITEM(names, k++, argument_name(self, i));
    return names;
  });
}

PyObject* op_aliases(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* kWords[] = {nullptr, "view", "memory", "maybe", "same"};
    const OpRecord& op = record_of(self);
    const int results = op.aliases == Aliases::None ? 0 : std::max<int>(op.outs, 1);
    PyObject* tuple = checked(PyTuple_New(results));
    for (int i = 0; i < results; ++i) {
      const int place = op.aliases == Aliases::Same ? __builtin_ctz(op.mutates) + i : 0;
      PyTuple_SET_ITEM(tuple, i, checked(Py_BuildValue("(Ns)", argument_name(self, place), kWords[static_cast<int>(op.aliases)])));
    }
    return tuple;
  });
}

PyObject* op_overload(PyObject* self, void*) {
  const std::string_view name = record_of(self).name;
  const size_t dot = name.find('.');
  return PyUnicode_FromString(dot == std::string_view::npos ? "" : name.data() + dot + 1);
}

PyObject* op_functional(PyObject* self, void*) {
  const OpRecord& op = record_of(self);
  if (op.functional) return Py_NewRef(op_object(*op.functional));
  return Py_NewRef(op.mutates ? Py_None : self);
}

PyObject* op_batching(PyObject* self, void*) {
  return kept(reinterpret_cast<OpObject*>(self)->batching, [&] { return words(record_of(self).batching); });
}
PyObject* op_results(PyObject* self, void*) {
  return guarded([&] { return words(record_of(self).results); });
}
PyObject* op_autocast(PyObject* self, void*) { return policy_text(record_of(self).autocast); }
template <auto Member> PyObject* text_fact(PyObject* self, void*) { return text(record_of(self).*Member); }
template <auto Member> PyObject* flag_fact(PyObject* self, void*) { return PyBool_FromLong(record_of(self).*Member); }

PyObject* op_repr(PyObject* self) { return PyUnicode_FromFormat("<op %s>", record_of(self).name); }

PyGetSetDef op_getset[] = {
    {"name", text_fact<&OpRecord::name>, nullptr, "with the overload: sum.dim; add_ in place, add.out into out=", nullptr},
    {"__name__", text_fact<&OpRecord::name>, nullptr, nullptr, nullptr},
    {"overload", op_overload, nullptr, "what is after the dot; empty for none", nullptr},
    {"schema", text_fact<&OpRecord::schema>, nullptr, nullptr, nullptr},
    {"parameters", op_parameters, nullptr, "a tuple of (name, type, default, keyword_only, required)", nullptr},
    {"results", op_results, nullptr, "names of the results; empty where they have none", nullptr},
    {"mutates", op_mutates, nullptr, "names of the arguments that it writes", nullptr},
    {"aliases", op_aliases, nullptr,
     "what results share memory with: (argument, how), how one of view, memory (without being a view), maybe (the argument, a view or a "
     "copy), same (the argument itself); empty for none",
     nullptr},
    {"functional", op_functional, nullptr, "the op that computes the same and writes nothing; None for none", nullptr},
    {"composite", flag_fact<&OpRecord::composite>, nullptr, "whether it is made of other ops, which handlers see too", nullptr},
    {"elementwise", flag_fact<&OpRecord::elementwise>, nullptr, "whether it broadcasts its arguments and works element by element",
     nullptr},
    {"random", flag_fact<&OpRecord::random>, nullptr, "whether it draws numbers", nullptr},
    {"crosses_devices", flag_fact<&OpRecord::crosses_devices>, nullptr, "whether it takes tensors of several devices", nullptr},
    {"syncs", flag_fact<&OpRecord::syncs>, nullptr, "whether it reads values back, for a size or a check", nullptr},
    {"uninitialized", flag_fact<&OpRecord::uninitialized>, nullptr, "whether the values of its result mean nothing", nullptr},
    {"autocast", op_autocast, nullptr, "lower precision, float32, promote, as it is (and what it is made of); None: as it comes", nullptr},
    {"batching", op_batching, nullptr, "the rule of vmap, and the words the op table says to it: ('along', 'dim')", nullptr},
    {"vmap_name", text_fact<&OpRecord::vmap_name>, nullptr, "what vmap calls it in errors; None: aten::name", nullptr},
    {"forward", text_fact<&OpRecord::forward>, nullptr,
     "the rule of forward mode: elementwise, symmetric, linear, multilinear, zero, formula, transposed (backward, transposed), parts, none",
     nullptr},
    {"out", text_fact<&OpRecord::out>, nullptr, "the dtype of out=: exact, castable or any; None: there is no out=", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, call), READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};
PyType_Slot op_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                          {Py_tp_members, op_members},
                          {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                          {Py_tp_getset, op_getset},
                          {0, nullptr}};
PyType_Spec op_spec = {"retrograd._C.Op", sizeof(OpObject), 0,
                       Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL, op_slots};
PyTypeObject* op_type = nullptr;

// ---- finding it ----

std::unordered_map<std::string_view, OpRecord*>& ops_by_name() {
  static std::unordered_map<std::string_view, OpRecord*> all;
  return all;
}

PyObject* find_op(PyObject*, PyObject* name) {
  const char* wanted = PyUnicode_AsUTF8(name);
  if (!wanted) return nullptr;
  const auto found = ops_by_name().find(wanted);
  if (found == ops_by_name().end()) Py_RETURN_NONE;
  return Py_NewRef(op_object(*found->second));
}

PyObject* op_names(PyObject*, PyObject*) {
  PyObject* names = PyList_New(0);
  for (const auto& [name, op] : ops_by_name()) {
    PyObject* item = names ? PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())) : nullptr;
    if (!item || PyList_Append(names, item) != 0) Py_CLEAR(names);
    Py_XDECREF(item);
  }
  return names;
}

PyMethodDef methods[] = {{"_op_names", op_names, METH_NOARGS, "the names of the ops of the table"},
                         {"_find_op", find_op, METH_O, "the op of the table with this name, as handlers get it; None for none"},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* op_object(OpRecord& op) {
  if (!op.object) {
    auto* o = PyObject_New(OpObject, op_type);
    o->call = op_call;
    o->record = &op;
    o->parameters = o->mutates = o->batching = nullptr;
    op.object = reinterpret_cast<PyObject*>(o);
  }
  return op.object;
}

void register_op(OpRecord& op) { ops_by_name().emplace(op.name, &op); }

void init_op_object(PyObject* module) {
  op_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&op_spec)));
  if (PyStructSequence_InitType2(&type_of_parameters, &parameter_desc) != 0) throw PythonError();
  PyModule_AddFunctions(module, methods);
  if (PyModule_AddType(module, op_type) != 0 || PyModule_AddType(module, &type_of_parameters) != 0) throw PythonError();
}

}  // namespace retrograd
