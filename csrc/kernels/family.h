// The seam between what an op is and what computes it. A family of kernels is a struct of function pointers on memory (kernels/<family>.h);
// a device fills one in and registers it, and callers find it by an indexed load:
//
//   // kernels/reduce.h
//   struct ReduceKernels { Kernel<void(const Array& out, const Array& in)> sum; };
//   RG_KERNEL_FAMILY(ReduceKernels, reduce)
//   // csrc/ops
//   const Launch launch(self, work_ns);
//   kernels::reduce(self->device).sum(out.array(), self.array());
//
// Pointers in arguments are addresses of the device the kernel belongs to, unless their name says `host`. Kernels do not allocate tensors, do
// not raise and do not call Python; the caller has checked shapes and dtypes and made the outputs, and holds a Launch (core/launch.h).
// This folder knows memory, dtypes and devices, and nothing of tensors, of Python or of any one device.
#pragma once

#include "core/device.h"

namespace retrograd::kernels {

[[noreturn]] void fail_missing();  // core/backend.cpp: NotImplementedError, with the op and the device

// A function of a family; null where a device does not have it.
template <class Signature> class Kernel;
template <class R, class... Args> class Kernel<R(Args...)> {
 public:
  using Function = R (*)(Args...);
  constexpr Kernel() = default;
  constexpr Kernel(Function function) : function_(function) {}
  operator Function() const {
    if (__builtin_expect(!function_, 0)) fail_missing();
    return function_;
  }

 private:
  Function function_ = nullptr;
};

// By device type. Written while a device is registered, before there is a tensor on it.
template <class Family> inline constexpr Family no_kernels{};
template <class Family> constinit inline const Family* families[kDeviceTypes] = {&no_kernels<Family>, &no_kernels<Family>,
                                                                                 &no_kernels<Family>, &no_kernels<Family>};

template <class Family> const Family& family(Device device) { return *families<Family>[static_cast<int>(device.type)]; }
template <class Family> void provide(DeviceType device, const Family& kernels) { families<Family>[static_cast<int>(device)] = &kernels; }

}  // namespace retrograd::kernels

#define RG_KERNEL_FAMILY(Struct, name) \
  inline const Struct& name(Device device) { return family<Struct>(device); }
