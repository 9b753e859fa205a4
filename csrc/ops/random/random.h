// Drawing into tensors.
#pragma once

#include <mutex>

#include "core/format.h"
#include "core/tensor.h"
#include "native_random.h"
#include "ops/data.h"
#include "ops/dims.h"
#include "ops/generator.h"
#include "ops/overlap.h"
#include "ops/pointwise/pointwise.h"

namespace retrograd {

// Generators have no lock of their own, and long fills run without the GIL: one draw at a time.
extern std::mutex draw_mutex;

// Of a tensor that is drawn into: no two elements share memory.
inline void check_drawable(const Tensor& t) {
  if (RG_UNLIKELY(!t.is_contiguous())) check_no_internal_overlap(t);
}

// Calls draw(stream, memory, n, contiguous) for the elements of `t` in memory order (see Note [Same stream] in kernels/random.h).
// `work` is a rough number of nanoseconds per element.
template <class F> void draw_into(const Tensor& t, Generator* generator, int work, F draw) {
  Generator& source = generator_or_default(generator);
  if (RG_LIKELY(t.is_contiguous() || dense_and_nonoverlapping(t.get()))) {
    const Launch launch(t, t.numel() * work);
    std::lock_guard lock(draw_mutex);
    draw(source.stream, t->data, t.numel(), t.is_contiguous());
    return;
  }
  const Tensor dense = empty_like(t, t.dtype(), t.device(), MemoryFormat::Preserve);
  {
    const Launch launch(t, t.numel() * work);
    std::lock_guard lock(draw_mutex);
    draw(source.stream, dense->data, t.numel(), false);
  }
  copy_data(t, dense);
}

}  // namespace retrograd
