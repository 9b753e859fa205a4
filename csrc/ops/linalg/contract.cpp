// Products over chosen dims and of many matrices, made of others: tensordot, multi_dot, kron, and cross along the first dim of three.
#include <algorithm>
#include <vector>

#include "core/promote.h"
#include "ops.h"
#include "ops/derivatives.h"
#include "ops/dims.h"
#include "ops/generated_support.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {
namespace {

// The dims of a tensor, those that are summed apart.
struct Sides {
  int64_t summed[kMaxDims], kept[kMaxDims];
  size_t n_summed = 0, n_kept = 0;
  int64_t count = 1, rest = 1;  // elements along them

  Sides(const Tensor& t, IntSpan dims) {
    for (const int64_t d : dims) {
      RG_CHECK_AS(Index, t.dim() > 0, "Dimension specified as ", d, " but tensor has no dimensions");
      const int64_t at = wrap_dim(d, t.dim());
      RG_CHECK(!sums(at), "dim ", at, " appears multiple times in the list of dims");
      summed[n_summed++] = at;
    }
  }
  bool sums(int64_t d) const { return std::find(summed, summed + n_summed, d) != summed + n_summed; }
  // As a matrix, the summed dims last or first.
  Tensor matrix(const Tensor& t, bool last) {
    int64_t order[kMaxDims];
    for (size_t i = 0; i < n_summed; ++i) count *= t.size(summed[i]);
    for (int64_t d = 0; d < t.dim(); ++d) {
      if (sums(d)) continue;
      kept[n_kept++] = d;
      rest *= t.size(d);
    }
    std::copy_n(kept, n_kept, order + (last ? 0 : n_summed));
    std::copy_n(summed, n_summed, order + (last ? n_kept : 0));
    const Tensor turned = ops::permute(t, {order, n_kept + n_summed});
    return ops::reshape(turned, last ? ints({rest, count}) : ints({count, rest}));
  }
};

// Matrices first to last, of sizes[i] rows and sizes[i + 1] columns, in the order that takes the fewest multiplications: splits[i, j] says where
// the product of i to j is cut.
Tensor chain(std::span<const Tensor> matrices, const std::vector<size_t>& splits, size_t first, size_t last) {
  if (first == last) return matrices[first];
  const size_t at = splits[first * matrices.size() + last];
  return ops::mm(chain(matrices, splits, first, at), chain(matrices, splits, at + 1, last));
}
std::vector<size_t> cheapest_splits(const std::vector<double>& sizes) {
  const size_t n = sizes.size() - 1;
  std::vector<size_t> splits(n * n);
  std::vector<double> cost(n * n);
  for (size_t length = 1; length < n; ++length)
    for (size_t i = 0; i + length < n; ++i) {
      const size_t j = i + length;
      for (size_t k = i; k < j; ++k) {
        const double sum = cost[i * n + k] + cost[(k + 1) * n + j] + sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (k > i && (sum > cost[i * n + j] || (sum == cost[i * n + j] && n > 3))) continue;  // of three, (a b) c as PyTorch does
        cost[i * n + j] = sum;
        splits[i * n + j] = k;
      }
    }
  return splits;
}

}  // namespace

namespace composite {

Tensor _multi_dot(std::span<const Tensor> tensors) {
  const size_t n = tensors.size();
  RG_CHECK(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  for (size_t i = 0; i < n; ++i) {
    const bool at_end = i == 0 || i == n - 1;
    RG_CHECK(tensors[i].dim() == 2 || (at_end && tensors[i].dim() == 1), "multi_dot(): tensor ", i, " must be ", at_end ? "1D or " : "",
             "2D but got ", tensors[i].dim(), "D");
    RG_CHECK(tensors[i].dtype() == tensors[0].dtype(), "multi_dot(): all tensors must have be the same dtype but tensor 0 is torch.",
             dtype_name(tensors[0].dtype()), " and tensor ", i, " torch.", dtype_name(tensors[i].dtype()));
  }
  std::vector<Tensor> matrices(tensors.begin(), tensors.end());
  const bool first_is_vector = tensors[0].dim() == 1, last_is_vector = tensors[n - 1].dim() == 1;
  if (first_is_vector) matrices[0] = ops::unsqueeze(tensors[0], 0);
  if (last_is_vector) matrices[n - 1] = ops::unsqueeze(tensors[n - 1], -1);
  std::vector<double> sizes{static_cast<double>(matrices[0].size(0))};
  for (size_t i = 0; i < n; ++i) {
    RG_CHECK(i == 0 || matrices[i].size(0) == matrices[i - 1].size(1), "multi_dot(): tensors ", i - 1, " and ", i, " with shapes ",
             matrices[i - 1].sizes(), " and ", matrices[i].sizes(), " cannot be multiplied");
    sizes.push_back(static_cast<double>(matrices[i].size(1)));
  }
  const Tensor y = chain(matrices, cheapest_splits(sizes), 0, n - 1);
  int64_t shape[2];
  size_t dims = 0;
  if (!first_is_vector) shape[dims++] = y.size(0);
  if (!last_is_vector) shape[dims++] = y.size(1);
  return ops::view(y, IntSpan(shape, dims));  // as in PyTorch, the last node is a view's
}

Tensor _tensordot(const Tensor& self, const Tensor& other, IntSpan dims_self, IntSpan dims_other) {
  RG_CHECK(dims_self.size() == dims_other.size(), "both dimension lists should have same length");
  RG_CHECK(self.dtype() == other.dtype(), "both inputs should have same dtype");
  Tensor a = self, b = other;
  Sides left(a, dims_self), right(b, dims_other);
  for (size_t i = 0; i < dims_self.size(); ++i) {
    const int64_t n = a.size(left.summed[i]), m = b.size(right.summed[i]);
    RG_CHECK(n == m || n == 1 || m == 1, "contracted dimensions need to match, but first has size ", n, " in dim ", dims_self[i],
             " and second has size ", m, " in dim ", dims_other[i]);
  }
  for (size_t i = 0; i < dims_self.size(); ++i) {  // a dim of size 1 broadcasts: the other side is summed
    const int64_t n = a.size(left.summed[i]), m = b.size(right.summed[i]);
    if (n == 1 && m != 1) b = ops::sum_dim(b, ints({right.summed[i]}), true, b.dtype());
    if (m == 1 && n != 1) a = ops::sum_dim(a, ints({left.summed[i]}), true, a.dtype());
  }
  const Tensor product = ops::mm(left.matrix(a, true), right.matrix(b, false));
  Shape shape;
  RG_CHECK(left.n_kept + right.n_kept <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions");
  for (size_t i = 0; i < left.n_kept; ++i) shape.sizes[shape.ndim++] = a.size(left.kept[i]);
  for (size_t i = 0; i < right.n_kept; ++i) shape.sizes[shape.ndim++] = b.size(right.kept[i]);
  return ops::reshape(product, shape);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  // Of matrices that lie column by column the result does too.
  if (RG_UNLIKELY(runs_along_columns(self.get()) && runs_along_columns(other.get()))) return ops::t(kron(ops::t(self), ops::t(other)));
  const int64_t n = std::max(self.dim(), other.dim());
  RG_CHECK(2 * n <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions, the product on the way has ", 2 * n);
  Shape a, b, merged;
  for (int64_t d = 0; d < n; ++d) {
    const int64_t i = d - (n - self.dim()), j = d - (n - other.dim()), x = i < 0 ? 1 : self.size(i), y = j < 0 ? 1 : other.size(j);
    a.sizes[a.ndim++] = x;
    a.sizes[a.ndim++] = 1;
    b.sizes[b.ndim++] = 1;
    b.sizes[b.ndim++] = y;
    merged.sizes[merged.ndim++] = x * y;
  }
  // In this order rows are those of `other`, each times one number, which the loops of products know.
  return ops::_unsafe_view(ops::reshape(other, b) * ops::reshape(self, a), merged);
}

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  for (int64_t d = 0; d < self.dim() && !dim; ++d)
    if (self.size(d) == 3) dim = d;
  RG_CHECK(dim, "no dimension of size 3 in input");
  return ops::linalg_cross(self, other, *dim);
}

}  // namespace composite
}  // namespace retrograd
