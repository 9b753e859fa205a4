#include <algorithm>
#include <cstring>

#include "autograd/tangent.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "ops/generator.h"
#include "python/bind.h"
#include "python/torch_function.h"
#include "python/types.h"

namespace retrograd {

namespace {

bool overloads(PyObject* o) { return thread_state.torch_function_subclasses && has_torch_function(o); }

bool is_numpy_scalar(PyObject* o) {
  // numpy.float64 and friends: numbers by protocol, from a module we never import ourselves.
  const char* name = Py_TYPE(o)->tp_name;
  return std::strncmp(name, "numpy.", 6) == 0 && PyNumber_Check(o) && !PySequence_Check(o);
}

}  // namespace

bool read_int(PyObject* o, int64_t& out) {
  if (RG_LIKELY(PyLong_CheckExact(o))) {
    int overflow;
    out = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) fail(ErrorKind::Value, "Overflow when unpacking long long: the integer does not fit 64 bits");
    return true;
  }
  if (PyBool_Check(o) || PyFloat_Check(o)) return false;
  if (is_tensor(o)) {
    auto* t = reinterpret_cast<TensorImpl*>(o);
    if (t->numel != 1 || is_differentiable(t->dtype)) return false;
  } else if (!PyIndex_Check(o)) {
    return false;
  }
  PyObject* index = PyNumber_Index(o);
  if (!index) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const bool diagnosis = PyObject_HasAttrString(type, "code");  // the doctor was told of the reading
    PyErr_Restore(type, value, trace);
    if (diagnosis) throw PythonError();
    PyErr_Clear();
    return false;
  }
  int overflow;
  out = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (overflow) fail(ErrorKind::Value, "Overflow when unpacking long long: the integer does not fit 64 bits");
  return true;
}

bool read_scalar(PyObject* o, Scalar& out) {
  if (PyFloat_CheckExact(o)) {
    out = Scalar(PyFloat_AS_DOUBLE(o));
    return true;
  }
  if (PyBool_Check(o)) {
    out = Scalar(o == Py_True);
    return true;
  }
  if (PyLong_Check(o)) {
    int overflow;
    const int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow);
    out = Scalar(v);
    if (RG_UNLIKELY(overflow)) {  // there is uint64
      const uint64_t huge = overflow > 0 ? PyLong_AsUnsignedLongLong(o) : 0;
      const bool fits = overflow > 0 && !PyErr_Occurred();
      PyErr_Clear();
      if (!fits) fail(ErrorKind::Overflow, "int too big to convert: it does not fit 64 bits");
      out = Scalar::of_unsigned(huge);
    }
    return true;
  }
  if (PyFloat_Check(o)) {
    out = Scalar(PyFloat_AsDouble(o));
    return true;
  }
  if (is_tensor(o)) return false;
  if (PyComplex_Check(o)) {  // numpy.complex128 too
    const Py_complex c = PyComplex_AsCComplex(o);
    out = Scalar(Complex<double>(c.real, c.imag));
    return true;
  }
  if (is_numpy_scalar(o)) {
    if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.complex", 13) == 0) {
      const Py_complex c = PyComplex_AsCComplex(o);
      if (c.real == -1.0 && PyErr_Occurred()) throw PythonError();
      out = Scalar(Complex<double>(c.real, c.imag));
      return true;
    }
    if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) {
      out = Scalar(PyObject_IsTrue(o) == 1);
      return true;
    }
    if (PyIndex_Check(o)) {
      int64_t v;
      if (!read_int(o, v)) return false;
      out = Scalar(v);
      return true;
    }
    const double d = PyFloat_AsDouble(o);
    if (d == -1.0 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    out = Scalar(d);
    return true;
  }
  return false;
}

bool read_bool(PyObject* o, bool& out) {
  if (o == Py_True || o == Py_False) {
    out = o == Py_True;
    return true;
  }
  if (std::strncmp(Py_TYPE(o)->tp_name, "numpy.bool", 10) == 0) {
    out = PyObject_IsTrue(o) == 1;
    return true;
  }
  return false;
}

namespace {

// The items of a tuple or a list that stay what they are while they are read: __index__ of one of them may change the list.
class Items {
 public:
  explicit Items(PyObject* o) : count_(PySequence_Fast_GET_SIZE(o)), items_(PySequence_Fast_ITEMS(o)) {
    if (RG_LIKELY(PyTuple_Check(o) || std::all_of(items_, items_ + count_, [](PyObject* item) { return PyLong_CheckExact(item); }))) return;
    copy_ = Owned(checked(PyList_AsTuple(o)));
    items_ = PySequence_Fast_ITEMS(copy_.get());
  }
  PyObject* const* get() const { return items_; }
  Py_ssize_t size() const { return count_; }

 private:
  Py_ssize_t count_;
  PyObject* const* items_;
  Owned<> copy_;
};

}  // namespace

bool read_sizes(PyObject* o, std::vector<int64_t>& out) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  const Items items(o);
  out.resize(static_cast<size_t>(items.size()));
  for (Py_ssize_t i = 0; i < items.size(); ++i)
    if (!read_int(items.get()[i], out[static_cast<size_t>(i)])) return false;
  return true;
}

bool Parsed::read_ints(int i, PyObject* const* items, Py_ssize_t count) {
  int64_t* target;
  if (count + used_ints_ <= kMaxInts) {
    target = ints_ + used_ints_;
    used_ints_ += static_cast<int>(count);
  } else {
    target = long_ints_.emplace_back(static_cast<size_t>(count)).data();
  }
  for (Py_ssize_t k = 0; k < count; ++k)
    if (!read_int(items[k], target[k])) {
      if (k == 0 || !PyBool_Check(items[k])) return false;
      target[k] = items[k] == Py_True;  // PyTorch looks at the type of the first alone
    }
  v_[i].ints = target;
  v_[i].count = static_cast<uint32_t>(count);
  v_[i].none = false;
  return true;
}

bool Parsed::read_tensor_list(int i, PyObject* o, bool optional_items) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;  // as PyTorch: anything else may have no end
  std::vector<Tensor> list;
  list.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(o)));
  bool ok = true;
  for (Py_ssize_t k = 0; ok && k < PySequence_Fast_GET_SIZE(o); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, k);
    if (is_tensor(item)) {
      if (!is_plain_tensor(item)) overloaded_ = true;
      list.push_back(Tensor::borrow(item));
      note_device(list.back().get());
    } else if (optional_items && item == Py_None) {
      list.emplace_back();
    } else if (overloads(item)) {
      overloaded_ = true;
      list.emplace_back();
    } else {
      ok = false;
    }
  }
  if (!ok) return false;
  if (lists_.capacity() < 4) lists_.reserve(4);
  v_[i].list = static_cast<uint8_t>(lists_.size());
  v_[i].none = false;
  lists_.push_back(std::move(list));
  return true;
}

bool Parsed::read_other(int i, const ParamSpec& spec, PyObject* o) {
  Value& v = v_[i];
  v.none = false;
  switch (spec.kind) {
    case Kind::TensorOpt:
      if (o == Py_None) {
        v.tensor = nullptr;
        v.none = true;
        return true;
      }
      [[fallthrough]];
    case Kind::Tensor:
      if (is_tensor(o)) {
        overloaded_ = true;
        v.tensor = reinterpret_cast<TensorImpl*>(o);
        note_device(v.tensor);
        return true;
      }
      if (overloads(o)) {
        overloaded_ = true;
        v.tensor = nullptr;
        return true;
      }
      return false;
    case Kind::Operand:
      v.tensor = nullptr;
      if (read_scalar(o, v.scalar)) return true;
      if (is_tensor(o)) {
        overloaded_ = true;
        v.tensor = reinterpret_cast<TensorImpl*>(o);
        note_device(v.tensor);
        return true;
      }
      return overloads(o) ? (overloaded_ = true) : false;
    case Kind::Tensors: return read_tensor_list(i, o, false);
    case Kind::TensorOptList: return read_tensor_list(i, o, true);
    case Kind::ScalarOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Scalar:
      if (read_scalar(o, v.scalar)) return true;
      if (is_tensor(o)) {  // a 0-d tensor that needs no gradient counts as a number
        auto* t = reinterpret_cast<TensorImpl*>(o);
        if (t->ndim != 0 || t->grad_fn || t->has(kRequiresGrad) || (thread_state.dual_levels && has_tangent(t)) ||
            t->device.type == DeviceType::Meta)
          return false;
        v.scalar = read_scalar(t);
        return true;
      }
      return false;
    case Kind::IntOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Int: {
      int64_t value;
      if (is_tensor(o) && reinterpret_cast<TensorImpl*>(o)->ndim != 0) return false;
      if (!read_int(o, value)) return false;
      v.scalar = Scalar(value);
      return true;
    }
    case Kind::FloatOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Float: {
      Scalar s;
      if (!read_scalar(o, s)) {
        if (!is_tensor(o)) return false;
        auto* t = reinterpret_cast<TensorImpl*>(o);
        if (t->numel != 1 || t->device.type == DeviceType::Meta) return false;
        s = read_scalar(t);
      }
      if (s.is_complex()) return false;
      v.scalar = Scalar(s.to_double());
      return true;
    }
    case Kind::BoolOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Bool: {
      bool b;
      if (!read_bool(o, b)) return false;
      v.scalar = Scalar(b);
      return true;
    }
    case Kind::IntsOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Ints:
    case Kind::IntList:
      if (PyTuple_Check(o)) return read_ints(i, reinterpret_cast<PyTupleObject*>(o)->ob_item, PyTuple_GET_SIZE(o));
      if (PyList_Check(o)) {
        const Items items(o);
        return read_ints(i, items.get(), items.size());
      }
      if (o == Py_None && (spec.flags & kHasDefault) && spec.fallback.count == 0) {  // roll(x, 1, None)
        fill_value(i, spec);
        return true;
      }
      return spec.kind != Kind::IntList && read_ints(i, &o, 1);
    case Kind::DtypeOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Dtype: {
      DType t;
      if (!read_dtype(o, t)) return false;
      v.scalar = Scalar(static_cast<int64_t>(t));
      return true;
    }
    case Kind::DeviceOpt:
      if (o == Py_None) return v.none = true;
      return read_device(o, v.device);
    case Kind::StrOpt:
      if (o == Py_None) return v.none = true;
      [[fallthrough]];
    case Kind::Str: {
      if (!PyUnicode_Check(o)) return false;
      Py_ssize_t length;
      const char* text = PyUnicode_AsUTF8AndSize(o, &length);
      if (!text) throw PythonError();
      v.text = {text, static_cast<size_t>(length)};
      return true;
    }
    case Kind::MemoryFormatOpt:
    case Kind::LayoutOpt:
      if (o == Py_None) return v.none = true;
      if (Py_TYPE(o) != (spec.kind == Kind::LayoutOpt ? layout_type : memory_format_type)) return false;
      v.scalar = Scalar(static_cast<int64_t>(reinterpret_cast<ConstantObject*>(o)->value));
      return true;
    case Kind::GeneratorOpt:
      v.tensor = nullptr;
      if (o == Py_None) return v.none = true;
      if (!is_generator(o)) return false;
      v.tensor = reinterpret_cast<TensorImpl*>(o);
      return true;
  }
  return false;
}

void Parsed::fill_value(int i, const ParamSpec& spec) {
  Value& v = v_[i];
  const DefaultValue& d = spec.fallback;
  switch (spec.kind) {
    case Kind::Float:
    case Kind::FloatOpt: v.scalar = Scalar(d.d); break;
    case Kind::Ints:
    case Kind::IntList:
    case Kind::IntsOpt:
      v.ints = d.ints;
      v.count = static_cast<uint32_t>(d.count);
      break;
    case Kind::Str:
    case Kind::StrOpt: v.text = d.text ? d.text : ""; break;
    case Kind::Tensors:
    case Kind::TensorOptList:
      v.list = static_cast<uint8_t>(lists_.size());
      lists_.emplace_back();
      break;
    default: v.scalar = d.is_float ? Scalar(d.d) : Scalar(d.i);
  }
}

bool Parsed::set_out(PyObject* o) {
  if (o == Py_None) return true;
  if (!is_tensor(o)) {
    if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k)
      if (!is_tensor(PySequence_Fast_GET_ITEM(o, k))) return false;
  }
  out_ = reinterpret_cast<TensorImpl*>(o);
  return true;
}

}  // namespace retrograd
