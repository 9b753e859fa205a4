// autograd.Function: ops written in Python. The ctx that forward and backward see is the graph node itself, so a custom op costs one
// object beside its outputs; what it keeps lives in FunctionState.
#include <Python.h>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/forward.h"
#include "ops/util.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

struct TensorMeta {
  bool is_tensor = false;
  DType dtype = DType::Float32;
  Device device;
  std::vector<int64_t> sizes;
  explicit TensorMeta(const TensorImpl* t) {
    if (!t) return;
    is_tensor = true;
    dtype = t->dtype;
    device = t->storage->device;
    sizes.assign(t->shape().begin(), t->shape().end());
  }
};

struct FunctionState {
  PyObject* cls = nullptr;      // the Function subclass
  PyObject* to_save = nullptr;  // between save_for_backward() and the end of forward
  PyObject* dirty = nullptr;
  PyObject* non_differentiable = nullptr;
  PyObject* needs_input_grad = nullptr;
  PyObject* for_forward = nullptr;  // of save_for_forward(), while apply() runs
  std::vector<SavedTensor> saved;
  std::vector<bool> saved_none;
  std::vector<TensorMeta> inputs, outputs;
  std::vector<int> edge_of_input;  // -1 for arguments that are no tensors
  bool materialize = true;
  bool pure_view = false;    // ctx._is_pure_view: the output is a view of the input and nothing else
  bool handed_over = false;  // what was saved: see clear_saved_tensors_on_access
  bool finished_forward = false;
  bool in_jvp = false;

  // What forward said about its inputs and outputs. An output holds the node, so keeping it would close a cycle.
  void end_forward() {
    Py_CLEAR(to_save);
    Py_CLEAR(dirty);
    Py_CLEAR(non_differentiable);
    Py_CLEAR(for_forward);
  }
  void clear_objects() {
    Py_CLEAR(cls);
    Py_CLEAR(needs_input_grad);
    end_forward();
  }
};

struct FunctionNode : Node { FunctionState* state; };

// The kind of node of all Function subclasses of one name; made on first use and kept.
struct FunctionInfo {
  NodeInfo info;
  std::string name, full_name;
};

// What is known of one Function subclass: an attribute of it, freed with it.
struct FunctionClass {
  PyObject_HEAD
  const NodeInfo* info;
  int all_arguments;  // how many setup_context() expects, when forward() has defaults for some; -1 before anybody looked
};
PyTypeObject* class_type = nullptr;

PyTypeObject* context_type = nullptr;    // base of all ctx types
PyTypeObject* function_base = nullptr;   // base of autograd.Function
PyObject* base_setup_context = nullptr;  // Function.setup_context, to see whether a subclass has its own

FunctionNode* function_node(PyObject* self) { return reinterpret_cast<FunctionNode*>(self); }
FunctionState& state_of(PyObject* self) { return *function_node(self)->state; }

class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* o) : o_(o) {}
  Ref(Ref&& other) noexcept : o_(std::exchange(other.o_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(o_, other.o_);
    return *this;
  }
  ~Ref() { Py_XDECREF(o_); }
  PyObject* get() const { return o_; }
  PyObject* release() { return std::exchange(o_, nullptr); }

 private:
  PyObject* o_ = nullptr;
};

// ---- backward ----

// A class attribute that is True or False.
bool class_flag(PyObject* cls, PyObject* name) {
  Ref value(checked(PyObject_GetAttr(cls, name)));
  RG_CHECK(PyBool_Check(value.get()), text_of(name), " must be a bool, got ", Py_TYPE(value.get())->tp_name);
  return value.get() == Py_True;
}

Tensor checked_gradient(const char* name, size_t index, const TensorMeta& meta, const Node* next, PyObject* object) {
  RG_CHECK(is_tensor(object), "expected Variable or None (got ", Py_TYPE(object)->tp_name, "): gradient ", index, " returned by ", name);
  Tensor grad = Tensor::borrow(object);
  if (!same_sizes(grad.sizes(), meta.sizes)) {
    // A gradient may still have the broadcast shape.
    const size_t extra = grad.sizes().size() - meta.sizes.size();
    bool expandable = grad.sizes().size() >= meta.sizes.size();
    for (size_t d = 0; expandable && d < meta.sizes.size(); ++d)
      expandable = meta.sizes[d] == 1 || meta.sizes[d] == grad.sizes()[extra + d];
    RG_CHECK(expandable, "Function ", name, " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
             " but expected shape compatible with ", IntSpan(meta.sizes));
    grad = engine_ops.sum_to(grad, meta.sizes);
  }
  RG_CHECK(grad.device() == meta.device, "Function ", name, " returned an invalid gradient at index ", index, " - expected device ",
           device_name(meta.device), " but got ", device_name(grad.device()));
  if (grad.dtype() != meta.dtype) {
    RG_CHECK(is_complex(meta.dtype) || !is_complex(grad.dtype()), "Function ", name, " returned a complex gradient at index ", index,
             " for an input of dtype ", dtype_name(meta.dtype), ". The gradient of a real input is real: return grad.real");
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
  Ref args(checked(PyTuple_New(boxed ? 2 : count + 1)));
  PyTuple_SET_ITEM(args.get(), 0, Py_NewRef(node->object()));
  if (boxed) PyTuple_SET_ITEM(args.get(), 1, checked(PyList_New(count)));
  const bool gives_up = boxed && !(node->extra && node->extra->hooks);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto k = static_cast<size_t>(i);
    Tensor g = gives_up ? std::move(in[k]) : in[k];
    if (!g && s.materialize && k < s.outputs.size() && s.outputs[k].is_tensor)
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
  Ref backward(checked(PyObject_GetAttr(s.cls, name_backward)));
  Ref args(gradient_arguments(node, call.in));
  Ref result(checked(PyObject_Call(backward.get(), args.get(), nullptr)));
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
  RG_CHECK(given == expected, "function ", name, " returned an incorrect number of gradients (expected ", static_cast<int64_t>(expected),
           ", got ", static_cast<int64_t>(count), ")");
  for (Py_ssize_t i = 0; i < expected; ++i) {
    const auto k = static_cast<size_t>(i);
    if (items[i] == Py_None) continue;
    RG_CHECK(s.inputs[k].is_tensor, "function ", name, " returned a gradient different than None at position ", static_cast<int64_t>(i + 1),
             ", but the corresponding forward input was not a Variable");
    const int edge = s.edge_of_input[k];
    if (!node->edges[edge].node) continue;
    call.out[static_cast<size_t>(edge)] = checked_gradient(name, k, s.inputs[k], node->edges[edge].node, items[i]);
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

// ---- the class of a ctx ----

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
                        .type = type};
  f = made.release();
  return &f->info;
}

FunctionClass* class_of(PyObject* cls) {
  static PyObject* key = PyUnicode_InternFromString("_function_class");
  PyObject* dict = reinterpret_cast<PyTypeObject*>(cls)->tp_dict;
  PyObject* found = PyDict_GetItemWithError(dict, key);
  if (RG_UNLIKELY(!found || Py_TYPE(found) != class_type)) {
    Ref made(checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(class_type))));
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

// Classes that are pickled by value (cloudpickle) arrive without: it is made again.
PyObject* reduce_class(PyObject* self, PyObject*) { return Py_BuildValue("(O())", Py_TYPE(self)); }

PyMethodDef class_methods[] = {{"__reduce__", reduce_class, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot class_slots[] = {{Py_tp_methods, class_methods}, {0, nullptr}};
PyType_Spec class_spec = {"retrograd._C._FunctionClass", sizeof(FunctionClass), 0, Py_TPFLAGS_DEFAULT, class_slots};

// ---- forward ----

bool contains(PyObject* tuple, const TensorImpl* t) {
  if (!tuple) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i)
    if (PyTuple_GET_ITEM(tuple, i) == reinterpret_cast<const PyObject*>(t)) return true;
  return false;
}

bool is_differentiable(const FunctionState& s, const TensorImpl* out) {
  return is_differentiable(out->dtype) && !contains(s.non_differentiable, out);
}

// Connects one output of forward to the node and returns what the caller gets. `differentiable_outputs`: how many there are.
Tensor connect(FunctionNode* node, Tensor out, bool is_input, uint32_t nr, bool executable, int differentiable_outputs) {
  FunctionState& s = *node->state;
  const bool dirty = contains(s.dirty, out.get());
  const bool differentiable = executable && is_differentiable(s, out.get());
  const ViewOrigin origin = s.pure_view                  ? ViewOrigin::Default
                            : differentiable_outputs > 1 ? ViewOrigin::MultiOutput
                                                         : ViewOrigin::CustomFunction;
  if (dirty) {
    if (!differentiable) {
      // Said not to be differentiable any more: its history ends here. A leaf has none to end, that of a view is its base's: the result is
      // another tensor.
      if (executable && requires_grad(out) && contains(s.non_differentiable, out.get())) {
        if (out->base || !out->grad_fn) return alias(out);
        Py_CLEAR(out->grad_fn);
      }
      return !executable && is_input && requires_grad(out) ? alias(out) : out;
    }
    if (!is_input) {
      const char* text =
          "ctx.mark_dirty() received a tensor that was not an input. Only inputs that forward() wrote to in place are to be given to it.";
      RG_CHECK(!out->base, text);  // its base may be anybody's
      if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
    }
    if (out->base) {
      RG_CHECK(s.outputs.size() <= 1,
               "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more than one "
               "Tensor. Hint: make sure "
               "the input is not a view (using .clone() for example), or let one Function write in place and return that one Tensor, and "
               "another do the rest.");
      check_view_write(out.get());
      Py_INCREF(node->object());
      rebase_history(out, node);
    } else {
      RG_CHECK(out->grad_fn || !requires_grad(out), "a leaf Variable that requires grad has been used in an in-place operation.");
      Py_INCREF(node->object());
      replace_history(out.get(), node, nr);
    }
    Py_CLEAR(out->grad);  // of what it was
    return out;
  }
  if (is_input) {
    // Returned as it came: an alias of it becomes the output, so that the input keeps its own history.
    Tensor same = alias(out);
    if (differentiable || !requires_grad(out)) set_view(same, out, origin);
    out = same;
  }
  if (out->base) out->view_origin = origin;
  // A graph that forward made for itself ends with it.
  if (!differentiable) return !is_input && !out->base && requires_grad(out) ? alias(out) : out;
  Py_INCREF(node->object());
  Node* old = out->grad_fn;
  out->grad_fn = node;
  out->output_nr = nr;
  out->view_version = version_of(out.get());
  track_tensor(out.get());
  Py_XDECREF(reinterpret_cast<PyObject*>(old));
  return out;
}

void save_tensors(FunctionNode* node, std::span<const Tensor> outputs, bool executable) {
  FunctionState& s = *node->state;
  if (!s.to_save || !executable) return;
  const Ref hold(std::exchange(s.to_save, nullptr));  // a pack hook may call save_for_backward() once more
  PyObject* list = hold.get();
  newest_node = node->info;
  const Py_ssize_t n = PyTuple_GET_SIZE(list);
  s.saved.resize(static_cast<size_t>(n));
  s.saved_none.resize(static_cast<size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PyTuple_GET_ITEM(list, i);
    const auto k = static_cast<size_t>(i);
    s.saved_none[k] = o == Py_None;
    if (o == Py_None) continue;
    RG_CHECK_AS(Type, is_tensor(o), "save_for_backward can only save variables, but argument ", static_cast<int64_t>(i), " is of type ",
                Py_TYPE(o)->tp_name);
    const Tensor t = Tensor::borrow(o);
    uint32_t nr = 0;
    bool is_output = false;
    // A view that was written has its history from its base; it is an output all the same, and would hold the node.
    for (size_t j = 0; j < outputs.size(); ++j)
      if (outputs[j] && outputs[j].is(t) && (outputs[j]->grad_fn == node || contains(s.dirty, t.get()))) {
        nr = static_cast<uint32_t>(j);
        is_output = true;
      }
    if (is_output) {
      s.saved[k].save_output(t, nr);
    } else {
      s.saved[k].save(t);
    }
  }
}

PyObject* call_forward(PyObject* cls, FunctionNode* node, PyObject* const* args, Py_ssize_t nargs) {
  static PyObject* name_setup = PyUnicode_InternFromString("setup_context");
  static PyObject* name_forward = PyUnicode_InternFromString("forward");
  Ref forward(checked(PyObject_GetAttr(cls, name_forward)));
  Ref setup(checked(PyObject_GetAttr(cls, name_setup)));
  if (setup.get() == base_setup_context) {
    std::vector<PyObject*> all{node->object()};
    all.insert(all.end(), args, args + nargs);
    return checked(PyObject_Vectorcall(forward.get(), all.data(), all.size(), nullptr));
  }
  Ref output(checked(PyObject_Vectorcall(forward.get(), args, static_cast<size_t>(nargs), nullptr)));
  Ref inputs(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(inputs.get(), i, Py_NewRef(args[i]));
  Ref done(checked(PyObject_CallFunctionObjArgs(setup.get(), node->object(), inputs.get(), output.get(), nullptr)));
  return output.release();
}

// A write in place to a tensor that moves has to move its tangent in place too, and a view of one has to have a view of its tangent: whoever
// else holds the memory sees both.
void check_shared_tangent(const Tensor& out, bool written, PyObject* result, PyObject* const* args, std::span<const Tensor> tangents,
                          std::span<const uint32_t> versions) {
  for (size_t i = 0; i < tangents.size(); ++i) {
    if (!tangents[i]) continue;
    auto* arg = reinterpret_cast<TensorImpl*>(args[i]);
    if (written) {
      RG_CHECK(arg != out.get() || (result == tangents[i]->object() && version_of(tangents[i].get()) != versions[i]),
               "An inplace custom Function is not modifying the forward mode gradients inplace. Where forward writes to an input, the "
               "jvp function must modify the corresponding gradient inplace, and return it.");
      continue;
    }
    if (!out->base || (out->base != arg && out->base != arg->base)) continue;
    const auto* r = is_tensor(result) ? reinterpret_cast<TensorImpl*>(result) : nullptr;
    RG_CHECK(
        r && r->base,
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view. Return a view of the "
        "tangent, for example with view_as().");
    RG_CHECK(r->base == tangents[i].get() || r->base == tangents[i]->base,
             "A custom Function is returning a view but the jvp is not returning a view of ",
             tangents[i]->base ? "the same base as the given grad input." : "the given grad input.");
  }
}

// The tangent that jvp() returned for one output; undefined where there is none to be.
Tensor checked_tangent(PyObject* result, const Tensor& out, bool differentiable, size_t k) {
  RG_CHECK(result == Py_None || is_tensor(result), "expected Variable or None (got ", Py_TYPE(result)->tp_name, ") for grad output ", k,
           ".");
  if (!out) return {};
  RG_CHECK(differentiable || result == Py_None, "Function's jvp returned a gradient at position ", k,
           ", but the corresponding forward output is not a differentiable Tensor. You should return None at that position instead.");
  if (!differentiable) return {};
  RG_CHECK(result != Py_None, "Function's jvp returned None at position ", k,
           ", but the corresponding forward output is a differentiable Tensor. Return zeros where nothing moves, or say so in forward with "
           "ctx.mark_non_differentiable().");
  const Tensor tangent = Tensor::borrow(result);
  RG_CHECK(is_differentiable(tangent.dtype()), "Function's jvp returned a gradient of dtype ", dtype_name(tangent.dtype()), " at position ",
           k, ": expected a floating point dtype.");
  RG_CHECK(same_sizes(tangent.get(), out.get()),
           "Trying to set a forward gradient that has a different size than that of the original Tensor: the Tensor is of size ",
           out.sizes(), ", the forward gradient of size ", tangent.sizes(), ".");
  return tangent;
}

// Asks jvp() for the tangents of the outputs, level by level.
void run_jvp(PyObject* cls, FunctionNode* node, PyObject* const* args, Py_ssize_t nargs, std::span<const Tensor> outputs,
             std::span<const Tensor> raw) {
  FunctionState& s = *node->state;
  Levels levels;
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i])) levels.add(reinterpret_cast<TensorImpl*>(args[i]));
  for (const uint32_t level : levels) {
    Ref call(checked(PyTuple_New(nargs + 1)));
    PyTuple_SET_ITEM(call.get(), 0, Py_NewRef(node->object()));
    std::vector<Tensor> tangents(static_cast<size_t>(nargs));  // of arguments that have one
    std::vector<uint32_t> versions(static_cast<size_t>(nargs));
    for (Py_ssize_t i = 0; i < nargs; ++i) {
      Tensor tangent;
      if (is_tensor(args[i])) {
        const Tensor arg = Tensor::borrow(args[i]);
        tangent = tangents[static_cast<size_t>(i)] = tangent_of(arg, level);
        if (tangent) versions[static_cast<size_t>(i)] = version_of(tangent.get());
        if (!tangent && s.materialize && is_differentiable(arg.dtype())) tangent = forward::tangent_or_zeros(arg, level);
      }
      PyTuple_SET_ITEM(call.get(), i + 1, wrap(std::move(tangent)));
    }
    Ref rule(checked(PyObject_GetAttrString(cls, "jvp")));
    s.in_jvp = true;
    Ref result(PyObject_Call(rule.get(), call.get(), nullptr));
    s.in_jvp = false;
    checked(result.get());
    const bool single = !PyTuple_Check(result.get());
    const auto count = single ? size_t{1} : static_cast<size_t>(PyTuple_GET_SIZE(result.get()));
    RG_CHECK(count == outputs.size(), "Function's jvp returned an invalid number of forward gradients (expected ", outputs.size(),
             " but got ", count, ")");
    for (size_t k = 0; k < count; ++k) {
      PyObject* o = single ? result.get() : PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(k));
      const bool differentiable = raw[k] && is_differentiable(s, raw[k].get());
      const bool written = outputs[k] && contains(s.dirty, outputs[k].get());
      if (differentiable) check_shared_tangent(outputs[k], written, o, args, tangents, versions);
      const Tensor tangent = checked_tangent(o, outputs[k], differentiable, k);
      if (!outputs[k]) continue;
      if (written) {
        forward::give_inplace(outputs[k], level, tangent ? primal(tangent, level) : Tensor());
      } else if (tangent) {
        forward::give(outputs[k], level, primal(tangent, level));
      }
      for (SavedTensor& saved : s.saved)
        if (tangent && saved.is_output && saved.output_nr == k) saved.output_moves(level, tangent_of(outputs[k], level));
    }
  }
}

// For gradcheck, which batches tangents and nothing else: forward and jvp of a Function run inside vmap as any code does, op by op.
thread_local bool plain_in_vmap = false;
PyObject* set_plain_in_vmap(PyObject*, PyObject* on) { return PyBool_FromLong(std::exchange(plain_in_vmap, on == Py_True)); }

// The level of vmap that has to do with these arguments, if any.
Handler* batch_of(PyObject* const* args, Py_ssize_t nargs) {
  Handler* h = RG_LIKELY(!thread_state.attention) ? nullptr : op_handler();
  if (!h || h->kind != HandlerKind::Batch || plain_in_vmap) return nullptr;
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i]) && is_batched(reinterpret_cast<TensorImpl*>(args[i]), h->level)) return h;
  return nullptr;
}

// Inside vmap forward runs on whole batches, below the level and tracked there as anything else is; Python knows how. The node that is
// recorded here is the one of the samples.
PyObject* call_forward_batched(PyObject* cls, FunctionNode* node, Handler* h, PyObject* const* args, Py_ssize_t nargs) {
  Ref output;
  {
    Ref forward(checked(PyObject_GetAttrString(cls, "_forward_batched")));
    std::vector<PyObject*> all{h->callable};
    all.insert(all.end(), args, args + nargs);
    const Below below(h);
    output = Ref(checked(PyObject_Vectorcall(forward.get(), all.data(), all.size(), nullptr)));
  }
  output = Ref(claimed_outputs(h, output.release(), args, nargs));
  const RecordingScope off(false, Off::Forward, node->site);
  const TangentsOff plain;
  Ref inputs(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(inputs.get(), i, Py_NewRef(args[i]));
  Ref done(checked(PyObject_CallMethod(cls, "setup_context", "OOO", node->object(), inputs.get(), output.get())));
  return output.release();
}

// Where the history of an output without one ended: here, or before. What forward computed with may have said it.
void note_output(const Tensor& output, bool executable, PyObject* const* args, Py_ssize_t nargs) {
  constexpr const char* what = "a custom Function";
  if (executable) return note_cut(output.get(), CutKind::NonDifferentiable, what);
  if (output->has_cut) return;
  CutInputs inputs(what);
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i])) inputs.add(reinterpret_cast<TensorImpl*>(args[i]));
  inputs.give(output);
}

PyObject* run_forward(PyObject* cls, PyObject* const* args, Py_ssize_t nargs) {
  FunctionClass* fc = class_of(cls);
  size_t tensors = 0;
  bool any = false;
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i])) {
      ++tensors;
      any |= requires_grad(reinterpret_cast<TensorImpl*>(args[i]));
    }
  const bool executable = any && thread_state.grad_mode;
  auto* node = static_cast<FunctionNode*>(new_node(*fc->info, executable ? tensors : 0));
  Ref hold(node->object());
  // A ctx may hold anything: see Note [Joining the collector]. Nothing is built on it yet, so marking it is enough.
  node->flags |= kPython | kNodeMarked;
  if (!gc_tracked(node->object())) PyObject_GC_Track(node->object());
  auto* s = node->state = new FunctionState();
  s->cls = Py_NewRef(cls);
  s->needs_input_grad = checked(PyTuple_New(nargs));
  s->inputs.reserve(static_cast<size_t>(nargs));
  int edge = 0;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    TensorImpl* t = is_tensor(args[i]) ? reinterpret_cast<TensorImpl*>(args[i]) : nullptr;
    const bool needs = t && requires_grad(t);
    PyTuple_SET_ITEM(s->needs_input_grad, i, Py_NewRef(needs ? Py_True : Py_False));
    s->inputs.emplace_back(t);
    s->edge_of_input.push_back(t ? edge : -1);
    if (t && executable) node->set_edge(static_cast<size_t>(edge), Tensor::borrow(t));
    edge += t != nullptr;
  }

  struct EndForward {
    FunctionState* s;
    ~EndForward() { s->end_forward(); }
  } end_forward{s};  // also when forward, or a hook around what it saves, throws
  Ref result;
  if (Handler* h = batch_of(args, nargs); RG_UNLIKELY(h != nullptr)) {
    result = Ref(call_forward_batched(cls, node, h, args, nargs));
  } else {
    const RecordingScope off(false, Off::Forward, node->site);
    const TangentsOff plain;
    result = Ref(call_forward(cls, node, args, nargs));
  }

  const bool single = !PyTuple_Check(result.get());
  const Py_ssize_t count = single ? 1 : PyTuple_GET_SIZE(result.get());
  Ref out(checked(PyTuple_New(count)));
  std::vector<Tensor> outputs(static_cast<size_t>(count)), raw(static_cast<size_t>(count));
  int differentiable_outputs = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* o = single ? result.get() : PyTuple_GET_ITEM(result.get(), i);
    const TensorImpl* t = is_tensor(o) ? reinterpret_cast<TensorImpl*>(o) : nullptr;
    s->outputs.emplace_back(t);
    differentiable_outputs += t && executable && is_differentiable(*s, t);
  }
  RG_CHECK(!s->pure_view || (tensors == 1 && count == 1),
           "Pure view custom Function can only have one input Tensor and one output Tensor. Got ", tensors, " and ",
           static_cast<int64_t>(count), ": leave ctx._is_pure_view alone.");
  node->num_outputs = static_cast<uint32_t>(count ? count : 1);
  // Before any output is looked at: a view of what was written has seen the write.
  for (Py_ssize_t i = 0; s->dirty && i < PyTuple_GET_SIZE(s->dirty); ++i) wrote_inplace(Tensor::borrow(PyTuple_GET_ITEM(s->dirty, i)));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* o = single ? result.get() : PyTuple_GET_ITEM(result.get(), i);
    if (!is_tensor(o)) {
      PyTuple_SET_ITEM(out.get(), i, Py_NewRef(o));
      continue;
    }
    bool is_input = false;
    for (Py_ssize_t k = 0; k < nargs; ++k) is_input |= args[k] == o;
    const auto k = static_cast<size_t>(i);
    raw[k] = Tensor::borrow(o);
    outputs[k] = connect(node, raw[k], is_input, static_cast<uint32_t>(i), executable, differentiable_outputs);
    if (!requires_grad(outputs[k])) note_output(outputs[k], executable, args, nargs);
    PyTuple_SET_ITEM(out.get(), i, wrap(outputs[k]));
  }
  const auto is_returned = [&](PyObject* dirty) {
    return std::any_of(raw.begin(), raw.end(), [&](const Tensor& t) { return t && t->object() == dirty; });
  };
  for (Py_ssize_t i = 0; s->dirty && i < PyTuple_GET_SIZE(s->dirty); ++i)
    RG_CHECK(is_returned(PyTuple_GET_ITEM(s->dirty, i)),
             "Some elements marked as dirty during the forward method were not returned as output. Return every input that forward "
             "writes in place.");
  save_tensors(node, outputs, executable);
  if (RG_UNLIKELY(thread_state.dual_levels != 0)) run_jvp(cls, node, args, nargs, outputs, raw);
  s->finished_forward = true;
  if (!single) return out.release();
  return Py_NewRef(PyTuple_GET_ITEM(out.get(), 0));
}

// setup_context() sees the defaults of arguments that were left out.
bool needs_defaults(PyObject* cls, Py_ssize_t nargs) {
  FunctionClass* fc = class_of(cls);
  if (RG_UNLIKELY(fc->all_arguments < 0)) {
    Ref count(checked(PyObject_CallMethod(cls, "_count_arguments", nullptr)));
    fc->all_arguments = static_cast<int>(PyLong_AsLong(count.get()));
    if (PyErr_Occurred()) throw PythonError();
  }
  return nargs < fc->all_arguments;
}

PyObject* apply(PyObject* cls, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    nargs = PyVectorcall_NARGS(static_cast<size_t>(nargs));
    if ((kwnames && PyTuple_GET_SIZE(kwnames)) || needs_defaults(cls, nargs)) {
      // Keyword arguments are bound to forward's signature in Python, which calls back with positional ones.
      Ref bind(checked(PyObject_GetAttrString(cls, "_apply_keywords")));
      return checked(PyObject_Vectorcall(bind.get(), args, static_cast<size_t>(nargs), kwnames));
    }
    bool overloaded = function_modes_active();
    for (Py_ssize_t i = 0; i < nargs && thread_state.torch_function_subclasses; ++i)
      overloaded |= is_tensor(args[i]) && !is_plain_tensor(args[i]);
    if (overloaded) {
      Ref self(checked(PyObject_GetAttrString(cls, "apply")));
      return call_torch_function(self.get(), nullptr, args, nargs, nullptr);
    }
    return run_forward(cls, args, nargs);
  });
}

// ---- ctx ----

PyObject* save_for_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    FunctionState& s = state_of(self);
    Ref list(checked(PyTuple_New(nargs)));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(list.get(), i, Py_NewRef(args[i]));
    Py_XSETREF(s.to_save, list.release());
    Py_RETURN_NONE;
  });
}

template <PyObject* FunctionState::* Member> PyObject* remember(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    FunctionState& s = state_of(self);
    constexpr const char* refusal = Member == &FunctionState::dirty
                                        ? "mark_dirty can only accept variables, but argument "
                                        : "mark_non_differentiable only accepts variable arguments, but got argument ";
    for (Py_ssize_t i = 0; i < nargs; ++i)
      RG_CHECK(is_tensor(args[i]), refusal, static_cast<int64_t>(i), " is of type ", Py_TYPE(args[i])->tp_name);
    Ref list(checked(PyTuple_New(nargs)));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(list.get(), i, Py_NewRef(args[i]));
    PyObject* old = std::exchange(s.*Member, list.release());
    Py_XDECREF(old);
    Py_RETURN_NONE;
  });
}

int put_materialize(PyObject* self, PyObject* on, void*) {
  return guarded_int([&] {
    RG_CHECK_AS(Type, on && PyBool_Check(on), "set_materialize_grads received an invalid combination of arguments - got (",
                on ? Py_TYPE(on)->tp_name : "nothing", "), but expected (bool value)");
    state_of(self).materialize = on == Py_True;
  });
}
PyObject* set_materialize(PyObject* self, PyObject* on) {
  if (put_materialize(self, on, nullptr) != 0) return nullptr;
  Py_RETURN_NONE;
}

// Unlike a derivative formula, which never looks, Python gets a saved output with its history in any mode.
Tensor unpacked(FunctionNode* node, const SavedTensor& saved) {
  if (saved.had_history && saved.tensor && !saved.tensor->grad_fn && !thread_state.grad_enabled) {
    struct Forgive {  // detach_() took a history that nobody asks for
      SavedTensor& saved;
      ~Forgive() { saved.had_history = true; }
    } forgive{const_cast<SavedTensor&>(saved)};
    forgive.saved.had_history = false;
    return saved.unpack(node);
  }
  if (!saved.is_output || saved.packed) return saved.unpack(node);
  const bool grad_enabled = thread_state.grad_enabled;
  set_grad_mode(true);
  struct Restore {
    bool on;
    ~Restore() { set_grad_mode(on); }
  } restore{grad_enabled};
  return saved.unpack(node);
}

// Until forward has ended nothing is saved; jvp() sees what was saved for it.
PyObject* saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionNode* node = function_node(self);
    FunctionState& s = *node->state;
    if (s.in_jvp && s.for_forward) return Py_NewRef(s.for_forward);
    if (s.in_jvp || !s.finished_forward) return checked(PyTuple_New(0));
    RG_CHECK(!s.handed_over,
             "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
             "autograd.Function: keep what the first access gave, or do without that flag.");
    if (node->has(kFreed)) fail_freed(node);
    Ref out(checked(PyTuple_New(static_cast<Py_ssize_t>(s.saved.size()))));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(out.get()); ++i) {
      const auto k = static_cast<size_t>(i);
      if (s.handed_over || node->has(kFreed)) fail_freed(node);  // an unpack hook ran a backward, or asked for them itself
      PyTuple_SET_ITEM(out.get(), i, s.saved_none[k] ? none() : wrap(unpacked(node, s.saved[k])));
    }
    static PyObject* name = PyUnicode_InternFromString("clear_saved_tensors_on_access");
    if (s.cls && class_flag(s.cls, name)) {
      s.handed_over = true;
      for (SavedTensor& t : std::exchange(s.saved, {})) t.release();
    }
    return out.release();
  });
}

PyObject* saved_variables(PyObject* self, void*) {
  if (PyErr_WarnEx(PyExc_DeprecationWarning, "'saved_variables' is deprecated; use 'saved_tensors'", 1) != 0) return nullptr;
  return saved_tensors(self, nullptr);
}

// Inside backward, where the graph is not kept: lets go of the saved tensors before backward ends.
PyObject* maybe_clear(PyObject* self, PyObject*) {
  if (in_backward() && !run_keeps_graph()) release_saved(function_node(self));
  Py_RETURN_NONE;
}

// (sizes, dtype, device) of each output of forward, None for what is no tensor.
PyObject* output_info(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const std::vector<TensorMeta>& outputs = state_of(self).outputs;
    Ref out(checked(PyTuple_New(static_cast<Py_ssize_t>(outputs.size()))));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorMeta& m = outputs[i];
      PyObject* item =
          m.is_tensor ? checked(Py_BuildValue("(NNN)", wrap_ints(m.sizes), wrap_dtype(m.dtype), wrap_device(m.device))) : none();
      PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), item);
    }
    return out.release();
  });
}

PyObject* repr(PyObject* self) { return PyUnicode_FromFormat("<torch.autograd.function.%s object at %p>", Py_TYPE(self)->tp_name, self); }

SavedTensor* find_saved(Node* n, size_t index) {
  FunctionState* s = static_cast<FunctionNode*>(n)->state;
  return s && index < s->saved.size() ? &s->saved[index] : nullptr;
}

PyObject* raw_saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    FunctionNode* node = function_node(self);
    if (node->has(kFreed)) fail_freed(node);
    const auto count = static_cast<Py_ssize_t>(node->state->saved.size());
    Ref out(checked(PyTuple_New(count)));
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(out.get(), i, checked(raw_saved(node, find_saved, static_cast<size_t>(i))));
    return out.release();
  });
}

PyObject* needs_input_grad(PyObject* self, void*) {
  return Py_NewRef(state_of(self).needs_input_grad ? state_of(self).needs_input_grad : Py_None);
}
int set_needs_input_grad(PyObject* self, PyObject* value, void*) {
  PyObject* old = std::exchange(state_of(self).needs_input_grad, Py_XNewRef(value));
  Py_XDECREF(old);
  return 0;
}
PyObject* get_pure_view(PyObject* self, void*) { return PyBool_FromLong(state_of(self).pure_view); }
int put_pure_view(PyObject* self, PyObject* on, void*) {
  return guarded_int([&] {
    RG_CHECK_AS(Type, on && PyBool_Check(on), "set_is_pure_view received an invalid combination of arguments - got (",
                on ? Py_TYPE(on)->tp_name : "nothing", "), but expected (bool value)");
    state_of(self).pure_view = on == Py_True;
  });
}
PyObject* forward_class(PyObject* self, void*) { return Py_NewRef(state_of(self).cls ? state_of(self).cls : Py_None); }
PyObject* get_materialize(PyObject* self, void*) { return PyBool_FromLong(state_of(self).materialize); }
template <PyObject* FunctionState::* Member> PyObject* get_list(PyObject* self, void*) {
  return Py_NewRef(state_of(self).*Member ? state_of(self).*Member : Py_None);
}
template <PyObject* FunctionState::* Member> int put_list(PyObject* self, PyObject* value, void*) {
  PyObject* old = std::exchange(state_of(self).*Member, value && value != Py_None ? Py_NewRef(value) : nullptr);
  Py_XDECREF(old);
  return 0;
}

template <class F> PyCFunction as_method(F* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)); }

PyMethodDef context_methods[] = {
    {"save_for_backward", as_method(save_for_backward), METH_FASTCALL, "Keeps tensors for backward; they come back as ctx.saved_tensors."},
    {"mark_dirty", as_method(remember<&FunctionState::dirty>), METH_FASTCALL,
     "Says which inputs forward changed in place; they must be returned."},
    {"mark_non_differentiable", as_method(remember<&FunctionState::non_differentiable>), METH_FASTCALL,
     "Says which outputs carry no gradient."},
    {"maybe_clear_saved_tensors", maybe_clear, METH_NOARGS, "Inside backward: frees the saved tensors now, unless the graph is kept."},
    {"set_materialize_grads", set_materialize, METH_O, "Whether gradients that are not there arrive as zeros (the default) or as None."},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef context_getset[] = {
    {"saved_tensors", saved_tensors, nullptr, "What save_for_backward() kept.", nullptr},
    {"_raw_saved_tensors", raw_saved_tensors, nullptr, nullptr, nullptr},
    {"saved_variables", saved_variables, nullptr, nullptr, nullptr},
    {"saved_for_forward", get_list<&FunctionState::for_forward>, put_list<&FunctionState::for_forward>, "What save_for_forward() kept.",
     nullptr},
    {"_output_info", output_info, nullptr, nullptr, nullptr},
    {"needs_input_grad", needs_input_grad, set_needs_input_grad, "For each argument of forward, whether its gradient is wanted.", nullptr},
    {"_forward_cls", forward_class, nullptr, nullptr, nullptr},
    {"materialize_grads", get_materialize, put_materialize, nullptr, nullptr},
    {"_is_pure_view", get_pure_view, put_pure_view,
     "Set in forward: the output is a view of the one input, and writes to it go past backward.", nullptr},
    {"to_save", get_list<&FunctionState::to_save>, nullptr, nullptr, nullptr},
    {"dirty_tensors", get_list<&FunctionState::dirty>, nullptr, nullptr, nullptr},
    {"non_differentiable", get_list<&FunctionState::non_differentiable>, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot context_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(node_dealloc)},
                               {Py_tp_traverse, reinterpret_cast<void*>(node_traverse)},
                               {Py_tp_clear, reinterpret_cast<void*>(node_clear)},
                               {Py_tp_repr, reinterpret_cast<void*>(repr)},
                               {Py_tp_methods, context_methods},
                               {Py_tp_getset, context_getset},
                               {0, nullptr}};
PyType_Spec context_spec = {"retrograd.autograd.function.BackwardCFunction", sizeof(FunctionNode), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            context_slots};

PyMethodDef function_methods[] = {
    {"apply", as_method(apply), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, "Runs forward and records the op."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_methods, function_methods}, {0, nullptr}};
PyType_Spec function_spec = {"retrograd._C._FunctionBase", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function_slots};

PyObject* node_type_of_function(PyObject*, PyObject* cls) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), function_base),
                "expected a Function class");
    return Py_NewRef(reinterpret_cast<PyObject*>(class_of(cls)->info->type));
  });
}
PyObject* set_base_setup(PyObject*, PyObject* f) {
  Py_XSETREF(base_setup_context, Py_NewRef(f));
  Py_RETURN_NONE;
}
PyMethodDef module_methods[] = {{"_function_node_type", node_type_of_function, METH_O, "the type of the nodes of a Function class"},
                                {"_set_base_setup_context", set_base_setup, METH_O, nullptr},
                                {"_plain_functions_in_vmap", set_plain_in_vmap, METH_O, "(on): what was set before; see batch_of"},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_function(PyObject* module) {
  context_type =
      reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&context_spec, reinterpret_cast<PyObject*>(node_base_type))));
  function_base = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&function_spec)));
  class_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&class_spec)));
  PyModule_AddObject(module, "_FunctionClass", Py_NewRef(reinterpret_cast<PyObject*>(class_type)));
  PyModule_AddObject(module, "_FunctionCtx", Py_NewRef(reinterpret_cast<PyObject*>(context_type)));
  PyModule_AddObject(module, "_FunctionBase", Py_NewRef(reinterpret_cast<PyObject*>(function_base)));
  PyModule_AddFunctions(module, module_methods);
}

}  // namespace retrograd
