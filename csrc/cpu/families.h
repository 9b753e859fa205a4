// The families of kernels that are compiled for each level of processor.
#pragma once

#include "cpu/isa.h"
#include "cpu/kernels/draws.h"
#include "kernels/channel_norm.h"
#include "kernels/conv.h"
#include "kernels/copy.h"
#include "kernels/ctc.h"
#include "kernels/distance.h"
#include "kernels/embedding.h"
#include "kernels/fft.h"
#include "kernels/image.h"
#include "kernels/index.h"
#include "kernels/loss.h"
#include "kernels/norm.h"
#include "kernels/pool.h"
#include "kernels/recurrent.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"
#include "kernels/sort.h"
#include "kernels/sparse.h"

namespace retrograd::cpu {

// A function that returns the first bad index as a kernel that writes it to memory.
template <auto function> struct Reporting;
template <class... Args, IndexError (*function)(Args...)> struct Reporting<function> {
  static void run(Args... args, IndexError* error) {
    const IndexError found = function(args...);
    if (!found.ok) *error = found;
  }
};

RG_DECLARE_KERNELS(ChannelNormKernels, channel_norm)
RG_DECLARE_KERNELS(ConvKernels, conv)
RG_DECLARE_KERNELS(CopyKernels, copy)
RG_DECLARE_KERNELS(CtcKernels, ctc)
RG_DECLARE_KERNELS(DistanceKernels, distance)
RG_DECLARE_KERNELS(DrawKernels, draws)
RG_DECLARE_KERNELS(EmbeddingKernels, embedding)
RG_DECLARE_KERNELS(FftKernels, fft)
RG_DECLARE_KERNELS(ImageKernels, image)
RG_DECLARE_KERNELS(IndexKernels, indexing)
RG_DECLARE_KERNELS(LossKernels, loss)
RG_DECLARE_KERNELS(NormKernels, norm)
RG_DECLARE_KERNELS(PoolKernels, pool)
RG_DECLARE_KERNELS(RecurrentKernels, recurrent)
RG_DECLARE_KERNELS(ReduceKernels, reduce)
RG_DECLARE_KERNELS(ScanKernels, scan)
RG_DECLARE_KERNELS(SoftmaxKernels, softmax)
RG_DECLARE_KERNELS(SortKernels, sort)
RG_DECLARE_KERNELS(SparseKernels, sparse)

}  // namespace retrograd::cpu
