// Identities whose derivative is refused or dropped: what PyTorch has as _C._functions.DelayedError and UndefinedGrad.
#include "autograd/engine.h"
#include "autograd/history.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

struct ErrorNode : Node {
  PyObject* message;  // owned, a str
};

void refuse(Call& call) { fail(ErrorKind::Runtime, text_of(static_cast<ErrorNode*>(call.node)->message)); }
void drop(Call&) {}
void destroy(Node* node) { Py_CLEAR(static_cast<ErrorNode*>(node)->message); }

const NodeInfo error_info = {
    .name = "Error", .bytes = sizeof(ErrorNode), .edges_offset = 0, .apply = refuse, .saved = {}, .destroy = destroy};
const NodeInfo undefined_info = {.name = "UndefinedGradBackward", .bytes = sizeof(Node), .edges_offset = 0, .apply = drop, .saved = {}};

// Copies of the tensors on the same memory, with `info` as their one node if any of them requires grad. Others than tensors pass.
PyObject* through(const NodeInfo& info, PyObject* tensors, PyObject* message) {
  return guarded([&]() -> PyObject* {
    const Py_ssize_t n = PyTuple_GET_SIZE(tensors);
    bool any = false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(tensors, i);
      RG_CHECK_AS(Type, o == Py_None || is_tensor(o), "argument ", static_cast<int64_t>(i), " is not a Variable");
      any |= o != Py_None && requires_grad(reinterpret_cast<TensorImpl*>(o));
    }
    Node* node = any && thread_state.grad_mode ? new_node(info, static_cast<size_t>(n), static_cast<size_t>(n)) : nullptr;
    if (node && message) static_cast<ErrorNode*>(node)->message = Py_NewRef(message);
    PyObject* out = PyTuple_New(n);
    for (Py_ssize_t i = 0; out && i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(tensors, i);
      if (o == Py_None) {
        PyTuple_SET_ITEM(out, i, Py_NewRef(o));
        continue;
      }
      const Tensor source = Tensor::borrow(o);
      Tensor copy = alias(source);
      if (node) {
        node->set_edge(static_cast<size_t>(i), source);
        Py_INCREF(node->object());
        set_history(copy, node, 0);
        copy->output_nr = static_cast<uint32_t>(i);
      }
      PyTuple_SET_ITEM(out, i, wrap(std::move(copy)));
    }
    Py_XDECREF(reinterpret_cast<PyObject*>(node));
    return checked(out);
  });
}

PyObject* delayed_error(PyObject*, PyObject* args) {
  PyObject *message, *tensors;
  if (!PyArg_ParseTuple(args, "UO!", &message, &PyTuple_Type, &tensors)) return nullptr;
  return through(error_info, tensors, message);
}
PyObject* undefined_grad(PyObject*, PyObject* tensors) {
  if (!PyTuple_Check(tensors)) return PyErr_Format(PyExc_TypeError, "expected a tuple of tensors, got %s", Py_TYPE(tensors)->tp_name);
  return through(undefined_info, tensors, nullptr);
}

PyMethodDef methods[] = {{"_delayed_error", delayed_error, METH_VARARGS, "(message, tensors): the same, with a derivative that raises"},
                         {"_undefined_grad", undefined_grad, METH_O, "(tensors): the same, with no gradient behind them"},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_error_nodes(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
