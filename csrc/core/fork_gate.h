// A fork copies locks as they are. One that a kernel of another thread holds at that moment, in OpenBLAS, in the loader, in a static being
// initialised, stays locked in the child for ever. So a fork waits until no kernel runs outside the GIL, and kernels wait while a fork is made.
#pragma once

namespace retrograd {

void enter_kernel();  // without the GIL: the thread that forks has it
void leave_kernel();
void init_fork_gate();

}  // namespace retrograd
