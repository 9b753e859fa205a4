#include "core/fork_gate.h"

#include <pthread.h>

namespace retrograd {
namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int running = 0;       // kernels
bool forking = false;  // new ones wait, so that a fork gets its turn

void before_fork() {
  pthread_mutex_lock(&mutex);
  forking = true;
  while (running > 0) pthread_cond_wait(&changed, &mutex);
}

void after_fork_in_parent() {
  forking = false;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void after_fork_in_child() {
  forking = false;
  running = 0;
  changed = PTHREAD_COND_INITIALIZER;  // those who waited are not here
  pthread_mutex_unlock(&mutex);
}

}  // namespace

void enter_kernel() {
  pthread_mutex_lock(&mutex);
  while (forking) pthread_cond_wait(&changed, &mutex);
  ++running;
  pthread_mutex_unlock(&mutex);
}

void leave_kernel() {
  pthread_mutex_lock(&mutex);
  if (--running == 0 && forking) pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void init_fork_gate() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

}  // namespace retrograd
