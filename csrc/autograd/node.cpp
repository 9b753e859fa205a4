#include "autograd/node.h"

#include <cstring>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "core/pool.h"
#include "core/state.h"

namespace retrograd {

PyTypeObject* node_base_type = nullptr;
thread_local constinit const NodeInfo* newest_node = nullptr;

namespace {

constexpr size_t kPoolStep = 64;
constexpr size_t kPools = 8;
// Nodes of up to 512 bytes come from pools in steps of 64.
Pool pools[kPools] = {Pool(64), Pool(128), Pool(192), Pool(256), Pool(320), Pool(384), Pool(448), Pool(512)};

thread_local uint64_t next_sequence = 0;
uint32_t current_step = 0;

template <class T> T* field(Node* node, const SavedField& f) { return reinterpret_cast<T*>(reinterpret_cast<char*>(node) + f.offset); }

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
      case FieldKind::Tensor: field<SavedTensor>(node, f)->release(); break;
      case FieldKind::TensorList: field<SavedTensorList>(node, f)->release(); break;
      case FieldKind::Operand: field<SavedOperand>(node, f)->tensor.release(); break;
      default: break;
    }
  }
}

void free_values(Node* node) {
  for (const SavedField& f : node->info->saved)
    if (f.kind == FieldKind::IntList || f.kind == FieldKind::OptIntList) field<SavedInts>(node, f)->release();
}

// Frees one node whose references are gone. Nodes and tensors this lets go of may end up in node_dealloc again, which queues them.
void destroy(Node* node) {
  if (node->weakrefs) PyObject_ClearWeakRefs(node->object());
  free_saved_fields(node);
  free_values(node);
  if (node->info->destroy) node->info->destroy(node);
  drop_edges(node);
  if (!node->info->edges_offset && node->edges) PyMem_Free(node->edges);
  free_extra(node);
  Py_XDECREF(reinterpret_cast<PyObject*>(node->site.code));
  if (node->pool < kPools) {
    pools[node->pool].give(node->object());
  } else {
    PyMem_Free(reinterpret_cast<GcHead*>(node) - 1);
  }
}

}  // namespace

uint32_t training_step() { return current_step; }
void advance_training_step() { ++current_step; }

Node* new_node(const NodeInfo& info, size_t num_edges, size_t num_outputs) {
  const size_t bytes = info.bytes;
  const size_t slot = (bytes + kPoolStep - 1) / kPoolStep - 1;
  PyObject* memory;
  if (RG_LIKELY(slot < kPools)) {
    memory = pools[slot].take();
  } else {
    auto* head = static_cast<GcHead*>(PyMem_Calloc(1, bytes + sizeof(GcHead)));
    if (!head) throw std::bad_alloc();
    memory = reinterpret_cast<PyObject*>(head + 1);
  }
  std::memset(memory, 0, bytes);
  auto* node = reinterpret_cast<Node*>(memory);
  Py_SET_REFCNT(memory, 1);
  if (RG_UNLIKELY(!info.type)) info.type = node_type_of(info);
  Py_SET_TYPE(memory, info.type);
  node->info = &info;
  newest_node = &info;
  node->pool = static_cast<uint16_t>(slot < kPools ? slot : kPools);
  node->num_edges = static_cast<uint32_t>(num_edges);
  node->num_outputs = static_cast<uint32_t>(num_outputs);
  node->sequence = next_sequence++;
  node->site = current_site();
  node->step = current_step;
  if (RG_UNLIKELY(track_everything)) PyObject_GC_Track(memory);
  if (info.edges_offset) {
    node->edges = reinterpret_cast<Edge*>(reinterpret_cast<char*>(node) + info.edges_offset);
  } else if (num_edges) {
    node->edges = static_cast<Edge*>(PyMem_Calloc(num_edges, sizeof(Edge)));
  }
  for (const SavedField& f : info.saved)
    if (f.kind == FieldKind::IntList || f.kind == FieldKind::OptIntList) field<SavedInts>(node, f)->count = -1;
  if (RG_UNLIKELY(anomaly_enabled)) engine_hooks.record(node);
  return node;
}

void Node::set_edge(size_t i, const Tensor& input) {
  const Edge e = gradient_edge(input.get());
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
  free_saved_fields(node);
  if (node->info->release_saved) node->info->release_saved(node);
  node->flags |= kFreed;
}

const char* node_name(const Node* node) { return node->info->name; }
std::string forward_name(const Node* node) {
  const std::string name = node_name(node);
  const size_t end = name.rfind("Backward");
  return name.find_first_not_of("0123456789", end == std::string::npos ? 0 : end + 8) == std::string::npos ? name.substr(0, end) : name;
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
  for (Pool& pool : pools) pool.for_each([&](PyObject* o) { f(reinterpret_cast<Node*>(o), context); });
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
  static thread_local std::vector<Node*> queue;
  static thread_local bool draining = false;
  if (gc_tracked(self)) PyObject_GC_UnTrack(self);
  auto* node = reinterpret_cast<Node*>(self);
  if (draining) {
    queue.push_back(node);
    return;
  }
  draining = true;
  destroy(node);
  while (!queue.empty()) {
    Node* next = queue.back();
    queue.pop_back();
    destroy(next);
  }
  draining = false;
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
