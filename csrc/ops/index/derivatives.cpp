#include "ops/index/derivatives.h"

#include "autograd/layers.h"
#include "core/state.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

Tensor zeros_like_sizes(const Tensor& grad, IntSpan sizes) { return zeros(sizes, grad.dtype(), grad.device()); }
Tensor zero_of(const Tensor& grad) { return scalar_tensor(0.0, grad.dtype(), grad.device()); }

}  // namespace

// The zeros are new, so writing them in place is safe also when the write is recorded. But they are one tensor for all samples of a vmap: what
// differs between samples, or was made inside it, has to be written to a tensor that the op makes.
Tensor gather_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
  const Tensor out = zeros_like_sizes(grad, sizes);
  return has_layers(grad, index) ? ops::scatter_add(out, dim, index, grad) : ops::scatter_add_(out, dim, index, grad);
}

Tensor index_select_grad(const Tensor& grad, IntSpan sizes, int64_t dim, const Tensor& index) {
  const Tensor out = zeros_like_sizes(grad, sizes);
  return has_layers(grad, index) ? ops::index_add(out, dim, index, grad, 1) : ops::index_add_(out, dim, index, grad, 1);
}

Tensor index_grad(const Tensor& grad, IntSpan sizes, std::span<const Tensor> indices) {
  const Tensor out = zeros_like_sizes(grad, sizes);
  return has_layers(grad, indices) ? ops::index_put(out, indices, grad, true) : ops::index_put_(out, indices, grad, true);
}

Tensor take_grad(const Tensor& grad, IntSpan sizes, const Tensor& index) {
  const Tensor out = zeros_like_sizes(grad, sizes);
  return has_layers(grad, index) ? ops::put(out, index, grad, true) : ops::put_(out, index, grad, true);
}

Tensor masked_select_grad(const Tensor& grad, IntSpan sizes, const Tensor& mask) {
  const Shape shape = broadcast_shapes(mask.sizes(), sizes);
  const Tensor out = zeros_like_sizes(grad, shape);
  return sum_to(has_layers(grad, mask) ? ops::masked_scatter(out, mask, grad) : ops::masked_scatter_(out, mask, grad), sizes);
}

namespace {

// One number may be addressed by a vector, and a vector by one number: the index with the dimensions of what is addressed.
Tensor index_like(const Tensor& index, size_t ndim) {
  if (static_cast<size_t>(index.dim()) == ndim) return index;
  const int64_t one[] = {1};
  return index.numel() == 1 && ndim <= 1 ? ops::reshape(index, {one, ndim}) : index;
}

}  // namespace

Tensor scatter_src_grad(const Tensor& grad, int64_t dim, const Tensor& index_, IntSpan sizes) {
  const Tensor index = index_like(index_, sizes.size());
  const Tensor read = ops::gather(grad, dim, index, false);
  if (same_sizes(read.sizes(), sizes)) return read;
  if (read.numel() == 0) return zeros_like_sizes(grad, sizes);
  int64_t padding[2 * kMaxDims];  // last dim first
  const size_t n = sizes.size();
  for (size_t d = 0; d < n; ++d) {
    padding[2 * (n - 1 - d)] = 0;
    padding[2 * (n - 1 - d) + 1] = sizes[d] - index.size(static_cast<int64_t>(d));
  }
  return ops::constant_pad_nd(read, {padding, 2 * n}, 0);
}

Tensor index_put_self_grad(const Tensor& grad, std::span<const Tensor> indices, bool accumulate) {
  return accumulate ? grad : ops::index_put(grad, indices, zero_of(grad), false);
}

Tensor index_put_values_grad(const Tensor& grad, std::span<const Tensor> indices, IntSpan sizes) {
  const Tensor read = indices.empty() ? grad : ops::index(grad, indices);
  const size_t dims = static_cast<size_t>(read.dim());
  if (sizes.size() <= dims) return sum_to(read, sizes);
  return ops::reshape(sum_to(read, sizes.subspan(sizes.size() - dims)), sizes);  // leading ones more than were written to
}

Tensor index_copy_source_grad(const Tensor& grad, int64_t dim, const Tensor& index, IntSpan sizes) {
  const Tensor read = ops::index_select(grad, dim, index);
  return same_sizes(read.sizes(), sizes) ? read : ops::reshape(read, sizes);
}

Tensor put_self_grad(const Tensor& grad, const Tensor& index, bool accumulate) {
  return accumulate ? grad : ops::put(grad, index, zeros(index.sizes(), grad.dtype(), grad.device()), false);
}

Tensor masked_scatter_self_grad(const Tensor& grad, const Tensor& mask, IntSpan sizes) {
  return sum_to(ops::where(mask, 0.0, grad), sizes);
}

Tensor masked_scatter_source_grad(const Tensor& grad, const Tensor& mask, IntSpan sizes) {
  if (mask->has(kBatched)) {
    // Each sample of a vmap picks another number of elements: the k-th that is picked goes to place k, all others to one place more.
    const int64_t count = checked_numel(sizes);
    const Tensor picked = ops::reshape(ops::expand(mask, grad.sizes(), false), ints({-1}));
    const Tensor place = ops::where(picked, ops::cumsum(picked, 0, DType::Int64) - 1, Operand(count));
    const Tensor flat = ops::reshape(grad, ints({-1}));
    const Tensor all = ops::scatter_add(zeros(ints({count + 1}), grad.dtype(), grad.device()), 0, place, flat);
    return ops::reshape(ops::slice(all, 0, 0, count, 1), sizes);
  }
  const Tensor read = ops::masked_select(grad, mask);
  const int64_t missing = checked_numel(sizes) - read.numel();
  return ops::reshape(missing ? ops::constant_pad_nd(read, ints({0, missing}), 0) : read, sizes);
}

namespace {

// scatter_reduce and index_reduce differ only in how an index addresses slices. Everything below is written once in terms of these.
struct Elements {
  int64_t dim;
  const Tensor& index;
  Tensor read(const Tensor& t) const { return ops::gather(t, dim, index, false); }
  Tensor add(const Tensor& t, const Tensor& src) const { return ops::scatter_add(t, dim, index, src); }
  Tensor clear(const Tensor& t) const { return ops::scatter_value(t, dim, index, 0); }
  Tensor reduce(const Tensor& t, const Tensor& src, std::string_view how, bool include_self) const {
    return ops::scatter_reduce_two(t, dim, index, src, how, include_self);
  }
};
struct Slices {
  int64_t dim;
  const Tensor& index;
  Tensor read(const Tensor& t) const { return ops::index_select(t, dim, index); }
  Tensor add(const Tensor& t, const Tensor& src) const { return ops::index_add(t, dim, index, src, 1); }
  Tensor clear(const Tensor& t) const { return ops::index_fill_int_Scalar(t, dim, index, 0); }
  Tensor reduce(const Tensor& t, const Tensor& src, std::string_view how, bool include_self) const {
    return ops::index_reduce(t, dim, index, src, how, include_self);
  }
};

// For each element of src the product of all others that go to the same place, right for any number of zeros and in derivatives of any
// order. Sorted by place, the products of what stands before and of what stands after are recurrences that begin anew with each place.
template <class At> Tensor product_of_others(const At& at, const Tensor& self, const Tensor& src) {
  const Tensor places = ops::reshape(ops::arange(self.numel(), DType::Int64, {}, self.device(), {}, {}), self.sizes());
  const Tensor to = ops::reshape(at.read(places), ints({-1}));
  const int64_t n = to.numel();
  const auto [sorted, order] = ops::sort_stable(to, true, 0, false);
  const Tensor x = ops::gather(ops::reshape(src, ints({-1})), 0, order, false);
  const auto slide = [&](const Tensor& t, int64_t before, int64_t after, Scalar fill) {  // by one, towards the end or the start
    return ops::constant_pad_nd(ops::slice(t, 0, after, n - before, 1), ints({before, after}), fill);
  };
  const Tensor begins = ops::ne(sorted, slide(sorted, 1, 0, -1)), ends = ops::ne(sorted, slide(sorted, 0, 1, -1));
  const Tensor before = ops::_linear_recurrence(cast_to(begins, x.dtype()), ops::where(begins, 0.0, slide(x, 1, 0, 1)), 0, false);
  const Tensor after = ops::_linear_recurrence(cast_to(ends, x.dtype()), ops::where(begins, 0.0, x), 0, true);
  return ops::reshape(ops::gather(before * after, 0, ops::argsort(order, 0, false), false), src.sizes());
}

// Each factor's derivative is the product of the others. Where the factor is not zero that is result / factor; where it is the only zero
// it is the product with that factor replaced by one. Where zeros meet the product of the others is computed.
template <class At>
std::tuple<Tensor, Tensor> prod_grad(const At& at, const Tensor& grad, const Tensor& self, const Tensor& src, bool include_self,
                                     const Tensor& result, bool needs_self, bool needs_src) {
  Tensor self_grad, src_grad;
  if (needs_self) {
    const Tensor safe = ops::where(ops::eq(self, 0.0), 1.0, self);
    self_grad = grad * at.reduce(safe, src, "prod", include_self) / safe;
    if (!include_self) self_grad = at.clear(self_grad);
  }
  if (needs_src) {
    const Tensor is_zero = ops::eq(src, 0.0);
    const Tensor zero_count = at.read(at.add(zeros(self.sizes(), grad.dtype(), grad.device()), cast_to(is_zero, grad.dtype())));
    if (any_above(zero_count, 1)) {
      const Tensor rest = product_of_others(at, self, src);
      return {self_grad, at.read(include_self ? grad * self : grad) * rest};
    }
    const Tensor only_zero = ops::logical_and(is_zero, ops::eq(zero_count, 1.0));
    const Tensor others = at.read(grad * at.reduce(self, ops::where(only_zero, 1.0, src), "prod", include_self));
    src_grad = ops::where(only_zero, others, at.read(grad * result) / ops::where(is_zero, 1.0, src));
  }
  return {self_grad, src_grad};
}

template <class At>
std::tuple<Tensor, Tensor> reduce_grad(const At& at, const Tensor& grad, const Tensor& self, const Tensor& src, std::string_view how,
                                       bool include_self, const Tensor& result, bool needs_self, bool needs_src) {
  if (!grad) return {};
  if (how == "prod") return prod_grad(at, grad, self, src, include_self, result, needs_self, needs_src);
  const DType dtype = grad.dtype();
  Tensor self_grad, src_grad;
  if (how == "sum") {
    if (needs_self) self_grad = include_self ? grad : at.clear(grad);
    if (needs_src) src_grad = at.read(grad);
  } else if (how == "mean") {
    const Tensor one = full(src.sizes(), 1, dtype, grad.device());
    Tensor count = at.add(full(self.sizes(), include_self ? 1 : 0, dtype, grad.device()), one);
    count = ops::where(ops::eq(count, 0.0), 1.0, count);
    const Tensor share = grad / count;
    if (needs_self) self_grad = include_self ? share : at.clear(share);
    if (needs_src) src_grad = at.read(share);
  } else {  // amax, amin: everyone who holds the extreme value gets an equal share
    const auto holds = [&](const Tensor& t, const Tensor& found) {
      return cast_to(ops::logical_or(ops::eq(t, found), ops::logical_and(ops::isnan(t), ops::isnan(found))), dtype);
    };
    Tensor self_holds = holds(self, result);
    if (!include_self) self_holds = at.clear(self_holds);
    const Tensor src_holds = holds(src, at.read(result));
    const Tensor holders = at.add(self_holds, src_holds);
    const Tensor share = grad / ops::where(ops::eq(holders, 0.0), 1.0, holders);
    if (needs_self) self_grad = self_holds * share;
    if (needs_src) src_grad = src_holds * at.read(share);
  }
  return {self_grad, src_grad};
}

}  // namespace

std::tuple<Tensor, Tensor> scatter_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                               std::string_view reduce, bool include_self, const Tensor& result, bool needs_self,
                                               bool needs_src) {
  return reduce_grad(Elements{dim, index_like(index, static_cast<size_t>(src.dim()))}, grad, self, src, reduce, include_self, result,
                     needs_self, needs_src);
}

// An index that is named twice is filled once.
Tensor where_filled(const Tensor& grad, int64_t dim, const Tensor& index) {
  const Tensor filled = ops::index_fill_int_Scalar(retrograd::zeros(grad.sizes(), DType::Bool, grad.device()), dim, index, 1);
  return ops::where(filled, grad, 0.0);
}

std::tuple<Tensor, Tensor> index_reduce_grad(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                             std::string_view reduce, bool include_self, const Tensor& result, bool needs_self,
                                             bool needs_source) {
  return reduce_grad(Slices{dim, index}, grad, self, source, reduce, include_self, result, needs_self, needs_source);
}

Tensor embedding_grad_grad(const Tensor& grad, const Tensor& indices, int64_t padding_idx, bool scale_grad_by_freq) {
  Tensor rows = ops::index_select(grad, 0, ops::reshape(indices, ints({-1})));
  int64_t sizes[kMaxDims + 1];
  for (int64_t d = 0; d < indices.dim(); ++d) sizes[d] = indices.size(d);
  sizes[indices.dim()] = grad.size(1);
  rows = ops::reshape(rows, {sizes, static_cast<size_t>(indices.dim() + 1)});
  if (padding_idx >= 0) rows = ops::where(ops::unsqueeze(ops::eq(indices, Operand(padding_idx)), -1), 0.0, rows);
  if (scale_grad_by_freq) {
    const Tensor flat = ops::reshape(indices, ints({-1}));
    const Tensor one = full(flat.sizes(), 1, grad.dtype(), grad.device());
    const Tensor count = ops::index_add(zeros(ints({grad.size(0)}), grad.dtype(), grad.device()), 0, flat, one, 1);
    rows = rows / ops::unsqueeze(ops::reshape(ops::index_select(count, 0, flat), indices.sizes()), -1);
  }
  return rows;
}

Tensor embedding_bag_grad(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size,
                          const Tensor& max_indices, int64_t num_weights, bool scale_grad_by_freq, int64_t mode,
                          const Tensor& per_sample_weights, int64_t padding_idx) {
  if (mode == 2) {  // an empty bag has no maximum, whatever row stands for it
    const Tensor counted = ops::where(ops::unsqueeze(ops::ne(bag_size, Operand(0)), 1), grad, 0.0);
    const Tensor none = zeros(ints({num_weights, grad.size(1)}), grad.dtype(), grad.device());
    return ops::scatter_add(none, 0, cast_to(max_indices, DType::Int64), counted);
  }
  if (!thread_state.grad_mode && !has_layers(grad, indices, offset2bag, bag_size, per_sample_weights))
    return ops::_embedding_bag_dense_backward(grad, indices, offset2bag, bag_size, max_indices, num_weights, scale_grad_by_freq, mode,
                                              per_sample_weights, padding_idx);
  const Tensor each = mode == 1 ? grad / ops::unsqueeze(cast_to(ops::clamp_min(bag_size, 1), grad.dtype()), 1) : grad;
  Tensor rows = ops::index_select(each, 0, offset2bag);
  if (per_sample_weights) rows = rows * ops::unsqueeze(per_sample_weights, 1);
  return ops::embedding_dense_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq);
}

Tensor embedding_bag_weights_grad(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                                  const Tensor& offset2bag, int64_t padding_idx) {
  if (!thread_state.grad_mode && !has_layers(grad, weight, indices, offset2bag))
    return ops::_embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, offset2bag, 0, padding_idx);
  const Tensor products = ops::index_select(grad, 0, offset2bag) * ops::index_select(weight, 0, indices);
  const Tensor sums = ops::sum_dim(products, ints({1}), false, std::nullopt);
  return padding_idx < 0 ? sums : ops::where(ops::eq(indices, Operand(padding_idx)), 0.0, sums);
}

}  // namespace retrograd::derivatives
