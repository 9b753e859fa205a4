// Autocast: ops choose the precision they compute in, as their entries say. The dispatch of an op that has something to say comes here while it
// is on: the op's floating tensors are cast, by ops like any other (recorded, and seen by handlers), and the op runs on them with autocast
// off, so that what it is made of follows. State is the thread's, and so are the casts that are kept: of weights, until autocast is left.
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "core/guards.h"
#include "core/tensor.h"
#include "ops/record.h"

namespace retrograd {

// The kinds of devices that programs ask for by name: a bit of thread_state.autocast each.
inline constexpr int kAutocastDevices = 10;
struct AutocastDevice {
  const char* name;
  DType dtype;  // unless set
};
extern const AutocastDevice kAutocastDevice[kAutocastDevices];

struct AutocastState {
  DType dtype[kAutocastDevices];
  bool keeps_casts = true;
  int64_t nesting = 0;
};
AutocastState& autocast_state();
void forget_casts();

// The casts of one call.
class Casting {
 public:
  explicit Casting(Autocast policy) : policy_(policy) {}

  template <class T> void see(const T&) {}  // every argument, before the first is cast
  void see(const Tensor& t) {
    if (policy_ == Autocast::Promote && t) widen(t.get());
  }
  void see(const Operand& o) {
    if (policy_ == Autocast::Promote && o.tensor) widen(o.tensor);
  }
  void see(std::span<const Tensor> list) {
    for (const Tensor& t : list) see(t);
  }
  Tensor cast(const Tensor& t) const;

 private:
  void widen(const TensorImpl* t);

  Autocast policy_;
  bool any_ = false;
  DType widest_ = DType::Float32;
};

// An argument as the op gets it.
template <class T> struct Recast {
  const T& value;
  Recast(const Casting&, const T& given) : value(given) {}
  const T& get() const { return value; }
};
template <> struct Recast<Tensor> {
  Tensor value;
  Recast(const Casting& casting, const Tensor& given) : value(casting.cast(given)) {}
  const Tensor& get() const { return value; }
};
template <> struct Recast<Operand> {
  Tensor held;
  Operand value;
  Recast(const Casting& casting, const Operand& given) : value(given) {
    if (given.tensor) value = held = casting.cast(Tensor::borrow(given.tensor));
  }
  const Operand& get() const { return value; }
};
template <> struct Recast<std::span<const Tensor>> {
  std::vector<Tensor> held;
  Recast(const Casting& casting, std::span<const Tensor> given) {
    held.reserve(given.size());
    for (const Tensor& t : given) held.push_back(casting.cast(t));
  }
  std::span<const Tensor> get() const { return held; }
};

template <class R, class... A>
[[gnu::cold, gnu::noinline]] R autocast(const OpRecord& op, R (*whole)(A...), std::type_identity_t<A>... args) {
  Casting casting(op.autocast);
  (casting.see(args), ...);
  const std::tuple<Recast<std::remove_cvref_t<A>>...> recast{Recast<std::remove_cvref_t<A>>(casting, args)...};
  const AutocastOff off;
  return std::apply([&](const auto&... each) { return whole(each.get()...); }, recast);
}

}  // namespace retrograd
