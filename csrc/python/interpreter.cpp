// Everything that depends on the interpreter's version: reading the running frame, counting nested calls. See core/state.h and core/stack.h for
// the contracts.
#include <Python.h>

#if PY_VERSION_HEX < 0x030d0000
#define Py_BUILD_CORE
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE
#endif

#include <cstring>
#include <string>
#include <utility>

#include "core/stack.h"
#include "core/state.h"
#include "python/guard.h"
#include "python/interpreter.h"

namespace retrograd {
namespace {

std::string package_prefix;  // ".../site-packages/retrograd/": frames of code under it are ours
std::string library_prefix;  // of the standard library

enum class Owner : uint8_t { User, Library, Package };

// Whose a code object is, remembered per code object. Entries own their code, so an address is never reused
// while it is in the table.
struct CodeCache {
  static constexpr size_t kSize = 512;
  PyCodeObject* code[kSize];
  Owner owner[kSize];
};
CodeCache cache;
PyCodeObject* last_external = nullptr;  // borrowed from the table: the user's code that was met last

bool starts_with(const char* text, const std::string& prefix) {
  return !prefix.empty() && std::strncmp(text, prefix.c_str(), prefix.size()) == 0;
}

Owner owner_of_file(const char* file) {
  if (file[0] == '<') return std::strncmp(file, "<frozen ", 8) == 0 ? Owner::Package : Owner::User;
  if (starts_with(file, package_prefix)) return Owner::Package;
  if (std::strstr(file, "/site-packages/") || std::strstr(file, "/dist-packages/") || starts_with(file, library_prefix))
    return Owner::Library;
  return Owner::User;
}

[[gnu::noinline]] Owner lookup_owner(PyCodeObject* code, size_t slot) {
  Py_ssize_t length;
  const char* file = PyUnicode_AsUTF8AndSize(code->co_filename, &length);
  if (!file) PyErr_Clear();
  const Owner owner = file ? owner_of_file(file) : Owner::User;
  Py_INCREF(code);
  if (last_external == cache.code[slot]) last_external = nullptr;
  Py_XDECREF(cache.code[slot]);
  cache.code[slot] = code;
  cache.owner[slot] = owner;
  return owner;
}

// Frames of the package lie between a module that is called and its op: each is two loads.
inline Owner owner_of(PyCodeObject* code) {
  if (code == last_external) return Owner::User;
  const size_t slot = (reinterpret_cast<uintptr_t>(code) >> 4) % CodeCache::kSize;
  const Owner owner = __builtin_expect(cache.code[slot] == code, 1) ? cache.owner[slot] : lookup_owner(code, slot);
  if (owner == Owner::User) last_external = code;
  return owner;
}

}  // namespace

void set_code_prefixes(const char* package, const char* library) {
  package_prefix = package;
  library_prefix = library;
}
bool skip_libraries = false;

// The innermost frame outside the package; with skip_libraries, the innermost one that is the user's, if there is any.
#if PY_VERSION_HEX >= 0x030d0000

Site borrowed_site() noexcept {
  PyThreadState* state = PyThreadState_GetUnchecked();
  PyFrameObject* frame = state ? PyThreadState_GetFrame(state) : nullptr;
  Site found;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const Owner owner = owner_of(code);
    if (owner != Owner::Package && (owner == Owner::User || !found.code)) {
      found = {code, PyFrame_GetLasti(frame)};
    }
    Py_DECREF(code);  // the frame has it
    PyFrameObject* back = found.code && (owner == Owner::User || !skip_libraries) ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return found;
}

#else

Site borrowed_site() noexcept {
  PyThreadState* state = _PyThreadState_UncheckedGet();
  if (!state || !state->cframe) return {};
  _PyInterpreterFrame* found = nullptr;
  for (_PyInterpreterFrame* frame = state->cframe->current_frame; frame; frame = frame->previous) {
#if PY_VERSION_HEX >= 0x030c0000
    if (frame->owner == FRAME_OWNED_BY_CSTACK) continue;  // the entry trampoline of C calls
#endif
    const Owner owner = owner_of(frame->f_code);
    if (owner == Owner::Package || (owner == Owner::Library && found)) continue;
    found = frame;
    if (owner == Owner::User || !skip_libraries) break;
  }
  if (!found) return {};
  return {found->f_code, static_cast<int32_t>(_PyInterpreterFrame_LASTI(found) * static_cast<int>(sizeof(_Py_CODEUNIT)))};
}

#endif

Site current_site() noexcept {
  const Site site = borrowed_site();
  Py_XINCREF(reinterpret_cast<PyObject*>(site.code));
  return site;
}

// Before 3.12 one counter was for calls of either kind; from 3.14 on the interpreter looks at the address of the stack instead of counting native ones.

#if PY_VERSION_HEX >= 0x030e0000

bool interpreter_follows_stacks() noexcept { return false; }
bool nested_calls_run_low() noexcept { return false; }
NestedCalls forget_nested_calls() noexcept { return {}; }
void restore_nested_calls(NestedCalls) noexcept {}

#else

namespace {

#if PY_VERSION_HEX >= 0x030c0000
#if PY_VERSION_HEX >= 0x030d0000
constexpr int kNativeLimit = Py_C_RECURSION_LIMIT;
#else
constexpr int kNativeLimit = C_RECURSION_LIMIT;
#endif
int& python_remaining(PyThreadState* state) { return state->py_recursion_remaining; }
int& native_remaining(PyThreadState* state) { return state->c_recursion_remaining; }
int python_limit(const PyThreadState* state) { return state->py_recursion_limit; }
#else
int& python_remaining(PyThreadState* state) { return state->recursion_remaining; }
int python_limit(const PyThreadState* state) { return state->recursion_limit; }
#endif

}  // namespace

bool interpreter_follows_stacks() noexcept { return true; }

bool nested_calls_run_low() noexcept {
  PyThreadState* state = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030c0000
  if (native_remaining(state) < kNativeLimit / 2) return true;
#endif
  return python_remaining(state) < python_limit(state) / 2;
}

NestedCalls forget_nested_calls() noexcept {
  PyThreadState* state = PyThreadState_Get();
  NestedCalls calls;
  calls.python = python_limit(state) - std::exchange(python_remaining(state), python_limit(state));
#if PY_VERSION_HEX >= 0x030c0000
  calls.native = kNativeLimit - std::exchange(native_remaining(state), kNativeLimit);
#endif
  return calls;
}

// The limit may have been changed meanwhile: it is the number of calls that counts.
void restore_nested_calls(NestedCalls calls) noexcept {
  PyThreadState* state = PyThreadState_Get();
  python_remaining(state) = python_limit(state) - calls.python;
#if PY_VERSION_HEX >= 0x030c0000
  native_remaining(state) = kNativeLimit - calls.native;
#endif
}

#endif

int site_line(const Site& site) { return site.code ? PyCode_Addr2Line(site.code, site.lasti) : -1; }

std::string line_text(PyObject* file, int line) {
  std::string text = text_of(file);
  if (RG_UNLIKELY(text.find("ipykernel_") != std::string::npos)) {  // a cell of a notebook, whose file nobody sees
    PyObject* module = PyImport_ImportModule("retrograd._cells");
    PyObject* shown = module ? PyObject_CallMethod(module, "line_text", "Oi", file, line) : nullptr;
    if (shown && PyUnicode_Check(shown))
      text = text_of(shown);
    else
      text += ":" + std::to_string(line);
    PyErr_Clear();  // the file says it too
    Py_XDECREF(shown);
    Py_XDECREF(module);
    return text;
  }
  return text + ":" + std::to_string(line);
}

std::string site_text(const Site& site) { return site.code ? line_text(site.code->co_filename, site_line(site)) : "<unknown>"; }

}  // namespace retrograd
