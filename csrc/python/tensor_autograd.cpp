// What Tensor shows of its history: requires_grad, grad, grad_fn, data, versions, hooks.
#include "autograd/untracked.h"
#include "python/overridable.h"
#include "python/tensor_type.h"

#include <Python.h>
#include <structmember.h>

#include "autograd/doctor.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "core/coded_error.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/region.h"
#include "core/write_notes.h"
#include "ops.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/look.h"
#include "python/torch_function.h"
#include "python/types.h"

namespace retrograd {
namespace {

TensorImpl* impl(PyObject* self) { return reinterpret_cast<TensorImpl*>(self); }
Tensor handle(PyObject* self) { return Tensor::borrow(self); }

PyObject* get_requires_grad(PyObject* self, void*) { return PyBool_FromLong(requires_grad(impl(self))); }

}  // namespace

static std::string history_of(const TensorImpl* t) {
  const Node* n = t->grad_fn;
  if (!n) return "";
  return str_cat("\n  this tensor is the result of ", node_name(n), n->site.code ? ", made at " + site_text(n->site) : "");
}

void set_requires_grad_to(TensorImpl* t, bool on, const char* refusal) {
  if (on) {
    RG_CHECK(is_differentiable(t->dtype), refusal, "\n  this one is of dtype ", dtype_name(t->dtype),
             ", whose values cannot change by a little\n  Hint: make it of "
             "floats first, for example with .float().");
    if (t->has(kInference) && !thread_state.inference_mode)
      fail_as("inference_tensor_misuse", "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
              inference_story(t), "\n  Hint: ask a clone() of it, or make it under torch.no_grad() instead of torch.inference_mode().");
  }
  if (on && t->grad_fn) return;  // it already does
  if (!on)
    RG_CHECK(!t->grad_fn,  // a view that could not follow its base is asked nothing
             "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that "
             "doesn't require differentiation use var_no_grad = var.detach().",
             history_of(t));
  if (!on && t->has(kRequiresGrad)) {
    const Restore user(skip_libraries, true);
    note_cut(t, CutKind::Frozen);
  }
  if (on && !t->has(kRequiresGrad)) note_leaf(t);
  t->flags = static_cast<uint16_t>(on ? t->flags | kRequiresGrad : t->flags & ~kRequiresGrad);
}

namespace {

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    RG_CHECK_AS(Runtime, value && PyBool_Check(value), "requires_grad must be a bool, not ", value ? Py_TYPE(value)->tp_name : "deleted");
    RG_CHECK(value == Py_False || !impl(self)->grad_fn, "you can only change requires_grad flags of leaf variables.",
             history_of(impl(self)));
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
      RG_CHECK(wanted == kGradDTypeAny || g->dtype == dtype, "attempting to assign a gradient with dtype '", cpp_type_name(g->dtype),
               "' to a tensor with grad_dtype '", dtype_title(dtype),
               "'. The two must be the same; set grad_dtype of the tensor to another dtype first, or to None for any.");
      RG_CHECK(g->device == t->device || is_sparse(g) || is_sparse(t), "attempting to assign a gradient with device type '",
               device_name(g->device), "' to a tensor with device type '", device_name(t->device), "'. Move the gradient there first.");
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
    RG_CHECK(is_leaf(t), "grad_dtype can only be accessed on leaf tensors.", history_of(t));
    const int dtype = t->extra ? t->extra->grad_dtype : kGradDTypeOwn;
    if (dtype == kGradDTypeAny) Py_RETURN_NONE;
    return wrap_dtype(dtype == kGradDTypeOwn ? t->dtype : static_cast<DType>(dtype));
  });
}
int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  return guarded_int([&] {
    TensorImpl* t = impl(self);
    RG_CHECK(is_leaf(t), "grad_dtype can only be set on leaf tensors.", history_of(t));
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
    RG_CHECK(has_version(impl(self)), "Inference tensors do not track version counter.", inference_story(impl(self)));
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

// .data: the same memory without history and with a version counter of its own, so writes through it are not seen by autograd's version
// checks. They are counted apart (Storage::hidden_writes), which is how a saved tensor notices them.
PyObject* get_data(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!impl(self)->has(kBatched), "accessing `data` under vmap transform is not allowed");
    Tensor t = alias(handle(self));
    if (RG_UNLIKELY(doctor.close)) note_data_use(impl(self));
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
             "data set to a tensor that requires gradients must be floating point or complex dtype, got ", dtype_name(source->dtype));
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
  for (const uint32_t part : cut.parts)
    if (part) describe_cut(part, list);
  if (cut.kind == CutKind::Merged) return;
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

// detach_: cuts the history of this very object, and what it has of forward mode.
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
    while (t->extra && t->extra->tangents) drop_tangent(t->extra->tangents);
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

PyGetSetDef getset[] = {
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
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"_mark_requires_grad", mark_requires_grad, METH_O, "requires_grad_() that is allowed inside transforms"},
    {"requires_grad_", as_method(requires_grad_), METH_FASTCALL | METH_KEYWORDS,
     RG_DOC("requires_grad_($self, requires_grad=True)", "Sets whether gradients are wanted for this tensor; returns it.")},
    {"detach_", detach_inplace, METH_NOARGS, RG_DOC("detach_($self, /)", "Cuts the history of this tensor in place.")},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {"is_inference", is_inference, METH_NOARGS, RG_DOC("is_inference($self, /)", "Whether the tensor was made in inference mode.")},
    {"_bump_version", bump, METH_NOARGS, nullptr},
    {"_set_version", set_version, METH_O, nullptr},
    {"_set_retains_grad", set_retains_grad, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_tensor_autograd() {
  for (PyGetSetDef* def = OverridableGetset<getset>::table(); def->name; ++def)
    add_to_tensor(def->name, PyDescr_NewGetSet(tensor_type, def));
  for (PyMethodDef* def = OverridableMethods<methods>::table(); def->ml_name; ++def)
    add_to_tensor(def->ml_name, PyDescr_NewMethod(tensor_type, def));
}

}  // namespace retrograd
