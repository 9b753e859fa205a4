// Draws that are functions of uniform numbers, rounded to float: what the C library's functions in double would give, to the bit. Internal to cpu/.
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
};

}  // namespace retrograd::kernels
