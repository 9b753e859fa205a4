// The extension module: a table of contents.
#include <Python.h>

#include "core/fork_gate.h"
#include "cpu/blas.h"
#include "cpu/cpu.h"
#include "ops/engine_ops.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/doctor.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/interpreter.h"
#include "python/look.h"
#include "python/module_type.h"
#include "python/numpy_array.h"
#include "python/optim.h"
#include "python/profile.h"
#include "python/tensor_type.h"
#include "python/torch_function.h"
#include "python/types.h"
#include "testing/guarded.h"

namespace {

PyObject* set_paths(PyObject*, PyObject* args) {
  const char *package, *library, *blas;
  if (!PyArg_ParseTuple(args, "sss", &package, &library, &blas)) return nullptr;
  retrograd::set_code_prefixes(package, library);
  retrograd::cpu::set_blas_path(blas);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_set_paths", set_paths, METH_VARARGS, "(package directory, directory of the standard library, path of the BLAS library)"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "retrograd._C", "The core of retrograd.", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__C() {
  using namespace retrograd;
  return guarded([]() -> PyObject* {
    PyObject* module = checked(PyModule_Create(&definition));
    init_fork_gate();
    cpu::provide_kernels(DeviceType::CPU);
    init_types(module);
    init_generator(module);
    init_node_type(module);
    init_tensor_type(module);
    init_function(module);
    init_tensor_autograd();
    init_from_data(module);
    init_values();
    init_dlpack(module);
    init_torch_function(module);
    init_overridable_function(module);
    init_intercept(module);
    init_profile(module);
    init_autocast(module);
    init_modes(module);
    init_settings(module);
    init_transforms(module);
    init_surroundings(module);
    init_engine(module);
    init_doctor(module);
    init_look(module);
    init_error_nodes(module);
    init_saved_hooks(module);
    init_module_type(module);
    init_module_tree(module);
    init_numpy_array(module);
    init_optim(module);
    init_guarded(module);
    register_engine_ops();
    init_bindings(module, tensor_type);
    return module;
  });
}
