#include "core/format.h"

namespace retrograd {

const char* memory_format_name(MemoryFormat format) {
  constexpr const char* names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
  return names[static_cast<int>(format)];
}

const char* layout_name(Layout layout) {
  constexpr const char* names[] = {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
  return names[static_cast<int>(layout)];
}

void format_strides(IntSpan sizes, MemoryFormat format, int64_t* strides) {
  const int n = static_cast<int>(sizes.size());
  int64_t step = 1;
  auto place = [&](int d) {
    strides[d] = step;
    step *= sizes[static_cast<size_t>(d)] > 1 ? sizes[static_cast<size_t>(d)] : 1;
  };
  if (format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d) {
    const int rank = format == MemoryFormat::ChannelsLast ? 4 : 5;
    RG_CHECK(n == rank, "required rank ", rank, " tensor to use ", memory_format_name(format), " format");
    place(1);
    for (int d = n - 1; d >= 2; --d) place(d);
    place(0);
    return;
  }
  for (int d = n - 1; d >= 0; --d) place(d);
}

bool has_format(const TensorImpl* t, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return t->is_contiguous();
  if (t->ndim != (format == MemoryFormat::ChannelsLast ? 4 : 5)) return false;
  int64_t strides[kMaxDims];
  format_strides(t->shape(), format, strides);
  for (int d = 0; d < t->ndim; ++d)
    if (t->size(d) != 1 && t->stride(d) != strides[d]) return false;
  return true;
}

MemoryFormat apparent_format(const TensorImpl* t) {
  if ((t->ndim != 4 && t->ndim != 5) || t->is_contiguous()) return MemoryFormat::Contiguous;
  int64_t least = 1;  // the smallest stride that the next dimension outwards may have
  const auto fits = [&](int d) {
    const bool ok = t->size(d) != 0 && t->stride(d) >= least;
    least = t->stride(d) * t->size(d);
    return ok;
  };
  bool ok = fits(1);
  for (int d = t->ndim - 1; d >= 2; --d) ok = ok && fits(d);
  if (!ok || !fits(0)) return MemoryFormat::Contiguous;
  return t->ndim == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

Tensor empty_in(IntSpan sizes, MemoryFormat format, DType dtype, Device device) {
  if (RG_LIKELY(format == MemoryFormat::Contiguous)) return empty(sizes, dtype, device);
  int64_t strides[kMaxDims];
  format_strides(sizes, format, strides);
  return empty_strided(sizes, {strides, sizes.size()}, dtype, device);
}

void like_strides(const TensorImpl* like, MemoryFormat format, int64_t* strides) {
  if (format != MemoryFormat::Preserve) return format_strides(like->shape(), format, strides);
  const int n = like->ndim;
  if (dense_and_nonoverlapping(like)) {
    for (int d = 0; d < n; ++d) strides[d] = like->stride(d);
    return;
  }
  // From the smallest stride up; expanded dimensions tie with their inner neighbour and stay outside of it.
  int order[kMaxDims];
  for (int d = n - 1, count = 0; d >= 0; --d, ++count) {
    int at = count;
    while (at > 0 && like->stride(d) != 0 && like->stride(order[at - 1]) > like->stride(d)) {
      order[at] = order[at - 1];
      --at;
    }
    order[at] = d;
  }
  int64_t step = 1;
  for (int i = 0; i < n; ++i) {
    strides[order[i]] = step;
    step *= like->size(order[i]) > 1 ? like->size(order[i]) : 1;
  }
}

Tensor empty_like(const Tensor& like, DType dtype, Device device, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous || (format == MemoryFormat::Preserve && like.is_contiguous()))
    return empty(like.sizes(), dtype, device);
  int64_t strides[kMaxDims];
  like_strides(like.get(), format, strides);
  return empty_strided(like.sizes(), {strides, static_cast<size_t>(like->ndim)}, dtype, device);
}

}  // namespace retrograd
