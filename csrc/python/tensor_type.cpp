// retrograd.Tensor as Python sees it: the type, its attributes and its small methods. Ops are installed from the table (call.cpp), operators
// live in number_slots.cpp, subscripts in indexing.cpp, conversions in interop.cpp; what is not hot is Python (retrograd/_tensor.py).
#include "python/tensor_type.h"
#include "python/overridable.h"

#include <Python.h>
#include <structmember.h>

#include "autograd/history.h"
#include "core/promote.h"
#include "core/region.h"
#include "core/write_notes.h"
#include "ops.h"
#include "ops/util.h"
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
PyObject* is_signed(PyObject* self, PyObject*) {
  return PyBool_FromLong(impl(self)->dtype != DType::UInt8 && impl(self)->dtype != DType::Bool);
}
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

// ---- autograd attributes ----

PyObject* get_requires_grad(PyObject* self, void*) { return PyBool_FromLong(requires_grad(impl(self))); }

void set_requires_grad_to(TensorImpl* t, bool on, const char* refusal = "only Tensors of floating point dtype can require gradients") {
  if (on) {
    RG_CHECK(is_differentiable(t->dtype), refusal);
    RG_CHECK(!(t->has(kInference) && !thread_state.inference_mode),
             "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  }
  if (on && t->grad_fn) return;  // it already does
  if (!on)
    RG_CHECK(!t->grad_fn,  // a view that could not follow its base is asked nothing
             "you can only change requires_grad flags of leaf variables. Use detach() for a tensor of the same values that does not "
             "require grad.");
  if (!on && t->has(kRequiresGrad)) note_cut(t, CutKind::Frozen);
  t->flags = static_cast<uint16_t>(on ? t->flags | kRequiresGrad : t->flags & ~kRequiresGrad);
}

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK_AS(Runtime, value && PyBool_Check(value), "requires_grad must be a bool");
    RG_CHECK(value == Py_False || !impl(self)->grad_fn, "you can only change requires_grad flags of leaf variables.");
    set_requires_grad_to(impl(self), value == Py_True, "only Tensors of floating point and complex dtype can require gradients");
  });
}

// The flag as a factory with requires_grad=True sets it, in a transform too.
PyObject* mark_requires_grad(PyObject* self, PyObject* on) {
  return guarded([&]() -> PyObject* {
    set_requires_grad_to(impl(self), on == Py_True);
    return Py_NewRef(self);
  });
}

PyObject* requires_grad_(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!inside_transform(),
             "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) in a function "
             "that grad, vmap or another transform runs. Call it before the transform, or take the derivative with torch.func (grad, "
             "vjp, jacrev, jacfwd, hessian).");
    bool on = true;
    const Py_ssize_t n = nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
    RG_CHECK_AS(Type, n == 0 || (n == 1 && read_bool(args[0], on)),
                "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not ", n ? Py_TYPE(args[0])->tp_name : "?");
    set_requires_grad_to(impl(self), on);
    return Py_NewRef(self);
  });
}

PyObject* get_grad(PyObject* self, void*) {
  TensorImpl* g = impl(self)->grad;
  if (!g) {
    if (RG_UNLIKELY(!impl(self)->has(kRetainsGrad) && impl(self)->grad_fn != nullptr && !is_leaf(impl(self)))) {
      if (PyErr_WarnEx(
              PyExc_UserWarning,
              "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. backward() fills .grad of leaves only. "
              "Call .retain_grad() on this Tensor before backward() to keep its gradient, or read .grad of the leaf it comes from.",
              1) != 0)
        return nullptr;
    }
    Py_RETURN_NONE;
  }
  return Py_NewRef(g->object());
}

// The type of an element as C++ calls it.
const char* element_type(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "bool";
    case DType::UInt8: return "unsigned char";
    case DType::Int8: return "signed char";
    case DType::Int16: return "short int";
    case DType::Int32: return "int";
    case DType::Int64: return "long int";
    case DType::Float16: return "c10::Half";
    case DType::BFloat16: return "c10::BFloat16";
    case DType::Float32: return "float";
    case DType::Float64: return "double";
    case DType::Complex64: return "c10::complex<float>";
    case DType::Complex128: return "c10::complex<double>";
  }
  return dtype_name(dtype);
}

int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    TensorImpl *t = impl(self), *old;
    if (!value || value == Py_None) {
      old = std::exchange(t->grad, nullptr);
    } else {
      RG_CHECK_AS(Type, is_tensor(value), "assigned grad expected to be a Tensor or None but got grad of type ", Py_TYPE(value)->tp_name);
      TensorImpl* g = impl(value);
      RG_CHECK(value != self, "can't assign Variable as its own grad");
      const int wanted = t->extra ? t->extra->grad_dtype : kGradDTypeOwn;
      const DType dtype = wanted == kGradDTypeOwn ? t->dtype : static_cast<DType>(wanted);
      RG_CHECK(wanted == kGradDTypeAny || g->dtype == dtype, "attempting to assign a gradient with dtype '", element_type(g->dtype),
               "' to a tensor with grad_dtype '", dtype_title(dtype),
               "'. The two must be the same; set grad_dtype of the tensor to another dtype first, or to None for any.");
      RG_CHECK(g->device == t->device, "attempting to assign a gradient with device type '", device_name(g->device),
               "' to a tensor with device type '", device_name(t->device), "'. Move the gradient there first.");
      RG_CHECK(same_sizes(g, t), "attempting to assign a gradient of size '", g->shape(), "' to a tensor of size '", t->shape(),
               "'. The two must be the same.");
      // See Note [Joining the collector]: .grad is an edge from an older object to a newer one.
      if (g->grad_fn || g->dict || (g->extra && g->extra->hooks)) join_collector(t);
      Py_INCREF(value);
      old = std::exchange(t->grad, g);
    }
    Py_XDECREF(reinterpret_cast<PyObject*>(old));
  });
}

// The dtype that gradients of a leaf are accumulated in: its own unless set otherwise, None for whatever arrives.
PyObject* get_grad_dtype(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    TensorImpl* t = impl(self);
    RG_CHECK(is_leaf(t), "grad_dtype can only be accessed on leaf tensors.");
    const int dtype = t->extra ? t->extra->grad_dtype : kGradDTypeOwn;
    if (dtype == kGradDTypeAny) Py_RETURN_NONE;
    return wrap_dtype(dtype == kGradDTypeOwn ? t->dtype : static_cast<DType>(dtype));
  });
}
int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    TensorImpl* t = impl(self);
    RG_CHECK(is_leaf(t), "grad_dtype can only be set on leaf tensors.");
    DType dtype{};
    RG_CHECK(value && (value == Py_None || read_dtype(value, dtype)), "grad_dtype must be a torch.dtype or None, but got ",
             value ? Py_TYPE(value)->tp_name : "nothing");
    if (value == Py_None) {
      extra_of(t).grad_dtype = kGradDTypeAny;
      return;
    }
    RG_CHECK(is_differentiable(dtype) || !is_differentiable(t->dtype),
             "grad_dtype must be a floating point dtype for a floating point tensor, but got ", dtype_name(dtype));
    RG_CHECK(!t->grad || t->grad->dtype == dtype, "Cannot set grad_dtype to '", dtype_title(dtype),
             "' because there is already a gradient with dtype '", dtype_name(t->grad->dtype),
             "'. Clear it first (.grad = None), or choose its dtype.");
    extra_of(t).grad_dtype = dtype == t->dtype ? kGradDTypeOwn : static_cast<int16_t>(dtype);
  });
}

PyObject* get_grad_fn(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    if (is_leaf(impl(self))) Py_RETURN_NONE;
    return Py_NewRef(impl(self)->grad_fn->object());
  });
}

PyObject* get_is_leaf(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(is_leaf(impl(self))); });
}
// Of the tensor as it is: a view that is behind its base is not brought up to date.
PyObject* get_has_history(PyObject* self, void*) { return PyBool_FromLong(impl(self)->grad_fn != nullptr); }
PyObject* get_version(PyObject* self, void*) {
  return guarded([&] {
    RG_CHECK(has_version(impl(self)), "Inference tensors do not track version counter.");
    return PyLong_FromUnsignedLong(version_of(impl(self)));
  });
}
PyObject* get_base(PyObject* self, void*) {
  TensorImpl* b = impl(self)->base;
  if (!b) Py_RETURN_NONE;
  return Py_NewRef(b->object());
}
PyObject* is_view(PyObject* self, PyObject*) { return PyBool_FromLong(impl(self)->base != nullptr); }
PyObject* is_inference(PyObject* self, PyObject*) { return PyBool_FromLong(impl(self)->has(kInference)); }
PyObject* get_output_nr(PyObject* self, void*) { return PyLong_FromUnsignedLong(impl(self)->output_nr); }
PyObject* get_retains_grad(PyObject* self, void*) { return PyBool_FromLong(impl(self)->has(kRetainsGrad)); }

Tensor share_as(PyTypeObject* type, const Tensor& source);

// .data: the same memory without history and with a version counter of its own, so writes through it are not seen by autograd's version
// checks. They are counted apart (Storage::hidden_writes), which is how a saved tensor notices them.
PyObject* get_data(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!impl(self)->has(kBatched), "accessing `data` under vmap transform is not allowed");
    Tensor t = alias(handle(self));
    if (!thread_state.inference_mode || has_version(t.get())) give_version(t.get(), 0);
    requires_grad(impl(self)) ? note_cut(t.get(), CutKind::Data) : set_cut(t.get(), note_of(impl(self)));
    if (RG_UNLIKELY(!is_plain_tensor(self) && thread_state.torch_function_subclasses)) return wrap(share_as(Py_TYPE(self), t));
    return wrap(std::move(t));
  });
}

// A tensor that only the interpreter's stack holds, on memory of its own: the result of an expression.
bool is_fresh(PyObject* o) {
#if PY_VERSION_HEX >= 0x030e0000
  if (!PyUnstable_Object_IsUniqueReferencedTemporary(o)) return false;
#else
  if (Py_REFCNT(o) != 1) return false;
#endif
  const TensorImpl* t = impl(o);
  return t->storage->refs == 1 && !t->has(kOwnVersion) && !t->base && !is_saved(t->storage) && !(t->storage->flags & kStorageExported);
}

int set_data(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK(value, "Deleting tensor data is not allowed. Delete tensor instead!");
    RG_CHECK_AS(Type, is_tensor(value), "Variable data has to be a tensor, but got ", Py_TYPE(value)->tp_name);
    TensorImpl* t = impl(self);
    TensorImpl* source = impl(value);
    RG_CHECK(!t->has(kBatched) && !source->has(kBatched), "mutating directly with `.data` under vmap transform is not allowed.");
    RG_CHECK(!(requires_grad(t) && !is_differentiable(source->dtype)),
             "data set to a tensor that requires gradients must be floating point or complex dtype");
    if (is_fresh(value) && t->storage->refs == 1 && !t->has(kOwnVersion)) {
      // Nobody will ask for the counter of the new memory again: it becomes that of this tensor.
      note_move(t, source->storage);
      source->storage->version = t->storage->version;
      source->storage->hidden_writes = t->storage->hidden_writes + 1;
      retain(source->storage);
      release(std::exchange(t->storage, source->storage));
    } else if (t->storage != source->storage) {
      move_to(t, source->storage);
    } else if (is_saved(t->storage) && has_version(t) &&
               (t->dtype != source->dtype || !(region_of(t) == region_of(source)) || !same_sizes(t, source))) {
      note_move(t, t->storage);
      ++(t->has(kOwnVersion) ? t->extra->unseen_base : t->storage->hidden_writes);
    }
    t->data = source->data;
    t->dtype = source->dtype;
    t->device = source->device;
    constexpr uint16_t kTaken = kInference | kLazy;
    t->flags = static_cast<uint16_t>((t->flags & ~kTaken) | (source->flags & kTaken));
    set_geometry(t, source->shape(), {source->strides(), source->ndim});
    if (!requires_grad(t)) requires_grad(source) ? note_cut(t, CutKind::Data) : set_cut(t, note_of(source));
  });
}

// Hooks of a leaf are its own. Those of any other tensor belong to the value its node computed: a write in place leaves them behind.
PyObject* get_hooks(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    TensorImpl* t = impl(self);
    PyObject* hooks = nullptr;
    // A view that cannot follow its base has the hooks of what it was.
    if (Node* n = t->base && t->view_origin != ViewOrigin::Default ? t->grad_fn : grad_fn_of(t)) {
      PyObject* key = n->extra && n->extra->tensor_hooks ? checked(PyLong_FromUnsignedLong(t->output_nr)) : nullptr;
      if (key) hooks = PyDict_GetItemWithError(n->extra->tensor_hooks, key);
      Py_XDECREF(key);
    } else if (t->extra) {
      hooks = t->extra->hooks;
    }
    return Py_NewRef(hooks ? hooks : Py_None);
  });
}
void set_own_hooks(TensorImpl* t, PyObject* hooks) {
  Py_XSETREF(extra_of(t).hooks, Py_XNewRef(hooks));
  join_collector(t);
}
int set_hooks(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK(value, "Deletion of _backwards_hooks not allowed!");
    TensorImpl* t = impl(self);
    if (value == Py_None) value = nullptr;
    Node* n = grad_fn_of(t);
    if (!n) return set_own_hooks(t, value);
    NodeExtra& e = extra_of(n);
    if (!e.tensor_hooks) e.tensor_hooks = checked(PyDict_New());
    PyObject* key = checked(PyLong_FromUnsignedLong(t->output_nr));
    if (value) {
      PyDict_SetItem(e.tensor_hooks, key, value);
    } else if (PyDict_DelItem(e.tensor_hooks, key) != 0) {
      PyErr_Clear();  // there were none
    }
    Py_DECREF(key);
    join_collector(n);
  });
}
PyObject* get_post_hooks(PyObject* self, void*) {
  TensorExtra* e = impl(self)->extra;
  return Py_NewRef(e && e->post_accumulate_hooks ? e->post_accumulate_hooks : Py_None);
}
int set_post_hooks(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK(value, "Deletion of _post_accumulate_grad_hooks not allowed!");
    TensorExtra& e = extra_of(impl(self));
    Py_XSETREF(e.post_accumulate_hooks, value && value != Py_None ? Py_NewRef(value) : nullptr);
    join_collector(impl(self));
  });
}
PyObject* get_name(PyObject* self, void*) {
  TensorExtra* e = impl(self)->extra;
  return Py_NewRef(e && e->name ? e->name : Py_None);
}
int set_name(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    TensorExtra& e = extra_of(impl(self));
    Py_XSETREF(e.name, value && value != Py_None ? Py_NewRef(value) : nullptr);
  });
}

// (file, line, function, whether the line is that of its definition), or None.
PyObject* describe_site(const Site& site) {
  if (!site.code) Py_RETURN_NONE;
  return checked(
      Py_BuildValue("(OiOO)", site.code->co_filename, site_line(site), site.code->co_qualname, site.lasti < 0 ? Py_True : Py_False));
}
void describe_cut(uint32_t note, PyObject* list) {
  static constexpr const char* kinds[] = {"merged",   "made", "parameter", "frozen", "no_grad", "inference_mode", "forward",
                                          "backward", "hook", "detach",    "data",   "op",      "copied",         "numpy"};
  const Cut& cut = cut_of(note);
  if (cut.kind == CutKind::Merged) {
    for (const uint32_t part : cut.parts)
      if (part) describe_cut(part, list);
    return;
  }
  PyObject *mode = describe_site(cut.mode), *at = describe_site(cut.at);
  PyObject* item = Py_BuildValue("(szNN)", kinds[static_cast<int>(cut.kind)], cut.op, mode, at);
  if (!item || PyList_Append(list, item) != 0) {
    Py_XDECREF(item);
    throw PythonError();
  }
  Py_DECREF(item);
}
PyObject* get_cut(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    PyObject* list = checked(PyList_New(0));
    if (const uint32_t note = note_of(impl(self))) describe_cut(note, list);
    return list;
  });
}

// detach_: cuts the history of this very object.
PyObject* detach_inplace(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    TensorImpl* t = impl(self);
    if (thread_state.inference_mode) return Py_NewRef(self);  // nothing touches a history there
    RG_CHECK(!t->base, "Can't detach views in-place. Use detach() instead.");
    if (t->grad_fn) {  // hooks stay with the tensor
      PyObject* hooks = checked(get_hooks(self, nullptr));
      if (hooks != Py_None) set_own_hooks(t, hooks);
      Py_DECREF(hooks);
    }
    const bool required = requires_grad(t);
    Node* old = std::exchange(t->grad_fn, nullptr);
    t->output_nr = 0;
    t->flags &= static_cast<uint16_t>(~kRequiresGrad);
    if (old) Py_DECREF(old->object());
    if (required) note_cut(t, CutKind::Detach);
    return Py_NewRef(self);
  });
}

// Nothing but to forget it.
int set_grad_fn(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK(value, "Deletion of _grad_fn not allowed. Detach tensor instead!");
    RG_CHECK(value == Py_None, "_grad_fn can be only set to None");
    Py_DECREF(checked(detach_inplace(self, nullptr)));
  });
}

PyObject* bump(PyObject* self, PyObject*) {
  wrote_inplace(handle(self));
  return Py_NewRef(self);
}
PyObject* set_retains_grad(PyObject* self, PyObject* on) {
  TensorImpl* t = impl(self);
  t->flags = static_cast<uint16_t>(on == Py_True ? t->flags | kRetainsGrad : t->flags & ~kRetainsGrad);
  Py_RETURN_NONE;
}
PyObject* set_version(PyObject* self, PyObject* value) {
  TensorImpl* t = impl(self);
  const auto v = static_cast<uint32_t>(PyLong_AsUnsignedLong(value));
  if (PyErr_Occurred()) return nullptr;
  (t->has(kOwnVersion) ? t->extra->version_cell->version : t->storage->version) = v;
  lose_order(t->storage);
  Py_RETURN_NONE;
}

// ---- subclasses ----

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
    if (!needs_grad) {
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
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether gradients are wanted for this tensor.", nullptr},
    {"grad", get_grad, set_grad, "The accumulated gradient, or None.", nullptr},
    {"_grad", get_grad, set_grad, nullptr, nullptr},
    {"grad_dtype", get_grad_dtype, set_grad_dtype, "The dtype of .grad; None for any.", nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The graph node that made this tensor, or None for a leaf.", nullptr},
    {"_grad_fn", get_grad_fn, set_grad_fn, nullptr, nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether this tensor was made by the user rather than by an op that records.", nullptr},
    {"data", get_data, set_data, "The same memory without history. Prefer detach(): writes through .data are not seen by autograd.",
     nullptr},
    {"_has_history", get_has_history, nullptr, nullptr, nullptr},
    {"_version", get_version, nullptr, "Counts writes in place.", nullptr},
    {"_base", get_base, nullptr, "The tensor this is a view of, or None.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which result of its node this tensor is.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether .grad of this tensor, which is not a leaf, is kept.", nullptr},
    {"_backward_hooks", get_hooks, set_hooks, nullptr, nullptr},
    {"_post_accumulate_grad_hooks", get_post_hooks, set_post_hooks, nullptr, nullptr},
    {"name", get_name, nullptr, "The name, which only old programs set; None.", nullptr},
    {"_name", get_name, set_name, nullptr, nullptr},
    {"_cut", get_cut, nullptr, "Where the history was cut: a list of (kind, op, where the mode was entered, where the op is)", nullptr},
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

template <class F> PyCFunction as_method(F* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)); }

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
    {"_mark_requires_grad", mark_requires_grad, METH_O, "requires_grad_() that is allowed inside transforms"},
    {"requires_grad_", as_method(requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("requires_grad_($self, requires_grad=True)", "Sets whether gradients are wanted for this tensor; returns it.")},
    {"detach_", detach_inplace, METH_NOARGS, RG_DOC("detach_($self, /)", "Cuts the history of this tensor in place.")},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {"is_inference", is_inference, METH_NOARGS, RG_DOC("is_inference($self, /)", "Whether the tensor was made in inference mode.")},
    {"_bump_version", bump, METH_NOARGS, nullptr},
    {"_set_version", set_version, METH_O, nullptr},
    {"_set_retains_grad", set_retains_grad, METH_O, nullptr},
    {"_make_subclass", make_subclass, METH_VARARGS | METH_STATIC, "(cls, data, requires_grad=False)"},
    {"as_subclass", as_subclass, METH_O,
     RG_DOC("as_subclass($self, cls, /)", "The same tensor as an instance of a subclass; history is kept.")},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, offsetof(TensorImpl, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorImpl, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

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
