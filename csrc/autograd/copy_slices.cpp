#include "autograd/copy_slices.h"

#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"

namespace retrograd {
namespace {

struct CopySlices : Node {
  Node* writer;  // owned
  SavedInts base_sizes, base_strides, view_sizes, view_strides;
  int64_t view_bytes;  // from the base's first element
  DType view_dtype;    // another than the base's where the view is of the parts of complex numbers
  uint16_t lazy;       // flags the view has and the base has not, or the other way round
  bool shared;         // elements of the base shared memory: each has a gradient, all were written at once
};

[[noreturn, gnu::cold]] void fail_shared() {
  fail(ErrorKind::Runtime,
       "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() "
       "the tensor before performing the operation.");
}

Tensor part_of(const Tensor& whole, const CopySlices* self) {
  return engine_ops.view_of(whole, {self->view_sizes.get(), self->view_strides.get(), self->view_bytes, self->view_dtype, self->lazy});
}

void apply(Call& call) {
  auto* self = static_cast<CopySlices*>(call.node);
  const Tensor& grad = call.in[0];
  if (!grad) return;
  if (!self->writer) fail_freed(self);
  if (self->shared) fail_shared();
  Tensor whole = engine_ops.clone_as(grad, self->base_strides.get());
  Tensor part = part_of(whole, self);

  Tensor in[1] = {engine_ops.clone(part)};
  std::vector<Tensor> out(self->writer->num_edges);
  Call inner{self->writer, in, out, call.task, call.keep_graph, call.node};
  apply_node(inner);
  finish_outputs(self->writer, out);

  if (out[0] && varies_more(out[0].get(), whole.get())) {
    whole = engine_ops.clone_as(engine_ops.varied(grad, out[0]), self->base_strides.get());
    part = part_of(whole, self);
  }
  if (out[0]) {
    engine_ops.copy_inplace(part, out[0]);
  } else {
    engine_ops.zero_inplace(part);
  }
  call.out[0] = whole;
  for (size_t i = 1; i < out.size(); ++i) call.out[i] = out[i];
}

void drop_writer(Node* node) { Py_CLEAR(static_cast<CopySlices*>(node)->writer); }

void destroy(Node* node) {
  auto* self = static_cast<CopySlices*>(node);
  drop_writer(node);
  for (SavedInts* ints : {&self->base_sizes, &self->base_strides, &self->view_sizes, &self->view_strides}) ints->release();
}

int traverse(Node* node, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(static_cast<CopySlices*>(node)->writer));
  return 0;
}

const NodeInfo info = {.name = "CopySlices",
                       .bytes = sizeof(CopySlices),
                       .edges_offset = 0,
                       .apply = apply,
                       .saved = {},
                       .destroy = destroy,
                       .traverse = traverse,
                       .release_saved = drop_writer};

}  // namespace

Node* make_copy_slices(TensorImpl* base, const TensorImpl* view, Node* writer) {
  auto* node = static_cast<CopySlices*>(new_node(info, writer->num_edges));
  node->writer = writer;
  node->edges[0] = gradient_edge(base);
  for (size_t i = 1; i < writer->num_edges; ++i) {
    node->edges[i] = writer->edges[i];
    Py_XINCREF(reinterpret_cast<PyObject*>(writer->edges[i].node));
  }
  for (size_t i = 0; i < node->num_edges; ++i)
    if (node->edges[i].node && node->edges[i].node->has(kNodeMarked)) node->flags |= kNodeMarked;
  if (writer->has(kNodeMarked)) node->flags |= kNodeMarked;
  if (node->has(kNodeMarked) && !gc_tracked(node->object())) PyObject_GC_Track(node->object());
  node->base_sizes.save(base->shape());
  node->base_strides.save({base->strides(), base->ndim});
  node->view_sizes.save(view->shape());
  node->view_strides.save({view->strides(), view->ndim});
  node->view_bytes = bytes_into(view, base);
  node->view_dtype = view->dtype;
  node->lazy = (view->flags ^ base->flags) & kLazy;
  node->shared = has_internal_overlap(base);
  return node;
}

}  // namespace retrograd
