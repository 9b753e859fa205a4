// AccumulateGrad: where gradients of leaves end. The first gradient becomes .grad itself when nobody else can see it and its layout fits;
// later ones are added in place, or out of place while a graph of the gradient is being built.
#include "autograd/doctor.h"
#include "autograd/engine.h"
#include "autograd/engine_ops.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "autograd/untracked.h"

namespace retrograd {

bool keep_grad_layout = true;

Tensor as_grad_dtype(const Tensor& grad, const TensorImpl* variable) {
  const int wanted = variable->extra ? variable->extra->grad_dtype : kGradDTypeOwn;
  if (wanted == kGradDTypeAny) return grad;
  const DType dtype = wanted == kGradDTypeOwn ? variable->dtype : static_cast<DType>(wanted);
  return grad.dtype() == dtype ? grad : engine_ops.cast(grad, dtype);
}

bool takes_dtype(const Node* next, DType dtype, DType own) {
  if (!next || next->info != &accumulate_grad_info || !is_differentiable(dtype) || is_complex(dtype) != is_complex(own)) return false;
  const TensorImpl* variable = static_cast<const AccumulateGrad*>(next)->variable;
  return variable && variable->extra && variable->extra->grad_dtype == kGradDTypeAny;
}

namespace {

// Whether no other tensor sees the memory of a gradient. One that is a view of a whole, as the transpose of a product, may have its
// base to itself; a part would keep the rest alive.
bool is_alone(const Tensor& grad) {
  if (Py_REFCNT(grad->object()) > 1 || (grad->flags & kOwnVersion)) return false;
  TensorImpl* base = grad->base;
  if (!base) return grad->storage->refs == 1;
  return grad->storage->refs == 2 && grad->numel == base->numel && Py_REFCNT(base->object()) == 1 && !(base->flags & kOwnVersion);
}

bool may_steal(const Tensor& grad, const TensorImpl* variable) {
  if (!is_alone(grad)) return false;
  if (grad->storage->flags & (kStorageExternal | kStorageExported) || grad->flags & kLazy) return false;
  if (!keep_grad_layout) return true;
  // The layout contract: a dense variable gets a gradient with its strides, any other a contiguous one.
  if (dense_and_nonoverlapping(variable)) {
    for (int d = 0; d < variable->ndim; ++d)
      if (variable->size(d) > 1 && grad->stride(d) != variable->stride(d)) return false;
    return true;
  }
  return grad.is_contiguous();
}

void check_gradient(const Tensor& grad, const TensorImpl* variable) {
  RG_CHECK(same_sizes(grad.get(), variable), "Function AccumulateGradBackward returned an invalid gradient at index 0 - got ", grad.sizes(),
           " but expected shape compatible with ", variable->shape(),
           "\n  the leaf had another size when the graph was made: its data was replaced since.\n  Hint: compute the loss again.");
}

Tensor own_copy(const Tensor& grad, const TensorImpl* variable) {
  if (keep_grad_layout && dense_and_nonoverlapping(variable)) return engine_ops.clone_as(grad, {variable->strides(), variable->ndim});
  return engine_ops.clone(grad);
}

void set_grad(TensorImpl* variable, Tensor grad) {
  // A .grad with a history can close a cycle through the variable: see Note [Joining the collector].
  if (grad->grad_fn) join_collector(variable);
  note_gradient(grad);
  TensorImpl* old = variable->grad;
  variable->grad = grad.release();
  if (old) Py_DECREF(old->object());
}

// `seen`: hooks of the node look at the gradient afterwards. Where it became .grad they see that memory.
void accumulate(TensorImpl* variable, Tensor& grad, bool seen) {
  if (RG_UNLIKELY(!same_sizes(grad.get(), variable))) check_gradient(grad, variable);
  if (RG_UNLIKELY(grad.dtype() != variable->dtype) || RG_UNLIKELY(variable->extra != nullptr)) grad = as_grad_dtype(grad, variable);
  look(grad);
  const bool recording = thread_state.grad_mode;
  if (!variable->grad) {
    if (!recording && may_steal(grad, variable)) {
      if (grad->base) grad = alias(grad);  // and the base goes
      const Tensor kept = !seen ? Tensor() : is_sparse(grad) ? grad : alias(grad);
      set_grad(variable, std::move(grad));
      grad = kept;
    } else {
      set_grad(variable, own_copy(grad, variable));
    }
  } else if (!recording && RG_LIKELY(variable->grad->dtype == grad.dtype()) && (!is_sparse(variable->grad) || is_sparse(grad))) {
    engine_ops.add_inplace(Tensor::borrow(variable->grad), grad);
  } else {
    set_grad(variable, engine_ops.add(Tensor::borrow(variable->grad), grad));
  }
}

void apply(Call& call) {
  TensorImpl* variable = static_cast<AccumulateGrad*>(call.node)->variable;
  if (RG_UNLIKELY(!variable) || RG_UNLIKELY(!requires_grad(variable))) return;  // requires_grad_(False) since
  RG_CHECK(!grad_fn_of(variable),
           "leaf variable has been moved into the graph interior: it was a leaf when an op used it, and has a history now. Was it changed "
           "through .data or under no_grad(), and its grad_fn set, in between? Use the result of the op that gave it a history instead.");
  const bool seen = call.node->extra && call.node->extra->hooks;
  if (RG_LIKELY(call.in[0].defined())) accumulate(variable, call.in[0], seen);
  if (RG_UNLIKELY(variable->extra && variable->extra->post_accumulate_hooks)) engine_hooks.post_accumulate(variable);
}

void destroy(Node* node) {
  auto* self = static_cast<AccumulateGrad*>(node);
  if (!self->variable) return;
  TensorImpl* variable = std::exchange(self->variable, nullptr);
  if (variable->accumulator == node) variable->accumulator = nullptr;
  Py_DECREF(variable->object());
}

int traverse(Node* node, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<PyObject*>(static_cast<AccumulateGrad*>(node)->variable));
  return 0;
}

}  // namespace

const NodeInfo accumulate_grad_info = {.name = "AccumulateGrad",
                                       .bytes = sizeof(AccumulateGrad),
                                       .edges_offset = 0,
                                       .apply = apply,
                                       .saved = {},
                                       .destroy = destroy,
                                       .traverse = traverse};

}  // namespace retrograd
