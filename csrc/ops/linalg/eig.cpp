// Eigenvalues and eigenvectors, of symmetric matrices and of others.
#include "native_linalg.h"
#include "ops.h"
#include "ops/linalg/lapack.h"

namespace retrograd {
namespace rule {

std::array<Spec, 2> _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v) {
  lapack::check_square(A, "linalg.eigh");
  lapack::check_dtype(A, "linalg.eigh");
  RG_CHECK(UPLO.size() == 1 && std::string_view("LUlu").find(UPLO[0]) != std::string_view::npos,
           "Expected UPLO argument to be 'L' or 'U', but got ", UPLO);
  return {Spec(lapack::batch_and(A, {A.size(-1)}), real_dtype(A.dtype()), A->device),
          compute_v ? lapack::columns(A) : lapack::nothing(A.dtype(), A->device)};
}

std::array<Spec, 2> _linalg_eig(const Tensor& A, bool compute_v) {
  lapack::check_square(A, "linalg.eig");
  if (is_floating(A.dtype()) && itemsize(A.dtype()) < 4) fail_not_implemented("linalg_eig_out_cpu", A.dtype());
  lapack::check_dtype(A, "linalg.eig");
  const DType dtype = complex_dtype(A.dtype());
  return {Spec(lapack::batch_and(A, {A.size(-1)}), dtype, A->device),
          compute_v ? lapack::columns(A.sizes(), dtype, A->device) : lapack::nothing(dtype, A->device)};
}

}  // namespace rule

namespace compute {

void _linalg_eigh(const Tensor& A, std::string_view UPLO, bool compute_v, const Tensor& eigenvalues, const Tensor& eigenvectors) {
  const Tensor a = compute_v ? eigenvectors : make(lapack::columns(A));
  copy_data(a, A);
  const auto& kernels = lapack::kernels_of(A);
  Answer<int> failed(A->device);
  {
    const Launch launch(A, A.numel() * A.size(-1));
    const bool upper = UPLO[0] == 'U' || UPLO[0] == 'u';
    kernels.eigh(lapack::matrices(a), upper, compute_v, eigenvalues->data, failed.data());
  }
  if (failed.read()) lapack::fail_equal_values("linalg.eigh", "eigenvalues", failed.read());
}

void _linalg_eig(const Tensor& A, bool compute_v, const Tensor& eigenvalues, const Tensor& eigenvectors) {
  const Tensor a = lapack::copy_columns(A);
  RG_CHECK(lapack::all_finite(a), "torch.linalg.eig: input tensor should not contain infs or NaNs.");
  const auto& kernels = lapack::kernels_of(A);
  Answer<int> failed(A->device);
  {
    const Launch launch(A, A.numel() * A.size(-1) * 4);
    kernels.eig(lapack::matrices(a), eigenvalues->data, compute_v ? eigenvectors->data : nullptr, failed.data());
  }
  if (failed.read()) lapack::fail_equal_values("linalg.eig", "eigenvalues", failed.read());
}

}  // namespace compute

namespace composite {

std::tuple<Tensor, Tensor> linalg_eigh(const Tensor& A, std::string_view UPLO) { return ops::_linalg_eigh(A, UPLO, true); }
Tensor linalg_eigvalsh(const Tensor& A, std::string_view UPLO) {
  return std::get<0>(ops::_linalg_eigh(A, UPLO, lapack::is_differentiated(A)));
}

std::tuple<Tensor, Tensor> linalg_eig(const Tensor& A) { return ops::_linalg_eig(A, true); }
Tensor linalg_eigvals(const Tensor& A) {
  lapack::check_square(A, "linalg.eigvals");
  return std::get<0>(ops::_linalg_eig(A, lapack::is_differentiated(A)));
}

}  // namespace composite
}  // namespace retrograd
