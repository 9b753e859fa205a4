// torch.fft over the three transforms: dtypes, dimensions and sizes as the caller has them, and the names of normalizations.
#include "ops/checks.h"
#include "ops/derivatives.h"
#include "ops/dims.h"

namespace retrograd::composite {
namespace {

using Norm = std::optional<std::string_view>;
using Size = std::optional<int64_t>;
using Sizes = OptInts;

int64_t normalization(Norm norm, bool forward) {
  if (!norm || *norm == "backward") return forward ? 0 : 2;
  if (*norm == "forward") return forward ? 2 : 0;
  RG_CHECK(*norm == "ortho", "Invalid normalization mode: \"", *norm, "\"");
  return 1;
}

// The input in a dtype that is computed in: integers count as the default dtype.
Tensor promoted(const Tensor& self, bool complex = false) {
  const DType given = self.dtype(), dtype = is_differentiable(given) ? given : default_dtype();
  RG_CHECK(dtype != DType::Float16 && dtype != DType::BFloat16, "Unsupported dtype ", dtype_title(dtype),
           ". Transforms are computed in float32 and float64: convert the tensor first");
  const DType wanted = complex ? complex_dtype(dtype) : dtype;
  return wanted == given ? self : ops::_to_copy(self, wanted, std::nullopt);
}

void check_real(const Tensor& self, const char* op, const char* words) {
  RG_CHECK(!is_complex(self.dtype()), op, " expects a ", words, " input tensor, but got ", dtype_title(self.dtype()));
}

int64_t dim_of(const Tensor& input, int64_t dim) {
  RG_CHECK_AS(Index, input.dim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, input.dim());
}

void check_points(int64_t n) { RG_CHECK(n >= 1, "Invalid number of data points (", n, ") specified"); }

// Cut off, or with zeros behind it.
Tensor resized(const Tensor& input, int64_t dim, int64_t n) {
  const int64_t size = input.size(dim);
  if (RG_LIKELY(n == size)) return input;
  if (n < size) return ops::slice(input, dim, 0, n, 1);
  std::vector<int64_t> pad(static_cast<size_t>(2 * (input.dim() - dim)), 0);
  pad.back() = n - size;
  return ops::constant_pad_nd(input, pad, 0);
}

// ---- along one dimension ----

Tensor complex_transform(const Tensor& self, Size n, int64_t dim, Norm norm, bool forward) {
  Tensor input = promoted(self);
  dim = dim_of(input, dim);
  const int64_t size = n.value_or(input.size(dim));
  check_points(size);
  input = resized(input, dim, size);
  const int64_t mode = normalization(norm, forward);
  if (is_complex(input.dtype())) return ops::_fft_c2c(input, {&dim, 1}, mode, forward);
  const Tensor whole = ops::_fft_r2c(input, {&dim, 1}, mode, false);
  return forward ? whole : ops::conj(whole);
}

Tensor from_real(const Tensor& self, Size n, int64_t dim, Norm norm, bool forward, const char* op) {
  check_real(self, op, "real");
  Tensor input = promoted(self);
  dim = dim_of(input, dim);
  const int64_t size = n.value_or(input.size(dim));
  check_points(size);
  const Tensor half = ops::_fft_r2c(resized(input, dim, size), {&dim, 1}, normalization(norm, forward), true);
  return forward ? half : ops::conj(half);
}

Tensor to_real(const Tensor& self, Size n, int64_t dim, Norm norm, bool forward) {
  Tensor input = promoted(self, true);
  dim = dim_of(input, dim);
  const int64_t size = n.value_or(2 * (input.size(dim) - 1));
  check_points(size);
  input = resized(input, dim, size / 2 + 1);
  return ops::_fft_c2r(forward ? ops::conj(input) : input, {&dim, 1}, normalization(norm, forward), size);
}

// ---- along several ----

// The dimensions, and how many points along each. halved: of the last one, the input has half of them and one more.
struct Plan {
  std::vector<int64_t> dims, sizes;

  Plan(const Tensor& input, Sizes s, Sizes dim, bool halved = false) {
    const int64_t ndim = input.dim();
    if (dim) {
      for (const int64_t d : *dim) dims.push_back(dim_of(input, d));
      uint64_t seen = 0;
      for (const int64_t d : dims) {
        RG_CHECK(!(seen >> d & 1), "FFT dims must be unique");
        seen |= uint64_t{1} << d;
      }
    }
    if (s) {
      RG_CHECK(!dim || dim->size() == s->size(), "When given, dim and shape arguments must have the same length");
      RG_CHECK(static_cast<int64_t>(s->size()) <= ndim, "Got shape with ", s->size(), " values but input tensor only has ", ndim,
               " dimensions.");
    }
    if (!dim)
      for (int64_t d = s ? ndim - static_cast<int64_t>(s->size()) : 0; d < ndim; ++d) dims.push_back(d);
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t own = input.size(dims[i]);
      const bool given = s && (*s)[i] != -1;
      sizes.push_back(given ? (*s)[i] : halved && i + 1 == dims.size() ? 2 * (own - 1) : own);
      check_points(sizes.back());
    }
  }
  Tensor fit(Tensor input, bool halved = false) const {
    std::vector<int64_t> pad;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t n = halved && i + 1 == dims.size() ? sizes[i] / 2 + 1 : sizes[i], own = input.size(dims[i]);
      if (n < own) input = ops::slice(input, dims[i], 0, n, 1);
      if (n > own) {
        pad.resize(static_cast<size_t>(2 * input.dim()));
        pad[static_cast<size_t>(2 * (input.dim() - 1 - dims[i]) + 1)] = n - own;
      }
    }
    return pad.empty() ? input : ops::constant_pad_nd(input, pad, 0);
  }
  void check_some(const char* op) const { RG_CHECK(!dims.empty(), op, " must transform at least one axis"); }
  IntSpan last() const { return IntSpan(dims).last(1); }
  IntSpan others() const { return IntSpan(dims).first(dims.size() - 1); }
};

Tensor complex_transforms(const Tensor& self, Sizes s, Sizes dim, Norm norm, bool forward) {
  const Plan plan(self, s, dim);
  const Tensor input = plan.fit(promoted(self, true));
  return ops::_fft_c2c(input, plan.dims, normalization(norm, forward), forward);
}

}  // namespace

Tensor fft_fft(const Tensor& self, Size n, int64_t dim, Norm norm) { return complex_transform(self, n, dim, norm, true); }
Tensor fft_ifft(const Tensor& self, Size n, int64_t dim, Norm norm) { return complex_transform(self, n, dim, norm, false); }
Tensor fft_rfft(const Tensor& self, Size n, int64_t dim, Norm norm) { return from_real(self, n, dim, norm, true, "rfft"); }
Tensor fft_irfft(const Tensor& self, Size n, int64_t dim, Norm norm) { return to_real(self, n, dim, norm, false); }
Tensor fft_hfft(const Tensor& self, Size n, int64_t dim, Norm norm) { return to_real(self, n, dim, norm, true); }
Tensor fft_ihfft(const Tensor& self, Size n, int64_t dim, Norm norm) { return from_real(self, n, dim, norm, false, "ihfft"); }

Tensor fft_fftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) { return complex_transforms(self, s, dim, norm, true); }
Tensor fft_ifftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) { return complex_transforms(self, s, dim, norm, false); }

Tensor fft_rfftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) {
  check_real(self, "rfftn", "real-valued");
  const Tensor input = promoted(self);
  const Plan plan(input, s, dim);
  plan.check_some("rfftn");
  return ops::_fft_r2c(plan.fit(input), plan.dims, normalization(norm, true), true);
}

Tensor fft_irfftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) {
  const Plan plan(self, s, dim, true);
  plan.check_some("irfftn");
  const Tensor input = plan.fit(promoted(self, true), true);
  return ops::_fft_c2r(input, plan.dims, normalization(norm, false), plan.sizes.back());
}

Tensor fft_hfftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) {
  const Plan plan(self, s, dim, true);
  plan.check_some("hfftn");
  Tensor input = plan.fit(promoted(self, true), true);
  const int64_t mode = normalization(norm, true);
  if (plan.dims.size() > 1) input = ops::_fft_c2c(input, plan.others(), mode, true);
  return ops::_fft_c2r(ops::conj(input), plan.last(), mode, plan.sizes.back());
}

Tensor fft_ihfftn(const Tensor& self, Sizes s, Sizes dim, Norm norm) {
  const Tensor input = promoted(self);
  const Plan plan(input, s, dim);
  plan.check_some("ihfftn");
  RG_CHECK(!is_complex(self.dtype()), "Only supports floating-point dtypes, but found: ", dtype_title(self.dtype()));
  const int64_t mode = normalization(norm, false);
  const Tensor half = ops::_fft_r2c(plan.fit(input), plan.last(), mode, true);
  if (plan.dims.size() == 1) return ops::conj(half);
  return ops::_fft_c2c(ops::conj_physical(half), plan.others(), mode, false);
}

Tensor fft_fft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_fftn(self, s, dim, norm); }
Tensor fft_ifft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_ifftn(self, s, dim, norm); }
Tensor fft_rfft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_rfftn(self, s, dim, norm); }
Tensor fft_irfft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_irfftn(self, s, dim, norm); }
Tensor fft_hfft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_hfftn(self, s, dim, norm); }
Tensor fft_ihfft2(const Tensor& self, Sizes s, IntSpan dim, Norm norm) { return fft_ihfftn(self, s, dim, norm); }

namespace {

Tensor shifted(const Tensor& self, Sizes dim, bool back) {
  std::vector<int64_t> dims, shifts;
  if (dim) dims.assign(dim->begin(), dim->end());
  for (int64_t d = 0; !dim && d < self.dim(); ++d) dims.push_back(d);
  for (const int64_t d : dims) {
    const int64_t n = self.size(dim_of(self, d));
    shifts.push_back(back ? (n + 1) / 2 : n / 2);
  }
  return ops::roll(self, shifts, dims);
}

}  // namespace

Tensor fft_fftshift(const Tensor& self, Sizes dim) { return shifted(self, dim, false); }
Tensor fft_ifftshift(const Tensor& self, Sizes dim) { return shifted(self, dim, true); }

}  // namespace retrograd::composite
