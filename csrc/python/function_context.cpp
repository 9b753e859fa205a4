// ctx, as forward() and backward() of an autograd.Function see it: what they say about tensors, and what was saved.
#include "autograd/engine.h"
#include "autograd/history.h"
#include "core/guards.h"
#include "python/autograd.h"
#include "python/function.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {

PyTypeObject* context_type = nullptr;

namespace {

PyObject* save_for_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    FunctionState& s = state_of(self);
    Owned<> list(checked(PyTuple_New(nargs)));
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
    Owned<> list(checked(PyTuple_New(nargs)));
    for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(list.get(), i, Py_NewRef(args[i]));
    PyObject* old = std::exchange(s.*Member, list.release());
    Py_XDECREF(old);
    Py_RETURN_NONE;
  });
}

template <bool FunctionState::* Member> int put_flag(PyObject* self, PyObject* on, void*) {
  return guarded_int([&] {
    constexpr const char* setter = Member == &FunctionState::materialize ? "set_materialize_grads" : "set_is_pure_view";
    RG_CHECK_AS(Type, on && PyBool_Check(on), setter, " received an invalid combination of arguments - got (",
                on ? Py_TYPE(on)->tp_name : "nothing", "), but expected (bool value)");
    state_of(self).*Member = on == Py_True;
  });
}
template <bool FunctionState::* Member> PyObject* get_flag(PyObject* self, void*) { return PyBool_FromLong(state_of(self).*Member); }
PyObject* set_materialize(PyObject* self, PyObject* on) {
  if (put_flag<&FunctionState::materialize>(self, on, nullptr) != 0) return nullptr;
  Py_RETURN_NONE;
}

// Unlike a derivative formula, which never looks, Python gets a saved output with its history in any mode.
Tensor unpacked(FunctionNode* node, const SavedTensor& saved) {
  if (saved.had_history && saved.tensor && !saved.tensor->grad_fn && !thread_state.grad_enabled) {
    const Restore forgive(const_cast<SavedTensor&>(saved).had_history, false);  // detach_() took a history that nobody asks for
    return saved.unpack(node);
  }
  if (!saved.is_output || saved.packed) return saved.unpack(node);
  const GradMode on(true);
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
    Owned<> out(checked(PyTuple_New(static_cast<Py_ssize_t>(s.saved.size()))));
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
    Owned<> out(checked(PyTuple_New(static_cast<Py_ssize_t>(outputs.size()))));
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
    Owned<> out(checked(PyTuple_New(count)));
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
PyObject* forward_class(PyObject* self, void*) { return Py_NewRef(state_of(self).cls ? state_of(self).cls : Py_None); }
template <PyObject* FunctionState::* Member> PyObject* get_list(PyObject* self, void*) {
  return Py_NewRef(state_of(self).*Member ? state_of(self).*Member : Py_None);
}
template <PyObject* FunctionState::* Member> int put_list(PyObject* self, PyObject* value, void*) {
  PyObject* old = std::exchange(state_of(self).*Member, value && value != Py_None ? Py_NewRef(value) : nullptr);
  Py_XDECREF(old);
  return 0;
}

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
    {"materialize_grads", get_flag<&FunctionState::materialize>, put_flag<&FunctionState::materialize>, nullptr, nullptr},
    {"_is_pure_view", get_flag<&FunctionState::pure_view>, put_flag<&FunctionState::pure_view>,
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

}  // namespace

void init_function_context(PyObject* module) {
  context_type =
      reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpecWithBases(&context_spec, reinterpret_cast<PyObject*>(node_base_type))));
  PyModule_AddObject(module, "_FunctionCtx", Py_NewRef(reinterpret_cast<PyObject*>(context_type)));
}

}  // namespace retrograd
