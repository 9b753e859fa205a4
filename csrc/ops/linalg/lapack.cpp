#include "ops/linalg/lapack.h"

#include <algorithm>

#include "autograd/tangent.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/lazy.h"

namespace retrograd::lapack {

void check_matrix(const Tensor& t, const char* name, const char* argument) {
  RG_CHECK(t.dim() >= 2, name, ": The input tensor ", argument, " must have at least 2 dimensions.");
}

void check_square(const Tensor& t, const char* name, const char* argument) {
  check_matrix(t, name, argument);
  RG_CHECK(t.size(-1) == t.size(-2), name, ": ", argument, " must be batches of square matrices, but they are ", t.size(-2), " by ",
           t.size(-1), " matrices");
}

// Decompositions that leave it to their kernel in PyTorch to refuse 16-bit floats, and some integers too.
constexpr struct {
  std::string_view name, kernel;
  bool integers;
} kKernels[] = {
    {"linalg.solve", "lu_cpu", false},
    {"linalg.det", "lu_cpu", false},
    {"torch.linalg.lu_factor", "lu_cpu", true},
    {"torch.linalg.lu_solve", "linalg.lu_solve_cpu", false},
    {"linalg.solve_triangular", "triangular_solve_cpu", true},
    {"linalg.cholesky", "cholesky_cpu", false},
    {"linalg.qr", "geqrf_cpu", false},
    {"torch.linalg.ldl_solve", "ldl_solve_cpu", false},
    {"linalg.eigh", "linalg_eigh_cpu", true},
    {"linalg.svd", "linalg_svd_cpu", false},
};

void check_dtype(const Tensor& t, const char* name) {
  if (is_differentiable(t.dtype()) && (itemsize(t.dtype()) >= 4 || t.numel() == 0)) return;
  for (const auto& k : kKernels)
    if (k.name == name && (k.integers || is_floating(t.dtype()))) fail_not_implemented(k.kernel, t.dtype());
  RG_CHECK(is_differentiable(t.dtype()), name, ": Expected a floating point or complex tensor as input. Got ", dtype_title(t.dtype()));
  fail(ErrorKind::Runtime, name, ": Low precision dtypes not supported. Got ", dtype_title(t.dtype()));
}

IntSpan batch(const Tensor& t) { return t.sizes().first(static_cast<size_t>(t.dim() - 2)); }

Shape batch_and(IntSpan batch, std::initializer_list<int64_t> tail) {
  RG_CHECK(batch.size() + tail.size() <= kMaxDims, "a tensor has at most ", kMaxDims, " dimensions");
  Shape shape;
  for (const int64_t size : batch) shape.sizes[shape.ndim++] = size;
  for (const int64_t size : tail) shape.sizes[shape.ndim++] = size;
  return shape;
}

Spec columns(IntSpan sizes, DType dtype, Device device) {
  int64_t strides[kMaxDims];
  const size_t n = sizes.size();
  int64_t stride = std::max<int64_t>(1, sizes[n - 1]) * std::max<int64_t>(1, sizes[n - 2]);
  strides[n - 2] = 1;
  strides[n - 1] = std::max<int64_t>(1, sizes[n - 2]);
  for (size_t d = n - 2; d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(1, sizes[d]);
  }
  Spec spec(sizes, dtype, device);
  spec.with_strides({strides, n});
  return spec;
}

Tensor copy_columns(const Tensor& t) {
  Tensor out = make(columns(t));
  copy_data(out, t);
  return out;
}

kernels::Matrices matrices(const Tensor& t) {
  const int64_t rows = t.size(-2), columns = t.size(-1), each = rows * columns;
  return {t->data, t.dtype(), each ? t.numel() / each : 0, rows, columns};
}

const kernels::LapackKernels& kernels_of(const Tensor& t) {
  const kernels::LapackKernels& found = kernels::lapack(t->device);
  const char* why = found.missing ? found.missing() : nullptr;
  RG_CHECK(!why, "there is no LAPACK to compute this with: ", why);
  return found;
}

void fill_identity(const Tensor& t) {
  fill_data(t, 0);
  if (t.numel()) fill_data(impl::diagonal(t, 0, -2, -1), 1);
}

bool is_differentiated(const Tensor& A) { return (thread_state.grad_mode && requires_grad(A)) || has_tangent(A) || A->has(kBatched); }

bool all_finite(const Tensor& t) {
  return !any_element(is_complex(t.dtype()) ? real_pairs(contiguous_data(t)) : t, kernels::Is::NotFinite);
}

// The words are in Python, beside those of functions that are written there.
void check_verdicts(const char* op, const Tensor& info) {
  if (RG_LIKELY(!any_true(info))) return;
  PyObject* module = checked(PyImport_ImportModule("retrograd._ops.linalg.errors"));
  PyObject* result = PyObject_CallMethod(module, "refuse", "sO", op, info->object());
  Py_DECREF(module);
  Py_DECREF(checked(result));
}

void fail_to_converge(const char* name, std::string_view why) {
  PyObject* module = checked(PyImport_ImportModule("retrograd.linalg"));
  PyObject* type = PyObject_GetAttrString(module, "LinAlgError");
  Py_DECREF(module);
  PyErr_SetString(checked(type), str_cat(name, ": The algorithm failed to converge because the input matrix ", why).c_str());
  Py_DECREF(type);
  throw PythonError();
}

void fail_equal_values(const char* name, const char* what, int verdict) {
  fail_to_converge(name, str_cat("is ill-conditioned or has too many equal ", what, " (error code: ", verdict, ")."));
}

}  // namespace retrograd::lapack
