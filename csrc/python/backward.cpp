// backward() and grad(): arguments, checks and the call of the engine.
#include <algorithm>
#include <optional>

#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "autograd/untracked.h"
#include "core/coded_error.h"
#include "core/guards.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/data.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/caller_state.h"
#include "python/doc.h"
#include "python/doctor.h"
#include "python/guard.h"
#include "python/tensor_type.h"

namespace retrograd {

thread_local constinit ContextCount context_count;

void CallerState::restore() {
  if (found_) {
    found_.reset();
  } else {
    leave_all_saved_hooks();
    leave_all_function_modes();
  }
}
namespace {

// Sentences about where the history was cut, from Python.
std::string why_no_grad(const Tensor& t) {
  const Owned module(checked(PyImport_ImportModule("retrograd._cuts")));
  const Owned text(checked(PyObject_CallMethod(module.get(), "explain_backward", "O", t->object())));
  const char* chars = PyUnicode_AsUTF8(text.get());
  if (!chars) throw PythonError();
  return chars;
}

// An op without a derivative between the parameters and the loss has a code of its own.
const char* code_of_cut(const Tensor& t) {
  const uint32_t note = note_of(t.get());
  return note && cut_of(note).kind == CutKind::NonDifferentiable ? "dtype_cut" : "training_without_grad";
}

void check_requires_grad(const Tensor& root, size_t i) {
  if (RG_UNLIKELY(!requires_grad(root)))
    fail_as(code_of_cut(root), "element ", i, " of tensors does not require grad and does not have a grad_fn", why_no_grad(root));
}

Tensor initial_gradient(const Tensor& root, size_t i) {
  check_requires_grad(root, i);
  if (RG_UNLIKELY(root.numel() != 1))
    fail_as("non_scalar_backward", "grad can be implicitly created only for scalar outputs", made_by(root));
  RG_CHECK(is_floating(root.dtype()), "grad can be implicitly created only for real scalar outputs but got ", "torch.",
           dtype_name(root.dtype()));
  return full(root.sizes(), Scalar(1), root.dtype(), root.device());
}

Tensor checked_gradient(const Tensor& root, const Tensor& grad, size_t i) {
  check_requires_grad(root, i);
  RG_CHECK(same_sizes(root.get(), grad.get()), "Mismatch in shape: grad_output[", i, "] has a shape of torch.Size(", grad.sizes(),
           ") and output[", i, "] has a shape of torch.Size(", root.sizes(),
           ").\n  Hint: the gradient has the shape of what is differentiated: one number for each of its elements.");
  RG_CHECK(is_complex(root.dtype()) == is_complex(grad.dtype()),
           "For complex Tensors, both grad_output and output are required to have the same dtype. Got grad_output[", i, "] of dtype torch.",
           dtype_name(grad.dtype()), " and output[", i, "] of dtype torch.", dtype_name(root.dtype()), ".");
  RG_CHECK(same_place(grad.get(), root.get()), "invalid gradient at index ", i, " - expected device ", device_name(root.device()),
           " but got ", device_name(grad.device()));
  return grad.dtype() == root.dtype() ? grad : engine_ops.cast(grad, root.dtype());
}

// The edge of a tensor, or of a GradientEdge (node, output_nr). New reference.
Edge edge_of(PyObject* o, const char* what) {
  if (is_tensor(o)) return gradient_edge(reinterpret_cast<TensorImpl*>(o));
  if (PyTuple_Check(o) && PyTuple_GET_SIZE(o) >= 2 && is_node(PyTuple_GET_ITEM(o, 0))) {
    auto* node = reinterpret_cast<Node*>(PyTuple_GET_ITEM(o, 0));
    const unsigned long nr = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(o, 1));
    if (PyErr_Occurred()) throw PythonError();
    RG_CHECK(nr < node->num_outputs, "GradientEdge: ", node_name(node), " has ", static_cast<int64_t>(node->num_outputs),
             " output(s), got output_nr ", static_cast<int64_t>(nr));
    Py_INCREF(node->object());
    return {node, static_cast<uint32_t>(nr)};
  }
  fail(what == std::string_view("inputs") ? ErrorKind::Runtime : ErrorKind::Type, "all ", what,
       " have to be Tensors or GradientEdges, but got ", Py_TYPE(o)->tp_name);
}

// What an input is that the graph does not have, and what graph that is.
std::string unused_story(PyObject* input, PyObject* output) {
  std::string text;
  if (is_tensor(input)) {
    const auto* t = reinterpret_cast<TensorImpl*>(input);
    text += str_cat("\n  it has shape ", t->shape());
    const Site made = t->grad_fn ? t->grad_fn->site : t->cut ? cut_of(t->cut).at : Site{};
    if (made.code) text += " and was made at " + site_text(made);
  }
  if (is_tensor(output))
    if (const Node* n = reinterpret_cast<TensorImpl*>(output)->grad_fn; n && n->site.code)
      text += str_cat("\n  the graph ends in ", node_name(n), ", made at ") + site_text(n->site);
  return text +
         "\n  Hint: was a copy of it used instead (clone(), detach(), to(), indexing), or a tensor of the same name from before? "
         "Differentiate with "
         "respect to the tensor that went into the computation.";
}

Py_ssize_t length(PyObject* sequence) { return PySequence_Fast_GET_SIZE(sequence); }
PyObject* item(PyObject* sequence, Py_ssize_t i) { return PySequence_Fast_GET_ITEM(sequence, i); }

// _run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs, allow_unused, accumulate): all sequences are tuples or lists.
PyObject* py_run_backward(PyObject*, PyObject* args) {
  PyObject *tensors, *grads, *inputs;
  unsigned char keep, create, allow_unused, accumulate;  // numbers will do, other things that are true or false will not
  if (!PyArg_ParseTuple(args, "OObbObb", &tensors, &grads, &keep, &create, &inputs, &allow_unused, &accumulate)) return nullptr;
  return guarded([&]() -> PyObject* {
    for (PyObject* o : {tensors, grads, inputs == Py_None ? tensors : inputs})
      RG_CHECK_AS(Type, PyTuple_Check(o) || PyList_Check(o), "_run_backward() expects tuples or lists, got ", Py_TYPE(o)->tp_name);
    RG_CHECK(length(tensors) == length(grads), "got ", static_cast<int64_t>(length(tensors)), " tensors and ",
             static_cast<int64_t>(length(grads)), " gradients");
    HeldEdges roots, wanted;
    std::vector<Tensor> seeds;
    for (Py_ssize_t i = 0; i < length(tensors); ++i) {
      PyObject* t = item(tensors, i);
      PyObject* g = item(grads, i);
      RG_CHECK_AS(Type, g == Py_None || is_tensor(g), "gradients can be either Tensors or None, but got ", Py_TYPE(g)->tp_name);
      Tensor grad = g == Py_None ? Tensor() : Tensor::borrow(g);
      if (is_tensor(t)) {
        const Tensor root = Tensor::borrow(t);
        if (grad) {
          grad = checked_gradient(root, grad, static_cast<size_t>(i));
        } else {
          grad = initial_gradient(root, static_cast<size_t>(i));
        }
      } else {
        RG_CHECK(grad, "grad can be implicitly created only for scalar outputs: pass a gradient for this GradientEdge");
      }
      roots.add(edge_of(t, "tensors"));
      seeds.push_back(grad);
    }
    if (inputs != Py_None) {
      for (Py_ssize_t i = 0; i < length(inputs); ++i) {
        PyObject* input = item(inputs, i);
        if (is_tensor(input)) {
          const Tensor t = Tensor::borrow(input);
          RG_CHECK(requires_grad(t),
                   accumulate ? "can't retain_grad on Tensor that has requires_grad=False: an input of backward()"
                              : "One of the differentiated Tensors does not require grad",
                   "\n  it is input ", static_cast<int64_t>(i), ", of shape ", t.sizes(), why_no_grad(t));
          if (accumulate && !is_leaf(t.get())) Py_DECREF(checked(PyObject_CallMethod(input, "retain_grad", nullptr)));
        }
        wanted.add(edge_of(input, "inputs"));
      }
    }
    const RunOptions options{keep != 0, create != 0, accumulate != 0, inputs != Py_None};
    WatchedRun watched(tensors, options, inputs);
    std::vector<Tensor> result;
    {
      const CallerState caller;
      result = run_backward(roots.items, seeds, wanted.items, options);
    }
    watched.end();
    for (Tensor& grad : result)  // as a gradient that becomes a .grad
      if (RG_UNLIKELY(grad && grad->has(kConj))) grad = ops::resolve_conj(grad);
    if (accumulate) Py_RETURN_NONE;
    for (size_t i = 0; i < result.size(); ++i)
      RG_CHECK(result[i] || allow_unused, "The differentiated Tensor at index ", i,
               " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.",
               unused_story(item(inputs, static_cast<Py_ssize_t>(i)), length(tensors) ? item(tensors, 0) : Py_None));
    return wrap_tuple(result);
  });
}

// What most calls of Tensor.backward() say: a gradient that is an ordinary tensor, or none, and flags that are bools.
struct PlainArguments {
  PyObject* gradient = Py_None;
  RunOptions options;
};

std::optional<PlainArguments> plain_arguments(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static PyObject* const names[] = {checked(PyUnicode_InternFromString("gradient")), checked(PyUnicode_InternFromString("retain_graph")),
                                    checked(PyUnicode_InternFromString("create_graph"))};
  PyObject* given[] = {Py_None, Py_None, Py_False};
  if (nargs > 3) return std::nullopt;
  std::copy(args, args + nargs, given);
  for (Py_ssize_t i = 0, n = kwnames ? PyTuple_GET_SIZE(kwnames) : 0; i < n; ++i) {
    const auto at = std::find(names, std::end(names), PyTuple_GET_ITEM(kwnames, i)) - names;
    if (at == 3 || at < nargs) return std::nullopt;
    given[at] = args[nargs + i];
  }
  const auto [gradient, keep, create] = given;
  const bool plain =
      (gradient == Py_None || Py_TYPE(gradient) == tensor_type) && (keep == Py_None || PyBool_Check(keep)) && PyBool_Check(create);
  if (!plain) return std::nullopt;
  return PlainArguments{gradient, {.keep_graph = (keep == Py_None ? create : keep) == Py_True, .create_graph = create == Py_True}};
}

// Everything else is sorted out in Python.
[[gnu::cold, gnu::noinline]] PyObject* general_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static PyObject* general = nullptr;
  if (!general) {
    PyObject* module = PyImport_ImportModule("retrograd._tensor");
    if (!module) return nullptr;
    general = PyObject_GetAttrString(module, "_backward");
    Py_DECREF(module);
    if (!general) return nullptr;
  }
  std::vector<PyObject*> all{self};
  all.insert(all.end(), args, args + nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  return PyObject_Vectorcall(general, all.data(), static_cast<size_t>(nargs + 1), kwnames);
}

PyObject* tensor_backward(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  if (RG_UNLIKELY(thread_state.mapped || thread_state.function_modes || thread_state.transform_depth || Py_TYPE(self) != tensor_type))
    return general_backward(self, args, nargs, kwnames);
  return guarded([&]() -> PyObject* {
    PlainArguments given;
    if (nargs || kwnames) {
      const std::optional<PlainArguments> plain = plain_arguments(args, nargs, kwnames);
      if (!plain) return general_backward(self, args, nargs, kwnames);
      given = *plain;
    }
    const Tensor root = Tensor::borrow(self);
    const Tensor grads[] = {given.gradient == Py_None ? initial_gradient(root, 0)
                                                      : checked_gradient(root, Tensor::borrow(given.gradient), 0)};
    Edge edge = gradient_edge(root.get());
    const Owned hold(edge.node);
    WatchedRun watched(self, given.options, nullptr);
    {
      const CallerState caller;
      run_backward({&edge, 1}, grads, {}, given.options);
    }
    watched.end();
    Py_RETURN_NONE;
  });
}

PyObject* py_queue_callback(PyObject*, PyObject* callback) {
  return guarded([&]() -> PyObject* {
    queue_callback(callback);
    Py_RETURN_NONE;
  });
}
PyObject* py_gradient_edge(PyObject*, PyObject* t) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(t), "get_gradient_edge() expects a Tensor, got ", Py_TYPE(t)->tp_name);
    const Edge e = gradient_edge(reinterpret_cast<TensorImpl*>(t));
    RG_CHECK(e.node, "It is not possible to get the gradient edge for a Tensor that does not require gradients");
    return Py_BuildValue("(NI)", e.node->object(), e.nr);
  });
}
PyObject* py_in_backward(PyObject*, PyObject*) { return PyBool_FromLong(in_backward()); }
PyObject* py_task_id(PyObject*, PyObject*) { return PyLong_FromLong(in_backward() ? static_cast<long>(current_task_id()) : -1); }
PyObject* py_current_node(PyObject*, PyObject*) {
  Node* n = current_node();
  return n ? Py_NewRef(n->object()) : none();
}
PyObject* py_will_run(PyObject*, PyObject* node) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_node(node), "_will_engine_execute_node() expects a Node, got ", Py_TYPE(node)->tp_name);
    RG_CHECK(in_backward(), "_will_engine_execute_node() can only be called during the backward pass");
    return PyBool_FromLong(will_run(reinterpret_cast<Node*>(node)));
  });
}
PyObject* py_has_inputs(PyObject*, PyObject*) { return PyBool_FromLong(run_has_inputs()); }
PyObject* py_live(PyObject*, PyObject*) {
  return Py_BuildValue("(nn)", static_cast<Py_ssize_t>(live_tensors()), static_cast<Py_ssize_t>(live_nodes()));
}
PyObject* py_advance_step(PyObject*, PyObject*) {
  advance_training_step();
  Py_RETURN_NONE;
}
PyObject* py_set_anomaly(PyObject*, PyObject* args) {
  PyObject *on, *check;
  if (!PyArg_ParseTuple(args, "OO", &on, &check)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyBool_Check(on), "set_anomaly_enabled(): argument 'enabled' (position 1) must be bool, not ", Py_TYPE(on)->tp_name);
    RG_CHECK_AS(Type, PyBool_Check(check), "set_anomaly_enabled(): argument 'check_nan' (position 2) must be bool, not ",
                Py_TYPE(check)->tp_name);
    anomaly_enabled = on == Py_True;
    anomaly_check_nan = check == Py_True;
    Py_RETURN_NONE;
  });
}
PyObject* py_anomaly(PyObject*, PyObject*) {
  return Py_BuildValue("(OO)", anomaly_enabled ? Py_True : Py_False, anomaly_check_nan ? Py_True : Py_False);
}

PyObject* py_layout(PyObject*, PyObject*) { return PyBool_FromLong(keep_grad_layout); }
PyObject* py_set_layout(PyObject*, PyObject* on) {
  const int value = PyObject_IsTrue(on);
  if (value < 0) return nullptr;
  keep_grad_layout = value != 0;
  Py_RETURN_NONE;
}
PyObject* py_set_versions(PyObject*, PyObject* args) {
  PyObject *tensors, *versions;
  if (!PyArg_ParseTuple(args, "OO", &tensors, &versions)) return nullptr;
  PyObject* t = PySequence_Fast(tensors, "tensors must be a sequence");
  PyObject* v = t ? PySequence_Fast(versions, "versions must be a sequence") : nullptr;
  if (v && length(t) != length(v)) PyErr_SetString(PyExc_RuntimeError, "there must be one version for each tensor");
  for (Py_ssize_t i = 0; v && !PyErr_Occurred() && i < length(t); ++i) {
    PyObject* r = PyObject_CallMethod(item(t, i), "_set_version", "O", item(v, i));
    if (!r) break;
    Py_DECREF(r);
  }
  Py_XDECREF(t);
  Py_XDECREF(v);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"_is_grad_layout_enforced", py_layout, METH_NOARGS, nullptr},
                         {"_set_grad_layout_enforced", py_set_layout, METH_O, nullptr},
                         {"_unsafe_set_version_counter", py_set_versions, METH_VARARGS, nullptr},
                         {"_run_backward", py_run_backward, METH_VARARGS, nullptr},
                         {"_queue_callback", py_queue_callback, METH_O, nullptr},
                         {"_gradient_edge", py_gradient_edge, METH_O, nullptr},
                         {"_in_backward", py_in_backward, METH_NOARGS, nullptr},
                         {"_current_graph_task_id", py_task_id, METH_NOARGS, nullptr},
                         {"_current_autograd_node", py_current_node, METH_NOARGS, nullptr},
                         {"_will_engine_execute_node", py_will_run, METH_O, nullptr},
                         {"_backward_has_inputs", py_has_inputs, METH_NOARGS, nullptr},
                         {"_live_objects", py_live, METH_NOARGS, "(tensors, nodes) alive now"},
                         {"_advance_step", py_advance_step, METH_NOARGS, nullptr},
                         {"_set_anomaly", py_set_anomaly, METH_VARARGS, nullptr},
                         {"_anomaly", py_anomaly, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMethodDef backward_def = {
    "backward", as_method(tensor_backward), METH_FASTCALL | METH_KEYWORDS,
    RG_DOC("backward($self, gradient=None, retain_graph=None, create_graph=False, inputs=None)",
           "Adds the gradients of this tensor to .grad of the leaves it was computed from.\n\n"
           "Arguments:\n"
           "    gradient (Tensor): the gradient of this tensor; may be left out for one element\n"
           "    retain_graph (bool): whether what the graph saved is kept, so that it can be run again; as create_graph if left out\n"
           "    create_graph (bool): whether the computation of the gradients is recorded, for higher derivatives\n"
           "    inputs (Tensor or Tensors): accumulate into these only\n\n"
           "Example:\n"
           "    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
           "    >>> (x * x).sum().backward()\n"
           "    >>> x.grad\n"
           "    tensor([2., 4.])\n")};

}  // namespace

void init_engine(PyObject* module) {
  init_hooks(module);
  PyModule_AddFunctions(module, methods);
  add_to_tensor("backward", PyDescr_NewMethod(tensor_type, &backward_def));
}

}  // namespace retrograd
