// Places in sorted sequences, counts and distinct elements.
#include <algorithm>
#include <cmath>

#include "core/transfer.h"
#include "kernels/reduce.h"
#include "kernels/sort.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/reduce/common.h"

namespace retrograd {
namespace {

using Triple = std::tuple<Tensor, Tensor, Tensor>;

void check_search(const Tensor& sequence, const Tensor& values, const Tensor& sorter) {
  RG_CHECK(sequence.dim() > 0, "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
  RG_CHECK(
      values.dim() > 0 || sequence.dim() == 1,
      "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor dim(",
      sequence.dim(), ") and input value's dim(", values.dim(), ") numel(", values.numel(), ")");
  if (sequence.dim() != 1) {
    bool match = sequence.dim() == values.dim();
    for (int64_t d = 0; match && d + 1 < sequence.dim(); ++d) match = sequence.size(d) == values.size(d);
    RG_CHECK(match,
             "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of it and of the values must "
             "match, got boundaries tensor ",
             sequence.sizes(), " and input value tensor ", values.sizes());
  }
  if (!sorter) return;
  RG_CHECK(same_sizes(sorter.get(), sequence.get()),
           "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor ", sequence.sizes(),
           "and got sorter tensor ", sorter.sizes());
  RG_CHECK(sorter.dtype() == DType::Int64, "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype ",
           dtype_title(sorter.dtype()));
}

void check_sorter(const Tensor& sequence, const Tensor& sorter) {
  if (sorter.numel() == 0) return;
  const auto [low, high] = range_of<int64_t>(sorter);
  RG_CHECK(low >= 0 && high < sequence.size(-1), "torch.searchsorted(): sorter index out of range");
}

Spec places_of(const Tensor& sequence, const Tensor& values, bool out_int32) {
  RG_CHECK(!out_int32 || sequence.size(-1) < INT32_MAX, "torch.searchsorted(): the size of boundaries' last dimension should be less than ",
           int64_t{INT32_MAX}, ", but we got ", sequence.size(-1));
  return Spec::of(values, out_int32 ? DType::Int32 : DType::Int64);
}

void search(const Tensor& sequence, const Tensor& values, const Tensor& sorter, bool right, const Tensor& out) {
  Promotion promotion;
  promotion.add(sequence.get());
  promotion.add(values.get());
  const DType dtype = sequence.dtype() == values.dtype() ? sequence.dtype() : promotion.result();
  const Tensor s = cast_data(sequence, dtype), v = cast_data(values, dtype);
  const kernels::Array order = sorter ? sorter.array() : kernels::Array{};
  run_kernel(values, 400,
             [&] { kernels::sort(out->device).searchsorted(out.array(), s.array(), v.array(), sorter ? &order : nullptr, right); });
}

// A number compares with a sequence as a 0-d tensor of its dtype would.
Tensor number_like(Scalar value, const Tensor& sequence) {
  Promotion promotion;
  promotion.add(sequence.get());
  promotion.add(value);
  return scalar_tensor(value, promotion.result(), sequence.device());
}

bool search_right(bool right, std::optional<std::string_view> side) {
  if (!side) return right;
  RG_CHECK(*side == "left" || *side == "right", "torch.searchsorted(): side can only be 'left' or 'right' but got ", *side);
  RG_CHECK(!right || *side == "right", "torch.searchsorted(): side and right can't be set to opposites, got side of ", *side,
           " while right was True");
  return *side == "right";
}

void check_boundaries(const Tensor& boundaries) {
  RG_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")");
}

// Equal bounds stand for those of the data.
void check_range(double low, double high) {
  RG_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histc: range of [", low, ", ", high, "] is not finite");
  RG_CHECK(low <= high, "torch.histc: max must be larger than min");
}

Tensor places(int64_t n, bool wanted, Device device) { return empty(ints({wanted ? n : 0}), DType::Int64, device); }

// The first n elements in memory of their own size.
Tensor head(const Tensor& t, int64_t n) {
  if (t.numel() == n) return t;
  Tensor out = empty(ints({n}), t.dtype(), t.device());
  copy_data(out, alias_as(t, ints({n}), ints({1}), t->offset()));
  return out;
}

// Without the sizes of a tensor that has no elements: any number of rows that are empty would be gone through.
Tensor only_elements(const Tensor& self) { return self.numel() ? self : empty(ints({0}), self.dtype(), self.device()); }

Triple unique_elements(const Tensor& self, bool consecutive, bool return_inverse, bool return_counts) {
  const int64_t n = self.numel();
  Tensor values = empty(ints({n}), self.dtype(), self.device());
  Tensor inverse = return_inverse ? empty(self.sizes(), DType::Int64, self.device()) : places(0, false, self.device());
  Tensor counts = places(n, return_counts, self.device());
  Answer<int64_t> found(self->device);
  const Tensor elements = only_elements(self);
  run_kernel(elements, 500, [&] {
    kernels::sort(self->device)
        .unique(found.data(), values->data, return_inverse ? inverse.data<int64_t>() : nullptr,
                return_counts ? counts.data<int64_t>() : nullptr, elements.array(), consecutive);
  });
  return {head(values, found.read()), inverse, return_counts ? head(counts, found.read()) : counts};
}

Triple unique_slices(const Tensor& self, int64_t dim, bool consecutive, bool return_inverse, bool return_counts) {
  const int d = kernel_dim(dim, self);
  if (self.dim() == 0) return unique_elements(self, consecutive, return_inverse, return_counts);
  const int64_t n = self.size(d);
  RG_CHECK(self.numel() != 0 || n == 0, "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  Tensor first = places(n, true, self.device()), inverse = places(n, return_inverse, self.device()),
         counts = places(n, return_counts, self.device());
  Answer<int64_t> found(self->device);
  run_kernel(self, 500, [&] {
    kernels::sort(self->device)
        .unique_dim(found.data(), first.data<int64_t>(), return_inverse ? inverse.data<int64_t>() : nullptr,
                    return_counts ? counts.data<int64_t>() : nullptr, self.array(), d, consecutive);
  });
  const int64_t n_found = found.read();
  return {impl::index_select(self, d, head(first, n_found)), inverse, return_counts ? head(counts, n_found) : counts};
}

}  // namespace

namespace rule {

Spec searchsorted_Tensor(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                         std::optional<std::string_view> side, const Tensor& sorter) {
  search_right(right, side);
  check_search(sorted_sequence, self, sorter);
  return places_of(sorted_sequence, self, out_int32);
}

Spec bucketize_Tensor(const Tensor& self, const Tensor& boundaries, bool out_int32, bool) {
  check_boundaries(boundaries);
  return places_of(boundaries, self, out_int32);
}

Spec histc(const Tensor& self, int64_t bins, Scalar min, Scalar max) {
  if (!is_floating(self.dtype())) fail_not_implemented("histogram_cpu", self.dtype());
  RG_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  check_range(min.to_double(), max.to_double());
  return Spec(ints({bins}), self.dtype(), self->device);
}

}  // namespace rule

namespace rule {

Spec hash_tensor(const Tensor& self, OptInts dim, bool keepdim, int64_t mode) {
  RG_CHECK(mode == 0, "Unknown hash_tensor mode: ", mode);
  if (is_complex(self.dtype())) fail_not_implemented("xor_sum_cpu", self.dtype());
  const uint64_t mask = dim_mask(dim, self.dim(), "hash_tensor");
  if (RG_UNLIKELY(self.numel() == 0)) {
    RG_CHECK(dim && !dim->empty(), "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. ",
             "Specify the reduction dim with the 'dim' argument.");
    for (int64_t d = 0; d < self.dim(); ++d)
      RG_CHECK_AS(Index, !has_dim(mask, d) || self.size(d) != 0, "hash_tensor: Expected reduction dim ", d, " to have non-zero size.");
  }
  return reduced(self, mask, keepdim, DType::UInt64);
}

Spec _histogramdd_counts(const Tensor& points, const Tensor& edges, IntSpan bins, const Tensor& weight) {
  int64_t needed = 0;
  bool fits = points.dim() == 2 && edges.dim() == 1 && points.size(1) == static_cast<int64_t>(bins.size()) && is_floating(points.dtype());
  for (const int64_t count : bins) {
    fits = fits && count >= 0;
    needed += count + 1;
  }
  fits = fits && edges.numel() == needed && edges.dtype() == points.dtype();
  RG_CHECK(fits && (!weight || weight.numel() == points.size(0)), "_histogramdd_counts: points ", points.sizes(), ", edges ", edges.sizes(),
           " and bins ", bins, " do not go together");
  return Spec(bins, points.dtype(), points->device);
}

std::array<Spec, 2> _segment_owners(const Tensor& given, int64_t size, bool offsets, bool) {
  RG_CHECK(given.dim() >= 1 && (!offsets || given.size(-1) > 0) && given.dtype() == DType::Int64 && size >= 0,
           "_segment_owners: expected lengths or offsets of segments as int64, got ", dtype_title(given.dtype()), " of size ",
           given.sizes());
  const IntSpan leading = given.sizes().first(static_cast<size_t>(given.dim() - 1));
  Spec owner(leading, DType::Int64, given->device), counts(leading, DType::Int64, given->device);
  owner.add_dim(size);
  counts.add_dim(given.size(-1) + !offsets);
  return {owner, counts};
}

}  // namespace rule

namespace compute {

void _histogramdd_counts(const Tensor& points, const Tensor& edges, IntSpan, const Tensor& weight, const Tensor& out) {
  const Tensor at = contiguous_data(points), sorted = contiguous_data(edges);
  const Tensor w = weight ? contiguous_data(cast_data(weight, points.dtype())) : Tensor();
  const kernels::Array weights = w ? w.array() : kernels::Array{};
  run_kernel(points, 400, [&] { kernels::sort(out->device).histogram(out.array(), at.array(), sorted.array(), w ? &weights : nullptr); });
}

void _segment_owners(const Tensor& given, int64_t size, bool offsets, bool unsafe, const Tensor& owner, const Tensor& counts) {
  const Tensor g = contiguous_data(given);
  const int64_t n = counts.size(-1), rows = counts.numel() / n, width = given.size(-1), one = 1;
  const int64_t owner_sizes[] = {rows, size}, count_sizes[] = {rows, n}, given_sizes[] = {rows, width};
  const int64_t owner_strides[] = {size, one}, count_strides[] = {n, one}, given_strides[] = {width, one};
  Answer<kernels::SegmentFault> fault(given->device, kernels::SegmentFault::None);
  run_kernel(owner, 16, [&] {
    kernels::sort(given->device)
        .segments({owner->data, DType::Int64, 2, owner_sizes, owner_strides}, {counts->data, DType::Int64, 2, count_sizes, count_strides},
                  {g->data, DType::Int64, 2, given_sizes, given_strides}, offsets, !offsets && !unsafe, fault.data());
  });
  using Fault = kernels::SegmentFault;
  RG_CHECK(fault.read() != Fault::Negative,
           offsets ? "segment_reduce(): Expected segment_length >= 0, but offsets decrease" : "lengths contains negative value!");
  RG_CHECK(fault.read() != Fault::Total,
           "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe.");
  RG_CHECK(fault.read() != Fault::Past, "segment_reduce(): ", offsets ? "offsets" : "lengths", " go past the ", size,
           " elements of dimension ", given.dim() - 1);
}

// The bits of all elements, each taken as a float64 or an int64.
void hash_tensor(const Tensor& self, OptInts dim, bool, int64_t, const Tensor& out) {
  const Tensor values = cast_data(self, is_floating(self.dtype()) ? DType::Float64 : DType::Int64);
  const Reduced shape(values, dim_mask(dim, self.dim(), "hash_tensor"));
  kernels::Array bits = shape.in();
  bits.dtype = DType::Int64;
  run_kernel(self, 8, [&] { kernels::reduce(self->device).exclusive_or(shape.out(out->data, DType::Int64), bits); });
}

void searchsorted_Tensor(const Tensor& sorted_sequence, const Tensor& self, bool, bool right, std::optional<std::string_view> side,
                         const Tensor& sorter, const Tensor& out) {
  if (sorter) check_sorter(sorted_sequence, sorter);
  search(sorted_sequence, self, sorter, search_right(right, side), out);
}

void bucketize_Tensor(const Tensor& self, const Tensor& boundaries, bool, bool right, const Tensor& out) {
  search(boundaries, self, {}, right, out);
}

Tensor bincount(const Tensor& self, const Tensor& weights, int64_t minlength) {
  if (is_floating(self.dtype()) || self.dtype() == DType::Bool)
    fail_not_implemented("bincount_cpu", self.dtype(), "torch.int64 by .long()");
  RG_CHECK(minlength >= 0, "minlength should be >= 0");
  RG_CHECK(!weights || (weights.dim() == 1 && (self.dim() != 1 || weights.size(0) == self.size(0))),
           "weights should be 1-d and have the same length as input");
  const Tensor in = cast_data(self, DType::Int64);
  Answer<int64_t> bins(self->device, self.dim() == 1 ? minlength : -1);
  if (self.dim() == 1) run_kernel(self, 8, [&] { kernels::sort(self->device).bins(bins.data(), in.array()); });
  RG_CHECK(bins.read() >= 0, "bincount only supports 1-d non-negative integral inputs.");
  const DType dtype = !weights ? DType::Int64 : weights.dtype() == DType::Float32 ? DType::Float32 : DType::Float64;
  Tensor out = empty(ints({bins.read()}), dtype, self.device());
  const Tensor w = weights ? cast_data(weights, dtype) : Tensor();
  const kernels::Array w_array = w ? w.array() : kernels::Array{};
  run_kernel(self, 32, [&] { kernels::sort(self->device).bincount(out.array(), in.array(), w ? &w_array : nullptr); });
  return out;
}

void histc(const Tensor& self, int64_t, Scalar min, Scalar max, const Tensor& out) {
  double low = min.to_double(), high = max.to_double();
  if (low == high && self.numel() > 0) {  // the range of the data
    std::tie(low, high) = range_of<double>(self);
    check_range(low, high);
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  const Tensor elements = only_elements(self);
  run_kernel(elements, 32, [&] { kernels::sort(self->device).histc(out.array(), elements.array(), low, high); });
}

// `sorted` is a request, not a promise: the result is always sorted.
Triple _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  return unique_elements(self, false, return_inverse, return_counts);
}

Triple _unique_dim(const Tensor& self, int64_t dim, bool, bool return_inverse, bool return_counts) {
  return unique_slices(self, dim, false, return_inverse, return_counts);
}

Triple _unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts, std::optional<int64_t> dim) {
  if (dim) return unique_slices(self, *dim, true, return_inverse, return_counts);
  return unique_elements(self, true, return_inverse, return_counts);
}

}  // namespace compute

namespace impl {

Tensor searchsorted_Scalar(const Tensor& sorted_sequence, Scalar self, bool out_int32, bool right, std::optional<std::string_view> side,
                           const Tensor& sorter) {
  return searchsorted_Tensor(sorted_sequence, number_like(self, sorted_sequence), out_int32, right, side, sorter);
}

Tensor bucketize_Scalar(Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  return bucketize_Tensor(number_like(self, boundaries), boundaries, out_int32, right);
}

}  // namespace impl
namespace composite {

// One wide where they would all be the same.
Tensor _even_edges(const Tensor& points, int64_t bins, double low, double high, int64_t dim) {
  RG_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension ", dim);
  RG_CHECK(std::isfinite(low) && std::isfinite(high), "torch.histogramdd: dimension ", dim, "'s range [", low, ", ", high,
           "] is not finite");
  RG_CHECK(low <= high, "torch.histogramdd: min should not exceed max, but got min ", low, " max ", high, " for dimension ", dim);
  if (low == high) low -= 0.5, high += 0.5;
  return ops::linspace(low, high, bins + 1, points.dtype(), {}, points.device(), {}, {});
}

// From 0 to 1 where there are no points.
std::vector<Tensor> _histogram_edges(const Tensor& points, IntSpan bins) {
  RG_CHECK(points.dim() == 2 && points.size(1) == static_cast<int64_t>(bins.size()), "_histogram_edges: points ", points.sizes(),
           " and bins ", bins, " do not go together");
  Tensor least, most;
  const bool any = points.numel() > 0 && points.device().type != DeviceType::Meta;
  if (any) {
    std::tie(least, most) = ops::aminmax(points, 0, false);
    check_no_batch(least);
  }
  std::vector<Tensor> edges;
  edges.reserve(bins.size());
  for (size_t d = 0; d < bins.size(); ++d) {
    const int64_t at = static_cast<int64_t>(d);
    const double low = any ? read_scalar(least, at).to_double() : 0, high = any ? read_scalar(most, at).to_double() : 1;
    edges.push_back(_even_edges(points, bins[d], low, high, at));
  }
  return edges;
}

}  // namespace composite
}  // namespace retrograd
