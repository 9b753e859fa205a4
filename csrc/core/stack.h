// Stacks for calls that nest without end: backward inside a hook inside backward. Such a call runs on a stack of its own when the one at hand is half
// used, so depth is bounded by memory and not by the 8 MB a thread gets. It stays on its thread: what is true of the thread (modes, handlers,
// Python's frames, the exception in flight, signals) is true there too, and an exception that leaves the function arrives where it was called.
#pragma once

#include <memory>

namespace retrograd {

// Whether half of the stack, or half of the nested calls that the interpreter allows, is used.
bool stack_runs_low() noexcept;

// Runs f on a stack of its own, at the bottom of the nested calls that the interpreter allows. RecursionError where there is no stack to be had.
void run_on_fresh_stack(void (*f)(void*), void* argument);
template <class F> void on_fresh_stack(F&& f) {
  run_on_fresh_stack([](void* p) { (*static_cast<std::remove_reference_t<F>*>(p))(); }, std::addressof(f));
}

// The nested calls that the interpreter counts on this thread; in python/interpreter.cpp.
struct NestedCalls { int python = 0, native = 0; };
bool nested_calls_run_low() noexcept;
NestedCalls forget_nested_calls() noexcept;
void restore_nested_calls(NestedCalls calls) noexcept;
bool interpreter_follows_stacks() noexcept;  // whether it bears another stack under it

}  // namespace retrograd
