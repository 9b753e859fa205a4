#include "core/promote.h"
#include "kernels/copy.h"
#include "ops/data.h"
#include "ops/generated_support.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

Tensor inplace_original(const Tensor& self) { return ops::clone(self); }

void copy_result(const Tensor& self, const Tensor& result) {
  RG_CHECK(same_sizes(self.get(), result.get()), "output with shape ", self.sizes(), " doesn't match the broadcast shape ", result.sizes());
  RG_CHECK(can_cast(result.dtype(), self.dtype()), "result type ", dtype_name(result.dtype()), " can't be cast to the desired output type ",
           dtype_name(self.dtype()));
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
