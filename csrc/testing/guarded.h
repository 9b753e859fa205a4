// A device for tests, named "guarded": it runs the CPU's kernels in memory that the process may not touch outside a kernel. What stands above the
// seam of kernels/family.h is shown to leave elements alone by running on it. Registered by `_C._register_guarded()`; nothing else makes it
// known, and nothing in the package asks for it.
//
// Its memory is one range of addresses that can be neither read nor written, but between `begin` and `end` of a kernel (core/launch.h). A touch
// from elsewhere is noted with the op at hand, the memory is opened so that the program goes on, and it is closed again after the
// next kernel: a run gives a list of its faults, `_C._guarded_faults()`.
//
// Each kernel is called through a check of what it is handed (guarded_kernels.cpp): a pointer to anything but memory of the device that some
// tensor owns is a fault too. The calls can be written down, `_C._guarded_kernels()`, to compare what two programs run.
#pragma once

#include <Python.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/device.h"

namespace retrograd {

void init_guarded(PyObject* module);

namespace guarded_device {

// guarded.cpp. Kernels may run without the GIL: these take a lock.
bool is_inside(const void* at);                         // memory of the device, owned or not
bool is_owned(const void* from, size_t bytes);          // inside the memory of one storage that lives
bool is_open();                                         // a Launch is held
void note_fault(const char* kernel, const char* what);  // both literals
void note_call(std::string text);                       // while calls are written down
extern bool noting;

// guarded_kernels.cpp
void provide_kernels(DeviceType type);
void provide_scans(bool on);  // a device without a family of kernels, for the error that then comes

}  // namespace guarded_device
}  // namespace retrograd
