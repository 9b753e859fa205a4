// The run-time face of a table entry: what interception hands to a handler, and what the engine itself asks about an op. Each form of an
// op has a record of its own: out of place, in place ("add_"), into given memory ("add.out"). Written by tools/opgen/records.py; the facts
// are those of the entry, see optable/README.md.
#pragma once

#include <Python.h>

#include <cstdint>

namespace retrograd {

struct Group;

// What the results share with an argument: they are views of it, have its memory without being views, may be it, a view or a copy, are it.
enum class Aliases : uint8_t { None, View, Memory, Maybe, Same };

// How autocast runs it: floating tensors in the dtype of autocast, in float32 at least, in the widest among them; AsIs: and what it is made of, too.
enum class Autocast : uint8_t { None, LowerPrecision, Float32, Promote, AsIs };

struct OpRecord {
  const char* name;  // "sum.dim"
  const char* schema;
  const char* const* batching;           // the rule of vmap and what it has to know, up to a null pointer
  const char* forward;                   // the rule of forward mode
  const char* out = nullptr;             // the dtype that out= has to have; null: there is none
  const char* const* results = nullptr;  // their names, up to a null pointer; null: they have none
  const char* vmap_name = nullptr;       // in the errors of vmap, where it is not the op's
  OpRecord* functional = nullptr;        // of a form that writes: the op that computes the same and does not
  uint32_t mutates = 0;                  // bit by argument
  uint8_t outs = 0;                      // how many of the arguments, the last ones, are what out= gives
  Autocast autocast = Autocast::None;
  Aliases aliases = Aliases::None;  // View, Memory, Maybe: of the first argument; Same: of those that are written, in order
  bool composite = false;           // made of other ops, which a handler sees as well
  bool random = false;              // draws numbers, which vmap has a say in even where nothing is batched
  bool elementwise = false;         // broadcasts, and takes 0-d CPU tensors beside tensors of other devices
  bool crosses_devices = false;     // takes tensors of several devices
  bool syncs = false;               // reads values back
  bool uninitialized = false;       // the values of its result mean nothing

  PyObject* object = nullptr;    // the Python callable for this form, made on first use
  const Group* group = nullptr;  // its bindings
  int overload = 0;
};

}  // namespace retrograd
