// What is true of the running thread: gradient mode, inference mode, who intercepts ops, and where in the program we are.
#pragma once

#include <string>

#include "core/storage.h"

namespace retrograd {

struct Handler;
class EventLog;

// Who switched recording off: the user (no_grad, set_grad_enabled, inference_mode), or the package around code that it calls.
enum class Off : uint8_t { User, Forward, Backward, Hook };

struct ThreadState {
  bool grad_mode = true;     // whether ops record: grad_enabled, but never in inference mode
  bool grad_enabled = true;  // what the user asked for
  bool inference_mode = false;
  bool forward_enabled = true;         // forward_ad._set_fwd_grad_enabled()
  bool torch_function_enabled = true;  // off inside DisableTorchFunction
  bool torch_function_subclasses = true;
  bool intercepting = false;                 // ops must look around: handlers, forward-mode levels, autocast or a profile are active
  bool mapped = false;                       // one of the handlers is a level of vmap
  uint16_t autocast = 0;                     // the kinds of devices whose ops choose their precision, a bit each; see ops/autocast.h
  uint32_t dual_levels = 0;                  // forward-mode levels entered, see autograd/tangent.h
  uint32_t first_visible_level = 0;          // the tangents that ops see: inside a vmap those of the transforms in it,
  uint32_t last_visible_level = UINT32_MAX;  // below it those outside; see python/intercept.h
  Handler* handlers = nullptr;               // top of the interception stack (owned), see python/intercept.h
  uint32_t function_modes = 0;               // __torch_function__ modes that see calls from Python, see python/torch_function.h
  uint8_t transform_depth = 0;               // func.grad, jvp and the like that are running; see Note [Captured tensors]
  uint64_t birth_bits = 0;                   // what every new tensor gets into its traits: where it was born,
  uint64_t fresh_bits = 0;                   // and one with memory of its own: kInference too
  Site mode_site;                            // where recording was switched off (owned); a function's own line for a decorator
  Off off = Off::User;                       // and by whom
  EventLog* log = nullptr;                   // where ops and nodes leave their events while a profile records, see core/events.h
  const char* op = nullptr;                  // the op entered last, while ops leave their names: see set_naming_ops()
};

extern thread_local constinit ThreadState thread_state;
extern bool naming_ops;       // of this process; a thread notices when its handlers change next
extern int64_t live_batched;  // tensors of vmaps that exist, see Note [Batched tensors]; guarded by the GIL

// A tensor that outlived its vmap must not meet a kernel: as long as there is any, ops look around.
// Handlers that are no levels of vmap only watch: what is computed, into which memory and from which random numbers must not depend on
// them, nor on transforms that have nothing to do with the tensors at hand. So this is a question of the dispatch of ops alone; whatever
// has two ways of computing something asks the tensors (has_layers(), autograd/layers.h).
inline void set_intercepting() {
  thread_state.intercepting =
      thread_state.handlers || thread_state.dual_levels || thread_state.autocast || thread_state.log || live_batched || naming_ops;
}
inline void set_handlers(Handler* top, bool mapped) {
  thread_state.handlers = top;
  thread_state.mapped = mapped;
  set_intercepting();
}
inline void set_log(EventLog* log) {
  thread_state.log = log;
  set_intercepting();
}
inline void set_autocast(uint16_t devices) {
  thread_state.autocast = devices;
  set_intercepting();
}
inline void set_dual_levels(uint32_t count) {
  thread_state.dual_levels = count;
  set_intercepting();
}

void set_naming_ops(bool on);  // each op leaves its name in thread_state.op, for tests of devices
void set_inference_mode(bool on);
void set_transform_depth(uint8_t depth);

inline void set_grad_mode(bool on) {
  thread_state.grad_enabled = on;
  thread_state.grad_mode = on && !thread_state.inference_mode;
}

// Switches recording on or off while the package runs code of its own or of the user, and says why it is off. Where the user had
// switched it off before, that stays the reason, unless it is for a backward.
class RecordingScope {
 public:
  RecordingScope(bool on, Off off, const Site& site);
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;

 private:
  bool grad_enabled_ = thread_state.grad_enabled;
  bool said_ = false;
  Off off_ = thread_state.off;
  Site site_;
};

// The innermost Python frame outside the package, as a new reference; {nullptr, -1} when there is none. Costs a nanosecond or two:
// it reads the interpreter's own frame and never builds a traceback. Implemented in python/interpreter.cpp.
Site current_site() noexcept;
// The same for whoever only compares: the code object is the running frame's.
Site borrowed_site() noexcept;
extern bool skip_libraries;  // whether both look for a frame that is the user's, beyond those of installed libraries

std::string site_text(const Site& site);  // train.py:41
int site_line(const Site& site);

inline Site copy_site(const Site& s) {
  Py_XINCREF(reinterpret_cast<PyObject*>(s.code));
  return s;
}

}  // namespace retrograd
