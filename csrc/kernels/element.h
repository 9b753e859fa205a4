// Reading one element. A bool in memory may be any byte: view(dtype) shows bytes as bools, others hand over theirs, and empty() leaves what was
// there. All but 0 are true. Read as a C++ bool they would be nothing defined: a count of the true ones and a list of their places disagree.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrograd {

template <class T> [[gnu::always_inline]] inline T element(const T* p) {  // inlined, so that no level calls that of another
  if constexpr (std::is_same_v<T, bool>)
    return *reinterpret_cast<const uint8_t*>(p) != 0;
  else
    return *p;
}

}  // namespace retrograd
