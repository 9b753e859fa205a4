// Windows: weights that fade signals out towards their ends.
#include "core/launch.h"
#include "core/promote.h"
#include "kernels/create.h"
#include "native_create.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/lazy.h"

namespace retrograd {
namespace {

using kernels::Window;

Spec window(const char* name, int64_t length, const Options& options) {
  const DType dtype = options.dtype.value_or(default_dtype());
  RG_CHECK(!options.layout || *options.layout == Layout::Strided, name, " is not implemented for sparse types, got: layout=torch.",
           layout_name(*options.layout));
  if (is_complex(dtype)) fail_no_kernel(name, dtype);
  RG_CHECK(is_floating(dtype), name, " expects floating point dtypes, got: ", dtype_name(dtype));
  RG_CHECK(length >= 0, name, " requires non-negative window_length, got window_length=", length);
  return Spec(ints({length}), dtype, creation_device(options));
}

// A periodic window is one that is longer by an element, without the last.
void fill(const Tensor& out, int64_t length, bool periodic, Window w) {
  w.length = length + (periodic && length > 1);
  const Launch launch(out, out.numel() * 20);
  kernels::create(out->device).window(out.array(), w);
}

}  // namespace

namespace rule {

Spec bartlett_window(int64_t length, bool, const Options& options) { return window("bartlett_window", length, options); }
Spec blackman_window(int64_t length, bool, const Options& options) { return window("blackman_window", length, options); }
Spec hann_window(int64_t length, bool, const Options& options) { return window("hann_window", length, options); }
Spec hamming_window(int64_t length, bool, double, double, const Options& options) { return window("hamming_window", length, options); }
Spec kaiser_window(int64_t length, bool, double, const Options& options) { return window("kaiser_window", length, options); }

}  // namespace rule

namespace compute {

void bartlett_window(int64_t length, bool periodic, const Tensor& out) { fill(out, length, periodic, {Window::Kind::Triangle}); }
void blackman_window(int64_t length, bool periodic, const Tensor& out) {
  fill(out, length, periodic, {Window::Kind::Cosines, 0, 0.42, 0.5, 0.08});
}
void hann_window(int64_t length, bool periodic, const Tensor& out) { fill(out, length, periodic, {Window::Kind::Cosines, 0, 0.5, 0.5, 0}); }
void hamming_window(int64_t length, bool periodic, double alpha, double beta, const Tensor& out) {
  fill(out, length, periodic, {Window::Kind::Cosines, 0, alpha, beta, 0});
}
void kaiser_window(int64_t length, bool periodic, double beta, const Tensor& out) {
  const Tensor arc = retrograd::empty(out.sizes(), DType::Float64, out.device());
  fill(arc, length, periodic, {Window::Kind::Arc, 0, beta, 0, 0});
  copy_data(out, impl::div(impl::i0(arc), impl::i0(scalar_tensor(Scalar(beta), DType::Float64, out.device()))));
}

}  // namespace compute
}  // namespace retrograd
