// The one place that knows the interpreter's version: frames, code objects, lines. Its other functions are declared in core/state.h.
#pragma once

namespace retrograd {

void set_package_prefix(const char* path);  // code of files below it is "inside the package"

}  // namespace retrograd
