// What the engine looks at for the doctor (src/retrograd/doctor), and what it knows of it.
//
// Note [How closely the doctor looks]
// The doctor watches in two ways. Always: a few numbers of each outermost backward (was the loss finite, were the gradients of leaves, how large are they, does
// the number of living nodes go on growing), which cost nanoseconds. And in close looks, at the first steps of a loop and whenever one of those numbers is
// out of the ordinary: then backwards, calls of modules and steps of optimizers are told to Python (python/doctor.h), which keeps books and judges, and so are
// the few ops and nodes that may matter to a check (python/look.h): all others cost a pass over their results.
// Whether a place of the program is new is asked by its site. All of it is guarded by the GIL.
#pragma once

#include <span>

#include "autograd/node.h"
#include "core/tensor.h"

namespace retrograd {

// Living tensors but for instances of Python subclasses, which only the collector's list of all objects knows (core/tensor_life.cpp).
void for_each_pooled(void (*f)(TensorImpl*, void*), void* context);
void for_each_node(void (*f)(Node*, void*), void* context);  // that is alive

uint32_t training_step();  // the outermost backwards so far, while the doctor is on: what Node::step is taken from

// Where a tensor began to require grad, beside what it was before, as a note (autograd/cut.h). Ops do not ask for it: has_cut stays as it is.
void note_leaf(TensorImpl* t);

struct Doctor {
  bool on = false;              // anything at all
  bool close = false;           // a close look: events are told
  bool nodes = false;           // and each node that a backward runs
  bool new_parameters = false;  // were made since the last run: what is trained may be something else
  // Of the outermost run: gradients of leaves.
  bool bad = false;  // one was not finite
  uint32_t zeros = 0;
  double largest = 0;
  // The node of an op with a steep derivative that was the first to make a gradient that is not finite from one that is; owned.
  Node* origin = nullptr;
  bool has_origin = false;  // also where it began in another one, which is not known
};
extern Doctor doctor;

// The magnitude of the largest of the first elements in the memory of a tensor of floats or doubles on the CPU, not empty.
double largest_element(const Tensor& t, int64_t limit = INT64_MAX);
void look_at_gradient(const Tensor& grad);
inline void look(const Tensor& grad) {
  if (doctor.on) look_at_gradient(grad);
}
void look_at_steep(Node* n, std::span<const Tensor> out, std::span<const Tensor> in);  // when it has run
void forget_origin();

}  // namespace retrograd
