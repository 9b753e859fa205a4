// retrograd.Tensor as Python sees it: the type, its attributes and its small methods. Ops are installed from the table (call.cpp), operators
// live in number_slots.cpp, subscripts in indexing.cpp, conversions in interop.h; what is not hot is Python (retrograd/_tensor.py).
#include "python/tensor_type.h"
#include "autograd/doctor.h"
#include "autograd/untracked.h"
#include "python/overridable.h"

#include <Python.h>
#include <structmember.h>

#include "autograd/history.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/region.h"
#include "core/write_notes.h"
#include "ops.h"
#include "ops/dims.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/torch_function.h"
#include "python/types.h"

namespace retrograd {
namespace {

TensorImpl* impl(PyObject* self) { return reinterpret_cast<TensorImpl*>(self); }
Tensor handle(PyObject* self) { return Tensor::borrow(self); }

// ---- geometry ----

PyObject* get_shape(PyObject* self, void*) { return wrap_size(impl(self)->shape()); }
PyObject* get_ndim(PyObject* self, void*) { return PyLong_FromLong(impl(self)->ndim); }
PyObject* get_dtype(PyObject* self, void*) { return wrap_dtype(impl(self)->dtype); }
PyObject* get_device(PyObject* self, void*) {
  static PyObject* cpu = wrap_device({});
  return impl(self)->storage->device == Device{} ? Py_NewRef(cpu) : wrap_device(impl(self)->storage->device);
}
PyObject* get_itemsize(PyObject* self, void*) { return PyLong_FromLongLong(itemsize(impl(self)->dtype)); }
PyObject* get_nbytes(PyObject* self, void*) { return PyLong_FromLongLong(impl(self)->numel * itemsize(impl(self)->dtype)); }
PyObject* is_device(PyObject* self, void* type) {
  return PyBool_FromLong(impl(self)->storage->device.type == static_cast<DeviceType>(reinterpret_cast<intptr_t>(type)));
}
PyObject* get_false(PyObject*, void*) { Py_RETURN_FALSE; }

PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* dim = nargs == 1 ? args[0] : nullptr;
    if (kwnames && PyTuple_GET_SIZE(kwnames) == 1 && nargs == 0) dim = args[0];
    RG_CHECK_AS(Type, nargs <= 1, "size() takes at most 1 argument (", nargs, " given)");
    if (!dim || dim == Py_None) return wrap_size(impl(self)->shape());
    int64_t d;
    RG_CHECK_AS(Type, read_int(dim, d), "size(): argument 'dim' (position 1) must be int, not ", Py_TYPE(dim)->tp_name);
    RG_CHECK_AS(Index, impl(self)->ndim > 0, "Dimension specified as ", d, " but tensor has no dimensions");
    return PyLong_FromLongLong(impl(self)->size(static_cast<int>(wrap_dim(d, impl(self)->ndim))));
  });
}

PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* dim = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) == 1 ? args[0] : nullptr;
    const TensorImpl* t = impl(self);
    if (!dim || dim == Py_None) return wrap_ints({t->strides(), t->ndim});
    int64_t d;
    RG_CHECK_AS(Type, read_int(dim, d), "stride(): argument 'dim' (position 1) must be int, not ", Py_TYPE(dim)->tp_name);
    RG_CHECK_AS(Index, t->ndim > 0, "Dimension specified as ", d, " but tensor has no dimensions");
    return PyLong_FromLongLong(t->stride(static_cast<int>(wrap_dim(d, t->ndim))));
  });
}

PyObject* dim(PyObject* self, PyObject*) { return PyLong_FromLong(impl(self)->ndim); }
PyObject* numel(PyObject* self, PyObject*) { return PyLong_FromLongLong(impl(self)->numel); }
PyObject* storage_offset(PyObject* self, PyObject*) { return PyLong_FromLongLong(impl(self)->offset()); }
PyObject* element_size(PyObject* self, PyObject*) { return PyLong_FromLongLong(itemsize(impl(self)->dtype)); }
PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!impl(self)->has(kBatched),
             "Cannot access data pointer of Tensor that doesn't have storage: inside vmap a Tensor has no memory");
    return PyLong_FromVoidPtr(impl(self)->numel ? impl(self)->data : nullptr);
  });
}
PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  // memory_format=torch.channels_last asks about another order of strides; answered in Python.
  PyObject* format = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0) == 1 ? args[0] : nullptr;
  if (format && format != Py_None) {
    PyObject* result = PyObject_CallMethod(self, "_is_contiguous_as", "O", format);
    return result;
  }
  return PyBool_FromLong(impl(self)->is_contiguous());
}
PyObject* is_floating_point(PyObject* self, PyObject*) { return PyBool_FromLong(is_floating(impl(self)->dtype)); }
PyObject* tensor_is_complex(PyObject* self, PyObject*) { return PyBool_FromLong(is_complex(impl(self)->dtype)); }
PyObject* is_conj(PyObject* self, PyObject*) { return PyBool_FromLong(impl(self)->has(kConj)); }
PyObject* is_neg(PyObject* self, PyObject*) { return PyBool_FromLong(impl(self)->has(kNeg)); }
PyObject* is_signed(PyObject* self, PyObject*) { return PyBool_FromLong(is_signed(impl(self)->dtype)); }
PyObject* dense(PyObject* self, PyObject*) { return PyBool_FromLong(dense_and_nonoverlapping(impl(self))); }
PyObject* storage_info(PyObject* self, PyObject*) {
  if (impl(self)->has(kBatched)) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "Cannot access storage of a Tensor inside vmap (BatchedTensorImpl): it has no memory of its own");
    return nullptr;
  }
  const Storage* s = impl(self)->storage;
  return Py_BuildValue("(NnIIIIO)", PyLong_FromVoidPtr(s->data), static_cast<Py_ssize_t>(s->nbytes), s->refs, s->hidden_writes,
                       static_cast<unsigned>(s->flags), s->saves / 2, s->notes ? Py_True : Py_False);
}

PyObject* storage_resize(PyObject* self, PyObject* size) {
  return guarded([&]() -> PyObject* {
    const Py_ssize_t nbytes = PyNumber_AsSsize_t(size, PyExc_OverflowError);
    if (nbytes == -1 && PyErr_Occurred()) throw PythonError();
    RG_CHECK(nbytes >= 0, "a storage cannot have ", static_cast<int64_t>(nbytes), " bytes");
    RG_CHECK(!impl(self)->has(kBatched), "the memory of a Tensor inside vmap cannot be resized: it has none of its own");
    const bool shrinks = static_cast<size_t>(nbytes) < impl(self)->storage->nbytes;  // and with it go values that somebody may have saved
    if (shrinks) before_write(impl(self));
    Storage* storage = impl(self)->storage;
    const ptrdiff_t first = static_cast<char*>(impl(self)->data) - static_cast<char*>(storage->data);
    resize_storage(storage, static_cast<size_t>(nbytes));
    impl(self)->data = static_cast<char*>(storage->data) + first;
    if (shrinks) bump_version(impl(self));
    Py_RETURN_NONE;
  });
}

// ---- subclasses ----

}  // namespace

Tensor share_as(PyTypeObject* type, const Tensor& given) {
  const Tensor source = without_lifts(given);
  RG_CHECK(!source->has(kBatched), "a tensor inside vmap cannot become one of the subclass ", type->tp_name);
  auto* t = reinterpret_cast<TensorImpl*>(checked(type->tp_alloc(type, 0)));
  Tensor out = Tensor::steal(t);
  t->dims = t->inline_dims;
  t->storage = source->storage;
  retain(t->storage);
  t->data = source->data;
  t->dtype = source->dtype;
  t->device = source->device;
  t->flags |= source->flags & (kInference | kLazy);
  set_birth(t, birth(given.get()));
  if (source->has(kOwnVersion)) share_version(t, source.get());
  set_geometry(t, source.sizes(), source.strides());
  set_cut(t, note_of(source.get()));
  return out;
}

namespace {

PyObject* make_subclass(PyObject*, PyObject* args) {
  PyObject *type, *data;
  int needs_grad = 0;
  if (!PyArg_ParseTuple(args, "OO!|p", &type, tensor_type, &data, &needs_grad)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_type),
                "cls must be a type that inherits from Tensor");
    Tensor out = reinterpret_cast<PyTypeObject*>(type) == tensor_type ? alias(handle(data))
                                                                      : share_as(reinterpret_cast<PyTypeObject*>(type), handle(data));
    set_requires_grad_to(out.get(), needs_grad, "Only Tensors of floating point and complex dtype can require gradients");
    if (needs_grad) {
      doctor.new_parameters = true;
    } else {
      const TensorImpl* source = impl(data);
      requires_grad(source) ? note_cut(out.get(), CutKind::Detach) : set_cut(out.get(), note_of(source));
      const bool is_parameter = parameter_type && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), parameter_type);
      if (is_parameter && !out->has_cut) note_cut(out.get(), CutKind::Parameter);
    }
    return wrap(std::move(out));
  });
}

// as_subclass keeps the history.
PyObject* as_subclass(PyObject* self, PyObject* type) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyType_Check(type) && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_type),
                "cls must be a type that inherits from Tensor");
    Tensor source = handle(self);
    Tensor same = ops::alias_view(source);
    if (reinterpret_cast<PyTypeObject*>(type) == tensor_type) return wrap(std::move(same));
    Tensor out = share_as(reinterpret_cast<PyTypeObject*>(type), same);
    out->grad_fn = std::exchange(same->grad_fn, nullptr);
    out->output_nr = same->output_nr;
    out->base = std::exchange(same->base, nullptr);
    out->view_origin = same->view_origin;
    out->view_version = same->view_version;
    return wrap(std::move(out));
  });
}

PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static PyObject* legacy = nullptr;
  if (!legacy) {
    PyObject* module = PyImport_ImportModule("retrograd._tensor");
    if (!module) return nullptr;
    legacy = PyObject_GetAttrString(module, "_legacy_new");
    Py_DECREF(module);
    if (!legacy) return nullptr;
  }
  PyObject* plain = PyObject_Call(legacy, args, kwargs);
  if (!plain || type == tensor_type) return plain;
  return guarded([&]() -> PyObject* {
    const Tensor t = Tensor::steal(impl(plain));
    return wrap(share_as(type, t));
  });
}

int tensor_init(PyObject*, PyObject*, PyObject*) { return 0; }  // everything happened in __new__

// ---- attributes set by users ----

int setattro(PyObject* self, PyObject* name, PyObject* value) {
  const int r = PyObject_GenericSetAttr(self, name, value);
  if (r == 0 && impl(self)->dict && !impl(self)->has(kMarked)) join_collector(impl(self));
  return r;
}
PyObject* get_dict(PyObject* self, void*) {
  join_collector(impl(self));
  return PyObject_GenericGetDict(self, nullptr);
}

Py_hash_t hash(PyObject* self) { return reinterpret_cast<Py_hash_t>(self); }  // the id, as in PyTorch

PyObject* get_T(PyObject* self, void*) {
  return guarded([&] { return wrap(ops::numpy_T(Tensor::borrow(self))); });
}
PyObject* get_mT(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const int64_t ndim = impl(self)->ndim;
    RG_CHECK(ndim != 1, "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
    if (ndim == 0) {
      if (PyErr_WarnEx(PyExc_UserWarning, "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.", 1) != 0)
        throw PythonError();
      return Py_NewRef(self);
    }
    return wrap(ops::transpose(Tensor::borrow(self), -2, -1));
  });
}
PyObject* get_H(PyObject* self, void*) {
  return guarded([&] { return wrap(ops::matrix_H(Tensor::borrow(self))); });
}
PyObject* get_mH(PyObject* self, void*) {
  return guarded([&] { return wrap(ops::adjoint(Tensor::borrow(self))); });
}
PyObject* get_real(PyObject* self, void*) {
  return guarded([&] { return wrap(ops::real(Tensor::borrow(self))); });
}
PyObject* get_imag(PyObject* self, void*) {
  return guarded([&] { return wrap(ops::imag(Tensor::borrow(self))); });
}
int write_part(PyObject* self, PyObject* value, PyObject* (*part)(PyObject*, void*)) {
  return guarded_int([&] {
    RG_CHECK_AS(Attribute, value, "a part of a tensor cannot be deleted");
    PyObject* view = checked(part(self, nullptr));
    PyObject* result = PyObject_CallMethod(view, "copy_", "O", value);
    Py_DECREF(view);
    Py_DECREF(checked(result));
  });
}
int set_real(PyObject* self, PyObject* value, void*) { return write_part(self, value, get_real); }
int set_imag(PyObject* self, PyObject* value, void*) { return write_part(self, value, get_imag); }

PyGetSetDef getset[] = {
    {"shape", get_shape, nullptr, "The size of each dimension, a torch.Size.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where the memory is.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes per element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"T", get_T, nullptr, "The tensor with its dimensions in reverse order.", nullptr},
    {"mT", get_mT, nullptr, "The tensor with its last two dimensions exchanged.", nullptr},
    {"H", get_H, nullptr, "The conjugate transpose of a matrix.", nullptr},
    {"mH", get_mH, nullptr, "The conjugate transposes of a batch of matrices.", nullptr},
    {"real", get_real, set_real, "The real parts, a view.", nullptr},
    {"imag", get_imag, set_imag, "The imaginary parts, a view.", nullptr},
    {"is_cpu", is_device, nullptr, "Whether the memory is on the CPU.", reinterpret_cast<void*>(static_cast<intptr_t>(DeviceType::CPU))},
    {"is_cuda", is_device, nullptr, "Whether the memory is on a GPU.", reinterpret_cast<void*>(static_cast<intptr_t>(DeviceType::CUDA))},
    {"is_meta", is_device, nullptr, "Whether there is no memory, only a shape and a dtype.",
     reinterpret_cast<void*>(static_cast<intptr_t>(DeviceType::Meta))},
    {"is_sparse", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_sparse_csr", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_quantized", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_mkldnn", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_nested", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_xpu", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_mps", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"is_xla", get_false, nullptr, "False: there are no such tensors.", nullptr},
    {"__dict__", get_dict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"size", as_method(size), METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("size($self, dim=None)", "The torch.Size, or the size of one dimension.")},
    {"stride", as_method(stride), METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("stride($self, dim=None)", "The distance in memory between neighbours along each dimension, or along one.")},
    {"dim", dim, METH_NOARGS, RG_DOC("dim($self, /)", "The number of dimensions.")},
    {"ndimension", dim, METH_NOARGS, RG_DOC("ndimension($self, /)", "The number of dimensions.")},
    {"numel", numel, METH_NOARGS, RG_DOC("numel($self, /)", "The number of elements.")},
    {"nelement", numel, METH_NOARGS, RG_DOC("nelement($self, /)", "The number of elements.")},
    {"storage_offset", storage_offset, METH_NOARGS,
     RG_DOC("storage_offset($self, /)", "Where in its memory the tensor begins, in elements.")},
    {"element_size", element_size, METH_NOARGS, RG_DOC("element_size($self, /)", "Bytes per element.")},
    {"data_ptr", data_ptr, METH_NOARGS, RG_DOC("data_ptr($self, /)", "The address of the first element.")},
    {"is_contiguous", as_method(is_contiguous), METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("is_contiguous($self, memory_format=None)", "Whether the elements lie in memory one after the other, in order.")},
    {"is_floating_point", is_floating_point, METH_NOARGS,
     RG_DOC("is_floating_point($self, /)", "Whether the dtype is a floating point one.")},
    {"is_complex", tensor_is_complex, METH_NOARGS, RG_DOC("is_complex($self, /)", "Whether the dtype is complex.")},
    {"is_conj", is_conj, METH_NOARGS, RG_DOC("is_conj($self, /)", "Whether the elements are the conjugates of what is in memory.")},
    {"is_neg", is_neg, METH_NOARGS, RG_DOC("is_neg($self, /)", "Whether the elements are the negatives of what is in memory.")},
    {"is_signed", is_signed, METH_NOARGS, RG_DOC("is_signed($self, /)", "Whether the dtype is signed.")},
    {"_is_dense", dense, METH_NOARGS, nullptr},
    {"_storage_resize", storage_resize, METH_O, "changes the number of bytes of the memory, keeping what fits"},
    {"_storage_info", storage_info, METH_NOARGS,
     "(address, bytes, references, hidden writes, flags, live saves, whether writes are noted)"},
    {"_make_subclass", make_subclass, METH_VARARGS | METH_STATIC, "(cls, data, requires_grad=False)"},
    {"as_subclass", as_subclass, METH_O,
     RG_DOC("as_subclass($self, cls, /)", "The same tensor as an instance of a subclass; history is kept.")},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorImpl, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorImpl, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void add_to_tensor(const char* name, PyObject* descriptor) {
  const Owned held(checked(descriptor));
  if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), name, descriptor) != 0) throw PythonError();
}

void init_tensor_type(PyObject* module) {
  init_tensors();
  std::vector<PyType_Slot> slots = {
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)}, {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},     {Py_tp_getset, OverridableGetset<getset>::table()},
      {Py_tp_methods, OverridableMethods<methods>::table()},    {Py_tp_members, members},
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},         {Py_tp_init, reinterpret_cast<void*>(tensor_init)},
      {Py_tp_setattro, reinterpret_cast<void*>(setattro)},      {Py_tp_hash, reinterpret_cast<void*>(hash)}};
  add_number_slots(slots);
  add_index_slots(slots);
  add_buffer_slots(slots);
  add_value_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"retrograd.Tensor", sizeof(TensorImpl), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                      slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  tensor_type->tp_name = "Tensor";  // what error messages of the interpreter say
  // Tensors take no reference to their type; see new_tensor_object(). __class__ assignment drops one, so hold plenty.
  for (int i = 0; i < 1 << 20; ++i) Py_INCREF(tensor_type);
  PyModule_AddObject(module, "Tensor", Py_NewRef(reinterpret_cast<PyObject*>(tensor_type)));
}

}  // namespace retrograd
