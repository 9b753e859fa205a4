// convolution and its gradients: shape rules and kernel calls. A transposed convolution computes the input of one that is not from its output,
// so there are three sums and no more: see kernels/conv.h.
#include "native_conv.h"
#include "ops/checks.h"
#include "ops/conv/conv.h"
#include "ops/derivatives.h"
#include "ops/lazy.h"

namespace retrograd {
namespace {

using kernels::ConvPass;
using kernels::ConvShape;

// `in` and `out` as the convolution has them that is not transposed.
ConvShape shape_of(const ConvNumbers& n, IntSpan input, IntSpan weight, IntSpan output) {
  const IntSpan in = n.transposed ? output : input, out = n.transposed ? input : output;
  ConvShape s{in[0], n.groups, in[1] / n.groups, out[1] / n.groups, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}};
  for (int64_t d = 0; d < n.dims; ++d) {
    const int64_t at = 3 - n.dims + d;
    const size_t k = static_cast<size_t>(d) + 2;
    s.in[at] = in[k];
    s.out[at] = out[k];
    s.kernel[at] = weight[k];
    s.stride[at] = n.stride[d];
    s.padding[at] = n.padding[d];
    s.dilation[at] = n.dilation[d];
  }
  return s;
}

bool is_empty(const ConvShape& s) { return s.batch * s.in_channels * s.out_channels * s.in_plane() * s.out_plane() == 0; }

DType kernel_dtype(DType t) { return is_integral(t) ? DType::Int64 : t == DType::Float64 ? t : DType::Float32; }

int64_t pass_ns(const ConvShape& s, DType t) {
  const double multiplications = static_cast<double>(s.batch) * static_cast<double>(s.groups * s.out_channels) *
                                 static_cast<double>(s.out_plane()) * static_cast<double>(s.in_channels * s.taps());
  return static_cast<int64_t>(multiplications / (t == DType::Float32 ? 32 : t == DType::Float64 ? 16 : 2));
}

Tensor workspace_for(const ConvShape& s, DType dtype, ConvPass pass, Device device) {
  return empty(ints({kernels::conv(device).workspace(dtype, s, pass)}), DType::UInt8, device);
}

// One of the three from the other two, all contiguous and of a dtype of the kernels.
void run_pass(ConvPass pass, const ConvShape& s, const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result) {
  const DType dtype = result.dtype();
  const Tensor memory = workspace_for(s, dtype, pass, result->device);
  const void* start = bias ? bias->data : nullptr;
  const Launch launch(result, pass_ns(s, dtype));
  const kernels::Workspace work{memory->data, memory.numel()};
  const kernels::ConvKernels& k = kernels::conv(result->device);
  switch (pass) {
    case ConvPass::Out: return k.out(dtype, s, a->data, b->data, start, result->data, work);
    case ConvPass::In: return k.in(dtype, s, a->data, b->data, start, result->data, work);
    case ConvPass::Weight: return k.weight(dtype, s, a->data, b->data, result->data, work);
  }
}

Tensor prepared(const Tensor& t, DType dtype) { return t ? contiguous_data(cast_data(t, dtype)) : Tensor(); }

// The same for results in any format and dtype that is not complex.
void compute_real(ConvPass pass, const ConvShape& s, const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result) {
  const DType dtype = kernel_dtype(result.dtype());
  const bool as_it_is = result.is_contiguous() && result.dtype() == dtype;
  const Tensor to = as_it_is ? result : empty(result.sizes(), dtype, result.device());
  run_pass(pass, s, prepared(a, dtype), prepared(b, dtype), prepared(bias, dtype), to);
  if (!as_it_is) copy_data(result, to);
}

// The parts of a product of complex numbers.
void compute_complex(ConvPass pass, const ConvShape& s, const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result) {
  const DType dtype = real_dtype(result.dtype());
  const auto parts = [&](const Tensor& t) {
    return t ? std::array{prepared(real_part(t), dtype), prepared(imag_part(t), dtype)} : std::array<Tensor, 2>{};
  };
  const auto [ar, ai] = parts(a);
  const auto [br, bi] = parts(b);
  const auto [cr, ci] = parts(bias);
  const auto product = [&](const Tensor& x, const Tensor& y, const Tensor& start) {
    Tensor out = empty(result.sizes(), dtype, result.device());
    run_pass(pass, s, x, y, start, out);
    return out;
  };
  copy_data(real_part(result), impl::sub(product(ar, br, cr), product(ai, bi, Tensor()), 1));
  copy_data(imag_part(result), impl::add(product(ar, bi, ci), product(ai, br, Tensor()), 1));
}

void compute_pass(ConvPass pass, const ConvShape& s, const Tensor& a, const Tensor& b, const Tensor& bias, const Tensor& result) {
  if (is_empty(s)) {  // nothing to add up
    fill_data(result, 0);
    if (bias) {
      int64_t sizes[5], strides[5];
      const size_t dims = static_cast<size_t>(result.dim());
      for (size_t d = 0; d < dims; ++d) {
        sizes[d] = d == 1 ? bias.size(0) : 1;
        strides[d] = bias.stride(0);
      }
      copy_data(result, alias_as(bias, {sizes, dims}, {strides, dims}, bias->offset()));
    }
    return;
  }
  (is_complex(result.dtype()) ? compute_complex : compute_real)(pass, s, a, b, bias, result);
}

}  // namespace

namespace rule {

Spec convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding, IntSpan dilation,
                 bool transposed, IntSpan output_padding, int64_t groups) {
  const ConvNumbers n = conv_numbers(weight.sizes(), stride, padding, dilation, transposed, output_padding, groups);
  int64_t sizes[5];
  check_convolution(input.sizes(), weight.sizes(), bias, n, sizes);
  check_kinds(input, weight, bias, transposed);
  Spec spec({sizes, static_cast<size_t>(n.dims) + 2}, input.dtype(), input->device);
  const MemoryFormat format = conv_format(input, weight);
  if (format != MemoryFormat::Contiguous) spec.in_format(format);
  return spec;
}

// One of the two that make up a convolution from the other and the gradient, which must be of the size of the result.
static Spec part_rule(const char* op, const Tensor& grad, const Tensor& given, IntSpan input, IntSpan weight, IntSpan wanted,
                      const ConvNumbers& n) {
  int64_t sizes[5];
  check_convolution(input, weight, Tensor(), n, sizes);
  const IntSpan expected{sizes, static_cast<size_t>(n.dims) + 2};
  RG_CHECK(same_sizes(grad.sizes(), expected), op, ": expected a gradient of size ", expected, ", got ", grad.sizes());
  check_kinds(grad, given, Tensor(), n.transposed);
  Spec spec(wanted, given.dtype(), given->device);
  const MemoryFormat format = conv_format(grad, given);
  if (format != MemoryFormat::Contiguous) spec.in_format(format);
  return spec;
}

Spec _convolution_input(const Tensor& grad, const Tensor& weight, IntSpan input_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                        bool transposed, IntSpan output_padding, int64_t groups) {
  const ConvNumbers n = conv_numbers(weight.sizes(), stride, padding, dilation, transposed, output_padding, groups);
  return part_rule("_convolution_input", grad, weight, input_size, weight.sizes(), input_size, n);
}

Spec _convolution_weight(const Tensor& grad, const Tensor& input, IntSpan weight_size, IntSpan stride, IntSpan padding, IntSpan dilation,
                         bool transposed, IntSpan output_padding, int64_t groups) {
  const ConvNumbers n = conv_numbers(weight_size, stride, padding, dilation, transposed, output_padding, groups);
  return part_rule("_convolution_weight", grad, input, input.sizes(), weight_size, weight_size, n);
}

}  // namespace rule

namespace compute {

void convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntSpan stride, IntSpan padding, IntSpan dilation,
                 bool transposed, IntSpan output_padding, int64_t groups, const Tensor& out) {
  const ConvNumbers n = conv_numbers(weight.sizes(), stride, padding, dilation, transposed, output_padding, groups);
  compute_pass(transposed ? ConvPass::In : ConvPass::Out, shape_of(n, input.sizes(), weight.sizes(), out.sizes()), input, weight, bias,
               out);
}

void _convolution_input(const Tensor& grad, const Tensor& weight, IntSpan, IntSpan stride, IntSpan padding, IntSpan dilation,
                        bool transposed, IntSpan output_padding, int64_t groups, const Tensor& out) {
  const ConvNumbers n = conv_numbers(weight.sizes(), stride, padding, dilation, transposed, output_padding, groups);
  compute_pass(transposed ? ConvPass::Out : ConvPass::In, shape_of(n, out.sizes(), weight.sizes(), grad.sizes()), grad, weight, Tensor(),
               out);
}

void _convolution_weight(const Tensor& grad, const Tensor& input, IntSpan, IntSpan stride, IntSpan padding, IntSpan dilation,
                         bool transposed, IntSpan output_padding, int64_t groups, const Tensor& out) {
  const ConvNumbers n = conv_numbers(out.sizes(), stride, padding, dilation, transposed, output_padding, groups);
  compute_pass(ConvPass::Weight, shape_of(n, input.sizes(), out.sizes(), grad.sizes()), transposed ? grad : input,
               transposed ? input : grad, Tensor(), out);
}

}  // namespace compute

namespace derivatives {

Tensor convolution_bias_grad(const Tensor& grad) {
  constexpr int64_t dims[4] = {0, 2, 3, 4};
  return ops::sum_dim(grad, IntSpan{dims, static_cast<size_t>(grad.dim()) - 1}, false, std::nullopt);
}

Tensor convolution_tangent(const Tensor& input_t, const Tensor& weight_t, const Tensor& bias_t, const Tensor& input, const Tensor& weight,
                           IntSpan stride, IntSpan padding, IntSpan dilation, bool transposed, IntSpan output_padding, int64_t groups) {
  return ops::convolution(input_t, weight, bias_t, stride, padding, dilation, transposed, output_padding, groups) +
         ops::convolution(input, weight_t, Tensor(), stride, padding, dilation, transposed, output_padding, groups);
}

}  // namespace derivatives
}  // namespace retrograd
