// Making tensors: their geometry, new ones, and others on the same memory.
#include "core/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/birth.h"
#include "core/format.h"
#include "core/inline_storage.h"
#include "core/launch.h"
#include "core/spec.h"
#include "core/state.h"
#include "core/tensor_pool.h"
#include "core/transfer.h"
#include "kernels/copy.h"

namespace retrograd {

namespace {

// From the pool, with everything behind the inline dimensions zero; the caller fills in the rest, beginning with traits and dims.
inline TensorImpl* take_tensor() {
  auto* t = reinterpret_cast<TensorImpl*>(tensor_pool.take());
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

}  // namespace

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

namespace {

inline void write_contiguous(int64_t* dims, IntSpan sizes) {
  const int ndim = static_cast<int>(sizes.size());
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    dims[d] = size;
    dims[ndim + d] = stride;
    stride *= size > 1 ? size : 1;
  }
}

}  // namespace

void set_contiguous_geometry(TensorImpl* t, IntSpan sizes) {
  const int64_t numel = checked_numel(sizes);  // first: it refuses sizes whose product overflows
  write_contiguous(reserve_dims(t, static_cast<int>(sizes.size())), sizes);
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

namespace {

// Dims that were just put together are copied one by one (copy_dims): a wider load would have to wait until they are all written.
void write_geometry(TensorImpl* t, IntSpan sizes, IntSpan strides) {
  RG_CHECK(sizes.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", sizes.size());
  int64_t* dims = reserve_dims(t, static_cast<int>(sizes.size()));
  copy_dims(dims, sizes.data(), sizes.size());
  copy_dims(dims + sizes.size(), strides.data(), sizes.size());
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  t->numel = n;
  const bool contiguous = geometry_is_contiguous(sizes, strides);
  t->flags = static_cast<uint16_t>((t->flags & ~kContiguous) | (contiguous ? kContiguous : 0));
}

}  // namespace

void set_geometry(TensorImpl* t, IntSpan sizes, IntSpan strides) {
  RG_CHECK(sizes.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", sizes.size());
  int64_t copy[2 * kMaxDims];  // the spans may point into t itself
  copy_dims(copy, sizes.data(), sizes.size());
  copy_dims(copy + kMaxDims, strides.data(), sizes.size());
  write_geometry(t, {copy, sizes.size()}, {copy + kMaxDims, sizes.size()});
}

static void without_note(TensorImpl*) {}
void (*note_birth)(TensorImpl*) = without_note;

namespace {

void born_in_inference(TensorImpl* t) {
  t->flags |= kInference;
  note_birth(t);
}

// A storage for a new tensor, small ones in line.
inline Storage* storage_for(size_t nbytes, Device device) {
  return RG_LIKELY(nbytes <= kInlineLimit && device.is_cpu()) ? new_inline_storage(nbytes, device) : new_storage(nbytes, device);
}

// With more dims than a tensor has room for.
[[gnu::noinline]] Tensor empty_of_many_dims(IntSpan sizes, DType dtype, Device device) {
  Tensor t = new_tensor_object();
  set_contiguous_geometry(t.get(), sizes);
  t->dtype = dtype;
  t->device = device;
  t->storage = new_storage(static_cast<size_t>(t->numel) * static_cast<size_t>(itemsize(dtype)), device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) born_in_inference(t.get());
  return t;
}

constexpr uint64_t placed(uint64_t bits, uint64_t value) { return value << std::countr_zero(bits); }

}  // namespace

Tensor empty(IntSpan sizes, DType dtype, Device device) {
  if (RG_UNLIKELY(sizes.size() > static_cast<size_t>(kInlineDims))) return empty_of_many_dims(sizes, dtype, device);
  const int64_t numel = checked_numel(sizes);
  TensorImpl* t = take_tensor();
  Tensor owner = Tensor::steal(t);
  t->storage = nullptr;  // until there is one: making it may throw
  t->numel = numel;
  // Put together in a register: an eight-byte load of what was just stored in pieces waits for the stores.
  set_traits(t, placed(kDtypeBits, static_cast<uint8_t>(dtype)) | placed(kDeviceBits, std::bit_cast<uint16_t>(device)) |
                    placed(kNdimBits, sizes.size()) | flag_bits(kPooled | kContiguous) | thread_state.fresh_bits);
  t->dims = t->inline_dims;
  write_contiguous(t->inline_dims, sizes);
  t->storage = storage_for(static_cast<size_t>(numel * itemsize(dtype)), device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) note_birth(t);
  return owner;
}

Tensor empty_dense(const TensorImpl* source, DType dtype) {
  if (RG_UNLIKELY(source->numel == 0)) return empty(source->shape(), dtype, source->device);  // its strides may be any
  if (RG_UNLIKELY(source->ndim > kInlineDims))
    return empty_strided(source->shape(), {source->strides(), source->ndim}, dtype, source->device);
  TensorImpl* t = take_tensor();
  Tensor owner = Tensor::steal(t);
  t->storage = nullptr;  // until there is one: making it may throw
  t->numel = source->numel;
  set_traits(t, (traits_word(source) & (kDeviceBits | kNdimBits | flag_bits(kContiguous))) |
                    TensorTraits{.dtype = dtype, .flags = kPooled}.word() | thread_state.fresh_bits);
  t->dims = t->inline_dims;
  const int64_t* from = source->dims;
  for (int i = 0, n = 2 * source->ndim; i < n; i += 2) std::memcpy(t->inline_dims + i, from + i, 16);
  t->storage = storage_for(static_cast<size_t>(source->numel * itemsize(dtype)), source->device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) note_birth(t);
  return owner;
}

namespace {

// How many elements of memory there have to be, where that is nothing ordinary: few sizes are negative, or too large.
[[gnu::cold, gnu::noinline]] int64_t unusual_extent(IntSpan sizes, IntSpan strides) {
  checked_numel(sizes);
  int64_t extent = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    RG_CHECK(strides[d] >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
    int64_t reach;
    RG_CHECK(!__builtin_mul_overflow(sizes[d] > 0 ? sizes[d] - 1 : 0, strides[d], &reach) &&
                 !__builtin_add_overflow(extent, reach, &extent) && extent < (INT64_MAX >> 4),
             "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
    if (sizes[d] == 0) return 0;
  }
  return extent;
}

}  // namespace

Tensor empty_strided(IntSpan sizes, IntSpan strides, DType dtype, Device device) {
  RG_CHECK(sizes.size() == strides.size(), "mismatch in length of strides and shape: ", strides, " and ", sizes);
  constexpr int64_t kLarge = int64_t{1} << 31;  // products of two that are not fit 64 bits
  const size_t ndim = sizes.size();
  int64_t numel = 1, extent = 1;
  bool unusual = ndim > static_cast<size_t>(kMaxDims);
  for (size_t d = 0; d < ndim && !unusual; ++d) {
    const uint64_t steps = static_cast<uint64_t>(sizes[d]) - 1, stride = static_cast<uint64_t>(strides[d]);
    unusual = steps >= kLarge || stride >= kLarge || numel >= kLarge || extent >= kLarge;
    numel = static_cast<int64_t>(static_cast<uint64_t>(numel) * (steps + 1));
    extent = static_cast<int64_t>(static_cast<uint64_t>(extent) + steps * stride);
  }
  if (RG_UNLIKELY(unusual)) {
    extent = unusual_extent(sizes, strides);
    numel = checked_numel(sizes);
  }
  Tensor t = new_tensor_object();
  int64_t* dims = reserve_dims(t.get(), static_cast<int>(ndim));
  copy_dims(dims, sizes.data(), ndim);
  copy_dims(dims + ndim, strides.data(), ndim);
  t->numel = numel;
  if (geometry_is_contiguous(sizes, strides)) t->flags |= kContiguous;
  t->dtype = dtype;
  t->device = device;
  t->storage = storage_for(static_cast<size_t>(extent) * static_cast<size_t>(itemsize(dtype)), device);
  t->data = t->storage->data;
  if (RG_UNLIKELY(thread_state.inference_mode)) born_in_inference(t.get());
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

// A tensor on the same storage, without dims so far. Shares the version counter.
Tensor share(const TensorImpl* source) {
  TensorImpl* t = take_tensor();
  t->storage = source->storage;
  retain(t->storage);
  set_traits(t, (traits_word(source) & (kDtypeBits | kDeviceBits | flag_bits(kInference | kLazy | kBirth))) | flag_bits(kPooled));
  t->dims = t->inline_dims;
  Tensor owner = Tensor::steal(t);
  if (RG_UNLIKELY(source->has(kOwnVersion))) share_version(t, source);
  if (RG_UNLIKELY(source->has(kInference))) t->cut = source->cut;
  return owner;
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
  check_no_batch(source);
  Tensor t = share(source.get());
  t->data = static_cast<char*>(source->storage->data) + offset * itemsize(source.dtype());
  write_geometry(t.get(), sizes, strides);
  return t;
}

Tensor from_storage(Storage* storage, DType dtype, IntSpan sizes, IntSpan strides, int64_t offset) {
  Tensor t = new_tensor_object();
  t->storage = storage;
  t->dtype = dtype;
  t->device = storage->device;
  t->data = static_cast<char*>(storage->data) + offset * itemsize(dtype);
  write_geometry(t.get(), sizes, strides);
  if (RG_UNLIKELY(thread_state.inference_mode)) born_in_inference(t.get());
  return t;
}

Tensor scalar_tensor(Scalar value, DType dtype, Device device) {
  Tensor t = empty({}, dtype, device);
  if (RG_UNLIKELY(!t->device.is_cpu())) {
    if (is_meta(t)) return t;
    alignas(16) char element[kMaxItemSize];
    value.store(dtype, element);
    const Launch launch(t);
    kernels::copy(t->device).fill(t.array(), element);
    return t;
  }
  value.store(dtype, t->data);
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
  write_geometry(t.get(), {sizes, n}, {strides, n});
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

TensorExtra& extra_of(TensorImpl* t) {
  if (!t->extra) t->extra = new TensorExtra();
  return *t->extra;
}

}  // namespace retrograd
