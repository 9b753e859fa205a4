// The engine: runs a graph backwards on the calling thread.
//
// A run (GraphTask) first counts, for every node it can reach, how many gradients the node will receive; then it takes ready nodes from a
// heap, newest first, hands each its summed gradients and passes the results along the edges. Both walks use explicit stacks.
// Counts and buffers live in the nodes themselves (Node::task says whose they are), so a run allocates nothing per node. When two
// runs meet on one graph (threads, or a backward inside a backward) the later one keeps its own counts in a side table.
#pragma once

#include <unordered_map>
#include <vector>

#include "autograd/node.h"

namespace retrograd {

struct RunOptions {
  bool keep_graph = false;
  bool create_graph = false;
  bool accumulate = true;   // into .grad of leaves; false for autograd.grad()
  bool has_inputs = false;  // only what leads to `inputs` is computed
};

// Edges that hold their nodes.
struct HeldEdges {
  std::vector<Edge> items;
  HeldEdges() = default;
  HeldEdges(const HeldEdges&) = delete;
  HeldEdges& operator=(const HeldEdges&) = delete;
  ~HeldEdges() {
    for (const Edge& e : items) Py_XDECREF(reinterpret_cast<PyObject*>(e.node));
  }
  void add(Edge owned) { items.push_back(owned); }
};

// Runs from `roots` with `grads`. With inputs: their gradients are returned in order (undefined where unreachable) unless accumulating.
std::vector<Tensor> run_backward(std::span<const Edge> roots, std::span<const Tensor> grads, std::span<const Edge> inputs,
                                 RunOptions options);

// Runs one node by itself.
std::vector<Tensor> run_single(Node* node, std::span<Tensor> in);

// Brings gradients back to the size and dtype of inputs that were broadcast or promoted.
void finish_outputs(Node* node, std::span<Tensor> out);
void apply_node(Call& call);  // runs the formulas of call.node

// Rare things that involve Python, in python/engine_hooks.cpp. All are optional and may throw.
struct EngineHooks {
  void (*arrive)(Node* node, std::span<Tensor> in);                              // tensor hooks, retain_grad: gradients are complete
  void (*before)(Node* node, std::span<Tensor> in);                              // pre-hooks: the node is about to run
  void (*after)(Node* node, std::span<Tensor> out, std::span<const Tensor> in);  // hooks
  void (*leaf)(TensorImpl* leaf, Tensor& grad);                                  // hooks of a leaf
  void (*post_accumulate)(TensorImpl* leaf);
  void (*record)(Node* node);                                                            // anomaly mode: a node is made
  void (*anomaly)(Node* node, std::span<const Tensor> out);                              // anomaly mode: a node has run
  void (*watched)(Node* node, std::span<const Tensor> out, std::span<const Tensor> in);  // a close look of the doctor: a node has run
  void (*explain)(Node* node);  // called with an exception in flight, throws it again with more to say
  void (*run_callback)(PyObject* callback);
};
extern EngineHooks engine_hooks;
extern bool anomaly_enabled;
extern bool anomaly_check_nan;

Tensor as_grad_dtype(const Tensor& grad, const TensorImpl* variable);  // cast to what variable.grad_dtype says
bool takes_dtype(const Node* next, DType dtype, DType own);  // whether `next` wants no cast to its own: a leaf whose grad_dtype is None

extern bool keep_grad_layout;  // .grad takes the strides of its variable

bool in_backward();                       // on this thread
Node* current_node();                     // the node being run on this thread
bool run_has_inputs();                    // whether the backward of this thread computes only what was asked for
bool run_keeps_graph();                   // whether the backward of this thread leaves saved tensors for another
bool will_run(Node* node);                // whether the backward of this thread gives this node its gradients
void queue_callback(PyObject* callback);  // runs when the outermost backward of this thread ends
uint32_t current_task_id();               // 0 outside backward
Site run_site(uint32_t task_id);          // where that backward was called, borrowed; empty when it was long ago

}  // namespace retrograd
