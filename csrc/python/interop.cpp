#include "python/interop.h"

#include <cstring>

#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/util.h"
#include "python/bind.h"
#include "python/doc.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/overridable.h"
#include "python/tensor_type.h"
#include "python/types.h"

namespace retrograd {

bool is_ndarray(PyObject* o) {
  for (const PyTypeObject* type = Py_TYPE(o); type; type = type->tp_base)  // a subclass too, such as memmap
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) return true;
  return false;
}

namespace {

// ---- buffers: NumPy arrays, array.array, bytes, memoryview ----

// dtype of a buffer format; false for formats we have no dtype for.
bool dtype_of_format(const char* format, Py_ssize_t item, DType& out) {
  char code = 'B';
  if (format) {
    if (*format == '@' || *format == '=' || *format == '<') ++format;
    if (std::strcmp(format, "Zf") == 0 || std::strcmp(format, "Zd") == 0)
      return out = item == 8 ? DType::Complex64 : DType::Complex128, true;
    if (std::strlen(format) != 1) return false;
    code = *format;
  }
  switch (code) {
    case '?': return out = DType::Bool, true;
    case 'B': return out = DType::UInt8, true;
    case 'b': return out = DType::Int8, true;
    case 'e': return out = DType::Float16, true;
    case 'f': return out = DType::Float32, true;
    case 'd': return out = DType::Float64, true;
    case 'h': return out = DType::Int16, item == 2;
    case 'i':
    case 'l':
    case 'q': return out = item == 8 ? DType::Int64 : DType::Int32, item == 8 || item == 4;
    default: return false;
  }
}

const char* format_of_dtype(DType t) {
  static constexpr const char* formats[] = {"?", "B", "b", "h", "i", sizeof(long) == 8 ? "l" : "q", "e", nullptr, "f", "d"};
  if (is_complex(t)) return t == DType::Complex64 ? "Zf" : "Zd";
  return formats[static_cast<int>(t)];
}

void free_buffer(void* owner) {
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* view = static_cast<Py_buffer*>(owner);
  PyBuffer_Release(view);
  delete view;
  PyGILState_Release(state);
}

// A tensor on the memory of an object with the buffer protocol.
Tensor from_buffer_object(PyObject* o, bool* read_only = nullptr) {
  auto* view = new Py_buffer();
  if (PyObject_GetBuffer(o, view, PyBUF_FULL_RO) != 0) {
    delete view;
    throw PythonError();
  }
  struct Guard {
    Py_buffer* v;
    ~Guard() {
      if (!v) return;
      PyBuffer_Release(v);
      delete v;
    }
  } guard{view};
  DType dtype;
  RG_CHECK_AS(Type, dtype_of_format(view->format, view->itemsize, dtype), "can't convert an array of this type (format '",
              view->format ? view->format : "B",
              "'). The only supported types are: float64, float32, float16, complex64, complex128, int64, "
              "int32, int16, int8, uint8, and bool.");
  int64_t sizes[kMaxDims], strides[kMaxDims];
  RG_CHECK(view->ndim <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, got ", view->ndim);
  int64_t last = 0;
  bool empty_array = false;
  for (int d = 0; d < view->ndim; ++d) {
    sizes[d] = view->shape[d];
    empty_array |= sizes[d] == 0;
    const int64_t bytes = view->strides ? view->strides[d] : 0;
    RG_CHECK_AS(Value, bytes >= 0 || sizes[d] <= 1,
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not supported. Pass "
                "array.copy().");
    RG_CHECK_AS(Value, bytes % view->itemsize == 0 || sizes[d] <= 1,
                "given numpy array strides not a multiple of the element byte size. Pass array.copy().");
    strides[d] = bytes / view->itemsize;
  }
  if (!view->strides) {
    int64_t s = 1;
    for (int d = view->ndim - 1; d >= 0; --d) {
      strides[d] = s;
      s *= sizes[d];
    }
  }
  for (int d = 0; d < view->ndim && !empty_array; ++d) last += (sizes[d] - 1) * strides[d];
  if (read_only) *read_only = view->readonly;
  const size_t bytes = empty_array ? 0 : static_cast<size_t>((last + 1) * view->itemsize);
  const int ndim = view->ndim;
  Storage* storage = new_external_storage(view->buf, bytes, {}, free_buffer, view);
  guard.v = nullptr;
  return from_storage(storage, dtype, {sizes, static_cast<size_t>(ndim)}, {strides, static_cast<size_t>(ndim)}, 0);
}

// The tensor whose memory an array shows, or null: a new reference. NumPy arrays hold what they were made from.
PyObject* exporter_of(PyObject* o) {
  Py_INCREF(o);
  for (int depth = 0; depth < 16 && !is_tensor(o); ++depth) {
    PyObject* next = PyMemoryView_Check(o) ? Py_XNewRef(PyMemoryView_GET_BUFFER(o)->obj)
                     : is_ndarray(o)       ? PyObject_GetAttrString(o, "base")
                                           : nullptr;
    if (!next) PyErr_Clear();
    Py_DECREF(o);
    if (!next) return nullptr;
    o = next;
  }
  if (is_tensor(o)) return o;
  Py_DECREF(o);
  return nullptr;
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
    PyObject* source = exporter_of(data);
    const uint32_t cut = source ? note_of(reinterpret_cast<TensorImpl*>(source)) : 0;
    if (cut && cut_of(cut).kind != CutKind::Made) note = merge_cuts(cut, cut_here(CutKind::NumPy));
    Py_XDECREF(source);
  }
  return note;
}

// A leaf that was made from data: a fact that matters when somebody wants a gradient from what is computed with it.
Tensor noted(Tensor made, PyObject* data) {
  make_room();
  const uint32_t note = PyFloat_CheckExact(data) ? 0 : note_of_data(data, 0);
  set_cut(made.get(), note ? note : cut_here(CutKind::Made));
  return made;
}

// ---- nested sequences ----

struct Held {
  PyObject* o;
  ~Held() { Py_DECREF(o); }
};

struct Inference {
  bool any = false;
  DType dtype = DType::Bool;
  bool is_float = false;  // a Python float was seen: the default dtype decides
};

bool is_nested(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) || (PySequence_Check(o) && !is_tensor(o) && !PyUnicode_Check(o) && !PyBytes_Check(o));
}

void infer_shape(PyObject* outer, std::vector<int64_t>& sizes) {
  PyObject* o = Py_NewRef(outer);
  struct Hold {
    PyObject*& o;
    ~Hold() { Py_DECREF(o); }
  } hold{o};
  while (is_nested(o)) {
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) throw PythonError();
    sizes.push_back(n);
    RG_CHECK_AS(Value, sizes.size() <= static_cast<size_t>(kMaxDims), "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    if (n == 0) return;
    PyObject* first = checked(PySequence_GetItem(o, 0));  // a sequence may make its items on the fly: keep it
    Py_DECREF(std::exchange(o, first));
  }
  if (is_tensor(o) && (sizes.empty() || reinterpret_cast<TensorImpl*>(o)->numel != 1)) {  // of one element: a number
    for (const int64_t s : reinterpret_cast<TensorImpl*>(o)->shape()) sizes.push_back(s);
  }
}

// read_scalar(), with the exception of tensor() for an integer that is too large.
bool read_element(PyObject* o, Scalar& out) {
  int64_t integer;
  if (!PyLong_CheckExact(o)) return read_scalar(o, out);
  if (!read_int(o, integer)) return false;
  out = Scalar(integer);
  return true;
}

void infer_dtype(PyObject* o, Inference& r, int depth = 0) {
  const auto infer_item = [&](PyObject* item) {
    const Held held{item};  // reading an element may run Python, which may change the list
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
  } else if (PyObject_CheckBuffer(o) && !PyBytes_Check(o)) {
    t = from_buffer_object(o).dtype();
  } else if (PyFloat_Check(o)) {
    t = default_dtype();
  } else if (PyUnicode_Check(o)) {
    fail(ErrorKind::Type, "new(): invalid data type 'str'");
  } else if (PySequence_Check(o)) {
    RG_CHECK_AS(Value, depth < kMaxDims, "too many dimensions '", Py_TYPE(o)->tp_name, "'");
    const Py_ssize_t n = PySequence_Size(o);
    if (n < 0) throw PythonError();
    for (Py_ssize_t i = 0; i < n; ++i) infer_item(checked(PySequence_GetItem(o, i)));
    return;
  } else {
    Scalar s;
    if (!read_element(o, s)) fail(ErrorKind::Runtime, "Could not infer dtype of ", Py_TYPE(o)->tp_name);
    t = s.is_complex() ? complex_dtype(default_dtype()) : s.is_float() ? default_dtype() : s.natural_dtype();
  }
  r.dtype = r.any ? promote(r.dtype, t) : t;
  r.any = true;
}

Scalar first_element(const TensorImpl* t);
const TensorImpl* readable(const TensorImpl* t, const char* what);

void store_number(PyObject* o, DType dtype, char* out) {
  Scalar s;
  if (!read_element(o, s)) {
    if (is_tensor(o) && reinterpret_cast<TensorImpl*>(o)->numel == 1) {
      s = first_element(reinterpret_cast<TensorImpl*>(o));
    } else if (PyUnicode_Check(o)) {
      fail(ErrorKind::Type, "new(): invalid data type 'str'");
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
    const bool is_unsigned = dtype == DType::UInt8;  // a negative integer counts from the top, as in PyTorch
    const int64_t bits = itemsize(dtype) * 8, high = is_unsigned ? 255 : INT64_MAX >> (64 - bits), low = is_unsigned ? 0 : -high - 1;
    const bool fits = s.is_float() ? s.d >= static_cast<double>(low) && s.d <= static_cast<double>(high)
                                   : s.i >= (is_unsigned ? -255 : low) && s.i <= high;
    RG_CHECK(fits, "value cannot be converted to type ", dtype_name(dtype), " without overflow");
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
    RG_CHECK(source->device.type == DeviceType::CPU, "torch.tensor() cannot read meta tensors: they have no values");
    const Tensor t = contiguous_data(cast_data(Tensor::borrow(const_cast<TensorImpl*>(source)), dtype));
    const bool same = t.sizes().size() == sizes.size() - depth &&
                      std::equal(t.sizes().begin(), t.sizes().end(), sizes.begin() + static_cast<std::ptrdiff_t>(depth));
    RG_CHECK_AS(Value, same, "expected sequence of tensors of equal shape");
    const size_t bytes = static_cast<size_t>(t.numel() * itemsize(dtype));
    std::memcpy(out, t->data, bytes);
    out += bytes;
    return;
  }
  PyObject* fast = PySequence_Fast(o, "not a sequence");
  if (!fast) throw PythonError();
  const Held hold{fast};
  const auto check_length = [&] {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    RG_CHECK_AS(Value, n == sizes[depth], "expected sequence of length ", sizes[depth], " at dim ", depth, " (got ",
                static_cast<int64_t>(n), ")");
  };
  check_length();
  for (Py_ssize_t i = 0; i < sizes[depth]; ++i) {
    if (RG_UNLIKELY(i >= PySequence_Fast_GET_SIZE(fast))) check_length();  // reading an element may have run Python
    PyObject* item = Py_NewRef(PySequence_Fast_GET_ITEM(fast, i));
    const Held held{item};
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
    if (read_element(o, s)) {
      // NumPy scalars keep their own dtype.
      DType natural = s.is_complex() ? complex_dtype(default_dtype()) : s.is_float() ? default_dtype() : s.natural_dtype();
      if (!dtype && std::strncmp(Py_TYPE(o)->tp_name, "numpy.", 6) == 0 && PyObject_CheckBuffer(o)) natural = from_buffer_object(o).dtype();
      Tensor out = empty({}, dtype.value_or(natural));
      store_number(o, out.dtype(), out.data<char>());
      return out;
    }
    if (PyObject_CheckBuffer(o) && !PyUnicode_Check(o)) {
      const Tensor source = from_buffer_object(o);
      Tensor out = empty(source.sizes(), dtype.value_or(source.dtype()));
      copy_data(out, source);
      return out;
    }
    PyObject* array = PyObject_GetAttrString(o, "__array__");
    if (array) {
      PyObject* converted = PyObject_CallNoArgs(array);
      Py_DECREF(array);
      checked(converted);
      Tensor out = tensor_from_object(converted, dtype);
      Py_DECREF(converted);
      return out;
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
  Tensor t = tensor_from_object(o, std::nullopt);
  if (t.numel() == 0 && is_differentiable(t.dtype())) t = empty(t.sizes(), DType::Int64);
  return t;
}

namespace {

// ---- reading values ----

// Inside vmap a tensor stands for all samples at once, unless it is the same for each.
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
  RG_CHECK(t->device.type == DeviceType::CPU, "Tensor.item() cannot be called on meta tensors: they have no values");
  return element_scalar(t, t->data);
}

Scalar single_value(PyObject* self, const char* what) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  RG_CHECK(t->numel == 1, "a Tensor with ", t->numel, " elements cannot be converted to ", what);
  return first_element(t);
}

PyObject* item(PyObject* self, PyObject*) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "item");
  return guarded([&] { return wrap(single_value(self, "Scalar")); });
}
Scalar python_number(PyObject* self) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  RG_CHECK_AS(Value, t->numel == 1, "only one element tensors can be converted to Python scalars, and this one has ", t->numel);
  return first_element(t);
}
// A complex number without imaginary part is a real one.
Scalar real_number(PyObject* self, const char* type) {
  const Scalar s = python_number(self);
  RG_CHECK(s.imag == 0, "value cannot be converted to type ", type, " without overflow");
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
PyObject* to_int(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__int__");
  return guarded([&]() -> PyObject* {
    const Scalar s = real_number(self, "int64_t");
    return s.is_float() ? PyLong_FromDouble(s.d) : PyLong_FromLongLong(s.i);
  });
}
PyObject* to_index(PyObject* self) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "__index__");
  return guarded([&]() -> PyObject* {
    auto* t = reinterpret_cast<TensorImpl*>(self);
    RG_CHECK_AS(Type, t->numel == 1 && !is_differentiable(t->dtype),
                "only integer tensors of a single element can be converted to an index");
    return PyLong_FromLongLong(first_element(t).i);
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
        RG_CHECK(t->numel != 0, "Boolean value of Tensor with no values is ambiguous");
        RG_CHECK(t->numel == 1, "Boolean value of Tensor with more than one value is ambiguous");
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

PyObject* list_of(const TensorImpl* t, int d, const char* data) {
  if (d == t->ndim) return wrap(element_scalar(t, data));
  const int64_t n = t->size(d), step = t->stride(d) * itemsize(t->dtype);
  PyObject* out = checked(PyList_New(n));
  for (int64_t i = 0; i < n; ++i) PyList_SET_ITEM(out, i, list_of(t, d + 1, data + i * step));
  return out;
}
PyObject* tolist(PyObject* self, PyObject*) {
  if (RG_UNLIKELY(overridden(self))) return override_method(self, "tolist");
  return guarded([&]() -> PyObject* {
    const TensorImpl* t = readable(reinterpret_cast<TensorImpl*>(self), ".tolist()");
    RG_CHECK(t->device.type == DeviceType::CPU, "tolist() needs data, and a ", device_name(t->device), " tensor has none here");
    return list_of(t, 0, static_cast<const char*>(t->data));
  });
}

// ---- buffer protocol: this is how NumPy sees our memory ----

// The memory that somebody else reads: held beside its tensor, which may get other memory (x.data = y, set_()) in the meantime.
class HeldStorage {
 public:
  explicit HeldStorage(Storage* s) : storage_(s) { retain(s); }
  HeldStorage(const HeldStorage&) = delete;
  HeldStorage& operator=(const HeldStorage&) = delete;
  ~HeldStorage() { release(storage_); }

 private:
  Storage* storage_;
};

struct BufferGeometry {
  HeldStorage memory;
  Py_ssize_t shape[kMaxDims];
  Py_ssize_t strides[kMaxDims];
};

void check_no_lazy(const TensorImpl* t, const char* what) {
  RG_CHECK(!t->has(kConj), "Can't call ", what, " on Tensor that has conjugate bit set. Use tensor.resolve_conj().", what, " instead.");
  RG_CHECK(!t->has(kNeg), "Can't call ", what, " on Tensor that has negative bit set. Use tensor.resolve_neg().", what, " instead.");
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  view->obj = nullptr;
  return guarded_int([&] {
    RG_CHECK_AS(Buffer, !(requires_grad(t)), "Can't export a Tensor that requires grad as a buffer. Use tensor.detach() instead.");
    readable(t, ".numpy()");
    RG_CHECK(!t->has(kBatched), "vmap: a Tensor inside vmap has no memory that numpy could share");
    RG_CHECK_AS(Buffer, t->device.type == DeviceType::CPU, "only CPU tensors have memory to export");
    check_no_lazy(t, "numpy()");
    const char* format = format_of_dtype(t->dtype);
    RG_CHECK_AS(Buffer, format, "bfloat16 has no buffer format: convert with .float() first");
    RG_CHECK_AS(Buffer, t->is_contiguous() || (flags & PyBUF_STRIDES) == PyBUF_STRIDES,
                "the tensor is not contiguous: call .contiguous() first");
    auto* geometry = new BufferGeometry{HeldStorage(t->storage), {}, {}};
    for (int d = 0; d < t->ndim; ++d) {
      geometry->shape[d] = t->size(d);
      geometry->strides[d] = t->stride(d) * itemsize(t->dtype);
    }
    view->buf = t->data;
    view->len = t->numel * itemsize(t->dtype);
    view->itemsize = itemsize(t->dtype);
    view->readonly = 0;
    view->ndim = t->ndim;
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->shape = geometry->shape;
    view->strides = geometry->strides;
    view->suboffsets = nullptr;
    view->internal = geometry;
    view->obj = Py_NewRef(self);
    exporting(t);
  });
}
void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<BufferGeometry*>(view->internal); }

// ---- DLPack (the layouts of the structs are a public ABI) ----

struct DLDevice { int32_t type, id; };
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};
struct DLVersionedTensor {  // since version 1.0
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLVersionedTensor*);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kDLCopied = 2;
constexpr int kDLCPU = 1;

DLDataType dl_type(DType t) {
  const auto bits = static_cast<uint8_t>(itemsize(t) * 8);
  if (t == DType::Bool) return {6, 8, 1};
  if (t == DType::BFloat16) return {4, 16, 1};
  if (t == DType::UInt8) return {1, 8, 1};
  if (is_complex(t)) return {5, bits, 1};
  return {static_cast<uint8_t>(is_floating(t) ? 2 : 0), bits, 1};
}
bool from_dl_type(DLDataType d, DType& out) {
  if (d.lanes != 1) return false;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (!itemsize(static_cast<DType>(i))) continue;
    const DLDataType have = dl_type(static_cast<DType>(i));
    if (have.code == d.code && have.bits == d.bits) return out = static_cast<DType>(i), true;
  }
  return false;
}

// Both kinds of capsule: `Managed` is what consumers get to see.
template <class Managed> struct DLExport {
  Managed managed;
  HeldStorage memory;
  int64_t shape[kMaxDims], strides[kMaxDims];
};
template <class Managed> constexpr const char* capsule_name() {
  return std::is_same_v<Managed, DLVersionedTensor> ? "dltensor_versioned" : "dltensor";
}
template <class Managed> void free_export(Managed* managed) {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(managed->context));
  delete reinterpret_cast<DLExport<Managed>*>(managed);
  PyGILState_Release(state);
}
template <class Managed> void free_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, capsule_name<Managed>())) return;  // consumed
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>()));
  managed->deleter(managed);
}
template <class Managed> PyObject* export_capsule(PyObject* o, bool copied) {
  auto* t = reinterpret_cast<TensorImpl*>(o);
  auto* e = new DLExport<Managed>{{}, HeldStorage(t->storage), {}, {}};
  for (int d = 0; d < t->ndim; ++d) {
    e->shape[d] = t->size(d);
    e->strides[d] = t->stride(d);
  }
  e->managed.tensor = {t->data, {kDLCPU, 0}, t->ndim, dl_type(t->dtype), e->shape, e->strides, 0};
  e->managed.context = Py_NewRef(o);
  e->managed.deleter = free_export<Managed>;
  if constexpr (std::is_same_v<Managed, DLVersionedTensor>) {
    e->managed.major = 1;
    e->managed.minor = 0;
    e->managed.flags = copied ? kDLCopied : 0;
  }
  exporting(t);
  return checked(PyCapsule_New(&e->managed, capsule_name<Managed>(), free_capsule<Managed>));
}

// _to_dlpack(tensor, versioned, copied)
PyObject* to_dlpack(PyObject*, PyObject* args) {
  PyObject* o;
  int versioned, copied;
  if (!PyArg_ParseTuple(args, "Opp", &o, &versioned, &copied)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(o), "to_dlpack() takes a Tensor, got ", Py_TYPE(o)->tp_name);
    auto* t = reinterpret_cast<TensorImpl*>(o);
    RG_CHECK_AS(Buffer, !requires_grad(t), "Can't export tensors that require gradient, use tensor.detach()");
    readable(t, "__dlpack__()");
    RG_CHECK(!t->has(kBatched), "vmap: a Tensor inside vmap has no memory to hand out");
    RG_CHECK_AS(Buffer, t->device.type == DeviceType::CPU, "Cannot pack tensors on ", device_name(t->device),
                ": there is no memory to share");
    RG_CHECK_AS(Buffer, !t->has(kConj), "Can't export tensors with the conjugate bit set");
    RG_CHECK_AS(Buffer, !t->has(kNeg), "Can't export tensors with the negative bit set");
    return versioned ? export_capsule<DLVersionedTensor>(o, copied) : export_capsule<DLManagedTensor>(o, copied);
  });
}

template <class Managed> void free_import(void* owner) {
  auto* managed = static_cast<Managed*>(owner);
  if (managed->deleter) managed->deleter(managed);
}

template <class Managed> PyObject* import_capsule(PyObject* capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>()));
  if constexpr (std::is_same_v<Managed, DLVersionedTensor>)
    RG_CHECK_AS(Buffer, managed->major == 1, "the capsule follows DLPack ", managed->major, ", and versions up to 1 can be read");
  const DLTensor& d = managed->tensor;
  DType dtype;
  RG_CHECK_AS(Buffer, d.ndim >= 0 && d.ndim <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, got ", d.ndim);
  RG_CHECK_AS(Buffer, from_dl_type(d.dtype, dtype), "unsupported DLPack type: code ", static_cast<int64_t>(d.dtype.code), ", ",
              static_cast<int64_t>(d.dtype.bits), " bits");
  RG_CHECK_AS(Buffer, d.device.type == kDLCPU, "unsupported DLPack device type ", static_cast<int64_t>(d.device.type),
              ": only CPU memory can be imported");
  int64_t strides[kMaxDims];
  int64_t dense = 1, last = 0;
  bool empty_array = false;
  for (int i = d.ndim - 1; i >= 0; --i) {
    strides[i] = d.strides ? d.strides[i] : dense;
    dense *= d.shape[i];
    empty_array |= d.shape[i] == 0;
    last += (d.shape[i] - 1) * strides[i];
    RG_CHECK_AS(Buffer, strides[i] >= 0, "tensors with negative strides are not supported");
  }
  const auto bytes = static_cast<size_t>(empty_array ? 0 : (last + 1) * itemsize(dtype));
  Storage* storage = new_external_storage(static_cast<char*>(d.data) + d.byte_offset, bytes, {}, free_import<Managed>, managed);
  PyCapsule_SetName(capsule, std::is_same_v<Managed, DLVersionedTensor> ? "used_dltensor_versioned" : "used_dltensor");
  const auto n = static_cast<size_t>(d.ndim);
  return wrap(lift_fresh(from_storage(storage, dtype, {d.shape, n}, {strides, n}, 0)));
}

PyObject* from_dlpack(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) return import_capsule<DLVersionedTensor>(capsule);
    RG_CHECK(PyCapsule_IsValid(capsule, "dltensor"),
             "from_dlpack received an invalid capsule. A capsule can be consumed once: ask the producer for another.");
    return import_capsule<DLManagedTensor>(capsule);
  });
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
    return wrap(lift_fresh(noted(tensor_from_object(args[0], dtype), args[0])));
  });
}

PyObject* py_from_buffer(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    bool read_only = false;
    Tensor t = noted(from_buffer_object(o, &read_only), o);
    return Py_BuildValue("(NO)", wrap(lift_fresh(t)), read_only ? Py_True : Py_False);
  });
}

// _note_data(tensor, data): the tensor was made from this by other means.
PyObject* note_data(PyObject*, PyObject* args) {
  PyObject *made, *data;
  if (!PyArg_ParseTuple(args, "O!O", tensor_type, &made, &data)) return nullptr;
  return guarded([&]() -> PyObject* { return wrap(noted(Tensor::borrow(made), data)); });
}

PyMethodDef functions[] = {
    {"_note_data", note_data, METH_VARARGS, nullptr},
    {"_tensor_from", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_tensor_from)), METH_FASTCALL, nullptr},
    {"_from_buffer", py_from_buffer, METH_O, "(tensor on the memory of an object, whether it is read-only)"},
    {"_to_dlpack", to_dlpack, METH_VARARGS, "_to_dlpack(tensor, versioned, copied)"},
    {"_from_dlpack", from_dlpack, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef item_def = {"item", item, METH_NOARGS, RG_DOC("item($self, /)", "The value of a tensor with one element as a Python number.")};
PyMethodDef complex_def = {"__complex__", to_complex, METH_NOARGS, nullptr};
PyMethodDef tolist_def = {"tolist", tolist, METH_NOARGS,
                          RG_DOC("tolist($self, /)", "Nested lists of Python numbers; a number for a 0-d tensor.")};

}  // namespace

void add_buffer_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int id, auto* f) { slots.push_back({id, reinterpret_cast<void*>(f)}); };
  add(Py_bf_getbuffer, get_buffer);
  add(Py_bf_releasebuffer, release_buffer);
  add(Py_nb_float, to_float);
  add(Py_nb_int, to_int);
  add(Py_nb_index, to_index);
  add(Py_nb_bool, to_bool);
}

void init_interop(PyObject* module) {
  PyModule_AddFunctions(module, functions);
  for (PyMethodDef* def : {&item_def, &tolist_def, &complex_def}) {
    PyObject* method = checked(PyDescr_NewMethod(tensor_type, def));
    PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), def->ml_name, method);
    Py_DECREF(method);
  }
}

}  // namespace retrograd
