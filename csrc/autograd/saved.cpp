#include "autograd/saved.h"

#include <cstring>

#include "autograd/cut.h"
#include "autograd/engine.h"
#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "autograd/layers.h"
#include "autograd/node.h"
#include "autograd/sparse.h"
#include "autograd/tangent.h"
#include "core/coded_error.h"
#include "core/guards.h"
#include "core/promote.h"
#include "core/state.h"
#include "core/write_notes.h"

namespace retrograd {

thread_local constinit int saved_hooks_depth = 0;
SavedTensorHooks saved_tensor_hooks = {};

namespace {

[[gnu::cold]] void check_inference(const TensorImpl* t) {
  // What a transform records never leaves it, so there it may read what inference mode made.
  if (!t->has(kInference) || thread_state.transform_depth > 0) return;
  fail_as("inference_tensor_misuse",
          "Inference tensors cannot be saved for backward. Use a clone() made outside torch.inference_mode(), which is a normal "
          "tensor, or compute the tensor under torch.no_grad() instead.",
          inference_story(t));
}

[[noreturn, gnu::cold]] void fail_modified(const SavedTensor& saved, const Node* owner, const Change* hidden) {
  const TensorImpl* t = saved.tensor;
  std::string text = str_cat("one of the variables needed for gradient computation has been modified by an inplace operation: [torch.",
                             dtype_storage_name(t->dtype), " ", t->shape(), "]");
  const Node* maker = saved.is_output ? owner : t->grad_fn;
  if (maker) text += str_cat(", which is output ", saved.is_output ? saved.output_nr : t->output_nr, " of ", forward_name(maker), ",");
  bool touched = true;
  const bool outside = hidden && hidden->outside;
  const Site site = hidden ? hidden->site : find_write(t, saved.version, saved.hidden_writes, touched);
  if (outside) {
    text += " was written from outside, through a NumPy array or DLPack capsule that shares its memory.";
  } else if (hidden) {
    text += " was written through .data, or another tensor on its memory that has a version counter of its own, since it was saved.";
  } else {
    text += str_cat(" is at version ", version_of(t), "; expected version ", saved.version, " instead.");
  }
  if (owner->site.code) text += "\n  saved for " + std::string(node_name(owner)) + " at " + site_text(owner->site);
  const std::string writer = outside ? saved_tensor_hooks.writer(t, owner) : "";
  if (!writer.empty()) {
    text += "\n  written at " + writer;
  } else if (site.code) {
    text += (outside ? "\n  handed out at " : "\n  changed at ") + site_text(site);
  }
  if (!touched) text += ", a write to other elements of its memory, for which there is one version";
  text += outside ? "\nHint: hand out a copy (x.detach().clone().numpy(), torch.tensor(array)), or make the change after backward()."
                  : "\n  Hint: write to a clone() instead, or make the change after backward().";
  throw CodedError(ErrorKind::Runtime, "inplace_corruption", text);
}

// A write that the version does not count came after, or may have: are the elements those that were saved?
[[gnu::cold]] void check_unseen(const SavedTensor& saved, const Node* owner) {
  const TensorImpl* t = saved.tensor;
  if (saved.fingerprinted && same_fingerprint(saved)) return;
  Change change = find_change(t, saved.version, saved.hidden_writes, !saved.shared);
  if (saved.fingerprinted && !change.found) change = {true, true, {}};
  if (change.found) fail_modified(saved, owner, &change);
}

[[noreturn, gnu::cold]] void fail_detached(const Node* owner) {
  std::string text =
      "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). This is not supported: use .detach(), which "
      "leaves the history of this tensor as it is.";
  if (owner->site.code) text += "\n  saved for " + std::string(node_name(owner)) + " at " + site_text(owner->site);
  throw Error(ErrorKind::Runtime, text);
}

inline void keep(SavedTensor& saved, TensorImpl* t) {  // takes over a reference
  saved.tensor = t;
  saved.version = version_of(t);
  saved.hidden_writes = unseen_writes(t);
  if (RG_UNLIKELY(t->storage->flags & kStorageExported)) {
    saved.shared = true;
    remember_fingerprint(saved);
  }
  add_save(t->storage);
}

// Inference tensors, tensors on shared memory, and tensors that a hook may want to keep in another form.
[[gnu::noinline]] void save_slow(SavedTensor& saved, TensorImpl* t) {
  check_inference(t);
  if (saved_hooks_depth > 0) {
    const Edge edge = gradient_edge(t);
    saved.output_nr = edge.nr;
    const Owned hold(edge.node);
    if (PyObject* kept = saved_tensor_hooks.pack(Tensor::borrow(t), edge.node)) return saved.pack(Tensor::borrow(t), kept);
  }
  Py_INCREF(t->object());
  keep(saved, t);
}

}  // namespace

void fail_freed(const Node* node) {
  std::string text =
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). The "
      "first backward() or grad() freed what the graph had saved. Specify retain_graph=True in that call if you need to backward through "
      "the graph a second time.";
  text += str_cat("\n  the graph was freed at ", node_name(node));
  if (node->site.code) text += ", made at " + site_text(node->site);
  if (const Site first = run_site(node->freed_by); first.code) text += "\n  by the first backward at " + site_text(first);
  if (const Site now = run_site(current_task_id()); in_backward() && now.code)
    text += "\n  and is needed again by the backward at " + site_text(now);
  text +=
      "\n  Hint: a state that is carried from step to step is carried as state.detach(); several losses of one part are added up before "
      "one "
      "backward(); what every step needs is computed in every step.";
  throw CodedError(ErrorKind::Runtime, "backward_twice", text);
}

void SavedTensor::save(TensorImpl* t) {
  if (!t) return;
  output_nr = t->output_nr;
  had_history = t->grad_fn != nullptr;
  if (RG_UNLIKELY((t->flags & (kInference | kOwnVersion)) || saved_hooks_depth > 0 || (t->storage->flags & kStorageExported)))
    return save_slow(*this, t);
  Py_INCREF(t->object());
  tensor = t;
  version = t->storage->version;
  hidden_writes = t->storage->hidden_writes;
  add_save(t->storage);
}

namespace {
// Another tensor with the elements of this one.
Tensor same(const Tensor& t) { return is_sparse(t) ? call_sparse("detach", t, {}) : alias(t); }
}  // namespace

void SavedTensor::save_output(const Tensor& t, uint32_t nr) {
  if (!t) return;
  if (RG_UNLIKELY(t->flags & kInference)) check_inference(t.get());
  is_output = true;
  output_nr = nr;
  if (RG_UNLIKELY(saved_hooks_depth > 0)) {
    if (PyObject* kept = saved_tensor_hooks.pack(same(t), nullptr)) return pack(t, kept);
  }
  keep(*this, same(t).release());
  if (RG_UNLIKELY(t->has(kDual))) copy_tangents(Tensor::borrow(tensor), t);
}

void SavedTensor::pack(const Tensor& t, PyObject* kept) {
  packed = kept;
  if (RG_UNLIKELY(has_layers(t))) tensor = layers_of(t).release();
}

void SavedTensor::output_moves(uint32_t level, const Tensor& tangent) {
  if (RG_LIKELY(!packed)) {
    if (tensor) set_tangent(Tensor::borrow(tensor), level, tangent);
    return;
  }
  Tensor layers = Tensor::steal(std::exchange(tensor, nullptr));
  add_tangent(layers, level, tangent);
  tensor = layers.release();
}

namespace {

// What an unpack hook returned, with the layers of the tensor that was saved. Inside a transform what the hook computed belongs to a vmap.
Tensor unpacked(PyObject* packed, TensorImpl* layers) {
  const Tensor hold = Tensor::borrow(layers);
  const Tensor data = without_lifts(saved_tensor_hooks.unpack(packed));
  RG_CHECK(!data->has(kBatched),
           "Output of saved tensor unpack_hook expected to be what the pack_hook got, but it is a Tensor made inside vmap, different for "
           "each sample.");
  return hold ? with_layers(data, hold) : data;
}

// The data of `t` with the history of the tensor that was saved.
Tensor with_history(const Tensor& t, Node* node, uint32_t nr) {
  Tensor out = same(t);
  if (RG_UNLIKELY(t->has(kDual))) copy_tangents(out, t);
  Py_INCREF(node->object());
  set_history(out, node, 0);
  out->output_nr = nr;
  return out;
}

}  // namespace

Tensor SavedTensor::unpack_plain(Node* owner) const {
  if (packed) {
    const Owned hold(Py_NewRef(packed));  // an unpack hook may run a backward that frees what it is called for
    return unpacked(hold.get(), tensor);
  }
  if (!tensor) {
    if (owner->has(kFreed)) fail_freed(owner);
    return {};
  }
  if (RG_UNLIKELY(version_of(tensor) != version)) fail_modified(*this, owner, nullptr);
  if (RG_UNLIKELY(had_history && !tensor->grad_fn)) fail_detached(owner);
  if (RG_UNLIKELY(unseen_writes(tensor) != hidden_writes || (tensor->storage->flags & kStorageExported))) check_unseen(*this, owner);
  return Tensor::borrow(tensor);
}

Tensor SavedTensor::unpack(Node* owner) const {
  if (RG_UNLIKELY(packed != nullptr)) {
    const Owned hold(Py_NewRef(packed));  // an unpack hook may run a backward that frees what it is called for
    Node* history = is_output ? owner : saved_tensor_hooks.history(hold.get());
    const uint32_t nr = output_nr;
    Tensor t = unpacked(hold.get(), tensor);
    if (!history || t->grad_fn == history || t->accumulator == history) return t;  // nothing to add: the tensor itself came back
    return with_history(t, history, nr);
  }
  Tensor t = unpack_plain(owner);
  if (!t || !is_output || !thread_state.grad_mode) return t;
  return with_history(t, owner, output_nr);
}

void SavedTensor::release() {
  if (TensorImpl* t = tensor) {
    if (RG_UNLIKELY(fingerprinted)) forget_fingerprint(*this);
    if (RG_LIKELY(!packed)) drop_save(t->storage);  // beside it, layers: they are not compared
    tensor = nullptr;
    Py_DECREF(t->object());
  }
  Py_CLEAR(packed);
}

int SavedTensor::traverse(visitproc visit, void* arg) const {
  Py_VISIT(reinterpret_cast<PyObject*>(tensor));
  Py_VISIT(packed);
  return 0;
}

void SavedTensorList::save(std::span<const Tensor> tensors) {
  count = static_cast<uint32_t>(tensors.size());
  items = static_cast<SavedTensor*>(PyMem_Calloc(tensors.size() ? tensors.size() : 1, sizeof(SavedTensor)));
  for (uint32_t i = 0; i < count; ++i) items[i].save(tensors[i]);
}

std::vector<Tensor> SavedTensorList::unpack(Node* owner) const {
  if (!items && owner->has(kFreed)) fail_freed(owner);
  std::vector<Tensor> out;
  const uint32_t n = count;
  for (uint32_t i = 0; i < n; ++i) {
    if (RG_UNLIKELY(!items)) fail_freed(owner);  // a hook ran a backward that freed this
    out.push_back(items[i].unpack(owner));
  }
  return out;
}

void SavedTensorList::release() {
  if (!items) return;
  SavedTensor* old = items;
  const uint32_t n = count;
  items = nullptr;
  count = 0;
  for (uint32_t i = 0; i < n; ++i) old[i].release();
  PyMem_Free(old);
}

void SavedInts::save(IntSpan s) {
  room = static_cast<uint32_t>(s.size()) + 1;
  values = s.empty() ? nullptr : static_cast<int64_t*>(PyMem_Malloc(sizeof(int64_t) * s.size()));
  if (values) std::memcpy(values, s.data(), sizeof(int64_t) * s.size());
}

void SavedInts::release() {
  PyMem_Free(values);
  values = nullptr;
  room = 0;
}

}  // namespace retrograd
