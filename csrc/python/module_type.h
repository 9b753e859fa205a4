// Quick attribute lookup, calls and enumerations for nn.Module.
#pragma once

#include <Python.h>

namespace retrograd {

bool is_module(PyObject* o);      // an nn.Module
bool is_plain_dict(PyObject* o);  // subclasses of dict but OrderedDict may define what it means to contain a key

void set_tree_root(PyTypeObject* root);  // module_tree.cpp: nn.Module, whose methods it stands in for
void init_module_tree(PyObject* module);
void init_module_type(PyObject* module);

}  // namespace retrograd
