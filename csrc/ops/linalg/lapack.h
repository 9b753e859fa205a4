// What the ops over LAPACK share: checks in their words, and batches of matrices as kernels/lapack.h has them.
#pragma once

#include <string_view>

#include "core/spec.h"
#include "kernels/lapack.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd::lapack {

// A square or rectangular batch; throws in the words of the op `name` ("linalg.inv").
void check_matrix(const Tensor& t, const char* name, const char* argument = "A");
void check_square(const Tensor& t, const char* name, const char* argument = "A");
void check_dtype(const Tensor& t, const char* name);

IntSpan batch(const Tensor& t);                                       // all dims but the last two
Shape batch_and(IntSpan batch, std::initializer_list<int64_t> tail);  // `batch`, then `tail`
inline Shape batch_and(const Tensor& t, std::initializer_list<int64_t> tail) { return batch_and(batch(t), tail); }

// Matrices (the last two dims) that lie column by column, batch after batch.
Spec columns(IntSpan sizes, DType dtype, Device device);
inline Spec columns(const Tensor& t, int64_t rows, int64_t columns) {
  return lapack::columns(batch_and(t, {rows, columns}), t.dtype(), t->device);
}
inline Spec columns(const Tensor& t) { return columns(t.sizes(), t.dtype(), t->device); }
inline Spec verdicts(const Tensor& t) { return Spec(batch(t), DType::Int32, t->device); }
inline Spec nothing(DType dtype, Device device) { return Spec(ints({0}), dtype, device); }  // in place of what was not asked for
Tensor copy_columns(const Tensor& t);

kernels::Matrices matrices(const Tensor& t);                // of a tensor that lies so
const kernels::LapackKernels& kernels_of(const Tensor& t);  // throws where there are none in this process
void fill_identity(const Tensor& t);                        // what an empty matrix decomposes into

// Derivatives of eigenvalues and singular values need the vectors. Those of a batched tensor may be wanted outside its vmap.
bool is_differentiated(const Tensor& A);

bool all_finite(const Tensor& t);                                            // of copy_columns()
void check_verdicts(const char* op, const Tensor& info);                     // a LinAlgError for the first that is not 0
[[noreturn]] void fail_to_converge(const char* name, std::string_view why);  // a LinAlgError
[[noreturn]] void fail_equal_values(const char* name, const char* what, int verdict);

}  // namespace retrograd::lapack
