// The life of a tensor as a Python object: the pool, who lives, what the collector sees, and its end.
#include "core/allocator.h"
#include "core/chain.h"
#include "core/inline_storage.h"
#include "core/state.h"
#include "core/tensor_pool.h"
#include "core/write_notes.h"

namespace retrograd {

Pool tensor_pool(sizeof(TensorImpl));
PyTypeObject* tensor_type = nullptr;
void (*track_all_nodes)() = nullptr;
void (*mark_node)(Node*) = nullptr;

namespace {

void release_extra(TensorImpl* t) {
  TensorExtra* e = t->extra;
  if (!e) return;
  drop_tangents(t);
  t->extra = nullptr;
  Py_XDECREF(e->hooks);
  Py_XDECREF(e->post_accumulate_hooks);
  Py_XDECREF(e->name);
  if (RG_UNLIKELY(e->batched != nullptr)) {
    Py_DECREF(e->batched->object());
    if (--live_batched == 0) set_intercepting();
  }
  if (e->version_cell && --e->version_cell->refs == 0) delete e->version_cell;
  if (RG_UNLIKELY(e->moves != nullptr)) forget_moves(*e);
  delete e;
}

// Whether there is any of what few tensors have.
inline bool has_rare(const TensorImpl* t) {
  auto bits = [](const void* p) { return reinterpret_cast<uintptr_t>(p); };
  return (bits(t->base) | bits(t->grad) | bits(t->extra) | bits(t->dict) | bits(t->weakrefs)) != 0;
}

[[gnu::noinline]] void release_rare(TensorImpl* t) {
  if (t->base) Py_DECREF(t->base->object());
  if (t->grad) let_go([](void* grad) { Py_DECREF(static_cast<PyObject*>(grad)); }, t->grad);
  Py_XDECREF(t->dict);
  if (RG_UNLIKELY(t->extra != nullptr)) release_extra(t);
}

}  // namespace

size_t live_tensors() { return tensor_pool.live(); }

namespace {

// Instances of Python subclasses do not live in the pool: a list of them would cost every nn.Parameter, so the collector's list of objects
// is asked instead. Which of the two it is shows in the flag, not in the type: programs assign to __class__.
template <class F> void for_each_living(F f) {
  auto visit = [&](PyObject* o) { f(reinterpret_cast<TensorImpl*>(o)); };
  const int collecting = PyGC_Disable();  // nothing runs in between that could make or free tensors
  tensor_pool.for_each([&](PyObject* o) {
    if (Py_REFCNT(o) > 0) visit(o);
  });
  PyObject* gc = PyImport_ImportModule("gc");
  PyObject* objects = gc ? PyObject_CallMethod(gc, "get_objects", nullptr) : nullptr;
  Py_XDECREF(gc);
  if (collecting) PyGC_Enable();
  if (!objects) throw PythonError();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); ++i) {
    PyObject* o = PyList_GET_ITEM(objects, i);
    if (Py_TYPE(o)->tp_basicsize < tensor_type->tp_basicsize) continue;  // nearly all
    if (PyType_IsSubtype(Py_TYPE(o), tensor_type) && !reinterpret_cast<TensorImpl*>(o)->has(kPooled)) visit(o);
  }
  Py_DECREF(objects);
}

template <class F> void for_each_on(const Storage* storage, F f) {
  for_each_living([&](TensorImpl* t) {
    if (t->storage == storage) f(t);
  });
}

}  // namespace

void for_each_pooled(void (*f)(TensorImpl*, void*), void* context);  // for the doctor, autograd/doctor.h
void for_each_pooled(void (*f)(TensorImpl*, void*), void* context) {
  tensor_pool.for_each([&](PyObject* o) {
    if (Py_REFCNT(o) > 0) f(reinterpret_cast<TensorImpl*>(o), context);
  });
}
void for_each_tensor(void (*f)(TensorImpl*, void*), void* context) {
  for_each_living([&](TensorImpl* t) { f(t, context); });
}

// Tensors keep the address of their first element; when a storage moves, all tensors on it follow. By nothing: it is going to.
void init_tensors() {
  moved_storage = [](Storage* storage, ptrdiff_t by) {
    uint32_t found = 0;
    if (by == 0) {
      for_each_on(storage, [&](TensorImpl*) { ++found; });
      RG_CHECK(found == storage->refs, "Trying to resize storage that is not resizable: it moves, and of the ", storage->refs,
               " tensors on it ", storage->refs - found, " cannot be found. Does gc.freeze() hide them? Call gc.unfreeze() first.");
      return;
    }
    for_each_on(storage, [&](TensorImpl* t) { t->data = static_cast<char*>(t->data) + by; });
  };
}

void drop_tangent(Tangent* tangent) {
  TensorImpl* owner = tangent->owner;
  Tangent** at = &owner->extra->tangents;
  while (*at != tangent) at = &(*at)->next;
  *at = tangent->next;
  if (!owner->extra->tangents) owner->flags &= static_cast<uint16_t>(~kDual);
  *tangent->link = tangent->next_of_level;
  if (tangent->next_of_level) tangent->next_of_level->link = tangent->link;
  TensorImpl* value = tangent->value;
  delete tangent;
  Py_DECREF(value->object());
}

void drop_tangents(TensorImpl* t) {
  while (t->extra && t->extra->tangents) drop_tangent(t->extra->tangents);
}

void track_tensor(TensorImpl* t) {
  if (!gc_tracked(t->object())) PyObject_GC_Track(t->object());
}

bool track_everything = false;

void track_all_live() {
  static int calls = 0;
  if (track_everything) return;
  if (++calls > 8) track_everything = true;
  tensor_pool.for_each([](PyObject* o) {
    if (!gc_tracked(o) && Py_REFCNT(o) > 0) PyObject_GC_Track(o);
  });
  track_all_nodes();
}

// Objects of the pools do not count towards the collector's thresholds, so cycles made of nothing else (a leaf whose .grad has a history)
// would wait for a collection forever. A marked tensor therefore has a dictionary, which counts. The thresholds know nothing of sizes:
// when tensors hold more than twice what they held after the last such collection, it does not wait for them. May run any Python code.
static void help_collector(TensorImpl* t) {
  static int64_t held = 0;
  if (!t->dict) {
    PyObject* counted = checked(PyDict_New());
    Py_XSETREF(t->dict, counted);
  }
  constexpr int64_t kMuch = 256 << 20;
  if (RG_UNLIKELY(memory_stats().allocated > 2 * held + kMuch) && PyGC_IsEnabled()) {
    PyGC_Collect();
    held = memory_stats().allocated;
  }
}

void join_collector(TensorImpl* t) {
  if (t->has(kMarked)) return;
  help_collector(t);
  t->flags |= kMarked;
  if (t->accumulator) mark_node(t->accumulator);
  if (t->grad_fn) mark_node(t->grad_fn);
  track_all_live();
  track_tensor(t);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  if (Py_TYPE(self) != tensor_type) Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(t->grad_fn));
  Py_VISIT(reinterpret_cast<PyObject*>(t->base));
  Py_VISIT(reinterpret_cast<PyObject*>(t->grad));
  Py_VISIT(t->dict);
  if (t->extra) {
    Py_VISIT(t->extra->hooks);
    Py_VISIT(t->extra->post_accumulate_hooks);
    for (const Tangent* tangent = t->extra->tangents; tangent; tangent = tangent->next) Py_VISIT(tangent->value->object());
    Py_VISIT(reinterpret_cast<PyObject*>(t->extra->batched));
  }
  return 0;
}

int tensor_clear(PyObject* self) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  Py_CLEAR(t->grad_fn);
  Py_CLEAR(t->base);
  Py_CLEAR(t->grad);
  Py_CLEAR(t->dict);
  if (t->extra) {
    Py_CLEAR(t->extra->hooks);
    Py_CLEAR(t->extra->post_accumulate_hooks);
    drop_tangents(t);
  }
  return 0;
}

void tensor_dealloc(PyObject* self) {
  auto* t = reinterpret_cast<TensorImpl*>(self);
  if (gc_tracked(self)) PyObject_GC_UnTrack(self);
  const bool rare = has_rare(t);
  if (RG_UNLIKELY(rare) && t->weakrefs) PyObject_ClearWeakRefs(self);
  if (t->grad_fn) Py_DECREF(reinterpret_cast<PyObject*>(t->grad_fn));
  if (RG_UNLIKELY(rare)) release_rare(t);
  if (t->storage) release_inline(t->storage);
  if (t->dims != t->inline_dims && t->dims) PyMem_Free(t->dims);
  PyTypeObject* type = Py_TYPE(self);
  if (RG_LIKELY(t->has(kPooled))) {
    tensor_pool.give(self);
  } else {
    type->tp_free(self);
  }
  if (RG_UNLIKELY(type != tensor_type)) Py_DECREF(type);
}

}  // namespace retrograd
