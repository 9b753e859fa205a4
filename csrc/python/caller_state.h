// What a backward leaves as it found it. Hooks, unpack functions and backwards written in Python may enter or leave modes and forget about it;
// when the backward is over its caller has the saved-tensor hooks, inference mode and __torch_function__ modes that it had before. (Gradient
// mode: the engine.)
#pragma once

#include <string>
#include <vector>

#include "core/state.h"
#include "python/torch_function.h"

namespace retrograd {

// A pair of saved_tensors_hooks().
struct HookPair {
  PyObject* pack;    // owned
  PyObject* unpack;  // owned
  bool operator==(const HookPair&) const = default;
};

class SavedHooksState {  // saved_hooks.cpp
 public:
  SavedHooksState();
  ~SavedHooksState();
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
  ~FunctionModesState();
  FunctionModesState(const FunctionModesState&) = delete;
  FunctionModesState& operator=(const FunctionModesState&) = delete;

 private:
  std::vector<PyObject*> modes_;
  size_t hidden_;
};

class CallerState {
 public:
  CallerState() = default;
  ~CallerState() {
    if (RG_LIKELY(thread_state.inference_mode == inference_)) return;
    set_inference_mode(inference_);
    set_grad_mode(thread_state.grad_enabled);
  }
  CallerState(const CallerState&) = delete;
  CallerState& operator=(const CallerState&) = delete;

 private:
  SavedHooksState hooks_;
  FunctionModesState modes_;
  bool inference_ = thread_state.inference_mode;
};

}  // namespace retrograd
