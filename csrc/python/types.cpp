#include "python/types.h"

#include <Python.h>
#include <structmember.h>

#include <cstring>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "core/guards.h"
#include "core/promote.h"
#include "python/bind.h"
#include "python/guard.h"

namespace retrograd {

PyTypeObject* dtype_type = nullptr;
PyTypeObject* device_type = nullptr;
PyTypeObject* size_type = nullptr;

namespace {

PyObject* dtype_objects[kNumDTypes];

// ---- torch.dtype ----

// Dtypes that programs name and compare with, but that no tensor here has. Their numbers follow those of DType.
struct OtherDType {
  const char *name, *title;
  int8_t size;
  bool floating = false, complex = false;
  const char* sign = "yes";  // or "no", or why there is no answer
};
constexpr const char kBits[] = "Bits types are undefined", kQuantized[] = "isSignedType not supported for quantized types";
constexpr OtherDType kOthers[] = {
    {"complex32", "ComplexHalf", 4, false, true},
    {"float4_e2m1fn_x2", "Float4_e2m1fn_x2", 1, true},
    {"int1", "Int1", 1},
    {"int2", "Int2", 1},
    {"int3", "Int3", 1},
    {"int4", "Int4", 1},
    {"int5", "Int5", 1},
    {"int6", "Int6", 1},
    {"int7", "Int7", 1},
    {"uint1", "UInt1", 1, false, false, "no"},
    {"uint2", "UInt2", 1, false, false, "no"},
    {"uint3", "UInt3", 1, false, false, "no"},
    {"uint4", "UInt4", 1, false, false, "no"},
    {"uint5", "UInt5", 1, false, false, "no"},
    {"uint6", "UInt6", 1, false, false, "no"},
    {"uint7", "UInt7", 1, false, false, "no"},
    {"bits8", "Bits8", 1, false, false, kBits},
    {"bits16", "Bits16", 2, false, false, kBits},
    {"bits1x8", "Bits1x8", 1, false, false, kBits},
    {"bits2x4", "Bits2x4", 1, false, false, kBits},
    {"bits4x2", "Bits4x2", 1, false, false, kBits},
    {"qint8", "QInt8", 1, false, false, kQuantized},
    {"quint8", "QUInt8", 1, false, false, kQuantized},
    {"qint32", "QInt32", 4, false, false, kQuantized},
    {"quint4x2", "QUInt4x2", 1, false, false, kQuantized},
    {"quint2x4", "QUInt2x4", 1, false, false, kQuantized},
};
constexpr int kNumOthers = static_cast<int>(std::size(kOthers));
static_assert(kNumDTypes + kNumOthers <= 256);

DType value_of(PyObject* self) { return reinterpret_cast<DtypeObject*>(self)->value; }
const OtherDType* other_of(PyObject* self) {
  const int number = static_cast<int>(value_of(self)) - kNumDTypes;
  return number < 0 ? nullptr : &kOthers[number];
}
const char* name_of(PyObject* self) {
  const OtherDType* other = other_of(self);
  return other ? other->name : dtype_name(value_of(self));
}

PyObject* dtype_repr(PyObject* self) { return PyUnicode_FromFormat("torch.%s", name_of(self)); }
PyObject* dtype_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(name_of(self)); }
PyObject* dtype_is_floating(PyObject* self, void*) {
  const OtherDType* other = other_of(self);
  return PyBool_FromLong(other ? other->floating : is_floating(value_of(self)));
}
PyObject* dtype_is_complex(PyObject* self, void*) {
  const OtherDType* other = other_of(self);
  return PyBool_FromLong(other ? other->complex : is_complex(value_of(self)));
}
PyObject* dtype_is_signed(PyObject* self, void*) {
  const std::string_view answer = other_of(self) ? other_of(self)->sign : is_signed(value_of(self)) ? "yes" : "no";
  if (answer == "yes" || answer == "no") return PyBool_FromLong(answer == "yes");
  PyErr_SetString(PyExc_RuntimeError, other_of(self)->sign);
  return nullptr;
}
PyObject* dtype_itemsize(PyObject* self, void*) {
  const OtherDType* other = other_of(self);
  return PyLong_FromLongLong(other ? other->size : itemsize(value_of(self)));
}
PyObject* dtype_title_of(PyObject* self, void*) {
  const OtherDType* other = other_of(self);
  return PyUnicode_FromString(other ? other->title : dtype_title(value_of(self)).c_str());
}
PyObject* dtype_cpp_name(PyObject* self, void*) {
  const OtherDType* other = other_of(self);
  return PyUnicode_FromString(other ? other->title : cpp_type_name(value_of(self)));
}
PyObject* dtype_to_real(PyObject* self, PyObject*) {
  const OtherDType* other = other_of(self);
  if (other) return Py_NewRef(other->complex ? dtype_object(DType::Float16) : self);
  return Py_NewRef(dtype_object(real_dtype(value_of(self))));
}
PyObject* dtype_to_complex(PyObject* self, PyObject*) {
  if (const OtherDType* other = other_of(self); other ? !other->complex : is_guest(value_of(self))) {
    return PyErr_Format(PyExc_RuntimeError, "Unknown Complex ScalarType for %s",
                        other ? other->title : dtype_title(value_of(self)).c_str());
  }
  return Py_NewRef(other_of(self) ? self : dtype_object(complex_dtype(value_of(self))));
}

PyGetSetDef dtype_getset[] = {{"is_floating_point", dtype_is_floating, nullptr, nullptr, nullptr},
                              {"is_complex", dtype_is_complex, nullptr, nullptr, nullptr},
                              {"is_signed", dtype_is_signed, nullptr, nullptr, nullptr},
                              {"itemsize", dtype_itemsize, nullptr, "bytes per element", nullptr},
                              {"_title", dtype_title_of, nullptr, "its name in errors, such as Float", nullptr},
                              {"_cpp_name", dtype_cpp_name, nullptr, "what C++ calls it, as some errors do", nullptr},
                              {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
                               {"to_real", dtype_to_real, METH_NOARGS, nullptr},
                               {"to_complex", dtype_to_complex, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyType_Slot dtype_slots[] = {
    {Py_tp_repr, reinterpret_cast<void*>(dtype_repr)}, {Py_tp_getset, dtype_getset}, {Py_tp_methods, dtype_methods}, {0, nullptr}};
PyType_Spec dtype_spec = {"retrograd.dtype", sizeof(DtypeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, dtype_slots};

void init_dtypes(PyObject* module) {
  dtype_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&dtype_spec)));
  PyModule_AddObject(module, "dtype", Py_NewRef(reinterpret_cast<PyObject*>(dtype_type)));
  for (int i = 0; i < kNumDTypes + kNumOthers; ++i) {
    if (i < kNumDTypes && !dtype_name(static_cast<DType>(i))) continue;
    auto* o = PyObject_New(DtypeObject, dtype_type);
    o->value = static_cast<DType>(i);
    PyObject* object = reinterpret_cast<PyObject*>(o);
    if (i < kNumDTypes) dtype_objects[i] = object;
    PyModule_AddObject(module, name_of(object), Py_NewRef(object));
    if (std::strcmp(name_of(object), "complex32") == 0) PyModule_AddObject(module, "chalf", Py_NewRef(object));
  }
  const std::pair<const char*, DType> aliases[] = {{"float", DType::Float32},     {"double", DType::Float64}, {"half", DType::Float16},
                                                   {"long", DType::Int64},        {"int", DType::Int32},      {"short", DType::Int16},
                                                   {"char", DType::Int8},         {"uint8", DType::UInt8},    {"cfloat", DType::Complex64},
                                                   {"cdouble", DType::Complex128}};
  for (const auto& [name, t] : aliases) PyModule_AddObject(module, name, Py_NewRef(dtype_object(t)));
}

// ---- torch.device ----

Device device_of(PyObject* self) { return reinterpret_cast<DeviceObject*>(self)->value; }

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject *type, *index = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &type, &index)) return nullptr;
  try {
    Device d;
    if (!read_device(type, d))
      fail(ErrorKind::Type, "device(): argument 'type' (position 1) must be str, int or torch.device, not ", Py_TYPE(type)->tp_name);
    if (index && index != Py_None) {
      int64_t i;
      RG_CHECK_AS(Type, read_int(index, i), "device(): argument 'index' (position 2) must be int, not ", Py_TYPE(index)->tp_name);
      RG_CHECK(d.index < 0, "type (string) must not include an index because index was passed explicitly: ", device_name(d));
      RG_CHECK(i >= 0 && i < 128, "Device index must be non-negative and below 128, got ", i);
      d.index = static_cast<int8_t>(i);
    }
    return wrap_device(d);
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

PyObject* device_repr(PyObject* self) {
  const Device d = device_of(self);
  if (d.index < 0) return PyUnicode_FromFormat("device(type='%s')", device_type_name(d.type));
  return PyUnicode_FromFormat("device(type='%s', index=%d)", device_type_name(d.type), d.index);
}
PyObject* device_str(PyObject* self) { return PyUnicode_FromString(device_name(device_of(self)).c_str()); }
Py_hash_t device_hash(PyObject* self) {
  const Device d = device_of(self);
  return static_cast<int>(d.type) * 257 + d.index + 2;
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || Py_TYPE(b) != device_type) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of(a) == device_of(b)) == (op == Py_EQ));
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  return Py_BuildValue("(O(s))", reinterpret_cast<PyObject*>(device_type), device_name(device_of(self)).c_str());
}
PyObject* device_get_type(PyObject* self, void*) { return PyUnicode_FromString(device_type_name(device_of(self).type)); }
PyObject* device_get_index(PyObject* self, void*) {
  if (device_of(self).index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(device_of(self).index);
}

PyGetSetDef device_getset[] = {{"type", device_get_type, nullptr, nullptr, nullptr},
                               {"index", device_get_index, nullptr, nullptr, nullptr},
                               {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef device_methods[] = {{"__reduce__", device_reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot device_slots[] = {{Py_tp_new, reinterpret_cast<void*>(device_new)},
                              {Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                              {Py_tp_str, reinterpret_cast<void*>(device_str)},
                              {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                              {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
                              {Py_tp_getset, device_getset},
                              {Py_tp_methods, device_methods},
                              {0, nullptr}};
PyType_Spec device_spec = {"retrograd.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT, device_slots};

// ---- torch.Size: a tuple that prints as one and keeps its type under slicing and + ----

PyObject* size_from_tuple(PyObject* tuple) {
  if (!tuple) return nullptr;
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* out = PyTuple_Type.tp_alloc(size_type, n);
  for (Py_ssize_t i = 0; out && i < n; ++i) PyTuple_SET_ITEM(out, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  Py_DECREF(tuple);
  return out;
}

PyObject* size_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  PyObject* tuple = PyTuple_Type.tp_new(&PyTuple_Type, args, kwargs);
  if (!tuple) return nullptr;
  PyObject* checked_tuple = PyTuple_New(PyTuple_GET_SIZE(tuple));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple, i);
    PyObject* number = PyIndex_Check(item) && !PyBool_Check(item) ? PyNumber_Index(item) : nullptr;
    if (!number) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i, Py_TYPE(item)->tp_name);
      Py_DECREF(tuple);
      Py_DECREF(checked_tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(checked_tuple, i, number);
  }
  Py_DECREF(tuple);
  return size_from_tuple(checked_tuple);
}

PyObject* size_repr(PyObject* self) {
  PyObject* list = PySequence_List(self);
  if (!list) return nullptr;
  PyObject* out = PyUnicode_FromFormat("torch.Size(%R)", list);
  Py_DECREF(list);
  return out;
}
PyObject* size_numel(PyObject* self, PyObject*) {
  int64_t n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) n *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  return PyLong_FromLongLong(n);
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  PyObject* tuple = PySequence_Tuple(self);
  PyObject* plain = PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self));
  Py_XDECREF(tuple);
  return Py_BuildValue("(O(N))", reinterpret_cast<PyObject*>(size_type), plain);
}
PyObject* size_concat(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  const Py_ssize_t n = PyTuple_GET_SIZE(a), m = PyTuple_GET_SIZE(b);
  PyObject* out = PyTuple_Type.tp_alloc(size_type, n + m);
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(out, i, Py_NewRef(PyTuple_GET_ITEM(a, i)));
  for (Py_ssize_t i = 0; i < m; ++i) PyTuple_SET_ITEM(out, n + i, Py_NewRef(PyTuple_GET_ITEM(b, i)));
  return out;
}
PyObject* size_repeat(PyObject* self, Py_ssize_t n) { return size_from_tuple(PyTuple_Type.tp_as_sequence->sq_repeat(self, n)); }
PyObject* size_subscript(PyObject* self, PyObject* index) {
  PyObject* out = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
  return out && PySlice_Check(index) ? size_from_tuple(out) : out;
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "the number of elements of a tensor of this size"},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyType_Slot size_slots[] = {{Py_tp_new, reinterpret_cast<void*>(size_new)},
                            {Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                            {Py_tp_methods, size_methods},
                            {Py_sq_concat, reinterpret_cast<void*>(size_concat)},
                            {Py_nb_add, reinterpret_cast<void*>(size_concat)},
                            {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                            {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                            {Py_tp_base, &PyTuple_Type},
                            {0, nullptr}};
PyType_Spec size_spec = {"retrograd.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, size_slots};

}  // namespace

PyObject* dtype_object(DType t) { return dtype_objects[static_cast<int>(t)]; }
PyObject* wrap_dtype(DType t) { return Py_NewRef(dtype_object(t)); }

PyObject* wrap_device(Device device) {
  auto* o = PyObject_New(DeviceObject, device_type);
  o->value = device;
  return reinterpret_cast<PyObject*>(o);
}

PyObject* wrap_size(IntSpan sizes) {
  PyObject* out = PyTuple_Type.tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size()));
  for (size_t i = 0; out && i < sizes.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
  return out;
}

PyObject* wrap_ints(IntSpan values) {
  PyObject* out = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
  for (size_t i = 0; out && i < values.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return out;
}

PyObject* wrap(const Scalar& s) {
  switch (s.kind) {
    case Scalar::Kind::Bool: return PyBool_FromLong(s.i != 0);
    case Scalar::Kind::Int: return PyLong_FromLongLong(s.i);
    case Scalar::Kind::UInt: return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(s.i));
    case Scalar::Kind::Float: break;
    case Scalar::Kind::Complex: return PyComplex_FromDoubles(s.d, s.imag);
  }
  return PyFloat_FromDouble(s.d);
}

PyObject* wrap_tuple(const std::vector<Tensor>& list) {
  PyObject* out = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), wrap(list[i]));
  return out;
}

namespace {

// As PyTorch shows them: a line per field.
PyObject* repr_named(PyObject* self) {
  PyObject* fields = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__match_args__");
  if (!fields) return nullptr;
  std::string text = std::string(Py_TYPE(self)->tp_name) + "(";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); ++i) {
    PyObject* value = PyObject_Repr(PyTuple_GET_ITEM(self, i));
    const char* shown = value ? PyUnicode_AsUTF8(value) : nullptr;
    if (shown) text += std::string(i ? ",\n" : "\n") + PyUnicode_AsUTF8(PyTuple_GET_ITEM(fields, i)) + "=" + shown;
    Py_XDECREF(value);
    if (!shown) {
      Py_DECREF(fields);
      return nullptr;
    }
  }
  Py_DECREF(fields);
  return PyUnicode_FromString((text + ")").c_str());
}

// `op` and `fields` live as long as the process.
PyTypeObject* named_type(const char* op, std::span<const char* const> fields) {
  static std::map<std::string, PyTypeObject*> types;  // overloads of one op share theirs; guarded by the GIL
  std::string key = op;
  for (const char* f : fields) key += std::string(",") + f;
  PyTypeObject*& type = types[key];
  if (!type) {
    auto* field_defs = new PyStructSequence_Field[fields.size() + 1]();
    size_t i = 0;
    for (const char* f : fields) field_defs[i++].name = f;
    auto* name = new std::string(std::string("torch.return_types.") + op);
    PyStructSequence_Desc desc{name->c_str(), nullptr, field_defs, static_cast<int>(fields.size())};
    type = reinterpret_cast<PyTypeObject*>(checked(reinterpret_cast<PyObject*>(PyStructSequence_NewType(&desc))));
    type->tp_repr = repr_named;
    // Where pickle finds it again: retrograd/return_types.py, whatever that is called (retrograd/_as_torch.py).
    const Owned home(checked(PyImport_ImportModule("retrograd.return_types")));
    const Owned home_name(checked(PyObject_GetAttrString(home.get(), "__name__")));
    if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), "__module__", home_name.get()) < 0) throw PythonError();
  }
  return type;
}

// _named_result(op, fields): the type of the results of an op with several.
PyObject* py_named_result(PyObject*, PyObject* args) {
  const char* op;
  PyObject* names;
  if (!PyArg_ParseTuple(args, "sO!", &op, &PyTuple_Type, &names)) return nullptr;
  return guarded([&]() -> PyObject* {
    std::vector<const char*> fields;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
      PyObject* name = Py_NewRef(PyTuple_GET_ITEM(names, i));
      PyUnicode_InternInPlace(&name);  // and never given back: the type keeps the text
      const char* text = PyUnicode_AsUTF8(name);
      if (!text) throw PythonError();
      fields.push_back(text);
    }
    return Py_NewRef(reinterpret_cast<PyObject*>(named_type(op, fields)));
  });
}
PyMethodDef named_methods[] = {{"_named_result", py_named_result, METH_VARARGS, "the type of the results of an op, by its name and theirs"},
                               {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* wrap_named_list(PyTypeObject*& type, const char* op, std::initializer_list<const char*> fields, std::span<Tensor> values) {
  if (RG_UNLIKELY(!type)) type = named_type(op, {fields.begin(), fields.size()});
  PyObject* out = checked(PyStructSequence_New(type));
  for (size_t i = 0; i < values.size(); ++i) PyStructSequence_SET_ITEM(out, static_cast<Py_ssize_t>(i), wrap(std::move(values[i])));
  return out;
}

PyObject* wrap_named_out(PyTypeObject*& type, const char* op, std::initializer_list<const char*> fields, PyObject* given) {
  const Owned held(given);
  if (RG_UNLIKELY(!type)) type = named_type(op, {fields.begin(), fields.size()});
  PyObject* out = checked(PyStructSequence_New(type));
  for (size_t i = 0; i < fields.size(); ++i)
    PyStructSequence_SET_ITEM(out, static_cast<Py_ssize_t>(i), Py_NewRef(PySequence_Fast_GET_ITEM(given, static_cast<Py_ssize_t>(i))));
  return out;
}

PyObject* wrap_plain_list(std::span<Tensor> values) {
  PyObject* out = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) PyTuple_SET_ITEM(out, static_cast<Py_ssize_t>(i), wrap(std::move(values[i])));
  return out;
}

bool read_dtype(PyObject* o, DType& out) {
  if (Py_TYPE(o) == dtype_type) {
    if (const OtherDType* other = other_of(o); RG_UNLIKELY(other != nullptr))
      fail(ErrorKind::NotImplemented, "\"empty\" not implemented for '", other->title, "': there are no tensors of torch.", other->name,
           " here");
    out = value_of(o);
    return true;
  }
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return out = DType::Float64, true;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return out = DType::Int64, true;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return out = DType::Bool, true;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return out = DType::Complex128, true;
  return false;
}

bool read_device(PyObject* o, Device& out) {
  if (Py_TYPE(o) == device_type) {
    out = device_of(o);
  } else if (PyUnicode_Check(o)) {
    out = parse_device(text_of(o));
  } else if (PyLong_CheckExact(o)) {
    fail(ErrorKind::Runtime, "Cannot access accelerator device when none is available. The index ",
         static_cast<int64_t>(PyLong_AsLongLong(o)), " is that of an accelerator, and this build has none: use device='cpu'.");
  } else {
    return false;
  }
  if (out.type == DeviceType::CPU || out.type == DeviceType::Plugin) out.index = -1;  // there is one: "cpu:0" is the CPU
  return true;
}

void init_types(PyObject* module) {
  init_dtypes(module);
  init_formats(module);
  device_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&device_spec)));
  PyModule_AddObject(module, "device", Py_NewRef(reinterpret_cast<PyObject*>(device_type)));
  size_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&size_spec)));
  PyModule_AddObject(module, "Size", Py_NewRef(reinterpret_cast<PyObject*>(size_type)));
  PyModule_AddFunctions(module, named_methods);
}

}  // namespace retrograd
