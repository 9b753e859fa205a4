// The node of an autograd.Function: one kind for all classes of one name, whose derivative is the backward() of the class.
#include <memory>
#include <string>
#include <unordered_map>

#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "core/coded_error.h"
#include "core/guards.h"
#include "core/promote.h"
#include "ops/data.h"
#include "python/function.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

PyTypeObject* class_type = nullptr;

// The kind of node of all Function subclasses of one name; made on first use and kept.
struct FunctionInfo {
  NodeInfo info;
  std::string name, full_name;
};

// The last line of the backward of a class, where gradients are usually returned.
std::string backward_line(PyObject* cls) {
  Owned<> module(PyImport_ImportModule("retrograd.doctor._places"));
  Owned<> line(module.get() ? PyObject_CallMethod(module.get(), "end_of_backward", "O", cls) : nullptr);
  const char* text = line.get() && PyUnicode_Check(line.get()) ? PyUnicode_AsUTF8(line.get()) : nullptr;
  const std::string found = text ? std::string("\n  returned by its backward at ") + text : "";
  PyErr_Clear();  // the error that this is for is told without
  return found;
}

template <class... Args> [[noreturn]] void wrong_gradient(PyObject* cls, const Args&... args) {
  fail_as("custom_function_wrong_gradient", args..., backward_line(cls),
          "\n  Hint: backward returns one gradient for each argument of forward, of the argument's shape, or None where there is none.");
}

Tensor checked_gradient(PyObject* cls, const char* name, size_t index, const TensorMeta& meta, const Node* next, PyObject* object) {
  if (!is_tensor(object))
    wrong_gradient(cls, "expected Variable or None (got ", Py_TYPE(object)->tp_name, "): gradient ", index, " returned by ", name);
  Tensor grad = Tensor::borrow(object);
  if (!same_sizes(grad.sizes(), meta.sizes)) {
    // A gradient may still have the broadcast shape.
    const size_t extra = grad.sizes().size() - meta.sizes.size();
    bool expandable = grad.sizes().size() >= meta.sizes.size();
    for (size_t d = 0; expandable && d < meta.sizes.size(); ++d)
      expandable = meta.sizes[d] == 1 || meta.sizes[d] == grad.sizes()[extra + d];
    if (!expandable)
      wrong_gradient(cls, "Function ", name, " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                     " but expected shape compatible with ", IntSpan(meta.sizes));
    grad = engine_ops.sum_to(grad, meta.sizes);
  }
  if (grad.device() != meta.device && !is_sparse(grad) && !meta.sparse)
    wrong_gradient(cls, "Function ", name, " returned an invalid gradient at index ", index, " - expected device ",
                   device_name(meta.device), " but got ", device_name(grad.device()));
  if (grad.dtype() != meta.dtype) {
    if (!is_complex(meta.dtype) && is_complex(grad.dtype()))
      wrong_gradient(cls, "Function ", name, " returned a complex gradient at index ", index, " for an input of dtype ",
                     dtype_name(meta.dtype), ". The gradient of a real input is real: return grad.real");
    if (!takes_dtype(next, grad.dtype(), meta.dtype)) grad = engine_ops.cast(grad, meta.dtype);
  }
  return grad;
}

// The arguments of backward(): ctx and the gradients; with boxed_grads_call the gradients are in a list, which is all that holds them, unless
// hooks are going to see them.
PyObject* gradient_arguments(FunctionNode* node, std::span<Tensor> in) {
  const FunctionState& s = *node->state;
  static PyObject* name = PyUnicode_InternFromString("boxed_grads_call");
  const bool boxed = class_flag(s.cls, name);
  const auto count = static_cast<Py_ssize_t>(in.size());
  Owned<> args(checked(PyTuple_New(boxed ? 2 : count + 1)));
  PyTuple_SET_ITEM(args.get(), 0, Py_NewRef(node->object()));
  if (boxed) PyTuple_SET_ITEM(args.get(), 1, checked(PyList_New(count)));
  const bool gives_up = boxed && !(node->extra && node->extra->hooks);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(i);
    Tensor g = gives_up ? std::move(in[k]) : in[k];
    if (!g && s.materialize && k < s.outputs.size() && s.outputs[k].is_tensor && !s.outputs[k].sparse)
      g = zeros(s.outputs[k].sizes, s.outputs[k].dtype, s.outputs[k].device);
    if (boxed) {
      PyList_SET_ITEM(PyTuple_GET_ITEM(args.get(), 1), i, wrap(std::move(g)));
    } else {
      PyTuple_SET_ITEM(args.get(), i + 1, wrap(std::move(g)));
    }
  }
  return args.release();
}

void apply_backward(Call& call) {
  auto* node = static_cast<FunctionNode*>(call.node);
  FunctionState& s = *node->state;
  const char* name = node_name(node);
  RG_CHECK(s.cls, "this Function's ctx was cleared by the garbage collector");
  static PyObject* name_backward = PyUnicode_InternFromString("_backward_of");
  Owned<> backward(checked(PyObject_GetAttr(s.cls, name_backward)));
  Owned<> args(gradient_arguments(node, call.in));
  Owned<> result(checked(PyObject_Call(backward.get(), args.get(), nullptr)));
  PyObject* one[1] = {result.get()};
  PyObject* const* items = one;
  Py_ssize_t count = 1;
  if (PyTuple_Check(result.get())) {
    items = PySequence_Fast_ITEMS(result.get());
    count = PySequence_Fast_GET_SIZE(result.get());
  }
  const auto expected = static_cast<Py_ssize_t>(s.inputs.size());
  Py_ssize_t given = count;
  while (given > expected && items[given - 1] == Py_None) --given;  // trailing None are forgiven
  if (given != expected)
    wrong_gradient(s.cls, "function ", name, " returned an incorrect number of gradients (expected ", static_cast<int64_t>(expected),
                   ", got ", static_cast<int64_t>(count), ")");
  for (Py_ssize_t i = 0; i < expected; ++i) {
    const auto k = static_cast<size_t>(i);
    if (items[i] == Py_None) continue;
    if (!s.inputs[k].is_tensor)
      wrong_gradient(s.cls, "function ", name, " returned a gradient different than None at position ", static_cast<int64_t>(i + 1),
                     ", but the corresponding forward input was not a Variable");
    const int edge = s.edge_of_input[k];
    if (!node->edges[edge].node) continue;
    call.out[static_cast<size_t>(edge)] = checked_gradient(s.cls, name, k, s.inputs[k], node->edges[edge].node, items[i]);
  }
}

void destroy_state(Node* node) {
  auto* n = static_cast<FunctionNode*>(node);
  FunctionState* s = std::exchange(n->state, nullptr);
  if (!s) return;
  for (SavedTensor& t : s->saved) t.release();
  s->clear_objects();
  delete s;
}

int traverse_state(Node* node, visitproc visit, void* arg) {
  const FunctionState* s = static_cast<FunctionNode*>(node)->state;
  if (!s) return 0;
  for (const SavedTensor& t : s->saved)
    if (const int r = t.traverse(visit, arg)) return r;
  for (PyObject* o : {s->cls, s->to_save, s->dirty, s->non_differentiable, s->needs_input_grad, s->for_forward}) Py_VISIT(o);
  return 0;
}

void release_saved_tensors(Node* node) {
  FunctionState* s = static_cast<FunctionNode*>(node)->state;
  if (!s) return;
  for (SavedTensor& t : s->saved) t.release();
}

}  // namespace

bool class_flag(PyObject* cls, PyObject* name) {
  Owned<> value(checked(PyObject_GetAttr(cls, name)));
  RG_CHECK(PyBool_Check(value.get()), text_of(name), " must be a bool, got ", Py_TYPE(value.get())->tp_name);
  return value.get() == Py_True;
}

namespace {

// Programs may define a Function anew at every step, and nodes outlive their class: what nodes point to is shared by name and never freed.
const NodeInfo* node_info(const std::string& name) {
  static std::unordered_map<std::string, FunctionInfo*> known;
  FunctionInfo*& f = known[name];
  if (f) return &f->info;
  auto made = std::make_unique<FunctionInfo>();
  made->name = name;
  made->full_name = "torch.autograd.function." + name;
  PyType_Slot own[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
                       {0, nullptr}};
  PyType_Spec spec = {made->full_name.c_str(), static_cast<int>(sizeof(FunctionNode)), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, own};
  auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&spec, reinterpret_cast<PyObject*>(context_type))));
  type->tp_name = made->name.c_str();  // what error messages of the interpreter say
  made->info = NodeInfo{.name = made->name.c_str(),
                        .bytes = sizeof(FunctionNode),
                        .edges_offset = 0,
                        .apply = apply_backward,
                        .saved = {},
                        .destroy = destroy_state,
                        .traverse = traverse_state,
                        .release_saved = release_saved_tensors,
                        .steep = true,  // nobody knows
                        .type = type};
  f = made.release();
  return &f->info;
}

}  // namespace

FunctionClass* class_of(PyObject* cls) {
  static PyObject* key = PyUnicode_InternFromString("_function_class");
  PyObject* dict = reinterpret_cast<PyTypeObject*>(cls)->tp_dict;
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (RG_UNLIKELY(!found || Py_TYPE(found) != class_type)) {
    Owned<> made(checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(class_type))));
    if (PyObject_SetAttr(cls, key, made.get()) != 0) throw PythonError();
    found = made.get();  // owned by the class now
  }
  auto* fc = reinterpret_cast<FunctionClass*>(found);
  if (RG_UNLIKELY(!fc->info)) {
    fc->all_arguments = -1;
    fc->info = node_info(text_of(reinterpret_cast<PyHeapTypeObject*>(cls)->ht_name) + "Backward");
  }
  return fc;
}

namespace {

// Classes that are pickled by value (cloudpickle) arrive without: it is made again.
PyObject* reduce_class(PyObject* self, PyObject*) { return Py_BuildValue("(O())", Py_TYPE(self)); }

PyMethodDef class_methods[] = {{"__reduce__", reduce_class, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot class_slots[] = {{Py_tp_methods, class_methods}, {0, nullptr}};
PyType_Spec class_spec = {"retrograd._C._FunctionClass", sizeof(FunctionClass), 0, Py_TPFLAGS_DEFAULT, class_slots};

}  // namespace

void init_function_node(PyObject* module) {
  class_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&class_spec)));
  PyModule_AddObject(module, "_FunctionClass", Py_NewRef(reinterpret_cast<PyObject*>(class_type)));
}

}  // namespace retrograd
