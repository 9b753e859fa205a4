// Tensors with a copy of Python data: numbers, nested sequences, arrays, other tensors.
#include <cmath>
#include <cstring>

#include "autograd/history.h"
#include "autograd/untracked.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "ops.h"
#include "ops/data.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/interop.h"
#include "python/numpy_array.h"
#include "python/tensor_type.h"
#include "python/types.h"

namespace retrograd {
namespace {

// ---- nested sequences ----

struct Inference {
  bool any = false;
  DType dtype = DType::Bool;
  bool is_float = false;  // a Python float was seen: the default dtype decides
};

// What keeps the dtype of its memory: an array or a number of NumPy. bytearray and array.array are sequences of numbers, as in PyTorch.
bool has_dtype(PyObject* o) { return PyObject_CheckBuffer(o) && (is_ndarray(o) || !PySequence_Check(o)); }

[[noreturn]] void refuse_text(PyObject* o) {
  fail(ErrorKind::Type, "new(): invalid data type '", Py_TYPE(o)->tp_name, "': a tensor holds numbers. Map texts to numbers first");
}

bool is_nested(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) || (PySequence_Check(o) && !is_tensor(o) && !PyUnicode_Check(o) && !PyBytes_Check(o));
}

void infer_shape(PyObject* outer, std::vector<int64_t>& sizes) {
  Owned held(Py_NewRef(outer));  // a sequence may make its items on the fly
  PyObject* o = outer;
  while (is_nested(o)) {
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) throw PythonError();
    sizes.push_back(n);
    RG_CHECK_AS(Value, sizes.size() <= static_cast<size_t>(kMaxDims), "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    if (n == 0) return;
    o = checked(PySequence_GetItem(o, 0));
    held = Owned(o);
  }
  RG_CHECK_AS(Value, sizes.empty() || !PyUnicode_Check(o), "too many dimensions '", Py_TYPE(o)->tp_name, "'");  // a text is made of texts
  if (is_tensor(o) && (sizes.empty() || reinterpret_cast<TensorImpl*>(o)->numel != 1)) {                        // of one element: a number
    for (const int64_t s : reinterpret_cast<TensorImpl*>(o)->shape()) sizes.push_back(s);
  }
}

// read_scalar(), with the exception of tensor() for an integer that is too large.
bool read_element(PyObject* o, Scalar& out, std::optional<DType> dtype = {}) {
  int64_t integer;
  if (!PyLong_CheckExact(o) || dtype == DType::UInt64) return read_scalar(o, out);
  if (dtype && is_differentiable(*dtype)) {
    int overflow;
    integer = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (!overflow) return out = Scalar(integer), true;
    const double number = PyLong_AsDouble(o);
    if (PyErr_Occurred()) throw PythonError();
    return out = Scalar(number), true;
  }
  if (!read_int(o, integer)) return false;
  out = Scalar(integer);
  return true;
}

void infer_dtype(PyObject* o, Inference& r, int depth = 0) {
  const auto infer_item = [&](PyObject* item) {
    const Owned held(item);  // reading an element may run Python, which may change the list
    RG_CHECK_AS(Type, item != o, "new(): self-referential lists are incompatible: a ", Py_TYPE(o)->tp_name, " contains itself");
    infer_dtype(item, r, depth + 1);
  };
  if (PyList_Check(o) || PyTuple_Check(o)) {
    RG_CHECK_AS(Value, depth < kMaxDims, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) infer_item(Py_NewRef(PySequence_Fast_GET_ITEM(o, i)));
    return;
  }
  DType t;
  if (PyFloat_CheckExact(o)) {
    t = default_dtype();
    r.is_float = true;
  } else if (PyBool_Check(o)) {
    t = DType::Bool;
  } else if (PyLong_Check(o)) {
    t = DType::Int64;
  } else if (is_tensor(o)) {
    t = reinterpret_cast<TensorImpl*>(o)->dtype;
  } else if (has_dtype(o)) {
    t = from_buffer_object(o).dtype();
  } else if (PyFloat_Check(o)) {
    t = default_dtype();
  } else if (PyUnicode_Check(o) || PyBytes_Check(o)) {
    refuse_text(o);
  } else if (PySequence_Check(o)) {
    RG_CHECK_AS(Value, depth < kMaxDims, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) throw PythonError();
    for (Py_ssize_t i = 0; i < n; ++i) infer_item(checked(PySequence_GetItem(o, i)));
    return;
  } else {
    Scalar s;
    if (!read_element(o, s))
      fail(ErrorKind::Runtime, "Could not infer dtype of ", Py_TYPE(o)->tp_name,
           ": a tensor is made of numbers, nested sequences of them, arrays or tensors");
    t = s.is_complex() ? complex_dtype(default_dtype()) : s.is_float() ? default_dtype() : s.natural_dtype();
  }
  r.dtype = r.any ? promote(r.dtype, t) : t;
  r.any = true;
}

void store_number(PyObject* o, DType dtype, char* out) {
  Scalar s;
  if (!read_element(o, s, dtype)) {
    if (is_tensor(o) && reinterpret_cast<TensorImpl*>(o)->numel == 1) {
      s = first_element(reinterpret_cast<TensorImpl*>(o));
    } else if (PyUnicode_Check(o) || PyBytes_Check(o)) {
      refuse_text(o);
    } else {
      fail(ErrorKind::Type, "must be real number, not ", Py_TYPE(o)->tp_name);
    }
  }
  if (s.is_complex() && !is_complex(dtype)) {  // as Python refuses float(1j)
    if (dtype == DType::Bool)
      s = Scalar(s.d != 0 || s.imag != 0);
    else
      fail(ErrorKind::Type, "must be real number, not complex");
  }
  if (dtype != DType::Bool && !is_differentiable(dtype) && (s.is_float() || dtype != DType::Int64)) {
    // A negative integer counts from the top in an unsigned dtype, as in PyTorch; but not in uint64.
    RG_CHECK_AS(Overflow, dtype != DType::UInt64 || s.is_float() || s.i >= 0 || s.is_huge(),
                "can't convert negative int to unsigned: ", s.i, " to uint64");
    const double limit = std::ldexp(1.0, static_cast<int>(itemsize(dtype)) * 8 - !is_unsigned(dtype)), value = s.to_double();
    const bool fits = value >= (!is_unsigned(dtype) ? -limit : s.is_float() ? 0 : 1 - limit) && value <= limit - (limit < 0x1p63);
    RG_CHECK(fits, "value cannot be converted to type ", dtype_name(dtype), " without overflow: ", s.to_double(),
             " is outside of its range");
  }
  s.store(dtype, out);
}

void store_nested(PyObject* o, size_t depth, std::span<const int64_t> sizes, DType dtype, char*& out) {
  if (depth == sizes.size()) {
    store_number(o, dtype, out);
    out += itemsize(dtype);
    return;
  }
  if (is_tensor(o)) {
    const TensorImpl* source = readable(reinterpret_cast<TensorImpl*>(o), "torch.tensor()");
    RG_CHECK(source->device.type != DeviceType::Meta, "torch.tensor() cannot read meta tensors: they have no values");
    const Tensor t = contiguous_data(cast_data(on_host(Tensor::borrow(const_cast<TensorImpl*>(source))), dtype));
    const bool same = t.sizes().size() == sizes.size() - depth &&
                      std::equal(t.sizes().begin(), t.sizes().end(), sizes.begin() + static_cast<std::ptrdiff_t>(depth));
    RG_CHECK_AS(Value, same, "expected sequence of tensors of equal shape: one of ", t.sizes(), " is beside one of ",
                IntSpan(sizes.subspan(depth)));
    const size_t bytes = static_cast<size_t>(t.numel() * itemsize(dtype));
    std::memcpy(out, t->data, bytes);
    out += bytes;
    return;
  }
  PyObject* fast = PySequence_Fast(o, "not a sequence");
  if (!fast) throw PythonError();
  const Owned hold(fast);
  const auto check_length = [&] {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    RG_CHECK_AS(Value, n == sizes[depth], "expected sequence of length ", sizes[depth], " at dim ", depth, " (got ",
                static_cast<int64_t>(n), ")");
  };
  check_length();
  for (Py_ssize_t i = 0; i < sizes[depth]; ++i) {
    if (RG_UNLIKELY(i >= PySequence_Fast_GET_SIZE(fast))) check_length();  // reading an element may have run Python
    PyObject* item = Py_NewRef(PySequence_Fast_GET_ITEM(fast, i));
    const Owned held(item);
    if (depth + 1 < sizes.size() && !PySequence_Check(item) && !is_tensor(item))
      fail(ErrorKind::Type, "not a sequence: expected a sequence of length ", sizes[depth + 1], " at dim ", depth + 1, ", got ",
           Py_TYPE(item)->tp_name);
    if (depth + 1 == sizes.size() && (PyList_Check(item) || PyTuple_Check(item)))
      fail(ErrorKind::Type, "must be real number, not ", Py_TYPE(item)->tp_name);
    store_nested(item, depth + 1, sizes, dtype, out);
  }
}

}  // namespace

Tensor tensor_from_object(PyObject* o, std::optional<DType> dtype) {
  if (is_tensor(o)) {
    const Tensor source = Tensor::borrow(o);
    if (source->has(kBatched)) return ops::_to_copy(ops::detach(source), dtype, std::nullopt);
    Tensor out = empty(source.sizes(), dtype.value_or(source.dtype()), source.device());
    copy_data(out, source);
    return out;
  }
  Scalar s;
  if (!PyList_Check(o) && !PyTuple_Check(o)) {
    if (read_element(o, s, dtype)) {
      // NumPy scalars keep their own dtype.
      DType natural = s.is_complex() ? complex_dtype(default_dtype()) : s.is_float() ? default_dtype() : s.natural_dtype();
      if (!dtype && std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0 && PyObject_CheckBuffer(o)) natural = from_buffer_object(o).dtype();
      Tensor out = empty({}, dtype.value_or(natural));
      store_number(o, out.dtype(), out.data<char>());
      return out;
    }
    if (is_ndarray(o)) {
      const Tensor source = from_buffer_object(o);
      Tensor out = empty(source.sizes(), dtype.value_or(source.dtype()));
      copy_data(out, source);
      return out;
    }
    if (PyUnicode_Check(o) || PyBytes_Check(o)) refuse_text(o);
    if (const Owned array(PyObject_GetAttrString(o, "__array__")); array.get()) {
      const Owned converted(checked(PyObject_CallNoArgs(array.get())));
      return tensor_from_object(converted.get(), dtype);
    }
    PyErr_Clear();
  }
  std::vector<int64_t> sizes;
  infer_shape(o, sizes);
  checked_numel(sizes);
  if (!dtype) {
    Inference r;
    infer_dtype(o, r);
    dtype = r.any ? r.dtype : default_dtype();
  }
  Tensor out = empty(sizes, *dtype);
  char* cursor = out.data<char>();
  store_nested(o, 0, sizes, *dtype, cursor);
  return out;
}

Tensor index_tensor(PyObject* o) {
  PyObject* first = o;
  for (int depth = 0; PyList_Check(first) && PyList_GET_SIZE(first) > 0; ++depth) {
    RG_CHECK_AS(Type, depth < kMaxDims, "new(): self-referential lists are incompatible: an index has at most ", kMaxDims, " dimensions");
    first = PyList_GET_ITEM(first, 0);
  }
  if (PyUnicode_Check(first)) refuse_text(first);
  Tensor t = tensor_from_object(o, std::nullopt);
  if (t.numel() == 0 && is_differentiable(t.dtype())) t = empty(t.sizes(), DType::Int64);
  return t;
}

namespace {

// ---- where the values come from, see Note [Where the history was cut] ----

// The tensor whose memory an array shows, or null: a new reference. NumPy arrays hold what they were made from.
PyObject* exporter_of(PyObject* o) {
  Owned held(Py_NewRef(o));
  for (int depth = 0; depth < 16 && !is_tensor(o); ++depth) {
    if (const std::optional<PlainArray> array = plain_array(o)) {
      if (!array->base) return nullptr;
      held = Owned(Py_NewRef(array->base));
      o = held.get();
      continue;
    }
    o = PyMemoryView_Check(o) ? Py_XNewRef(PyMemoryView_GET_BUFFER(o)->obj) : is_ndarray(o) ? PyObject_GetAttrString(o, "base") : nullptr;
    if (!o) return PyErr_Clear(), nullptr;
    held = Owned(o);
  }
  return is_tensor(o) ? held.release() : nullptr;
}

// What is known about where the values of a tensor made from other data come from.
uint32_t note_of_data(PyObject* data, int depth) {
  if (is_tensor(data)) {
    const auto* t = reinterpret_cast<TensorImpl*>(data);
    return requires_grad(t) ? cut_here(CutKind::Copied) : note_of(t);
  }
  uint32_t note = 0;
  if (PyList_Check(data) || PyTuple_Check(data)) {
    if (depth > kMaxDims) return 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(data); ++i) {
      PyObject* item = PySequence_Fast_GET_ITEM(data, i);
      if (!PyFloat_CheckExact(item) && !PyLong_CheckExact(item)) note = merge_cuts(note, note_of_data(item, depth + 1));
    }
  } else if (is_ndarray(data)) {
    const Owned source(exporter_of(data));
    const uint32_t cut = source.get() ? note_of(reinterpret_cast<TensorImpl*>(source.get())) : 0;
    if (cut && cut_of(cut).kind != CutKind::Made) note = merge_cuts(cut, cut_here(CutKind::NumPy));
  }
  return note;
}

// A leaf that was made from data: a fact that matters when somebody wants a gradient from what is computed with it.
Tensor with_note(Tensor made, PyObject* data) {
  make_room();
  const uint32_t note = PyFloat_CheckExact(data) ? 0 : note_of_data(data, 0);
  set_cut(made.get(), note ? note : cut_here(CutKind::Made));
  return made;
}

// ---- module functions ----

// _tensor_from(data, dtype or None) -> a copy; the Python wrapper adds device and requires_grad.
PyObject* py_tensor_from(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, nargs == 2, "_tensor_from(data, dtype)");
    std::optional<DType> dtype;
    if (args[1] != Py_None) {
      DType t;
      RG_CHECK_AS(Type, read_dtype(args[1], t), "tensor(): argument 'dtype' must be torch.dtype, not ", Py_TYPE(args[1])->tp_name);
      dtype = t;
    }
    return wrap(lift_fresh(with_note(tensor_from_object(args[0], dtype), args[0])));
  });
}

PyObject* py_from_buffer(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    bool read_only = false;
    Tensor t = with_note(from_buffer_object(o, &read_only), o);
    return Py_BuildValue("(NO)", wrap(lift_fresh(t)), read_only ? Py_True : Py_False);
  });
}

// from_numpy(array) where there is nothing to say against it; NotImplemented where Python has to look.
PyObject* py_from_array(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    const std::optional<PlainArray> array = plain_array(o);
    if (!array || array->read_only) Py_RETURN_NOTIMPLEMENTED;
    return wrap(lift_fresh(with_note(from_plain_array(o, *array), o)));
  });
}

// _note_data(tensor, data): the tensor was made from this by other means.
PyObject* note_data(PyObject*, PyObject* args) {
  PyObject *made, *data;
  if (!PyArg_ParseTuple(args, "O!O", tensor_type, &made, &data)) return nullptr;
  return guarded([&]() -> PyObject* { return wrap(with_note(Tensor::borrow(made), data)); });
}

PyMethodDef functions[] = {
    {"_note_data", note_data, METH_VARARGS, nullptr},
    {"_tensor_from", as_method(py_tensor_from), METH_FASTCALL, nullptr},
    {"_from_array", py_from_array, METH_O, "a tensor on the memory of a NumPy array; NotImplemented where it takes a closer look"},
    {"_from_buffer", py_from_buffer, METH_O, "(tensor on the memory of an object, whether it is read-only)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_from_data(PyObject* module) { PyModule_AddFunctions(module, functions); }

}  // namespace retrograd
