// The ops that the autograd layer calls: it sits below them, so they are handed down at start-up.
#include "ops/engine_ops.h"

#include "autograd/history.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/overlap.h"
#include "ops/util.h"

namespace retrograd {
namespace {

Tensor add(const Tensor& a, const Tensor& b) { return a + b; }
void add_inplace(const Tensor& a, const Tensor& b) { impl::add_out(a, b, Scalar(1), a); }
Tensor clone(const Tensor& t) { return ops::clone(t); }
Tensor clone_as(const Tensor& t, IntSpan strides) { return ops::_clone_as(t, strides); }
Tensor sum_to(const Tensor& t, IntSpan sizes) { return derivatives::sum_to(t, sizes); }
Tensor cast(const Tensor& t, DType dtype) { return ops::_to_copy(t, dtype, std::nullopt); }
Tensor as_strided(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset) { return ops::as_strided(t, sizes, strides, offset); }
Tensor varied(const Tensor& t, const Tensor& like) { return ops::new_zeros(like, t.sizes(), t.dtype(), {}, {}, {}, {}) + t; }

// While a graph of the gradient is built these are recorded like any write in place.
void copy_inplace(const Tensor& dst, const Tensor& src) {
  if (thread_state.grad_mode || thread_state.attention) {
    ops::copy_(dst, src, false);
  } else {
    check_no_internal_overlap(dst);  // what is one place in the base would get one of several gradients
    copy_data(dst, src);
  }
}
void zero_inplace(const Tensor& dst) {
  if (thread_state.grad_mode || thread_state.attention) {
    ops::zero_(dst);
  } else {
    fill_data(dst, Scalar(0));
  }
}

struct GradMode {
  bool saved = thread_state.grad_mode;
  GradMode() { thread_state.grad_mode = true; }
  ~GradMode() { thread_state.grad_mode = saved; }
};

Node* as_strided_node(const Tensor& base, const TensorImpl* view) {
  GradMode on;
  const bool leads_on = requires_grad(base), moved = base->storage != view->storage;
  Tensor from = base;
  if (!leads_on || moved) {  // a view that had a history of its own: the new one ends at the base
    from = alias(base);
    from->flags |= kRequiresGrad;
  }
  if (moved) {  // set_() gave one of them other memory; what was a view of what is still remembered
    const int64_t offset = from->offset();
    retain(view->storage);
    release(std::exchange(from->storage, view->storage));
    from->data = static_cast<char*>(view->storage->data) + offset * itemsize(from.dtype());
  }
  const Tensor made = ops::as_strided(from, view->shape(), {view->strides(), view->ndim}, view->offset());
  Node* node = std::exchange(made->grad_fn, nullptr);
  if (!from.is(base)) {
    if (Node* end = std::exchange(node->edges[0].node, nullptr)) Py_DECREF(end->object());
    if (leads_on) node->set_edge(0, base.get());
  }
  return node;
}

}  // namespace

void register_engine_ops() {
  engine_ops = {.add = add,
                .add_inplace = add_inplace,
                .clone = clone,
                .clone_as = clone_as,
                .sum_to = sum_to,
                .cast = cast,
                .as_strided = as_strided,
                .varied = varied,
                .copy_inplace = copy_inplace,
                .zero_inplace = zero_inplace,
                .as_strided_node = as_strided_node};
}

}  // namespace retrograd
