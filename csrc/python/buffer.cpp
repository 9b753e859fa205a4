// The buffer protocol, both ways: tensors on the memory of NumPy arrays, array.array, bytes and memoryviews, and tensors as NumPy sees them.
#include <cstring>
#include <memory>

#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "core/guards.h"
#include "core/promote.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/numpy_array.h"
#include "python/tensor_type.h"

namespace retrograd {

bool is_ndarray(PyObject* o) {
  if (PyFloat_CheckExact(o) || PyList_CheckExact(o)) return false;
  for (const PyTypeObject* type = Py_TYPE(o); type; type = type->tp_base)  // a subclass too, such as memmap
    if (std::strcmp(type->tp_name, "numpy.ndarray") == 0) return true;
  return false;
}

namespace {

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
    case 'H': return out = DType::UInt16, item == 2;
    case 'I':
    case 'L':
    case 'Q': return out = item == 8 ? DType::UInt64 : DType::UInt32, item == 8 || item == 4;
    case 'i':
    case 'l':
    case 'q': return out = item == 8 ? DType::Int64 : DType::Int32, item == 8 || item == 4;
    default: return false;
  }
}

const char* format_of_dtype(DType t) {
  static constexpr const char* formats[] = {"?", "B", "b", "h", "i", sizeof(long) == 8 ? "l" : "q", "e", nullptr, "f", "d"};
  if (is_complex(t)) return t == DType::Complex64 ? "Zf" : "Zd";
  if (is_float8(t)) return nullptr;
  if (is_guest(t)) return t == DType::UInt16 ? "H" : t == DType::UInt32 ? "I" : sizeof(long) == 8 ? "L" : "Q";
  return formats[static_cast<int>(t)];
}

struct FreeBuffer {
  void operator()(Py_buffer* view) const {
    PyBuffer_Release(view);
    delete view;
  }
};

[[noreturn]] void refuse_kind(PyObject* o) {
  PyErr_Clear();
  const char* numpy = "numpy.";
  std::string name = Py_TYPE(o)->tp_name;
  if (is_ndarray(o)) {
    const Owned<> dtype(checked(PyObject_GetAttrString(o, "dtype"))), type(checked(PyObject_GetAttrString(dtype.get(), "type")));
    name = reinterpret_cast<PyTypeObject*>(type.get())->tp_name;
  }
  const bool known = name.starts_with(numpy);
  fail(ErrorKind::Type, "can't convert ", known ? "np.ndarray" : "memory", " of type ", name,
       ". The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, "
       "uint16, uint8, and bool.");
}

void free_buffer(void* owner) {
  const GilHeld gil;
  FreeBuffer()(static_cast<Py_buffer*>(owner));
}

}  // namespace

// Memory of somebody else: strides are in bytes, or null where it is dense. Takes over `owner` when it succeeds.
static Tensor tensor_on(void* data, DType dtype, int ndim, const Py_ssize_t* shape, const Py_ssize_t* byte_strides, void (*free)(void*),
                        void* owner) {
  int64_t sizes[kMaxDims], strides[kMaxDims];
  RG_CHECK(ndim <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, got ", ndim);
  const int64_t item = itemsize(dtype);
  int64_t last = 0, dense = 1;
  bool is_empty = false;
  for (int d = ndim - 1; d >= 0; --d) {
    sizes[d] = shape[d];
    is_empty |= sizes[d] == 0;
    const int64_t bytes = byte_strides ? byte_strides[d] : dense * item;
    dense *= sizes[d];
    RG_CHECK_AS(Value, bytes >= 0 || sizes[d] <= 1,
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not supported. Pass "
                "array.copy().");
    RG_CHECK_AS(Value, bytes % item == 0 || sizes[d] <= 1,
                "given numpy array strides not a multiple of the element byte size. Pass array.copy().");
    strides[d] = bytes / item;
    last += (sizes[d] - 1) * strides[d];
  }
  const size_t bytes = is_empty ? 0 : static_cast<size_t>((last + 1) * item);
  Storage* storage = new_external_storage(data, bytes, {}, free, owner);
  return from_storage(storage, dtype, {sizes, static_cast<size_t>(ndim)}, {strides, static_cast<size_t>(ndim)}, 0);
}

Tensor from_plain_array(PyObject* o, const PlainArray& array) {
  const auto free = [](void* owner) {
    const GilHeld gil;
    Py_DECREF(static_cast<PyObject*>(owner));
  };
  Owned<> held(Py_NewRef(o));
  Tensor t = tensor_on(array.data, array.dtype, array.ndim, array.shape, array.strides, free, o);
  held.release();
  return t;
}

Tensor from_buffer_object(PyObject* o, bool* read_only) {
  if (const std::optional<PlainArray> array = plain_array(o)) {
    if (read_only) *read_only = array->read_only;
    return from_plain_array(o, *array);
  }
  std::unique_ptr<Py_buffer, FreeBuffer> view(new Py_buffer());
  if (PyObject_GetBuffer(o, view.get(), PyBUF_FULL_RO) != 0) {
    delete view.release();
    if (is_ndarray(o)) refuse_kind(o);  // dates have no format
    throw PythonError();
  }
  DType dtype;
  RG_CHECK_AS(
      Value, !view->format || *view->format != '>',
      "given numpy array has byte order different from the native byte order. Convert it first: array.astype(array.dtype.newbyteorder()).");
  const char* name = Py_TYPE(o)->tp_name;
  const bool is_time = std::strcmp(name, "numpy.datetime64") == 0 || std::strcmp(name, "numpy.timedelta64") == 0;  // shown as bytes
  if (is_time || !dtype_of_format(view->format, view->itemsize, dtype)) refuse_kind(o);
  if (read_only) *read_only = view->readonly;
  Tensor t = tensor_on(view->buf, dtype, view->ndim, view->shape, view->strides, free_buffer, view.get());
  view.release();
  return t;
}

namespace {

// ---- the other way ----

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
    RG_CHECK_AS(Buffer, t->device.type == DeviceType::CPU, "only CPU tensors have memory to export, and this one is on ",
                device_name(t->device));
    check_no_lazy(t, "numpy()");
    const char* format = format_of_dtype(t->dtype);
    RG_CHECK_AS(Buffer, format, dtype_name(t->dtype), " has no buffer format: convert with .float() first");
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

}  // namespace

void add_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)});
}

}  // namespace retrograd
