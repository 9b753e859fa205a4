// Negative log likelihood, forward and backward.
#include "cpu/families.h"
#include "cpu/isa.h"
#include "cpu/parallel.h"
#include "kernels/index.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 8192;

// The first target that is no class, in row-major order.
IndexError check_targets(const Array& target, int64_t classes, int64_t ignore_index) {
  for (int64_t i = 0; i < target.sizes[0]; ++i)
    for (int64_t j = 0; j < target.sizes[1]; ++j) {
      const int64_t t = target.ptr<const int64_t>()[i * target.strides[0] + j * target.strides[1]];
      if (static_cast<uint64_t>(t) >= static_cast<uint64_t>(classes) && t != ignore_index) return {false, 1, t, classes};
    }
  return {};
}

template <class T> struct Targets {
  const Array& target;
  const T* weight;
  int64_t ignore_index;

  int64_t at(int64_t i, int64_t j) const { return target.ptr<const int64_t>()[i * target.strides[0] + j * target.strides[1]]; }
  compute_t<T> weight_of(int64_t t) const { return weight ? static_cast<compute_t<T>>(weight[t]) : compute_t<T>(1); }
};

template <class T> void forward(const Array& out, void* total_weight, const Array& in, const Targets<T>& targets, Reduction reduction) {
  using C = compute_t<T>;
  const int64_t n = in.sizes[0], d = in.sizes[2];
  const T* x = in.ptr<const T>();
  const auto loss = [&](int64_t i, int64_t j, int64_t t) {
    return -targets.weight_of(t) * static_cast<C>(x[i * in.strides[0] + t * in.strides[1] + j * in.strides[2]]);
  };
  if (reduction == Reduction::None) {
    *static_cast<T*>(total_weight) = T(0);
    T* to = out.ptr<T>();
    parallel_for(0, n, kGrain / (d > 0 ? d : 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        for (int64_t j = 0; j < d; ++j) {
          const int64_t t = targets.at(i, j);
          to[i * out.strides[0] + j * out.strides[1]] = static_cast<T>(t == targets.ignore_index ? C(0) : loss(i, j, t));
        }
    });
    return;
  }
  double sum = 0, total = 0;  // one reader, in order: the same for every number of threads
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < d; ++j) {
      const int64_t t = targets.at(i, j);
      if (t == targets.ignore_index) continue;
      sum += static_cast<double>(loss(i, j, t));
      total += static_cast<double>(targets.weight_of(t));
    }
  *out.ptr<T>() = static_cast<T>(static_cast<C>(reduction == Reduction::Mean ? sum / total : sum));
  *static_cast<T*>(total_weight) = static_cast<T>(static_cast<C>(total));
}

IndexError nll_loss(const Array& out, void* total_weight, const Array& in, const Array& target, const void* weight, int64_t ignore_index,
                    Reduction reduction) {
  const IndexError error = check_targets(target, in.sizes[1], ignore_index);
  if (!error.ok) return error;
  visit_floating(in.dtype, [&](auto zero) {
    using T = decltype(zero);
    forward<T>(out, total_weight, in, {target, static_cast<const T*>(weight), ignore_index}, reduction);
  });
  return error;
}

template <class T>
void backward(const Array& grad_in, const Array& grad_out, const void* total_weight, const Targets<T>& targets, Reduction reduction) {
  using C = compute_t<T>;
  const int64_t n = grad_in.sizes[0], d = grad_in.sizes[2];
  const T* g = grad_out.ptr<const T>();
  const int64_t gi = reduction == Reduction::None ? grad_out.strides[0] : 0, gj = reduction == Reduction::None ? grad_out.strides[1] : 0;
  const C divisor = reduction == Reduction::Mean ? static_cast<C>(*static_cast<const T*>(total_weight)) : C(1);
  T* to = grad_in.ptr<T>();
  parallel_for(0, n, kGrain / (d > 0 ? d : 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < d; ++j) {
        const int64_t t = targets.at(i, j);
        if (t == targets.ignore_index) continue;
        const C grad = static_cast<C>(g[i * gi + j * gj]);
        to[i * grad_in.strides[0] + t * grad_in.strides[1] + j * grad_in.strides[2]] =
            static_cast<T>(-targets.weight_of(t) * grad / divisor);
      }
  });
}

IndexError nll_loss_backward(const Array& grad_in, const Array& grad_out, const void* total_weight, const Array& target, const void* weight,
                             int64_t ignore_index, Reduction reduction) {
  const IndexError error = check_targets(target, grad_in.sizes[1], ignore_index);
  if (!error.ok) return error;
  const double zero_bits = 0;  // zero has no bits set in any dtype
  RG_CAT(copy, RG_LEVEL).fill(grad_in, &zero_bits);
  visit_floating(grad_in.dtype, [&](auto zero) {
    using T = decltype(zero);
    backward<T>(grad_in, grad_out, total_weight, {target, static_cast<const T*>(weight), ignore_index}, reduction);
  });
  return error;
}

}  // namespace

RG_EXPORT_KERNELS(LossKernels, loss) = {.nll_loss = Reporting<nll_loss>::run, .nll_loss_backward = Reporting<nll_loss_backward>::run};

}  // namespace retrograd::cpu
