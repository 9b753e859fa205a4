// The CPU as a device, for the file that registers it.
#pragma once

#include "core/device.h"
#include "cpu/isa.h"

namespace retrograd::kernels {
struct AttentionKernels;
struct CreateKernels;
struct LapackKernels;
struct MatmulKernels;
struct OptimKernels;
struct PointwiseKernels;
struct RandomKernels;
struct RecurrenceKernels;
struct SelectKernels;
struct ValueKernels;
}  // namespace retrograd::kernels

namespace retrograd::cpu {

// The families that are compiled once, for every level of processor; the others are in cpu/families.h.
extern const AttentionKernels attention_kernels;
extern const CreateKernels create_kernels;
extern const LapackKernels lapack_kernels;
extern const MatmulKernels matmul_kernels;
extern const OptimKernels optim_kernels;
extern const RandomKernels random_kernels;
extern const RecurrenceKernels recurrence_kernels;
extern const ValueKernels value_kernels;

const PointwiseKernels& pointwise_kernels();
const SelectKernels& select_kernels();

// For the CPU itself, or for a device whose memory its kernels can work on.
void provide_kernels(DeviceType type);

}  // namespace retrograd::cpu
