// The intra-op thread pool: one parallel region at a time, the calling thread works too. Nested calls, calls from a forked child and
// calls made while another thread has the pool run on the calling thread alone, so results never depend on who got the pool:
// a kernel must give the same bits for every split.
#pragma once

#include <cstdint>
#include <type_traits>

namespace retrograd::cpu {

int num_threads();
void set_num_threads(int n);

namespace detail {
using RangeFn = void (*)(void* context, int64_t begin, int64_t end);
void parallel_for(int64_t begin, int64_t end, int64_t grain, RangeFn fn, void* context);
}  // namespace detail

// Calls f(begin, end) on disjoint ranges that cover [begin, end), each at least `grain` long but for the last.
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, F&& f) {
  if (end - begin <= grain) {
    if (begin < end) f(begin, end);
    return;
  }
  using Function = std::remove_reference_t<F>;
  detail::parallel_for(
      begin, end, grain, [](void* c, int64_t b, int64_t e) { (*static_cast<Function*>(c))(b, e); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace retrograd::cpu
