// The one point of interception. Each thread has a stack of handlers; while it is empty an op pays a load and a branch. A handler is a
// Python callable handler(op, args, kwargs): `op` is the table entry as a callable, calling it continues below this handler.
// While a handler runs it is off the stack, so what it calls is not intercepted by itself; but when it calls an op that is made of others
// (a composite), it is back for those, so that a logger or a tracer sees everything down to the leaves.
//
// Three kinds share the stack. Op handlers see every op of the table, also those that derivatives and composites call. Function handlers
// (__torch_function__ modes) see calls from Python with their original arguments, at the binding (see python/torch_function.h). A batch
// handler is a level of vmap: it computes what a kernel would, for ops on tensors that are batched at its level; composites run as they
// are and recording and tangents happen above it, on the batched tensors, so that each transform sees what was made inside it.
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "autograd/tangent.h"
#include "core/format.h"
#include "core/state.h"
#include "core/tensor.h"
#include "ops/record.h"
#include "python/wrap.h"

namespace retrograd {

struct Generator;

enum class HandlerKind : uint8_t { Op, Function, Batch };

struct Handler {
  PyObject* callable;  // owned
  HandlerKind kind;
  int32_t level;        // Batch
  uint32_t dual_level;  // the newest forward-mode level outside of it
  Handler* next;
};

// The innermost handler that may see ops.
inline Handler* op_handler() {
  Handler* h = thread_state.handlers;
  while (h && h->kind == HandlerKind::Function) h = h->next;
  return h;
}

// Whether an op handler is to see this op. Not when it has just called this very op, a composite: then it sees the parts instead.
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

// Whether a level of vmap has to do with an op on these arguments.
inline bool concerns(int32_t level, const Tensor& t) { return t && is_batched(t.get(), level); }
inline bool concerns(int32_t level, const Operand& o) { return o.tensor && is_batched(o.tensor, level); }
inline bool concerns(int32_t level, std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (concerns(level, t)) return true;
  return false;
}
template <class T> bool concerns(int32_t, const T&) { return false; }

// Takes a handler, and those inside it, off the stack for a while. Below a vmap the forward-mode levels that were entered inside it do not
// exist: their tangents may be tensors of that vmap.
struct Below {
  Handler* saved = thread_state.handlers;
  uint32_t after = thread_state.hidden_after, until = thread_state.hidden_until;
  explicit Below(Handler* h) {
    set_handlers(h->next);
    if (h->kind != HandlerKind::Batch || !thread_state.dual_levels) return;
    thread_state.hidden_after = h->dual_level;
    thread_state.hidden_until = newest_dual_level();
  }
  ~Below() {
    set_handlers(saved);
    thread_state.hidden_after = after;
    thread_state.hidden_until = until;
  }
};

// Whether arguments have tangents of forward-mode levels inside this vmap.
template <class... Args> bool moves(const Handler* h, const Args&... args) {
  if (!any_tangent(args...)) return false;
  for (const uint32_t level : levels_of(args...))
    if (level > h->dual_level) return true;
  return false;
}

// A tensor of a vmap that is not running: nobody can compute with it.
inline bool outlived(const Tensor& t) { return t && t->has(kBatched); }
inline bool outlived(const Operand& o) { return o.tensor && o.tensor->has(kBatched); }
inline bool outlived(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (outlived(t)) return true;
  return false;
}
template <class T> bool outlived(const T&) { return false; }
template <class... Args> void check_not_outlived(const Args&... args) {
  RG_CHECK(!(outlived(args) || ...),
           "Either your tensor may have escaped from inside a function being vmapped and this is a user error, or its vmap runs in another "
           "thread: a Tensor made inside vmap can be used there only. Return it from the function instead.");
}

extern thread_local constinit bool tangents_are_taken_care_of;  // of the op that is entered next

// An op while something is active: handlers or forward mode. `whole` is the op itself, `kernel` what computes it, `rule` its forward rule.
// `done`: the result is final; otherwise it was computed and is still to be recorded.
template <class R, class... A>
[[gnu::cold, gnu::noinline]] R attend(bool& done, OpRecord& op, R (*whole)(A...), R (*kernel)(A...),
                                      std::type_identity_t<void (*)(const R&, A...)> rule, std::type_identity_t<A>... args) {
  const bool tangents = !std::exchange(tangents_are_taken_care_of, false);
  if (intercepts(op)) {
    done = true;
    return intercept<R>(op, args...);
  }
  Handler* h = op_handler();
  if (!h) check_not_outlived(args...);
  if (h && !op.random && !(concerns(h->level, args) || ...) && !(tangents && rule && moves(h, args...))) {
    done = true;
    const Below below(h);
    return whole(args...);
  }
  if (tangents && rule && any_tangent(args...)) {
    done = true;
    tangents_are_taken_care_of = true;
    R result = whole(args...);
    rule(result, args...);
    return result;
  }
  return h ? intercept<R>(op, args...) : kernel(args...);
}

// The same for a write in place: true when everything is done.
template <class... A>
[[gnu::cold, gnu::noinline]] bool attend_inplace(OpRecord& op, const Tensor& (*whole)(A...), std::type_identity_t<A>... args) {
  if (intercepts(op)) {
    intercept<Tensor>(op, args...);
    return true;
  }
  Handler* h = op_handler();
  if (!h) check_not_outlived(args...);
  if (!h || op.random || (concerns(h->level, args) || ...) || moves(h, args...)) return false;
  const Below below(h);
  whole(args...);
  return true;
}

// Whether a level of vmap has made the write.
template <class... Args> [[gnu::cold, gnu::noinline]] bool batch_writes(OpRecord& op, const Args&... args) {
  Handler* h = op_handler();
  if (!h) return false;
  if (h->kind == HandlerKind::Batch && !op.random && !(concerns(h->level, args) || ...)) {
    const Below below(h);
    return batch_writes(op, args...);
  }
  intercept<Tensor>(op, args...);
  return true;
}

void push_handler(PyObject* callable, HandlerKind kind, int32_t level = 0);
PyObject* pop_handler();  // new reference to the callable
void init_intercept(PyObject* module);

}  // namespace retrograd
