// The tensor. One CPython object: what Python holds, what the graph saves and what C++ computes with are the same struct, so nothing
// has to be kept in step. `Tensor` is an owning handle to it (a Py_INCREF'ed pointer); functions take `const Tensor&`.
//
// Always true: sizes()/strides() describe elements of `dtype` inside `storage`; `data` is storage->data plus the offset; numel is the
// product of sizes; kContiguous is up to date. Everything here is touched with the GIL held; kernels see kernels::Array only.
//
// Note [Joining the collector]
// Tensors and nodes are of a garbage-collected type, but most never meet the collector: on a graph of a million nodes it would cost more
// than the ops. Edges of the graph run from newer objects to older ones, so they alone cannot close a cycle. A cycle
// needs an edge from an older object to a newer one, and those are made in a few places: hooks, attributes (__dict__), metadata,
// Python functions' ctx, and a .grad that has a history. Each of these calls join_collector() on its object, which
//   (1) tracks every tensor and node alive at that moment (the pools can enumerate them), and
//   (2) marks the object, so that whatever is built on it later is tracked as it is made (`needs_collector`).
// After a few such calls everything is tracked as it is made (`track_everything`), so a program that registers hooks at every step does not
// pay for enumerating again and again. Hence every member of a cycle is tracked, and a program that uses none of these never pays. Instances of Python subclasses
// (nn.Parameter) are tracked from birth by CPython; they are marked when they first get attributes or hooks.
//
// Note [Batched tensors]
// Inside vmap a function sees tensors without the dimension it is mapped over. Such a tensor has the sizes and strides of one sample and no
// data: its own `device` is meta, so that no kernel can read it by mistake, while its storage names the device of the real
// tensor in extra->batched; device() is the latter. Ops that meet one go to the handler of its vmap (python/intercept.h).
//
// Note [Lazy conjugation]
// conj() of a complex tensor is a view: it shares the memory and sets kConj. imag of such a view is a real tensor with kNeg. Views pass the flags on.
// Few kernels know of them: dispatch hands a kernel tensors without (`plain` in ops/lazy.h), pointwise ops and copies resolve
// them on the way, and a write goes through copy_data, which turns the elements back.
//
// Note [Captured tensors]
// A function that func.grad or func.jvp differentiates must not write to a tensor that it did not make and was not given: the write would
// leave a piece of the transform's graph, or none of it, on a tensor that outlives the transform. So a tensor knows at which depth of
// such transforms it was made (kBirth; a view has that of what it views), and check_inplace() refuses a write from deeper inside.
// The arguments of a transform enter it as aliases that were made inside. Below a vmap the depth is the one at which the vmap began.
#pragma once

#include <Python.h>

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "core/device.h"
#include "core/dtype.h"
#include "core/errors.h"
#include "core/scalar.h"
#include "core/storage.h"
#include "kernels/array.h"

namespace retrograd {

struct Node;
struct TensorExtra;

enum TensorFlags : uint16_t {
  kRequiresGrad = 1,  // leaf that asked for gradients
  kContiguous = 2,
  kInference = 4,   // made under inference_mode
  kOwnVersion = 8,  // has a version counter apart from that of its memory: see Note [Version counters]
  kRetainsGrad = 16,
  kNumber = 32,         // a Python number wrapped as a 0-d tensor: weakest in type promotion
  kMarked = 64,         // see Note [Joining the collector]
  kPooled = 128,        // lives in the pool; instances of Python subclasses do not
  kDual = 256,          // has tangents, see autograd/tangent.h
  kBatched = 512,       // one sample, as vmap shows it, of the tensor in extra->batched; see Note [Batched tensors]
  kPrivateLeaf = 1024,  // made by a forward rule for itself: nobody asked for its gradient
  kConj = 2048,         // the elements are the conjugates of what is in memory; see Note [Lazy conjugation]
  kNeg = 4096,          // the elements are the negatives of what is in memory
  kBirth = 7 << 13,     // the depth of transforms it was made at, see Note [Captured tensors]
};
inline constexpr int kBirthShift = 13, kDeepestBirth = 7;

// How a view came to be; decides whether it may be written in place (see autograd/history.h).
enum class ViewOrigin : uint8_t { Default, CustomFunction, MultiOutput, NoGradMode, InferenceMode };

inline constexpr int kInlineDims = 6;
using kernels::kMaxDims;

struct TensorImpl {
  PyObject_HEAD
  Storage* storage;
  void* data;
  int64_t numel;
  DType dtype;  // from here to view_origin: see TensorTraits
  Device device;
  uint8_t ndim;
  uint16_t flags;
  bool has_cut;  // whether `cut` says something; beside the flags, so that one test finds it
  ViewOrigin view_origin;
  int64_t* dims;  // sizes then strides, inline or on the heap
  int64_t inline_dims[2 * kInlineDims];
  Node* grad_fn;          // owned; null for leaves
  uint32_t output_nr;     // which output of grad_fn this is
  uint32_t view_version;  // version of the storage when a view's grad_fn was made
  TensorImpl* base;       // owned; the tensor this is a differentiable view of
  TensorImpl* grad;       // owned
  Node* accumulator;      // borrowed: the AccumulateGrad node while one is alive
  TensorExtra* extra;     // rare things: hooks, name, .data version
  uint32_t cut;           // where the history of what this was computed from was cut, see autograd/cut.h
  PyObject* dict;
  PyObject* weakrefs;

  const int64_t* sizes() const { return dims; }
  const int64_t* strides() const { return dims + ndim; }
  int64_t size(int d) const { return dims[d]; }
  int64_t stride(int d) const { return dims[ndim + d]; }
  std::span<const int64_t> shape() const { return {dims, ndim}; }
  bool has(TensorFlags f) const { return flags & f; }
  bool is_contiguous() const { return flags & kContiguous; }
  int64_t offset() const { return (static_cast<char*>(data) - static_cast<char*>(storage->data)) / kItemSize[static_cast<int>(dtype)]; }
  PyObject* object() { return reinterpret_cast<PyObject*>(this); }
  kernels::Array array() const { return {data, dtype, ndim, dims, dims + ndim}; }
};

// The small fields of a tensor as one word: compared and written at once where every op passes.
struct TensorTraits {
  DType dtype = {};
  Device device = {DeviceType(0), 0};
  uint8_t ndim = 0;
  uint16_t flags = 0;
  bool has_cut = false;
  ViewOrigin view_origin = {};

  constexpr uint64_t word() const { return std::bit_cast<uint64_t>(*this); }
};
static_assert(sizeof(TensorTraits) == 8 && offsetof(TensorImpl, dtype) % 8 == 0);
static_assert(offsetof(TensorImpl, flags) - offsetof(TensorImpl, dtype) == offsetof(TensorTraits, flags));
static_assert(offsetof(TensorImpl, view_origin) - offsetof(TensorImpl, dtype) == offsetof(TensorTraits, view_origin));
inline uint64_t traits_word(const TensorImpl* t) {
  uint64_t word;
  std::memcpy(&word, &t->dtype, sizeof word);
  return word;
}
inline void set_traits(TensorImpl* t, uint64_t word) { std::memcpy(&t->dtype, &word, sizeof word); }
inline constexpr uint64_t kDtypeBits = TensorTraits{.dtype = DType(0xff)}.word();
inline constexpr uint64_t kDeviceBits = TensorTraits{.device = {DeviceType(0xff), -1}}.word();
inline constexpr uint64_t kNotCpuBits = TensorTraits{.device = {DeviceType(0xff), 0}}.word();
static_assert(DeviceType::CPU == DeviceType(0));
inline constexpr uint64_t kNdimBits = TensorTraits{.ndim = 0xff}.word();
constexpr uint64_t flag_bits(int flags) { return TensorTraits{.flags = static_cast<uint16_t>(flags)}.word(); }
inline constexpr uint64_t kComplexBits = TensorTraits{.dtype = DType(kComplexBit)}.word();
inline constexpr uint64_t kGuestBits = TensorTraits{.dtype = DType(kGuestBit)}.word();
inline constexpr uint16_t kLazy = kConj | kNeg;
inline constexpr uint64_t kLazyBits = flag_bits(kLazy);

// Whether a tensor is a leaf that requires grad or knows where a history was cut, in one test.
inline constexpr uint64_t kNotedBits = TensorTraits{.has_cut = true}.word();
static_assert(offsetof(TensorTraits, flags) == 4 && kNotedBits >> 32 == uint64_t{1} << 16);
inline bool asked_or_cut(const TensorImpl* t) {
  uint32_t high;
  std::memcpy(&high, &t->flags, sizeof high);
  return high & static_cast<uint32_t>((flag_bits(kRequiresGrad) | kNotedBits) >> 32);
}

// See Note [Captured tensors].
inline int birth(const TensorImpl* t) { return t->flags >> kBirthShift; }
inline void set_birth(TensorImpl* t, int depth) { t->flags = static_cast<uint16_t>((t->flags & ~kBirth) | (depth << kBirthShift)); }

// Note [Version counters]
// Storage::version counts for a tensor, its views and its detach()ed aliases, which is all tensors on most storages. What PyTorch gives
// another counter (.data, a tensor after set_() or an assignment to its .data, the parts of unsafe_split) has a cell of its own, shared with
// its views. Writes counted there are unseen by the others on that storage: they go to Storage::hidden_writes. unseen_writes() is the
// number of writes to the memory of a tensor that its version does not count; a saved tensor compares both numbers, and where
// unseen_writes() moved it asks whether its own elements changed: Note [Hidden writes] in core/write_notes.h.
struct VersionCell {
  uint32_t refs = 1;
  uint32_t version = 0;
};

// What a tensor changes by when the inputs of a forward-mode level move along their tangents.
struct Tangent {
  uint32_t level;
  TensorImpl* value;  // owned
  Tangent* next;      // of the same tensor
  // All tangents of a level are linked, so that leaving it can drop them.
  Tangent* next_of_level;
  Tangent** link;  // whatever points to this one in that list
  TensorImpl* owner;
};

// Of Tensor.grad_dtype beside a dtype: the tensor's own, and none in particular.
inline constexpr int16_t kGradDTypeOwn = -1, kGradDTypeAny = -2;

struct MoveNotes;  // see core/write_notes.h

struct TensorExtra {
  PyObject* hooks = nullptr;  // ordered dict id -> callable, made in Python
  PyObject* post_accumulate_hooks = nullptr;
  PyObject* name = nullptr;
  VersionCell* version_cell = nullptr;  // kOwnVersion
  uint32_t unseen_base = 0;             // kOwnVersion: what makes unseen_writes() go on where it was
  MoveNotes* moves = nullptr;           // owned; what it held before it got other memory
  Tangent* tangents = nullptr;          // kDual
  TensorImpl* batched = nullptr;        // kBatched: the whole tensor, owned
  int32_t batch_level = 0;
  int32_t batch_dim = -1;  // of `batched`; -1: the same for every sample
  int16_t grad_dtype = kGradDTypeOwn;
};

extern PyTypeObject* tensor_type;  // retrograd.Tensor
inline bool is_tensor(PyObject* o) { return Py_TYPE(o) == tensor_type || PyType_IsSubtype(Py_TYPE(o), tensor_type); }

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::nullptr_t) {}
  Tensor(const Tensor& o) : p_(o.p_) { Py_XINCREF(reinterpret_cast<PyObject*>(p_)); }
  Tensor(Tensor&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Tensor() { Py_XDECREF(reinterpret_cast<PyObject*>(p_)); }

  static Tensor steal(TensorImpl* p) {
    Tensor t;
    t.p_ = p;
    return t;
  }
  static Tensor borrow(TensorImpl* p) {
    Py_XINCREF(reinterpret_cast<PyObject*>(p));
    return steal(p);
  }
  static Tensor borrow(PyObject* p) { return borrow(reinterpret_cast<TensorImpl*>(p)); }

  explicit operator bool() const { return p_ != nullptr; }
  bool defined() const { return p_ != nullptr; }
  TensorImpl* get() const { return p_; }
  TensorImpl* operator->() const { return p_; }
  TensorImpl* release() { return std::exchange(p_, nullptr); }
  void reset() { *this = Tensor(); }
  bool is(const Tensor& o) const { return p_ == o.p_; }

  int64_t dim() const { return p_->ndim; }
  int64_t numel() const { return p_->numel; }
  int64_t size(int64_t d) const { return p_->dims[d < 0 ? d + p_->ndim : d]; }
  int64_t stride(int64_t d) const { return p_->dims[p_->ndim + (d < 0 ? d + p_->ndim : d)]; }
  std::span<const int64_t> sizes() const { return p_->shape(); }
  std::span<const int64_t> strides() const { return {p_->strides(), p_->ndim}; }
  DType dtype() const { return p_->dtype; }
  Device device() const { return p_->storage->device; }
  bool is_contiguous() const { return p_->is_contiguous(); }
  kernels::Array array() const { return p_->array(); }
  template <class T> T* data() const { return static_cast<T*>(p_->data); }

 private:
  TensorImpl* p_ = nullptr;
};

// A tensor or a number: what arithmetic takes on either side. Borrows the tensor.
struct Operand {
  TensorImpl* tensor = nullptr;
  Scalar scalar;
  Operand(const Tensor& t) : tensor(t.get()) {}
  Operand(TensorImpl* t) : tensor(t) {}
  Operand(Scalar s) : scalar(s) {}
  Operand(double v) : scalar(v) {}
  Operand(int v) : scalar(v) {}
  Operand(int64_t v) : scalar(v) {}
  bool is_tensor() const { return tensor != nullptr; }
  bool equals(double v) const { return !tensor && scalar.equals(v); }
};

using IntSpan = std::span<const int64_t>;

// A list of numbers, or none. Two words, which travel in registers from layer to layer of a call; a std::optional has three, which do not.
class OptInts {
 public:
  constexpr OptInts() : ints_(static_cast<const int64_t*>(nullptr), kNone) {}
  constexpr OptInts(std::nullopt_t) : OptInts() {}
  template <class T>
    requires std::is_convertible_v<T&&, IntSpan>
  constexpr OptInts(T&& ints) : ints_(std::forward<T>(ints)) {}

  constexpr bool has_value() const { return ints_.size() != kNone; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const IntSpan& operator*() const { return ints_; }
  constexpr const IntSpan* operator->() const { return &ints_; }
  constexpr IntSpan value_or(IntSpan other) const { return has_value() ? ints_ : other; }

 private:
  static constexpr size_t kNone = ~size_t{0};
  IntSpan ints_;
};

// ---- making tensors. None of these records history. ----

Tensor new_tensor_object();                                        // geometry unset: the caller fills it in
void set_geometry(TensorImpl* t, IntSpan sizes, IntSpan strides);  // copies; sets numel and kContiguous
void set_contiguous_geometry(TensorImpl* t, IntSpan sizes);
Tensor empty(IntSpan sizes, DType dtype, Device device = {});
Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device = {});
Tensor empty_dense(const TensorImpl* t, DType dtype);  // of the sizes and strides of a tensor without gaps: the fast case
Tensor empty_like(const Tensor& t);                    // dense layouts keep their stride order
Tensor empty_like(const Tensor& t, DType dtype);
Tensor alias(const Tensor& t);                                                     // same storage and geometry, no history, no base
Tensor alias_as(const Tensor& t, IntSpan sizes, IntSpan strides, int64_t offset);  // the same with another geometry
Tensor scalar_tensor(Scalar value, DType dtype, Device device = {});
Tensor full(IntSpan sizes, Scalar value, DType dtype, Device device = {});
Tensor from_storage(Storage* storage, DType dtype, IntSpan sizes, IntSpan strides, int64_t offset);  // steals the reference

Tensor batched(const Tensor& whole, int64_t dim, int32_t level);  // see Note [Batched tensors]; dim -1: the same for every sample
bool is_batched(const TensorImpl* t, int32_t level);
bool varies_more(const TensorImpl* t, const TensorImpl* than);  // differs between samples of a vmap for which `than` is the same

TensorExtra& extra_of(TensorImpl* t);
void drop_tangent(Tangent* tangent);  // from its tensor and its level
void drop_tangents(TensorImpl* t);
bool dense_and_nonoverlapping(const TensorImpl* t);
bool geometry_is_contiguous(IntSpan sizes, IntSpan strides);
bool has_internal_overlap(const TensorImpl* t);  // an expanded dimension of size > 1
int64_t checked_numel(IntSpan sizes);            // throws when it overflows or a size is negative
inline bool same_sizes(const TensorImpl* a, const TensorImpl* b) {
  if (a->ndim != b->ndim) return false;
  for (int d = 0; d < a->ndim; ++d)
    if (a->dims[d] != b->dims[d]) return false;
  return true;
}
inline bool same_sizes(IntSpan a, IntSpan b) {
  if (a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d)
    if (a[d] != b[d]) return false;
  return true;
}
Tensor without_lifts(Tensor t);  // the tensor behind samples of a vmap that are all the same; `t` itself where they differ
inline bool is_meta(const Tensor& t) { return t->device.type == DeviceType::Meta; }  // has no data, as batched tensors have none

// ---- versions ----
inline uint32_t version_of(const TensorImpl* t) {
  return RG_UNLIKELY(t->has(kOwnVersion)) ? t->extra->version_cell->version : t->storage->version;
}
inline uint32_t unseen_writes(const TensorImpl* t) {
  const Storage* s = t->storage;
  if (RG_LIKELY(!t->has(kOwnVersion))) return s->hidden_writes;
  return t->extra->unseen_base + s->version + s->hidden_writes - t->extra->version_cell->version;
}
void bump_version(TensorImpl* t);                             // after a write; before_write() in core/write_notes.h comes before it
void give_version(TensorImpl* t, uint32_t version);           // a counter of its own
void share_version(TensorImpl* t, const TensorImpl* source);  // the counter that another tensor has of its own
void move_to(TensorImpl* t, Storage* storage);                // other memory, with the counter it has; takes a reference
void forget_moves(TensorExtra& extra) noexcept;
inline bool has_version(const TensorImpl* t) { return (t->flags & (kInference | kOwnVersion)) != kInference; }

// ---- collector: see Note [Joining the collector] ----
void join_collector(TensorImpl* t);
void track_tensor(TensorImpl* t);
void track_all_live();
inline bool gc_tracked(PyObject* o) {
#if PY_VERSION_HEX < 0x030e0000 && !defined(Py_GIL_DISABLED)
  return (reinterpret_cast<const uintptr_t*>(o) - 2)[0] != 0;  // what PyObject_GC_IsTracked reads
#else
  return PyObject_GC_IsTracked(o);
#endif
}
extern bool track_everything;
extern void (*track_all_nodes)();  // set by autograd
extern void (*mark_node)(Node*);

// ---- the Python type calls these ----
void tensor_dealloc(PyObject* self);
int tensor_traverse(PyObject* self, visitproc visit, void* arg);
int tensor_clear(PyObject* self);
size_t live_tensors();
void for_each_tensor(void (*f)(TensorImpl*, void*), void* context);
void init_tensors();

}  // namespace retrograd
