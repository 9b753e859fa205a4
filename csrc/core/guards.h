// However a block is left: what it owned is given back, what it changed is as it was. One way of writing it for every layer; a scope with more
// to put back than one value is a class of its own beside what it changes.
#pragma once

#include <Python.h>

#include <utility>

#include "core/state.h"

namespace retrograd {

// A reference to a Python object, or to an object of ours that begins as one, such as a node.
template <class T = PyObject> class Owned {
 public:
  Owned() = default;
  explicit Owned(T* o) : o_(o) {}  // takes the reference over
  Owned(Owned&& other) noexcept : o_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(o_, other.o_);
    return *this;
  }
  ~Owned() { Py_XDECREF(reinterpret_cast<PyObject*>(o_)); }
  T* get() const { return o_; }
  explicit operator bool() const { return o_ != nullptr; }
  T* release() { return std::exchange(o_, nullptr); }

 private:
  T* o_ = nullptr;
};

// Gives a variable another value for a while.
template <class T> class Restore {
 public:
  Restore(T& place, T now) : place_(place), found_(std::exchange(place, now)) {}
  ~Restore() { place_ = found_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& place_;
  T found_;
};

// The same where a function sets it.
template <auto Set, class T> class Reset {
 public:
  Reset(T found, T now) : found_(found) { Set(now); }
  ~Reset() { Set(found_); }
  Reset(const Reset&) = delete;
  Reset& operator=(const Reset&) = delete;

 private:
  T found_;
};

// Whether ops record, as the user would set it; RecordingScope says why besides.
struct GradMode : Reset<set_grad_mode, bool> {
  explicit GradMode(bool on) : Reset(thread_state.grad_enabled, on) {}
};

// What an op that autocast has seen to is made of computes in the precision that was chosen.
struct AutocastOff : Reset<set_autocast, uint16_t> {
  AutocastOff() : Reset(thread_state.autocast, uint16_t{0}) {}
};

template <class F> class AtExit {
 public:
  explicit AtExit(F f) : f_(std::move(f)) {}
  ~AtExit() { f_(); }
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;

 private:
  F f_;
};

}  // namespace retrograd
