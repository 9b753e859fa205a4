#include "autograd/history.h"

#include "autograd/copy_slices.h"
#include "autograd/cut.h"
#include "autograd/engine_ops.h"
#include "core/coded_error.h"
#include "core/write_notes.h"

namespace retrograd {

EngineOps engine_ops = {};

bool view_requires_grad(const TensorImpl* t) { return requires_grad(t->base); }

bool requires_grad(std::span<const Tensor> list) {
  for (const Tensor& t : list)
    if (requires_grad(t)) return true;
  return false;
}

namespace {

// A tensor that keeps its gradient is entered, by a weak reference, in the node that computes it.
void move_retained(Node* from, uint32_t from_nr, Node* to, uint32_t to_nr) {
  PyObject* old = from->extra ? from->extra->retain_grad : nullptr;
  PyObject* old_key = old ? PyLong_FromUnsignedLong(from_nr) : nullptr;
  PyObject* weak = old_key ? Py_XNewRef(PyDict_GetItemWithError(old, old_key)) : nullptr;
  if (weak) {
    PyDict_DelItem(old, old_key);
    NodeExtra& extra = extra_of(to);
    if (!extra.retain_grad) extra.retain_grad = checked(PyDict_New());
    PyObject* key = PyLong_FromUnsignedLong(to_nr);
    PyDict_SetItem(extra.retain_grad, key, weak);
    Py_DECREF(key);
    Py_DECREF(weak);
  }
  Py_XDECREF(old_key);
}

// `t` was made where nobody could follow it, and memory under it is written: `what` says by whom.
[[noreturn, gnu::cold]] void fail_view_write(const TensorImpl* t, const char* what) {
  const ViewOrigin origin = t->view_origin;
  const bool no_grad = origin == ViewOrigin::NoGradMode, inference = origin == ViewOrigin::InferenceMode;
  const Node* fn = t->grad_fn;
  std::string text = fn ? str_cat("Output ", t->output_nr, " of ", forward_name(fn), " is a view ") : "A view ";
  if (no_grad || inference || !fn) {
    if (fn) text += "of a view which ";
    text += str_cat("was created in ", inference ? "inference" : "no_grad", " mode and ", what, " modified inplace",
                    inference ? " in normal mode." : " with grad mode enabled.");
  } else {
    text += str_cat("and ", what, " modified inplace.");
  }
  if (no_grad || inference) {
    text += str_cat(" It could mean two things, so it is forbidden. Make the view and write to it both inside the ",
                    no_grad ? "no_grad" : "inference_mode",
                    " block (if you don't want the inplace to be tracked) or both outside it (if you do).");
  } else if (origin == ViewOrigin::MultiOutput) {
    text +=
        " This view is the output of a function that returns multiple views. Such a view cannot be written in place: use an "
        "out-of-place operation, or a function that returns one view (narrow, select).";
  } else {
    text +=
        " This view was created inside a custom Function (or because an input was returned as-is): writing to it in place would go "
        "past the Function's backward and give wrong gradients. Write to a clone() of the output instead.";
  }
  fail(ErrorKind::Runtime, text);
}

// See Note [Views and in-place writes].
void refresh_view(TensorImpl* t) {
  const uint32_t version = version_of(t);
  if (t->view_version == version || (!t->grad_fn && !requires_grad(t->base))) return;
  const NodeInfo* being_made = newest_node;
  if (RG_UNLIKELY(t->view_origin != ViewOrigin::Default)) fail_view_write(t, "its base or another view of its base has been");
  Node* node = engine_ops.as_strided_node(Tensor::borrow(t->base), t);
  newest_node = being_made;
  t->view_version = version;
  replace_history(t, node);
}

Node* accumulator_of(TensorImpl* t) {
  if (t->accumulator && Py_REFCNT(t->accumulator->object()) > 0) {
    Py_INCREF(t->accumulator->object());
    return t->accumulator;
  }
  const NodeInfo* being_made = newest_node;
  auto* node = static_cast<AccumulateGrad*>(new_node(accumulate_grad_info, 0));
  newest_node = being_made;
  node->sequence = UINT64_MAX;
  node->flags |= kTopological;
  node->variable = t;
  Py_INCREF(t->object());
  t->accumulator = node;
  if (t->has(kMarked)) {
    node->flags |= kNodeMarked;
    if (!gc_tracked(node->object())) PyObject_GC_Track(node->object());
  }
  return node;
}

}  // namespace

Node* grad_fn_of(TensorImpl* t) {
  if (t->base) refresh_view(t);
  return t->grad_fn;
}

bool is_leaf(TensorImpl* t) {
  const Node* n = grad_fn_of(t);
  return !n || n->info == &accumulate_grad_info;  // the latter: what an unpack hook made of a saved leaf
}

Edge gradient_edge(TensorImpl* t) {
  if (RG_UNLIKELY(t->base != nullptr)) refresh_view(t);
  if (t->grad_fn) {
    Py_INCREF(t->grad_fn->object());
    return {t->grad_fn, t->output_nr};
  }
  if (t->flags & kRequiresGrad) return {accumulator_of(t), 0};
  return {};
}

void replace_history(TensorImpl* t, Node* node, uint32_t nr, bool moves_retained) {
  Node* old = t->grad_fn;
  if (RG_UNLIKELY(t->has(kRetainsGrad)) && old && moves_retained) move_retained(old, t->output_nr, node, nr);
  t->grad_fn = node;
  t->output_nr = nr;
  if (node->has(kNodeMarked) || track_everything) track_tensor(t);
  if (old) Py_DECREF(old->object());
}

void set_view(const Tensor& result, const Tensor& source, ViewOrigin origin) {
  TensorImpl* r = result.get();
  TensorImpl* s = source.get();
  if (RG_UNLIKELY(s->has(kBatched)) && r->has(kBatched) && r->storage != s->storage) {
    release(std::exchange(r->storage, s->storage));  // one version counter for both
    retain(s->storage);
    // Nobody reads there, but offsets are counted by it: as far from its source as the tensors with all samples are from each other.
    const TensorImpl *whole = r->extra->batched, *source_whole = s->extra->batched;
    const bool shared = whole->storage == source_whole->storage;
    r->data = static_cast<char*>(s->data) + (shared ? static_cast<char*>(whole->data) - static_cast<char*>(source_whole->data) : 0);
  }
  TensorImpl* base = s->base ? s->base : s;
  if (RG_UNLIKELY(thread_state.inference_mode)) {
    if (s->has(kInference)) return;  // inference tensors keep no view information
    origin = ViewOrigin::InferenceMode;
  } else if (RG_UNLIKELY(!thread_state.grad_mode)) {
    origin = ViewOrigin::NoGradMode;
  } else if (s->base && s->view_origin != ViewOrigin::Default && origin == ViewOrigin::Default) {
    origin = s->view_origin;  // a view of a view that may not be written may not be written either
  }
  if (s->has(kInference)) return;
  r->base = base;
  Py_INCREF(base->object());
  r->view_origin = origin;
  r->view_version = version_of(r);
}

// Where a leaf that is written was made, and the running line that writes.
static std::string leaf_story(const TensorImpl* t) {
  std::string text = str_cat("\n  the leaf has shape ", t->shape());
  if (t->cut && cut_of(t->cut).at.code) text += " and was made to require grad at " + site_text(cut_of(t->cut).at);
  const Site now = current_site();
  if (now.code) text += "\n  it is written at " + site_text(now);
  Py_XDECREF(reinterpret_cast<PyObject*>(now.code));
  return text +
         "\n  The gradient is that of the value the leaf had, so a write that is recorded would leave it without one."
         "\n  Hint: write under torch.no_grad() if this is an update or an initialisation, or to a clone() if it is part of the "
         "computation.";
}

void check_view_write(TensorImpl* t) {
  if (RG_UNLIKELY(t->view_origin != ViewOrigin::Default)) fail_view_write(t, "is being");
  RG_CHECK(!(requires_grad(t) && is_leaf(t->base)), "a view of a leaf Variable that requires grad is being used in an in-place operation.",
           leaf_story(t->base));
}

void refuse_captured() {
  fail(ErrorKind::Runtime,
       "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation that would mutate a "
       "captured Tensor. Pass the Tensor to the function as an argument instead.");
}

void check_side_write(const Tensor& self) {
  TensorImpl* t = self.get();
  if (RG_UNLIKELY(t->has(kInference) && !thread_state.inference_mode && !has_version(t)))
    fail_as(
        "inference_tensor_misuse",
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing "
        "inplace update.",
        inference_story(t), "\n  Hint: write to a clone() of it, or make it under torch.no_grad() instead of torch.inference_mode().");
  before_write(t);
}

void check_inplace(const Tensor& self, bool needs_grad) {
  TensorImpl* t = self.get();
  if (RG_UNLIKELY(is_captured(t))) refuse_captured();
  check_side_write(self);
  if (!needs_grad || !thread_state.grad_mode) return;
  if (t->base) {
    check_view_write(t);
  }
  RG_CHECK(!(requires_grad(t) && is_leaf(t)), "a leaf Variable that requires grad is being used in an in-place operation.", leaf_story(t));
}

void wrote_inplace(const Tensor& self) {
  if (RG_UNLIKELY(!has_version(self.get()))) return;
  bump_version(self.get());
}

void rebase_history(const Tensor& self, Node* node) {
  TensorImpl* t = self.get();
  if (t->base) {
    replace_history(t->base, make_copy_slices(t->base, t, node));
    t->view_version = version_of(t) - 1;  // stale, whoever looked at it since the write
    refresh_view(t);
    return;
  }
  replace_history(t, node);
}

std::string made_by(const Tensor& t) {
  Node* n = grad_fn_of(t.get());
  std::string text = str_cat("\n  this tensor has shape ", t.sizes());
  if (n && n->site.code) text += str_cat(" and was made by ", node_name(n), " at ") + site_text(n->site);
  const Site now = current_site();
  if (now.code) text += "\n  its backward was asked for at " + site_text(now);
  Py_XDECREF(reinterpret_cast<PyObject*>(now.code));
  return text + "\n  Hint: reduce it first, for example with .sum() or .mean(), or pass a gradient of its shape.";
}

}  // namespace retrograd
