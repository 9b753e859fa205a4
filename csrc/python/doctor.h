// What is told to the doctor in Python. See Note [How closely the doctor looks] in autograd/doctor.h.
#pragma once

#include <Python.h>

#include "autograd/doctor.h"
#include "autograd/engine.h"
#include "core/state.h"

namespace retrograd {

// Around an outermost backward() or grad() that Python called. end() is not called when it fails.
class WatchedRun {
 public:
  WatchedRun(PyObject* roots, const RunOptions& options, PyObject* inputs) {
    if (doctor.on && !in_backward() && !thread_state.transform_depth && !thread_state.mapped) begin(roots, options, inputs);
  }
  ~WatchedRun() {
    if (RG_UNLIKELY(told_)) give_up();
  }
  WatchedRun(const WatchedRun&) = delete;
  WatchedRun& operator=(const WatchedRun&) = delete;
  void end() {
    if (active_) finish();
  }

 private:
  void begin(PyObject* roots, const RunOptions& options, PyObject* inputs);  // a tensor, or a sequence of them and of GradientEdges
  void finish();
  void give_up() noexcept;
  bool active_ = false;
  size_t slot_ = 0;
  bool told_ = false;          // that it began, and not yet that it ended
  PyObject* roots_ = nullptr;  // borrowed: the caller has them
};

// An outermost call of a module, if it is to be told. `result` is null where it raised.
extern thread_local constinit bool in_module;
bool tell_call(PyObject* module, PyObject* args, PyObject* kwargs);  // whether its end is to be told too; throws
void tell_return(PyObject* module, PyObject* result);                // throws

// A custom Function was applied and recorded: its arguments, its ctx, and the tuple of its results.
void tell_function(PyObject* cls, PyObject* const* args, Py_ssize_t nargs, PyObject* ctx, PyObject* results);  // throws

// A value that became a number of Python's, in a close look.
void tell_read(const TensorImpl* t);  // throws

void init_doctor(PyObject* module);

}  // namespace retrograd
