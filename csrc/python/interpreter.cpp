// Everything that depends on the interpreter's version: reading the running frame. See core/state.h for the contract.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030d0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#include <cstring>
#include <string>

#include "core/state.h"
#include "python/guard.h"
#include "python/interpreter.h"

namespace retrograd {
namespace {

std::string package_prefix;  // ".../site-packages/retrograd/": frames of code under it are ours

// Whether a code object belongs to the package, remembered per code object. Entries own their code, so an address is never reused
// while it is in the table.
struct CodeCache {
  static constexpr size_t kSize = 512;
  PyCodeObject* code[kSize];
  bool internal[kSize];
};
CodeCache cache;
PyCodeObject* last_external = nullptr;  // borrowed from the table: the code outside the package that was met last

bool lookup_internal(PyCodeObject* code, size_t slot) {
  Py_ssize_t length;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
  if (!file) PyErr_Clear();
  const bool internal =
      file && (file[0] == '<' ? std::strncmp(file, "<frozen ", 8) == 0
                              : (!package_prefix.empty() && std::strncmp(file, package_prefix.c_str(), package_prefix.size()) == 0));
  Py_INCREF(code);
  if (last_external == cache.code[slot]) last_external = nullptr;
  Py_XDECREF(cache.code[slot]);
  cache.code[slot] = code;
  cache.internal[slot] = internal;
  return internal;
}

[[gnu::noinline]] bool is_internal_slow(PyCodeObject* code) {
  const size_t slot = (reinterpret_cast<uintptr_t>(code) >> 4) % CodeCache::kSize;
  const bool internal = cache.code[slot] == code ? cache.internal[slot] : lookup_internal(code, slot);
  if (!internal) last_external = code;
  return internal;
}

inline bool is_internal(PyCodeObject* code) { return __builtin_expect(code != last_external, 0) && is_internal_slow(code); }

}  // namespace

void set_package_prefix(const char* path) { package_prefix = path; }

#if PY_VERSION_HEX >= 0x030d0000

Site current_site() noexcept {
  PyThreadState* state = PyThreadState_GetUnchecked();
  PyFrameObject* frame = state ? PyThreadState_GetFrame(state) : nullptr;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    if (!is_internal(code)) {
      const int lasti = PyFrame_GetLasti(frame);
      Py_DECREF(frame);
      return {code, lasti};
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return {};
}

#else

Site current_site() noexcept {
  PyThreadState* state = _PyThreadState_UncheckedGet();
  if (!state || !state->cframe) return {};
  for (_PyInterpreterFrame* frame = state->cframe->current_frame; frame; frame = frame->previous) {
    PyCodeObject* code = frame->f_code;
#if PY_VERSION_HEX >= 0x030c0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK) continue;  // the entry trampoline of C calls
#endif
    if (is_internal(code)) continue;
    Py_INCREF(code);
    return {code, static_cast<int32_t>(_PyInterpreterFrame_LASTI(frame) * static_cast<int>(sizeof(_Py_CODEUNIT)))};
  }
  return {};
}

#endif

int site_line(const Site& site) { return site.code ? PyCode_Addr2Line(site.code, site.lasti) : -1; }

std::string site_text(const Site& site) {
  if (!site.code) return "<unknown>";
  return text_of(site.code->co_filename) + ":" + std::to_string(site_line(site));
}

}  // namespace retrograd
