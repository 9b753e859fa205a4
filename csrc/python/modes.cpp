// Gradient and inference mode: the thread's state, and context managers cheap enough to use around a single op.
#include "autograd/history.h"
#include "core/allocator.h"
#include "core/promote.h"
#include "cpu/isa.h"
#include "cpu/parallel.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/types.h"

namespace retrograd {
namespace {

void set_mode_site() {
  Py_XDECREF(reinterpret_cast<PyObject*>(thread_state.mode_site.code));
  thread_state.mode_site = current_site();
}

PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  if (!PyBool_Check(on)) {
    PyErr_Format(PyExc_TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not %s", Py_TYPE(on)->tp_name);
    return nullptr;
  }
  const bool value = on == Py_True;
  if (!value && thread_state.grad_mode) set_mode_site();
  set_grad_mode(value);
  Py_RETURN_NONE;
}
PyObject* is_grad_enabled(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.grad_enabled); }
PyObject* is_inference(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.inference_mode); }

// A token restores both modes: inference mode switches gradients off, leaving it brings back what was there.
PyObject* enter_inference(PyObject*, PyObject* on) {
  const int value = PyObject_IsTrue(on);
  if (value < 0) return nullptr;
  const long token = (thread_state.inference_mode ? 1 : 0) | (thread_state.grad_enabled ? 2 : 0);
  if (value && !thread_state.inference_mode) set_mode_site();
  set_inference_mode(value);
  set_grad_mode(!value);
  return PyLong_FromLong(token);
}
PyObject* exit_inference(PyObject*, PyObject* token) {
  const long t = PyLong_AsLong(token);
  if (t == -1 && PyErr_Occurred()) return nullptr;
  set_inference_mode((t & 1) != 0);
  set_grad_mode((t & 2) != 0);
  Py_RETURN_NONE;
}

// The context managers no_grad and enable_grad derive from in Python: enter and exit without running Python code.
struct ModeObject {
  PyObject_HEAD
  bool value;
  bool previous;
};
PyObject* mode_enter(PyObject* self, PyObject*) {
  auto* m = reinterpret_cast<ModeObject*>(self);
  m->previous = thread_state.grad_enabled;
  if (!m->value && m->previous) set_mode_site();
  set_grad_mode(m->value);
  Py_RETURN_NONE;
}
PyObject* mode_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  set_grad_mode(reinterpret_cast<ModeObject*>(self)->previous);
  Py_RETURN_NONE;
}
template <bool Value> PyObject* mode_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* m = reinterpret_cast<ModeObject*>(type->tp_alloc(type, 0));
  if (m) m->value = Value;
  return reinterpret_cast<PyObject*>(m);
}
PyMethodDef mode_methods[] = {{"__enter__", mode_enter, METH_NOARGS, nullptr},
                              {"__exit__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(mode_exit)), METH_FASTCALL, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot no_grad_slots[] = {{Py_tp_new, reinterpret_cast<void*>(mode_new<false>)}, {Py_tp_methods, mode_methods}, {0, nullptr}};
PyType_Slot enable_slots[] = {{Py_tp_new, reinterpret_cast<void*>(mode_new<true>)}, {Py_tp_methods, mode_methods}, {0, nullptr}};
PyType_Spec no_grad_spec = {"retrograd._C._NoGrad", sizeof(ModeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, no_grad_slots};
PyType_Spec enable_spec = {"retrograd._C._EnableGrad", sizeof(ModeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, enable_slots};

// ---- process-wide settings ----

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap_dtype(default_dtype()); }
PyObject* py_set_default_dtype(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    DType t;
    RG_CHECK_AS(Type, read_dtype(o, t), "invalid dtype object: only floating-point types are supported as the default type");
    RG_CHECK_AS(Type, is_floating(t), "only floating-point types are supported as the default type");
    set_default_dtype(t);
    Py_RETURN_NONE;
  });
}
PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(cpu::num_threads()); }
PyObject* py_set_num_threads(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    int64_t n;
    RG_CHECK_AS(Type, read_int(o, n), "set_num_threads expects an int, but got ", Py_TYPE(o)->tp_name);
    RG_CHECK(n > 0, "set_num_threads expects a positive integer");
    cpu::set_num_threads(static_cast<int>(n));
    Py_RETURN_NONE;
  });
}
PyObject* py_memory_stats(PyObject*, PyObject*) {
  const MemoryStats s = memory_stats();
  return Py_BuildValue("{sLsLsLsLsLsLsLsLsL}", "allocated", s.allocated, "peak_allocated", s.peak_allocated, "reserved", s.reserved,
                       "peak_reserved", s.peak_reserved, "total_allocated", s.total_allocated, "total_freed", s.total_freed, "live_blocks",
                       s.live_blocks, "total_blocks", s.total_blocks, "cached", cached_bytes());
}
PyObject* py_reset_peak(PyObject*, PyObject*) {
  reset_peak_memory();
  Py_RETURN_NONE;
}
PyObject* py_empty_cache(PyObject*, PyObject*) {
  empty_cache();
  Py_RETURN_NONE;
}
PyObject* py_set_cache_limit(PyObject*, PyObject* o) {
  const long long v = PyLong_AsLongLong(o);
  if (PyErr_Occurred()) return nullptr;
  set_cache_limit(v);
  Py_RETURN_NONE;
}
PyObject* py_cpu_level(PyObject*, PyObject*) {
  static constexpr const char* names[] = {"base", "v2", "v3", "v4"};
  return PyUnicode_FromString(names[static_cast<int>(cpu::cpu_level())]);
}
PyObject* py_promote(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&]() -> PyObject* {
    DType x, y;
    RG_CHECK_AS(Type, read_dtype(a, x), "promote_types(): argument 'type1' (position 1) must be torch.dtype, not ", Py_TYPE(a)->tp_name);
    RG_CHECK_AS(Type, read_dtype(b, y), "promote_types(): argument 'type2' (position 2) must be torch.dtype, not ", Py_TYPE(b)->tp_name);
    return wrap_dtype(promote(x, y));
  });
}
PyObject* py_result_type(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&]() -> PyObject* {
    Promotion p;
    for (PyObject* o : {a, b}) {
      Scalar s;
      if (is_tensor(o)) {
        p.add(reinterpret_cast<TensorImpl*>(o));
      } else {
        RG_CHECK_AS(Type, read_scalar(o, s), "result_type(): arguments must be Tensors or numbers, got ", Py_TYPE(o)->tp_name);
        p.add(s);
      }
    }
    return wrap_dtype(p.result());
  });
}
PyObject* py_can_cast(PyObject*, PyObject* args) {
  PyObject *a, *b;
  if (!PyArg_ParseTuple(args, "OO", &a, &b)) return nullptr;
  return guarded([&]() -> PyObject* {
    DType x, y;
    RG_CHECK_AS(Type, read_dtype(a, x) && read_dtype(b, y), "can_cast() takes two dtypes");
    return PyBool_FromLong(can_cast(x, y));
  });
}

PyMethodDef methods[] = {{"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
                         {"is_grad_enabled", is_grad_enabled, METH_NOARGS, "Whether ops record a graph on this thread."},
                         {"is_inference_mode_enabled", is_inference, METH_NOARGS, "Whether inference mode is on for this thread."},
                         {"_enter_inference", enter_inference, METH_O, nullptr},
                         {"_exit_inference", exit_inference, METH_O, nullptr},
                         {"get_default_dtype", get_default_dtype, METH_NOARGS, nullptr},
                         {"set_default_dtype", py_set_default_dtype, METH_O, nullptr},
                         {"get_num_threads", get_num_threads, METH_NOARGS, nullptr},
                         {"set_num_threads", py_set_num_threads, METH_O, nullptr},
                         {"_memory_stats", py_memory_stats, METH_NOARGS, nullptr},
                         {"_reset_peak_memory_stats", py_reset_peak, METH_NOARGS, nullptr},
                         {"_empty_cache", py_empty_cache, METH_NOARGS, nullptr},
                         {"_set_cache_limit", py_set_cache_limit, METH_O, nullptr},
                         {"_cpu_level", py_cpu_level, METH_NOARGS, nullptr},
                         {"promote_types", py_promote, METH_VARARGS, nullptr},
                         {"result_type", py_result_type, METH_VARARGS, nullptr},
                         {"can_cast", py_can_cast, METH_VARARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_modes(PyObject* module) {
  PyModule_AddFunctions(module, methods);
  PyModule_AddObject(module, "_NoGrad", checked(PyType_FromSpec(&no_grad_spec)));
  PyModule_AddObject(module, "_EnableGrad", checked(PyType_FromSpec(&enable_spec)));
}

}  // namespace retrograd
