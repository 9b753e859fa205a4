// The one place that knows the interpreter's version: frames, code objects, lines. Its other functions are declared in core/state.h.
#pragma once

#include <Python.h>

#include <string>

namespace retrograd {

// Code of files below `package` is the package's own; of files below `library`, or installed beside it, a library's.
void set_code_prefixes(const char* package, const char* library);
std::string line_text(PyObject* file, int line);  // "train.py:41", "Cell In[3], line 2"

}  // namespace retrograd
