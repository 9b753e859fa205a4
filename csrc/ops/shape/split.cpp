// split, chunk, unbind, tensor_split: several views of one tensor.
#include "autograd/history.h"
#include "core/memory_limit.h"
#include "core/transfer.h"
#include "ops.h"
#include "ops/shape/shape.h"

namespace retrograd {

using namespace shape;

namespace impl {
namespace {

// A tensor without elements may have any size: more pieces than there is room for are refused before the first is made.
void check_count(int64_t count) {
  constexpr int64_t kFew = 1 << 20, kBytes = 256;  // of each, at least
  RG_CHECK(count <= kFew || count <= memory_allowance() / kBytes, "can't allocate memory: ", count,
           " tensors would be made. Split into fewer parts.");
}

// Views of consecutive pieces along a dimension; `length(i)` says how long each is.
template <class F> std::vector<Tensor> pieces(const Tensor& self, int64_t d, size_t count, F length) {
  check_count(static_cast<int64_t>(count));
  std::vector<Tensor> out;
  out.reserve(count);
  Geometry g(self.get());
  for (size_t i = 0; i < count; ++i) {
    g.sizes[d] = length(i);
    out.push_back(g.on(self));
    g.shift += g.sizes[d] * g.strides[d];
  }
  return out;
}

}  // namespace

std::vector<Tensor> split_Tensor(const Tensor& self, int64_t split_size, int64_t dim) {
  RG_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  RG_CHECK(split_size >= 0, "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  RG_CHECK(split_size > 0 || n == 0, "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  const int64_t count = n == 0 ? 1 : (n - 1) / split_size + 1;
  return pieces(self, d, static_cast<size_t>(count),
                [&](size_t i) { return std::min(split_size, n - static_cast<int64_t>(i) * split_size); });
}

std::vector<Tensor> split_with_sizes(const Tensor& self, IntSpan split_sizes, int64_t dim) {
  RG_CHECK(self.dim() > 0, "split expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  int64_t total = 0;
  for (const int64_t s : split_sizes) {
    RG_CHECK(s >= 0, "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=", split_sizes);
    RG_CHECK(!__builtin_add_overflow(total, s, &total), "split_with_sizes: the sizes overflow, split_sizes=", split_sizes);
  }
  RG_CHECK(total == n, "split_with_sizes expects split_sizes to sum exactly to ", n, " (input tensor's size at dimension ", d,
           "), but got split_sizes=", split_sizes);
  return pieces(self, d, split_sizes.size(), [&](size_t i) { return split_sizes[i]; });
}

namespace {

// Each part counts its writes by itself. In inference mode they are views all the same, which know no write from before.
std::vector<Tensor> apart(const Tensor& self, std::vector<Tensor> parts) {
  for (const Tensor& part : parts) {
    if (thread_state.inference_mode) set_view(part, self);
    if (has_version(part.get())) give_version(part.get(), 0);
  }
  return parts;
}

}  // namespace

std::vector<Tensor> unsafe_split_Tensor(const Tensor& self, int64_t split_size, int64_t dim) {
  return apart(self, split_Tensor(self, split_size, dim));
}
std::vector<Tensor> unsafe_split_with_sizes(const Tensor& self, IntSpan split_sizes, int64_t dim) {
  return apart(self, split_with_sizes(self, split_sizes, dim));
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  RG_CHECK_AS(Index, self.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d), step = self.stride(d);
  check_count(n);
  std::vector<Tensor> out;
  out.reserve(static_cast<size_t>(n));
  Geometry g(self.get());
  g.erase(d);
  for (int64_t i = 0; i < n; ++i, g.shift += step) out.push_back(g.on(self));
  return out;
}

}  // namespace impl

namespace composite {

std::vector<Tensor> split_sizes(const Tensor& self, IntSpan split_size, int64_t dim) {
  return ops::split_with_sizes(self, split_size, dim);
}

namespace {

// The size of each chunk; 0 when the dimension is empty, which gives `chunks` empty pieces all the same.
int64_t chunk_size(const Tensor& self, int64_t chunks, int64_t dim) {
  RG_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  RG_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t n = self.size(wrap_dim(dim, self.dim()));
  if (n == 0) impl::check_count(chunks);
  return n / chunks + (n % chunks != 0);
}

}  // namespace

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t size = chunk_size(self, chunks, dim);
  if (size > 0) return ops::split_Tensor(self, size, dim);
  return ops::split_with_sizes(self, std::vector<int64_t>(static_cast<size_t>(chunks), 0), dim);
}

std::vector<Tensor> unsafe_chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  const int64_t size = chunk_size(self, chunks, dim);
  if (size > 0) return ops::unsafe_split_Tensor(self, size, dim);
  return ops::unsafe_split_with_sizes(self, std::vector<int64_t>(static_cast<size_t>(chunks), 0), dim);
}

std::vector<Tensor> tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  RG_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dim(dim, self.dim()), n = self.size(d);
  RG_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  impl::check_count(sections);
  std::vector<Tensor> out;
  int64_t at = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t length = n / sections + (i < n % sections);
    out.push_back(ops::slice(self, d, at, at + length, 1));
    at += length;
  }
  return out;
}

std::vector<Tensor> tensor_split_indices(const Tensor& self, IntSpan indices, int64_t dim) {
  RG_CHECK(self.dim() > 0, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> out;
  int64_t at = 0;
  for (const int64_t index : indices) {
    out.push_back(ops::slice(self, d, at, index, 1));
    at = index;
  }
  out.push_back(ops::slice(self, d, at, self.size(d), 1));
  return out;
}

std::vector<Tensor> tensor_split_tensor(const Tensor& self, const Tensor& where, int64_t dim) {
  RG_CHECK(where.dtype() == DType::Int64, "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
           dtype_title(where.dtype()));
  RG_CHECK(where.dim() <= 1,
           "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, got one with ",
           where.dim(), " dims");
  const Tensor known = without_lifts(where);
  const Tensor values = on_host(contiguous_data(known));
  if (where.dim() == 0) return ops::tensor_split_sections(self, read_scalar(values).i, dim);
  return ops::tensor_split_indices(self, {values.data<int64_t>(), static_cast<size_t>(values.numel())}, dim);
}

namespace {

void check_axis(const Tensor& self, const char* name, int64_t least) {
  RG_CHECK(self.dim() >= least, "torch.", name, " requires a tensor with at least ", least, " dimension, but got a tensor with ",
           self.dim(), " dimensions!");
}

std::vector<Tensor> split_axis(const Tensor& self, int64_t sections, const char* name, int64_t least, int64_t d) {
  check_axis(self, name, least);
  RG_CHECK(sections > 0 && self.size(d) % sections == 0, "torch.", name, " attempted to split along dimension ", d,
           ", but the size of the dimension ", self.size(d), " is not divisible by the split_size ", sections, "!");
  return ops::tensor_split_sections(self, sections, d);
}

std::vector<Tensor> split_axis(const Tensor& self, IntSpan indices, const char* name, int64_t least, int64_t d) {
  check_axis(self, name, least);
  return ops::tensor_split_indices(self, indices, d);
}

}  // namespace

std::vector<Tensor> hsplit_int(const Tensor& self, int64_t sections) {
  return split_axis(self, sections, "hsplit", 1, self.dim() == 1 ? 0 : 1);
}
std::vector<Tensor> hsplit_array(const Tensor& self, IntSpan indices) {
  return split_axis(self, indices, "hsplit", 1, self.dim() == 1 ? 0 : 1);
}
std::vector<Tensor> vsplit_int(const Tensor& self, int64_t sections) { return split_axis(self, sections, "vsplit", 2, 0); }
std::vector<Tensor> vsplit_array(const Tensor& self, IntSpan indices) { return split_axis(self, indices, "vsplit", 2, 0); }
std::vector<Tensor> dsplit_int(const Tensor& self, int64_t sections) { return split_axis(self, sections, "dsplit", 3, 2); }
std::vector<Tensor> dsplit_array(const Tensor& self, IntSpan indices) { return split_axis(self, indices, "dsplit", 3, 2); }

}  // namespace composite
}  // namespace retrograd
