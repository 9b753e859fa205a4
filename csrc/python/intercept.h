// The one point of interception. Each thread has a stack of handlers; while it is empty an op pays a load and a branch. A handler is a
// Python callable handler(op, args, kwargs): `op` is the table entry as a callable, calling it continues below this handler.
// While a handler runs it is off the stack, so what it calls is not intercepted by itself; but when it calls an op that is made of others
// (a composite), it is back for those, so that a logger or a tracer sees everything down to the leaves.
//
// Two kinds share the stack: op handlers see every op of the table, also those that derivatives and composites call; function handlers
// (__torch_function__ modes) see calls from Python with their original arguments, at the binding (see python/torch_function.h).
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/format.h"
#include "core/state.h"
#include "core/tensor.h"
#include "ops/record.h"
#include "python/wrap.h"

namespace retrograd {

struct Generator;

struct Handler {
  PyObject* callable;  // owned
  bool functions;      // a function handler
  Handler* next;
};

// Whether the handler on top is to see this op. Not when it is a function handler, or when it has just called this very op, a composite:
// then it sees the parts instead.
bool intercepts(const OpRecord& op);

namespace boxing {
PyObject* box(const Tensor& t);
PyObject* box(const Operand& o);
PyObject* box(std::span<const Tensor> list);
PyObject* box(const Scalar& s);
PyObject* box(int64_t v);
PyObject* box(double v);
PyObject* box(bool v);
PyObject* box(IntSpan v);
PyObject* box(DType v);
PyObject* box(const Device& v);
PyObject* box(MemoryFormat v);
PyObject* box(Layout v);
PyObject* box(std::string_view v);
PyObject* box(Generator* g);
template <class T> PyObject* box(const std::optional<T>& v) {
  if (!v) Py_RETURN_NONE;
  return box(*v);
}

template <class R> struct Unbox;
template <> struct Unbox<Tensor> { static Tensor from(PyObject* o); };
template <> struct Unbox<std::vector<Tensor>> { static std::vector<Tensor> from(PyObject* o); };
template <> struct Unbox<bool> { static bool from(PyObject* o); };
template <> struct Unbox<int64_t> { static int64_t from(PyObject* o); };
template <> struct Unbox<double> { static double from(PyObject* o); };
template <> struct Unbox<Scalar> { static Scalar from(PyObject* o); };
template <> struct Unbox<void> {
  static void from(PyObject* o) { Py_DECREF(o); }
};
template <class... Ts> struct Unbox<std::tuple<Ts...>> {
  static std::tuple<Ts...> from(PyObject* o) {
    std::vector<Tensor> list = Unbox<std::vector<Tensor>>::from(o);
    if (list.size() != sizeof...(Ts))
      fail(ErrorKind::Type, "an op handler returned ", list.size(), " tensors where ", sizeof...(Ts), " are expected");
    return take(list, std::make_index_sequence<sizeof...(Ts)>());
  }
  template <size_t... I> static std::tuple<Ts...> take(std::vector<Tensor>& list, std::index_sequence<I...>) {
    return {std::move(list[I])...};
  }
};
}  // namespace boxing

PyObject* call_handler(OpRecord& op, PyObject* args);  // steals args

template <class R, class... Args> [[gnu::cold, gnu::noinline]] R intercept(OpRecord& op, const Args&... args) {
  PyObject* items[] = {boxing::box(args)..., nullptr};
  PyObject* tuple = checked(PyTuple_New(sizeof...(Args)));
  for (size_t i = 0; i < sizeof...(Args); ++i) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), items[i]);
  return boxing::Unbox<R>::from(call_handler(op, tuple));
}

template <class... Args> const Tensor& intercept_inplace(OpRecord& op, const Tensor& self, const Args&... args) {
  intercept<Tensor>(op, args...);
  return self;
}

void push_handler(PyObject* callable, bool functions);
PyObject* pop_handler();  // new reference to the callable
void init_intercept(PyObject* module);

}  // namespace retrograd
