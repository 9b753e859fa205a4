// The derivative helpers of each family.
#pragma once

#include "ops/derivatives_complex.h"
#include "ops/derivatives_index.h"
#include "ops/derivatives_linalg.h"
#include "ops/derivatives_nn.h"
#include "ops/derivatives_pointwise.h"
#include "ops/derivatives_reduce.h"
#include "ops/derivatives_shape.h"
