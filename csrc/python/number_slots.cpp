// Operators. The common ones go straight to the op; whatever is rare, or involves __torch_function__, goes through the method of the same
// name, so that it is seen there.
#include "autograd/history.h"
#include "ops.h"
#include "python/bind.h"
#include "python/call_error.h"
#include "python/guard.h"
#include "python/interop.h"
#include "python/overridable.h"
#include "python/tensor_type.h"
#include "python/torch_function.h"

namespace retrograd {
namespace {

// An operand of an operator: a plain tensor or a number. False when it is anything else.
inline bool read_operand(PyObject* o, Operand& out) {
  if (RG_LIKELY(is_plain_tensor(o))) {
    out.tensor = reinterpret_cast<TensorImpl*>(o);
    return true;
  }
  return read_scalar(o, out.scalar);
}

const Tensor& as_tensor(PyObject*& o) { return reinterpret_cast<const Tensor&>(o); }

bool direct() { return RG_LIKELY(!thread_state.function_modes) || !function_modes_active(); }

// Whether a mode or a __torch_function__ takes the operator over; `result`, null with an error set, is what it says. What it is handed is the method of
// Tensor of this name.
bool taken_over(const char* name, PyObject* const* operands, Py_ssize_t count, PyObject*& result) {
  bool plain = direct();
  for (Py_ssize_t i = 0; i < count && plain; ++i) plain = is_plain_tensor(operands[i]) || !has_torch_function(operands[i]);
  if (RG_LIKELY(plain) || (!function_modes_active() && !any_overloaded(operands, count))) return false;
  result = override_call(operands[0], name, nullptr, operands + 1, count - 1, nullptr);
  return true;
}

// tensor.method(other), for modes and subclasses. They are handed that method, or `seen` where PyTorch's operator is a method of its own.
PyObject* via_method(PyObject* a, const char* method, PyObject* b, const char* seen = nullptr) {
  if (is_tensor(b) || has_torch_function(b) || PyNumber_Check(b)) {
    Scalar s;
    if (is_tensor(b) || has_torch_function(b) || read_scalar(b, s)) {
      PyObject* const operands[] = {a, b};
      PyObject* result = nullptr;
      if (!seen || !taken_over(seen, operands, 2, result)) result = PyObject_CallMethod(a, method, "O", b);
      // An operand that declines lets the other one's reflected method have a try.
      if (result || is_tensor(b) || !PyErr_ExceptionMatches(PyExc_TypeError)) return result;
      PyErr_Clear();
    }
  }
  Py_RETURN_NOTIMPLEMENTED;
}

// op(a, b) with `a` a tensor, or reflected(b, a) with a number on the left.
template <class Op, class Reflected>
PyObject* binary(PyObject* a, PyObject* b, const char* method, const char* reflected_method, Op op, Reflected reflected,
                 const char* seen = nullptr, const char* seen_reflected = nullptr) {
  return guarded_call(method, a, b, [&]() -> PyObject* {
    Operand other(0);
    if (direct()) {
      if (RG_LIKELY(is_plain_tensor(a))) {
        if (read_operand(b, other)) return wrap(op(as_tensor(a), other));
      } else if (is_plain_tensor(b) && read_operand(a, other)) {
        return wrap(reflected(as_tensor(b), other));
      }
    }
    if (is_tensor(a)) return via_method(a, method, b, seen);
    return via_method(b, reflected_method, a, seen_reflected);
  });
}

PyObject* nb_add(PyObject* a, PyObject* b) {
  auto op = [](const Tensor& x, const Operand& y) { return ops::add(x, y, 1); };
  return binary(a, b, "add", "add", op, op);
}
PyObject* nb_subtract(PyObject* a, PyObject* b) {
  return binary(
      a, b, "sub", "_reflected_sub", [](const Tensor& x, const Operand& y) { return ops::sub(x, y, 1); },
      [](const Tensor& x, const Operand& y) { return ops::rsub_scalar(x, y, 1); }, nullptr, "__rsub__");
}
PyObject* nb_multiply(PyObject* a, PyObject* b) {
  auto op = [](const Tensor& x, const Operand& y) { return ops::mul(x, y); };
  return binary(a, b, "mul", "mul", op, op);
}
PyObject* nb_divide(PyObject* a, PyObject* b) {
  PyObject* result = binary(
      a, b, "div", "_reflected_div", [](const Tensor& x, const Operand& y) { return ops::div(x, y); },
      [](const Tensor& x, const Operand& y) { return ops::mul(ops::reciprocal(x), y); }, nullptr, "__rtruediv__");
  if (RG_LIKELY(result != Py_NotImplemented) || !is_ndarray(a)) return result;
  return PyObject_CallMethod(b, "_reflected_div", "O", a);  // NumPy multiplies, and gives a tensor
}
PyObject* nb_matmul(PyObject* a, PyObject* b) {
  return guarded_call("matmul", a, b, [&]() -> PyObject* {
    if (direct() && is_plain_tensor(a) && is_plain_tensor(b)) return wrap(ops::matmul(as_tensor(a), as_tensor(b)));
    if (is_tensor(a)) {
      if (!is_tensor(b) && !has_torch_function(b)) Py_RETURN_NOTIMPLEMENTED;
      return PyObject_CallMethod(a, "matmul", "O", b);
    }
    PyObject* const operands[] = {b, a};
    PyObject* result = nullptr;
    return taken_over("__rmatmul__", operands, 2, result) ? result : PyObject_CallMethod(b, "_reflected_matmul", "O", a);
  });
}

// The rarer operators: the method of the tensor, or the reflected one.
PyObject* by_method(PyObject* a, PyObject* b, const char* method, const char* reflected, const char* seen, const char* seen_reflected) {
  return guarded([&] { return is_tensor(a) ? via_method(a, method, b, seen) : via_method(b, reflected, a, seen_reflected); });
}
PyObject* nb_floor_divide(PyObject* a, PyObject* b) {
  return by_method(a, b, "floor_divide", "_reflected_floor_divide", "__floordiv__", "__rfloordiv__");
}
PyObject* nb_remainder(PyObject* a, PyObject* b) { return by_method(a, b, "remainder", "_reflected_remainder", nullptr, "__rmod__"); }
PyObject* nb_and(PyObject* a, PyObject* b) {
  auto op = [](const Tensor& x, const Operand& y) { return ops::bitwise_and(x, y); };
  return binary(a, b, "bitwise_and", "bitwise_and", op, op, "__and__");
}
PyObject* nb_or(PyObject* a, PyObject* b) {
  auto op = [](const Tensor& x, const Operand& y) { return ops::bitwise_or(x, y); };
  return binary(a, b, "bitwise_or", "bitwise_or", op, op, "__or__");
}
PyObject* nb_xor(PyObject* a, PyObject* b) { return by_method(a, b, "bitwise_xor", "bitwise_xor", "__xor__", nullptr); }
PyObject* nb_lshift(PyObject* a, PyObject* b) {
  return by_method(a, b, "bitwise_left_shift", "_reflected_lshift", "__lshift__", "__rlshift__");
}
PyObject* nb_rshift(PyObject* a, PyObject* b) {
  return by_method(a, b, "bitwise_right_shift", "_reflected_rshift", "__rshift__", "__rrshift__");
}
PyObject* nb_power(PyObject* a, PyObject* b, PyObject* modulo) {
  if (modulo != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(
      a, b, "pow", "_reflected_pow",
      [](const Tensor& x, const Operand& y) { return y.tensor ? ops::pow(x, Tensor::borrow(y.tensor)) : ops::pow_scalar(x, y.scalar); },
      [](const Tensor& x, const Operand& y) { return ops::pow_self_scalar(y, x); }, "__pow__", "__rpow__");
}

PyObject* nb_negative(PyObject* a) {
  return guarded_call("neg", a, nullptr, [&]() -> PyObject* {
    if (direct() && is_plain_tensor(a)) return wrap(ops::neg(as_tensor(a)));
    return PyObject_CallMethod(a, "neg", nullptr);
  });
}
PyObject* nb_positive(PyObject* a) { return PyObject_CallMethod(a, "positive", nullptr); }
PyObject* nb_absolute(PyObject* a) { return PyObject_CallMethod(a, "abs", nullptr); }
PyObject* nb_invert(PyObject* a) {
  return guarded_call("bitwise_not", a, nullptr, [&]() -> PyObject* {
    PyObject* result = nullptr;
    if (taken_over("__invert__", &a, 1, result)) return result;
    RG_CHECK_AS(Type, !is_differentiable(reinterpret_cast<TensorImpl*>(a)->dtype),
                "~ (operator.invert) is only implemented on integer and Boolean-type tensors\n  Hint: compare first, as in ~(x > 0), or "
                "use -x for the negative.");
    if (direct() && is_plain_tensor(a)) return wrap(ops::bitwise_not(as_tensor(a)));
    return PyObject_CallMethod(a, "bitwise_not", nullptr);
  });
}

template <class Op> PyObject* inplace(PyObject* a, PyObject* b, const char* method, Op op) {
  return guarded_call(method, a, b, [&]() -> PyObject* {
    Operand other(0);
    if (direct() && is_plain_tensor(a) && read_operand(b, other)) {
      op(as_tensor(a), other);
      return Py_NewRef(a);
    }
    return via_method(a, method, b);
  });
}
PyObject* nb_inplace_add(PyObject* a, PyObject* b) {
  return inplace(a, b, "add_", [](const Tensor& x, const Operand& y) { ops::add_(x, y, 1); });
}
PyObject* nb_inplace_subtract(PyObject* a, PyObject* b) {
  return inplace(a, b, "sub_", [](const Tensor& x, const Operand& y) { ops::sub_(x, y, 1); });
}
PyObject* nb_inplace_multiply(PyObject* a, PyObject* b) {
  return inplace(a, b, "mul_", [](const Tensor& x, const Operand& y) { ops::mul_(x, y); });
}
PyObject* nb_inplace_divide(PyObject* a, PyObject* b) {
  return inplace(a, b, "div_", [](const Tensor& x, const Operand& y) { ops::div_(x, y); });
}
PyObject* nb_inplace_floor_divide(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "floor_divide_", b); });
}
PyObject* nb_inplace_remainder(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "remainder_", b); });
}
PyObject* nb_inplace_and(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "bitwise_and_", b, "__iand__"); });
}
PyObject* nb_inplace_or(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "bitwise_or_", b, "__ior__"); });
}
PyObject* nb_inplace_xor(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "bitwise_xor_", b, "__ixor__"); });
}
PyObject* nb_inplace_lshift(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "bitwise_left_shift_", b, "__ilshift__"); });
}
PyObject* nb_inplace_rshift(PyObject* a, PyObject* b) {
  return guarded([&] { return via_method(a, "bitwise_right_shift_", b, "__irshift__"); });
}
PyObject* nb_inplace_power(PyObject* a, PyObject* b, PyObject*) {
  return guarded([&] { return via_method(a, "pow_", b, "__ipow__"); });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  static constexpr const char* names[] = {"lt", "le", "eq", "ne", "gt", "ge"};
  return guarded_call(names[op], a, b, [&]() -> PyObject* {
    const char* seen = op == Py_EQ ? "__eq__" : nullptr;
    Operand other(0);
    if (direct() && is_plain_tensor(a) && read_operand(b, other)) {
      const Tensor& x = as_tensor(a);
      switch (op) {
        case Py_LT: return wrap(ops::lt(x, other));
        case Py_LE: return wrap(ops::le(x, other));
        case Py_EQ: return wrap(ops::eq(x, other));
        case Py_NE: return wrap(ops::ne(x, other));
        case Py_GT: return wrap(ops::gt(x, other));
        default: return wrap(ops::ge(x, other));
      }
    }
    if (op == Py_EQ && is_ndarray(b)) {  // NumPy leaves the comparison to us
      PyObject* array = checked(wrap(tensor_from_object(b, std::nullopt)));
      PyObject* result = via_method(a, names[op], array, seen);
      Py_DECREF(array);
      return result;
    }
    return via_method(a, names[op], b, seen);
  });
}

}  // namespace

void add_number_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int id, auto* f) { slots.push_back({id, reinterpret_cast<void*>(f)}); };
  add(Py_nb_add, nb_add);
  add(Py_nb_subtract, nb_subtract);
  add(Py_nb_multiply, nb_multiply);
  add(Py_nb_true_divide, nb_divide);
  add(Py_nb_matrix_multiply, nb_matmul);
  add(Py_nb_floor_divide, nb_floor_divide);
  add(Py_nb_remainder, nb_remainder);
  add(Py_nb_power, nb_power);
  add(Py_nb_and, nb_and);
  add(Py_nb_or, nb_or);
  add(Py_nb_xor, nb_xor);
  add(Py_nb_lshift, nb_lshift);
  add(Py_nb_rshift, nb_rshift);
  add(Py_nb_negative, nb_negative);
  add(Py_nb_positive, nb_positive);
  add(Py_nb_absolute, nb_absolute);
  add(Py_nb_invert, nb_invert);
  add(Py_nb_inplace_add, nb_inplace_add);
  add(Py_nb_inplace_subtract, nb_inplace_subtract);
  add(Py_nb_inplace_multiply, nb_inplace_multiply);
  add(Py_nb_inplace_true_divide, nb_inplace_divide);
  add(Py_nb_inplace_floor_divide, nb_inplace_floor_divide);
  add(Py_nb_inplace_remainder, nb_inplace_remainder);
  add(Py_nb_inplace_and, nb_inplace_and);
  add(Py_nb_inplace_or, nb_inplace_or);
  add(Py_nb_inplace_xor, nb_inplace_xor);
  add(Py_nb_inplace_lshift, nb_inplace_lshift);
  add(Py_nb_inplace_rshift, nb_inplace_rshift);
  add(Py_nb_inplace_power, nb_inplace_power);
  add(Py_tp_richcompare, compare);
}

}  // namespace retrograd
