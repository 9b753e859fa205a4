// A device for tests, named "guarded": it runs the CPU's kernels in memory that the process may not touch outside a kernel. What stands above the
// seam of kernels/family.h is shown to leave elements alone by running on it. Registered by `_C._register_guarded()`; nothing else makes it
// known, and nothing in the package asks for it.
//
// Its memory is one range of addresses that can be neither read nor written, but between `begin` and `end` of a kernel (core/launch.h). A touch
// from elsewhere is noted with the op at hand, the memory is opened so that the program goes on, and it is closed again after the
// next kernel: a run gives a list of its faults, `_C._guarded_faults()`.
#pragma once

#include <Python.h>

namespace retrograd {

void init_guarded(PyObject* module);

}  // namespace retrograd
