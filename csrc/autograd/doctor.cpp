#include "autograd/doctor.h"

#include <algorithm>
#include <cmath>

#include "core/launch.h"
#include "kernels/reduce.h"

namespace retrograd {

Doctor doctor;

// Of a large gradient the beginning has to do: what goes wrong in one place of a network is seldom kept to a few elements of it.
constexpr int64_t kElements = 1 << 16;

double largest_element(const Tensor& t, int64_t limit) {
  const Launch launch(t);
  double largest;
  kernels::reduce(t->device).largest(&largest, t->data, t->dtype, std::min(t->numel, limit));
  return largest;
}

void look_at_gradient(const Tensor& grad) {
  const TensorImpl* t = grad.get();
  if (!t->device.is_cpu() || !t->is_contiguous() || (t->dtype != DType::Float32 && t->dtype != DType::Float64) || !t->numel) return;
  const double largest = largest_element(grad, kElements);
  if (RG_UNLIKELY(!std::isfinite(largest))) {
    doctor.bad = true;
  } else if (RG_UNLIKELY(largest == 0)) {
    ++doctor.zeros;
  } else if (largest > doctor.largest) {
    doctor.largest = largest;
  }
}

}  // namespace retrograd
