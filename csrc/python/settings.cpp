// Settings of the process: default dtype, threads, memory; and what is known of types without a tensor.
#include <cstdlib>

#include "core/allocator.h"
#include "core/memory_limit.h"
#include "core/promote.h"
#include "cpu/isa.h"
#include "cpu/parallel.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"
#include "python/types.h"

namespace retrograd {
namespace {

PyObject* get_default_dtype(PyObject*, PyObject*) { return wrap_dtype(default_dtype()); }
PyObject* py_set_default_dtype(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    DType t;
    RG_CHECK_AS(Type, !PyType_Check(o) && read_dtype(o, t),
                "invalid dtype object: only floating-point types are supported as the default type");
    RG_CHECK_AS(Type, is_floating(t), "only floating-point types are supported as the default type");
    RG_CHECK_AS(Type, !is_guest(t), "couldn't find storage object ", dtype_title(t), "Storage");
    set_default_dtype(t);
    Py_RETURN_NONE;
  });
}
PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(cpu::num_threads()); }
PyObject* py_set_num_threads(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    int64_t n;
    RG_CHECK_AS(Type, read_int(o, n), "set_num_threads expects an int, but got ", Py_TYPE(o)->tp_name);
    RG_CHECK(n > 0, "set_num_threads expects a positive integer, got ", n);
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
  return guarded([]() -> PyObject* {
    empty_cache();
    Py_RETURN_NONE;
  });
}
PyObject* py_sweep_cache(PyObject*, PyObject*) {
  sweep_cache();
  Py_RETURN_NONE;
}
PyObject* py_set_cache_limit(PyObject*, PyObject* o) {  // None: the default
  return guarded([&]() -> PyObject* {
    int64_t bytes = -1;
    if (o != Py_None) {
      RG_CHECK_AS(Type, read_int(o, bytes), "set_cache_limit() expects a number of bytes or None, but got ", Py_TYPE(o)->tp_name);
      RG_CHECK_AS(Value, bytes >= 0, "set_cache_limit() expects a number of bytes, 0 or more, or None for the default, but got ", bytes);
    }
    set_cache_limit(bytes);
    Py_RETURN_NONE;
  });
}
PyObject* py_cache_limit(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* { return PyLong_FromLongLong(get_cache_limit()); });
}
PyObject* py_memory_allowance(PyObject*, PyObject* root) {
  return guarded([&]() -> PyObject* {
    const char* path = PyUnicode_AsUTF8(root);
    return path ? PyLong_FromLongLong(memory_allowance(path)) : nullptr;
  });
}
void read_environment() {
  const char* text = std::getenv("RETROGRAD_CACHE_LIMIT");
  if (!text || !*text) return;
  const int64_t bytes = parse_bytes(text);
  if (bytes >= 0) {
    set_cache_limit(bytes);
  } else if (PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                              "RETROGRAD_CACHE_LIMIT is '%s', which is no number of bytes like 1000000 or 512M: the default limit holds",
                              text) < 0) {
    throw PythonError();
  }
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
// Of two tensors or numbers, by position or under the names of PyTorch's four overloads.
[[noreturn]] void fail_result_type(PyObject* args, PyObject* named) {
  std::string given;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) given += str_cat(i ? ", " : "", Py_TYPE(PyTuple_GET_ITEM(args, i))->tp_name);
  PyObject *name, *value;
  for (Py_ssize_t at = 0; named && PyDict_Next(named, &at, &name, &value);)
    given += str_cat(given.empty() ? "" : ", ", PyUnicode_AsUTF8(name), "=", Py_TYPE(value)->tp_name);
  fail(ErrorKind::Type, "result_type() received an invalid combination of arguments - got (", given,
       "), but expected one of:\n * (Tensor tensor, Tensor other)\n * (Number scalar, Tensor tensor)\n * (Tensor tensor, Number other)\n"
       " * (Number scalar1, Number scalar2)");
}
PyObject* py_result_type(PyObject*, PyObject* args, PyObject* named) {
  return guarded([&]() -> PyObject* {
    static constexpr std::string_view overloads[][2] = {{"tensor", "other"}, {"scalar", "tensor"}, {"scalar1", "scalar2"}};
    const Py_ssize_t positional = PyTuple_GET_SIZE(args);
    if (positional + (named ? PyDict_GET_SIZE(named) : 0) != 2) fail_result_type(args, named);
    const auto argument = [&](std::string_view name, Py_ssize_t place) -> PyObject* {
      return place < positional ? PyTuple_GET_ITEM(args, place) : PyDict_GetItemString(named, name.data());
    };
    for (const auto& names : overloads) {
      Promotion p;
      bool fits = true;
      for (Py_ssize_t i = 0; i < 2 && fits; ++i) {
        PyObject* o = argument(names[i], i);
        Scalar s;
        if (!o) {
          fits = false;
        } else if (is_tensor(o)) {
          fits = !names[i].starts_with("scalar") || i < positional;
          p.add(reinterpret_cast<TensorImpl*>(o));
        } else {
          fits = read_scalar(o, s) && (names[i] != "tensor" || i < positional);
          if (fits) p.add(s);
        }
      }
      if (fits) return wrap_dtype(p.result());
    }
    fail_result_type(args, named);
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

PyMethodDef methods[] = {
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     RG_DOC("get_default_dtype()", "The dtype that floating point numbers become tensors of.")},
    {"set_default_dtype", py_set_default_dtype, METH_O,
     RG_DOC("set_default_dtype(d, /)", "Sets the dtype that floating point numbers become tensors of.")},
    {"get_num_threads", get_num_threads, METH_NOARGS, RG_DOC("get_num_threads()", "How many threads an op may use.")},
    {"set_num_threads", py_set_num_threads, METH_O, RG_DOC("set_num_threads(threads, /)", "Sets how many threads an op may use.")},
    {"_memory_stats", py_memory_stats, METH_NOARGS, nullptr},
    {"_reset_peak_memory_stats", py_reset_peak, METH_NOARGS, nullptr},
    {"_empty_cache", py_empty_cache, METH_NOARGS, nullptr},
    {"_sweep_cache", py_sweep_cache, METH_NOARGS, nullptr},
    {"_set_cache_limit", py_set_cache_limit, METH_O, nullptr},
    {"_cache_limit", py_cache_limit, METH_NOARGS, nullptr},
    {"_memory_allowance", py_memory_allowance, METH_O, nullptr},
    {"_cpu_level", py_cpu_level, METH_NOARGS, nullptr},
    {"promote_types", py_promote, METH_VARARGS,
     RG_DOC("promote_types(type1, type2, /)", "The smallest dtype that holds the numbers of both.")},
    {"result_type", as_method(py_result_type), METH_VARARGS | METH_KEYWORDS,
     RG_DOC("result_type(tensor, other)", "The dtype of the result of an arithmetic op on two tensors or numbers.")},
    {"can_cast", py_can_cast, METH_VARARGS,
     RG_DOC("can_cast(from_, to, /)", "Whether numbers of one dtype become another by the rules of type promotion.")},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_settings(PyObject* module) {
  PyModule_AddFunctions(module, methods);
  read_environment();
}

}  // namespace retrograd
