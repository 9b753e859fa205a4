#include "complex_words.h"
#include "core/promote.h"
#include "kernels/copy.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/generated_support.h"
#include "ops/out.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

Tensor inplace_original(const Tensor& self) { return ops::clone(self); }

void fail_complex_in_words(std::string_view kernel) {
  if (kernel.ends_with("_cpu")) kernel.remove_suffix(4);
  for (const ComplexWords& row : complex_words)
    if (row.kernel == kernel) fail(row.kind, row.words, "\n  Hint: compute with .abs(), or with .real and .imag.");
}

void fail_not_implemented(std::string_view kernel, DType t, const char* instead) {
  if (is_complex(t)) fail_complex_in_words(kernel);
  const bool exact = t == DType::Float32 || t == DType::Float64 || is_complex(t);
  fail(ErrorKind::NotImplemented, "\"", kernel, "\" not implemented for '", dtype_title(t), "'",
       exact ? std::string() : str_cat("\n  Hint: use another dtype, for example ", instead, "."));
}

void fail_inplace_shape(IntSpan out, IntSpan shape) {
  fail(ErrorKind::Runtime, "output with shape ", out, " doesn't match the broadcast shape ", shape,
       "\n  A tensor that is written in place keeps its shape.\n  Hint: use the result of the op that is not in place, or expand() the "
       "tensor "
       "before it is computed.");
}

void fail_range(const kernels::IndexError& e) {
  fail(ErrorKind::Index, "index out of range in self\n  index ", e.value, " where there are ", e.size, ": indices go from 0 to ",
       e.size - 1);
}

std::string product_hint(const Tensor& a, const Tensor& b) {
  const int64_t m = a.size(-2), k = a.size(-1), rows = b.size(-2), n = b.size(-1);
  const char* both = "\n  The columns of the first, ";
  const std::string why = str_cat(both, k, ", have to be as many as the rows of the second, ", rows, ".");
  if (k == n) return why + "\n  Hint: the second fits when it is transposed, with .mT.";
  if (m == rows) return why + "\n  Hint: the first fits when it is transposed, with .mT.";
  return why;
}

void copy_result(const Tensor& self, const Tensor& result) {
  if (RG_UNLIKELY(!same_sizes(self.get(), result.get()))) fail_inplace_shape(self.sizes(), result.sizes());
  if (RG_UNLIKELY(!can_cast(result.dtype(), self.dtype()))) fail_out_dtype(kCannotCast, self.dtype(), result.dtype());
  check_no_internal_overlap(self);
  copy_data(self, result);
}

void cut_history(const Tensor& self, const char* op) {
  if (self->base) return;
  Node* old = std::exchange(self->grad_fn, nullptr);
  self->output_nr = 0;
  if (!old) return;
  Py_DECREF(old->object());
  note_cut(self.get(), CutKind::NonDifferentiable, op);
}

std::vector<int64_t> flatten_dtypes(std::span<const Tensor> tensors) {
  std::vector<int64_t> out;
  out.reserve(tensors.size());
  for (const Tensor& t : tensors) out.push_back(static_cast<int64_t>(t.dtype()));
  return out;
}

std::vector<int64_t> flatten_shapes(std::span<const Tensor> tensors) {
  std::vector<int64_t> out;
  size_t length = 0;
  for (const Tensor& t : tensors) length += 1 + static_cast<size_t>(t.dim());
  out.reserve(length);
  for (const Tensor& t : tensors) {
    out.push_back(t.dim());
    out.insert(out.end(), t.sizes().begin(), t.sizes().end());
  }
  return out;
}

}  // namespace retrograd
