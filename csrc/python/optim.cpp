// _sgd_step(group, state) and _adam_step(group, state): one step for every parameter of a group that has a gradient. Both read the options
// from the group and the buffers from the optimizer's state, and call the op that makes the step (optable/optim.py). False means that nothing
// was done because something is out of the ordinary: state that does not exist yet, mixed dtypes or devices, subclasses, modes that want
// to see the calls, options that are not numbers. The optimizer then goes the long way, through other ops.
// And _drop_grads(params), which comes before or after it.
#include "python/optim.h"

#include <optional>
#include <vector>

#include "core/guards.h"
#include "ops.h"
#include "python/guard.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

PyObject *key_params, *key_lr, *key_momentum, *key_dampening, *key_weight_decay, *key_nesterov, *key_maximize, *key_differentiable,
    *key_betas, *key_eps, *key_amsgrad, *key_decoupled, *key_capturable, *key_buffer, *key_step, *key_exp_avg, *key_exp_avg_sq,
    *key_max_exp_avg_sq, *key_grad;

// A borrowed value of a dictionary; null, without an error, when it is not there.
PyObject* item(PyObject* dict, PyObject* key) {
  PyObject* value = PyDict_GetItemWithError(dict, key);
  if (!value && PyErr_Occurred()) throw PythonError();
  return value;
}

// Options that are plain numbers and flags; `ok` remembers whether all were.
struct Options {
  PyObject* group;
  bool ok = true;

  double number(PyObject* value) {
    if (value && PyFloat_Check(value)) return PyFloat_AS_DOUBLE(value);
    if (value && PyLong_Check(value)) {
      const double v = PyLong_AsDouble(value);
      if (v != -1 || !PyErr_Occurred()) return v;
      PyErr_Clear();  // too large: the ops say so
    }
    ok = false;
    return 0;
  }
  double number_at(PyObject* key) { return number(item(group, key)); }
  bool flag(PyObject* key) {
    PyObject* value = item(group, key);
    if (value != Py_True && value != Py_False) ok = false;
    return value == Py_True;
  }
};

// A tensor of exactly the types whose attributes are known; null otherwise.
TensorImpl* plain(PyObject* o) {
  return o && (Py_TYPE(o) == tensor_type || Py_TYPE(o) == parameter_type) ? reinterpret_cast<TensorImpl*>(o) : nullptr;
}

// Nobody has a say in the calls that a step is otherwise made of. Gradient mode does not matter: a step never records.
bool ordinary() { return !thread_state.mapped && !thread_state.function_modes; }

// The tensors of a step: a list for each role, one after the other in one block of memory. Owned: while the GIL is released others may change
// the group and the state.
class Lists {
 public:
  Lists(size_t count, Py_ssize_t room) : room_(static_cast<size_t>(room)), tensors_(count * room_) {}
  void set(size_t list, TensorImpl* t) { tensors_[list * room_ + used_] = Tensor::borrow(t); }
  void next() { ++used_; }
  std::span<const Tensor> operator[](size_t list) const { return {tensors_.data() + list * room_, used_}; }

 private:
  size_t room_, used_ = 0;
  std::vector<Tensor> tensors_;
};

// The parameters that have a gradient, their gradients, and what is kept of them under the names of `states`. Nothing where something is
// not a plain tensor, or is not there.
std::optional<Lists> collect(PyObject* group, PyObject* state, std::span<PyObject* const> states) {
  PyObject* params = item(group, key_params);
  if (!params || !PyList_CheckExact(params) || !PyDict_Check(state)) return std::nullopt;
  std::optional<Lists> lists(std::in_place, states.size() + 2, PyList_GET_SIZE(params));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(params); ++i) {
    TensorImpl* param = plain(PyList_GET_ITEM(params, i));
    if (!param) return std::nullopt;
    if (!param->grad) continue;
    if (!plain(param->grad->object())) return std::nullopt;
    lists->set(0, param);
    lists->set(1, param->grad);
    PyObject* own = states.empty() ? nullptr : item(state, param->object());
    if (!states.empty() && (!own || !PyDict_CheckExact(own))) return std::nullopt;
    for (size_t s = 0; s < states.size(); ++s) {
      TensorImpl* t = plain(item(own, states[s]));
      if (!t) return std::nullopt;
      lists->set(s + 2, t);
    }
    lists->next();
  }
  return lists;
}

PyObject* answer(bool done) { return PyBool_FromLong(done); }

bool read_arguments(PyObject* const* args, Py_ssize_t nargs, const char* name) {
  if (nargs == 2 && PyDict_Check(args[0])) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes a parameter group and the state of its optimizer", name);
  return false;
}

PyObject* sgd_step(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!read_arguments(args, nargs, "_sgd_step")) return nullptr;
  return guarded([&]() -> PyObject* {
    Options options{args[0]};
    const double lr = options.number_at(key_lr), momentum = options.number_at(key_momentum), dampening = options.number_at(key_dampening);
    const double weight_decay = options.number_at(key_weight_decay);
    const bool nesterov = options.flag(key_nesterov), maximize = options.flag(key_maximize);
    if (options.flag(key_differentiable) || !options.ok || !ordinary()) return answer(false);
    const auto lists = collect(args[0], args[1], {&key_buffer, momentum != 0 ? size_t{1} : 0});
    if (!lists) return answer(false);
    const auto buffers = momentum != 0 ? (*lists)[2] : std::span<const Tensor>();
    return answer(ops::_fused_sgd_((*lists)[0], (*lists)[1], buffers, weight_decay, momentum, lr, dampening, nesterov, maximize));
  });
}

PyObject* adam_step(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!read_arguments(args, nargs, "_adam_step")) return nullptr;
  return guarded([&]() -> PyObject* {
    Options options{args[0]};
    PyObject* betas = item(args[0], key_betas);
    if (!betas || !(PyTuple_Check(betas) || PyList_Check(betas)) || PySequence_Fast_GET_SIZE(betas) != 2) return answer(false);
    const double beta1 = options.number(PySequence_Fast_GET_ITEM(betas, 0)), beta2 = options.number(PySequence_Fast_GET_ITEM(betas, 1));
    const double eps = options.number_at(key_eps), lr = options.number_at(key_lr), weight_decay = options.number_at(key_weight_decay);
    const bool amsgrad = options.flag(key_amsgrad), maximize = options.flag(key_maximize), decoupled = options.flag(key_decoupled);
    if (options.flag(key_differentiable) || options.flag(key_capturable) || !options.ok || !ordinary()) return answer(false);
    PyObject* const keys[] = {key_step, key_exp_avg, key_exp_avg_sq, key_max_exp_avg_sq};
    const auto lists = collect(args[0], args[1], {keys, amsgrad ? size_t{4} : 3});
    if (!lists) return answer(false);
    const auto largest = amsgrad ? (*lists)[5] : std::span<const Tensor>();
    const auto run = decoupled ? ops::_fused_adamw_ : ops::_fused_adam_;
    return answer(run((*lists)[0], (*lists)[1], (*lists)[3], (*lists)[4], largest, (*lists)[2], lr, beta1, beta2, weight_decay, eps,
                      amsgrad, maximize));
  });
}

// p.grad = None for each.
PyObject* drop_grads(PyObject*, PyObject* params) {
  return guarded([&]() -> PyObject* {
    const Owned list(checked(PySequence_Fast(params, "_drop_grads() takes a sequence of tensors")));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      PyObject* o = PySequence_Fast_GET_ITEM(list.get(), i);
      if (TensorImpl* t = ordinary() ? plain(o) : nullptr) {
        Py_XDECREF(reinterpret_cast<PyObject*>(std::exchange(t->grad, nullptr)));
      } else if (PyObject_SetAttr(o, key_grad, Py_None) < 0) {
        throw PythonError();
      }
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef methods[] = {{"_drop_grads", drop_grads, METH_O, "(tensors): sets .grad of each to None"},
                         {"_sgd_step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sgd_step)), METH_FASTCALL,
                          "(group, state) -> whether it was done"},
                         {"_adam_step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(adam_step)), METH_FASTCALL,
                          "(group, state) -> whether it was done"},
                         {nullptr, nullptr, 0, nullptr}};

struct Key {
  PyObject** to;
  const char* text;
};
const Key kKeys[] = {{&key_params, "params"},
                     {&key_lr, "lr"},
                     {&key_momentum, "momentum"},
                     {&key_dampening, "dampening"},
                     {&key_weight_decay, "weight_decay"},
                     {&key_nesterov, "nesterov"},
                     {&key_maximize, "maximize"},
                     {&key_differentiable, "differentiable"},
                     {&key_betas, "betas"},
                     {&key_eps, "eps"},
                     {&key_amsgrad, "amsgrad"},
                     {&key_decoupled, "decoupled_weight_decay"},
                     {&key_capturable, "capturable"},
                     {&key_buffer, "momentum_buffer"},
                     {&key_step, "step"},
                     {&key_exp_avg, "exp_avg"},
                     {&key_exp_avg_sq, "exp_avg_sq"},
                     {&key_max_exp_avg_sq, "max_exp_avg_sq"},
                     {&key_grad, "grad"}};

}  // namespace

void init_optim(PyObject* module) {
  for (const Key& key : kKeys) *key.to = checked(PyUnicode_InternFromString(key.text));
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
