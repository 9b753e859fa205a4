// The run-time face of a table entry: what interception hands to a handler.
#pragma once

#include <Python.h>

namespace retrograd {

struct Group;

struct OpRecord {
  const char* name;  // "sum.dim"
  const char* schema;
  bool composite = false;        // made of other ops, which a handler sees as well
  bool random = false;           // draws numbers, which vmap has a say in even where nothing is batched
  bool elementwise = false;      // broadcasts, and takes 0-d CPU tensors beside tensors of other devices
  PyObject* object = nullptr;    // the Python callable for this overload, made on first use
  const Group* group = nullptr;  // its bindings
  int overload = 0;
};

}  // namespace retrograd
