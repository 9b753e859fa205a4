// What func, vmap and forward_ad are made of: batched tensors, leaves for one transform, and dual tensors.
#include <unordered_set>

#include "autograd/tangent.h"
#include "core/dtype.h"
#include "core/promote.h"
#include "ops.h"
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

// ---- vmap ----

PyObject* make_batched(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 3, "_make_batched");
    const Tensor whole = tensor_argument(args[0], "value");
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

// ---- leaves of one transform ----

// Inside vmap what a transform makes belongs to that level, or the level would not know that it moves.
Tensor lifted(const Tensor& t) {
  for (Handler* h = thread_state.handlers; h; h = h->next) {
    if (h->kind != HandlerKind::Batch) continue;
    return is_batched(t.get(), h->level) ? t : batched(t, -1, h->level);
  }
  return t;
}

Tensor without_history(const Tensor& t) {
  Tensor out = alias(t);
  copy_tangents(out, t);
  return out;
}

PyObject* fresh_leaf(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    const Tensor t = lifted(tensor_argument(o, "input"));
    if (requires_grad(t)) return wrap(ops::alias_view(t));
    Tensor leaf = without_history(t);
    RG_CHECK(is_differentiable(leaf.dtype()), "only Tensors of floating point dtype can require gradients, got ", dtype_name(leaf.dtype()));
    leaf->flags |= kRequiresGrad;
    leaf->flags &= static_cast<uint16_t>(~kInference);
    return wrap(leaf);
  });
}

PyObject* strip_history(PyObject*, PyObject* o) {
  return guarded([&] { return wrap(without_history(tensor_argument(o, "input"))); });
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
    std::unordered_set<Node*> seen;
    std::vector<Node*> stack;
    bool other = false;
    auto visit = [&](Node* n) {
      if (n && seen.insert(n).second) stack.push_back(n);
    };
    each(args[0], [&](TensorImpl* t) {
      if (Node* n = grad_fn_of(t)) {
        visit(n);
      } else if (t->has(kRequiresGrad) && !own.count(t)) {
        other = true;
      }
    });
    while (!stack.empty() && !other) {
      Node* n = stack.back();
      stack.pop_back();
      if (n->info == &accumulate_grad_info) {
        const TensorImpl* leaf = static_cast<AccumulateGrad*>(n)->variable;
        other = leaf && !own.count(leaf);
        continue;
      }
      for (size_t i = 0; i < n->num_edges; ++i) visit(n->edges[i].node);
    }
    return PyBool_FromLong(other);
  });
}

// ---- forward mode ----

PyObject* enter_level(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(enter_dual_level()); }

PyObject* exit_level(PyObject*, PyObject* level) {
  return guarded([&]() -> PyObject* {
    exit_dual_level(static_cast<uint32_t>(int_argument(level)));
    Py_RETURN_NONE;
  });
}

PyObject* make_dual(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    check_count(nargs, 3, "_make_dual");
    const Tensor given = tensor_argument(args[0], "primal"), tangent = tensor_argument(args[1], "tangent");
    const auto level = static_cast<uint32_t>(int_argument(args[2]));
    RG_CHECK(dual_level_is_active(level), "make_dual: forward AD level ", static_cast<int64_t>(level), " is not active");
    RG_CHECK(!tangent_of(given, level),
             "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level is not supported.");
    RG_CHECK(same_sizes(given.get(), tangent.get()),
             "Trying to set a forward gradient that has a different size than that of the original Tensor, "
             "this is not supported. Tensor is of size ",
             given.sizes(), " while the given forward gradient is of size ", tangent.sizes(), ".");
    RG_CHECK_AS(
        NotImplemented, level >= thread_state.first_visible_level,
        "make_dual: inside vmap, for a level of forward mode that was entered outside it. Enter the level inside the function that is "
        "mapped, or use func.jvp.");
    const Tensor dual = ops::alias_view(lifted(given));
    forward::give(dual, level, tangent);
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

template <class F> PyCFunction as_method(F* f) { return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f)); }

PyMethodDef methods[] = {
    {"_make_batched", as_method(make_batched), METH_FASTCALL, "(value, bdim, level): one sample of value, as vmap shows it"},
    {"_unwrap_batched", as_method(unwrap_batched), METH_FASTCALL, "(t, level): (value, bdim), or None when t is not batched at that level"},
    {"_batch_level", batch_level, METH_O, "the level of vmap a tensor is batched at; 0 when it is not"},
    {"_fresh_leaf", fresh_leaf, METH_O, "an alias of a tensor for a transform to differentiate with respect to"},
    {"_strip_history", strip_history, METH_O, "an alias without history, with tangents and batching"},
    {"_reaches_other_leaf", as_method(reaches_other_leaf), METH_FASTCALL, "(outputs, leaves): whether their graph ends in any other leaf"},
    {"_enter_dual_level", enter_level, METH_NOARGS, "enters a level of forward mode"},
    {"_exit_dual_level", exit_level, METH_O, "leaves a level of forward mode; its tangents are dropped"},
    {"_make_dual", as_method(make_dual), METH_FASTCALL, "(primal, tangent, level): a view of primal with this tangent"},
    {"_unpack_dual", as_method(unpack_dual), METH_FASTCALL, "(t, level): (primal, tangent or None)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_transforms(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
