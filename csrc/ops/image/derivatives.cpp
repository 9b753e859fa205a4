// Gradients and tangents of grid_sampler: by the kernel, or in ordinary ops where they are to be differentiated again.
#include "ops/image/derivatives.h"

#include "autograd/layers.h"
#include "core/state.h"
#include "kernels/image.h"
#include "ops/derivatives.h"

namespace retrograd::derivatives {
namespace {

using kernels::Beyond;
using kernels::Sampling;

// A neighbour of each point along one axis, [N, points]: its place, 1 where it is inside, its weight and the slope of that.
struct Neighbour { Tensor place, inside, weight, slope; };

// x as a line of slope `m` through `value`, both of them constants for derivatives.
Tensor on_line(const Tensor& x, const Tensor& value, const Tensor& m) { return m * x + (value - m * ops::detach(x)); }

class Axis {
 public:
  Axis(const Tensor& grid, int64_t size, Sampling mode, Beyond beyond, bool align_corners)
      : last_(static_cast<double>(size - 1)),
        beyond_(beyond),
        low_(align_corners ? 0 : -0.5),
        span_(static_cast<double>(align_corners ? size - 1 : size)) {
    const double scale = align_corners ? last_ / 2 : static_cast<double>(size) / 2;
    Tensor x = align_corners ? (grid + 1.0) * (last_ / 2) : ((grid + 1.0) * static_cast<double>(size) - 1.0) * 0.5;
    slope_ = ops::zeros_like(grid, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt) + scale;
    if (mode != Sampling::Cubic && beyond != Beyond::Zeros) x = kept_inside(x);
    const Tensor at = ops::detach(x), down = mode == Sampling::Nearest ? ops::round(at) : ops::floor(at), t = x - down;
    if (mode == Sampling::Nearest) {
      add(down, 0, ops::ones_like(at, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt), Tensor());
    } else if (mode == Sampling::Linear) {
      add(down, 0, 1.0 - t, -slope_);
      add(down, 1, t, slope_);
    } else {
      const Tensor u = 1.0 - t;
      add(down, -1, far(t + 1.0), slope_ * far_slope(t + 1.0));
      add(down, 0, near(t), slope_ * near_slope(t));
      add(down, 1, near(u), -slope_ * near_slope(u));
      add(down, 2, far(u + 1.0), -slope_ * far_slope(u + 1.0));
    }
  }
  const std::vector<Neighbour>& neighbours() const { return neighbours_; }

 private:
  static constexpr double a = -0.75;
  static Tensor near(const Tensor& x) { return (x * (a + 2) - (a + 3)) * x * x + 1.0; }
  static Tensor near_slope(const Tensor& x) { return (x * (3 * (a + 2)) - 2 * (a + 3)) * x; }
  static Tensor far(const Tensor& x) { return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a; }
  static Tensor far_slope(const Tensor& x) { return (x * (3 * a) - 10 * a) * x + 8 * a; }

  // nan counts as 0.
  Tensor clipped(const Tensor& x) const { return ops::clamp(ops::nan_to_num(x, 0.0, last_, 0.0), Scalar(0.0), Scalar(last_)); }
  // Folded back into the image, and 1 or -1 as a step forward is one forward or back.
  std::pair<Tensor, Tensor> reflected(const Tensor& x) const {
    if (span_ <= 0) return {x * 0.0, x * 0.0};
    const Tensor away = x - low_, far = ops::abs(away), flips = ops::floor(far / span_), extra = far - flips * span_;
    const Tensor odd = ops::ne(ops::remainder_scalar(flips, 2.0), 0.0);
    const Tensor turns = ops::where(ops::ne(ops::lt(away, 0.0), odd), -1.0,
                                    ops::ones_like(x, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt));
    return {ops::where(odd, span_ - extra, extra) + low_, turns};
  }

  Tensor kept_inside(const Tensor& x) {
    Tensor at = ops::detach(x), m;
    if (beyond_ == Beyond::Reflection) {
      std::tie(at, m) = reflected(at);
      slope_ = slope_ * m;
    }
    const Tensor moves = cast_to(ops::logical_and(ops::gt(at, 0.0), ops::lt(at, last_)), at.dtype());
    slope_ = slope_ * moves;
    return on_line(x, clipped(at), m ? m * moves : moves);
  }

  void add(const Tensor& down, double step, const Tensor& weight, const Tensor& slope) {
    Tensor at = down + step;
    if (beyond_ == Beyond::Reflection) at = reflected(at).first;
    if (beyond_ != Beyond::Zeros) at = clipped(at);
    const Tensor inside = ops::logical_and(ops::ge(at, 0.0), ops::le(at, last_));
    neighbours_.push_back({cast_to(ops::where(inside, at, 0.0), DType::Int64), cast_to(inside, weight.dtype()), weight, slope});
  }

  double last_;
  Beyond beyond_;
  double low_, span_;  // where reflections turn
  Tensor slope_;       // of the place by that in the grid
  std::vector<Neighbour> neighbours_;
};

// input as [N, C, plane], results and gradients as [N, C, points].
class Sampled {
 public:
  Sampled(const Tensor& input, const Tensor& grid, Sampling mode, Beyond beyond, bool align_corners)
      : dims_(input.dim() - 2), batch_(input.size(0)), channels_(input.size(1)) {
    plane_ = 1;
    for (int64_t d = 0; d < dims_; ++d) plane_ *= input.size(2 + d);
    points_ = 1;
    for (int64_t d = 0; d < dims_; ++d) points_ *= grid.size(1 + d);
    image_ = flat(input, plane_);
    for (int64_t d = 0; d < dims_; ++d)
      axes_.emplace_back(ops::reshape(ops::select(grid, -1, d), ints({batch_, points_})), input.size(1 + dims_ - d), mode, beyond,
                         align_corners);
    step_[0] = 1;
    for (int64_t d = 1; d < dims_; ++d) step_[d] = step_[d - 1] * input.size(2 + dims_ - d);
  }

  Tensor flat(const Tensor& t, int64_t last) const { return ops::reshape(t, ints({batch_, channels_, last})); }

  // f(where [N, C, points], weight, by_axis) for each neighbour; by_axis(d) is its weight's slope along an axis.
  template <class F> void each(F&& f) const {
    int64_t count = 1;
    for (int64_t d = 0; d < dims_; ++d) count *= size(d);
    for (int64_t k = 0; k < count; ++k) {
      const Neighbour* one[3];
      int64_t rest = k;
      for (size_t d = 0; d < static_cast<size_t>(dims_); ++d) {
        one[d] = &axes_[d].neighbours()[static_cast<size_t>(rest % size(static_cast<int64_t>(d)))];
        rest /= size(static_cast<int64_t>(d));
      }
      Tensor at = one[0]->place, inside = one[0]->inside;
      for (int64_t d = 1; d < dims_; ++d) {
        at = at + one[d]->place * step_[d];
        inside = inside * one[d]->inside;
      }
      const auto product = [&](int64_t sloping) {
        Tensor w = inside;
        for (int64_t d = 0; d < dims_; ++d) w = w * (d == sloping ? one[d]->slope : one[d]->weight);
        return ops::unsqueeze(w, 1);
      };
      f(ops::expand(ops::unsqueeze(at, 1), ints({batch_, channels_, points_}), false), product);
    }
  }
  Tensor value(const Tensor& where) const { return ops::gather(image_, 2, where, false); }
  int64_t dims() const { return dims_; }
  int64_t plane() const { return plane_; }
  int64_t points() const { return points_; }
  bool slopes() const { return axes_[0].neighbours().size() > 1; }

 private:
  int64_t size(int64_t d) const { return static_cast<int64_t>(axes_[static_cast<size_t>(d)].neighbours().size()); }
  int64_t dims_, batch_, channels_, plane_, points_;
  int64_t step_[3] = {};
  Tensor image_;
  std::vector<Axis> axes_;
};

Tensor widened(const Tensor& t) { return itemsize(t.dtype()) == 2 ? cast_to(t, DType::Float32) : t; }
Tensor plus(const Tensor& sum, const Tensor& t) { return sum ? sum + t : t; }

std::tuple<Tensor, Tensor> grads_in_ops(const Sampled& sampled, const Tensor& grad, const Tensor& input, const Tensor& grid,
                                        bool needs_input, bool needs_grid) {
  const Tensor g = sampled.flat(widened(grad), sampled.points());
  Tensor image, by_axis[3];
  sampled.each([&](const Tensor& where, auto&& weight) {
    if (needs_input) image = plus(image, gather_grad(g * weight(-1), ints({input.size(0), input.size(1), sampled.plane()}), 2, where));
    if (!needs_grid || !sampled.slopes()) return;
    const Tensor product = ops::sum_dim(g * sampled.value(where), ints({1}), true, std::nullopt);
    for (int64_t d = 0; d < sampled.dims(); ++d) by_axis[d] = plus(by_axis[d], product * weight(d));
  });
  Tensor grad_input, grad_grid;
  if (needs_input) grad_input = cast_to(ops::reshape(image, input.sizes()), input.dtype());
  if (needs_grid) {
    grad_grid = sampled.slopes()
                    ? cast_to(ops::reshape(ops::stack({by_axis, static_cast<size_t>(sampled.dims())}, -1), grid.sizes()), grid.dtype())
                    : zeros(grid.sizes(), grid.dtype(), grid.device());
  }
  return {grad_input, grad_grid};
}

}  // namespace

// The op of the gradients has no derivative and no tangents, and a vmap would run it sample by sample.
std::tuple<Tensor, Tensor> grid_sampler_grad(const Tensor& grad, const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding,
                                             bool align_corners, bool needs_input, bool needs_grid) {
  if (!grad) return {};
  if (!thread_state.grad_mode && !has_layers(grad, input, grid))
    return ops::_grid_sampler_backward(grad, input, grid, mode, padding, align_corners, needs_input, needs_grid);
  const Sampled sampled(widened(input), widened(grid), static_cast<Sampling>(mode), static_cast<Beyond>(padding), align_corners);
  return grads_in_ops(sampled, grad, input, grid, needs_input, needs_grid);
}

Tensor grid_sampler_tangent(const Tensor& input_t, const Tensor& grid_t, const Tensor& input, const Tensor& grid, int64_t mode,
                            int64_t padding, bool align_corners) {
  const Tensor moved = ops::grid_sampler(input_t, grid, mode, padding, align_corners);
  const Sampled sampled(widened(input), widened(grid), static_cast<Sampling>(mode), static_cast<Beyond>(padding), align_corners);
  if (!sampled.slopes()) return moved;
  Tensor total;
  sampled.each([&](const Tensor& where, auto&& weight) {
    Tensor by;
    for (int64_t d = 0; d < sampled.dims(); ++d)
      by = plus(by, weight(d) * ops::reshape(ops::select(widened(grid_t), -1, d), ints({input.size(0), 1, sampled.points()})));
    total = plus(total, sampled.value(where) * by);
  });
  return moved + cast_to(ops::reshape(total, moved.sizes()), moved.dtype());
}

}  // namespace retrograd::derivatives
