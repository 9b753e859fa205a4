// autograd.Function: ops written in Python. The ctx that forward and backward see is the graph node itself, so a custom op costs one
// object beside its outputs; what it keeps lives in FunctionState.
#include <Python.h>

#include <algorithm>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/untracked.h"
#include "core/guards.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/forward.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/call_error.h"
#include "python/doctor.h"
#include "python/function.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

PyTypeObject* function_base = nullptr;   // base of autograd.Function
PyObject* base_setup_context = nullptr;  // Function.setup_context, to see whether a subclass has its own

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
      RG_CHECK(out->grad_fn || !requires_grad(out),
               "a leaf Variable that requires grad has been used in an in-place operation.\n  its shape is ", out.sizes(),
               "; forward wrote to it and marked it dirty\n  Hint: give the Function a clone() of it, or let it return a new tensor.");
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
  const Owned<> hold(std::exchange(s.to_save, nullptr));  // a pack hook may call save_for_backward() once more
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
  Owned<> forward(checked(PyObject_GetAttr(cls, name_forward)));
  Owned<> setup(checked(PyObject_GetAttr(cls, name_setup)));
  if (setup.get() == base_setup_context) {
    std::vector<PyObject*> all{node->object()};
    all.insert(all.end(), args, args + nargs);
    return checked(PyObject_Vectorcall(forward.get(), all.data(), all.size(), nullptr));
  }
  Owned<> output(checked(PyObject_Vectorcall(forward.get(), args, static_cast<size_t>(nargs), nullptr)));
  Owned<> inputs(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(inputs.get(), i, Py_NewRef(args[i]));
  Owned<> done(checked(PyObject_CallFunctionObjArgs(setup.get(), node->object(), inputs.get(), output.get(), nullptr)));
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
    Owned<> call(checked(PyTuple_New(nargs + 1)));
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
    Owned<> rule(checked(PyObject_GetAttrString(cls, "jvp")));
    s.in_jvp = true;
    Owned<> result(PyObject_Call(rule.get(), call.get(), nullptr));
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
  Handler* h = batch_handler();
  if (RG_LIKELY(!h) || plain_in_vmap) return nullptr;
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i]) && is_batched(reinterpret_cast<TensorImpl*>(args[i]), h->level)) return h;
  return nullptr;
}

// Inside vmap forward runs on whole batches, below the level and tracked there as anything else is; Python knows how. The node that is
// recorded here is the one of the samples.
PyObject* call_forward_batched(PyObject* cls, FunctionNode* node, Handler* h, PyObject* const* args, Py_ssize_t nargs) {
  Owned<> output;
  {
    Owned<> forward(checked(PyObject_GetAttrString(cls, "_forward_batched")));
    std::vector<PyObject*> all{h->callable};
    all.insert(all.end(), args, args + nargs);
    const Below below(h);
    push_watchers(below.saved, h);
    output = Owned<>(checked(PyObject_Vectorcall(forward.get(), all.data(), all.size(), nullptr)));
  }
  output = Owned<>(adopted_outputs(h, output.release(), args, nargs));
  const RecordingScope off(false, Off::Forward, node->site);
  const TangentsOff plain;
  Owned<> inputs(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(inputs.get(), i, Py_NewRef(args[i]));
  Owned<> done(checked(PyObject_CallMethod(cls, "setup_context", "OOO", node->object(), inputs.get(), output.get())));
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
  Owned<> hold(node->object());
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

  const AtExit end_forward([s] { s->end_forward(); });  // also when forward, or a hook around what it saves, throws
  Owned<> result;
  if (Handler* h = batch_of(args, nargs); RG_UNLIKELY(h != nullptr)) {
    result = Owned<>(call_forward_batched(cls, node, h, args, nargs));
  } else {
    const RecordingScope off(false, Off::Forward, node->site);
    const TangentsOff plain;
    result = Owned<>(call_forward(cls, node, args, nargs));
  }

  const bool single = !PyTuple_Check(result.get());
  const Py_ssize_t count = single ? 1 : PyTuple_GET_SIZE(result.get());
  Owned<> out(checked(PyTuple_New(count)));
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
  if (RG_UNLIKELY(doctor.close || !fc->told) && doctor.on && executable) {
    fc->told = true;
    tell_function(cls, args, nargs, node->object(), out.get());
  }
  if (!single) return out.release();
  return Py_NewRef(PyTuple_GET_ITEM(out.get(), 0));
}

// setup_context() sees the defaults of arguments that were left out.
bool needs_defaults(PyObject* cls, Py_ssize_t nargs) {
  FunctionClass* fc = class_of(cls);
  if (RG_UNLIKELY(fc->all_arguments < 0)) {
    Owned<> count(checked(PyObject_CallMethod(cls, "_count_arguments", nullptr)));
    fc->all_arguments = static_cast<int>(PyLong_AsLong(count.get()));
    if (PyErr_Occurred()) throw PythonError();
  }
  return nargs < fc->all_arguments;
}

PyObject* apply(PyObject* cls, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  try {
    nargs = PyVectorcall_NARGS(static_cast<size_t>(nargs));
    if ((kwnames && PyTuple_GET_SIZE(kwnames)) || needs_defaults(cls, nargs)) {
      // Keyword arguments are bound to forward's signature in Python, which calls back with positional ones.
      Owned<> bind(checked(PyObject_GetAttrString(cls, "_apply_keywords")));
      return checked(PyObject_Vectorcall(bind.get(), args, static_cast<size_t>(nargs), kwnames));
    }
    bool overloaded = function_modes_active();
    for (Py_ssize_t i = 0; i < nargs && thread_state.torch_function_subclasses; ++i)
      overloaded |= is_tensor(args[i]) && !is_plain_tensor(args[i]) && Py_TYPE(args[i]) != sparse_type;
    if (overloaded) {
      Owned<> self(checked(PyObject_GetAttrString(cls, "apply")));
      return call_torch_function(self.get(), nullptr, args, nargs, nullptr);
    }
    return run_forward(cls, args, nargs);
  } catch (...) {
    const std::string name = std::string(reinterpret_cast<PyTypeObject*>(cls)->tp_name) + ".apply";
    set_call_error({.name = name.c_str(), .self = nullptr, .items = args, .positional = nargs});
    return nullptr;
  }
}

PyMethodDef function_methods[] = {
    {"apply", as_method(apply), METH_FASTCALL | METH_KEYWORDS | METH_CLASS, "Runs forward and records the op."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_methods, function_methods}, {0, nullptr}};
PyType_Spec function_spec = {"retrograd._C._FunctionBase", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function_slots};

PyObject* node_type_of_function(PyObject*, PyObject* cls) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyType_Check(cls) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), function_base),
                "expected a Function class, got ", Py_TYPE(cls)->tp_name);
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
  init_function_context(module);
  init_function_node(module);
  function_base = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&function_spec)));
  PyModule_AddObject(module, "_FunctionBase", Py_NewRef(reinterpret_cast<PyObject*>(function_base)));
  PyModule_AddFunctions(module, module_methods);
}

}  // namespace retrograd
