#include "kernels/create.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

#include "cpu/cpu.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 32768;  // elements worth a thread

template <class F> void generate(const Array& out, F value) {
  const int64_t n = out.numel();
  visit_dtype(out.dtype, [&](auto zero) {
    using V = decltype(zero);
    V* data = out.ptr<V>();
    parallel_for(0, n, kGrain, [data, value](int64_t begin, int64_t end) {
      V* const to = data;
      const F at = value;  // what is written may not be this: the loop is vectorised
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<V>(static_cast<compute_t<V>>(at(i)));
    });
  });
}

void count(const Array& out, uint64_t from, uint64_t by) {
  generate(out, [=](int64_t i) { return static_cast<int64_t>(from + static_cast<uint64_t>(i) * by); });
}

void step(const Array& out, double from, double by) {
  generate(out, [=](int64_t i) { return from + by * static_cast<double>(i); });
}

struct Identity {
  template <class C> C operator()(C x) const { return x; }
};

#if defined(__x86_64__)
// Where the processor has fused multiply-adds, which the library would be called for: elements [begin, end).
template <class C> [[gnu::target("avx2,fma")]] void spread_fused(C* out, int32_t begin, int32_t end, int32_t steps, C step, C start,
                                                                 C last) {
  const int32_t middle = steps == 1 ? 1 : steps / 2, turn = begin > middle ? begin : middle < end ? middle : end;
  for (int32_t i = begin; i < turn; ++i) {
    if constexpr (sizeof(C) == 4)
      out[i] = __builtin_fmaf(step, static_cast<C>(i), start);
    else
      out[i] = __builtin_fma(step, static_cast<C>(i), start);
  }
  for (int32_t i = turn; i < end; ++i) {
    if constexpr (sizeof(C) == 4)
      out[i] = __builtin_fmaf(-step, static_cast<C>(steps - i - 1), last);
    else
      out[i] = __builtin_fma(-step, static_cast<C>(steps - i - 1), last);
  }
}
#endif

template <class C, class F> void spread_as(const Array& out, C start, C end, F map) {
  const int64_t steps = out.numel();
  const C step = steps > 1 ? (end - start) / static_cast<C>(steps - 1) : C(0);
#if defined(__x86_64__)
  if constexpr (std::is_same_v<F, Identity>) {
    if (out.dtype == DTypeOf<C>::value && steps <= std::numeric_limits<int32_t>::max() && cpu_level() >= Level::V3) {
      parallel_for(0, steps, kGrain, [&](int64_t from, int64_t to) {
        spread_fused(out.ptr<C>(), static_cast<int32_t>(from), static_cast<int32_t>(to), static_cast<int32_t>(steps), step, start, end);
      });
      return;
    }
  }
#endif
  generate(out, [=](int64_t i) {  // rounded once, as PyTorch's kernels do
    const bool up = i < steps / 2 || steps == 1;
    return map(up ? std::fma(step, static_cast<C>(i), start) : std::fma(-step, static_cast<C>(steps - i - 1), end));
  });
}

void spread(const Array& out, const Spread& s) {
  const auto run = [&](auto map) {
    if (out.dtype == DType::Float32) return spread_as(out, static_cast<float>(s.start), static_cast<float>(s.end), map);
    if (is_integral(out.dtype)) return spread_as(out, std::trunc(s.start), std::trunc(s.end), map);
    spread_as(out, s.start, s.end, map);
  };
  if (!s.powers) return run(Identity{});
  run([base = s.base](auto x) { return std::pow(static_cast<decltype(x)>(base), x); });
}

template <class T> void fill_triangle(const Array& out, int64_t rows, int64_t columns, int64_t shift, bool lower) {
  T* data = out.ptr<T>();
  const int64_t count = out.sizes[1];
  const auto edge = [&](int64_t r) { return std::clamp<int64_t>(r + shift, 0, columns); };
  int64_t i = 0;
  for (int64_t r = lower ? std::clamp<int64_t>(-shift, 0, rows) : 0; r < rows && i < count; ++r)
    for (int64_t c = lower ? 0 : edge(r), end = lower ? edge(r) : columns; c < end; ++c, ++i) {
      data[i] = static_cast<T>(r);
      data[count + i] = static_cast<T>(c);
    }
}

void triangle(const Array& out, int64_t rows, int64_t columns, int64_t shift, bool lower) {
  if (out.dtype == DType::Int64) return fill_triangle<int64_t>(out, rows, columns, shift, lower);
  fill_triangle<int32_t>(out, rows, columns, shift, lower);
}

void window(const Array& out, const Window& w) {
  const double last = static_cast<double>(w.length - 1);
  const auto at = [last](int64_t i) { return static_cast<double>(i) / last; };
  if (w.length == 1) return generate(out, [&](int64_t) { return w.kind == Window::Kind::Arc ? w.a : 1.0; });
  if (w.kind == Window::Kind::Triangle) return generate(out, [=](int64_t i) { return 1 - std::fabs(2 * at(i) - 1); });
  if (w.kind == Window::Kind::Cosines)
    return generate(out, [=](int64_t i) {
      const double turn = std::cos(2 * std::numbers::pi * at(i));  // cos(2t) = 2 cos(t)^2 - 1
      return w.a - w.b * turn + w.c * (2 * turn * turn - 1);
    });
  generate(out, [=](int64_t i) {
    const double x = 2 * at(i) - 1;
    return w.a * std::sqrt(std::max(0.0, 1 - x * x));
  });
}

}  // namespace

const CreateKernels create_kernels = {.count = count, .step = step, .spread = spread, .triangle = triangle, .window = window};

}  // namespace retrograd::cpu
