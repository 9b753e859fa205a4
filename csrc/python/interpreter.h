// The one place that knows the interpreter's version: frames, code objects, lines. Its other functions are declared in core/state.h.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>

namespace retrograd {

// Code of files below `package` is the package's own; of files below `library`, or installed beside it, a library's.
void set_code_prefixes(const char* package, const char* library);
std::string line_text(PyObject* file, int line);  // "train.py:41", "Cell In[3], line 2"

// A number that no other dictionary has, nor this one after the next change of it. 0 where the interpreter does not count changes.
inline uint64_t content_number([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030c0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  return 0;
#endif
}

}  // namespace retrograd
