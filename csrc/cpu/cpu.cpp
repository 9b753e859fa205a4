#include "cpu/cpu.h"

#include "cpu/families.h"
#include "kernels/attention.h"
#include "kernels/create.h"
#include "kernels/lapack.h"
#include "kernels/matmul.h"
#include "kernels/optim.h"
#include "kernels/pointwise.h"
#include "kernels/random.h"
#include "kernels/recurrence.h"
#include "kernels/select.h"
#include "kernels/values.h"

namespace retrograd::cpu {

void provide_kernels(DeviceType type) {
  provide(type, channel_norm());
  provide(type, attention_kernels);
  provide(type, conv());
  provide(type, copy());
  provide(type, create_kernels);
  provide(type, ctc());
  provide(type, distance());
  provide(type, embedding());
  provide(type, fft());
  provide(type, image());
  provide(type, indexing());
  provide(type, lapack_kernels);
  provide(type, loss());
  provide(type, matmul_kernels);
  provide(type, norm());
  provide(type, recurrent());
  provide(type, optim_kernels);
  provide(type, pointwise_kernels());
  provide(type, pool());
  provide(type, random_kernels);
  provide(type, recurrence_kernels);
  provide(type, reduce());
  provide(type, scan());
  provide(type, select_kernels());
  provide(type, softmax());
  provide(type, sort());
  provide(type, sparse());
  provide(type, value_kernels);
}

}  // namespace retrograd::cpu
