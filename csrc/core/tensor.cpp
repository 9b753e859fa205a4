#include "core/tensor.h"

#include <algorithm>
#include <cstring>

#include "core/allocator.h"
#include "core/chain.h"
#include "core/format.h"
#include "core/inline_storage.h"
#include "core/pool.h"
#include "core/state.h"
#include "core/write_notes.h"

namespace retrograd {

PyTypeObject* tensor_type = nullptr;
void (*track_all_nodes)() = nullptr;
void (*mark_node)(Node*) = nullptr;

namespace {

Pool pool(sizeof(TensorImpl));

int64_t* reserve_dims(TensorImpl* t, int ndim) {
  if (t->dims != t->inline_dims && t->dims) PyMem_Free(t->dims);
  t->dims = ndim <= kInlineDims ? t->inline_dims : static_cast<int64_t*>(PyMem_Malloc(sizeof(int64_t) * 2 * static_cast<size_t>(ndim)));
  t->ndim = static_cast<uint8_t>(ndim);
  return t->dims;
}

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
    if (--live_batched == 0) set_attention();
  }
  if (e->version_cell && --e->version_cell->refs == 0) delete e->version_cell;
  if (RG_UNLIKELY(e->moves != nullptr)) forget_moves(*e);
  delete e;
}

// From the pool, with everything behind the inline dimensions zero; the caller fills in the rest, beginning with traits and dims.
inline TensorImpl* take_tensor() {
  auto* t = reinterpret_cast<TensorImpl*>(pool.take());
  first_reference(t->object());
  Py_SET_TYPE(t->object(), tensor_type);  // no reference is taken: the type outlives every tensor
  t->grad_fn = nullptr;
  t->output_nr = t->view_version = 0;
  t->base = t->grad = nullptr;
  t->accumulator = nullptr;
  t->extra = nullptr;
  t->cut = 0;
  t->dict = t->weakrefs = nullptr;
  return t;
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

size_t live_tensors() { return pool.live(); }

namespace {

// Instances of Python subclasses do not live in the pool: a list of them would cost every nn.Parameter, so the collector's list of objects
// is asked instead. Which of the two it is shows in the flag, not in the type: programs assign to __class__.
template <class F> void for_each_living(F f) {
  auto visit = [&](PyObject* o) { f(reinterpret_cast<TensorImpl*>(o)); };
  const int collecting = PyGC_Disable();  // nothing runs in between that could make or free tensors
  pool.for_each([&](PyObject* o) {
    if (Py_REFCNT(o) > 0) visit(o);
  });
  PyObject* gc = PyImport_ImportModule("gc");
  PyObject* objects = gc ? PyObject_CallMethod(gc, "get_objects", nullptr) : nullptr;
  Py_XDECREF(gc);
  if (collecting) PyGC_Enable();
  if (!objects) throw PythonError();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); ++i) {
    PyObject* o = PyList_GET_ITEM(objects, i);
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

Tensor new_tensor_object() {
  TensorImpl* t = take_tensor();
  t->storage = nullptr;
  t->data = nullptr;
  t->numel = 0;
  set_traits(t, flag_bits(kPooled) | thread_state.birth_bits);
  t->dims = t->inline_dims;
  return Tensor::steal(t);
}

int64_t checked_numel(IntSpan sizes) {
  RG_CHECK(sizes.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", sizes.size());
  int64_t n = 1;
  bool overflow = false;
  for (const int64_t s : sizes) {
    RG_CHECK(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", sizes);
    overflow |= __builtin_mul_overflow(n, s, &n);
  }
  if (RG_UNLIKELY(overflow || n > (INT64_MAX >> 4))) {
    for (const int64_t s : sizes)
      if (s == 0) return 0;
    fail(ErrorKind::Runtime, "Storage size calculation overflowed with sizes=", sizes);
  }
  return n;
}

void set_contiguous_geometry(TensorImpl* t, IntSpan sizes) {
  const int64_t numel = checked_numel(sizes);  // first: it refuses sizes whose product overflows
  const int ndim = static_cast<int>(sizes.size());
  int64_t* dims = reserve_dims(t, ndim);
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    dims[d] = sizes[static_cast<size_t>(d)];
    dims[ndim + d] = stride;
    stride *= dims[d] > 1 ? dims[d] : 1;
  }
  t->numel = numel;
  t->flags |= kContiguous;
}

bool geometry_is_contiguous(IntSpan sizes, IntSpan strides) {
  int64_t expected = 1;
  bool contiguous = true;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0) return true;
    if (sizes[d] == 1) continue;
    contiguous &= strides[d] == expected;
    expected *= sizes[d];
  }
  return contiguous;
}

void set_geometry(TensorImpl* t, IntSpan sizes, IntSpan strides) {
  const int ndim = static_cast<int>(sizes.size());
  // The spans may point into t itself.
  int64_t copy[2 * kMaxDims];
  RG_CHECK(ndim <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, got ", ndim);
  std::copy(sizes.begin(), sizes.end(), copy);
  std::copy(strides.begin(), strides.end(), copy + ndim);
  int64_t* dims = reserve_dims(t, ndim);
  std::memcpy(dims, copy, sizeof(int64_t) * 2 * sizes.size());
  int64_t n = 1;
  for (int d = 0; d < ndim; ++d) n *= dims[d];
  t->numel = n;
  const bool contiguous = geometry_is_contiguous({dims, sizes.size()}, {dims + ndim, sizes.size()});
  t->flags = static_cast<uint16_t>((t->flags & ~kContiguous) | (contiguous ? kContiguous : 0));
}

Tensor empty(IntSpan sizes, DType dtype, Device device) {
  Tensor t = new_tensor_object();
  set_contiguous_geometry(t.get(), sizes);
  t->dtype = dtype;
  t->device = device;
  t->storage = new_storage(static_cast<size_t>(t->numel) * static_cast<size_t>(itemsize(dtype)), device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) t->flags |= kInference;
  return t;
}

namespace {

[[gnu::noinline]] Tensor empty_dense_slow(const TensorImpl* source, DType dtype) {
  Tensor t = new_tensor_object();
  const int ndim = source->ndim;
  int64_t* dims = reserve_dims(t.get(), ndim);
  for (int i = 0; i < 2 * ndim; ++i) dims[i] = source->dims[i];
  t->numel = source->numel;
  t->flags |= kContiguous;
  t->dtype = dtype;
  t->device = source->device;
  t->storage = new_storage(static_cast<size_t>(t->numel * itemsize(dtype)), source->device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) t->flags |= kInference;
  return t;
}

}  // namespace

Tensor empty_dense(const TensorImpl* source, DType dtype) {
  const auto nbytes = static_cast<size_t>(source->numel * itemsize(dtype));
  const uint64_t like = traits_word(source);
  const bool small = nbytes <= kInlineLimit && !(like & kNotCpuBits) && source->ndim <= kInlineDims;
  if (RG_UNLIKELY(!small)) return empty_dense_slow(source, dtype);
  TensorImpl* t = take_tensor();
  Tensor owner = Tensor::steal(t);
  t->storage = nullptr;  // until there is one: making it may throw
  t->numel = source->numel;
  set_traits(t, (like & (kDeviceBits | kNdimBits)) | TensorTraits{.dtype = dtype, .flags = kPooled | kContiguous}.word() |
                    thread_state.fresh_bits);
  t->dims = t->inline_dims;
  const int64_t* from = source->dims;
  for (int i = 0, n = 2 * source->ndim; i < n; i += 2) std::memcpy(t->inline_dims + i, from + i, 16);
  t->storage = new_inline_storage(nbytes, source->device);
  t->data = t->storage->data;
  return owner;
}

Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  RG_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: ", strides, " and ", sizes);
  checked_numel(sizes);
  int64_t extent = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    RG_CHECK(strides[d] >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
    int64_t reach;
    RG_CHECK(!__builtin_mul_overflow(sizes[d] > 0 ? sizes[d] - 1 : 0, strides[d], &reach) &&
                 !__builtin_add_overflow(extent, reach, &extent) && extent < (INT64_MAX >> 4),
             "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
    if (sizes[d] == 0) {
      extent = 0;
      break;
    }
  }
  Tensor t = new_tensor_object();
  set_geometry(t.get(), sizes, strides);
  t->dtype = dtype;
  t->device = device;
  t->storage = new_storage(static_cast<size_t>(extent) * static_cast<size_t>(itemsize(dtype)), device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) t->flags |= kInference;
  return t;
}

bool dense_and_nonoverlapping(const TensorImpl* t) {
  if (t->is_contiguous()) return true;
  // Each stride must be the product of the sizes of the dimensions with smaller strides.
  int order[kMaxDims];
  int n = 0;
  for (int d = 0; d < t->ndim; ++d) {
    if (t->size(d) == 0) return true;
    if (t->size(d) == 1) continue;
    int at = n++;
    while (at > 0 && t->stride(order[at - 1]) > t->stride(d)) {
      order[at] = order[at - 1];
      --at;
    }
    order[at] = d;
  }
  int64_t expected = 1;
  for (int i = 0; i < n; ++i) {
    if (t->stride(order[i]) != expected) return false;
    expected *= t->size(order[i]);
  }
  return true;
}

bool has_internal_overlap(const TensorImpl* t) {
  if (t->numel == 0) return false;
  for (int d = 0; d < t->ndim; ++d)
    if (t->size(d) > 1 && t->stride(d) == 0) return true;
  return false;
}

Tensor empty_like(const Tensor& t) { return empty_like(t, t.dtype()); }

Tensor empty_like(const Tensor& t, DType dtype) {
  if (t.is_contiguous()) return empty(t.sizes(), dtype, t.device());
  return empty_like(t, dtype, t.device(), MemoryFormat::Preserve);
}

namespace {

// A tensor on the same storage. Shares the version counter.
Tensor share(const TensorImpl* source) {
  Tensor t = new_tensor_object();
  t->storage = source->storage;
  retain(t->storage);
  t->dtype = source->dtype;
  t->device = source->device;
  t->flags = static_cast<uint16_t>((t->flags & ~kBirth) | (source->flags & (kInference | kLazy | kBirth)));
  if (RG_UNLIKELY(source->has(kOwnVersion))) share_version(t.get(), source);
  return t;
}

void share_batch(TensorImpl* t, const TensorImpl* source) {
  TensorExtra& extra = extra_of(t);
  t->flags |= kBatched;
  ++live_batched;
  extra.batched = source->extra->batched;
  Py_INCREF(extra.batched->object());
  extra.batch_level = source->extra->batch_level;
  extra.batch_dim = source->extra->batch_dim;
}

}  // namespace

Tensor alias(const Tensor& source) {
  Tensor t = share(source.get());
  t->data = source->data;
  const int ndim = source->ndim;
  int64_t* dims = reserve_dims(t.get(), ndim);
  std::memcpy(dims, source->dims, sizeof(int64_t) * 2 * static_cast<size_t>(ndim));
  t->numel = source->numel;
  t->flags |= source->flags & (kContiguous | kNumber);
  if (RG_UNLIKELY(source->has(kBatched))) share_batch(t.get(), source.get());
  return t;
}

Tensor alias_as(const Tensor& source, IntSpan sizes, IntSpan strides, int64_t offset) {
  RG_CHECK(!source->has(kBatched), "a tensor that belongs to a vmap was used where its memory is needed; it may have outlived the vmap");
  Tensor t = share(source.get());
  t->data = static_cast<char*>(source->storage->data) + offset * itemsize(source.dtype());
  set_geometry(t.get(), sizes, strides);
  return t;
}

Tensor from_storage(Storage* storage, DType dtype, IntSpan sizes, IntSpan strides, int64_t offset) {
  Tensor t = new_tensor_object();
  t->storage = storage;
  t->dtype = dtype;
  t->device = storage->device;
  t->data = static_cast<char*>(storage->data) + offset * itemsize(dtype);
  set_geometry(t.get(), sizes, strides);
  if (RG_UNLIKELY(thread_state.inference_mode)) t->flags |= kInference;
  return t;
}

Tensor scalar_tensor(Scalar value, DType dtype, Device device) {
  Tensor t = empty({}, dtype, device);
  if (!is_meta(t)) value.store(dtype, t->data);
  return t;
}

Tensor batched(const Tensor& whole, int64_t dim, int32_t level) {
  Tensor t = new_tensor_object();
  int64_t sizes[kMaxDims], strides[kMaxDims];
  size_t n = 0;
  for (int64_t d = 0; d < whole.dim(); ++d) {
    if (d == dim) continue;
    sizes[n] = whole.size(d);
    strides[n++] = whole.stride(d);
  }
  set_geometry(t.get(), {sizes, n}, {strides, n});
  t->dtype = whole.dtype();
  t->device = Device{DeviceType::Meta};
  t->storage = new_storage(0, whole.device());
  t->data = t->storage->data;
  t->flags = static_cast<uint16_t>((t->flags & ~kBirth) | kBatched | (whole->flags & (kInference | kLazy | kBirth)));
  TensorExtra& extra = extra_of(t.get());
  ++live_batched;
  extra.batched = Tensor(whole).release();
  extra.batch_level = level;
  extra.batch_dim = static_cast<int32_t>(dim);
  return t;
}

bool varies_more(const TensorImpl* t, const TensorImpl* than) {
  for (; t->has(kBatched); t = t->extra->batched) {
    const bool both = is_batched(than, t->extra->batch_level);
    if (t->extra->batch_dim >= 0 && !(both && than->extra->batch_dim >= 0)) return true;
    if (both) than = than->extra->batched;
  }
  return false;
}

Tensor without_lifts(Tensor t) {
  while (t->has(kBatched) && t->extra->batch_dim < 0) t = Tensor::borrow(t->extra->batched);
  return t;
}

bool is_batched(const TensorImpl* t, int32_t level) { return t->has(kBatched) && t->extra->batch_level == level; }

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

TensorExtra& extra_of(TensorImpl* t) {
  if (!t->extra) t->extra = new TensorExtra();
  return *t->extra;
}

namespace {

void use_cell(TensorImpl* t, VersionCell* cell) {
  TensorExtra& extra = extra_of(t);
  ++cell->refs;
  if (extra.version_cell && --extra.version_cell->refs == 0) delete extra.version_cell;
  extra.version_cell = cell;
  t->flags |= kOwnVersion;
  t->storage->flags |= kStorageCounters;
}

}  // namespace

void share_version(TensorImpl* t, const TensorImpl* source) { use_cell(t, source->extra->version_cell); }
void give_version(TensorImpl* t, uint32_t version) { use_cell(t, new VersionCell{.refs = 0, .version = version}); }

// Whoever saved `t` sees that it has other memory now. Its views stay where they are, and keep counting with it.
void move_to(TensorImpl* t, Storage* storage) {
  if (t->storage == storage) return;
  note_move(t, storage);
  if (!has_version(t)) {
    retain(storage);
    release(std::exchange(t->storage, storage));
    return;
  }
  const uint32_t unseen = unseen_writes(t);
  if (!t->has(kOwnVersion)) {
    Storage* old = t->storage;
    give_version(t, old->version);
    if (old->refs > 1)
      for_each_on(old, [&](TensorImpl* other) {
        if (!other->has(kOwnVersion)) share_version(other, t);
      });
  }
  retain(storage);
  storage->flags |= kStorageCounters;
  release(std::exchange(t->storage, storage));
  t->extra->unseen_base += unseen + 1 - unseen_writes(t);
}

void bump_version(TensorImpl* t) {
  Storage* s = t->storage;
  if (RG_UNLIKELY(t->has(kOwnVersion))) {
    ++t->extra->version_cell->version;
    ++s->hidden_writes;
  } else {
    ++s->version;
  }
  if (RG_UNLIKELY(is_saved(s))) note_written(t);
}

// ---- collector ----

void track_tensor(TensorImpl* t) {
  if (!gc_tracked(t->object())) PyObject_GC_Track(t->object());
}

bool track_everything = false;

void track_all_live() {
  static int calls = 0;
  if (track_everything) return;
  if (++calls > 8) track_everything = true;
  pool.for_each([](PyObject* o) {
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
    pool.give(self);
  } else {
    type->tp_free(self);
  }
  if (RG_UNLIKELY(type != tensor_type)) Py_DECREF(type);
}

}  // namespace retrograd
