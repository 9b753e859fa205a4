#include "autograd/engine.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "autograd/doctor.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "autograd/layers.h"
#include "autograd/sparse.h"
#include "autograd/untracked.h"
#include "core/events.h"
#include "core/stack.h"
#include "core/state.h"

namespace retrograd {

EngineHooks engine_hooks = {};
PyTypeObject* sparse_type = nullptr;
Tensor (*call_sparse)(const char* function, const Tensor& a, const Tensor& b) = nullptr;
bool anomaly_enabled = false;
bool anomaly_check_nan = true;

namespace {

struct Scratch {
  uint32_t pending = 0;
  bool needed = false, searched = false;
  TensorImpl* buffer = nullptr;  // for several outputs: an array of num_outputs pointers
};

struct Capture {
  Node* node;
  uint32_t nr;
  size_t index;
};

std::vector<GraphTask*> running;  // all threads; guarded by the GIL
uint32_t last_task_id = 0;
bool ids_come_again = false;  // after 2^32 runs

// Where recent runs were called from, so that an error about a freed graph can name the line that freed it.
struct RunRecord {
  uint32_t id;
  Site site;
};
RunRecord recent_runs[1024];

void record_run(uint32_t id) {
  RunRecord& r = recent_runs[id % std::size(recent_runs)];
  Py_XDECREF(reinterpret_cast<PyObject*>(r.site.code));
  r = {id, current_site()};
}

}  // namespace

struct GraphTask {
  uint32_t id;
  RunOptions options;
  GraphTask* outer;    // the backward this one was started from, on the same thread
  uint32_t depth = 0;  // how many of those there are
  Node* current = nullptr;
  std::vector<Node*> heap;                  // ready nodes
  std::unordered_map<Node*, Scratch> side;  // nodes whose own scratch belongs to another run
  std::vector<Capture> captures;
  std::vector<Tensor> captured;
  std::vector<PyObject*> callbacks;

  GraphTask(RunOptions o);
  ~GraphTask();

  bool owns(const Node* n) const { return n->task == id; }
  bool visit(Node* n);   // true on the first visit
  bool search(Node* n);  // likewise, of find_needed()
  uint32_t& pending(Node* n) { return RG_LIKELY(owns(n)) ? n->pending : side[n].pending; }
  TensorImpl*& buffer(Node* n) { return RG_LIKELY(owns(n)) ? n->buffer : side[n].buffer; }
  bool reaches(Node* n) const { return owns(n) || side.count(n); }
  bool needed(Node* n) {
    if (RG_LIKELY(owns(n))) return n->has(kNeeded);
    auto it = side.find(n);
    return it != side.end() && it->second.needed;
  }
  void set_needed(Node* n) {
    if (owns(n)) {
      n->flags |= kNeeded;
    } else {
      side[n].needed = true;
    }
  }

  // Whether to run a node: with inputs, only what leads to one of them. backward(inputs=...) runs the nodes of the inputs too, as PyTorch
  // does: the AccumulateGrad of a leaf must run, and that of an inner tensor may have hooks.
  bool executes(Node* n) {
    if (RG_LIKELY(!options.has_inputs)) return true;
    if (options.accumulate) return needed(n);
    for (size_t i = 0; i < n->num_edges; ++i)
      if (n->edges[i].node && needed(n->edges[i].node)) return true;
    return false;
  }

  void count(std::span<const Edge> roots);
  void find_needed(std::span<const Edge> roots);
  void add(Node* n, uint32_t nr, Tensor grad);
  void push(Node* n);
  Node* pop();
  void run_node(Node* n);
  void run_recorded(Node* n);
  void run();
  void clean_up(std::span<const Edge> roots) noexcept;
};

namespace {

thread_local GraphTask* current_task = nullptr;

bool is_running(uint32_t id) {
  for (const GraphTask* t : running)
    if (t->id == id) return true;
  return false;
}

bool older(const Node* a, const Node* b) { return a->sequence < b->sequence; }

// Adds into the buffer in place when nobody else can see it.
bool may_add_inplace(const TensorImpl* t) {
  return Py_REFCNT(reinterpret_cast<const PyObject*>(t)) == 1 && t->storage->refs == 1 && !t->grad_fn && !t->base && t->is_contiguous() &&
         !(t->storage->flags & (kStorageExternal | kStorageExported)) && !is_sparse(t);
}

void accumulate_into(TensorImpl*& slot, Tensor grad) {
  if (!slot) {
    slot = grad.release();
    return;
  }
  Tensor old = Tensor::steal(slot);
  slot = nullptr;
  if (!thread_state.grad_mode && RG_LIKELY(!has_layers(old, grad)) && same_sizes(old.get(), grad.get()) && old.dtype() == grad.dtype()) {
    if (may_add_inplace(old.get())) {
      engine_ops.add_inplace(old, grad);
      slot = old.release();
      return;
    }
    if (may_add_inplace(grad.get())) {
      engine_ops.add_inplace(grad, old);
      slot = grad.release();
      return;
    }
  }
  slot = engine_ops.add(old, grad).release();
}

TensorImpl** buffer_array(Node* n, TensorImpl*& buffer) {
  if (!buffer) buffer = static_cast<TensorImpl*>(PyMem_Calloc(n->num_outputs, sizeof(TensorImpl*)));
  return reinterpret_cast<TensorImpl**>(buffer);
}

void free_buffer(Node* n, TensorImpl*& buffer) {
  if (!buffer) return;
  if (n->num_outputs == 1) {
    Py_DECREF(buffer->object());
  } else {
    auto** array = reinterpret_cast<TensorImpl**>(buffer);
    for (size_t i = 0; i < n->num_outputs; ++i) Py_XDECREF(reinterpret_cast<PyObject*>(array[i]));
    PyMem_Free(array);
  }
  buffer = nullptr;
}

}  // namespace

GraphTask::GraphTask(RunOptions o) : options(o), outer(current_task), depth(outer ? outer->depth + 1 : 0) {
  do {
    if (++last_task_id == 0) {
      ++last_task_id;
      ids_come_again = true;
    }
  } while (RG_UNLIKELY(ids_come_again) && is_running(last_task_id));
  id = last_task_id;
  heap.reserve(32);
  running.push_back(this);
  current_task = this;
  record_run(id);
}

GraphTask::~GraphTask() {
  current_task = outer;
  running.erase(std::find(running.rbegin(), running.rend(), this).base() - 1);
  for (PyObject* callback : callbacks) Py_DECREF(callback);
}

bool GraphTask::visit(Node* n) {
  if (owns(n)) return false;
  if (RG_UNLIKELY(n->task != 0 && is_running(n->task))) return side.try_emplace(n).second;
  n->task = id;
  n->pending = 0;
  n->buffer = nullptr;
  n->flags &= static_cast<uint16_t>(~(kNeeded | kSearched));
  return true;
}

bool GraphTask::search(Node* n) {
  if (RG_UNLIKELY(!owns(n))) return !std::exchange(side[n].searched, true);
  if (n->has(kSearched)) return false;
  n->flags |= kSearched;
  return true;
}

void GraphTask::count(std::span<const Edge> roots) {
  std::vector<Node*>& stack = heap;  // empty before and after
  for (const Edge& root : roots)
    if (root.node && visit(root.node)) stack.push_back(root.node);
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    for (size_t i = 0; i < n->num_edges; ++i) {
      Node* next = n->edges[i].node;
      if (!next) continue;
      if (visit(next)) stack.push_back(next);
      ++pending(next);
    }
  }
}

// Marks the nodes from which a captured edge can be reached: post-order, each node after everything behind it.
void GraphTask::find_needed(std::span<const Edge> roots) {
  for (const Capture& c : captures)
    if (reaches(c.node)) set_needed(c.node);
  struct Frame {
    Node* node;
    size_t next;
  };
  std::vector<Frame> stack;
  stack.reserve(32);
  for (const Edge& root : roots) {
    if (!root.node || !search(root.node)) continue;
    stack.push_back({root.node, 0});
    while (!stack.empty()) {
      Frame& f = stack.back();
      if (f.next < f.node->num_edges) {
        Node* next = f.node->edges[f.next++].node;
        if (next && search(next)) stack.push_back({next, 0});
        continue;
      }
      for (size_t i = 0; i < f.node->num_edges; ++i)
        if (Node* next = f.node->edges[i].node; next && needed(next)) set_needed(f.node);
      stack.pop_back();
    }
  }
}

void GraphTask::add(Node* n, uint32_t nr, Tensor grad) {
  TensorImpl*& b = buffer(n);
  if (RG_LIKELY(n->num_outputs == 1)) {
    accumulate_into(b, std::move(grad));
  } else {
    accumulate_into(buffer_array(n, b)[nr], std::move(grad));
  }
}

void GraphTask::push(Node* n) {
  heap.push_back(n);
  if (heap.size() > 1) std::push_heap(heap.begin(), heap.end(), older);
}

Node* GraphTask::pop() {
  if (heap.size() > 1) std::pop_heap(heap.begin(), heap.end(), older);
  Node* n = heap.back();
  heap.pop_back();
  return n;
}

namespace {

[[gnu::noinline]] void apply_conjugated(Call& call) {
  std::vector<Tensor> in(call.in.begin(), call.in.end());  // hooks see the gradients as they came
  for (Tensor& grad : in)
    if (grad && is_complex(grad.dtype())) grad = engine_ops.conj(grad);
  Call inner = call;
  inner.in = in;
  call.node->info->apply(inner);
  for (Tensor& grad : call.out)
    if (grad && is_complex(grad.dtype())) grad = engine_ops.conj(grad);
}

// Derivatives in the table are written as for real numbers: the incoming gradient times the derivative. Of a holomorphic function the gradient
// is that with the derivative conjugated, which is the same formula with conjugates going in and coming out.
inline void apply_formulas(Call& call) {
  if (RG_UNLIKELY(sparse_type != nullptr) && !(call.node->flags & (kPython | kTopological)))
    for (Tensor& grad : call.in)
      if (is_sparse(grad)) grad = call_sparse("to_dense", grad, {});
  if (RG_UNLIKELY(call.node->info->conjugates))
    for (const Tensor& grad : call.in)
      if (RG_UNLIKELY(grad && is_complex(grad.dtype()))) return apply_conjugated(call);
  call.node->info->apply(call);
}

int64_t event_number(const Node* n) { return n->sequence == UINT64_MAX ? -1 : static_cast<int64_t>(n->sequence); }

// The node's own event, inside the one of all that is done about it.
[[gnu::cold, gnu::noinline]] void apply_recorded(Call& call) {
  const OpenEvent event(EventKind::Node, call.node->info, event_number(call.node));
  if (EventLog& log = *thread_state.log; log.wanted.arguments) {
    log.note_count(event.event(), call.in.size());
    for (const Tensor& grad : call.in) log.note_tensor(grad.get());
  }
  apply_formulas(call);
}

}  // namespace

void apply_node(Call& call) {
  if (RG_UNLIKELY(thread_state.log != nullptr)) return apply_recorded(call);
  apply_formulas(call);
}

void finish_outputs(Node* n, std::span<Tensor> out) {
  if (RG_LIKELY(!n->extra || n->extra->shapes.empty())) return;
  const auto& shapes = n->extra->shapes;
  for (size_t i = 0; i < shapes.size() && i < out.size(); ++i) {
    const InputShape* shape = shapes[i];
    if (!shape || !out[i]) continue;
    const IntSpan sizes{shape->sizes, shape->ndim};
    if (!same_sizes(out[i].sizes(), sizes)) out[i] = engine_ops.sum_to(out[i], sizes);
    if (out[i].dtype() != shape->dtype && !takes_dtype(n->edges[i].node, out[i].dtype(), shape->dtype))
      out[i] = engine_ops.cast(out[i], shape->dtype);
  }
}

namespace {

// The gradients that a node gets, or gives: mostly one or two.
class Gradients {
 public:
  explicit Gradients(size_t count) : count_(count) {
    if (RG_UNLIKELY(count > kFew)) many_ = std::make_unique_for_overwrite<Slot[]>(count);
    std::uninitialized_value_construct_n(data(), count);
  }
  ~Gradients() { std::destroy_n(data(), count_); }
  Gradients(const Gradients&) = delete;
  std::span<Tensor> all() { return {data(), count_}; }

 private:
  static constexpr size_t kFew = 8;
  struct Slot { alignas(Tensor) std::byte bytes[sizeof(Tensor)]; };
  Tensor* data() { return reinterpret_cast<Tensor*>(many_ ? many_.get() : few_); }
  size_t count_;
  std::unique_ptr<Slot[]> many_;
  Slot few_[kFew];
};

}  // namespace

void GraphTask::run_node(Node* n) {
  Gradients given(n->num_outputs), made(n->num_edges);
  const std::span<Tensor> in = given.all(), out = made.all();

  TensorImpl*& b = buffer(n);
  if (n->num_outputs == 1) {
    in[0] = Tensor::steal(std::exchange(b, nullptr));
  } else if (b) {
    auto** array = reinterpret_cast<TensorImpl**>(b);
    for (size_t i = 0; i < n->num_outputs; ++i) in[i] = Tensor::steal(array[i]);
    PyMem_Free(array);
    b = nullptr;
  }

  current = n;
  if (RG_UNLIKELY(n->extra != nullptr)) engine_hooks.arrive(n, in);
  if (n->has(kTopological)) {
    TensorImpl* leaf = static_cast<AccumulateGrad*>(n)->variable;
    if (RG_UNLIKELY(leaf && leaf->extra)) {
      if (in[0]) in[0] = as_grad_dtype(in[0], leaf);
      if (leaf->extra->hooks) engine_hooks.leaf(leaf, in[0]);
    }
  }
  if (options.has_inputs && !options.accumulate) {
    for (const Capture& c : captures)
      if (c.node == n) captured[c.index] = in[c.nr];
  }
  if (executes(n)) {
    if (RG_UNLIKELY(n->extra != nullptr)) engine_hooks.before(n, in);
    bool any = n->flags & (kPython | kTopological);  // all others give nothing for nothing
    for (size_t i = 0; i < in.size() && !any; ++i) any = in[i].defined();
    if (any) {
      Call call{n, in, out, this, options.keep_graph, n};
      apply_node(call);
    }
    if (RG_UNLIKELY(n->extra != nullptr)) {
      finish_outputs(n, out);
      engine_hooks.after(n, out, in);
    }
    if (RG_UNLIKELY(anomaly_enabled)) engine_hooks.anomaly(n, out);
    if (RG_UNLIKELY(doctor.nodes)) engine_hooks.watched(n, out, in);
    if (RG_UNLIKELY(n->info->steep) && doctor.on) look_at_steep(n, out, in);
    if (!options.keep_graph) {
      release_saved(n);
      n->freed_by = id;
    }
  }
  if (!in.empty()) in[0].reset();  // so that what it is passed on as may be written to

  for (size_t i = 0; i < n->num_edges; ++i) {
    Node* next = n->edges[i].node;
    if (!next) continue;
    if (RG_UNLIKELY(options.has_inputs) && !needed(next)) continue;  // nor is anything behind it
    if (out[i]) add(next, n->edges[i].nr, std::move(out[i]));
    if (--pending(next) == 0) push(next);
  }
}

[[gnu::cold, gnu::noinline]] void GraphTask::run_recorded(Node* n) {
  const OpenEvent event(EventKind::Evaluate, n->info, event_number(n));
  run_node(n);
}

void GraphTask::run() {
  uint32_t since_check = 0;
  try {
    while (!heap.empty()) {
      if (RG_LIKELY(!thread_state.log)) {
        run_node(pop());
      } else {
        run_recorded(pop());
      }
      // Hooks and custom functions may have switched gradients on or off; each node starts as the run did.
      if (RG_UNLIKELY(thread_state.grad_enabled != options.create_graph)) set_grad_mode(options.create_graph);
      if (RG_UNLIKELY(++since_check == 512)) {
        since_check = 0;
        if (PyErr_CheckSignals() != 0) throw PythonError();
      }
    }
  } catch (...) {
    engine_hooks.explain(current);
  }
}

// After an error: gradients that were on their way are dropped, so that the graph can be run again.
void GraphTask::clean_up(std::span<const Edge> roots) noexcept {
  std::vector<Node*> stack;
  auto visit_once = [&](Node* n) {
    if (!owns(n)) return;
    free_buffer(n, n->buffer);
    n->task = 0;
    stack.push_back(n);
  };
  for (const Edge& root : roots)
    if (root.node) visit_once(root.node);
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    for (size_t i = 0; i < n->num_edges; ++i)
      if (n->edges[i].node) visit_once(n->edges[i].node);
  }
  for (auto& [node, scratch] : side) free_buffer(node, scratch.buffer);
}

bool Call::needs(size_t i) const {
  Node* next = edges_of->edges[i].node;
  return next && (!task->options.has_inputs || task->needed(next));
}

namespace {

// A backward that hooks, custom functions or recomputations start inside another may go on so: see core/stack.h.
constexpr uint32_t kDeepestNesting = 100'000;

bool wants_fresh_stack() {
  if (RG_LIKELY(!current_task)) return false;
  RG_CHECK_AS(Recursion, current_task->depth < kDeepestNesting, "maximum recursion depth exceeded: ", kDeepestNesting,
              " calls of backward() are running inside each other. Does a backward, a hook or an unpack hook call backward() without end?");
  return stack_runs_low();
}

std::vector<Tensor> run_here(std::span<const Edge> roots, std::span<const Tensor> grads, std::span<const Edge> inputs, RunOptions options) {
  GraphTask task(options);
  const RecordingScope mode(options.create_graph, Off::Backward, run_site(task.id));
  try {
    task.count(roots);
    if (options.has_inputs) {
      task.captured.resize(inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].node) task.captures.push_back({inputs[i].node, inputs[i].nr, i});
      task.find_needed(roots);
    }
    for (size_t i = 0; i < roots.size(); ++i) {
      if (!roots[i].node) continue;
      task.add(roots[i].node, roots[i].nr, grads[i]);
    }
    for (size_t i = 0; i < roots.size(); ++i) {
      Node* n = roots[i].node;
      if (!n || task.pending(n) != 0) continue;
      bool seen = false;
      for (size_t j = 0; j < i; ++j) seen |= roots[j].node == n;
      if (!seen) task.push(n);
    }
    task.run();
    for (size_t i = 0; i < task.callbacks.size(); ++i) engine_hooks.run_callback(task.callbacks[i]);
  } catch (...) {
    task.clean_up(roots);
    throw;
  }
  for (const Tensor& grad : task.captured)
    if (grad && Py_REFCNT(grad->object()) == 1) note_gradient(grad);  // another may be what the caller gave
  return std::move(task.captured);
}

std::vector<Tensor> run_single_here(Node* n, std::span<Tensor> in) {
  GraphTask task({.keep_graph = true, .create_graph = thread_state.grad_mode});
  std::vector<Tensor> out(n->num_edges);
  Call call{n, in, out, &task, true, n};
  apply_node(call);
  finish_outputs(n, out);
  return out;
}

}  // namespace

std::vector<Tensor> run_backward(std::span<const Edge> roots, std::span<const Tensor> grads, std::span<const Edge> inputs,
                                 RunOptions options) {
  if (RG_LIKELY(!wants_fresh_stack())) return run_here(roots, grads, inputs, options);
  std::vector<Tensor> result;
  on_fresh_stack([&] { result = run_here(roots, grads, inputs, options); });
  return result;
}

std::vector<Tensor> run_single(Node* n, std::span<Tensor> in) {
  if (RG_LIKELY(!wants_fresh_stack())) return run_single_here(n, in);
  std::vector<Tensor> result;
  on_fresh_stack([&] { result = run_single_here(n, in); });
  return result;
}

bool in_backward() { return current_task != nullptr; }
Node* current_node() { return current_task ? current_task->current : nullptr; }
bool run_has_inputs() { return current_task && current_task->options.has_inputs; }
bool run_keeps_graph() { return current_task && current_task->options.keep_graph; }
bool will_run(Node* n) {
  return current_task && current_task->reaches(n) && (!current_task->options.has_inputs || current_task->needed(n));
}
Site run_site(uint32_t id) {
  const RunRecord& r = recent_runs[id % std::size(recent_runs)];
  return id && r.id == id ? r.site : Site{};
}
uint32_t current_task_id() { return current_task ? current_task->id : 0; }

void queue_callback(PyObject* callback) {
  RG_CHECK(current_task,
           "Final callbacks can only be installed during backward pass.\n  Hint: queue_callback() belongs into a hook or into the backward "
           "of a Function.");
  GraphTask* task = current_task;
  while (task->outer) task = task->outer;
  Py_INCREF(callback);
  task->callbacks.push_back(callback);
}

}  // namespace retrograd
