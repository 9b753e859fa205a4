#include "autograd/doctor.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

static bool is_readable(const TensorImpl* t) {
  return t->device.is_cpu() && t->is_contiguous() && (t->dtype == DType::Float32 || t->dtype == DType::Float64) && t->numel;
}

void look_at_gradient(const Tensor& grad) {
  if (!is_readable(grad.get())) return;
  const double largest = largest_element(grad, kElements);
  if (RG_UNLIKELY(!std::isfinite(largest))) {
    doctor.bad = true;
  } else if (RG_UNLIKELY(largest == 0)) {
    ++doctor.zeros;
  } else if (largest > doctor.largest) {
    doctor.largest = largest;
  }
}

static bool is_bad(std::span<const Tensor> grads) {
  return std::ranges::any_of(grads,
                             [](const Tensor& g) { return g && is_readable(g.get()) && !std::isfinite(largest_element(g, kElements)); });
}

void look_at_steep(Node* n, std::span<const Tensor> out, std::span<const Tensor> in) {
  if (doctor.has_origin || !is_bad(out)) return;
  doctor.has_origin = true;
  if (!is_bad(in)) {
    Py_INCREF(n->object());
    doctor.origin = n;
  }
}

void forget_origin() {
  doctor.has_origin = false;
  if (Node* old = std::exchange(doctor.origin, nullptr)) Py_DECREF(old->object());
}

}  // namespace retrograd
