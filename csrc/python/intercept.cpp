#include "python/intercept.h"

#include <unordered_set>

#include "core/guards.h"
#include "ops/generator.h"
#include "python/autograd.h"
#include "python/bind.h"
#include "python/torch_function.h"
#include "python/types.h"

namespace retrograd {
namespace {

thread_local Handler* running = nullptr;                   // the handler whose Python code is running
thread_local const OpRecord* entered_composite = nullptr;  // the composite it has just called

}  // namespace

Reenter::Reenter(const OpRecord& op) {
  if (!op.composite || !running || running->next != thread_state.handlers) return;
  active = true;
  below = thread_state.handlers;
  set_handler_stack(retain(running));
  entered_composite = &op;
}

Reenter::~Reenter() {
  if (!active) return;
  Handler* left = thread_state.handlers;
  set_handler_stack(below);
  entered_composite = nullptr;
  release(left);
}

bool intercepts(const OpRecord& op) {
  if (RG_UNLIKELY(entered_composite == &op)) {
    entered_composite = nullptr;
    return false;
  }
  const Handler* h = op_handler();
  return h && h->kind != HandlerKind::Batch;
}

bool reaches_inside(int32_t level, const TensorImpl* t) {
  const auto is_inside = [&](const TensorImpl* leaf) { return is_batched(leaf, level) && !leaf->has(kPrivateLeaf); };
  if (t->has(kRequiresGrad)) return is_inside(t);
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const Node* n) {
    if (n && seen.insert(n).second) stack.push_back(n);
  };
  visit(grad_fn_of(const_cast<TensorImpl*>(t)));
  while (!stack.empty()) {
    const Node* n = stack.back();
    stack.pop_back();
    if (n->info == &accumulate_grad_info) {
      const TensorImpl* leaf = static_cast<const AccumulateGrad*>(n)->variable;
      if (leaf && is_inside(leaf)) return true;
    }
    for (size_t i = 0; i < n->num_edges; ++i) visit(n->edges[i].node);
  }
  return false;
}

void refuse_inside() {
  fail(ErrorKind::Runtime,
       "vmap: a write in place to a tensor that does not belong to this vmap, because it was made from memory outside (from_numpy, say), "
       "cannot be differentiated by a transform inside the vmap. Make it by an op, as in zeros(...) or x.new_zeros(...), or write out of "
       "place.");
}

namespace {
const TensorImpl* whole_of(const TensorImpl* t) {
  while (t->has(kBatched)) t = t->extra->batched;
  return t;
}
}  // namespace

void Adoption::apply(Tensor& result) const {
  if (!result) return;
  int depth = std::min<int>(thread_state.transform_depth, kDeepestBirth);
  for (const TensorImpl* argument : arguments) {
    if (argument == result.get()) return;
    if (whole_of(argument)->storage == whole_of(result.get())->storage) depth = std::min(depth, birth(argument));
  }
  if (!is_batched(result.get(), handler->level)) {
    const bool leaf = result->has(kRequiresGrad) && !result->grad_fn;  // made so by the op: it is this transform's to differentiate
    if (leaf) result->flags &= static_cast<uint16_t>(~kRequiresGrad);
    result = batched(result, -1, handler->level);
    if (leaf) result->flags |= kRequiresGrad;
  }
  set_birth(result.get(), depth);
}

PyObject* adopted_outputs(const Handler* h, PyObject* outputs, PyObject* const* args, Py_ssize_t nargs) {
  if (h->transforms >= thread_state.transform_depth) return outputs;
  Adoption adoption{h, {}};
  for (Py_ssize_t i = 0; i < nargs; ++i)
    if (is_tensor(args[i])) adoption.arguments.push_back(reinterpret_cast<TensorImpl*>(args[i]));
  const auto one = [&](PyObject* o) {
    if (!is_tensor(o)) return Py_NewRef(o);
    Tensor t = Tensor::borrow(o);
    adoption.apply(t);
    return wrap(std::move(t));
  };
  PyObject* out = nullptr;
  if (PyTuple_Check(outputs)) {
    out = checked(PyTuple_New(PyTuple_GET_SIZE(outputs)));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(outputs); ++i) PyTuple_SET_ITEM(out, i, one(PyTuple_GET_ITEM(outputs, i)));
  } else {
    out = one(outputs);
  }
  Py_DECREF(outputs);
  return out;
}

thread_local constinit bool tangents_are_taken_care_of = false;
thread_local constinit const OpRecord* entered_op = nullptr;

namespace {

thread_local PyObject* leaving = nullptr;  // borrowed: a handler that is to be taken off the stack as soon as it is on it again

PyObject* call_top(OpRecord& op, PyObject* args) {
  Handler* const top = op_handler();
  const Below below(top);
  const FunctionModesOff off;  // they have seen the call that led here
  // A level of vmap computes in place of the kernel, which autocast has no say in.
  const Reset<set_autocast, uint16_t> precision(thread_state.autocast,
                                                top->kind == HandlerKind::Batch ? uint16_t{0} : thread_state.autocast);
  Handler* const outer = std::exchange(running, top->kind != HandlerKind::Batch ? top : nullptr);
  PyObject* kwargs = PyDict_New();
  PyObject* result = PyObject_CallFunctionObjArgs(top->callable, op_object(op), args, kwargs, nullptr);
  running = outer;
  Py_DECREF(args);
  Py_XDECREF(kwargs);
  return checked(result);
}

}  // namespace

static void let_leave() {
  if (RG_LIKELY(!leaving) || !thread_state.handlers || thread_state.handlers->callable != leaving) return;
  leaving = nullptr;
  Py_DECREF(pop_handler());
}

PyObject* call_handler(OpRecord& op, PyObject* args) {
  PyObject* result = call_top(op, args);
  let_leave();
  return result;
}

LookedAt::LookedAt(const OpRecord& op) : top_(thread_state.handlers), outer_(running), below_(!op.composite) {
  enter_again(op);
  if (!below_) {
    entered_composite = &op;
    return;
  }
  set_handler_stack(retain(top_->next));  // top_ has the reference of the stack
  running = top_;
}

LookedAt::~LookedAt() {
  if (!below_) {
    entered_composite = nullptr;
    return;
  }
  Handler* left = thread_state.handlers;
  set_handler_stack(top_);
  running = outer_;
  release(left);
  let_leave();
}

void tell_look(OpRecord& op, PyObject* args, PyObject* result) {
  const Owned given(args), made(result);
  Handler* const top = op_handler();
  if (!top || top->kind != HandlerKind::Look) return;  // it has ended meanwhile
  PyObject* done;
  {
    const Below below(top);
    const FunctionModesOff off;
    const Restore outer(running, top);
    const Owned kwargs(checked(PyDict_New()));
    done = PyObject_CallFunctionObjArgs(top->callable, op_object(op), args, kwargs.get(), result, nullptr);
  }
  let_leave();
  Py_DECREF(checked(done));
}

void push_handler(PyObject* callable, HandlerKind kind, int32_t level) {
  set_handler_stack(new Handler{Py_NewRef(callable), kind, level, last_dual_level(), thread_state.transform_depth, thread_state.handlers});
}

void push_watchers(const Handler* top, const Handler* level) {
  std::vector<const Handler*> watchers;
  for (; top != level; top = top->next) watchers.push_back(top);
  for (; !watchers.empty(); watchers.pop_back()) push_handler(watchers.back()->callable, watchers.back()->kind);
}

void release(Handler* h) {
  while (h && --h->refs == 0) {
    Handler* next = h->next;
    PyObject* callable = h->callable;
    delete h;
    Py_DECREF(callable);
    h = next;
  }
}

PyObject* pop_handler() {
  Handler* top = thread_state.handlers;
  RG_CHECK(top, "the handler stack is empty");
  set_handler_stack(retain(top->next));
  PyObject* callable = Py_NewRef(top->callable);
  release(top);
  return callable;
}

namespace boxing {

PyObject* box(const Tensor& t) { return wrap(t); }
PyObject* box(const Operand& o) { return o.tensor ? Py_NewRef(o.tensor->object()) : wrap(o.scalar); }
PyObject* box(std::span<const Tensor> list) {
  PyObject* out = checked(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) PyList_SET_ITEM(out, static_cast<Py_ssize_t>(i), wrap(list[i]));
  return out;
}
PyObject* box(const Scalar& s) { return wrap(s); }
PyObject* box(int64_t v) { return wrap(v); }
PyObject* box(double v) { return wrap(v); }
PyObject* box(bool v) { return wrap(v); }
PyObject* box(IntSpan v) { return wrap_ints(v); }
PyObject* box(OptInts v) {
  if (!v) Py_RETURN_NONE;
  return wrap_ints(*v);
}
PyObject* box(DType v) { return wrap_dtype(v); }
PyObject* box(const Device& v) { return wrap_device(v); }
PyObject* box(MemoryFormat v) { return wrap_memory_format(v); }
PyObject* box(Layout v) { return wrap_layout(v); }
PyObject* box(std::string_view v) { return PyUnicode_FromStringAndSize(v.data(), static_cast<Py_ssize_t>(v.size())); }
PyObject* box(Generator* g) {
  if (!g) Py_RETURN_NONE;
  return Py_NewRef(reinterpret_cast<PyObject*>(g));
}

Tensor Unbox<Tensor>::from(PyObject* o) {
  const Owned held(o);
  if (o == Py_None) return {};
  RG_CHECK_AS(Type, is_tensor(o), "an op handler must return a Tensor here, got ", Py_TYPE(o)->tp_name);
  return Tensor::borrow(o);
}

std::vector<Tensor> Unbox<std::vector<Tensor>>::from(PyObject* o) {
  const Owned held(o);
  RG_CHECK_AS(Type, PyTuple_Check(o) || PyList_Check(o), "an op handler must return a tuple of Tensors here, got ", Py_TYPE(o)->tp_name);
  std::vector<Tensor> out;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i)
    out.push_back(Unbox<Tensor>::from(Py_NewRef(PySequence_Fast_GET_ITEM(o, i))));
  return out;
}

Scalar Unbox<Scalar>::from(PyObject* o) {
  const Owned held(o);
  Scalar s;
  RG_CHECK_AS(Type, read_scalar(o, s), "an op handler must return a number here, got ", Py_TYPE(o)->tp_name);
  return s;
}
bool Unbox<bool>::from(PyObject* o) { return Unbox<Scalar>::from(o).to_int() != 0; }
int64_t Unbox<int64_t>::from(PyObject* o) { return Unbox<Scalar>::from(o).to_int(); }
double Unbox<double>::from(PyObject* o) { return Unbox<Scalar>::from(o).to_double(); }

}  // namespace boxing

namespace {

PyObject* py_push(PyObject*, PyObject* callable) {
  push_handler(callable, HandlerKind::Op);
  Py_RETURN_NONE;
}
PyObject* py_push_look(PyObject*, PyObject* callable) {
  push_handler(callable, HandlerKind::Look);
  Py_RETURN_NONE;
}
PyObject* py_push_batch(PyObject*, PyObject* args) {
  PyObject* callable;
  int level;
  if (!PyArg_ParseTuple(args, "Oi", &callable, &level)) return nullptr;
  push_handler(callable, HandlerKind::Batch, level);
  Py_RETURN_NONE;
}
PyObject* py_pop(PyObject*, PyObject*) {
  try {
    return pop_handler();
  } catch (...) {
    set_python_error();
    return nullptr;
  }
}

// Takes a handler off the stack, wherever on it; what is above goes on above what is below. One that is running is taken off when it returns.
PyObject* py_drop(PyObject*, PyObject* callable) {
  Handler* above = nullptr;
  Handler* h = thread_state.handlers;
  for (; h && h->callable != callable; h = h->next) above = h;
  if (!h) {
    if (running && running->callable == callable) leaving = callable;
    Py_RETURN_NONE;
  }
  if (above) {
    above->next = retain(h->next);
    set_handler_stack(thread_state.handlers);
  } else {
    set_handler_stack(retain(h->next));
  }
  release(h);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"_drop_op_handler", py_drop, METH_O, "(handler): takes it off the stack, also from below others"},
                         {"_push_op_handler", py_push, METH_O, "handler(op, args, kwargs) sees every op of this thread until popped"},
                         {"_push_look", py_push_look, METH_O, "look(op, args, kwargs, result) is told of ops that may matter to it"},
                         {"_push_batch_handler", py_push_batch, METH_VARARGS, "(callable, level): enters a level of vmap"},
                         {"_pop_op_handler", py_pop, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_intercept(PyObject* module) {
  init_op_object(module);
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
