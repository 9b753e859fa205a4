// Draws whose distribution comes from a tensor, and dropout.
#include <cmath>

#include "core/promote.h"
#include "core/state.h"
#include "native_random.h"
#include "native_reduce.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/create/create.h"
#include "ops/dims.h"
#include "ops/overlap.h"
#include "ops/random/random.h"

namespace retrograd {
namespace {

constexpr double kHuge = 1.7976931348623157e308;

void check_chances(const Tensor& p) {
  RG_CHECK_AS(NotImplemented, is_floating(p.dtype()), "\"bernoulli_tensor_cpu_p_\" not implemented for '", dtype_title(p.dtype()), "'");
}

void draw_bernoulli(const Tensor& out, const Tensor& p, Generator* generator) {
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

void check_normal(DType dtype) {
  RG_CHECK_AS(NotImplemented, is_floating(dtype), "\"normal_kernel_cpu\" not implemented for '", dtype_title(dtype), "'");
}

void check_deviations(const Tensor& std) {
  RG_CHECK(!is_floating(std.dtype()) || all_within(std, 0, kHuge * 10), "normal expects all elements of std >= 0.0");
}

void check_weights(const Tensor& weights, int64_t rows) {
  Answer<kernels::WeightFault> fault(weights->device);
  {
    const Launch launch(weights, weights.numel());
    kernels::random(weights->device).check_weights(fault.data(), weights->data, weights.dtype(), rows, weights.size(-1));
  }
  using Fault = kernels::WeightFault;
  RG_CHECK(fault.read() != Fault::Negative, "invalid multinomial distribution (encountering probability entry < 0)");
  RG_CHECK(fault.read() != Fault::NotFinite, "invalid multinomial distribution (encountering probability entry = infinity or NaN)");
  RG_CHECK(fault.read() != Fault::NoWeight, "invalid multinomial distribution (sum of probabilities <= 0)");
}

}  // namespace

namespace rule {

void bernoulli_inplace_(const Tensor& self, double p, Generator*) {
  RG_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  check_drawable(self);
}

void bernoulli_inplace_Tensor_(const Tensor& self, const Tensor& p, Generator*) {
  check_no_internal_overlap(self);
  check_no_partial_overlap(self.get(), p.get());
  const Shape shape = broadcast_shapes(self.sizes(), p.sizes());
  if (RG_UNLIKELY(!same_sizes(self.sizes(), shape))) fail_inplace_shape(self.sizes(), shape);
  check_chances(p);
  check_same_device(self.get(), p.get(), "bernoulli");
}

Spec bernoulli(const Tensor& self, Generator*) {
  check_chances(self);
  return Spec::of(self);
}

Spec bernoulli_p(const Tensor& self, double p, Generator*) {
  RG_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return Spec::of(self);
}

Spec normal_Tensor_Tensor(const Tensor& mean, const Tensor& std, Generator*) {
  const DType dtype = promote(mean.dtype(), std.dtype());
  check_same_device(mean.get(), std.get(), "normal");
  check_normal(dtype);
  return Spec(broadcast_shapes(mean.sizes(), std.sizes()), dtype, mean->device);
}

Spec normal_Tensor_float(const Tensor& mean, double std, Generator*) {
  RG_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
  check_normal(mean.dtype());
  return Spec::of(mean);
}

Spec normal_float_Tensor(double, const Tensor& std, Generator*) {
  check_normal(std.dtype());
  return Spec::of(std);
}

Spec poisson(const Tensor& self, Generator*) {
  RG_CHECK_AS(NotImplemented, is_floating(self.dtype()), "\"poisson_cpu\" not implemented for '", dtype_title(self.dtype()), "'");
  return Spec::of(self);
}

Spec binomial(const Tensor& count, const Tensor& prob, Generator*) {
  RG_CHECK_AS(Value, is_floating(count.dtype()),
              "binomial only supports floating-point dtypes for count, got: ", dtype_title(count.dtype()));
  RG_CHECK_AS(Value, is_floating(prob.dtype()), "binomial only supports floating-point dtypes for prob, got: ", dtype_title(prob.dtype()));
  RG_CHECK(count.dtype() == prob.dtype(), "Found dtype ", dtype_title(prob.dtype()), " but expected ", dtype_title(count.dtype()));
  RG_CHECK_AS(NotImplemented, itemsize(count.dtype()) >= 4, "\"binomial_cpu\" not implemented for '", dtype_title(count.dtype()), "'");
  check_same_device(count.get(), prob.get(), "binomial");
  return Spec(broadcast_shapes(count.sizes(), prob.sizes()), count.dtype(), count->device);
}

void check_float_or_double(const Tensor& self, const char* kernel) {
  RG_CHECK_AS(NotImplemented, self.dtype() == DType::Float32 || self.dtype() == DType::Float64, "\"", kernel, "\" not implemented for '",
              dtype_title(self.dtype()), "'");
}

Spec _standard_gamma(const Tensor& self, Generator*) {
  check_float_or_double(self, "gamma_cpu");
  return Spec::of(self);
}

Spec _sample_dirichlet(const Tensor& self, Generator*) {
  check_float_or_double(self, "dirichlet");
  return Spec::of(self);
}

Spec multinomial(const Tensor& self, int64_t num_samples, bool replacement, Generator*) {
  RG_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  RG_CHECK(is_floating(self.dtype()), "multinomial only supports floating-point dtypes for input, got: ", dtype_title(self.dtype()));
  RG_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = self.size(-1);
  RG_CHECK(replacement || num_samples <= categories, "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  RG_CHECK(categories <= int64_t{1} << 24, "number of categories cannot exceed 2^24");
  Spec spec(DType::Int64, self->device);
  if (self.dim() == 2) spec.add_dim(self.size(0));
  spec.add_dim(num_samples);
  return spec;
}

}  // namespace rule

namespace compute {

void bernoulli_inplace_(const Tensor& self, double p, Generator* generator) {
  draw_into(self, generator, 2, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).bernoulli(g, out, self.dtype(), n, p);
  });
}

void bernoulli_inplace_Tensor_(const Tensor& self, const Tensor& p, Generator* generator) { draw_bernoulli(self, p, generator); }

void bernoulli(const Tensor& self, Generator* generator, const Tensor& out) { draw_bernoulli(out, self, generator); }

void bernoulli_p(const Tensor&, double p, Generator* generator, const Tensor& out) { bernoulli_inplace_(out, p, generator); }

void normal_Tensor_Tensor(const Tensor& mean, const Tensor& std, Generator* generator, const Tensor& out) {
  check_deviations(std);
  normal_inplace_(out, 0, 1, generator);
  impl::mul_out(out, std, out);
  impl::add_out(out, mean, Scalar(1), out);
}

void normal_Tensor_float(const Tensor& mean, double std, Generator* generator, const Tensor& out) {
  normal_inplace_(out, 0, std, generator);
  impl::add_out(out, mean, Scalar(1), out);
}

void normal_float_Tensor(double mean, const Tensor& std, Generator* generator, const Tensor& out) {
  check_deviations(std);
  normal_inplace_(out, 0, 1, generator);
  impl::mul_out(out, std, out);
  impl::add_out(out, Scalar(mean), Scalar(1), out);
}

void poisson(const Tensor& self, Generator* generator, const Tensor& out) {
  RG_CHECK(all_within(self, 0, kHuge * 10), "invalid Poisson rate, expected rate to be non-negative");
  const Tensor rates = contiguous_data(self);
  draw_into(out, generator, 50, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(self->device).poisson(g, data, rates->data, self.dtype(), n);
  });
}

void binomial(const Tensor& count, const Tensor& prob, Generator* generator, const Tensor& out) {
  const Tensor counts = empty_like(out), chances = empty_like(out);
  copy_data(counts, count);
  copy_data(chances, prob);
  draw_into(out, generator, 100, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(out->device).binomial(g, data, counts->data, chances->data, out.dtype(), n);
  });
}

void _standard_gamma(const Tensor& self, Generator* generator, const Tensor& out) {
  const Tensor alphas = contiguous_data(self);
  draw_into(out, generator, 60, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(self->device).gamma(g, data, alphas->data, self.dtype(), n);
  });
}

void _sample_dirichlet(const Tensor& self, Generator* generator, const Tensor& out) {
  const Tensor alphas = contiguous_data(self);
  const int64_t row = self.dim() ? self.size(-1) : 1;
  const Tensor scratch = empty(ints({row}), DType::Float64, self->device);
  draw_into(out, generator, 60, [&](kernels::Generator& g, void* data, int64_t n, bool) {
    kernels::random(self->device).dirichlet(g, data, alphas->data, self.dtype(), n / row, row, static_cast<double*>(scratch->data));
  });
}

void multinomial(const Tensor& self, int64_t num_samples, bool replacement, Generator* generator, const Tensor& out) {
  const int64_t categories = self.size(-1), rows = self.dim() == 2 ? self.size(0) : 1;
  const bool one_by_one = replacement && num_samples > 1;
  RG_CHECK(one_by_one || all_within(self, 0, kHuge), "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor weights = contiguous_data(itemsize(self.dtype()) < 4 ? cast_data(self, DType::Float32) : self);
  check_weights(weights, rows);
  if (!one_by_one) {
    // The largest of weight / exponential are a sample without replacement.
    const Tensor race = empty_like(self);
    exponential_inplace_(race, 1, generator);
    impl::div_out(self, race, race);
    if (num_samples == 1) return argmax(race, -1, true, out);
    return topk(race, num_samples, -1, true, true, empty(out.sizes(), race.dtype(), race->device), out);
  }
  const Tensor scratch = empty(ints({categories}), weights.dtype(), weights->device);
  draw_into(out, generator, 20, [&](kernels::Generator& g, void* data, int64_t, bool) {
    const int64_t row_bytes = categories * itemsize(weights.dtype());
    for (int64_t r = 0; r < rows; ++r)
      kernels::random(self->device)
          .multinomial(g, static_cast<int64_t*>(data) + r * num_samples, num_samples,
                       static_cast<const char*>(weights->data) + r * row_bytes, weights.dtype(), categories, scratch->data);
  });
}

}  // namespace compute

namespace impl {

std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
  RG_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  if (!train.value_or(true) || p == 0) {
    const Tensor mask = empty_like(input, DType::Bool);
    fill_data(mask, Scalar(true));
    return {clone(input), mask};
  }
  // Ones and zeros in the dtype of the input, where it has them: a product of two dtypes takes longer than the copy that is the mask.
  const Tensor keep = empty_like(input, is_floating(input.dtype()) ? input.dtype() : DType::Bool);
  bernoulli_inplace_(keep, 1 - p, nullptr);
  Tensor out = mul(input, keep);
  mul_out(out, Scalar(p == 1 ? 0.0 : 1 / (1 - p)), out);
  return {out, cast_data(keep, DType::Bool)};
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
