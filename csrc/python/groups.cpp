// Installs the groups: each is a function of the module of ops or a method of Tensor, and its records learn where they are bound.
#include "bindings.h"
#include "python/intercept.h"

namespace retrograd {
namespace {

// One PyMethodDef per group; they live as long as the process.
PyMethodDef* method_def(const GroupEntry& e) {
  auto* def = new PyMethodDef();
  def->ml_name = e.name;
  def->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(e.call));
  def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
  def->ml_doc = e.group->doc;
  return def;
}

}  // namespace

void init_bindings(PyObject* module, PyTypeObject* tensor) {
  PyObject* functions = checked(PyModule_New("retrograd._C._functions_of_ops"));
  PyObject* internal = checked(PyModule_New("retrograd._C._internal_ops"));
  for (const GroupEntry* list : all_groups) {
    for (const GroupEntry* e = list; e->name; ++e) {
      const Group& g = *e->group;
      PyObject* callable;
      if (g.method) {
        callable = checked(PyDescr_NewMethod(tensor, method_def(*e)));
        checked(PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor), e->name, callable) == 0 ? callable : nullptr);
      } else {
        PyObject* home = checked(PyUnicode_FromString("retrograd"));
        callable = checked(PyCFunction_NewEx(method_def(*e), nullptr, home));
        Py_DECREF(home);
        checked(PyObject_SetAttrString(g.internal ? internal : functions, e->name, callable) == 0 ? callable : nullptr);
      }
      g.callable = callable;
      for (size_t i = 0; i < g.signatures.size(); ++i) {
        for (OpRecord* r : {g.signatures[i].record, g.signatures[i].out}) {
          if (!r || r->group) continue;
          r->group = &g;
          r->overload = static_cast<int>(i);
          register_op(*r);
        }
      }
    }
  }
  checked(PyModule_AddObject(module, "_internal_ops", internal) == 0 ? internal : nullptr);
  checked(PyModule_AddObject(module, "_ops", functions) == 0 ? functions : nullptr);
}

}  // namespace retrograd
