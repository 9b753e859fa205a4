#include "ops/shape/derivatives.h"

#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

// Zeros that take no memory but one element.
Tensor virtual_zeros(IntSpan sizes, DType dtype, Device device) { return expand_data(scalar_tensor(Scalar(0), dtype, device), sizes); }

// One shape out of flatten_shapes(), which it steps over.
IntSpan next_shape(IntSpan& shapes) {
  const auto n = static_cast<size_t>(shapes[0]);
  const IntSpan sizes = shapes.subspan(1, n);
  shapes = shapes.subspan(n + 1);
  return sizes;
}

Tensor as_dtype(const Tensor& t, int64_t dtype) { return cast_to(t, static_cast<DType>(dtype)); }

}  // namespace

Tensor permute_backward(const Tensor& grad, IntSpan dims) {
  int64_t inverse[kMaxDims];
  const auto n = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < n; ++i) inverse[wrap_dim(dims[static_cast<size_t>(i)], n)] = i;
  return ops::permute(grad, {inverse, dims.size()});
}

Tensor roll_backward(const Tensor& grad, IntSpan shifts, IntSpan dims) {
  std::vector<int64_t> back;
  for (const int64_t s : shifts) back.push_back(-s);
  return ops::roll(grad, back, dims);
}

Tensor repeat_backward(const Tensor& grad, IntSpan repeats, IntSpan sizes) {
  const size_t extra = repeats.size() - sizes.size();
  Shape apart;
  int64_t summed[kMaxDims];
  size_t count = 0;
  for (size_t d = 0; d < repeats.size(); ++d) {
    if (repeats[d] != 1 || d < extra) {
      summed[count++] = apart.ndim;
      apart.sizes[apart.ndim++] = repeats[d];
    }
    if (d >= extra) apart.sizes[apart.ndim++] = sizes[d - extra];
    RG_CHECK(apart.ndim + 2 <= kMaxDims, "repeat: too many dimensions for its derivative");
  }
  const Tensor blocks = ops::reshape(grad, apart);
  return count ? ops::sum_dim(blocks, IntSpan{summed, count}, false, std::nullopt) : blocks;
}

Tensor as_strided_backward(const Tensor& grad, IntSpan sizes, IntSpan strides, int64_t offset, IntSpan, IntSpan out_strides,
                           std::optional<int64_t> out_offset) {
  return ops::_as_strided_transfer(grad, out_strides, out_offset.value_or(offset), sizes, strides, offset, true);
}

Tensor split_backward(std::span<const Tensor> grads, int64_t split_size, int64_t dim, IntSpan sizes, DType dtype, Device device) {
  std::vector<int64_t> pieces(grads.size(), split_size);
  const int64_t n = sizes[static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())))];
  pieces.back() = n - split_size * static_cast<int64_t>(grads.size() - 1);
  return split_sizes_backward(grads, pieces, dim, sizes, dtype, device);
}

Tensor split_sizes_backward(std::span<const Tensor> grads, IntSpan split_sizes, int64_t dim, IntSpan sizes, DType dtype, Device device) {
  const auto d = static_cast<size_t>(wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  std::vector<int64_t> piece(sizes.begin(), sizes.end());
  std::vector<Tensor> parts;
  parts.reserve(grads.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    piece[d] = split_sizes[i];
    parts.push_back(grads[i] ? grads[i] : virtual_zeros(piece, dtype, device));
  }
  return ops::cat(parts, dim);
}

Tensor unbind_backward(std::span<const Tensor> grads, int64_t dim, IntSpan sizes, DType dtype, Device device) {
  std::vector<int64_t> piece(sizes.begin(), sizes.end());
  piece.erase(piece.begin() + wrap_dim(dim, static_cast<int64_t>(sizes.size())));
  std::vector<Tensor> parts;
  parts.reserve(grads.size());
  Tensor zero;
  for (const Tensor& g : grads) {
    if (!g && !zero) zero = virtual_zeros(piece, dtype, device);
    parts.push_back(g ? g : zero);
  }
  return ops::stack(parts, dim);
}

std::vector<Tensor> cat_backward(const Tensor& grad, IntSpan shapes, IntSpan dtypes, int64_t dim) {
  std::vector<Tensor> out(dtypes.size());
  if (!grad) return out;
  const int64_t d = wrap_dim(dim, grad.dim());
  int64_t at = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const IntSpan sizes = next_shape(shapes);
    if (sizes.size() == 1 && sizes[0] == 0) {  // left out by cat
      out[i] = retrograd::zeros(sizes, static_cast<DType>(dtypes[i]), grad.device());
      continue;
    }
    const int64_t length = sizes[static_cast<size_t>(d)];
    out[i] = as_dtype(ops::slice(grad, d, at, at + length, 1), dtypes[i]);
    at += length;
  }
  return out;
}

std::vector<Tensor> stack_backward(const Tensor& grad, IntSpan dtypes, int64_t dim) {
  if (!grad) return std::vector<Tensor>(dtypes.size());
  std::vector<Tensor> out = ops::unbind(grad, dim);
  for (size_t i = 0; i < out.size(); ++i) out[i] = as_dtype(out[i], dtypes[i]);
  return out;
}

std::vector<Tensor> block_diag_backward(const Tensor& grad, IntSpan shapes, IntSpan dtypes) {
  std::vector<Tensor> out(dtypes.size());
  if (!grad) return out;
  int64_t row = 0, column = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const IntSpan sizes = next_shape(shapes);
    const int64_t height = sizes.size() == 2 ? sizes[0] : 1, width = sizes.empty() ? 1 : sizes.back();
    const Tensor block = ops::slice(ops::slice(grad, 0, row, row + height, 1), 1, column, column + width, 1);
    out[i] = as_dtype(ops::reshape(block, sizes), dtypes[i]);
    row += height;
    column += width;
  }
  return out;
}

Tensor copy_backward(const Tensor& grad, IntSpan sizes, DType dtype, Device device) {
  if (!is_differentiable(dtype)) return {};
  Tensor out = sum_to(grad, sizes);
  if (is_complex(out.dtype()) && !is_complex(dtype)) out = ops::real(out);  // what a real input can do about it
  return out.dtype() == dtype && out.device() == device ? out : ops::_to_copy(out, dtype, device);
}

Tensor fill_value_backward(const Tensor& grad, DType dtype) { return cast_to(ops::sum(grad, std::nullopt), dtype); }

Tensor zeros_of(const Tensor& grad) { return retrograd::zeros(grad.sizes(), grad.dtype(), grad.device()); }
Tensor zeros_sized(IntSpan sizes, DType dtype, Device device) { return retrograd::zeros(sizes, dtype, device); }

double dropout_scale(double p, std::optional<bool> train) {
  if (!train.value_or(true) || p == 0) return 1;
  return p == 1 ? 0 : 1 / (1 - p);
}

}  // namespace retrograd::derivatives
