// The one point of interception. Each thread has a stack of handlers; while it is empty an op pays a load and a branch. A handler is a
// Python callable handler(op, args, kwargs): `op` is the table entry as a callable, calling it continues below this handler.
// While a handler runs it is off the stack, so what it calls is not intercepted by itself; but when it calls an op that is made of others
// (a composite), it is back for those, so that a logger or a tracer sees everything down to the leaves.
//
// Three kinds share the stack. Op handlers see every op of the table, also those that derivatives and composites call. A look is one
// that computes nothing: ops run without it, and it is told of those that may matter to it (python/look.h). A batch
// handler is a level of vmap: it computes what a kernel would, for ops on tensors that are batched at its level; composites run as they
// are and recording and tangents happen above it, on the batched tensors, so that each transform sees what was made inside it.
// __torch_function__ modes are apart: they see calls from Python with their original arguments, at the binding, before any of this
// (python/torch_function.h).
//
// A handler is owned by whoever points to it: the stack, the handler above it, and whoever has taken it off the stack for a while. Python
// code that runs in between may push and pop as it likes.
#pragma once

#include <Python.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "autograd/node.h"
#include "autograd/tangent.h"
#include "core/events.h"
#include "core/format.h"
#include "core/state.h"
#include "core/tensor.h"
#include "ops/record.h"
#include "python/look.h"
#include "python/wrap.h"

namespace retrograd {

struct Generator;

enum class HandlerKind : uint8_t { Op, Look, Batch };

struct Handler {
  PyObject* callable;  // owned; a look's is called with the result, too, of what has run
  HandlerKind kind;
  int32_t level;        // Batch
  uint32_t dual_level;  // Batch: the last level of forward mode entered before it
  uint8_t transforms;   // Batch: the transforms that ran when it was entered, see Note [Captured tensors]
  Handler* next;        // owned
  uint32_t refs = 1;
};
inline Handler* retain(Handler* h) {
  if (h) ++h->refs;
  return h;
}
void release(Handler* h);

// Levels of forward mode nest with those of vmap. On the tensors of a vmap there are tangents of transforms inside it; those of transforms
// outside are on the tensors that it maps over, where the ops that its handler calls see them and nothing else.
inline void set_handler_stack(Handler* top) {  // takes over a reference, and leaves that of what was there to the caller
  Handler* const all = top;
  while (top && top->kind != HandlerKind::Batch) top = top->next;
  set_handlers(all, top != nullptr);
  thread_state.first_visible_level = top ? top->dual_level + 1 : 0;
}

// The innermost handler that may see ops.
inline Handler* op_handler() { return thread_state.handlers; }

// The innermost level of vmap, whoever watches inside it.
inline Handler* batch_handler() {
  Handler* h = thread_state.mapped ? thread_state.handlers : nullptr;
  while (h && h->kind != HandlerKind::Batch) h = h->next;
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
PyObject* box(OptInts v);
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

// A profile sees an op before handlers do: its function is called a second time, inside the event.
extern thread_local constinit const OpRecord* entered_op;  // the op whose function is about to be entered again
inline bool begins_event(const OpRecord& op) {
  if (RG_LIKELY(!thread_state.log)) return false;
  if (entered_op != &op) return true;
  entered_op = nullptr;
  return false;
}
inline void enter_again(const OpRecord& op) {
  if (RG_UNLIKELY(thread_state.log != nullptr)) entered_op = &op;
}
template <class... A> [[gnu::cold, gnu::noinline]] void note_arguments(const OpenEvent& event, const A&... args) {
  EventLog& log = *thread_state.log;
  log.note_count(event.event(), sizeof...(A));
  (note_argument(log, args), ...);
}
inline int64_t event_number() { return thread_state.grad_mode ? static_cast<int64_t>(next_sequence) : -1; }
template <class R, class... A>
[[gnu::cold, gnu::noinline]] R recorded(const OpRecord& op, R (*whole)(A...), std::type_identity_t<A>... args) {
  const OpenEvent event(EventKind::Op, &op, event_number());
  if (RG_UNLIKELY(thread_state.log->wanted.arguments)) note_arguments(event, args...);
  entered_op = &op;
  return whole(args...);
}

// Puts the running handler back on top while a composite that it called runs.
struct Reenter {
  Handler* below = nullptr;  // with the reference of the stack
  bool active = false;
  explicit Reenter(const OpRecord& op);
  ~Reenter();
};

template <class... Args> [[gnu::cold, gnu::noinline]] PyObject* boxed_tuple(const Args&... args) {
  PyObject* items[] = {boxing::box(args)..., nullptr};
  PyObject* tuple = checked(PyTuple_New(sizeof...(Args)));
  for (size_t i = 0; i < sizeof...(Args); ++i) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), items[i]);
  return tuple;
}
template <class R, class... Args> [[gnu::cold, gnu::noinline]] R intercept(OpRecord& op, const Args&... args) {
  return boxing::Unbox<R>::from(call_handler(op, boxed_tuple(args...)));
}

// Around an op that a look sees: it runs below, or, where it is made of others, so that the look sees those.
class LookedAt {
 public:
  explicit LookedAt(const OpRecord& op);
  ~LookedAt();
  LookedAt(const LookedAt&) = delete;

 private:
  Handler *top_, *outer_;
  bool below_;
};
void tell_look(OpRecord& op, PyObject* args, PyObject* result);  // steals both

// An op that a handler other than a level of vmap is to see.
template <class R, class... A> [[gnu::cold, gnu::noinline]] R intercepted(OpRecord& op, R (*whole)(A...), std::type_identity_t<A>... args) {
  constexpr bool kWrites = std::is_reference_v<R>;
  if (op_handler()->kind != HandlerKind::Look) {
    if constexpr (kWrites) {
      intercept<Tensor>(op, args...);
      return std::get<0>(std::tie(args...));
    } else {
      return intercept<R>(op, args...);
    }
  }
  const auto run = [&]() -> R {
    const LookedAt look(op);
    return whole(args...);
  };
  if constexpr (std::is_void_v<R>) {
    run();
  } else {
    R result = run();
    const SeenPart given[] = {seen_part(args)..., SeenPart{}};
    const auto tell = [&](const auto&... each) {
      const SeenPart made[] = {seen_part(each)...};
      if (RG_LIKELY(!matters(op, given, made))) return;
      if constexpr (sizeof...(each) == 1) {
        tell_look(op, boxed_tuple(args...), boxing::box(each...));
      } else {
        tell_look(op, boxed_tuple(args...), boxed_tuple(each...));
      }
    };
    if constexpr (requires { std::tuple_size<std::remove_cvref_t<R>>::value; }) {
      std::apply(tell, result);
    } else {
      tell(result);
    }
    return result;
  }
}

// Whether a level of vmap has to do with an op on these arguments: they are batched there, or their tangents are, as after a write in place
// to a tensor from outside the transform.
enum class Involved : uint8_t { None, Tangents, Samples };
inline Involved involved(const Handler* h, const TensorImpl* t) {
  if (!t) return Involved::None;
  return is_batched(t, h->level) ? Involved::Samples : has_tangent_after(h->dual_level, t) ? Involved::Tangents : Involved::None;
}
inline Involved involved(const Handler* h, const Tensor& t) { return involved(h, t.get()); }
inline Involved involved(const Handler* h, const Operand& o) { return involved(h, o.tensor); }
inline Involved involved(const Handler* h, std::span<const Tensor> list) {
  Involved most = Involved::None;
  for (const Tensor& t : list) most = std::max(most, involved(h, t));
  return most;
}
template <class T>
  requires(!std::is_convertible_v<T, const TensorImpl*>)
Involved involved(const Handler*, const T&) {
  return Involved::None;
}
template <class... Args> Involved most_involved(const Handler* h, const Args&... args) {
  Involved most = Involved::None;
  ((most = std::max(most, involved(h, args))), ...);
  return most;
}

// Takes a handler, and those inside it, off the stack for a while. Below a vmap the forward-mode levels that were entered inside it do not
// exist: their tangents may be tensors of that vmap.
struct Below {
  Handler* saved = thread_state.handlers;  // with the reference of the stack
  uint32_t visible = thread_state.last_visible_level;
  uint8_t depth = thread_state.transform_depth;
  explicit Below(const Handler* h) {
    set_handler_stack(retain(h->next));
    if (h->kind != HandlerKind::Batch) return;
    thread_state.last_visible_level = std::min(visible, h->dual_level);
    if (RG_UNLIKELY(h->transforms != depth)) set_transform_depth(std::min(depth, h->transforms));
  }
  ~Below() {
    Handler* left = thread_state.handlers;
    set_handler_stack(saved);
    thread_state.last_visible_level = visible;
    if (RG_UNLIKELY(thread_state.transform_depth != depth)) set_transform_depth(depth);
    release(left);  // last: it may run Python code
  }
};

// A tensor of a vmap that is not running: nobody can compute with it.
inline bool escaped(const Tensor& t) { return t && t->has(kBatched); }
inline bool escaped(const Operand& o) { return o.tensor && o.tensor->has(kBatched); }
inline bool escaped(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (escaped(t)) return true;
  return false;
}
template <class T> bool escaped(const T&) { return false; }
// Whether transforms have put something on any of these.
template <class... Args> bool any_layered(const Args&... args) { return (escaped(args) || ...) || any_tangent(args...); }
// Whether an op on these arguments is for its kernel alone, although something is active.
template <class... Args> [[gnu::cold, gnu::noinline]] bool is_plain(const OpRecord& op, const Args&... args) {
  thread_state.op = op.name;
  if (op_handler() || any_layered(args...) || (thread_state.log && entered_op != &op)) return false;
  entered_op = nullptr;
  return true;
}
template <class... Args> void check_not_escaped(const Args&... args) {
  RG_CHECK(!(escaped(args) || ...),
           "Either your tensor may have escaped from inside a function being vmapped and this is a user error, or its vmap runs in another "
           "thread: a Tensor made inside vmap can be used there only. Return it from the function instead.");
}

// Results that were computed below a level of vmap, as a transform inside that vmap gets them: they were made inside the transform, see
// Note [Captured tensors], unless they share the memory of an argument; and they belong to the level, so that a write to one of them
// is recorded for this transform here, and for those outside the vmap where the handler writes.
struct Adoption {
  const Handler* handler;
  std::vector<const TensorImpl*> arguments;
  void add(const Tensor& t) {
    if (t) arguments.push_back(t.get());
  }
  void add(const Operand& o) {
    if (o.tensor) arguments.push_back(o.tensor);
  }
  void add(std::span<const Tensor> list) {
    for (const Tensor& t : list) add(t);
  }
  template <class T> void add(const T&) {}

  void apply(Tensor& result) const;
  void apply(std::vector<Tensor>& results) const {
    for (Tensor& t : results) apply(t);
  }
  template <class... Ts> void apply(std::tuple<Ts...>& results) const {
    std::apply([&](auto&... each) { (apply(each), ...); }, results);
  }
  template <class T> void apply(T&) const {}
};
template <class R, class... Args> R adopted(const Handler* h, R result, const Args&... args) {
  if (RG_LIKELY(!h || h->kind != HandlerKind::Batch || h->transforms >= thread_state.transform_depth)) return result;
  Adoption adoption{h, {}};
  (adoption.add(args), ...);
  adoption.apply(result);
  return result;
}

PyObject* adopted_outputs(const Handler* h, PyObject* outputs, PyObject* const* args, Py_ssize_t nargs);  // of a Function; steals them

extern thread_local constinit bool tangents_are_taken_care_of;  // of the op that is entered next

// An op while something is active: handlers or forward mode. `whole` is the op itself, `kernel` what computes it, `rule` its forward rule.
// `done`: the result is final; otherwise it was computed and is still to be recorded.
template <class R, class... A>
[[gnu::cold, gnu::noinline]] R run_intercepted(bool& done, OpRecord& op, R (*whole)(A...), R (*kernel)(A...),
                                               std::type_identity_t<void (*)(const R&, A...)> rule, std::type_identity_t<A>... args) {
  if (begins_event(op)) {
    if (RG_LIKELY(!op_handler() && !saved_hooks_depth) &&
        !any_layered(args...)) {  // nobody but a profile: the kernel is all there is to see
      const OpenEvent event(EventKind::Op, &op, event_number());
      if (RG_UNLIKELY(thread_state.log->wanted.arguments)) note_arguments(event, args...);
      return kernel(args...);
    }
    done = true;
    return recorded(op, whole, args...);
  }
  const bool tangents = !std::exchange(tangents_are_taken_care_of, false);
  thread_state.op = op.name;
  if (intercepts(op)) {
    done = true;
    return intercepted(op, whole, args...);
  }
  Handler* h = op_handler();
  if (!h) check_not_escaped(args...);
  if (const Involved most = h && !op.random ? most_involved(h, args...) : Involved::Samples; most != Involved::Samples) {
    done = true;
    const auto run = [&] {
      const Below below(h);
      enter_again(op);
      return whole(args...);
    };
    R result = adopted(h, run(), args...);
    if (most != Involved::None && tangents && rule) rule(result, args...);
    return result;
  }
  if (tangents && rule && any_tangent(args...)) {
    done = true;
    tangents_are_taken_care_of = true;
    enter_again(op);
    R result = whole(args...);
    rule(result, args...);
    return result;
  }
  return h ? adopted(h, intercept<R>(op, args...), args...) : kernel(args...);
}

inline void check_not_captured(const Tensor& self, const auto&...) {
  if (is_captured(self.get())) refuse_captured();
}

// The same for a write in place: true when everything is done.
template <class... A>
[[gnu::cold, gnu::noinline]] bool write_intercepted(OpRecord& op, const Tensor& (*whole)(A...), std::type_identity_t<A>... args) {
  if (begins_event(op)) {
    recorded(op, whole, args...);
    return true;
  }
  thread_state.op = op.name;
  if (intercepts(op)) {
    intercepted(op, whole, args...);
    return true;
  }
  Handler* h = op_handler();
  if (!h) check_not_escaped(args...);
  if (!h || op.random || most_involved(h, args...) != Involved::None) return false;
  check_not_captured(args...);
  const Below below(h);
  enter_again(op);
  whole(args...);
  return true;
}

// A write, inside a vmap, to a tensor that does not belong to it is recorded where the handler writes, on the tensors that are mapped over, for
// transforms outside. One inside could not follow it; what is made by ops inside a transform belongs to the vmap, see Adoption.
bool reaches_inside(int32_t level, const TensorImpl* t);  // whether a leaf of a transform inside the vmap is behind a tensor
[[noreturn]] void refuse_inside();
template <class... Args> [[gnu::cold, gnu::noinline]] bool records_below(const Tensor& self, const Args&... args) {
  const Handler* h = op_handler();
  if (!h || h->kind != HandlerKind::Batch || is_batched(self.get(), h->level)) return false;
  const auto check = [&]<class T>(const T& arg) {
    if constexpr (std::is_same_v<T, Tensor>) return arg && reaches_inside(h->level, arg.get());
    if constexpr (std::is_same_v<T, Operand>) return arg.tensor && reaches_inside(h->level, arg.tensor);
    if constexpr (std::is_convertible_v<T, std::span<const Tensor>>)
      for (const Tensor& t : std::span<const Tensor>(arg))
        if (t && reaches_inside(h->level, t.get())) return true;
    return false;
  };
  if (check(self) || (check(args) || ...)) refuse_inside();
  return true;
}

// Whether a level of vmap, or an op handler, has made the write.
template <class... Args> [[gnu::cold, gnu::noinline]] bool batch_writes(OpRecord& op, const Tensor& self, const Args&... args) {
  if (!op_handler()) return false;
  intercept<Tensor>(op, self, args...);
  return true;
}

// transforms.cpp
bool inside_transform();                 // whether vmap, grad, jvp or the like runs
Tensor lift_fresh(const Tensor& fresh);  // a tensor made from data: what a factory op gives at this point

void push_handler(PyObject* callable, HandlerKind kind, int32_t level = 0);
void push_watchers(const Handler* top, const Handler* level);  // those inside a level, again, for what runs below it
PyObject* pop_handler();                                       // new reference to the callable
void init_intercept(PyObject* module);

// op_object.cpp
PyObject* op_object(OpRecord& op);  // borrowed: as handlers get it
void register_op(OpRecord& op);     // that Python may ask for by name
void init_op_object(PyObject* module);

}  // namespace retrograd
