// DLPack, both ways. The layouts of the structs are a public ABI.
#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "python/bind.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/interop.h"
#include "python/tensor_type.h"

namespace retrograd {
namespace {

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
  if (is_unsigned(t)) return {1, bits, 1};
  if (is_complex(t)) return {5, bits, 1};
  if (is_float8(t)) {
    constexpr uint8_t codes[] = {10, 12, 11, 13, 14};  // in the order of the dtypes here
    return {codes[static_cast<int>(t) - static_cast<int>(DType::Float8_e4m3fn)], 8, 1};
  }
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
  const GilHeld gil;
  Py_DECREF(static_cast<PyObject*>(managed->context));
  delete reinterpret_cast<DLExport<Managed>*>(managed);
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
    RG_CHECK_AS(Buffer, !t->has(kConj), "Can't export tensors with the conjugate bit set. Use tensor.resolve_conj() instead.");
    RG_CHECK_AS(Buffer, !t->has(kNeg), "Can't export tensors with the negative bit set. Use tensor.resolve_neg() instead.");
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
    RG_CHECK_AS(Buffer, strides[i] >= 0, "tensors with negative strides are not supported: ask for a copy of the array");
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

PyMethodDef functions[] = {{"_to_dlpack", to_dlpack, METH_VARARGS, "_to_dlpack(tensor, versioned, copied)"},
                           {"_from_dlpack", from_dlpack, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_dlpack(PyObject* module) { PyModule_AddFunctions(module, functions); }

}  // namespace retrograd
