// torch.Generator and the default generator.
#include <new>
#include <random>

#include "core/promote.h"
#include "ops/generator.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/types.h"

namespace retrograd {

PyTypeObject* generator_type = nullptr;

namespace {

Generator* default_object = nullptr;

Generator* generator(PyObject* self) { return reinterpret_cast<Generator*>(self); }

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &device)) return nullptr;
  return guarded([&]() -> PyObject* {
    Device d;
    if (device && device != Py_None)
      RG_CHECK_AS(Type, read_device(device, d), "Generator(): argument 'device' must be torch.device, not ", Py_TYPE(device)->tp_name);
    RG_CHECK(d.is_cpu(), "Device type ", device_type_name(d.type), " is not supported for torch.Generator() api.");
    auto* g = generator(checked(type->tp_alloc(type, 0)));
    new (&g->stream) kernels::Generator();
    return reinterpret_cast<PyObject*>(g);
  });
}

bool read_seed(PyObject* o, uint64_t& out) {
  PyObject* n = PyNumber_Index(o);
  if (!n) return false;
  int overflow;
  const long long v = PyLong_AsLongLongAndOverflow(n, &overflow);
  out = static_cast<uint64_t>(v);
  if (overflow > 0) out = PyLong_AsUnsignedLongLong(n);
  Py_DECREF(n);
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    PyErr_SetString(PyExc_ValueError, "Overflow when unpacking long long: a seed is an integer of at most 64 bits");
    return false;
  }
  return true;
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  uint64_t value;
  if (!read_seed(seed, value)) return nullptr;
  generator(self)->stream.seed(value);
  return Py_NewRef(self);
}
PyObject* reseed(PyObject* self, PyObject*) {
  std::random_device source;
  const uint64_t value = (static_cast<uint64_t>(source()) << 32 | source()) & ((uint64_t{1} << 53) - 1);
  generator(self)->stream.seed(value);
  return PyLong_FromUnsignedLongLong(value);
}
PyObject* initial_seed(PyObject* self, PyObject*) { return PyLong_FromUnsignedLongLong(generator(self)->stream.initial_seed()); }

PyObject* get_state(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const int64_t size = kernels::Generator::kStateSize;
    Tensor t = empty({&size, 1}, DType::UInt8);
    generator(self)->stream.serialize(t.data<uint8_t>());
    return wrap(std::move(t));
  });
}
PyObject* set_state(PyObject* self, PyObject* state) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(state), "expected a torch.ByteTensor, but got ", Py_TYPE(state)->tp_name);
    auto* t = reinterpret_cast<TensorImpl*>(state);
    RG_CHECK_AS(Type, t->device.is_cpu() && t->dtype == DType::UInt8 && t->is_contiguous(),
                "RNG state must be a torch.ByteTensor: contiguous, of uint8, on the cpu. Got ", dtype_name(t->dtype), t->shape(), " on ",
                device_name(t->device));
    RG_CHECK(t->numel == kernels::Generator::kStateSize, "Expected a CPUGeneratorImplState of size ",
             static_cast<int64_t>(kernels::Generator::kStateSize), " but found the input RNG state size to be ", t->numel);
    RG_CHECK(generator(self)->stream.deserialize(static_cast<const uint8_t*>(t->data)),
             "these bytes are not the state of a CPU generator: pass what get_state() or get_rng_state() gave");
    return Py_NewRef(self);
  });
}
PyObject* clone_state(PyObject* self, PyObject*) {
  auto* g = generator(generator_type->tp_alloc(generator_type, 0));
  if (g) new (&g->stream) kernels::Generator(generator(self)->stream);
  return reinterpret_cast<PyObject*>(g);
}
PyObject* get_device(PyObject*, void*) { return wrap_device({}); }
PyObject* reduce(PyObject* self, PyObject*) {
  PyObject* state = get_state(self, nullptr);
  PyObject* module = PyImport_ImportModule("retrograd.random");
  PyObject* rebuild = module ? PyObject_GetAttrString(module, "_rebuild_generator") : nullptr;
  Py_XDECREF(module);
  if (!rebuild) {
    Py_XDECREF(state);
    return nullptr;
  }
  return Py_BuildValue("(N(N))", rebuild, state);
}

PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O, RG_DOC("manual_seed($self, seed, /)", "Sets the seed; returns the generator.")},
    {"seed", reseed, METH_NOARGS, RG_DOC("seed($self, /)", "Seeds from the system's entropy; returns the seed.")},
    {"initial_seed", initial_seed, METH_NOARGS, RG_DOC("initial_seed($self, /)", "The seed that was set last.")},
    {"get_state", get_state, METH_NOARGS, RG_DOC("get_state($self, /)", "The state as a ByteTensor, in PyTorch's layout.")},
    {"set_state", set_state, METH_O, RG_DOC("set_state($self, state, /)", "Goes on from a state that get_state() gave.")},
    {"clone_state", clone_state, METH_NOARGS, RG_DOC("clone_state($self, /)", "A generator that goes on from the same state.")},
    {"__reduce__", reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef getset[] = {{"device", get_device, nullptr, nullptr, nullptr}, {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(generator_new)}, {Py_tp_methods, methods}, {Py_tp_getset, getset}, {0, nullptr}};
PyType_Spec spec = {"retrograd.Generator", sizeof(Generator), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

Generator* default_generator() { return default_object; }

void init_generator(PyObject* module) {
  generator_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  PyModule_AddObject(module, "Generator", Py_NewRef(reinterpret_cast<PyObject*>(generator_type)));
  default_object = generator(checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(generator_type))));
  PyModule_AddObject(module, "default_generator", Py_NewRef(reinterpret_cast<PyObject*>(default_object)));
}

}  // namespace retrograd
