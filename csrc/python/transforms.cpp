// What func, vmap and forward_ad are made of: batched tensors, leaves for one transform, and dual tensors.
#include <unordered_set>

#include "autograd/sparse.h"
#include "autograd/tangent.h"
#include "autograd/untracked.h"
#include "core/dtype.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/forward.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

Tensor tensor_argument(PyObject* o, const char* what) {
  RG_CHECK_AS(Type, is_tensor(o), what, " must be a Tensor, got ", Py_TYPE(o)->tp_name);
  return Tensor::borrow(o);
}

void check_count(Py_ssize_t given, Py_ssize_t expected, const char* name) {
  RG_CHECK_AS(Type, given == expected, name, "() takes ", static_cast<int64_t>(expected), " arguments, got ", static_cast<int64_t>(given));
}

int64_t int_argument(PyObject* o) {
  const int64_t v = PyLong_AsLongLong(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}

void check_not_sparse(const Tensor& t, const char* what) {
  RG_CHECK_AS(NotImplemented, !is_sparse(t), what, " of a sparse tensor is not supported: make it inside the function from its values");
}

// ---- vmap ----

PyObject* make_batched(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 3, "_make_batched");
    const Tensor whole = tensor_argument(args[0], "value");
    check_not_sparse(whole, "vmap");
    int64_t dim = -1;
    if (args[1] != Py_None) {
      dim = int_argument(args[1]);
      RG_CHECK_AS(Index, dim >= -whole.dim() && dim < whole.dim(), "Dimension out of range: a batch dimension of ", dim,
                  " for a tensor with ", whole.dim(), " dimensions");
      if (dim < 0) dim += whole.dim();
    }
    return wrap(batched(whole, dim, static_cast<int32_t>(int_argument(args[2]))));
  });
}

PyObject* unwrap_batched(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 2, "_unwrap_batched");
    if (!is_tensor(args[0])) Py_RETURN_NONE;
    const auto* t = reinterpret_cast<TensorImpl*>(args[0]);
    if (!is_batched(t, static_cast<int32_t>(int_argument(args[1])))) Py_RETURN_NONE;
    PyObject* dim = t->extra->batch_dim < 0 ? none() : PyLong_FromLong(t->extra->batch_dim);
    return checked(Py_BuildValue("(ON)", t->extra->batched->object(), dim));
  });
}

PyObject* batch_level(PyObject*, PyObject* o) {
  if (!is_tensor(o)) return PyLong_FromLong(0);
  const auto* t = reinterpret_cast<TensorImpl*>(o);
  return PyLong_FromLong(t->has(kBatched) ? t->extra->batch_level : 0);
}

PyObject* py_any_true(PyObject*, PyObject* o) {
  return guarded([&] { return PyBool_FromLong(any_true(tensor_argument(o, "condition"))); });
}

// ---- leaves of one transform ----

// Inside vmap what a transform makes belongs to that level, or the level would not know that it moves.
Tensor at_this_level(const Tensor& t) {
  const Handler* h = batch_handler();
  return !h || is_batched(t.get(), h->level) ? t : batched(t, -1, h->level);
}

Tensor without_history(const Tensor& t) {
  Tensor out = alias(t);
  copy_tangents(out, t);
  if (!requires_grad(t)) set_cut(out.get(), note_of(t.get()));
  return out;
}

// See Note [Captured tensors].
Tensor entered(Tensor t) {
  set_birth(t.get(), std::min<int>(thread_state.transform_depth, kDeepestBirth));
  return t;
}

// An argument that a transform does not differentiate with respect to: a write to it is seen outside, its history is not.
PyObject* entered_argument(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(o) || is_sparse(reinterpret_cast<TensorImpl*>(o))) return Py_NewRef(o);
    const Tensor t = at_this_level(Tensor::borrow(o));
    return wrap(entered(requires_grad(t) ? ops::alias_view(t) : without_history(t)));
  });
}

PyObject* fresh_leaf(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    const Tensor given = tensor_argument(o, "input");
    check_not_sparse(given, "the derivative by func");
    const Tensor t = at_this_level(given);
    if (requires_grad(t)) return wrap(entered(ops::alias_view(t)));
    Tensor leaf = entered(without_history(t));
    RG_CHECK(is_differentiable(leaf.dtype()), "only Tensors of floating point dtype can require gradients, got ", dtype_name(leaf.dtype()));
    leaf->flags |= kRequiresGrad;
    leaf->flags &= static_cast<uint16_t>(~kInference);
    return wrap(leaf);
  });
}

PyObject* strip_history(PyObject*, PyObject* o) {
  return guarded([&] {
    const Tensor t = tensor_argument(o, "input");
    return wrap(is_sparse(t) ? call_sparse("detach", t, {}) : without_history(t));
  });
}

PyObject* reaches_other_leaf(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 2, "_reaches_other_leaf");
    auto each = [](PyObject* sequence, auto&& f) {
      PyObject* fast = checked(PySequence_Fast(sequence, "a sequence of tensors is expected"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
        if (PyObject* o = PySequence_Fast_GET_ITEM(fast, i); is_tensor(o)) f(reinterpret_cast<TensorImpl*>(o));
      Py_DECREF(fast);
    };
    std::unordered_set<const TensorImpl*> own;
    each(args[1], [&](TensorImpl* t) { own.insert(t); });
    // Not a leaf of the transform, and not one that the function made for itself inside it.
    const auto is_other = [&](const TensorImpl* leaf) { return !own.count(leaf) && birth(leaf) <= thread_state.transform_depth; };
    std::unordered_set<Node*> seen;
    std::vector<Node*> stack;
    bool other = false;
    auto visit = [&](Node* n) {
      if (n && seen.insert(n).second) stack.push_back(n);
    };
    each(args[0], [&](TensorImpl* t) {
      if (Node* n = grad_fn_of(t)) {
        visit(n);
      } else if (t->has(kRequiresGrad) && is_other(t)) {
        other = true;
      }
    });
    while (!stack.empty() && !other) {
      Node* n = stack.back();
      stack.pop_back();
      if (n->info == &accumulate_grad_info) {
        const TensorImpl* leaf = static_cast<AccumulateGrad*>(n)->variable;
        other = leaf && is_other(leaf);
        continue;
      }
      for (size_t i = 0; i < n->num_edges; ++i) visit(n->edges[i].node);
    }
    return PyBool_FromLong(other);
  });
}

// ---- running transforms ----

// Around the function that a transform differentiates. Recording is on (for reverse mode), and inference mode off: what it would leave
// out is what the transform is after.
struct TransformObject {
  PyObject_HEAD
  bool records;
  bool grad_enabled;
  bool inference;
  bool forward;
};
PyObject* transform_enter(PyObject* self, PyObject*) {
  auto* o = reinterpret_cast<TransformObject*>(self);
  if (thread_state.transform_depth == UINT8_MAX) {
    PyErr_SetString(PyExc_RuntimeError, "transforms are nested too deeply");
    return nullptr;
  }
  o->grad_enabled = thread_state.grad_enabled;
  o->inference = thread_state.inference_mode;
  o->forward = thread_state.forward_enabled;
  if (o->inference) set_inference_mode(false);
  if (!o->records) thread_state.forward_enabled = true;
  set_grad_mode(o->records || o->grad_enabled || o->inference);
  set_transform_depth(static_cast<uint8_t>(thread_state.transform_depth + 1));
  Py_RETURN_NONE;
}
PyObject* transform_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  auto* o = reinterpret_cast<TransformObject*>(self);
  set_transform_depth(static_cast<uint8_t>(thread_state.transform_depth - 1));
  if (o->inference) set_inference_mode(true);
  thread_state.forward_enabled = o->forward;
  set_grad_mode(o->grad_enabled);
  Py_RETURN_NONE;
}
template <bool Records> PyObject* transform_new(PyTypeObject* type, PyObject*, PyObject*) {
  auto* o = reinterpret_cast<TransformObject*>(type->tp_alloc(type, 0));
  if (o) o->records = Records;
  return reinterpret_cast<PyObject*>(o);
}

bool in_transform() { return thread_state.transform_depth || thread_state.mapped; }
PyObject* py_in_transform(PyObject*, PyObject*) { return PyBool_FromLong(in_transform()); }

// ---- forward mode ----

PyObject* enter_level(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(enter_dual_level()); }

PyObject* exit_level(PyObject*, PyObject* level) {
  return guarded([&]() -> PyObject* {
    exit_dual_level(static_cast<uint32_t>(int_argument(level)));
    Py_RETURN_NONE;
  });
}

PyObject* py_dual_levels(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(thread_state.dual_levels); }

PyObject* is_forward_enabled(PyObject*, PyObject*) { return PyBool_FromLong(forward_mode()); }
PyObject* set_forward_enabled(PyObject*, PyObject* on) {
  const bool before = std::exchange(thread_state.forward_enabled, on == Py_True);
  return PyBool_FromLong(before);
}

PyObject* make_dual(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 3, "_make_dual");
    const Tensor given = tensor_argument(args[0], "primal"), tangent = tensor_argument(args[1], "tangent");
    for (const Tensor& t : {given, tangent}) check_not_sparse(t, "the tangent");
    const auto level = static_cast<uint32_t>(int_argument(args[2]));
    RG_CHECK(dual_level_is_active(level), "make_dual: forward AD level ", static_cast<int64_t>(level), " is not active");
    RG_CHECK(!tangent_of(given, level),
             "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported.");
    RG_CHECK(!tangent_of(tangent, level), "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.");
    RG_CHECK(same_sizes(given.get(), tangent.get()),
             "Trying to set a forward gradient that has a different size than that of the original Tensor: the Tensor is of size ",
             given.sizes(), ", the forward gradient of size ", tangent.sizes(), ".");
    RG_CHECK_AS(
        NotImplemented, level >= thread_state.first_visible_level,
        "make_dual: inside vmap, for a level of forward mode that was entered outside it. Enter the level inside the function that is "
        "mapped, or use func.jvp.");
    const Tensor dual = ops::alias_view(at_this_level(given));
    if (forward_mode()) forward::attach(dual, level, tangent);
    return wrap(dual);
  });
}

PyObject* unpack_dual(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 2, "_unpack_dual");
    const Tensor t = tensor_argument(args[0], "tensor");
    const auto level = static_cast<uint32_t>(int_argument(args[1]));
    const Tensor tangent = tangent_of(t, level);
    return checked(Py_BuildValue("(NN)", wrap(primal(t, level)), tangent ? wrap(tangent) : none()));
  });
}

PyMethodDef transform_methods[] = {{"__enter__", transform_enter, METH_NOARGS, nullptr},
                                   {"__exit__", as_method(transform_exit), METH_FASTCALL, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};
PyType_Slot reverse_slots[] = {{Py_tp_new, reinterpret_cast<void*>(transform_new<true>)}, {Py_tp_methods, transform_methods}, {0, nullptr}};
PyType_Slot forward_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(transform_new<false>)}, {Py_tp_methods, transform_methods}, {0, nullptr}};
PyType_Spec reverse_spec = {"retrograd._C._ReverseTransform", sizeof(TransformObject), 0, Py_TPFLAGS_DEFAULT, reverse_slots};
PyType_Spec forward_spec = {"retrograd._C._ForwardTransform", sizeof(TransformObject), 0, Py_TPFLAGS_DEFAULT, forward_slots};

PyMethodDef methods[] = {
    {"_in_transform", py_in_transform, METH_NOARGS, "whether a function is being transformed by vmap, grad, jvp or the like"},
    {"_entered", entered_argument, METH_O, "an argument as the function inside a transform gets it"},
    {"_make_batched", as_method(make_batched), METH_FASTCALL, "(value, bdim, level): one sample of value, as vmap shows it"},
    {"_unwrap_batched", as_method(unwrap_batched), METH_FASTCALL, "(t, level): (value, bdim), or None when t is not batched at that level"},
    {"_batch_level", batch_level, METH_O, "the level of vmap a tensor is batched at; 0 when it is not"},
    {"_any_true", py_any_true, METH_O,
     "whether any element is not zero, in any sample of any vmap; False on meta, where nothing is known of values"},
    {"_fresh_leaf", fresh_leaf, METH_O, "an alias of a tensor for a transform to differentiate with respect to"},
    {"_strip_history", strip_history, METH_O, "an alias without history, with tangents and batching"},
    {"_reaches_other_leaf", as_method(reaches_other_leaf), METH_FASTCALL, "(outputs, leaves): whether their graph ends in any other leaf"},
    {"_enter_dual_level", enter_level, METH_NOARGS, "enters a level of forward mode"},
    {"_exit_dual_level", exit_level, METH_O, "leaves a level of forward mode; its tangents are dropped"},
    {"_dual_levels", py_dual_levels, METH_NOARGS, "how many levels of forward mode this thread is in"},
    {"_is_fwd_grad_enabled", is_forward_enabled, METH_NOARGS, "whether ops compute tangents on this thread"},
    {"_set_fwd_grad_enabled", set_forward_enabled, METH_O, "(on): what was set before"},
    {"_make_dual", as_method(make_dual), METH_FASTCALL, "(primal, tangent, level): a view of primal with this tangent"},
    {"_unpack_dual", as_method(unpack_dual), METH_FASTCALL, "(t, level): (primal, tangent or None)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool inside_transform() { return in_transform(); }

Tensor lift_fresh(const Tensor& t) {
  if (RG_LIKELY(!thread_state.transform_depth)) return t;
  const Handler* h = batch_handler();
  return h && h->transforms < thread_state.transform_depth ? entered(at_this_level(t)) : t;
}

void init_transforms(PyObject* module) {
  PyModule_AddFunctions(module, methods);
  PyModule_AddObject(module, "_ReverseTransform", checked(PyType_FromSpec(&reverse_spec)));
  PyModule_AddObject(module, "_ForwardTransform", checked(PyType_FromSpec(&forward_spec)));
}

}  // namespace retrograd
