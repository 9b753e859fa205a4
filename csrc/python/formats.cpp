// torch.memory_format and torch.layout: named constants.
#include "core/format.h"
#include "python/types.h"

namespace retrograd {

PyTypeObject* memory_format_type = nullptr;
PyTypeObject* layout_type = nullptr;

namespace {

constexpr int kFormats = 4, kLayouts = 7;
PyObject* formats[kFormats];
PyObject* layouts[kLayouts];

const char* constant_name(PyObject* self) {
  const uint8_t value = reinterpret_cast<ConstantObject*>(self)->value;
  return Py_TYPE(self) == layout_type ? layout_name(static_cast<Layout>(value)) : memory_format_name(static_cast<MemoryFormat>(value));
}
PyObject* constant_repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", constant_name(self)); }
PyObject* constant_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(constant_name(self)); }

PyMethodDef constant_methods[] = {{"__reduce__", constant_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot constant_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(constant_repr)}, {Py_tp_methods, constant_methods}, {0, nullptr}};
PyType_Spec format_spec = {"retrograd.memory_format", sizeof(ConstantObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           constant_slots};
PyType_Spec layout_spec = {"retrograd.layout", sizeof(ConstantObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                           constant_slots};

void add_constants(PyObject* module, PyTypeObject* type, PyObject** objects, int count) {
  for (int i = 0; i < count; ++i) {
    auto* o = PyObject_New(ConstantObject, type);
    o->value = static_cast<uint8_t>(i);
    objects[i] = reinterpret_cast<PyObject*>(o);
    PyModule_AddObject(module, constant_name(objects[i]), Py_NewRef(objects[i]));
  }
}

}  // namespace

PyObject* wrap_memory_format(MemoryFormat format) { return Py_NewRef(formats[static_cast<int>(format)]); }
PyObject* wrap_layout(Layout layout) { return Py_NewRef(layouts[static_cast<int>(layout)]); }

void init_formats(PyObject* module) {
  memory_format_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&format_spec)));
  layout_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&layout_spec)));
  PyModule_AddObject(module, "memory_format", Py_NewRef(reinterpret_cast<PyObject*>(memory_format_type)));
  PyModule_AddObject(module, "layout", Py_NewRef(reinterpret_cast<PyObject*>(layout_type)));
  add_constants(module, memory_format_type, formats, kFormats);
  add_constants(module, layout_type, layouts, kLayouts);
}

}  // namespace retrograd
