// The update of one element is a small struct; rows of it run over dense memory, which the compiler vectorises, or over strides.
#include "kernels/optim.h"
#include "cpu/iterate.h"

#include <algorithm>
#include <cmath>

namespace retrograd::cpu {
namespace {

// Operand by operand: what an element's update reads and writes, in the type arithmetic is done in.
template <int kStates, class T, class Update> void dense_row(int64_t n, char* const* data, const Update& update) {
  using C = compute_t<T>;
  T* __restrict param = reinterpret_cast<T*>(data[0]);
  T* __restrict first = reinterpret_cast<T*>(kStates > 0 ? data[1] : nullptr);
  T* __restrict second = reinterpret_cast<T*>(kStates > 1 ? data[2] : nullptr);
  T* __restrict third = reinterpret_cast<T*>(kStates > 2 ? data[3] : nullptr);
  const T* __restrict grad = reinterpret_cast<const T*>(data[kStates + 1]);
  for (int64_t i = 0; i < n; ++i) {
    C p = static_cast<C>(param[i]), state[3] = {};
    if constexpr (kStates > 0) state[0] = static_cast<C>(first[i]);
    if constexpr (kStates > 1) state[1] = static_cast<C>(second[i]);
    if constexpr (kStates > 2) state[2] = static_cast<C>(third[i]);
    update(p, static_cast<C>(grad[i]), state);
    param[i] = T(p);
    if constexpr (kStates > 0) first[i] = T(state[0]);
    if constexpr (kStates > 1) second[i] = T(state[1]);
    if constexpr (kStates > 2) third[i] = T(state[2]);
  }
}

template <int kStates, class T, class Update> void strided_row(int64_t n, char* const* data, const int64_t* strides, const Update& update) {
  using C = compute_t<T>;
  const auto at = [&](int operand, int64_t i) -> T& { return *reinterpret_cast<T*>(data[operand] + i * strides[operand]); };
  for (int64_t i = 0; i < n; ++i) {
    C p = static_cast<C>(at(0, i)), state[3] = {};
    for (int s = 0; s < kStates; ++s) state[s] = static_cast<C>(at(s + 1, i));
    update(p, static_cast<C>(at(kStates + 1, i)), state);
    at(0, i) = T(p);
    for (int s = 0; s < kStates; ++s) at(s + 1, i) = T(state[s]);
  }
}

template <int kStates, class T, class Update> void row(int64_t n, char* const* data, const int64_t* strides, const Update& update) {
  const bool dense = std::all_of(strides, strides + kStates + 2, [](int64_t stride) { return stride == sizeof(T); });
  if (dense) {
    dense_row<kStates, T>(n, data, update);
  } else {
    strided_row<kStates, T>(n, data, strides, update);
  }
}

enum class Momentum { None, Plain, Nesterov };

template <class C, Momentum kMomentum, bool kDecay> struct SgdUpdate {
  C lr, momentum, share, decay, direction;

  explicit SgdUpdate(const SgdStep& s)
      : lr(static_cast<C>(s.lr)),
        momentum(static_cast<C>(s.momentum)),
        share(static_cast<C>(1 - s.dampening)),
        decay(static_cast<C>(s.weight_decay)),
        direction(s.maximize ? C(-1) : C(1)) {}

  [[gnu::always_inline]] void operator()(C& param, C grad, C* state) const {
    grad *= direction;
    if constexpr (kDecay) grad += decay * param;  // not by a factor of 0: that would make nan of inf
    if constexpr (kMomentum != Momentum::None) {
      state[0] = state[0] * momentum + share * grad;
      grad = kMomentum == Momentum::Nesterov ? grad + momentum * state[0] : state[0];
    }
    param -= lr * grad;
  }
};

template <class T> void sgd_loop(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  using C = compute_t<T>;
  const auto& step = *static_cast<const SgdStep*>(params);
  const auto run = [&]<Momentum kMomentum, bool kDecay>() {
    row<kMomentum == Momentum::None ? 0 : 1, T>(n, data, strides, SgdUpdate<C, kMomentum, kDecay>(step));
  };
  const auto with_momentum = [&]<bool kDecay>() {
    if (step.momentum == 0) {
      run.template operator()<Momentum::None, kDecay>();
    } else if (step.nesterov) {
      run.template operator()<Momentum::Nesterov, kDecay>();
    } else {
      run.template operator()<Momentum::Plain, kDecay>();
    }
  };
  if (step.weight_decay != 0) {
    with_momentum.template operator()<true>();
  } else {
    with_momentum.template operator()<false>();
  }
}

template <class C, bool kDecay, bool kAmsgrad> struct AdamUpdate {
  C weight1, beta2, weight2, eps, decay, size, inverse_root, shrink, direction;

  explicit AdamUpdate(const AdamStep& s)
      : weight1(static_cast<C>(1 - s.beta1)),
        beta2(static_cast<C>(s.beta2)),
        weight2(static_cast<C>(1 - s.beta2)),
        eps(static_cast<C>(s.eps)),
        decay(static_cast<C>(s.weight_decay)),
        size(static_cast<C>(s.step_size)),
        inverse_root(static_cast<C>(1 / s.root_correction)),
        shrink(static_cast<C>(s.shrink)),
        direction(s.maximize ? C(-1) : C(1)) {}

  [[gnu::always_inline]] void operator()(C& param, C grad, C* state) const {
    grad *= direction;
    if constexpr (kDecay) grad += decay * param;
    param *= shrink;
    // lerp from whichever end is nearer, as the op does: exact at both.
    state[0] = weight1 < C(0.5) ? state[0] + weight1 * (grad - state[0]) : grad - (grad - state[0]) * (C(1) - weight1);
    state[1] = state[1] * beta2 + weight2 * grad * grad;
    C square = state[1];
    if constexpr (kAmsgrad) square = state[2] = largest(state[2], state[1]);
    param -= size * (state[0] / (std::sqrt(square) * inverse_root + eps));
  }

  // torch.maximum: nan if either is.
  [[gnu::always_inline]] static C largest(C a, C b) { return a > b || a != a ? a : b; }
};

template <class T> void adam_loop(int64_t n, char* const* data, const int64_t* strides, const void* params) {
  using C = compute_t<T>;
  const auto& step = *static_cast<const AdamStep*>(params);
  const auto run = [&]<bool kDecay, bool kAmsgrad>() { row<kAmsgrad ? 3 : 2, T>(n, data, strides, AdamUpdate<C, kDecay, kAmsgrad>(step)); };
  if (step.weight_decay != 0) {
    step.amsgrad ? run.template operator()<true, true>() : run.template operator()<true, false>();
  } else {
    step.amsgrad ? run.template operator()<false, true>() : run.template operator()<false, false>();
  }
}

}  // namespace

static_assert(static_cast<int>(DType::Float16) == 6 && static_cast<int>(DType::Float64) == 9, "the tables below go by position");
RG_EXPORT_KERNELS(OptimLoops, optim_loops) = {
    .sgd = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, sgd_loop<Half>, sgd_loop<BFloat16>, sgd_loop<float>, sgd_loop<double>},
    .adam = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, adam_loop<Half>, adam_loop<BFloat16>, adam_loop<float>,
             adam_loop<double>},
};

}  // namespace retrograd::cpu
