// The CPU as a device, for the file that registers it.
#pragma once

#include "core/device.h"
#include "cpu/isa.h"

namespace retrograd::kernels {
struct MatmulKernels;
struct RandomKernels;
struct RecurrenceKernels;
}  // namespace retrograd::kernels

namespace retrograd::cpu {

// The families that are compiled once, for every level of processor; the others are in cpu/families.h.
extern const MatmulKernels matmul_kernels;
extern const RandomKernels random_kernels;
extern const RecurrenceKernels recurrence_kernels;

// For the CPU itself, or for a device whose memory its kernels can work on.
void provide_kernels(DeviceType type);

}  // namespace retrograd::cpu
