// x[...] and x[...] = value. Integers, slices, None and Ellipsis make views one dimension at a time; tensors, lists and masks are collected
// and go to the index ops.
#include "autograd/cut.h"
#include "autograd/history.h"
#include "core/guards.h"
#include "core/state.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "python/bind.h"
#include "python/call_error.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/overridable.h"
#include "python/tensor_type.h"

namespace retrograd {
namespace {

struct Indexed {
  Tensor view;                  // after the basic part
  std::vector<Tensor> indices;  // in order; undefined for a dimension that is kept; a mask stands for as many dimensions as it has
  int64_t dim = 0;              // the next dimension of view
  bool advanced = false;        // some index is defined
  bool reading = true;          // not for an assignment

  void keep() {
    indices.emplace_back();
    ++dim;
  }
  void add(Tensor index) {
    const bool mask = index.dtype() == DType::Bool || index.dtype() == DType::UInt8;
    dim += mask ? index.dim() : 1;
    indices.push_back(std::move(index));
    advanced = true;
  }
};

[[noreturn]] void fail_index(PyObject* o) {
  fail(ErrorKind::Index, "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got ",
       Py_TYPE(o)->tp_name, ")");
}

Tensor select_at(const Tensor& t, int64_t dim, int64_t index, int64_t real_dim) {
  RG_CHECK_AS(
      Index, t.dim() > 0,
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
  const int64_t size = t.size(dim);
  RG_CHECK_AS(Index, index >= -size && index < size, "index ", index, " is out of bounds for dimension ", real_dim, " with size ", size);
  return ops::select(t, dim, index);
}

int64_t slice_bound(PyObject* o, int64_t fallback) {
  if (o == Py_None) return fallback;
  if (PyLong_CheckExact(o)) {
    int overflow;
    const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    return overflow > 0 ? INT64_MAX : overflow < 0 ? INT64_MIN + 1 : v;
  }
  int64_t v;
  if (is_tensor(o) && reinterpret_cast<TensorImpl*>(o)->has(kBatched)) {  // says why not
    PyObject* number = checked(PyNumber_Index(o));
    v = PyLong_AsLongLong(number);
    Py_DECREF(number);
    return v;
  }
  RG_CHECK_AS(Type, read_int(o, v), "slice indices must be integers or None or have an __index__ method");
  return v;
}

struct Bounds { int64_t start, stop, step; };

// Of a slice of `size` elements: 0 <= start <= stop <= size.
Bounds bounds_of(const PySliceObject* s, int64_t size) {
  const int64_t step = slice_bound(s->step, 1);
  RG_CHECK_AS(Value, step != 0, "slice step cannot be zero");
  RG_CHECK_AS(Value, step > 0, "step must be greater than zero");
  int64_t start = slice_bound(s->start, 0), stop = slice_bound(s->stop, INT64_MAX);
  if (start < 0) start = start + size < 0 ? 0 : start + size;
  if (start > size) start = size;
  if (stop < 0) stop = stop + size < 0 ? 0 : stop + size;
  if (stop > size) stop = size;
  return {start, stop < start ? start : stop, step};
}

Tensor slice_at(const Tensor& t, int64_t dim, PyObject* slice) {
  const int64_t size = t.size(dim);
  const Bounds b = bounds_of(reinterpret_cast<PySliceObject*>(slice), size);
  if (b.start == 0 && b.stop == size && b.step == 1) return t;
  return ops::slice(t, dim, b.start, b.stop, b.step);
}

// How many dimensions of the tensor an index item uses up.
int64_t dims_used(PyObject* o) {
  if (o == Py_None || o == Py_Ellipsis || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    auto* t = reinterpret_cast<TensorImpl*>(o);
    return t->dtype == DType::Bool || t->dtype == DType::UInt8 ? t->ndim : 1;
  }
  return 1;
}

// A list at the top level means an index array, unless it holds things only a tuple may: then it is read as a tuple.
bool reads_as_tuple(PyObject* o) {
  if (PyTuple_Check(o)) return true;
  if (!PyList_Check(o) || PyList_GET_SIZE(o) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
    PyObject* item = PyList_GET_ITEM(o, i);
    if (PySlice_Check(item) || item == Py_Ellipsis || item == Py_None || is_tensor(item) || PySequence_Check(item)) {
      const char* text =
          "Using a non-tuple sequence for multidimensional indexing is deprecated: x[[a, b]] is read as x[a, b] here, by NumPy as one "
          "index "
          "array. Write x[tuple(seq)] or x[torch.tensor(seq)].";
      if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
      return true;
    }
  }
  return false;
}

void apply_item(Indexed& r, PyObject* o, int64_t position) {
  int64_t integer;
  if (PyLong_CheckExact(o) && read_int(o, integer)) {
    r.view = select_at(r.view, r.dim, integer, position);
  } else if (PySlice_Check(o)) {
    RG_CHECK_AS(Index, r.view.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
    r.view = slice_at(r.view, r.dim, o);
    r.keep();
  } else if (o == Py_None) {
    r.view = ops::unsqueeze(r.view, r.dim);
    r.keep();
  } else if (PyBool_Check(o)) {
    r.view = ops::unsqueeze(r.view, r.dim);
    r.add(full(ints({1}), Scalar(o == Py_True), DType::Bool, r.view.device()));
  } else if (is_tensor(o)) {
    const Tensor t = Tensor::borrow(o);
    if (t->has(kBatched) && r.reading && t.dim() == 0 && is_integral(t.dtype()) && t.dtype() != DType::UInt8) {
      // An integer that differs between samples of a vmap: there is no view of them, but a dimension less as with any other.
      std::vector<Tensor> at(static_cast<size_t>(r.dim));
      at.push_back(t);
      r.view = ops::index(r.view, at);
    } else if (t.dim() == 0 && is_integral(t.dtype()) && t.dtype() != DType::UInt8 && read_int(o, integer)) {
      r.view = select_at(r.view, r.dim, integer, position);
    } else if (t.dim() == 0 && (t.dtype() == DType::Bool || t.dtype() == DType::UInt8)) {
      r.view = ops::unsqueeze(r.view, r.dim);
      r.add(ops::unsqueeze(t, 0));
    } else {
      r.add(t);
    }
  } else if (PyList_Check(o) || PyTuple_Check(o) || is_ndarray(o)) {
    r.add(index_tensor(o));
  } else if (PyIndex_Check(o) && read_int(o, integer)) {
    r.view = select_at(r.view, r.dim, integer, position);
  } else if (PySequence_Check(o)) {  // a range, a deque
    const Owned items(checked(PySequence_List(o)));
    r.add(index_tensor(items.get()));
  } else {
    fail_index(o);
  }
}

Indexed apply_index(const Tensor& self, PyObject* index, bool reading) {
  Indexed r{.view = self, .indices = {}, .reading = reading};
  if (!reads_as_tuple(index)) {
    if (index == Py_Ellipsis) return r;
    const bool listed = is_tensor(index) || PyList_Check(index);  // an integer or a slice has words of its own
    RG_CHECK_AS(Index, !listed || dims_used(index) <= self.dim(), "too many indices for tensor of dimension ", self.dim());
    apply_item(r, index, 0);
    return r;
  }
  PyObject* const* items = PySequence_Fast_ITEMS(index);
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(index);
  int64_t used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) used += dims_used(items[i]);
  RG_CHECK_AS(Index, used <= self.dim(), "too many indices for tensor of dimension ", self.dim());
  int64_t position = 0;
  bool seen_ellipsis = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (items[i] == Py_Ellipsis) {
      if (seen_ellipsis) continue;
      seen_ellipsis = true;
      for (int64_t k = used; k < self.dim(); ++k) r.keep();
      position += self.dim() - used;
      continue;
    }
    apply_item(r, items[i], position);
    position += dims_used(items[i]);
  }
  return r;
}

// x[3, 2:9] of a tensor without a history: one view instead of one per item. Undefined for everything else, and for what is an error.
Tensor plain_view(const Tensor& self, PyObject* index) {
  if (!PyTuple_CheckExact(index) || RG_UNLIKELY(thread_state.intercepting) || requires_grad(self)) return {};
  const TensorImpl* t = self.get();
  const Py_ssize_t n = PyTuple_GET_SIZE(index);
  int used = 0, added = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(index, i);
    if (PyLong_CheckExact(item) || PySlice_Check(item)) {
      ++used;
    } else if (item == Py_None) {
      ++added;
    } else if (item != Py_Ellipsis) {
      return {};
    }
  }
  if (used == 0 || used > t->ndim || t->ndim + added > kMaxDims) return {};
  int64_t sizes[kMaxDims], strides[kMaxDims], offset = t->offset();
  size_t out = 0;
  int dim = 0;
  const auto keep = [&](int64_t size, int64_t stride) {
    sizes[out] = size;
    strides[out++] = stride;
  };
  bool seen_ellipsis = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PyTuple_GET_ITEM(index, i);
    if (PyLong_CheckExact(item)) {
      const int64_t size = t->size(dim);
      int overflow;
      const int64_t at = PyLong_AsLongLongAndOverflow(item, &overflow);
      if (overflow || at < -size || at >= size) return {};
      offset += (at < 0 ? at + size : at) * t->stride(dim++);
    } else if (item == Py_None) {
      keep(1, dim < t->ndim ? t->size(dim) * t->stride(dim) : 1);
    } else if (item == Py_Ellipsis) {
      if (seen_ellipsis) continue;
      seen_ellipsis = true;
      for (int rest = t->ndim - used; rest > 0; --rest, ++dim) keep(t->size(dim), t->stride(dim));
    } else {
      const auto* s = reinterpret_cast<PySliceObject*>(item);
      for (PyObject* bound : {s->start, s->stop, s->step})
        if (bound != Py_None && !PyLong_CheckExact(bound)) return {};
      const Bounds b = bounds_of(s, t->size(dim));
      offset += b.start * t->stride(dim);
      keep(b.stop == b.start ? 0 : (b.stop - b.start - 1) / b.step + 1, b.step * t->stride(dim));
      ++dim;
    }
  }
  for (; dim < t->ndim; ++dim) keep(t->size(dim), t->stride(dim));
  Tensor view = alias_as(self, {sizes, out}, {strides, out}, offset);
  set_view(view, self);
  if (RG_UNLIKELY(self->has_cut)) set_cut(view.get(), self->cut);
  return view;
}

Tensor get_item(const Tensor& self, PyObject* index) {
  Indexed r = apply_index(self, index, true);
  if (!r.advanced && r.view.is(self)) return PySlice_Check(index) ? ops::slice(self, 0, 0, self.size(0), 1) : ops::alias_view(self);
  if (!r.advanced) return r.view;
  return ops::index(r.view, r.indices);
}

PyObject* subscript(PyObject* self, PyObject* index) {
  return guarded_call("__getitem__", self, index, [&]() -> PyObject* {
    if (RG_UNLIKELY(overridden(self))) return override_call(self, "__getitem__", nullptr, &index, 1, nullptr);
    const Tensor& t = reinterpret_cast<const Tensor&>(self);
    if (PyLong_CheckExact(index)) {
      int64_t i;
      read_int(index, i);
      return wrap(select_at(t, 0, i, 0));
    }
    if (Tensor view = plain_view(t, index)) return wrap(std::move(view));
    if (!PySlice_Check(index) && any_overloaded(&index, 1)) return override_call(self, "__getitem__", nullptr, &index, 1, nullptr);
    return wrap(get_item(t, index));
  });
}

// A value for assignment: numbers and sequences become tensors of the target's dtype.
Tensor value_tensor(PyObject* value, const Tensor& target) {
  if (is_tensor(value)) return Tensor::borrow(value);
  Scalar s;
  if (read_scalar(value, s)) {
    if (is_integral(target.dtype()) || s.is_complex()) check_fill_value(s, target.dtype());
    return scalar_tensor(s, target.dtype(), target.device());
  }
  return tensor_from_object(value, target.dtype());
}

// Leading dimensions of size one that the target does not have are dropped.
Tensor drop_leading_ones(Tensor value, const Tensor& target) {
  while (value.dim() > target.dim() && value.size(0) == 1) value = ops::select(value, 0, 0);
  return value;
}

// An integer that differs between samples of a vmap takes a dimension away, as any integer does. index_put_() does the same as long as
// the index tensors stand side by side; apart, the dimensions that they give would move to the front.
void check_differing(std::span<const Tensor> indices, const Tensor& source) {
  size_t first = indices.size(), last = 0, used = 0;
  bool differing = false;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    first = std::min(first, i), last = i, ++used;
    differing |= indices[i]->has(kBatched) && indices[i].dim() == 0;
  }
  RG_CHECK(
      !differing || last - first + 1 == used || source.dim() == 0,
      "vmap: in an assignment an integer that differs between samples cannot be apart from other index tensors. Give the index tensors "
      "one dimension, or use index_put_().");
}

int assign(PyObject* self, PyObject* index, PyObject* value) {
  PyObject* const args[] = {index, value};
  try {
    RG_CHECK_AS(Type, value, "Tensor does not support deleting items");
    if (RG_UNLIKELY(overridden(self)) || (!(is_simple(index) && is_simple(value)) && any_overloaded(args, 2))) {
      Py_DECREF(checked(override_call(self, "__setitem__", nullptr, args, 2, nullptr)));
      return 0;
    }
    if (index == Py_False) return 0;
    const Tensor t = Tensor::borrow(self);
    Indexed r = apply_index(t, index, false);
    if (!r.advanced) {
      Tensor source = drop_leading_ones(value_tensor(value, t), r.view);
      // Brought to the shape that is written, a tensor may be assigned to itself.
      if (source->storage == r.view->storage && source.dim() < r.view.dim()) source = ops::expand(source, r.view.sizes(), false);
      ops::copy_(r.view, source, false);
      return 0;
    }
    Tensor source = value_tensor(value, t);
    check_differing(r.indices, source);
    const bool loses = is_complex(source.dtype()) && !is_complex(t.dtype());  // an imaginary part: index_put refuses
    if (source.dtype() != t.dtype() && source.dim() == 0 && !loses) source = ops::_to_copy(source, t.dtype(), std::nullopt);
    ops::index_put_(r.view, r.indices, source, false);
    return 0;
  } catch (...) {
    set_call_error({.name = "__setitem__", .self = self, .items = args, .positional = value ? 2 : 1});
    return -1;
  }
}

Py_ssize_t length(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) {
    PyObject* answer = override_method(self, "__len__");
    const Py_ssize_t n = answer ? PyNumber_AsSsize_t(answer, PyExc_OverflowError) : -1;
    Py_XDECREF(answer);
    return n;
  }
  auto* t = reinterpret_cast<TensorImpl*>(self);
  if (t->ndim == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  return t->size(0);
}

}  // namespace

void add_index_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(subscript)});
  slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(assign)});
  slots.push_back({Py_mp_length, reinterpret_cast<void*>(length)});
}

}  // namespace retrograd
