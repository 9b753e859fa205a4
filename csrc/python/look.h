// What a close look of the doctor sees of ops and nodes: those that may matter to a check are told to Python, and what all of them show is kept
// here until it is asked for. See Note [How closely the doctor looks] in autograd/doctor.h.
//
// A look is a handler on the interception stack (python/intercept.h) that computes nothing. An op runs as it would without, and its tensors are
// looked at afterwards, which takes some tens of nanoseconds and one pass over the results.
#pragma once

#include <Python.h>

#include <optional>
#include <span>
#include <type_traits>

#include "autograd/node.h"
#include "core/tensor.h"
#include "ops/record.h"

namespace retrograd {

// What an op was given, or made: a tensor, a list of them, or something else.
struct SeenPart {
  const TensorImpl* one = nullptr;
  std::span<const Tensor> list = {};
};
template <class T> SeenPart seen_part(const T& v) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return {v.get()};
  } else if constexpr (std::is_same_v<T, Operand>) {
    return {v.tensor};
  } else if constexpr (std::is_convertible_v<const T&, std::span<const Tensor>>) {
    return {nullptr, std::span<const Tensor>(v)};
  } else {
    return {};
  }
}

// An op has run: whether it is to be told.
bool matters(const OpRecord& op, std::span<const SeenPart> arguments, std::span<const SeenPart> results);

// A value is read, which is told: as long as some tens of ops take.
void count_reading();
// .data of a tensor was taken: in a module that uses a leaf, whose gradient it will not have.
void note_data_use(const TensorImpl* t);

// The largest |x| of a tensor, NaN or infinity if it has one; nothing where that cannot be had in one pass over memory of the CPU.
std::optional<double> magnitude(const TensorImpl* t);

void begin_run();  // an outermost backward
// A node has run: whether it is to be told.
bool matters(const Node* node, std::span<const Tensor> sent, std::span<const Tensor> received);

void init_look(PyObject* module);

}  // namespace retrograd
