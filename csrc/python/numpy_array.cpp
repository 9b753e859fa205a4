#include "python/numpy_array.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "autograd/doctor.h"
#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "core/guards.h"
#include "ops.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/tensor_type.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

// The beginnings of two structs that are part of NumPy's binary interface, and have been the same in all of its versions.
struct ArrayObject {
  PyObject_HEAD
  char* data;
  int nd;
  Py_ssize_t* dimensions;
  Py_ssize_t* strides;
  PyObject* base;
  struct DescrObject* descr;
  int flags;
};
struct DescrObject {
  PyObject_HEAD
  PyTypeObject* type;
  char kind, letter, byte_order, unused;
  int type_number;
};
constexpr int kAligned = 0x100, kWriteable = 0x400;
constexpr int kFewestDims = 32;  // that an array may have in every version

constexpr struct {
  int number;
  DType dtype;
} kNumbers[] = {{0, DType::Bool},     {1, DType::Int8},       {2, DType::UInt8},       {3, DType::Int16},
                {4, DType::UInt16},   {5, DType::Int32},      {6, DType::UInt32},      {7, DType::Int64},
                {8, DType::UInt64},   {9, DType::Int64},      {10, DType::UInt64},     {11, DType::Float32},
                {12, DType::Float64}, {14, DType::Complex64}, {15, DType::Complex128}, {23, DType::Float16}};
static_assert(sizeof(long) == 8 && sizeof(long long) == 8 && sizeof(int) == 4);  // numbers 5 to 10 are those of C's types

// Its functions that are called, by their places in the table.
class Interface {
 public:
  explicit Interface(void** table) : table_(table) {}
  PyTypeObject* array_type() const { return static_cast<PyTypeObject*>(table_[2]); }
  PyObject* descr(int number) const { return at<PyObject*(int)>(45)(number); }
  PyObject* new_array(PyObject* descr, int nd, const Py_ssize_t* sizes, const Py_ssize_t* strides, void* data, int flags) const {
    using Make = PyObject*(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*, void*, int, PyObject*);
    return at<Make>(94)(array_type(), descr, nd, sizes, strides, data, flags, nullptr);
  }
  int set_base(PyObject* array, PyObject* base) const { return at<int(PyObject*, PyObject*)>(282)(array, base); }

 private:
  void** table_;
  template <class F> F* at(size_t place) const { return reinterpret_cast<F*>(table_[place]); }
};

// The table's first function gives the version of the binary interface: 1.x and 2.x agree in what is used here.
bool is_known(void** table) {
  const auto version = reinterpret_cast<unsigned (*)()>(table[0])();
  return version == 0x1000009 || version == 0x2000000;
}

const Interface* find_interface() {
  for (const char* name : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) {
    PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), name);
    if (!module) continue;
    const Owned<> capsule(PyObject_GetAttrString(module, "_ARRAY_API"));
    void* table = capsule && PyCapsule_CheckExact(capsule.get()) ? PyCapsule_GetPointer(capsule.get(), nullptr) : nullptr;
    PyErr_Clear();
    if (table && is_known(static_cast<void**>(table))) return new Interface(static_cast<void**>(table));
  }
  return nullptr;
}

const Interface* interface() {
  static const Interface* found = nullptr;  // looked for until NumPy is there
  if (RG_UNLIKELY(!found)) found = find_interface();
  return found;
}

std::optional<int> number_of(DType dtype) {
  for (const auto& n : kNumbers)
    if (n.dtype == dtype) return n.number;
  return std::nullopt;
}

// Tensor.numpy() where there is nothing to say against it; NotImplemented where Python has to look.
PyObject* to_array(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(o) || doctor.close) Py_RETURN_NOTIMPLEMENTED;
    PyObject* array = array_on(Tensor::borrow(o));
    return array ? array : Py_NewRef(Py_NotImplemented);
  });
}

PyMethodDef methods[] = {
    {"_to_array", to_array, METH_O, "a NumPy array on the memory of a tensor; NotImplemented where it takes a closer look"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

std::optional<PlainArray> plain_array(PyObject* o) {
  const Interface* numpy = interface();
  if (!numpy || Py_TYPE(o) != numpy->array_type()) return std::nullopt;
  const auto* a = reinterpret_cast<ArrayObject*>(o);
  const auto* n = std::find_if(std::begin(kNumbers), std::end(kNumbers), [&](const auto& k) { return k.number == a->descr->type_number; });
  if (n == std::end(kNumbers) || a->descr->byte_order == '>' || !(a->flags & kAligned)) return std::nullopt;
  return PlainArray{a->data, a->nd, a->dimensions, a->strides, n->dtype, !(a->flags & kWriteable), a->base};
}

PyObject* array_on(const Tensor& t) {
  if (thread_state.intercepting || !t->device.is_cpu() || t->has(kBatched) || t->has(kConj) || t->has(kNeg) || is_sparse(t.get()) ||
      !t->data || t->ndim > kFewestDims || (requires_grad(t) && thread_state.grad_enabled))
    return nullptr;
  const std::optional<int> number = number_of(t.dtype());
  const Interface* numpy = number ? interface() : nullptr;
  if (!numpy) return nullptr;
  readable(t.get(), ".numpy()");
  Py_ssize_t sizes[kFewestDims], strides[kFewestDims];
  for (int d = 0; d < t->ndim; ++d) {
    sizes[d] = t->size(d);
    strides[d] = t->stride(d) * itemsize(t.dtype());
  }
  Tensor alias = ops::detach(t);  // holds this memory, whatever becomes of t
  exporting(t.get());
  Owned<> array(checked(numpy->new_array(checked(numpy->descr(*number)), t->ndim, sizes, strides, t->data, kWriteable)));
  if (numpy->set_base(array.get(), wrap(std::move(alias))) != 0) throw PythonError();
  return array.release();
}

void init_numpy_array(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
