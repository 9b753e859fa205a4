// segment_reduce: one reduction per run of neighbouring elements, made of reductions by index. No shape depends on numbers, so that vmap can do it.
#include <cmath>

#include "core/promote.h"
#include "ops.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

double reduction_of_nothing(std::string_view reduce) {
  if (reduce == "sum") return 0;
  if (reduce == "prod") return 1;
  if (reduce == "mean") return NAN;
  return reduce == "max" ? -INFINITY : INFINITY;
}

// Rows of `elements` by their owners, `counts` of each.
Tensor reduced(const Tensor& elements, std::string_view reduce, const Tensor& owner, const Tensor& counts, std::optional<Scalar> initial) {
  const int64_t shape[] = {counts.numel(), elements.size(1)};
  const double nothing = reduction_of_nothing(reduce);
  const auto where_empty = [&](const Tensor& y) { return ops::where(ops::eq(counts, 0), initial ? initial->to_double() : nothing, y); };
  if (reduce == "sum" || reduce == "mean") {
    Tensor sums = ops::index_add(ops::new_zeros(elements, IntSpan(shape), {}, {}, {}, {}, {}), 0, owner, elements, 1);
    if (initial) sums = ops::add(sums, *initial, 1);
    return reduce == "sum" ? sums : where_empty(ops::div(sums, ops::clamp_min(counts, 1)));
  }
  const Tensor places = ops::expand(ops::unsqueeze(owner, 1), elements.sizes(), false);
  if (reduce == "prod") {
    const Tensor products =
        ops::scatter_reduce_two(ops::new_ones(elements, IntSpan(shape), {}, {}, {}, {}, {}), 0, places, elements, "prod", true);
    return initial ? ops::mul(products, *initial) : products;
  }
  const Tensor extreme = ops::scatter_reduce_two(ops::new_zeros(elements, IntSpan(shape), {}, {}, {}, {}, {}), 0, places, elements,
                                                 reduce == "max" ? "amax" : "amin", false);
  if (!initial) return where_empty(extreme);
  const Tensor beaten = reduce == "max" ? ops::lt(extreme, *initial) : ops::gt(extreme, *initial);
  return ops::where(ops::logical_or(ops::eq(counts, 0), beaten), initial->to_double(), extreme);
}

}  // namespace

namespace composite {

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths, const Tensor& indices, const Tensor& offsets,
                      int64_t axis, bool unsafe, std::optional<Scalar> initial) {
  reduce = reduce == "amax" ? "max" : reduce == "amin" ? "min" : reduce;
  RG_CHECK(reduce == "sum" || reduce == "prod" || reduce == "mean" || reduce == "max" || reduce == "min",
           "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  RG_CHECK(!indices, "segment_reduce(): indices based reduction is not supported yet.");
  RG_CHECK(lengths || offsets, "segment_reduce(): Either lengths or offsets must be defined.");
  RG_CHECK_AS(NotImplemented, is_floating(data.dtype()), "segment_reduce(): not implemented for torch.", dtype_name(data.dtype()),
              ", expected a floating point tensor");
  axis = wrap_dim(axis, data.dim());
  const char* const name = offsets ? "offsets" : "lengths";
  const Tensor& cuts = offsets ? offsets : lengths;
  RG_CHECK_AS(NotImplemented, cuts.dtype() == DType::Int32 || cuts.dtype() == DType::Int64, "segment_reduce(): ", name,
              " must be int32 or int64, not torch.", dtype_name(cuts.dtype()));
  RG_CHECK(data.dim() >= cuts.dim() && cuts.dim() >= 1, "segment_reduce(): Expected data.dim() >= ", name, ".dim() >= 1, but got ",
           data.dim(), " and ", cuts.dim());
  RG_CHECK(axis == cuts.dim() - 1, "segment_reduce(): Expected axis to be the last dimension of ", name, " but got ", axis, ".");
  const IntSpan leading = data.sizes().first(static_cast<size_t>(axis)), given = cuts.sizes().first(static_cast<size_t>(axis));
  RG_CHECK(same_sizes(leading, given), "segment_reduce(): Expected ", name, " to have the leading sizes of data, ", leading, ", but got ",
           given);
  RG_CHECK(!offsets || cuts.size(-1) >= 1, "segment_reduce(): offsets must hold where the first segment starts and where each one ends");

  const auto [owner, counts] = ops::_segment_owners(cuts.dtype() == DType::Int64 ? cuts : ops::_to_copy(cuts, DType::Int64, {}),
                                                    data.size(axis), offsets.defined(), unsafe);
  // The elements in no segment make up one more, which is dropped.
  const int64_t n = counts.size(-1) - 1;
  int64_t sizes[kMaxDims], width = 1;
  const size_t dims = static_cast<size_t>(data.dim());
  for (size_t d = 0; d < dims; ++d) {
    sizes[d] = static_cast<int64_t>(d) == axis ? n + 1 : data.sizes()[d];
    if (static_cast<int64_t>(d) > axis) width *= sizes[d];
  }
  Tensor elements = ops::reshape(data, ints({owner.numel(), width}));
  if (offsets || unsafe) {
    const Tensor inside = ops::ne(ops::remainder_scalar(owner, n + 1), n);
    elements = ops::where(ops::reshape(inside, ints({-1, 1})), elements, 1.0);
  }
  const Tensor y =
      reduced(elements, reduce, ops::reshape(owner, ints({owner.numel()})), ops::reshape(counts, ints({counts.numel(), 1})), initial);
  return ops::contiguous(ops::narrow(ops::reshape(y, IntSpan(sizes, dims)), axis, 0, n));
}

}  // namespace composite
}  // namespace retrograd
