// The ops that the autograd layer calls: it sits below them, so they are handed down at start-up.
#include "ops/engine_ops.h"

#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "core/guards.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

Tensor add(const Tensor& a, const Tensor& b) { return is_sparse(a) || is_sparse(b) ? call_sparse("add", a, b) : a + b; }
void add_inplace(const Tensor& a, const Tensor& b) {
  if (is_sparse(b)) {
    call_sparse("add_", a, b);
  } else {
    ops::add_(a, b, Scalar(1));
  }
}
Tensor clone(const Tensor& t) { return is_sparse(t) ? call_sparse("clone", t, {}) : ops::clone(t); }
Tensor clone_as(const Tensor& t, IntSpan strides) { return is_sparse(t) ? clone(t) : ops::_clone_as(t, strides); }
Tensor sum_to(const Tensor& t, IntSpan sizes) { return derivatives::sum_to(t, sizes); }
Tensor cast(const Tensor& t, DType dtype) {
  if (is_sparse(t)) return call_sparse("cast_like", t, retrograd::empty({}, dtype, t->device));
  if (is_complex(t.dtype()) && !is_complex(dtype)) return ops::_to_copy(ops::real(t), dtype, std::nullopt);  // of a real input
  return ops::_to_copy(t, dtype, std::nullopt);
}
Tensor conj(const Tensor& t) { return ops::conj(t); }
Tensor view_of(const Tensor& t, const ViewGeometry& g) {
  Tensor from = t;
  int64_t offset = g.bytes / itemsize(g.dtype);
  if (is_complex(t.dtype()) && !is_complex(g.dtype)) {
    from = ops::view_as_real(t);
  } else if (!is_complex(t.dtype()) && is_complex(g.dtype)) {  // pairs of real numbers, from the first that the view can have
    const int64_t start = g.bytes / itemsize(t.dtype()) % 2;
    int64_t pairs = offset + 1;
    for (size_t d = 0; d < g.sizes.size(); ++d) pairs += (g.sizes[d] - 1) * g.strides[d];
    from = ops::view_as_complex(ops::as_strided(t, ints({std::max<int64_t>(pairs, 0), 2}), ints({2, 1}), t->offset() + start));
  }
  const bool whole = !from.is(t) && offset == 0 && same_sizes(from.sizes(), g.sizes) && same_sizes(from.strides(), g.strides);
  Tensor view = whole ? from : ops::as_strided(from, g.sizes, g.strides, offset + from->offset());
  if (g.lazy & kConj) view = ops::conj(view);
  if (g.lazy & kNeg) view = ops::_neg_view(view);
  return view;
}
Tensor varied(const Tensor& t, const Tensor& like) { return ops::new_zeros(like, t.sizes(), t.dtype(), {}, {}, {}, {}) + t; }

void copy_inplace(const Tensor& dst, const Tensor& src) { ops::copy_(dst, src, false); }
void zero_inplace(const Tensor& dst) { ops::zero_(dst); }

Node* as_strided_node(const Tensor& base, const TensorImpl* view) {
  const Restore on(thread_state.grad_mode, true);
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
  const Tensor made = view_of(from, geometry_in(view, from.get()));
  Node* node = std::exchange(made->grad_fn, nullptr);
  if (!from.is(base)) {
    Node* last = node;  // of the few that a view of parts or conjugates is made of
    while (last->edges[0].node && last->edges[0].node->num_edges) last = last->edges[0].node;
    if (Node* end = std::exchange(last->edges[0].node, nullptr)) Py_DECREF(end->object());
    if (leads_on) last->set_edge(0, base.get());
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
                .conj = conj,
                .view_of = view_of,
                .varied = varied,
                .copy_inplace = copy_inplace,
                .zero_inplace = zero_inplace,
                .as_strided_node = as_strided_node};
}

}  // namespace retrograd
