#include "ops/optim/optim.h"

#include "autograd/history.h"
#include "core/write_notes.h"
#include "ops/util.h"

namespace retrograd {
namespace {

bool can_write(const TensorImpl* t) {
  return !(t->has(kInference) && !thread_state.inference_mode) && !t->base && !has_internal_overlap(t);
}

bool fits(const TensorImpl* t, const TensorImpl* first) {
  return t->device.is_cpu() && t->dtype == first->dtype && same_sizes(t, first) && !(t->extra && t->extra->tangents);
}

// Whether two storages have bytes in common: one storage, or two on memory from elsewhere.
bool share_memory(const Storage* a, const Storage* b) {
  const char *x = static_cast<const char*>(a->data), *y = static_cast<const char*>(b->data);
  return x < y + b->nbytes && y < x + a->nbytes;
}

}  // namespace

bool can_step(StepTensors tensors) {
  const TensorImpl* first = tensors[0];
  if (!is_floating(first->dtype)) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorImpl* t = tensors[i];
    if (!fits(t, first) || (i + 1 < tensors.size() && !can_write(t))) return false;
    for (size_t j = 0; j < i; ++j)
      if (share_memory(tensors[j]->storage, t->storage)) return false;
  }
  return true;
}

void run_step(const kernels::Loop* loops, StepTensors tensors, const void* params, int cost) {
  const TensorImpl* first = tensors[0];
  const kernels::Loop loop = loops[static_cast<int>(first->dtype)];
  const int64_t item = itemsize(first->dtype), work_ns = first->numel * cost / 8;
  bool flat = true;
  for (const TensorImpl* t : tensors) flat = flat && t->is_contiguous();
  for (const TensorImpl* t : tensors.first(tensors.size() - 1)) before_write(t);
  if (RG_LIKELY(flat && work_ns < 10'000)) {
    char* data[kMaxStepTensors];
    int64_t strides[kMaxStepTensors];
    for (size_t i = 0; i < tensors.size(); ++i) {
      data[i] = static_cast<char*>(tensors[i]->data);
      strides[i] = item;
    }
    if (first->numel) loop(first->numel, data, strides, params);
  } else if (first->numel) {
    kernels::Operands operands;
    operands.ndim = first->ndim;
    operands.sizes = first->sizes();
    for (const TensorImpl* t : tensors) operands.add(t->data, t->strides(), item);
    const Launch launch(first->device, work_ns);
    kernels::pointwise(first->device).iterate(operands, loop, params, cost);
  }
  for (TensorImpl* t : tensors.first(tensors.size() - 1))
    if (RG_LIKELY(!t->has(kInference))) bump_version(t);
}

}  // namespace retrograd
