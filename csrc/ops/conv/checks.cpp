// Whether the arguments of a convolution fit together, in PyTorch's words.
#include "ops/checks.h"

#include <climits>

#include "ops/conv/conv.h"

namespace retrograd {
namespace {

// A number for each dimension from one for all, or as many.
void spread(IntSpan given, int64_t dims, const char* name, int64_t* out) {
  const bool one = given.size() == 1;
  RG_CHECK(one || static_cast<int64_t>(given.size()) == dims, "expected ", name, " to be a single integer value or a list of ", dims,
           " values to match the convolution dimensions, but got ", name, "=", given);
  for (int64_t d = 0; d < dims; ++d) {
    out[d] = given[one ? 0 : static_cast<size_t>(d)];
    RG_CHECK(out[d] <= INT_MAX, name, " ", out[d], " of a convolution is too large");
  }
}

bool all_at_least(const int64_t* values, int64_t dims, int64_t least) {
  for (int64_t d = 0; d < dims; ++d)
    if (values[d] < least) return false;
  return true;
}

std::string by(const int64_t* values, int64_t dims) {
  std::string text = "(";
  for (int64_t d = 0; d < dims; ++d) text += str_cat(d ? " x " : "", values[d]);
  return text + ")";
}

// "output_padding_height: 1 output_padding_width: 1"
std::string named(const char* name, const int64_t* values, int64_t dims) {
  static constexpr const char* kAxes[] = {"depth", "height", "width"};
  std::string text;
  for (int64_t d = 0; d < dims; ++d) text += str_cat(d ? " " : "", name, "_", kAxes[3 - dims + d], ": ", values[d]);
  return text;
}

void check_channels(IntSpan in, IntSpan w, const Tensor& bias, const ConvNumbers& n) {
  RG_CHECK(w[0] >= n.groups, "Given groups=", n.groups, ", expected weight to be at least ", n.groups,
           " at dimension 0, but got weight of size ", w, " instead");
  RG_CHECK(w[0] % n.groups == 0, "Given groups=", n.groups, ", expected weight to be divisible by ", n.groups,
           " at dimension 0, but got weight of size [", w, "] instead");
  const int64_t channels = n.transposed ? w[0] : w[1] * n.groups, results = n.transposed ? w[1] * n.groups : w[0];
  const std::string given = n.transposed ? "Given transposed=1, weight of size " : str_cat("Given groups=", n.groups, ", weight of size ");
  RG_CHECK(in[1] == channels, given, w, ", expected input", in, " to have ", channels, " channels, but got ", in[1], " channels instead");
  RG_CHECK(!bias || (bias.dim() == 1 && bias.size(0) == results), "Given ", n.transposed ? "transposed=1, " : "", "weight of size ", w,
           ", expected bias to be 1-dimensional with ", results, " elements, but got bias of size ", bias ? bias.sizes() : IntSpan{},
           " instead");
}

// Sizes, of which kernels and padding may be as large as 2^31.
int64_t fitting(__int128 size) {
  RG_CHECK(size <= INT64_MAX && size >= INT64_MIN, "the result of the convolution is too large");
  return static_cast<int64_t>(size);
}

}  // namespace

ConvNumbers conv_numbers(IntSpan weight, IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding,
                         int64_t groups) {
  ConvNumbers n;
  n.dims = static_cast<int64_t>(weight.size()) - 2;
  RG_CHECK(n.dims > 0, "weight should have at least three dimensions");
  RG_CHECK(groups > 0, "non-positive groups is not supported");
  RG_CHECK(n.dims <= 3, "unsupported ConvNd parameters: a convolution has at most 3 dimensions, and this weight is of size ", weight);
  spread(stride, n.dims, "stride", n.stride);
  spread(padding, n.dims, "padding", n.padding);
  spread(dilation, n.dims, "dilation", n.dilation);
  spread(output_padding, n.dims, "output_padding", n.output_padding);
  n.transposed = transposed;
  n.groups = groups;
  RG_CHECK(all_at_least(n.padding, n.dims, 0), "negative padding is not supported");
  RG_CHECK(all_at_least(n.output_padding, n.dims, 0), "negative output_padding is not supported");
  RG_CHECK(all_at_least(n.stride, n.dims, 1), "non-positive stride is not supported");
  RG_CHECK(all_at_least(n.dilation, n.dims, 1), "dilation should be greater than zero, but got ",
           IntSpan{n.dilation, static_cast<size_t>(n.dims)});
  return n;
}

void check_convolution(IntSpan input, IntSpan weight, const Tensor& bias, const ConvNumbers& n, int64_t* out) {
  const int64_t dims = n.dims;
  RG_CHECK(input.size() == weight.size(), "Expected ", weight.size(), "-dimensional input for ", weight.size(), "-dimensional weight ",
           weight, ", but got ", input.size(), "-dimensional input of size ", input, " instead");
  check_channels(input, weight, bias, n);
  out[0] = input[0];
  out[1] = n.transposed ? weight[1] * n.groups : weight[0];
  int64_t in[3], kernel[3], reach[3], padded[3];
  bool fits = true;
  for (int64_t d = 0; d < dims; ++d) {
    in[d] = input[static_cast<size_t>(d) + 2];
    kernel[d] = weight[static_cast<size_t>(d) + 2];
    const __int128 far = static_cast<__int128>(n.dilation[d]) * (kernel[d] - 1), twice = static_cast<__int128>(n.padding[d]) * 2;
    reach[d] = fitting(far + 1);
    padded[d] = fitting(in[d] + twice);
    out[d + 2] = n.transposed ? fitting(static_cast<__int128>(in[d] - 1) * n.stride[d] - twice + far + n.output_padding[d] + 1)
                              : (padded[d] - reach[d]) / n.stride[d] + 1;
    fits = fits && padded[d] >= reach[d];
  }
  RG_CHECK(all_at_least(kernel, dims, 1), "kernel size should be greater than zero, but got ", named("kernel", kernel, dims));
  if (n.transposed) {
    for (int64_t d = 0; d < dims; ++d)
      RG_CHECK(n.output_padding[d] < n.stride[d] || n.output_padding[d] < n.dilation[d],
               "output padding must be smaller than either stride or dilation, but got ", named("output_padding", n.output_padding, dims),
               " ", named("stride", n.stride, dims), " ", named("dilation", n.dilation, dims));
    RG_CHECK(all_at_least(out + 2, dims, 1), "Given input size per channel: ", by(in, dims),
             ". Calculated output size per channel: ", by(out + 2, dims), ". Output size is too small");
  } else {
    RG_CHECK(fits, "Calculated padded input size per channel: ", by(padded, dims), ". Kernel size: ", by(reach, dims),
             ". Kernel size can't be greater than actual input size");
  }
}

void check_kinds(const Tensor& input, const Tensor& weight, const Tensor& bias, bool transposed) {
  if (input.dtype() == DType::Bool) fail_not_implemented("slow_conv2d_cpu", input.dtype());
  const bool weight_fits = weight.dtype() == input.dtype();
  RG_CHECK((transposed && !weight_fits) || !bias || bias.dtype() == input.dtype(), "Input type (", cpp_type_name(input.dtype()),
           ") and bias type (", bias ? cpp_type_name(bias.dtype()) : "", ") should be the same");
  RG_CHECK(weight_fits, "expected scalar type ", dtype_title(input.dtype()), " but found ", dtype_title(weight.dtype()));
  check_same_device(input.get(), weight.get(), "convolution");
  if (bias) check_same_device(input.get(), bias.get(), "convolution");
}

MemoryFormat conv_format(const Tensor& input, const Tensor& weight) {
  if (RG_LIKELY(input.is_contiguous() && weight.is_contiguous())) return MemoryFormat::Contiguous;
  const MemoryFormat format = apparent_format(input.get());
  return format != MemoryFormat::Contiguous ? format : apparent_format(weight.get());
}

}  // namespace retrograd
