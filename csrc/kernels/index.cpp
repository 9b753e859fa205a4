// Shapes for advanced indexing.
#include "kernels/index.h"

namespace retrograd::kernels {

bool plan_index(Indexing* plan, const Array& self, int count, const Array* const* indices) {
  plan->count = 0;
  plan->index_ndim = 0;
  const int64_t* index_sizes = nullptr;
  int first = -1, last = -1;
  for (int d = 0; d < count; ++d) {
    if (!indices[d]) continue;
    const int i = plan->count++;
    plan->dim[i] = d;
    plan->index[i] = indices[d]->ptr<const int64_t>();
    plan->strides[i] = indices[d]->strides;
    plan->size[i] = self.sizes[d];
    plan->stride[i] = self.strides[d];
    plan->index_ndim = indices[d]->ndim;
    index_sizes = indices[d]->sizes;
    if (first < 0) first = d;
    last = d;
  }
  plan->ndim = self.ndim - plan->count + plan->index_ndim;
  if (plan->ndim > kMaxDims) return false;
  const bool adjacent = plan->count == 0 || last - first + 1 == plan->count;
  plan->at = adjacent && first > 0 ? first : 0;

  int to = 0;
  const auto add_index_dims = [&] {
    for (int i = 0; i < plan->index_ndim; ++i, ++to) {
      plan->sizes[to] = index_sizes[i];
      plan->self_strides[to] = 0;
    }
  };
  bool added = false;
  for (int d = 0; d < self.ndim; ++d) {
    if (!added && to == plan->at) {
      add_index_dims();
      added = true;
    }
    if (d < count && indices[d]) continue;
    plan->sizes[to] = self.sizes[d];
    plan->self_strides[to++] = self.strides[d];
  }
  if (!added) add_index_dims();
  return true;
}

}  // namespace retrograd::kernels
