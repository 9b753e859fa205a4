// A node of the graph: the function that turns the gradients of one op's outputs into gradients of its inputs.
//
// One CPython object per node. Each op's node is a struct that starts with Node and goes on with what it saved; NodeInfo (one static
// record per kind of node, generated from the op table) says how to run it, what its saved fields are and where, so that freeing,
// traversal, `_saved_*` attributes and errors are each written once.
//
// Ownership: a tensor owns its grad_fn, a node owns the nodes its edges lead to and the tensors it saved. Nothing points forward, so
// dropping the last tensor frees the graph behind it. That happens through a work list, never by recursion (see node_dealloc).
// Threads: nodes are touched with the GIL held; the engine's scratch fields belong to the GraphTask whose id is in `task`.
#pragma once

#include <Python.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "autograd/saved.h"
#include "core/tensor.h"

namespace retrograd {

struct Node;
struct GraphTask;

struct Edge {
  Node* node = nullptr;  // owned
  uint32_t nr = 0;       // which output of that node the gradient is for
};

// What a node's apply() sees: incoming gradients (null = zero), the slots for outgoing ones, and which of those are wanted.
struct Call {
  Node* node;
  std::span<Tensor> in;
  std::span<Tensor> out;
  GraphTask* task;
  bool keep_graph;
  Node* edges_of;  // whose edges decide what is needed: the node itself, or the CopySlices around it
  bool needs(size_t i) const;
};

enum class FieldKind : uint8_t {
  // what has to be freed
  Tensor,
  Operand,  // begins with its tensor
  TensorList,
  IntList,
  OptIntList,
  // what has not
  Scalar,
  OptScalar,
  Int,
  OptInt,
  Float,
  OptFloat,
  Bool,
  OptBool,
  DType,
  Other
};

struct SavedField {
  const char* name;
  FieldKind kind;
  uint16_t offset;
};

struct NodeInfo {
  const char* name;  // "MulBackward0"
  uint16_t bytes;
  uint16_t edges_offset;  // of an inline Edge array, 0 when edges are on the heap
  void (*apply)(Call&);
  std::span<const SavedField> saved;
  void (*destroy)(Node*) = nullptr;  // extra clean-up for hand-written nodes
  int (*traverse)(Node*, visitproc, void*) = nullptr;
  void (*release_saved)(Node*) = nullptr;
  bool conjugates = false;               // see apply_node
  bool steep = false;                    // a fact of the op's entry (optable); the doctor looks at what such nodes send
  mutable PyTypeObject* type = nullptr;  // made on first use
};

enum NodeFlags : uint16_t {
  kFreed = 1,         // saved tensors were released by a backward
  kNodeMarked = 2,    // see Note [Joining the collector]
  kNeeded = 4,        // engine scratch: leads to a requested input
  kPython = 8,        // a custom autograd.Function
  kTopological = 16,  // AccumulateGrad: runs as soon as it is ready
  kSearched = 32,     // engine scratch: what it leads to is known, or about to be
};

// An input whose size or dtype differs from the result (broadcast, promotion): its gradient is brought back to this.
struct InputShape {
  DType dtype;
  uint8_t ndim;
  int64_t sizes[kMaxDims];
};

struct NodeExtra {
  PyObject* dict = nullptr;  // attributes set from Python
  PyObject* metadata = nullptr;
  PyObject* hooks = nullptr;         // ordered dict: after apply(grad_inputs, grad_outputs)
  PyObject* pre_hooks = nullptr;     // before apply(grad_outputs)
  PyObject* tensor_hooks = nullptr;  // dict output_nr -> the hooks dict of that output's tensor
  PyObject* retain_grad = nullptr;   // dict output_nr -> weak reference to the tensor that keeps its gradient
  PyObject* forward_trace =
      nullptr;                      // anomaly mode: the frames of the forward call, a tuple of code, line, code, line, ... innermost first
  PyObject* parent = nullptr;       // anomaly mode: the node whose backward made this node
  std::vector<InputShape*> shapes;  // by edge; null where nothing differs
};

struct Node {
  PyObject_HEAD
  const NodeInfo* info;
  Edge* edges;
  uint64_t sequence;
  NodeExtra* extra;
  Site site;
  uint32_t num_edges;
  uint32_t num_outputs;
  uint16_t flags;
  uint16_t pool;  // size class
  uint32_t step;  // the training step this node was born in
  // engine scratch, valid while `task` is the id of a running GraphTask
  uint32_t task;
  uint32_t pending;    // gradients still to come
  uint32_t freed_by;   // id of the run that released the saved tensors
  TensorImpl* buffer;  // incoming gradient; for several outputs an array (see engine.cpp)
  PyObject* weakrefs;

  PyObject* object() { return reinterpret_cast<PyObject*>(this); }
  bool has(NodeFlags f) const { return flags & f; }
  // The edge for input i; inline in autograd/history.h.
  void set_edge(size_t i, TensorImpl* input);
  void set_edge(size_t i, const Tensor& input) { set_edge(i, input.get()); }
  void set_edge(size_t i, const Operand& input) {
    if (input.tensor) set_edge(i, input.tensor);
  }
  void set_edge_slow(size_t i, TensorImpl* input);
};

// A node with room for num_edges edges; saved fields are zero. The creation site is recorded.
Node* new_node(const NodeInfo& info, size_t num_edges, size_t num_outputs = 1);

// Pooled nodes, by the number of cache lines they take. The size is known where a generated node is made, so clearing it is a few stores.
constexpr size_t node_lines(size_t bytes) { return (bytes + 2 * sizeof(void*) + 63) / 64; }  // with the collector's head
inline constexpr size_t kMinNodeLines = node_lines(sizeof(Node));
inline constexpr size_t kMaxNodeLines = 8;
template <size_t kLines> Node* new_node_of(const NodeInfo& info, size_t num_edges, size_t num_outputs);

template <class N> N* make_node(size_t num_edges, size_t num_outputs = 1) {
  constexpr size_t lines = node_lines(sizeof(N));
  if constexpr (lines <= kMaxNodeLines) {
    return static_cast<N*>(new_node_of<lines>(N::info, num_edges, num_outputs));
  } else {
    return static_cast<N*>(new_node(N::info, num_edges, num_outputs));
  }
}

NodeExtra& extra_of(Node* node);
void release_saved(Node* node);  // drops saved tensors, sets kFreed
void remember_shape(Node* node, size_t edge, const TensorImpl* input);
const char* node_name(const Node* node);
extern thread_local constinit uint64_t next_sequence;  // the number of the node that is made next on this thread
extern thread_local constinit const NodeInfo*
    newest_node;                                   // the kind of node made last: while tensors are saved, the one they are saved for
std::string forward_name(const Node* node);        // of the op it belongs to: "Mul" for MulBackward0
PyTypeObject* node_type_of(const NodeInfo& info);  // the Python type of this kind of node
void join_collector(Node* node);
size_t live_nodes();
void advance_training_step();

extern PyTypeObject* node_base_type;  // retrograd.autograd.graph.Node
inline bool is_node(PyObject* o) { return PyType_IsSubtype(Py_TYPE(o), node_base_type); }

void node_dealloc(PyObject* self);
int node_traverse(PyObject* self, visitproc visit, void* arg);
int node_clear(PyObject* self);
void init_nodes();

}  // namespace retrograd
