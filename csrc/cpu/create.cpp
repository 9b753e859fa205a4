#include "kernels/create.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "cpu/cpu.h"

namespace retrograd::cpu {
namespace {

template <class F> void generate(const Array& out, F value) {
  const int64_t n = out.numel();
  visit_dtype(out.dtype, [&](auto zero) {
    using V = decltype(zero);
    V* data = out.ptr<V>();
    for (int64_t i = 0; i < n; ++i) data[i] = static_cast<V>(static_cast<compute_t<V>>(value(i)));
  });
}

void count(const Array& out, uint64_t from, uint64_t by) {
  generate(out, [=](int64_t i) { return static_cast<int64_t>(from + static_cast<uint64_t>(i) * by); });
}

void step(const Array& out, double from, double by) {
  generate(out, [=](int64_t i) { return from + by * static_cast<double>(i); });
}

template <class C, class F> void spread_as(const Array& out, C start, C end, F map) {
  const int64_t steps = out.numel();
  const C step = steps > 1 ? (end - start) / static_cast<C>(steps - 1) : C(0);
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
  if (!s.powers) return run([](auto x) { return x; });
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
