// _sgd_step(group, state) and _adam_step(group, state): one step for every parameter of a group that has a gradient. Both read the options
// from the group and the buffers from the optimizer's state, check everything, and only then write. False means that nothing was
// done because something is out of the ordinary: state that does not exist yet, mixed dtypes or devices, subclasses, modes that want
// to see the calls, options that are not numbers. The optimizer then goes the long way, through ops.
#include "python/optim.h"

#include <cmath>
#include <optional>
#include <vector>

#include "core/write_notes.h"
#include "kernels/optim.h"
#include "ops.h"
#include "ops/optim/optim.h"
#include "python/guard.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

PyObject *key_params, *key_lr, *key_momentum, *key_dampening, *key_weight_decay, *key_nesterov, *key_maximize, *key_differentiable,
    *key_betas, *key_eps, *key_amsgrad, *key_decoupled, *key_capturable, *key_buffer, *key_step, *key_exp_avg, *key_exp_avg_sq,
    *key_max_exp_avg_sq;

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

// The tensors of one parameter, owned: while the GIL is released others may change the group and the state.
struct Entry {
  Tensor tensors[kMaxStepTensors];
  Tensor count;  // of steps: Adam

  void add(int at, TensorImpl* t) { tensors[at] = Tensor::borrow(t); }
  StepTensors span(int n) const { return {reinterpret_cast<TensorImpl* const*>(tensors), static_cast<size_t>(n)}; }
};
static_assert(sizeof(Tensor) == sizeof(TensorImpl*));

// Collects an entry for each parameter that has a gradient: `states` are the keys of the state tensors, between parameter and gradient.
// Empty when a step cannot be fused.
std::optional<std::vector<Entry>> collect(PyObject* group, PyObject* state, std::span<PyObject* const> states, bool counted) {
  PyObject* params = item(group, key_params);
  if (!params || !PyList_CheckExact(params) || !PyDict_Check(state)) return std::nullopt;
  const int used = static_cast<int>(states.size()) + 2;
  std::vector<Entry> entries;
  entries.reserve(static_cast<size_t>(PyList_GET_SIZE(params)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(params); ++i) {
    TensorImpl* param = plain(PyList_GET_ITEM(params, i));
    if (!param) return std::nullopt;
    if (!param->grad) continue;
    Entry entry;
    entry.add(0, param);
    if (!plain(param->grad->object())) return std::nullopt;
    entry.add(used - 1, param->grad);
    PyObject* own = states.empty() ? nullptr : item(state, param->object());
    if (!states.empty() && (!own || !PyDict_CheckExact(own))) return std::nullopt;
    for (size_t s = 0; s < states.size(); ++s) {
      TensorImpl* t = plain(item(own, states[s]));
      if (!t) return std::nullopt;
      entry.add(static_cast<int>(s) + 1, t);
    }
    if (!can_step(entry.span(used))) return std::nullopt;
    if (counted) {
      TensorImpl* count = plain(item(own, key_step));
      if (!count || count->numel != 1 || !count->device.is_cpu() || count->base || (count->has(kInference) && !thread_state.inference_mode))
        return std::nullopt;
      if (count->dtype != DType::Float32 && count->dtype != DType::Float64) return std::nullopt;
      entry.count = Tensor::borrow(count);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Handlers watch: the same step, made on copies, so that each write is an op that they see. The numbers do not depend on them.
void run_watched(const kernels::Loop* loops, const Entry& entry, int used, const void* params, int cost) {
  const bool grad_enabled = thread_state.grad_enabled;
  set_grad_mode(false);
  struct Restore {
    bool on;
    ~Restore() { set_grad_mode(on); }
  } restore{grad_enabled};
  Entry copies;
  for (int i = 0; i < used; ++i) copies.tensors[i] = i + 1 < used ? ops::clone(entry.tensors[i]) : entry.tensors[i];
  run_step(loops, copies.span(used), params, cost);
  for (int i = 0; i + 1 < used; ++i) ops::copy_(entry.tensors[i], copies.tensors[i], false);
}

void run_entry(const kernels::Loop* loops, const Entry& entry, int used, const void* params, int cost) {
  if (RG_LIKELY(!thread_state.handlers)) return run_step(loops, entry.span(used), params, cost);
  run_watched(loops, entry, used, params, cost);
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
    kernels::SgdStep step;
    step.lr = options.number_at(key_lr);
    step.momentum = options.number_at(key_momentum);
    step.dampening = options.number_at(key_dampening);
    step.weight_decay = options.number_at(key_weight_decay);
    step.nesterov = options.flag(key_nesterov);
    step.maximize = options.flag(key_maximize);
    if (options.flag(key_differentiable) || !options.ok || !ordinary()) return answer(false);
    const size_t states = step.momentum != 0 ? 1 : 0;
    const auto entries = collect(args[0], args[1], {&key_buffer, states}, false);
    if (!entries) return answer(false);
    for (const Entry& e : *entries)
      run_entry(kernels::optim(e.tensors[0]->device).sgd, e, static_cast<int>(states) + 2, &step, states ? 3 : 2);
    return answer(true);
  });
}

double count_step(TensorImpl* count) {
  double value;
  before_write(count);
  if (count->dtype == DType::Float32) {
    value = *static_cast<float*>(count->data) += 1;
  } else {
    value = *static_cast<double*>(count->data) += 1;
  }
  if (!count->has(kInference)) bump_version(count);
  return value;
}

PyObject* adam_step(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!read_arguments(args, nargs, "_adam_step")) return nullptr;
  return guarded([&]() -> PyObject* {
    Options options{args[0]};
    PyObject* betas = item(args[0], key_betas);
    if (!betas || !(PyTuple_Check(betas) || PyList_Check(betas)) || PySequence_Fast_GET_SIZE(betas) != 2) return answer(false);
    kernels::AdamStep step;
    step.beta1 = options.number(PySequence_Fast_GET_ITEM(betas, 0));
    step.beta2 = options.number(PySequence_Fast_GET_ITEM(betas, 1));
    step.eps = options.number_at(key_eps);
    step.amsgrad = options.flag(key_amsgrad);
    step.maximize = options.flag(key_maximize);
    const double lr = options.number_at(key_lr), weight_decay = options.number_at(key_weight_decay);
    const bool decoupled = options.flag(key_decoupled);
    step.weight_decay = decoupled ? 0 : weight_decay;
    step.shrink = decoupled ? 1 - lr * weight_decay : 1;
    if (options.flag(key_differentiable) || options.flag(key_capturable) || !options.ok || !ordinary()) return answer(false);
    PyObject* const keys[] = {key_exp_avg, key_exp_avg_sq, key_max_exp_avg_sq};
    const size_t states = step.amsgrad ? 3 : 2;
    const auto entries = collect(args[0], args[1], {keys, states}, true);
    if (!entries) return answer(false);
    double last = 0;  // parameters mostly share their number of steps
    for (const Entry& e : *entries) {
      const double count = count_step(e.count.get());
      if (count != last) {
        step.step_size = lr / (1 - std::pow(step.beta1, count));
        step.root_correction = std::sqrt(1 - std::pow(step.beta2, count));
        last = count;
      }
      run_entry(kernels::optim(e.tensors[0]->device).adam, e, static_cast<int>(states) + 2, &step, 8);
    }
    return answer(true);
  });
}

PyMethodDef methods[] = {{"_sgd_step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(sgd_step)), METH_FASTCALL,
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
                     {&key_max_exp_avg_sq, "max_exp_avg_sq"}};

}  // namespace

void init_optim(PyObject* module) {
  for (const Key& key : kKeys) *key.to = checked(PyUnicode_InternFromString(key.text));
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
