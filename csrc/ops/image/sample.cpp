// Images sampled at points of a grid.
#include "kernels/image.h"
#include "native_image.h"
#include "ops/checks.h"
#include "ops/derivatives.h"

namespace retrograd {
namespace {

using kernels::Beyond;
using kernels::SampleShape;
using kernels::Sampling;

constexpr int64_t kCubic = static_cast<int64_t>(Sampling::Cubic);

void check_numbers(int64_t mode, int64_t padding) {
  RG_CHECK(mode >= 0 && mode <= 2, "grid_sampler(): expected interpolation_mode to be 0 (bilinear), 1 (nearest) or 2 (bicubic), but got ",
           mode);
  RG_CHECK(padding >= 0 && padding <= 2, "grid_sampler(): expected padding_mode to be 0 (zeros), 1 (border) or 2 (reflection), but got ",
           padding);
}

void check_sampler(const Tensor& input, const Tensor& grid, int64_t dims, int64_t mode, int64_t padding) {
  check_same_device(input.get(), grid.get(), "grid_sampler");
  RG_CHECK_AS(Index, input.dim() > 0 && grid.dim() > 0, "Dimension specified as 0 but tensor has no dimensions");
  RG_CHECK(input.size(0) == grid.size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes ",
           input.sizes(), " and grid with sizes ", grid.sizes());
  RG_CHECK(grid.size(-1) == input.dim() - 2, "grid_sampler(): expected grid to have size ", input.dim() - 2,
           " in last dimension, but got grid with sizes ", grid.sizes());
  for (int64_t d = 2; d < input.dim(); ++d)
    RG_CHECK(input.size(d) > 0, "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes ", input.sizes(),
             " with dimension ", d, " being empty");
  RG_CHECK(input.dim() == dims + 2 && grid.dim() == dims + 2, "grid_sampler(): expected ", dims + 2,
           "D input and grid with same number of dimensions, but got input with sizes ", input.sizes(), " and grid with sizes ",
           grid.sizes());
  RG_CHECK(dims == 2 || mode != kCubic, "grid_sampler(): bicubic interpolation only supports 4D input");
  check_numbers(mode, padding);
  if (!is_floating(input.dtype()))
    fail_not_implemented(dims == 2 ? "grid_sampler_2d_cpu_kernel_impl" : "grid_sampler3d_cpu", input.dtype());
  RG_CHECK(grid.dtype() == input.dtype(), "expected scalar type ", dtype_title(input.dtype()), " but found ", dtype_title(grid.dtype()));
  int64_t plane = 1;
  for (int64_t d = 2; d < input.dim(); ++d) {
    plane *= input.size(d);
    RG_CHECK(plane <= INT32_MAX, "grid_sampler(): an image of size ", input.sizes(), " is too large");
  }
}

Spec sampled_spec(const Tensor& input, const Tensor& grid) {
  Spec spec(input.dtype(), input->device);
  spec.add_dim(input.size(0));
  spec.add_dim(input.size(1));
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) spec.add_dim(grid.size(d));
  return spec;
}

SampleShape shape_of(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners) {
  const int64_t dims = input.dim() - 2, batch = input.size(0);
  SampleShape s{batch,
                input.size(1),
                batch ? grid.numel() / (batch * dims) : 0,
                {1, 1, 1},
                static_cast<int>(dims),
                static_cast<Sampling>(mode),
                static_cast<Beyond>(padding),
                align_corners};
  for (int64_t d = 0; d < dims; ++d) s.in[3 - dims + d] = input.size(2 + d);
  return s;
}

DType kernel_dtype(DType dtype) { return dtype == DType::Float64 ? dtype : DType::Float32; }
Tensor prepared(const Tensor& t, DType dtype) { return contiguous_data(cast_data(t, dtype)); }
int64_t work_of(const SampleShape& s) { return s.batch * s.points * (s.channels * 2 + 8); }

void sample(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners, const Tensor& out) {
  const SampleShape s = shape_of(input, grid, mode, padding, align_corners);
  const DType dtype = kernel_dtype(out.dtype());
  const Tensor in = prepared(input, dtype), places = prepared(grid, dtype);
  const Tensor to = out.dtype() == dtype ? out : empty(out.sizes(), dtype, out.device());
  {
    const Launch launch(to, work_of(s));
    kernels::image(to->device).sample(dtype, s, in->data, places->data, to->data);
  }
  if (!to.is(out)) copy_data(out, to);
}

}  // namespace

namespace rule {

Spec grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool) {
  check_sampler(input, grid, 2, mode, padding);
  return sampled_spec(input, grid);
}
Spec grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool) {
  check_sampler(input, grid, 3, mode, padding);
  return sampled_spec(input, grid);
}

std::array<Spec, 2> _grid_sampler_backward(const Tensor& grad, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool,
                                           bool needs_input, bool needs_grid) {
  RG_CHECK(input.dim() == 4 || input.dim() == 5, "_grid_sampler_backward: expected images or volumes, got ", input.sizes());
  check_sampler(input, grid, input.dim() - 2, mode, padding);
  bool fits = grad.dim() == input.dim() && grad.size(0) == input.size(0) && grad.size(1) == input.size(1);
  for (int64_t d = 2; fits && d < grad.dim(); ++d) fits = grad.size(d) == grid.size(d - 1);
  RG_CHECK(fits && grad.dtype() == input.dtype(), "_grid_sampler_backward: a gradient of size ", grad.sizes(),
           " does not fit images of size ", input.sizes(), " and a grid of size ", grid.sizes());
  return {needs_input ? Spec::of(input) : Spec(), needs_grid ? Spec::of(grid) : Spec()};
}

}  // namespace rule

namespace compute {

void grid_sampler_2d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners, const Tensor& out) {
  sample(input, grid, mode, padding, align_corners, out);
}
void grid_sampler_3d(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners, const Tensor& out) {
  sample(input, grid, mode, padding, align_corners, out);
}

void _grid_sampler_backward(const Tensor& grad, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners,
                            bool, bool, const Tensor& grad_input, const Tensor& grad_grid) {
  const SampleShape s = shape_of(input, grid, mode, padding, align_corners);
  if (s.batch * s.channels * s.points == 0) {  // no point moves anything
    if (grad_input) fill_data(grad_input, 0);
    if (grad_grid) fill_data(grad_grid, 0);
    return;
  }
  const DType dtype = kernel_dtype(input.dtype());
  const auto to = [&](const Tensor& t) { return !t || t.dtype() == dtype ? t : empty(t.sizes(), dtype, t.device()); };
  const Tensor g = prepared(grad, dtype), in = prepared(input, dtype), places = prepared(grid, dtype);
  const Tensor to_input = to(grad_input), to_grid = to(grad_grid);
  {
    const Launch launch(g, 2 * work_of(s));
    kernels::image(g->device).sample_backward(dtype, s, g->data, in->data, places->data, to_input ? to_input->data : nullptr,
                                              to_grid ? to_grid->data : nullptr);
  }
  if (to_input && !to_input.is(grad_input)) copy_data(grad_input, to_input);
  if (to_grid && !to_grid.is(grad_grid)) copy_data(grad_grid, to_grid);
}

}  // namespace compute

namespace composite {

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding, bool align_corners) {
  if (input.dim() == 5) return ops::grid_sampler_3d(input, grid, mode, padding, align_corners);
  return ops::grid_sampler_2d(input, grid, mode, padding, align_corners);
}

}  // namespace composite
}  // namespace retrograd
