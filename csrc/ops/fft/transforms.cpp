// The three transforms that all others are made of: of complex numbers, of real ones, and back to real ones.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/fft.h"
#include "native_fft.h"
#include "ops/checks.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

int64_t check_dims(IntSpan dim, int64_t ndim, int64_t normalization) {
  RG_CHECK(normalization >= 0 && normalization <= 2,
           "normalization is 0 (none), 1 (by the root of the number of points) or 2 (by that number), got ", normalization);
  uint64_t seen = 0;
  for (const int64_t d : dim) {
    RG_CHECK_AS(Index, ndim > 0, "Dimension specified as ", d, " but tensor has no dimensions");
    const uint64_t bit = uint64_t{1} << wrap_dim(d, ndim);
    RG_CHECK(!(seen & bit), "FFT dims must be unique");
    seen |= bit;
  }
  return dim.empty() ? 0 : wrap_dim(dim.back(), ndim);
}

void check_points(int64_t n) { RG_CHECK(n >= 1, "Invalid number of data points (", n, ") specified"); }

void check_each(const Tensor& self, IntSpan dim) {
  for (const int64_t d : dim) check_points(self.size(d));
}

double scale_of(const Tensor& full, IntSpan dim, int64_t normalization) {
  if (!normalization) return 1;
  double n = 1;
  for (const int64_t d : dim) n *= static_cast<double>(full.size(d));
  return 1 / (normalization == 1 ? std::sqrt(n) : n);
}

kernels::Workspace lend(Tensor& memory, const Tensor& out, const Tensor& in, int dim) {
  const int64_t bytes = kernels::fft(out->device).workspace(out.array(), in.array(), dim);
  if (RG_LIKELY(!bytes)) return {};
  memory = empty(ints({bytes}), DType::UInt8, out->device);
  return {memory->data, bytes};
}

int64_t work_ns(const Tensor& t) { return 2 * t.numel(); }

// Along each of dim, the last first; out may be in.
void transform_each(const Tensor& out, const Tensor& in, IntSpan dim, bool forward, double scale) {
  const Tensor* from = &in;
  for (size_t i = dim.size(); i-- > 0; from = &out, scale = 1) {
    const int d = static_cast<int>(wrap_dim(dim[i], in.dim()));
    Tensor memory;
    const kernels::Workspace work = lend(memory, out, *from, d);
    const Launch launch(out, work_ns(out));
    kernels::fft(out->device).c2c(out.array(), from->array(), d, forward, scale, work);
  }
}

// As PyTorch lays results out: the transformed dimensions are innermost, the others around them, both in the order of the input's memory. Of
// real numbers the last one given stays last.
Spec laid_out(const Tensor& self, IntSpan dim, DType dtype, int64_t last, int64_t last_size, bool keeps_last) {
  const int64_t ndim = self.dim();
  if (dim.size() == 1 && last == ndim - 1 && last_size == self.size(last) && self.is_contiguous()) return Spec::of(self, dtype);
  std::vector<int64_t> sizes(self.sizes().begin(), self.sizes().end()), strides(sizes.size()), order;
  sizes[static_cast<size_t>(last)] = last_size;
  std::vector<bool> inner(sizes.size());
  for (const int64_t d : dim) inner[static_cast<size_t>(wrap_dim(d, ndim))] = true;
  const auto rank = [&](int64_t d) { return keeps_last && d == last ? 2 : inner[static_cast<size_t>(d)] ? 1 : 0; };
  for (int64_t d = 0; d < ndim; ++d) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : self.strides()[static_cast<size_t>(a)] > self.strides()[static_cast<size_t>(b)];
  });
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto d = static_cast<size_t>(order[i]);
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return Spec(sizes, dtype, self->device).with_strides(strides);
}

}  // namespace

namespace rule {

Spec _fft_c2c(const Tensor& self, IntSpan dim, int64_t normalization, bool) {
  RG_CHECK(is_complex(self.dtype()), "Only supports complex dtypes, but found: ", dtype_title(self.dtype()));
  const int64_t last = check_dims(dim, self.dim(), normalization);
  check_each(self, dim);
  if (dim.empty()) return Spec::like(self);
  return laid_out(self, dim, self.dtype(), last, self.size(last), false);
}

Spec _fft_r2c(const Tensor& self, IntSpan dim, int64_t normalization, bool onesided) {
  const DType dtype = self.dtype();
  RG_CHECK(is_floating(dtype), "Only supports floating-point dtypes, but found: ", dtype_title(dtype));
  RG_CHECK(dtype == DType::Float32 || dtype == DType::Float64, "MKL FFT doesn't support tensors of type: ", dtype_title(dtype),
           ". Transforms are computed in float32 and float64: convert the tensor first");
  RG_CHECK(!dim.empty(), "_fft_r2c: at least one dimension is needed");
  const int64_t last = check_dims(dim, self.dim(), normalization);
  check_each(self, dim);
  return laid_out(self, dim, complex_dtype(dtype), last, onesided ? self.size(last) / 2 + 1 : self.size(last), true);
}

Spec _fft_c2r(const Tensor& self, IntSpan dim, int64_t normalization, int64_t last_dim_size) {
  RG_CHECK(is_complex(self.dtype()), "Only supports complex dtypes, but found: ", dtype_title(self.dtype()));
  RG_CHECK(!dim.empty(), "_fft_c2r: at least one dimension is needed");
  const int64_t last = check_dims(dim, self.dim(), normalization);
  check_each(self, dim);
  check_points(last_dim_size);
  RG_CHECK(self.size(last) == last_dim_size / 2 + 1, "_fft_c2r: ", last_dim_size, " real numbers come from ", last_dim_size / 2 + 1,
           " complex ones, but dimension ", last, " has ", self.size(last));
  return laid_out(self, dim, real_dtype(self.dtype()), last, last_dim_size, true);
}

}  // namespace rule

namespace compute {

void _fft_c2c(const Tensor& self, IntSpan dim, int64_t normalization, bool forward, const Tensor& out) {
  if (dim.empty()) return copy_data(out, self);
  transform_each(out, self, dim, forward, scale_of(self, dim, normalization));
}

void _fft_r2c(const Tensor& self, IntSpan dim, int64_t normalization, bool, const Tensor& out) {
  const int last = static_cast<int>(wrap_dim(dim.back(), self.dim()));
  {
    Tensor memory;
    const kernels::Workspace work = lend(memory, out, self, last);
    const Launch launch(out, work_ns(self));
    kernels::fft(out->device).r2c(out.array(), self.array(), last, scale_of(self, dim, normalization), work);
  }
  transform_each(out, out, dim.first(dim.size() - 1), true, 1);
}

void _fft_c2r(const Tensor& self, IntSpan dim, int64_t normalization, int64_t, const Tensor& out) {
  const int last = static_cast<int>(wrap_dim(dim.back(), self.dim()));
  Tensor in = self;
  if (dim.size() > 1) {
    in = empty(self.sizes(), self.dtype(), self->device);
    transform_each(in, self, dim.first(dim.size() - 1), false, 1);
  }
  Tensor memory;
  const kernels::Workspace work = lend(memory, out, in, last);
  const Launch launch(out, work_ns(out));
  kernels::fft(out->device).c2r(out.array(), in.array(), last, scale_of(out, dim, normalization), work);
}

}  // namespace compute
}  // namespace retrograd
