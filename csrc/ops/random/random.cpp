// In-place draws, and the functions that make a tensor and draw into it.
#include "ops/random/random.h"

#include <cmath>
#include <limits>

#include "core/promote.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/dims.h"
#include "ops/lazy.h"

namespace retrograd {

std::mutex draw_mutex;

namespace {

void check_floating(DType dtype, const char* kernel) {
  RG_CHECK_AS(NotImplemented, is_floating(dtype), "\"", kernel, "\" not implemented for '", dtype_title(dtype), "'");
}
// The parts of a complex number are drawn one after the other.
void check_floating_or_complex(DType dtype, const char* kernel) {
  if (!is_complex(dtype)) check_floating(dtype, kernel);
}

void check_deviation(double std) { RG_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std); }

// Floats hold integers exactly up to 2 to this power.
int digits_of(DType dtype) {
  switch (dtype) {
    case DType::Float16: return 11;
    case DType::BFloat16: return 8;
    case DType::Float32: return 24;
    default: return 53;
  }
}

// Smallest and largest integer of a dtype that random_ may give.
std::pair<int64_t, int64_t> bounds_of(DType dtype) {
  switch (dtype) {
    case DType::Bool: return {0, 1};
    case DType::UInt8: return {0, 255};
    case DType::Int8: return {-128, 127};
    case DType::Int16: return {-32768, 32767};
    case DType::Int32: return {INT32_MIN, INT32_MAX};
    case DType::UInt16: return {0, 65535};
    case DType::UInt32: return {0, 4294967295};
    case DType::UInt64: return {0, INT64_MAX};
    case DType::Float16: return {-65504, 65504};
    default: return {INT64_MIN, INT64_MAX};
  }
}

const char* c_name(DType dtype) {
  constexpr const char* names[] = {"bool", "unsigned char", "signed char",   "short", "int",
                                   "long", "c10::Half",     "c10::BFloat16", "float", "double"};
  return is_guest(dtype) ? cpp_type_name(dtype) : names[static_cast<int>(dtype)];
}

void check_integers(int64_t from, int64_t to, DType dtype) {
  RG_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
  if (is_complex(dtype) || is_float8(dtype)) fail_no_kernel("random_from_to", dtype);
  const auto [low, high] = bounds_of(dtype);
  RG_CHECK(from >= low && from <= high, "from is out of bounds for ", c_name(dtype));
  RG_CHECK(to - 1 >= low && to - 1 <= high, "to - 1 is out of bounds for ", c_name(dtype));
}

void draw_integers(const Tensor& self, int64_t from, uint64_t range, Generator* generator) {
  draw_into(self, generator, 2, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).random_from(g, out, self.dtype(), n, from, range);
  });
}

uint64_t distance(int64_t from, int64_t to) { return static_cast<uint64_t>(to) - static_cast<uint64_t>(from); }

// The largest integer that random_(from, None) gives.
int64_t last_integer(DType dtype) { return is_floating(dtype) ? int64_t{1} << digits_of(dtype) : bounds_of(dtype).second; }

}  // namespace

namespace rule {

void uniform_inplace_(const Tensor& self, double from, double to, Generator*) {
  check_floating_or_complex(self.dtype(), "check_uniform_bounds");
  RG_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  RG_CHECK(to - from <= std::numeric_limits<double>::max(), "uniform_ expects to-from <= std::numeric_limits<", dtype_title(self.dtype()),
           ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
  check_drawable(self);
}

void normal_inplace_(const Tensor& self, double, double std, Generator*) {
  check_deviation(std);
  check_floating_or_complex(self.dtype(), "normal_kernel_cpu");
  check_drawable(self);
}

void log_normal_inplace_(const Tensor& self, double, double std, Generator*) {
  RG_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  check_floating(self.dtype(), "log_normal_cpu");
  check_drawable(self);
}

void exponential_inplace_(const Tensor& self, double lambd, Generator*) {
  RG_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  check_floating(self.dtype(), "exponential_cpu");
  check_drawable(self);
}

void cauchy_inplace_(const Tensor& self, double, double sigma, Generator*) {
  RG_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  RG_CHECK(is_floating(self.dtype()), "Cauchy distribution is a continuous probability distribution. dtype must be a floating point, got ",
           dtype_name(self.dtype()));
  check_drawable(self);
}

void geometric_inplace_(const Tensor& self, double p, Generator*) {
  RG_CHECK(p > 0 && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  RG_CHECK_AS(NotImplemented, self.dtype() != DType::Bool, "\"geometric_cpu\" not implemented for 'Bool'");
  check_drawable(self);
}

void random_inplace_(const Tensor& self, Generator*) { check_drawable(self); }

void random_from_(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator*) {
  const DType dtype = self.dtype();
  if (is_float8(dtype)) fail_no_kernel("random_from_to", dtype);
  if (to) {
    check_integers(from, *to, dtype);
  } else {
    RG_CHECK(from >= bounds_of(dtype).first && from <= last_integer(dtype), "from is out of bounds for ", c_name(dtype));
  }
  check_drawable(self);
}

void random_to_(const Tensor& self, int64_t to, Generator* generator) { random_from_(self, 0, to, generator); }

}  // namespace rule

namespace compute {

void uniform_inplace_(const Tensor& self, double from, double to, Generator* generator) {
  if (RG_UNLIKELY(is_complex(self.dtype()))) return impl::uniform_inplace_(real_pairs(self), from, to, generator);
  draw_into(self, generator, 2, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).uniform(g, out, self.dtype(), n, from, to);
  });
}

void normal_inplace_(const Tensor& self, double mean, double std, Generator* generator) {
  if (RG_UNLIKELY(is_complex(self.dtype())))  // half the variance each
    return impl::normal_inplace_(real_pairs(self), mean, std / std::sqrt(2.0), generator);
  draw_into(self, generator, 5, [&](kernels::Generator& g, void* out, int64_t n, bool contiguous) {
    contiguous ? kernels::random(self->device).normal(g, out, self.dtype(), n, mean, std)
               : kernels::random(self->device).normal_serial(g, out, self.dtype(), n, mean, std);
  });
}

void log_normal_inplace_(const Tensor& self, double mean, double std, Generator* generator) {
  draw_into(self, generator, 20, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).log_normal(g, out, self.dtype(), n, mean, std);
  });
}

void exponential_inplace_(const Tensor& self, double lambd, Generator* generator) {
  draw_into(self, generator, 10, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).exponential(g, out, self.dtype(), n, lambd);
  });
}

void cauchy_inplace_(const Tensor& self, double median, double sigma, Generator* generator) {
  draw_into(self, generator, 20, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).cauchy(g, out, self.dtype(), n, median, sigma);
  });
}

void geometric_inplace_(const Tensor& self, double p, Generator* generator) {
  draw_into(self, generator, 20, [&](kernels::Generator& g, void* out, int64_t n, bool) {
    kernels::random(self->device).geometric(g, out, self.dtype(), n, p);
  });
}

void random_inplace_(const Tensor& self, Generator* generator) {
  draw_into(self, generator, 2,
            [&](kernels::Generator& g, void* out, int64_t n, bool) { kernels::random(self->device).random_full(g, out, self.dtype(), n); });
}

void random_to_(const Tensor& self, int64_t to, Generator* generator) { draw_integers(self, 0, distance(0, to), generator); }

void random_from_(const Tensor& self, int64_t from, std::optional<int64_t> to, Generator* generator) {
  // A range of 0 stands for all of int64.
  draw_integers(self, from, to ? distance(from, *to) : distance(from, last_integer(self.dtype())) + 1, generator);
}

}  // namespace compute

// ---- new tensors ----

namespace rule {
namespace {

Spec sized(IntSpan size, const Options& options, DType fallback) {
  return Spec(size, options.dtype.value_or(fallback), creation_device(options));
}

Spec like(const Tensor& self, const Options& options, std::optional<MemoryFormat> format) {
  Spec spec = Spec::like(self, options.dtype.value_or(self.dtype()), format.value_or(MemoryFormat::Preserve));
  spec.on(creation_device(options, self.device()));
  return spec;
}

}  // namespace

Spec rand(IntSpan size, Generator*, const Options& options) {
  check_floating_or_complex(options.dtype.value_or(default_dtype()), "check_uniform_bounds");
  return sized(size, options, default_dtype());
}

Spec normal_float_float(double, double std, IntSpan size, Generator*, const Options& options) {
  check_deviation(std);
  check_floating_or_complex(options.dtype.value_or(default_dtype()), "normal_kernel_cpu");
  return sized(size, options, default_dtype());
}

Spec randn(IntSpan size, Generator* generator, const Options& options) { return normal_float_float(0, 1, size, generator, options); }

Spec randint_low(int64_t low, int64_t high, IntSpan size, Generator*, const Options& options) {
  check_integers(low, high, options.dtype.value_or(DType::Int64));
  return sized(size, options, DType::Int64);
}

Spec randint(int64_t high, IntSpan size, Generator* generator, const Options& options) {
  return randint_low(0, high, size, generator, options);
}

Spec randperm(int64_t n, Generator*, const Options& options) {
  const DType dtype = options.dtype.value_or(DType::Int64);
  if (is_complex(dtype)) fail_no_kernel("randperm", dtype);
  if (is_floating(dtype)) {
    RG_CHECK(n <= int64_t{1} << digits_of(dtype), "n cannot be greater than 2^", digits_of(dtype), " for ", dtype_title(dtype), " type");
  } else {
    check_fill_value(Scalar(n), dtype);
  }
  return sized(ints({n}), options, DType::Int64);
}

Spec rand_like(const Tensor& self, Generator*, const Options& options, std::optional<MemoryFormat> memory_format) {
  check_floating_or_complex(options.dtype.value_or(self.dtype()), "check_uniform_bounds");
  return like(self, options, memory_format);
}

Spec randn_like(const Tensor& self, Generator*, const Options& options, std::optional<MemoryFormat> memory_format) {
  check_floating_or_complex(options.dtype.value_or(self.dtype()), "normal_kernel_cpu");
  return like(self, options, memory_format);
}

Spec randint_like_low(const Tensor& self, int64_t low, int64_t high, Generator*, const Options& options,
                      std::optional<MemoryFormat> memory_format) {
  check_integers(low, high, options.dtype.value_or(self.dtype()));
  return like(self, options, memory_format);
}

Spec randint_like(const Tensor& self, int64_t high, Generator* generator, const Options& options,
                  std::optional<MemoryFormat> memory_format) {
  return randint_like_low(self, 0, high, generator, options, memory_format);
}

}  // namespace rule

namespace compute {

void rand(IntSpan, Generator* generator, const Tensor& out) { uniform_inplace_(out, 0, 1, generator); }
void randn(IntSpan, Generator* generator, const Tensor& out) { normal_inplace_(out, 0, 1, generator); }
void normal_float_float(double mean, double std, IntSpan, Generator* generator, const Tensor& out) {
  normal_inplace_(out, mean, std, generator);
}
void randint(int64_t high, IntSpan, Generator* generator, const Tensor& out) { random_to_(out, high, generator); }
void randint_low(int64_t low, int64_t high, IntSpan, Generator* generator, const Tensor& out) { random_from_(out, low, high, generator); }

void randperm(int64_t, Generator* generator, const Tensor& out) {
  draw_into(out, generator, 5, [&](kernels::Generator& g, void* data, int64_t count, bool) {
    kernels::random(out->device).randperm(g, data, out.dtype(), count);
  });
}

using Format = std::optional<MemoryFormat>;
void rand_like(const Tensor&, Generator* generator, Format, const Tensor& out) { uniform_inplace_(out, 0, 1, generator); }
void randn_like(const Tensor&, Generator* generator, Format, const Tensor& out) { normal_inplace_(out, 0, 1, generator); }
void randint_like(const Tensor&, int64_t high, Generator* generator, Format, const Tensor& out) { random_to_(out, high, generator); }
void randint_like_low(const Tensor&, int64_t low, int64_t high, Generator* generator, Format, const Tensor& out) {
  random_from_(out, low, high, generator);
}

}  // namespace compute
}  // namespace retrograd
