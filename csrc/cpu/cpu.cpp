#include "cpu/cpu.h"

#include "cpu/families.h"
#include "cpu/iterate.h"
#include "kernels/matmul.h"
#include "kernels/random.h"
#include "kernels/recurrence.h"

namespace retrograd::cpu {

namespace {

constexpr PointwiseKernels pointwise_kernels = {.iterate = iterate};

}  // namespace

void provide_kernels(DeviceType type) {
  provide(type, copy());
  provide(type, distance());
  provide(type, indexing());
  provide(type, loss());
  provide(type, matmul_kernels);
  provide(type, norm());
  provide(type, optim());
  provide(type, pointwise_kernels);
  provide(type, random_kernels);
  provide(type, recurrence_kernels);
  provide(type, reduce());
  provide(type, scan());
  provide(type, selection());
  provide(type, softmax());
  provide(type, sort());
}

}  // namespace retrograd::cpu
