// Bags of rows of a table: embedding_bag and the ops it is made of.
#include "kernels/embedding.h"

#include "kernels/copy.h"

#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"

namespace retrograd {
namespace {

bool is_index(DType t) { return t == DType::Int64 || t == DType::Int32; }

void check_is_index(const Tensor& t) {
  RG_CHECK(is_index(t.dtype()),
           "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.",
           dtype_storage_name(t.dtype()), " instead (while checking arguments for embedding_bag)");
}

kernels::Bag bag_mode(int64_t mode) {
  RG_CHECK_AS(Value, mode >= 0 && mode <= 2, "embedding_bag: mode has to be 0 (sum), 1 (mean) or 2 (max), got ", mode);
  return static_cast<kernels::Bag>(mode);
}

// A vector of int64 side by side.
Tensor as_numbers(const Tensor& t) { return contiguous_data(cast_data(t, DType::Int64)); }

// Offsets and behind them the number of indices.
Tensor all_offsets(const Tensor& offsets, int64_t bags, int64_t n) {
  const Tensor all = empty(ints({bags + 1}), DType::Int64, offsets.device());
  fill_data(all, Scalar(n));
  if (bags == 0) return all;
  const int64_t sizes[1] = {bags}, steps[1] = {1}, from[1] = {offsets.stride(0)};
  const Launch launch(all, bags);
  kernels::copy(all->device).copy({all->data, DType::Int64, 1, sizes, steps}, {offsets->data, offsets->dtype, 1, sizes, from});
  return all;
}

[[noreturn]] void fail_bag(const kernels::IndexError& e, int64_t n) {
  if (e.dim == 0) fail(ErrorKind::Runtime, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ", e.value);
  if (e.size == 0)
    fail(ErrorKind::Runtime,
         "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got ", e.value);
  if (e.value > n) fail(ErrorKind::Runtime, "offsets[-1] can not be greater than input's length ", n, " but got offsets[-1] of ", e.value);
  fail(ErrorKind::Runtime, "offsets must not fall, but offsets[", e.size, "] is ", e.value, ", less than the one before it");
}

}  // namespace

namespace rule {

std::array<Spec, 4> _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
                                   int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset, int64_t) {
  const kernels::Bag kind = bag_mode(mode);
  RG_CHECK_AS(NotImplemented, !sparse,
              "embedding_bag: sparse=True asks for sparse gradients, which are not supported; leave it False for dense ones");
  RG_CHECK_AS(Value, kind != kernels::Bag::Max || !scale_grad_by_freq, "max mode does not support scaling the gradient by the frequency");
  check_is_index(indices);
  check_is_index(offsets);
  RG_CHECK(
      is_floating(weight.dtype()),
      "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, Double; but got torch.",
      dtype_storage_name(weight.dtype()), " instead (while checking arguments for embedding_bag)");
  RG_CHECK_AS(Value, weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ", weight.dim());
  RG_CHECK(indices.dim() == 1, "input has to be a 1D or 2D Tensor, but got Tensor of dimension ", indices.dim());
  RG_CHECK(offsets.dim() == 1, "offsets has to be a 1D Tensor, but got Tensor of dimension ", offsets.dim());
  RG_CHECK(!include_last_offset || offsets.size(0) >= 1, "include_last_offset: number of offset should be at least 1");
  if (per_sample_weights) {
    RG_CHECK(kind == kernels::Bag::Sum, "embedding_bag: per_sample_weights only supported with mode='sum'");
    RG_CHECK(
        per_sample_weights.dtype() == weight.dtype(),
        "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but type torch.",
        dtype_storage_name(weight.dtype()), " does not equal torch.", dtype_storage_name(per_sample_weights.dtype()),
        " (while checking arguments for embedding_bag)");
    RG_CHECK(per_sample_weights.dim() == 1 && per_sample_weights.numel() == indices.numel(),
             "Expected per_sample_weights.value().numel() == indices.numel() to be true, but got false: there are ", indices.numel(),
             " indices and weights of size ", per_sample_weights.sizes());
    check_same_device(weight.get(), per_sample_weights.get(), "embedding_bag");
  }
  check_same_device(weight.get(), indices.get(), "embedding_bag");
  check_same_device(weight.get(), offsets.get(), "embedding_bag");
  const int64_t bags = offsets.size(0) - include_last_offset, width = weight.size(1);
  RG_CHECK(bags > 0 || indices.numel() == 0, "embedding_bag: there are ", indices.numel(),
           " indices, but no bag for them: offsets are empty");
  const DType numbers = indices.dtype() == DType::Int32 && offsets.dtype() == DType::Int32 ? DType::Int32 : DType::Int64;
  const Device device = weight->device;
  return {Spec(ints({bags, width}), weight.dtype(), device), Spec(ints({indices.numel()}), numbers, device),
          Spec(ints({bags}), numbers, device),
          kind == kernels::Bag::Max ? Spec(ints({bags, width}), numbers, device) : Spec(ints({bags}), numbers, device)};
}

Spec _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                                   const Tensor&, int64_t num_weights, bool, int64_t mode, const Tensor& per_sample_weights, int64_t) {
  RG_CHECK(bag_mode(mode) != kernels::Bag::Max, "_embedding_bag_dense_backward: mode has to be sum or mean");
  RG_CHECK(grad.dim() == 2 && is_floating(grad.dtype()) && is_index(indices.dtype()) && indices.dim() == 1 &&
               same_sizes(offset2bag.sizes(), indices.sizes()) && is_index(offset2bag.dtype()) && bag_size.dim() == 1 &&
               bag_size.size(0) == grad.size(0) && num_weights >= 0,
           "_embedding_bag_dense_backward: expected a gradient and bags as of _embedding_bag, got ", grad.sizes(), ", ", indices.sizes(),
           ", ", offset2bag.sizes(), " and ", bag_size.sizes());
  if (per_sample_weights)
    RG_CHECK(per_sample_weights.dtype() == grad.dtype() && same_sizes(per_sample_weights.sizes(), indices.sizes()),
             "_embedding_bag_dense_backward: per_sample_weights do not go with the gradient");
  for (const Tensor* t : {&indices, &offset2bag, &bag_size}) check_same_device(grad.get(), t->get(), "_embedding_bag_dense_backward");
  return Spec(ints({num_weights, grad.size(1)}), grad.dtype(), grad->device);
}

Spec _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor&,
                                                const Tensor& offset2bag, int64_t mode, int64_t) {
  RG_CHECK(bag_mode(mode) == kernels::Bag::Sum, "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  RG_CHECK(grad.dim() == 2 && weight.dim() == 2 && grad.size(1) == weight.size(1) && grad.dtype() == weight.dtype() &&
               is_floating(grad.dtype()) && is_index(indices.dtype()) && indices.dim() == 1 && is_index(offset2bag.dtype()) &&
               same_sizes(offset2bag.sizes(), indices.sizes()),
           "_embedding_bag_per_sample_weights_backward: expected a gradient and bags as of _embedding_bag, got ", grad.sizes(), ", ",
           weight.sizes(), ", ", indices.sizes(), " and ", offset2bag.sizes());
  for (const Tensor* t : {&weight, &indices, &offset2bag})
    check_same_device(grad.get(), t->get(), "_embedding_bag_per_sample_weights_backward");
  return Spec(ints({indices.numel()}), grad.dtype(), grad->device);
}

}  // namespace rule

namespace compute {

void _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool, int64_t mode, bool,
                    const Tensor& per_sample_weights, bool include_last_offset, int64_t padding_idx, const Tensor& output,
                    const Tensor& offset2bag, const Tensor& bag_size, const Tensor& max_indices) {
  const kernels::Bag kind = bag_mode(mode);
  const int64_t bags = output.size(0), n = indices.numel();
  if (include_last_offset) {
    const int64_t end = static_cast<int64_t>(read_scalar(offsets, bags * offsets.stride(0)).to_double());
    RG_CHECK(end == n, "Your input appears to be incorrect: the last offset value should be the size of the indices tensor, but it is ",
             end, " where there are ", n, " indices");
  }
  const Tensor at = as_numbers(indices), starts = all_offsets(offsets, bags, n);
  const Tensor factors = per_sample_weights ? contiguous_data(per_sample_weights) : Tensor();
  const auto room = [&](const Tensor& t) { return t.dtype() == DType::Int64 ? t : empty(t.sizes(), DType::Int64, t.device()); };
  const Tensor bag_of = room(offset2bag), sizes = room(bag_size), highest = kind == kernels::Bag::Max ? room(max_indices) : Tensor();
  IndexSlot e(weight->device);
  {
    const Launch launch(output, (n + bags) * weight.size(1));
    kernels::embedding(weight->device)
        .bags(output.array(), weight.array(), at.array(), starts.array(), factors ? factors->data : nullptr, kind, padding_idx,
              static_cast<int64_t*>(bag_of->data), static_cast<int64_t*>(sizes->data),
              highest ? static_cast<int64_t*>(highest->data) : nullptr, e.data());
  }
  if (!e.read().ok) fail_bag(e.read(), n);
  // As in PyTorch: a sum has no use for sizes, and a mean no other place for them.
  if (kind == kernels::Bag::Sum) fill_data(sizes, Scalar(0));
  if (!bag_of.is(offset2bag)) copy_data(offset2bag, bag_of);
  if (!sizes.is(bag_size)) copy_data(bag_size, sizes);
  if (kind == kernels::Bag::Max) {
    if (!highest.is(max_indices)) copy_data(max_indices, highest);
  } else {
    copy_data(max_indices, sizes);
  }
}

void _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                                   const Tensor&, int64_t, bool scale_grad_by_freq, int64_t mode, const Tensor& per_sample_weights,
                                   int64_t padding_idx, const Tensor& out) {
  fill_data(out, Scalar(0));
  if (indices.numel() == 0) return;
  const Tensor at = as_numbers(indices), bag_of = as_numbers(offset2bag), sizes = as_numbers(bag_size);
  const Tensor factors = per_sample_weights ? contiguous_data(per_sample_weights) : Tensor();
  IndexSlot e(out->device);
  {
    const Launch launch(out, indices.numel() * out.size(1) * 2);
    kernels::embedding(out->device)
        .bags_backward(out.array(), grad.array(), at.array(), static_cast<const int64_t*>(bag_of->data),
                       static_cast<const int64_t*>(sizes->data), factors ? factors->data : nullptr, bag_mode(mode), padding_idx,
                       scale_grad_by_freq, e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_range(e.read());
}

void _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor&,
                                                const Tensor& offset2bag, int64_t, int64_t padding_idx, const Tensor& out) {
  const Tensor at = as_numbers(indices), bag_of = as_numbers(offset2bag);
  IndexSlot e(out->device);
  {
    const Launch launch(out, indices.numel() * weight.size(1));
    kernels::embedding(out->device)
        .weights_backward(out.array(), grad.array(), weight.array(), at.array(), static_cast<const int64_t*>(bag_of->data), padding_idx,
                          e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_range(e.read());
}

}  // namespace compute

namespace composite {

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag_padding_idx(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                                                     bool scale_grad_by_freq, int64_t mode, bool sparse,
                                                                     const Tensor& per_sample_weights, bool include_last_offset,
                                                                     std::optional<int64_t> padding_idx) {
  int64_t padding = -1;
  if (padding_idx && weight.dim() > 0) {
    const int64_t rows = weight.size(0);
    RG_CHECK(*padding_idx >= -rows && *padding_idx < rows, "padding_idx must be within the number of embeddings, ", -rows, " through ",
             rows - 1, ", but got ", *padding_idx);
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  return ops::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding);
}

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                                         bool scale_grad_by_freq, int64_t mode, bool sparse,
                                                         const Tensor& per_sample_weights, bool include_last_offset) {
  return ops::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, -1);
}

}  // namespace composite
}  // namespace retrograd
