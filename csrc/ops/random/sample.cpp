// Draws whose distribution comes from a tensor, and dropout.
#include <cmath>

#include "core/promote.h"
#include "core/state.h"
#include "native_random.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/create/create.h"
#include "ops/overlap.h"
#include "ops/random/random.h"

namespace retrograd {
namespace impl {
namespace {

constexpr double kHuge = 1.7976931348623157e308;

void draw_bernoulli(const Tensor& out, const Tensor& p, Generator* generator) {
  RG_CHECK_AS(NotImplemented, is_floating(p.dtype()), "\"bernoulli_tensor_cpu_p_\" not implemented for '", dtype_title(p.dtype()), "'");
  if (is_meta(out)) return;
  check_same_device(out.get(), p.get(), "bernoulli");
  RG_CHECK(all_within(p, 0, 1), "Expected p_in >= 0 && p_in <= 1 to be true, but got false: probabilities must be in [0, 1]");
  // The probabilities in the order in which the elements are drawn: in memory order of the output.
  const Tensor target = dense_and_nonoverlapping(out.get()) ? out : empty_like(out, out.dtype(), out.device(), MemoryFormat::Preserve);
  const Tensor chances = empty_like(target, p.dtype());
  copy_data(chances, p);
  draw_into(target, generator, 4, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(target->device).bernoulli_each(g, data, target.dtype(), n, chances->data, p.dtype());
  });
  if (!target.is(out)) copy_data(out, target);
}

// output = output * std + mean, in place.
void scale_and_shift(const Tensor& out, const Operand& std, const Operand& mean) {
  if (std.tensor) mul_out(out, std, out);
  add_out(out, mean, Scalar(1), out);
}

}  // namespace

void bernoulli_inplace_(const Tensor& self, double p, Generator* generator) {
  RG_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  draw_into(self, generator, 2, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).bernoulli(g, out, self.dtype(), n, p);
  });
}

void bernoulli_inplace_Tensor_(const Tensor& self, const Tensor& p, Generator* generator) {
  check_no_internal_overlap(self);
  check_no_partial_overlap(self.get(), p.get());
  const Shape shape = broadcast_shapes(self.sizes(), p.sizes());
  RG_CHECK(same_sizes(self.sizes(), shape), "output with shape ", self.sizes(), " doesn't match the broadcast shape ", IntSpan(shape));
  draw_bernoulli(self, p, generator);
}

Tensor bernoulli(const Tensor& self, Generator* generator) {
  Tensor out = retrograd::empty_like(self, self.dtype(), self.device(), MemoryFormat::Contiguous);
  draw_bernoulli(out, self, generator);
  return out;
}

Tensor bernoulli_p(const Tensor& self, double p, Generator* generator) {
  Tensor out = retrograd::empty_like(self, self.dtype(), self.device(), MemoryFormat::Contiguous);
  bernoulli_inplace_(out, p, generator);
  return out;
}

Tensor normal_Tensor_Tensor(const Tensor& mean, const Tensor& std, Generator* generator) {
  RG_CHECK(!is_floating(std.dtype()) || std.numel() == 0 || is_meta(std) || all_within(std, 0, kHuge * 10),
           "normal expects all elements of std >= 0.0");
  const Shape shape = broadcast_shapes(mean.sizes(), std.sizes());
  Tensor out = retrograd::empty(shape, promote(mean.dtype(), std.dtype()), mean.device());
  normal_inplace_(out, 0, 1, generator);
  scale_and_shift(out, std, mean);
  return out;
}

Tensor normal_Tensor_float(const Tensor& mean, double std, Generator* generator) {
  Tensor out = retrograd::empty_like(mean, mean.dtype(), mean.device(), MemoryFormat::Contiguous);
  normal_inplace_(out, 0, std, generator);
  scale_and_shift(out, Scalar(1), mean);
  return out;
}

Tensor normal_float_Tensor(double mean, const Tensor& std, Generator* generator) {
  RG_CHECK(!is_floating(std.dtype()) || std.numel() == 0 || is_meta(std) || all_within(std, 0, kHuge * 10),
           "normal expects all elements of std >= 0.0");
  Tensor out = retrograd::empty_like(std, std.dtype(), std.device(), MemoryFormat::Contiguous);
  normal_inplace_(out, 0, 1, generator);
  scale_and_shift(out, std, Scalar(mean));
  return out;
}

Tensor poisson(const Tensor& self, Generator* generator) {
  RG_CHECK_AS(NotImplemented, is_floating(self.dtype()), "\"poisson_cpu\" not implemented for '", dtype_title(self.dtype()), "'");
  Tensor out = retrograd::empty(self.sizes(), self.dtype(), self.device());
  if (is_meta(out) || out.numel() == 0) return out;
  RG_CHECK(all_within(self, 0, kHuge * 10), "invalid Poisson rate, expected rate to be non-negative");
  const Tensor rates = contiguous_data(self);
  draw_into(out, generator, 50, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(self->device).poisson(g, data, rates->data, self.dtype(), n);
  });
  return out;
}

Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement, Generator* generator) {
  RG_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  RG_CHECK(is_floating(self.dtype()), "multinomial only supports floating-point dtypes for input, got: ", dtype_title(self.dtype()));
  RG_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  RG_CHECK(replacement || num_samples <= categories, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  RG_CHECK(categories <= int64_t{1} << 24, "number of categories cannot exceed 2^24");
  const auto result_sizes = [&] { return self.dim() == 2 ? std::vector<int64_t>{rows, num_samples} : std::vector<int64_t>{num_samples}; };
  if (rows == 0 || is_meta(self)) return retrograd::empty(result_sizes(), DType::Int64, self.device());
  const bool one_by_one = replacement && num_samples > 1;
  RG_CHECK(one_by_one || all_within(self, 0, kHuge), "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor weights = contiguous_data(is_floating(self.dtype()) && itemsize(self.dtype()) < 4 ? cast_data(self, DType::Float32) : self);
  Answer<kernels::WeightFault> fault(weights->device);
  {
    const Launch launch(weights, weights.numel());
    kernels::random(weights->device).check_weights(fault.data(), weights->data, weights.dtype(), rows, categories);
  }
  using Fault = kernels::WeightFault;
  RG_CHECK(fault.read() != Fault::Negative, "invalid multinomial distribution (encountering probability entry < 0)");
  RG_CHECK(fault.read() != Fault::NotFinite, "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
  RG_CHECK(fault.read() != Fault::NoWeight, "invalid multinomial distribution (sum of probabilities <= 0)");
  if (!one_by_one) {
    // The largest of weight / exponential are a sample without replacement.
    Tensor race = retrograd::empty_like(self);
    exponential_inplace_(race, 1, generator);
    div_out(self, race, race);
    if (num_samples == 1) return argmax(race, -1, true);
    return std::get<1>(topk(race, num_samples, -1, true, true));
  }
  Tensor out = retrograd::empty(result_sizes(), DType::Int64, self.device());
  const Tensor scratch = retrograd::empty(ints({categories}), weights.dtype(), weights->device);
  draw_into(out, generator, 20, [&](kernels::Generator& g, void* data, int64_t, bool) {
    const int64_t row_bytes = categories * itemsize(weights.dtype());
    for (int64_t r = 0; r < rows; ++r)
      kernels::random(self->device)
          .multinomial(g, static_cast<int64_t*>(data) + r * num_samples, num_samples,
                       static_cast<const char*>(weights->data) + r * row_bytes, weights.dtype(), categories, scratch->data);
  });
  return out;
}

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  RG_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  Tensor mask = empty_like(input, DType::Bool);
  if (!train.value_or(true) || p == 0) {
    fill_data(mask, Scalar(true));
    return {clone(input), mask};
  }
  bernoulli_inplace_(mask, 1 - p, nullptr);
  Tensor out = mul(input, mask);
  mul_out(out, Scalar(p == 1 ? 0.0 : 1 / (1 - p)), out);
  return {out, mask};
}

}  // namespace impl

namespace rule {
Spec _bernoulli_like(const Tensor& self, double) { return Spec::like(self); }
}  // namespace rule
namespace compute {
void _bernoulli_like(const Tensor&, double p, const Tensor& out) {
  draw_into(out, nullptr, 2, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(out->device).bernoulli(g, data, out.dtype(), n, p);
  });
}
}  // namespace compute

namespace composite {
namespace {

struct Noise {
  bool active;
  Tensor factor, shift;  // input * factor (+ shift)
};

// Dropped elements take SELU's negative saturation value; a scale and a shift restore mean 0 and variance 1.
constexpr double kSaturation = 1.7580993408473766;
double alpha_scale(double p) { return 1 / std::sqrt((kSaturation * kSaturation * p + 1) * (1 - p)); }

// What dropout multiplies with: `features` drops whole channels, `alpha` keeps the statistics of SELU.
Noise dropout_noise(const Tensor& self, double p, bool train, bool features, bool alpha) {
  RG_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (p == 0 || !train || self.numel() == 0) return {false, {}, {}};
  if (p == 1) return {true, retrograd::zeros({}, self.dtype(), self.device()), {}};
  RG_CHECK(is_floating(self.dtype()), "result type Float can't be cast to the desired output type ", dtype_title(self.dtype()));
  Tensor like = self;
  if (features) {
    RG_CHECK(self.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
    std::vector<int64_t> sizes(static_cast<size_t>(self.dim()), 1);
    sizes[0] = self.size(0);
    sizes[1] = self.size(1);
    like = retrograd::empty(sizes, self.dtype(), self.device());
  }
  const Tensor noise = ops::_bernoulli_like(like, 1 - p);
  if (!alpha) return {true, ops::div_(noise, Scalar(1 - p)), {}};
  const double a = alpha_scale(p);
  const Tensor shift = ops::add(noise, Scalar(-1), Scalar(1));
  ops::add_(ops::mul_(shift, Scalar(kSaturation * a)), Scalar(kSaturation * a * p), Scalar(1));
  return {true, ops::mul_(noise, Scalar(a)), shift};
}

Tensor drop(const Tensor& self, const Noise& noise) {
  if (!noise.active) return self;
  const Tensor scaled = ops::mul(self, noise.factor);
  return noise.shift ? ops::add(scaled, noise.shift, Scalar(1)) : scaled;
}

void drop_(const Tensor& self, const Noise& noise) {
  if (!noise.active) return;
  ops::mul_(self, noise.factor);
  if (noise.shift) ops::add_(self, noise.shift, Scalar(1));
}

}  // namespace

Tensor dropout(const Tensor& self, double p, bool train) { return drop(self, dropout_noise(self, p, train, false, false)); }
Tensor feature_dropout(const Tensor& self, double p, bool train) { return drop(self, dropout_noise(self, p, train, true, false)); }
Tensor alpha_dropout(const Tensor& self, double p, bool train) { return drop(self, dropout_noise(self, p, train, false, true)); }
Tensor feature_alpha_dropout(const Tensor& self, double p, bool train) { return drop(self, dropout_noise(self, p, train, true, true)); }

void dropout_(const Tensor& self, double p, bool train) { drop_(self, dropout_noise(self, p, train, false, false)); }
void feature_dropout_(const Tensor& self, double p, bool train) { drop_(self, dropout_noise(self, p, train, true, false)); }
void alpha_dropout_(const Tensor& self, double p, bool train) { drop_(self, dropout_noise(self, p, train, false, true)); }
void feature_alpha_dropout_(const Tensor& self, double p, bool train) { drop_(self, dropout_noise(self, p, train, true, true)); }

}  // namespace composite
}  // namespace retrograd
