// What a backward leaves as it found it. Hooks, unpack functions and backwards written in Python may enter or leave modes and forget about it;
// when the backward is over its caller has the saved-tensor hooks, inference mode and __torch_function__ modes that it had before. (Gradient
// mode: the engine.)
#pragma once

#include <Python.h>

#include <memory>
#include <string>
#include <vector>

#include "core/state.h"

namespace retrograd {

// A pair of saved_tensors_hooks().
struct HookPair {
  PyObject* pack;    // owned
  PyObject* unpack;  // owned
  bool operator==(const HookPair&) const = default;
};

// What there is, and how often it changed: by these a backward among no hooks and modes, which is most of them, sees that it has nothing to do.
struct ContextCount {
  uint32_t present = 0;  // pairs of hooks, modes, and whether hooks are forbidden
  uint32_t changes = 0;
  void change(int by) {
    present += static_cast<uint32_t>(by);
    ++changes;
  }
};
extern thread_local constinit ContextCount context_count;

class SavedHooksState {  // saved_hooks.cpp
 public:
  SavedHooksState();
  ~SavedHooksState();  // restores
  SavedHooksState(const SavedHooksState&) = delete;
  SavedHooksState& operator=(const SavedHooksState&) = delete;

 private:
  std::vector<HookPair> pairs_;
  int depth_;
  bool disabled_;
  std::string reason_;
};

class FunctionModesState {  // torch_function.cpp
 public:
  FunctionModesState();
  ~FunctionModesState();  // restores
  FunctionModesState(const FunctionModesState&) = delete;
  FunctionModesState& operator=(const FunctionModesState&) = delete;

 private:
  std::vector<PyObject*> modes_;
  size_t hidden_;
};

class CallerState {
 public:
  CallerState() {
    if (RG_UNLIKELY(context_count.present != 0)) found_ = std::make_unique<Found>();
  }
  ~CallerState() {
    if (RG_UNLIKELY(found_ || context_count.changes != changes_)) restore();
    if (RG_LIKELY(thread_state.inference_mode == inference_)) return;
    set_inference_mode(inference_);
    set_grad_mode(thread_state.grad_enabled);
  }
  CallerState(const CallerState&) = delete;
  CallerState& operator=(const CallerState&) = delete;

 private:
  struct Found {
    SavedHooksState hooks;
    FunctionModesState modes;
  };
  std::unique_ptr<Found> found_;  // null: nothing
  uint32_t changes_ = context_count.changes;
  bool inference_ = thread_state.inference_mode;

  void restore();  // backward.cpp
};

void leave_all_saved_hooks();     // saved_hooks.cpp
void leave_all_function_modes();  // torch_function.cpp

}  // namespace retrograd
