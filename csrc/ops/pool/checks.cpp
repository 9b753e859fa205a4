// Whether the arguments of a pooling fit together, in PyTorch's words, and how its tensors lie in memory.
#include "ops/checks.h"

#include <climits>
#include <cstring>

#include "ops/pool/pool.h"

namespace retrograd {
namespace {

constexpr const char* kCounts[] = {"", "one", "two", "three"};

// A number for each dimension from one for all, or as many.
void spread(const char* op, const char* words, IntSpan given, int64_t dims, int64_t* out) {
  const bool one = given.size() == 1;
  RG_CHECK(one || static_cast<int64_t>(given.size()) == dims, op, ": ", words, "a single int, or a tuple of ", kCounts[dims],
           " ints, but got ", given);
  for (int64_t d = 0; d < dims; ++d) {
    out[d] = given[one ? 0 : static_cast<size_t>(d)];
    RG_CHECK(out[d] <= INT_MAX && out[d] >= INT_MIN, "integer out of range: ", out[d], " is too large for a pooling");
  }
}

// "kH: 2 kW: 2"
std::string named(const char* name, const int64_t* values, int64_t dims) {
  std::string text;
  for (int64_t d = dims == 1 ? -1 : 0; d < dims; ++d) {
    const char axis = "THW"[3 - dims + d];
    text += str_cat(text.empty() ? "" : " ", name, std::string_view(&axis, 1), ": ", d < 0 ? 1 : values[d]);
  }
  return text;
}
bool all_positive(const int64_t* values, int64_t dims) {
  for (int64_t d = 0; d < dims; ++d)
    if (values[d] <= 0) return false;
  return true;
}

// The results along a dimension: as many windows as begin inside the input or the padding before it.
int64_t windows(const PoolNumbers& n, int64_t d, int64_t input) {
  const int64_t reach = n.dilation[d] * (n.kernel[d] - 1) + 1,
                room = input + 2 * n.padding[d] - reach + (n.ceil_mode ? n.stride[d] - 1 : 0);
  int64_t count = (room >= 0 ? room / n.stride[d] : -((n.stride[d] - 1 - room) / n.stride[d])) + 1;
  if (n.ceil_mode && (count - 1) * n.stride[d] >= input + n.padding[d]) --count;
  return count;
}

std::string joined(const int64_t* values, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += str_cat(i ? "x" : "", values[i]);
  return text;
}

// What pooling says of numbers before it looks at the input.
void check_steps(const PoolNumbers& n) {
  for (int64_t d = 0; d < n.dims; ++d) {
    RG_CHECK(n.stride[d] != 0, "stride should not be zero");
    RG_CHECK(n.padding[d] >= 0, "pad must be non-negative, but got pad: ", n.padding[d]);
    RG_CHECK(n.kernel[d] <= 0 || n.dilation[d] <= 0 || n.padding[d] <= ((n.kernel[d] - 1) * n.dilation[d] + 1) / 2,
             "pad should be at most half of effective kernel size, but got pad=", n.padding[d], ", kernel_size=", n.kernel[d],
             " and dilation=", n.dilation[d]);
  }
  RG_CHECK(all_positive(n.kernel, n.dims), "kernel size should be greater than zero, but got ", named("k", n.kernel, n.dims));
  RG_CHECK(all_positive(n.stride, n.dims), "stride should be greater than zero, but got ", named("d", n.stride, n.dims));
  RG_CHECK(all_positive(n.dilation, n.dims), "dilation should be greater than zero, but got ", named("dilation", n.dilation, n.dims));
}

// Only the batch may be empty.
bool filled(IntSpan input, int64_t dims) {
  for (size_t d = static_cast<int64_t>(input.size()) == dims + 2; d < input.size(); ++d)
    if (input[d] == 0) return false;
  return true;
}

PoolSizes sizes_of(const PoolNumbers& n, IntSpan input) {
  int64_t out[3];
  const size_t first = input.size() - static_cast<size_t>(n.dims);
  for (int64_t d = 0; d < n.dims; ++d) out[d] = windows(n, d, input[first + static_cast<size_t>(d)]);
  int64_t before[4], after[4];
  before[0] = after[0] = input[first - 1];
  for (int64_t d = 0; d < n.dims; ++d) {
    before[d + 1] = input[first + static_cast<size_t>(d)];
    after[d + 1] = out[d];
  }
  RG_CHECK(all_positive(out, n.dims), "Given input size: (", joined(before, n.dims + 1), "). Calculated output size: (",
           joined(after, n.dims + 1), "). Output size is too small");
  return sized_pool(input, {out, static_cast<size_t>(n.dims)});
}

void check_filled(const char* op, const PoolNumbers& n, IntSpan input) {
  if (n.dims < 3) {
    RG_CHECK(filled(input, n.dims), "Expected ", n.dims + 1, "D or ", n.dims + 2,
             "D (batch mode) tensor with optional 0 dim batch size for input, but got:", input);
  } else {
    RG_CHECK(filled(input, n.dims), op, "(): Expected input's non-batch dimensions to have positive length, but input has a shape of ",
             input, " and non-batch dimension 0 has length zero!");
  }
}

bool rank_fits(IntSpan input, int64_t dims) {
  return static_cast<int64_t>(input.size()) == dims + 1 || static_cast<int64_t>(input.size()) == dims + 2;
}

}  // namespace

PoolNumbers pool_numbers(const char* op, int64_t dims, IntSpan kernel, OptInts stride, IntSpan padding, IntSpan dilation, bool ceil_mode) {
  PoolNumbers n;
  n.dims = dims;
  n.ceil_mode = ceil_mode;
  const bool plain = std::strcmp(op, "avg_pool3d") == 0;  // where PyTorch leaves a word out
  const bool given = stride && !stride->empty();
  spread(op, plain ? "kernel_size must be " : "kernel_size must either be ", kernel, dims, n.kernel);
  if (given) spread(op, plain ? "stride must be omitted, " : "stride must either be omitted, ", *stride, dims, n.stride);
  spread(op, plain ? "padding must be " : "padding must either be ", padding, dims, n.padding);
  spread(op, "dilation must be either ", dilation, dims, n.dilation);
  if (!given)
    for (int64_t d = 0; d < dims; ++d) n.stride[d] = n.kernel[d];
  return n;
}

PoolSizes max_pool_sizes(const PoolNumbers& n, IntSpan input) {
  RG_CHECK(rank_fits(input, n.dims), "non-empty ", n.dims + 1, "D or ", n.dims + 2, "D (batch mode) tensor expected for input, but got ",
           input);
  check_steps(n);
  check_filled("max_pool3d_with_indices_out_cpu_template", n, input);
  for (int64_t d = 0; d < n.dims; ++d) {
    if (n.padding[d] <= n.kernel[d] / 2) continue;
    const int64_t *k = n.kernel, *p = n.padding;
    if (n.dims == 3)
      fail(ErrorKind::Runtime, "pad should be smaller than or equal to half of kernel size, but got kT: ", k[0], " kW: ", k[2],
           " kH: ", k[1], " padT: ", p[0], " padW: ", p[2], " padH: ", p[1]);
    fail(ErrorKind::Runtime, "pad should be smaller than or equal to half of kernel size, but got padW = ", p[1], ", padH = ", p[0],
         ", kW = ", k[1], ", kH = ", k[0]);
  }
  return sizes_of(n, input);
}

PoolSizes avg_pool_sizes(const PoolNumbers& n, IntSpan input) {
  const int64_t rank = static_cast<int64_t>(input.size());
  if (n.dims == 3) {
    RG_CHECK(rank_fits(input, n.dims), "non-empty 4D or 5D (batch mode) tensor expected for input, but got ", input);
  } else {
    if (rank == 0) fail(ErrorKind::Index, "Dimension specified as -3 but tensor has no dimensions");
    if (rank < 3) fail(ErrorKind::Index, "Dimension out of range (expected to be in range of [", -rank, ", ", rank - 1, "], but got -3)");
    RG_CHECK(rank_fits(input, n.dims), "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:", input);
  }
  check_steps(n);
  check_filled("avg_pool3d", n, input);
  if (n.dims == 3) {
    const IntSpan in = input.last(3);
    bool fits = true;
    for (size_t d = 0; d < 3; ++d) fits = fits && in[d] + 2 * n.padding[d] >= n.kernel[d];
    RG_CHECK(n.ceil_mode || fits, "input image (", named("", in.data(), 3), ") smaller than kernel size (", named("k", n.kernel, 3), ")");
  }
  return sizes_of(n, input);
}

PoolSizes sized_pool(IntSpan input, IntSpan output_size) {
  PoolSizes s;
  s.count = input.size();
  const size_t first = s.count - output_size.size();
  for (size_t d = 0; d < s.count; ++d) s.sizes[d] = d < first ? input[d] : output_size[d - first];
  return s;
}

Tensor with_batch(const Tensor& t, int64_t dims) {
  if (RG_LIKELY(t.dim() == dims + 2)) return t;
  int64_t sizes[5] = {1}, strides[5] = {t.size(0) * t.stride(0)};
  for (int64_t d = 0; d <= dims; ++d) {
    sizes[d + 1] = t.size(d);
    strides[d + 1] = t.stride(d);
  }
  const size_t count = static_cast<size_t>(dims) + 2;
  return alias_as(t, {sizes, count}, {strides, count}, t->offset());
}

bool lies_channels_last(IntSpan sizes, IntSpan strides, int64_t dims) {
  const bool batched = static_cast<int64_t>(sizes.size()) == dims + 2;
  if (dims < 2 || (dims == 2 && !batched)) return false;
  int64_t size[5] = {1}, stride[5] = {sizes[0] * strides[0]};
  for (size_t d = 0; d < sizes.size(); ++d) {
    size[d + !batched] = sizes[d];
    stride[d + !batched] = strides[d];
  }
  // Row by row, where it could be either.
  int64_t step = 1;
  bool plain = true;
  for (int64_t d = dims + 1; d >= 0; --d) {
    if (size[d] == 0) return false;
    plain = plain && (size[d] == 1 || stride[d] == step);
    step *= size[d];
  }
  if (plain) return false;
  int64_t least = 1;
  const auto fits = [&](int64_t d) {
    const bool ok = stride[d] >= least;
    least = stride[d] * size[d];
    return ok;
  };
  bool ok = fits(1);
  for (int64_t d = dims + 1; d >= 2; --d) ok = ok && fits(d);
  return ok && (!batched || fits(0));
}

Spec pool_spec(IntSpan sizes, DType dtype, Device device, int64_t dims, bool channels_last) {
  Spec spec(sizes, dtype, device);
  if (RG_LIKELY(!channels_last)) return spec;
  int64_t strides[5] = {}, step = sizes[sizes.size() - static_cast<size_t>(dims) - 1];
  const size_t channel = sizes.size() - static_cast<size_t>(dims) - 1;
  strides[channel] = 1;
  for (size_t d = sizes.size() - 1; d > channel; --d) {
    strides[d] = step;
    step *= sizes[d];
  }
  if (channel == 1) strides[0] = step;
  spec.with_strides({strides, sizes.size()});
  return spec;
}

Tensor PoolLayout::read(const Tensor& t) const {
  if (RG_LIKELY(!channels_last)) return contiguous_data(t);
  const Tensor batch = with_batch(t, dims);
  const MemoryFormat format = dims == 2 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  if (has_format(batch.get(), format)) return batch;
  Tensor out = empty_in(batch.sizes(), format, batch.dtype(), batch.device());
  copy_data(out, batch);
  return out;
}

// Without windows.
kernels::PoolShape PoolLayout::sizes(const Tensor& in, const Tensor& out) const {
  const int64_t first = in.dim() - dims, channels = in.size(first - 1), batch = first == 2 ? in.size(0) : 1;
  kernels::PoolShape s{channels_last ? batch : batch * channels,
                       channels_last ? channels : 1,
                       {1, 1, 1},
                       {1, 1, 1},
                       {1, 1, 1},
                       {1, 1, 1},
                       {0, 0, 0},
                       {1, 1, 1},
                       false};
  for (int64_t d = 0; d < dims; ++d) {
    s.in[3 - dims + d] = in.size(first + d);
    s.out[3 - dims + d] = out.size(out.dim() - dims + d);
  }
  return s;
}

kernels::PoolShape PoolLayout::shape(const Tensor& in, const Tensor& out) const {
  kernels::PoolShape s = sizes(in, out);
  for (int64_t at = 3 - dims; at < 3; ++at) {
    s.kernel[at] = s.stride[at] = s.in[at] / s.out[at];
    s.adaptive = s.adaptive || s.in[at] != s.kernel[at] * s.out[at];  // windows that are all alike are those of a plain pooling
  }
  return s;
}

kernels::PoolShape PoolLayout::shape(const Tensor& in, const Tensor& out, const PoolNumbers& n) const {
  kernels::PoolShape s = sizes(in, out);
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t at = 3 - dims + d;
    s.kernel[at] = n.kernel[d];
    s.stride[at] = n.stride[d];
    s.padding[at] = n.padding[d];
    s.dilation[at] = n.dilation[d];
  }
  return s;
}

}  // namespace retrograd
