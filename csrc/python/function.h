// What the files of autograd.Function share: the node that is its ctx, and what that keeps. The node and its backward are in
// function_node.cpp, the attributes that a ctx shows to Python in function_context.cpp, apply() in function.cpp.
#pragma once

#include <Python.h>

#include <vector>

#include "autograd/node.h"
#include "autograd/saved.h"
#include "autograd/sparse.h"

namespace retrograd {

struct TensorMeta {
  bool is_tensor = false;
  DType dtype = DType::Float32;
  Device device;
  bool sparse = false;
  std::vector<int64_t> sizes;
  explicit TensorMeta(const TensorImpl* t) {
    if (!t) return;
    is_tensor = true;
    sparse = is_sparse(t);
    dtype = t->dtype;
    device = t->storage->device;
    sizes.assign(t->shape().begin(), t->shape().end());
  }
};

struct FunctionState {
  PyObject* cls = nullptr;      // the Function subclass
  PyObject* to_save = nullptr;  // between save_for_backward() and the end of forward
  PyObject* dirty = nullptr;
  PyObject* non_differentiable = nullptr;
  PyObject* needs_input_grad = nullptr;
  PyObject* for_forward = nullptr;  // of save_for_forward(), while apply() runs
  std::vector<SavedTensor> saved;
  std::vector<bool> saved_none;
  std::vector<TensorMeta> inputs, outputs;
  std::vector<int> edge_of_input;  // -1 for arguments that are no tensors
  bool materialize = true;
  bool pure_view = false;    // ctx._is_pure_view: the output is a view of the input and nothing else
  bool handed_over = false;  // what was saved: see clear_saved_tensors_on_access
  bool finished_forward = false;
  bool in_jvp = false;

  // What forward said about its inputs and outputs. An output holds the node, so keeping it would close a cycle.
  void end_forward() {
    Py_CLEAR(to_save);
    Py_CLEAR(dirty);
    Py_CLEAR(non_differentiable);
    Py_CLEAR(for_forward);
  }
  void clear_objects() {
    Py_CLEAR(cls);
    Py_CLEAR(needs_input_grad);
    end_forward();
  }
};

struct FunctionNode : Node { FunctionState* state; };

// What is known of one Function subclass: an attribute of it, freed with it.
struct FunctionClass {
  PyObject_HEAD
  const NodeInfo* info;
  bool told;          // to the doctor, once whether it looks closely or not
  int all_arguments;  // how many setup_context() expects, when forward() has defaults for some; -1 before anybody looked
};

extern PyTypeObject* context_type;  // base of all ctx types

inline FunctionNode* function_node(PyObject* self) { return reinterpret_cast<FunctionNode*>(self); }
inline FunctionState& state_of(PyObject* self) { return *function_node(self)->state; }

FunctionClass* class_of(PyObject* cls);          // made on first use
bool class_flag(PyObject* cls, PyObject* name);  // a class attribute that is True or False
void init_function_node(PyObject* module);       // function_node.cpp
void init_function_context(PyObject* module);    // function_context.cpp

}  // namespace retrograd
