// graph.saved_tensors_hooks: what Python does to tensors as nodes save and use them.
#include "autograd/history.h"
#include "autograd/saved.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

struct HookPair {
  PyObject* pack;    // owned
  PyObject* unpack;  // owned
};
thread_local std::vector<HookPair> stack;  // innermost last; saved_hooks_depth is its size, or 0 while hooks run
thread_local std::string disabled_reason;
thread_local bool disabled = false;

// What a saved tensor keeps instead of the tensor: (packed object, unpack), as a tuple.
PyObject* pack(const Tensor& t) {
  if (stack.empty()) return nullptr;
  const HookPair pair = stack.back();
  // The hook may compute, and what it saves on the way is not packed again.
  const int depth = std::exchange(saved_hooks_depth, 0);
  PyObject* packed = PyObject_CallOneArg(pair.pack, t->object());
  saved_hooks_depth = depth;
  checked(packed);
  PyObject* both = PyTuple_Pack(2, packed, pair.unpack);
  Py_DECREF(packed);
  return checked(both);
}

Tensor unpack(PyObject* both) {
  PyObject* result = checked(PyObject_CallOneArg(PyTuple_GET_ITEM(both, 1), PyTuple_GET_ITEM(both, 0)));
  const Tensor t = is_tensor(result) ? Tensor::borrow(result) : Tensor();
  const std::string got = Py_TYPE(result)->tp_name;
  Py_DECREF(result);
  RG_CHECK_AS(Type, t, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ", got);
  return t;
}

PyObject* push(PyObject*, PyObject* args) {
  PyObject *pack_hook, *unpack_hook;
  if (!PyArg_ParseTuple(args, "OO", &pack_hook, &unpack_hook)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK(!disabled, disabled_reason);
    stack.push_back({Py_NewRef(pack_hook), Py_NewRef(unpack_hook)});
    saved_hooks_depth = static_cast<int>(stack.size());
    Py_RETURN_NONE;
  });
}
PyObject* pop(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!stack.empty(), "there are no saved tensor hooks to remove");
    const HookPair pair = stack.back();
    stack.pop_back();
    saved_hooks_depth = static_cast<int>(stack.size());
    Py_DECREF(pair.pack);
    Py_DECREF(pair.unpack);
    Py_RETURN_NONE;
  });
}
PyObject* top(PyObject*, PyObject*) {
  if (stack.empty()) Py_RETURN_NONE;
  return PyTuple_Pack(2, stack.back().pack, stack.back().unpack);
}
PyObject* disable(PyObject*, PyObject* reason) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(reason);
    if (!text) throw PythonError();
    RG_CHECK(stack.empty(), text);
    disabled = true;
    disabled_reason = text;
    Py_RETURN_NONE;
  });
}
PyObject* enable(PyObject*, PyObject*) {
  disabled = false;
  disabled_reason.clear();
  Py_RETURN_NONE;
}
PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(!disabled); }
PyObject* disabled_error(PyObject*, PyObject*) {
  if (!disabled) Py_RETURN_NONE;
  return PyUnicode_FromString(disabled_reason.c_str());
}

PyMethodDef methods[] = {{"_push_saved_tensors_hooks", push, METH_VARARGS, "(pack, unpack)"},
                         {"_pop_saved_tensors_hooks", pop, METH_NOARGS, nullptr},
                         {"_top_saved_tensors_hooks", top, METH_NOARGS, nullptr},
                         {"_disable_saved_tensors_hooks", disable, METH_O, nullptr},
                         {"_enable_saved_tensors_hooks", enable, METH_NOARGS, nullptr},
                         {"_saved_tensors_hooks_is_enabled", is_enabled, METH_NOARGS, nullptr},
                         {"_saved_tensors_hooks_disabled_error", disabled_error, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_saved_hooks(PyObject* module) {
  saved_tensor_hooks = {pack, unpack};
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
