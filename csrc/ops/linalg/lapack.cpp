#include "ops/linalg/lapack.h"

#include "autograd/tangent.h"
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

void check_dtype(const Tensor& t, const char* name) {
  RG_CHECK(is_differentiable(t.dtype()), name, ": Expected a floating point or complex tensor as input. Got ", dtype_title(t.dtype()));
  RG_CHECK(itemsize(t.dtype()) >= 4 || t.numel() == 0, name, ": Low precision dtypes not supported. Got ", dtype_title(t.dtype()));
  RG_CHECK_AS(NotImplemented, !is_meta(t) || t->has(kBatched), name, ": not implemented for meta tensors");
}

Tensor empty_columns(IntSpan sizes, DType dtype, Device device) {
  int64_t strides[kMaxDims];
  const size_t n = sizes.size();
  int64_t stride = std::max<int64_t>(1, sizes[n - 1]) * std::max<int64_t>(1, sizes[n - 2]);
  strides[n - 2] = 1;
  strides[n - 1] = std::max<int64_t>(1, sizes[n - 2]);
  for (size_t d = n - 2; d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(1, sizes[d]);
  }
  return empty_strided(sizes, {strides, n}, dtype, device);
}

Tensor copy_columns(const Tensor& t) {
  Tensor out = empty_columns(t.sizes(), t.dtype(), t.device());
  copy_data(out, t);
  return out;
}

Tensor batch_tensor(const Tensor& t, DType dtype, std::initializer_list<int64_t> tail) {
  int64_t sizes[kMaxDims];
  size_t n = static_cast<size_t>(t.dim() - 2);
  for (size_t d = 0; d < n; ++d) sizes[d] = t.size(static_cast<int64_t>(d));
  for (const int64_t s : tail) sizes[n++] = s;
  return empty({sizes, n}, dtype, t.device());
}

int64_t batch_count(const Tensor& t) {
  int64_t n = 1;
  for (int64_t d = 0; d + 2 < t.dim(); ++d) n *= t.size(d);
  return n;
}

bool is_differentiated(const Tensor& A) { return (thread_state.grad_mode && requires_grad(A)) || has_tangent(A) || A->has(kBatched); }

bool all_finite(const Tensor& t) {
  return !any_element(is_complex(t.dtype()) ? real_pairs(contiguous_data(t)) : t, kernels::Is::NotFinite);
}

void fail_missing(const std::string& routine) {
  const char* why = cpu::blas_error();
  fail(ErrorKind::Runtime, "the LAPACK routine ", routine, " is not available", why ? ": " : "", why ? why : "");
}

void fail_to_converge(const char* name, std::string_view why) {
  PyObject* module = checked(PyImport_ImportModule("retrograd.linalg"));
  PyObject* type = PyObject_GetAttrString(module, "LinAlgError");
  Py_DECREF(module);
  PyErr_SetString(checked(type), str_cat(name, ": The algorithm failed to converge because the input matrix ", why).c_str());
  Py_DECREF(type);
  throw PythonError();
}

}  // namespace retrograd::lapack
