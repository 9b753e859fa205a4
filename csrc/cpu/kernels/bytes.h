// Copies of bytes. Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <cstdint>
#include <cstring>

namespace retrograd::cpu {
namespace {

// Vector by vector; the compiler is not to make it the call that it stands for.
[[gnu::noinline, gnu::optimize("no-tree-loop-distribute-patterns")]] inline void copy_in_vectors(char* to, const char* from, int64_t n) {
  typedef char Bytes __attribute__((vector_size(64), aligned(1), may_alias));
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) *reinterpret_cast<Bytes*>(to + i) = *reinterpret_cast<const Bytes*>(from + i);
  if (i < n) std::memcpy(to + i, from + i, static_cast<size_t>(n - i));
}

// Of memory that does not overlap. The C library copies what is long by "rep movsb", which takes ten times as long on some CPUs (Zen) where the
// destination begins a little after the source in its page, as rows do that are moved by a few elements.
inline void copy_bytes(void* to, const void* from, int64_t n) {
  const uintptr_t after = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096;
  if (n >= 2048 && after > 0 && after < 64) return copy_in_vectors(static_cast<char*>(to), static_cast<const char*>(from), n);
  std::memcpy(to, from, static_cast<size_t>(n));
}

}  // namespace
}  // namespace retrograd::cpu
