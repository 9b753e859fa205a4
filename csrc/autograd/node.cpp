#include "autograd/node.h"

#include <cstring>

#include "autograd/doctor.h"
#include "autograd/engine.h"
#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "core/pool.h"
#include "core/state.h"

namespace retrograd {

PyTypeObject* node_base_type = nullptr;
thread_local constinit const NodeInfo* newest_node = nullptr;
thread_local constinit uint64_t next_sequence = 0;

namespace {

static_assert(kSlotStep == 64 && kMinNodeLines == 2 && kMaxNodeLines == 8);
constexpr size_t kPools = kMaxNodeLines + 1;
constexpr size_t pooled_bytes(size_t lines) { return lines * kSlotStep - sizeof(GcHead); }
// By cache lines; no node takes fewer than two.
Pool pools[kPools] = {Pool(0),
                      Pool(0),
                      Pool(pooled_bytes(2)),
                      Pool(pooled_bytes(3)),
                      Pool(pooled_bytes(4)),
                      Pool(pooled_bytes(5)),
                      Pool(pooled_bytes(6)),
                      Pool(pooled_bytes(7)),
                      Pool(pooled_bytes(8))};

uint32_t current_step = 0;

template <class T> T* field(Node* node, const SavedField& f) { return reinterpret_cast<T*>(reinterpret_cast<char*>(node) + f.offset); }

// Nodes whose references are gone, waiting for their turn (see node_dealloc); linked through `sequence`, which a dead node does not need.
struct DyingNodes {
  Node* first;
  bool draining;

  void push(Node* node) {
    static_assert(sizeof(node->sequence) >= sizeof first);
    node->sequence = reinterpret_cast<uintptr_t>(first);
    first = node;
  }
  Node* pop() {
    Node* node = first;
    if (node) first = reinterpret_cast<Node*>(static_cast<uintptr_t>(node->sequence));
    return node;
  }
};
thread_local constinit DyingNodes dying = {};

void drop_edges(Node* node) {
  for (size_t i = 0; i < node->num_edges; ++i) Py_CLEAR(node->edges[i].node);
}

void free_extra(Node* node) {
  NodeExtra* e = node->extra;
  if (!e) return;
  node->extra = nullptr;
  for (PyObject* o : {e->dict, e->metadata, e->hooks, e->pre_hooks, e->tensor_hooks, e->retain_grad, e->forward_trace, e->parent})
    Py_XDECREF(o);
  for (InputShape* shape : e->shapes) PyMem_Free(shape);
  delete e;
}

void free_saved_fields(Node* node) {
  for (const SavedField& f : node->info->saved) {
    switch (f.kind) {
      case FieldKind::Tensor:
      case FieldKind::Operand: field<SavedTensor>(node, f)->release(); break;
      case FieldKind::TensorList: field<SavedTensorList>(node, f)->release(); break;
      default: break;
    }
  }
}

static_assert(offsetof(SavedOperand, tensor) == 0);

[[gnu::noinline]] void free_list(Node* node, const SavedField& f) {
  if (f.kind == FieldKind::TensorList) {
    field<SavedTensorList>(node, f)->release();
  } else {
    field<SavedInts>(node, f)->release();
  }
}

// The edge's reference is given up; a node nobody else holds dies after the one at hand.
inline void drop_edge(Edge& edge) {
  Node* next = std::exchange(edge.node, nullptr);
  if (!next) return;
  if (RG_UNLIKELY(Py_REFCNT(next->object()) != 1)) return Py_DECREF(next->object());
  Py_SET_REFCNT(next->object(), 0);
  if (gc_tracked(next->object())) PyObject_GC_UnTrack(next->object());
  dying.push(next);
}

// Frees one node whose references are gone. Nodes and tensors this lets go of may end up in node_dealloc again, which queues them.
void destroy(Node* node) {
  const NodeInfo& info = *node->info;
  if (RG_UNLIKELY(node->weakrefs != nullptr)) PyObject_ClearWeakRefs(node->object());
  for (const SavedField& f : info.saved) {
    if (RG_LIKELY(f.kind <= FieldKind::Operand)) {
      SavedTensor* saved = field<SavedTensor>(node, f);
      if (RG_UNLIKELY(saved->fingerprinted)) forget_fingerprint(*saved);
      if (TensorImpl* t = std::exchange(saved->tensor, nullptr)) {
        if (RG_LIKELY(!saved->packed)) drop_save(t->storage);
        Py_DECREF(t->object());
      }
      if (RG_UNLIKELY(saved->packed != nullptr)) Py_CLEAR(saved->packed);
    } else if (f.kind <= FieldKind::OptIntList) {
      free_list(node, f);
    }
  }
  if (RG_UNLIKELY(info.destroy != nullptr)) info.destroy(node);
  for (Edge& edge : std::span(node->edges, node->num_edges)) drop_edge(edge);
  if (RG_UNLIKELY(!info.edges_offset) && node->edges) PyMem_Free(node->edges);
  if (RG_UNLIKELY(node->extra != nullptr)) free_extra(node);
  Py_XDECREF(reinterpret_cast<PyObject*>(node->site.code));
  if (RG_LIKELY(node->pool < kPools)) {
    pools[node->pool].give(node->object());
  } else {
    PyMem_Free(reinterpret_cast<GcHead*>(node) - 1);
  }
}

}  // namespace

void advance_training_step() { ++current_step; }
uint32_t training_step() { return current_step; }

namespace {

// What a node is told at birth; all of it is zero before.
inline void start_node(Node* node, const NodeInfo& info, size_t num_edges, size_t num_outputs) {
  first_reference(node->object());
  Py_SET_TYPE(node->object(), info.type);
  node->info = &info;
  newest_node = &info;
  node->num_edges = static_cast<uint32_t>(num_edges);
  node->num_outputs = static_cast<uint32_t>(num_outputs);
  node->sequence = next_sequence++;
  node->step = current_step;
  if (RG_LIKELY(info.edges_offset)) {
    node->edges = reinterpret_cast<Edge*>(reinterpret_cast<char*>(node) + info.edges_offset);
  } else if (num_edges) {
    node->edges = static_cast<Edge*>(PyMem_Calloc(num_edges, sizeof(Edge)));
  }
  node->site = current_site();
  if (RG_UNLIKELY(track_everything)) PyObject_GC_Track(node->object());
  if (RG_UNLIKELY(anomaly_enabled)) engine_hooks.record(node);
}

// Stores instead of a loop, which the compiler would make a call of memset. Refcount and type are left out: they are set anyway.
template <size_t... kAt> inline void clear_node(PyObject* memory, std::index_sequence<kAt...>) {
  typedef long long Block __attribute__((vector_size(16), may_alias));
  static_assert(sizeof(PyObject) == sizeof(Block));
  auto* blocks = reinterpret_cast<Block*>(memory + 1);
  ((blocks[kAt] = Block{}), ...);
}

}  // namespace

template <size_t kLines> Node* new_node_of(const NodeInfo& info, size_t num_edges, size_t num_outputs) {
  if (RG_UNLIKELY(!info.type)) info.type = node_type_of(info);
  PyObject* memory = pools[kLines].take();
  clear_node(memory, std::make_index_sequence<pooled_bytes(kLines) / sizeof(PyObject) - 1>());
  auto* node = reinterpret_cast<Node*>(memory);
  node->pool = kLines;
  start_node(node, info, num_edges, num_outputs);
  return node;
}
template Node* new_node_of<2>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<3>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<4>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<5>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<6>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<7>(const NodeInfo&, size_t, size_t);
template Node* new_node_of<8>(const NodeInfo&, size_t, size_t);

Node* new_node(const NodeInfo& info, size_t num_edges, size_t num_outputs) {
  switch (node_lines(info.bytes)) {
    case 2: return new_node_of<2>(info, num_edges, num_outputs);
    case 3: return new_node_of<3>(info, num_edges, num_outputs);
    case 4: return new_node_of<4>(info, num_edges, num_outputs);
    case 5: return new_node_of<5>(info, num_edges, num_outputs);
    case 6: return new_node_of<6>(info, num_edges, num_outputs);
    case 7: return new_node_of<7>(info, num_edges, num_outputs);
    case 8: return new_node_of<8>(info, num_edges, num_outputs);
    default: break;
  }
  if (!info.type) info.type = node_type_of(info);
  auto* head = static_cast<GcHead*>(PyMem_Calloc(1, info.bytes + sizeof(GcHead)));
  if (!head) throw std::bad_alloc();
  auto* node = reinterpret_cast<Node*>(head + 1);
  node->pool = kPools;
  start_node(node, info, num_edges, num_outputs);
  return node;
}

void Node::set_edge_slow(size_t i, TensorImpl* input) {
  const Edge e = gradient_edge(input);
  if (!e.node) return;
  edges[i] = e;
  if (RG_UNLIKELY(e.node->has(kNodeMarked))) {
    flags |= kNodeMarked;
    if (!gc_tracked(object())) PyObject_GC_Track(object());
  }
}

NodeExtra& extra_of(Node* node) {
  if (!node->extra) node->extra = new NodeExtra();
  return *node->extra;
}

void remember_shape(Node* node, size_t edge, const TensorImpl* input) {
  auto& shapes = extra_of(node).shapes;
  if (shapes.size() <= edge) shapes.resize(edge + 1, nullptr);
  auto* shape = static_cast<InputShape*>(PyMem_Malloc(offsetof(InputShape, sizes) + sizeof(int64_t) * input->ndim));
  shape->dtype = input->dtype;
  shape->ndim = input->ndim;
  std::memcpy(shape->sizes, input->sizes(), sizeof(int64_t) * input->ndim);
  shapes[edge] = shape;
}

void release_saved(Node* node) {
  if (node->info->saved.empty() && !node->info->release_saved) return;
  node->flags |= kFreed;  // first: what is let go of may run Python, which finds nothing here any more
  free_saved_fields(node);
  if (node->info->release_saved) node->info->release_saved(node);
}

const char* node_name(const Node* node) { return node->info->name; }
std::string forward_name(const Node* node) {
  const std::string name = node_name(node);
  const size_t end = name.rfind("Backward");
  if (end == std::string::npos || name.find_first_not_of("0123456789", end + 8) != std::string::npos) return name;
  const std::string number = name.substr(end + 8);  // "Sum" for SumBackward0, "Sum1" for SumBackward1
  return name.substr(0, end) + (number == "0" ? "" : number);
}

void join_collector(Node* node) {
  if (node->has(kNodeMarked)) return;
  node->flags |= kNodeMarked;
  track_all_live();
  if (!gc_tracked(node->object())) PyObject_GC_Track(node->object());
}

size_t live_nodes() {
  size_t n = 0;
  for (const Pool& pool : pools) n += pool.live();
  return n;
}

void for_each_node(void (*f)(Node*, void*), void* context) {
  for (Pool& pool : pools)
    pool.for_each([&](PyObject* o) {
      if (Py_REFCNT(o) > 0) f(reinterpret_cast<Node*>(o), context);
    });
}

void init_nodes() {
  mark_node = [](Node* n) { n->flags |= kNodeMarked; };
  track_all_nodes = [] {
    for (Pool& pool : pools)
      pool.for_each([](PyObject* o) {
        if (!gc_tracked(o) && Py_REFCNT(o) > 0) PyObject_GC_Track(o);
      });
  };
}

// Freeing a graph must not recurse: a chain of ten million nodes would need gigabytes of stack. The first call drains a list; calls
// that happen while it drains (an edge, or a saved tensor whose last owner was a node) put their node on the list.
void node_dealloc(PyObject* self) {
  if (gc_tracked(self)) PyObject_GC_UnTrack(self);
  auto* node = reinterpret_cast<Node*>(self);
  if (dying.draining) return dying.push(node);
  dying.draining = true;
  do destroy(node);
  while ((node = dying.pop()));
  dying.draining = false;
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* node = reinterpret_cast<Node*>(self);
  for (size_t i = 0; i < node->num_edges; ++i) Py_VISIT(reinterpret_cast<PyObject*>(node->edges[i].node));
  for (const SavedField& f : node->info->saved) {
    int r = 0;
    switch (f.kind) {
      case FieldKind::Tensor: r = field<SavedTensor>(node, f)->traverse(visit, arg); break;
      case FieldKind::Operand: r = field<SavedOperand>(node, f)->tensor.traverse(visit, arg); break;
      case FieldKind::TensorList: {
        auto* list = field<SavedTensorList>(node, f);
        for (uint32_t i = 0; i < list->count && !r; ++i) r = list->items[i].traverse(visit, arg);
        break;
      }
      default: break;
    }
    if (r) return r;
  }
  if (node->info->traverse)
    if (const int r = node->info->traverse(node, visit, arg)) return r;
  if (NodeExtra* e = node->extra)
    for (PyObject* o : {e->dict, e->metadata, e->hooks, e->pre_hooks, e->tensor_hooks, e->retain_grad, e->parent}) Py_VISIT(o);
  return 0;
}

int node_clear(PyObject* self) {
  auto* node = reinterpret_cast<Node*>(self);
  drop_edges(node);
  release_saved(node);
  if (NodeExtra* e = node->extra) {
    Py_CLEAR(e->dict);
    Py_CLEAR(e->metadata);
    Py_CLEAR(e->hooks);
    Py_CLEAR(e->pre_hooks);
    Py_CLEAR(e->tensor_hooks);
    Py_CLEAR(e->retain_grad);
    Py_CLEAR(e->parent);
  }
  return 0;
}

}  // namespace retrograd
