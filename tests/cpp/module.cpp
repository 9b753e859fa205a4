// The module retrograd_units: names() lists the tests, run(name) runs one and raises AssertionError where a check fails.
#include <Python.h>

#include <string>

#include "check.h"
#include "python/guard.h"

extern "C" PyObject* PyInit__C();

namespace retrograd::units {

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

namespace {

std::string full_name(const Test& test) {  // test_region.cpp, rows -> region::rows
  std::string file = test.file;
  file = file.substr(file.rfind('/') + 1);
  return file.substr(5, file.rfind('.') - 5) + "::" + test.name;
}

PyObject* names(PyObject*, PyObject*) {
  PyObject* list = PyList_New(0);
  for (const Test& test : tests()) {
    PyObject* name = PyUnicode_FromString(full_name(test).c_str());
    PyList_Append(list, name);
    Py_DECREF(name);
  }
  return list;
}

PyObject* run(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const std::string wanted = text_of(name);
    for (const Test& test : tests())
      if (full_name(test) == wanted) {
        test.run();
        Py_RETURN_NONE;
      }
    fail(ErrorKind::Value, "no test is called ", wanted);
  });
}

PyMethodDef methods[] = {{"names", names, METH_NOARGS, ""}, {"run", run, METH_O, ""}, {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "retrograd_units", "C++ tests.", -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace
}  // namespace retrograd::units

extern "C" __attribute__((visibility("default"))) PyObject* PyInit_retrograd_units() {
  PyObject* core = PyInit__C();  // the types and tables of this core; the module itself is of no use here
  if (!core) return nullptr;
  PyObject* module = PyModule_Create(&retrograd::units::definition);
  if (module && PyModule_AddObjectRef(module, "_core", core) < 0) Py_CLEAR(module);
  Py_DECREF(core);
  return module;
}
