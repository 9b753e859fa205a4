// Graph nodes as Python sees them: one type per kind of node, all derived from Node.
#include <Python.h>
#include <structmember.h>

#include <map>
#include <string>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

Node* node(PyObject* self) { return reinterpret_cast<Node*>(self); }

// Whether a node is that of an op: SumBackward1, or DiagonalBackward0_copy.
bool is_derivative(std::string_view name) {
  if (name.ends_with("_copy")) name.remove_suffix(5);
  return !name.empty() && name.back() >= '0' && name.back() <= '9';
}

PyObject* name(PyObject* self, PyObject*) {
  const char* text = node_name(node(self));
  const bool own = !node(self)->has(kPython) && !is_derivative(text);         // AccumulateGrad, CopySlices, ...
  return PyUnicode_FromFormat("%s%s", own ? "torch::autograd::" : "", text);  // as PyTorch spells it
}
PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<%s object at %p>", node_name(node(self)), self); }

PyObject* next_functions(PyObject* self, void*) {
  Node* n = node(self);
  PyObject* out = PyTuple_New(n->num_edges);
  for (Py_ssize_t i = 0; out && i < n->num_edges; ++i) {
    const Edge& e = n->edges[i];
    PyObject* next = e.node ? e.node->object() : Py_None;
    PyTuple_SET_ITEM(out, i, Py_BuildValue("(OI)", next, e.nr));
  }
  return out;
}

PyObject* metadata(PyObject* self, void*) {
  NodeExtra& e = extra_of(node(self));
  if (!e.metadata) {
    e.metadata = PyDict_New();
    join_collector(node(self));
    if (e.metadata && e.forward_trace) {  // PyTorch keeps the traceback of anomaly mode here
      PyObject* module = PyImport_ImportModule("retrograd.autograd.anomaly_mode");
      PyObject* lines = module ? PyObject_CallMethod(module, "_lines", "(O)", e.forward_trace) : nullptr;
      if (lines) PyDict_SetItemString(e.metadata, "traceback_", lines);
      if (e.parent) PyDict_SetItemString(e.metadata, "parent_", e.parent);
      Py_XDECREF(lines);
      Py_XDECREF(module);
      PyErr_Clear();
    }
  }
  return Py_XNewRef(e.metadata);
}

PyObject* variable(PyObject* self, void*) {
  if (node(self)->info != &accumulate_grad_info) {
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute 'variable'", node_name(node(self)));
    return nullptr;
  }
  return Py_NewRef(static_cast<AccumulateGrad*>(node(self))->variable->object());
}

PyObject* site(PyObject* self, void*) {
  const Site& s = node(self)->site;
  if (!s.code) Py_RETURN_NONE;
  return Py_BuildValue("(Oi)", s.code->co_filename, site_line(s));
}
PyObject* sequence_nr(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(node(self)->sequence); }
PyObject* set_sequence_nr(PyObject* self, PyObject* value) {
  const unsigned long long v = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) return nullptr;
  node(self)->sequence = v;
  Py_RETURN_NONE;
}
PyObject* requires_grad(PyObject*, void*) { Py_RETURN_TRUE; }
PyObject* attributes(PyObject* self, void*) {
  NodeExtra& e = extra_of(node(self));
  if (!e.dict) {
    e.dict = PyDict_New();
    join_collector(node(self));
  }
  return Py_XNewRef(e.dict);
}
PyObject* step(PyObject* self, void*) { return PyLong_FromUnsignedLong(node(self)->step); }
PyObject* freed(PyObject* self, void*) { return PyBool_FromLong(node(self)->has(kFreed)); }

template <class T> const T& saved(Node* n, const SavedField& f) {
  return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(n) + f.offset);
}

PyObject* saved_value(Node* n, const SavedField& f) {
  switch (f.kind) {
    case FieldKind::Tensor: return wrap(saved<SavedTensor>(n, f).unpack(n));
    case FieldKind::Operand: {
      const OwnedOperand o = unpack(saved<SavedOperand>(n, f), n);
      return o.tensor ? wrap(o.tensor) : wrap(o.scalar);
    }
    case FieldKind::TensorList: return wrap_tuple(saved<SavedTensorList>(n, f).unpack(n));
    case FieldKind::Scalar: return wrap(saved<Scalar>(n, f));
    case FieldKind::OptScalar: {
      const auto& v = saved<std::optional<Scalar>>(n, f);
      return v ? wrap(*v) : none();
    }
    case FieldKind::Int: return wrap(saved<int64_t>(n, f));
    case FieldKind::OptInt: {
      const auto& v = saved<std::optional<int64_t>>(n, f);
      return v ? wrap(*v) : none();
    }
    case FieldKind::Float: return wrap(saved<double>(n, f));
    case FieldKind::OptFloat: {
      const auto& v = saved<std::optional<double>>(n, f);
      return v ? wrap(*v) : none();
    }
    case FieldKind::Bool: return wrap(saved<bool>(n, f));
    case FieldKind::OptBool: {
      const auto& v = saved<std::optional<bool>>(n, f);
      return v ? wrap(*v) : none();
    }
    case FieldKind::IntList:
    case FieldKind::OptIntList: return saved<SavedInts>(n, f).has_value() ? wrap_ints(saved<SavedInts>(n, f).get()) : none();
    case FieldKind::DType: return wrap_dtype(saved<DType>(n, f));
    case FieldKind::Other: break;
  }
  Py_RETURN_NONE;
}

bool holds_tensors(const SavedField& f) {
  return f.kind == FieldKind::Tensor || f.kind == FieldKind::Operand || f.kind == FieldKind::TensorList;
}

// Where a saved tensor is, from the number of its field and, in a list, its place there (in the upper half).
SavedTensor* find_saved(Node* n, size_t index) {
  const SavedField& f = n->info->saved[index & 0xffffffff];
  if (f.kind == FieldKind::Tensor) return const_cast<SavedTensor*>(&saved<SavedTensor>(n, f));
  if (f.kind == FieldKind::Operand) return const_cast<SavedTensor*>(&saved<SavedOperand>(n, f).tensor);
  const auto& list = saved<SavedTensorList>(n, f);
  const size_t place = index >> 32;
  return place < list.count ? &list.items[place] : nullptr;
}

PyObject* raw_value(Node* n, const SavedField& f, size_t index) {
  if (f.kind != FieldKind::TensorList) return raw_saved(n, find_saved, index);
  const uint32_t count = saved<SavedTensorList>(n, f).count;
  PyObject* out = PyTuple_New(count);
  for (uint32_t i = 0; out && i < count; ++i) PyTuple_SET_ITEM(out, i, raw_saved(n, find_saved, index | static_cast<size_t>(i) << 32));
  return out;
}

// PyTorch's names for what we call otherwise.
bool field_is(const SavedField& f, const char* wanted) {
  if (std::strcmp(f.name, wanted) == 0) return true;
  const std::string alias = std::strcmp(wanted, "self_sym_sizes") == 0 ? "self_sizes" : wanted;
  return alias == f.name;
}

PyObject* getattro(PyObject* self, PyObject* attribute) {
  const char* text = PyUnicode_AsUTF8(attribute);
  if (!text) return nullptr;
  if (std::strncmp(text, "_saved_", 7) == 0) {
    for (const SavedField& f : node(self)->info->saved)
      if (field_is(f, text + 7)) return guarded([&] { return saved_value(node(self), f); });
  }
  if (std::strncmp(text, "_raw_saved_", 11) == 0) {
    for (size_t i = 0; i < node(self)->info->saved.size(); ++i)
      if (const SavedField& f = node(self)->info->saved[i]; holds_tensors(f) && field_is(f, text + 11)) return raw_value(node(self), f, i);
  }
  NodeExtra* e = node(self)->extra;
  if (e && e->dict) {
    if (PyObject* v = PyDict_GetItemWithError(e->dict, attribute)) return Py_NewRef(v);
    if (PyErr_Occurred()) return nullptr;
  }
  return PyObject_GenericGetAttr(self, attribute);
}

int setattro(PyObject* self, PyObject* attribute, PyObject* value) {
  if (_PyType_Lookup(Py_TYPE(self), attribute)) return PyObject_GenericSetAttr(self, attribute, value);
  NodeExtra& e = extra_of(node(self));
  if (!e.dict) {
    e.dict = PyDict_New();
    if (!e.dict) return -1;
    join_collector(node(self));
  }
  if (value) return PyDict_SetItem(e.dict, attribute, value);
  const int failed = PyDict_DelItem(e.dict, attribute);
  if (failed && PyErr_ExceptionMatches(PyExc_KeyError))
    PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'", node_name(node(self)), attribute);
  return failed;
}

PyObject* dir(PyObject* self, PyObject*) {
  PyObject* base = PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyBaseObject_Type), "__dir__", "O", self);
  PyObject* list = base ? PySequence_List(base) : nullptr;
  Py_XDECREF(base);
  for (const SavedField& f : node(self)->info->saved)
    for (const char* prefix : {"_saved_", "_raw_saved_"}) {
      if (prefix[1] == 'r' && !holds_tensors(f)) continue;
      PyObject* text = PyUnicode_FromFormat("%s%s", prefix, f.name);
      PyList_Append(list, text);
      Py_DECREF(text);
    }
  return list;
}

// Hook dictionaries are made and filled in Python (autograd/graph.py); a node holds them and the engine runs them.
template <PyObject* NodeExtra::* Member> PyObject* get_slot(PyObject* self, void*) {
  NodeExtra* e = node(self)->extra;
  return Py_NewRef(e && e->*Member ? e->*Member : Py_None);
}
template <PyObject* NodeExtra::* Member> int set_slot(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK_AS(Type, !value || value == Py_None || PyDict_Check(value), "hooks of a node are kept in a dict, got ",
                Py_TYPE(value)->tp_name);
    NodeExtra& e = extra_of(node(self));
    PyObject* old = e.*Member;
    e.*Member = value && value != Py_None ? Py_NewRef(value) : nullptr;
    Py_XDECREF(old);
    join_collector(node(self));
  });
}

PyObject* call(PyObject* self, PyObject* args, PyObject*) {
  // node(*grads): runs this one node, as PyTorch allows.
  return guarded([&]() -> PyObject* {
    Node* n = node(self);
    RG_CHECK_AS(Type, !n->has(kPython), "'", node_name(n), "' object is not callable");
    RG_CHECK_AS(Type, PyTuple_GET_SIZE(args) == n->num_outputs, "expected ", static_cast<int64_t>(n->num_outputs), " arguments, got ",
                static_cast<int64_t>(PyTuple_GET_SIZE(args)), " instead: one gradient for each output of ", node_name(n));
    std::vector<Tensor> in, out;
    bool any = false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
      PyObject* g = PyTuple_GET_ITEM(args, i);
      RG_CHECK_AS(Type, g == Py_None || is_tensor(g), "argument ", static_cast<int64_t>(i), " is not a Variable");
      in.push_back(g == Py_None ? Tensor() : Tensor::borrow(g));
      any |= g != Py_None;
    }
    // Nothing comes of nothing, and derivatives do not expect it.
    out = any || n->has(kTopological) ? run_single(n, in) : std::vector<Tensor>(n->num_edges);
    if (out.size() == 1) return wrap(out[0]);
    return wrap_tuple(out);
  });
}

PyGetSetDef getset[] = {{"next_functions", next_functions, nullptr, "((node, input number), ...): where this node's results go", nullptr},
                        {"metadata", metadata, nullptr, "A dictionary of the user's.", nullptr},
                        {"variable", variable, nullptr, "The leaf an AccumulateGrad node belongs to.", nullptr},
                        {"requires_grad", requires_grad, nullptr, "True: a node is there because something requires grad.", nullptr},
                        {"__dict__", attributes, nullptr, "Attributes that were set from Python.", nullptr},
                        {"_site", site, nullptr, "(file, line) of the call that made this node", nullptr},
                        {"_freed", freed, nullptr, "whether a backward released what this node saved", nullptr},
                        {"_step", step, nullptr, "the training step this node was made in", nullptr},
                        {"_hooks", get_slot<&NodeExtra::hooks>, set_slot<&NodeExtra::hooks>, nullptr, nullptr},
                        {"_pre_hooks", get_slot<&NodeExtra::pre_hooks>, set_slot<&NodeExtra::pre_hooks>, nullptr, nullptr},
                        {"_tensor_hooks", get_slot<&NodeExtra::tensor_hooks>, set_slot<&NodeExtra::tensor_hooks>, nullptr, nullptr},
                        {"_retain_grad", get_slot<&NodeExtra::retain_grad>, set_slot<&NodeExtra::retain_grad>, nullptr, nullptr},
                        {"_forward_trace", get_slot<&NodeExtra::forward_trace>, nullptr, nullptr, nullptr},
                        {"_parent", get_slot<&NodeExtra::parent>, nullptr, "anomaly mode: the node whose backward made this one", nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"name", name, METH_NOARGS, "The name of this kind of node, 'MulBackward0'."},
                         {"_sequence_nr", sequence_nr, METH_NOARGS, nullptr},
                         {"_set_sequence_nr", set_sequence_nr, METH_O, nullptr},
                         {"__dir__", dir, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Node, weakrefs), READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_call, reinterpret_cast<void*>(call)},
                       {Py_tp_getattro, reinterpret_cast<void*>(getattro)},
                       {Py_tp_setattro, reinterpret_cast<void*>(setattro)},
                       {Py_tp_getset, getset},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {0, nullptr}};

constexpr unsigned kTypeFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION;

// The type of all nodes of one name: two ops may share it.
PyTypeObject* node_type_named(const char* name) {
  static std::map<std::string, PyTypeObject*, std::less<>> types;
  const auto [place, added] = types.try_emplace(name);
  if (added) {
    // Given again: CPython would put its own deallocation on a derived heap type.
    PyType_Slot own[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
                         {0, nullptr}};
    const std::string* full = new std::string("retrograd.autograd.graph." + place->first);  // the type keeps the pointer
    PyType_Spec spec = {full->c_str(), static_cast<int>(sizeof(Node)), 0, kTypeFlags, own};
    place->second = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(node_base_type))));
    place->second->tp_name = place->first.c_str();  // what error messages of the interpreter say
  }
  return place->second;
}

PyObject* type_of_name(PyObject*, PyObject* name) {
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) return nullptr;
  return guarded([&] { return Py_NewRef(reinterpret_cast<PyObject*>(node_type_named(text))); });
}
PyMethodDef module_methods[] = {{"_node_type", type_of_name, METH_O, "the type of nodes of this name"}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyTypeObject* node_type_of(const NodeInfo& info) { return node_type_named(info.name); }

void init_node_type(PyObject* module) {
  init_nodes();
  PyType_Spec spec = {"retrograd.autograd.graph.Node", sizeof(Node), 0, kTypeFlags | Py_TPFLAGS_BASETYPE, slots};
  node_base_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  PyModule_AddObject(module, "Node", Py_NewRef(reinterpret_cast<PyObject*>(node_base_type)));
  PyModule_AddFunctions(module, module_methods);
}

}  // namespace retrograd
