// What the engine calls when a node has something rare attached: hooks, retained gradients, anomaly mode. See EngineHooks.
#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "core/coded_error.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "ops.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/interpreter.h"
#include "python/types.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

// Calls every hook of an ordered dict; iterates over a snapshot, since a hook may remove itself.
template <class F> void for_each_hook(PyObject* hooks, F&& f) {
  PyObject* values = checked(PyMapping_Values(hooks));
  const Owned hold{values};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values); ++i) f(PyList_GET_ITEM(values, i));
}

// The name of an object's type without its module.
std::string_view short_name(PyObject* o) {
  const std::string_view name = Py_TYPE(o)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

std::string hook_name(PyObject* hook) {
  PyObject* name = PyObject_GetAttrString(hook, "__name__");
  std::string text = name && PyUnicode_Check(name) ? text_of(name) : "<unknown>";
  if (!name) PyErr_Clear();
  Py_XDECREF(name);
  return text;
}

// Where the program defines a hook, for errors that its result causes.
std::string hook_line(PyObject* hook) {
  const Owned<> code(PyObject_GetAttrString(hook, "__code__"));
  PyErr_Clear();
  if (!code.get() || !PyCode_Check(code.get())) return "";
  auto* c = reinterpret_cast<PyCodeObject*>(code.get());
  return str_cat("\n  the hook is defined at ", line_text(c->co_filename, c->co_firstlineno));
}

[[noreturn]] void fail_returned(PyObject* hook, PyObject* result, const char* wanted) {
  fail(ErrorKind::Type, "expected ", wanted, ", but hook returned '", short_name(result), "'", hook_line(hook),
       "\n  Hint: return what replaces the gradient, or None to leave it as it is.");
}

void check_replacement(const Tensor& before, PyObject* replacement, PyObject* hook) {
  if (!is_tensor(replacement)) fail_returned(hook, replacement, "Variable");
  const std::string what = hook_name(hook);
  auto* r = reinterpret_cast<TensorImpl*>(replacement);
  RG_CHECK(before, "can't replace a None gradient with a non-None value: hook '", what, "' returned a tensor", hook_line(hook));
  RG_CHECK(same_sizes(before.get(), r), "hook '", what, "' has changed the size of value: the gradient was ", before.sizes(),
           ", the hook returned ", r->shape(), hook_line(hook));
  RG_CHECK(r->dtype == before.dtype(), "hook '", what, "' has changed the type of value (was torch.", dtype_title(before.dtype()),
           "Tensor got torch.", dtype_title(r->dtype), "Tensor)", hook_line(hook));
  RG_CHECK(same_place(r, before.get()), "hook '", what, "' has changed the type of value (was torch.", dtype_title(before.dtype()),
           "Tensor on ", device_name(before.device()), ", got one on ", device_name(r->storage->device), ")", hook_line(hook));
}

void run_tensor_hooks(PyObject* hooks, Tensor& grad) {
  for_each_hook(hooks, [&](PyObject* hook) {
    PyObject* result = checked(PyObject_CallOneArg(hook, grad ? grad->object() : Py_None));
    if (result != Py_None) {
      const Owned hold{result};
      check_replacement(grad, result, hook);
      grad = Tensor::borrow(result);
    } else {
      Py_DECREF(result);
    }
  });
}

void keep_gradient(PyObject* weak, const Tensor& grad) {
  RG_CHECK_AS(Type, PyWeakref_Check(weak), "a retained gradient needs a weak reference to its tensor, got ", Py_TYPE(weak)->tp_name);
  PyObject* object = PyWeakref_GetObject(weak);
  if (!object || object == Py_None) return;
  const Tensor t = Tensor::borrow(object);  // join_collector() may collect
  Tensor kept = t->grad ? engine_ops.add(Tensor::borrow(t->grad), grad) : engine_ops.clone(grad);
  if (kept->grad_fn) join_collector(t.get());
  TensorImpl* old = t->grad;
  t->grad = kept.release();
  Py_XDECREF(reinterpret_cast<PyObject*>(old));
}

PyObject* as_tuple(std::span<const Tensor> list) {
  PyObject* out = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), wrap(list[i]));
  return out;
}

void take_tuple(PyObject* result, std::span<Tensor> values, PyObject* hook) {
  if (result == Py_None) return;
  if (!PyTuple_Check(result)) fail_returned(hook, result, "tuple");
  RG_CHECK(PyTuple_GET_SIZE(result) == static_cast<Py_ssize_t>(values.size()), "hook '", hook_name(hook),
           "' has returned an incorrect number of values (got ", static_cast<int64_t>(PyTuple_GET_SIZE(result)), ", but expected ",
           values.size(), ")", hook_line(hook));
  for (size_t i = 0; i < values.size(); ++i) {
    PyObject* v = PyTuple_GET_ITEM(result, static_cast<Py_ssize_t>(i));
    if (v == Py_None) {
      values[i].reset();
      continue;
    }
    check_replacement(values[i], v, hook);
    values[i] = Tensor::borrow(v);
  }
}

// Calls f(nr, value) for a dict by output number; over a snapshot, since hooks may register hooks.
template <class F> void for_each_output(PyObject* by_output, F&& f) {
  PyObject* items = checked(PyDict_Items(by_output));
  const Owned hold{items};
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
    PyObject* pair = PyList_GET_ITEM(items, i);
    const size_t nr = PyLong_AsSize_t(PyTuple_GET_ITEM(pair, 0));
    if (PyErr_Occurred()) throw PythonError();
    f(nr, PyTuple_GET_ITEM(pair, 1));
  }
}

void arrive(Node* n, std::span<Tensor> in) {
  if (n->extra->tensor_hooks) {
    for_each_output(n->extra->tensor_hooks, [&](size_t nr, PyObject* hooks) {
      if (nr < in.size()) run_tensor_hooks(hooks, in[nr]);
    });
  }
  if (n->extra->retain_grad) {
    for_each_output(n->extra->retain_grad, [&](size_t nr, PyObject* weak) {
      if (nr < in.size() && in[nr]) keep_gradient(weak, in[nr]);
    });
  }
}

void before(Node* n, std::span<Tensor> in) {
  if (!n->extra->pre_hooks) return;
  for_each_hook(n->extra->pre_hooks, [&](PyObject* hook) {
    PyObject* grads = as_tuple(in);
    PyObject* result = PyObject_CallOneArg(hook, grads);
    Py_DECREF(grads);
    const Owned hold{checked(result)};
    take_tuple(result, in, hook);
  });
}

void after(Node* n, std::span<Tensor> out, std::span<const Tensor> in) {
  NodeExtra* e = n->extra;
  if (!e->hooks) return;
  for_each_hook(e->hooks, [&](PyObject* hook) {
    PyObject* grad_inputs = as_tuple(out);
    PyObject* grad_outputs = as_tuple(in);
    PyObject* result = PyObject_CallFunctionObjArgs(hook, grad_inputs, grad_outputs, nullptr);
    Py_DECREF(grad_inputs);
    Py_DECREF(grad_outputs);
    const Owned hold{checked(result)};
    take_tuple(result, out, hook);
  });
}

void leaf_hooks(TensorImpl* leaf, Tensor& grad) {
  PyObject* hooks = Py_NewRef(leaf->extra->hooks);
  const Owned hold{hooks};
  run_tensor_hooks(hooks, grad);
}

void post_accumulate(TensorImpl* leaf) {
  PyObject* hooks = Py_NewRef(leaf->extra->post_accumulate_hooks);
  const Owned hold{hooks};
  for_each_hook(hooks, [&](PyObject* hook) {
    PyObject* result = checked(PyObject_CallOneArg(hook, leaf->object()));
    const Owned returned{result};
    RG_CHECK_AS(Type, result == Py_None || is_tensor(result), "expected Variable, but hook returned '", short_name(result), "'",
                hook_line(hook), "\n  Hint: return nothing: the gradient is in .grad of the tensor already, where the hook may change it.");
    RG_CHECK(result == Py_None || result == leaf->object(),
             "Tensor post accumulate grad hooks should return None. The gradient is in .grad of the tensor already: ", hook_name(hook),
             " may change it there.", hook_line(hook));
  });
}

Tensor whole_batch(Tensor t) {
  while (t->has(kBatched)) t = Tensor::borrow(t->extra->batched);
  return t;
}

bool any_nan(const Tensor& t) {  // inside vmap: of any sample
  if (!t || !is_differentiable(t.dtype()) || t.device().type == DeviceType::Meta) return false;
  return read_scalar(whole_batch(ops::any(ops::isnan(whole_batch(t))))).i != 0;
}

void anomaly(Node* n, std::span<const Tensor> out) {
  if (!anomaly_check_nan) return;
  for (size_t i = 0; i < out.size(); ++i) {
    if (RG_LIKELY(!any_nan(out[i]))) continue;
    std::string text = str_cat("Function '", node_name(n), "' returned nan values in its ", i, "th output.");
    if (n->site.code) text += "\n  in backward of " + std::string(node_name(n)) + ", made at " + site_text(n->site);
    fail(ErrorKind::Runtime, text);
  }
}

void record(Node* n) {
  if (n->info == &accumulate_grad_info) return;
  PyObject* trace = PyList_New(0);
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (trace && frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    PyObject* line = PyLong_FromLong(PyFrame_GetLineNumber(frame));
    if (line) {
      PyList_Append(trace, reinterpret_cast<PyObject*>(code));
      PyList_Append(trace, line);
    }
    Py_DECREF(code);
    Py_XDECREF(line);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  NodeExtra& e = extra_of(n);
  e.forward_trace = trace ? PyList_AsTuple(trace) : nullptr;
  Py_XDECREF(trace);
  PyErr_Clear();  // a node without a trace is better than none
  if (Node* maker = current_node()) e.parent = Py_NewRef(maker->object());
}

// Where the forward call was, in words; also given as a warning, as in PyTorch.
std::string forward_story(Node* n) {
  PyObject* module = PyImport_ImportModule("retrograd.autograd.anomaly_mode");
  PyObject* text = module ? PyObject_CallMethod(module, "_explain", "O", n->object()) : nullptr;
  const char* chars = text ? PyUnicode_AsUTF8(text) : nullptr;
  std::string story = chars ? chars : "";
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(module);
  return story;
}

constexpr const char* kInBackward = "\n  in backward of ";

std::string forward_line(Node* n) {
  std::string text = kInBackward + std::string(node_name(n));
  if (n->site.code) text += (n->info == &accumulate_grad_info ? ", of a leaf first used at " : ", made at ") + site_text(n->site);
  return text;
}

// Whether an exception comes from a backward inside this one, and says so.
bool has_forward_line(PyObject* value) {
  PyObject* notes = PyObject_GetAttrString(value, "__notes__");
  if (!notes) PyErr_Clear();
  bool found = false;
  for (Py_ssize_t i = 0; notes && PyList_Check(notes) && i < PyList_GET_SIZE(notes); ++i) {
    PyObject* note = PyList_GET_ITEM(notes, i);
    const char* text = PyUnicode_Check(note) ? PyUnicode_AsUTF8(note) : nullptr;
    if (!text) PyErr_Clear();
    found |= text && std::string_view(text).starts_with(kInBackward + 1);
  }
  Py_XDECREF(notes);
  return found;
}

void add_note(PyObject* value, const std::string& text) {
  PyObject* done = PyObject_CallMethod(value, "add_note", "s", text.c_str());
  if (!done) PyErr_Clear();
  Py_XDECREF(done);
}

// What Python code raised (a custom backward, a hook) gets a note with the line of the forward; what is ours has it in its text. Under anomaly
// mode there is a whole traceback.
void explain(Node* n) {
  if (!n) throw;
  const bool anomaly = anomaly_enabled || (n->extra && n->extra->forward_trace);
  try {
    throw;
  } catch (const Error& e) {
    std::string text = e.what();
    if (text.find(kInBackward) == std::string::npos && text.find("made at ") == std::string::npos) text += forward_line(n);
    rethrow_with(e, anomaly ? text + "\n" + forward_story(n) : text);
  } catch (const PythonError&) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && PyErr_GivenExceptionMatches(type, PyExc_Exception)) {
      if (!has_forward_line(value)) add_note(value, forward_line(n).substr(1));
      if (anomaly) add_note(value, forward_story(n));
    }
    PyErr_Restore(type, value, trace);
    throw;
  }
}

Tensor sparse_function(const char* function, const Tensor& a, const Tensor& b) {
  const Owned module(checked(PyImport_ImportModule("retrograd._ops.sparse.engine")));
  PyObject* result = b ? PyObject_CallMethod(module.get(), function, "OO", a->object(), b->object())
                       : PyObject_CallMethod(module.get(), function, "O", a->object());
  return Tensor::steal(reinterpret_cast<TensorImpl*>(checked(result)));
}

PyObject* py_set_sparse_type(PyObject*, PyObject* type) {
  sparse_type = reinterpret_cast<PyTypeObject*>(Py_NewRef(type));
  Py_RETURN_NONE;
}
PyMethodDef methods[] = {{"_set_sparse_type", py_set_sparse_type, METH_O, "the class of sparse tensors"}, {nullptr, nullptr, 0, nullptr}};

void run_callback(PyObject* callback) { Py_DECREF(checked(PyObject_CallNoArgs(callback))); }

}  // namespace

void init_hooks(PyObject* module) {
  engine_hooks = {.arrive = arrive,
                  .before = before,
                  .after = after,
                  .leaf = leaf_hooks,
                  .post_accumulate = post_accumulate,
                  .record = record,
                  .anomaly = anomaly,
                  .watched = nullptr,  // doctor.cpp
                  .explain = explain,
                  .run_callback = run_callback};
  call_sparse = sparse_function;
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
