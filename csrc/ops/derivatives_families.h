// The derivative helpers of each family.
#pragma once

#include "ops/attention/derivatives.h"
#include "ops/complex/derivatives.h"
#include "ops/conv/derivatives.h"
#include "ops/fft/derivatives.h"
#include "ops/image/derivatives.h"
#include "ops/index/derivatives.h"
#include "ops/linalg/derivatives.h"
#include "ops/nn/derivatives.h"
#include "ops/norm/derivatives.h"
#include "ops/pointwise/derivatives.h"
#include "ops/pool/derivatives.h"
#include "ops/random/derivatives.h"
#include "ops/recurrent/derivatives.h"
#include "ops/reduce/derivatives.h"
#include "ops/shape/derivatives.h"
#include "ops/special/derivatives.h"
