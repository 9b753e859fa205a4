// Freeing chains of any length. A tensor may hold the next one in its .grad, memory may belong to an array that belongs to a tensor, and so on. What is let
// go of while something else of the kind is being let go of waits for its turn, so that no stack is needed.
#pragma once

namespace retrograd {

// Calls f(argument): at once, or after the f that is running on this thread.
void let_go(void (*f)(void*), void* argument) noexcept;

}  // namespace retrograd
