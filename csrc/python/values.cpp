// The elements of a tensor as Python numbers: item(), float(), bool(), tolist().
#include "core/promote.h"
#include "core/transfer.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/doctor.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/overridable.h"
#include "python/tensor_type.h"
#include "python/types.h"

namespace retrograd {

const TensorImpl* readable(const TensorImpl* t, const char* what) {
  while (t->has(kBatched) && t->extra->batch_dim < 0) t = t->extra->batched;
  RG_CHECK(
      !t->has(kBatched), "vmap: It looks like you're calling ", what,
      " on a Tensor. Inside vmap a Tensor stands for one sample of each of the batch at once, so it has no single value to read. Write the "
      "function with tensor operations (torch.where instead of if), or read values outside of vmap.");
  return t;
}

Scalar first_element(const TensorImpl* t) {
  t = readable(t, ".item()");
  RG_CHECK(t->device.type != DeviceType::Meta, "Tensor.item() cannot be called on meta tensors: they have no values");
  if (RG_UNLIKELY(doctor.close)) tell_read(t);
  return read_scalar(t);
}

namespace {

std::string one_number(const TensorImpl* t) {
  return str_cat("\n  it has shape ", t->shape(),
                 "\n  Hint: reduce it to one number, as .mean() or .sum() do, take one of its elements, or use .tolist() for all.");
}
std::string which_truth(const TensorImpl* t) {
  return str_cat("\n  it has shape ", t->shape(),
                 "\n  Hint: say which truth is meant: .any(), .all(), or .numel() > 0; element by element there are torch.where(), & and | "
                 "(in place of if, and, or); of an optional tensor ask `is not None`.");
}

Scalar single_value(PyObject* self, const char* what) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  RG_CHECK(t->numel == 1, "a Tensor with ", t->numel, " elements cannot be converted to ", what, one_number(t));
  return first_element(t);
}

PyObject* item(PyObject* self, PyObject*) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "item");
  return guarded([&] { return wrap(single_value(self, "Scalar")); });
}
Scalar python_number(PyObject* self) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  RG_CHECK_AS(Value, t->numel == 1, "only one element tensors can be converted to Python scalars", one_number(t));
  return first_element(t);
}
// A complex number without imaginary part is a real one.
Scalar real_number(PyObject* self, const char* type) {
  const Scalar s = python_number(self);
  RG_CHECK(s.imag == 0, "value cannot be converted to type ", type, " without overflow: it has an imaginary part of ", s.imag,
           "\n  Hint: take .real, .imag or .abs().");
  return s.is_complex() ? Scalar(s.d) : s;
}
PyObject* to_float(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__float__");
  return guarded([&] { return PyFloat_FromDouble(real_number(self, "double").to_double()); });
}
PyObject* to_complex(PyObject* self, PyObject*) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__complex__");
  return guarded([&] {
    const Complex<double> z = python_number(self).to_complex();
    return PyComplex_FromDoubles(z.re, z.im);
  });
}
PyObject* integer(const Scalar& s) { return s.is_bool() ? PyLong_FromLongLong(s.i) : wrap(s); }
PyObject* to_int(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__int__");
  return guarded([&]() -> PyObject* {
    const Scalar s = real_number(self, "int64_t");
    return s.is_float() ? PyLong_FromDouble(s.d) : integer(s);
  });
}
PyObject* to_index(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__index__");
  return guarded([&]() -> PyObject* {
    auto* t = reinterpret_cast<TensorImpl*>(self);
    RG_CHECK_AS(Type, t->numel == 1 && !is_differentiable(t->dtype),
                "only integer tensors of a single element can be converted to an index, and this one is ", dtype_name(t->dtype),
                t->shape());
    return integer(first_element(t));
  });
}
int to_bool(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) {
    PyObject* answer = override_method(self, "__bool__");
    const int truth = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return truth;
  }
  int result = -1;
  if (guarded_int([&] {
        auto* t = reinterpret_cast<TensorImpl*>(self);
        RG_CHECK(t->numel != 0, "Boolean value of Tensor with no values is ambiguous", which_truth(t));
        RG_CHECK(t->numel == 1, "Boolean value of Tensor with more than one value is ambiguous", which_truth(t));
        while (t->has(kBatched) && t->extra->batch_dim < 0) t = t->extra->batched;
        RG_CHECK(!t->has(kBatched),
                 "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. Inside vmap a Tensor stands "
                 "for one "
                 "sample of each of the batch at once: write torch.where(condition, a, b) instead of if.");
        const Scalar s = first_element(t);
        result = s.is_float() ? s.d != 0 || s.imag != 0 : s.i != 0;
      }) != 0)
    return -1;
  return result;
}

PyObject* list_of(const TensorImpl* t, int d, int64_t offset) {
  if (d == t->ndim) return wrap(read_scalar(t, offset));
  const int64_t n = t->size(d), step = t->stride(d);
  PyObject* out = checked(PyList_New(n));
  if (d + 1 < t->ndim) {
    for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(out, i, list_of(t, d + 1, offset + i * step));
    return out;
  }
  constexpr int64_t kPiece = 16;
  Scalar piece[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    read_scalars(t, offset + i * step, step, {piece, static_cast<size_t>(count)});
    for (int64_t k = 0; k < count; ++k) PyList_SET_ITEM(out, i + k, checked(wrap(piece[k])));
  }
  return out;
}
PyObject* tolist(PyObject* self, PyObject*) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "tolist");
  return guarded([&]() -> PyObject* {
    const TensorImpl* t = readable(reinterpret_cast<TensorImpl*>(self), ".tolist()");
    RG_CHECK_AS(NotImplemented, t->device.type != DeviceType::Meta, "Cannot copy out of meta tensor; no data!");
    if (RG_UNLIKELY(doctor.close)) tell_read(t);
    const Tensor host = on_host(Tensor::borrow(const_cast<TensorImpl*>(t)));
    return list_of(host.get(), 0, 0);
  });
}

PyMethodDef item_def = {"item", item, METH_NOARGS, RG_DOC("item($self, /)", "The value of a tensor with one element as a Python number.")};
PyMethodDef complex_def = {"__complex__", to_complex, METH_NOARGS, nullptr};
PyMethodDef tolist_def = {"tolist", tolist, METH_NOARGS,
                          RG_DOC("tolist($self, /)", "Nested lists of Python numbers; a number for a 0-d tensor.")};

}  // namespace

void add_value_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int id, auto* f) { slots.push_back({id, reinterpret_cast<void*>(f)}); };
  add(Py_nb_float, to_float);
  add(Py_nb_int, to_int);
  add(Py_nb_index, to_index);
  add(Py_nb_bool, to_bool);
}

void init_values() {
  for (PyMethodDef* def : {&item_def, &tolist_def, &complex_def}) {
    add_to_tensor(def->ml_name, PyDescr_NewMethod(tensor_type, def));
  }
}

}  // namespace retrograd
