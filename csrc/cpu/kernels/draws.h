// Draws that are functions of uniform numbers, rounded to float: what the C library's functions in double would give, to the bit; and whether weights to draw
// by are as they should be. Internal to cpu/.
#pragma once

#include <cstdint>

namespace retrograd::kernels {

struct DrawKernels {
  // scale * log(1 - u)
  void (*exponential)(const double* u, int64_t n, double scale, float* out);
  // median + sigma * tan(pi (u - 1/2))
  void (*cauchy)(const double* u, int64_t n, double median, double sigma, float* out);
  // e^(mean + std * x) for pairs of normal x, each from a pair of uniform numbers: the angle, then the radius.
  void (*log_normal)(const double* u, int64_t pairs, double mean, double std, float* out);

  // Whether all are finite, none is negative and not all are 0.
  bool (*are_weights)(const float* x, int64_t n);
  bool (*are_weights_double)(const double* x, int64_t n);
};

}  // namespace retrograd::kernels
