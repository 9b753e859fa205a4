// Lists of tensors that are brought to one shape, and views brought into memory of their own.
#include "ops.h"
#include "ops/generated_support.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

Tensor copied(const Tensor& view) {
  const bool lazy = RG_UNLIKELY(view->flags & kLazy);
  return ops::clone_format(lazy ? ops::resolve_neg(ops::resolve_conj(view)) : view, MemoryFormat::Contiguous);
}

namespace composite {

std::vector<Tensor> _copied(std::span<const Tensor> tensors) {
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(copied(t));
  return out;
}

// The new dims of a vector are about it, that of a matrix is the last.
std::vector<Tensor> _atleast(std::span<const Tensor> tensors, int64_t dims) {
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (Tensor t : tensors) {
    if (t.dim() == 0) t = ops::unsqueeze(t, 0);
    if (t.dim() == 1 && dims > 1) t = ops::unsqueeze(t, 0);
    if (t.dim() == 2 && dims > 2) t = ops::unsqueeze(t, -1);
    out.push_back(t);
  }
  return out;
}

std::vector<Tensor> _broadcast_tensors(std::span<const Tensor> tensors) {
  Shape shape;
  for (const Tensor& t : tensors) broadcast_into(shape, t.sizes());
  std::vector<Tensor> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(same_sizes(t.sizes(), shape) ? t : ops::expand(t, shape, false));
  return out;
}

// With "xy" the first two vectors run along each other's dims.
std::vector<Tensor> _meshgrid(std::span<const Tensor> tensors, std::string_view indexing) {
  RG_CHECK(!tensors.empty(), "meshgrid expects a non-empty TensorList");
  for (const Tensor& v : tensors) {
    RG_CHECK(v.dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: a tensor of shape ", v.sizes());
    RG_CHECK(v.dtype() == tensors[0].dtype(), "meshgrid expects all tensors to have the same dtype");
    RG_CHECK(v.device() == tensors[0].device(), "meshgrid expects all tensors to have the same device");
  }
  RG_CHECK(indexing == "ij" || indexing == "xy", "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const size_t n = tensors.size();
  RG_CHECK(n <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", n);
  const bool swap = indexing == "xy" && n >= 2;
  const auto dim_of = [&](size_t i) { return swap && i < 2 ? 1 - i : i; };
  int64_t shape[kMaxDims], own[kMaxDims];
  for (size_t i = 0; i < n; ++i) {
    shape[dim_of(i)] = tensors[i].numel();
    own[i] = 1;
  }
  std::vector<Tensor> out;
  out.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    own[dim_of(i)] = tensors[i].numel();
    out.push_back(ops::expand(ops::view(tensors[i], {own, n}), {shape, n}, false));
    own[dim_of(i)] = 1;
  }
  return out;
}

}  // namespace composite
}  // namespace retrograd
