// Images with something around them that comes from within.
#include "core/dtype.h"
#include "cpu/kernels/image_parts.h"
#include "cpu/kernels/places.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

using kernels::Around;
using kernels::PadShape;

// Where each element of an axis comes from; those from `begin` to `end` from neighbours.
struct Axis {
  int64_t size, begin, end;
  Zeros<int32_t> place;

  Axis(const PadShape& s, int d) : size(s.to(d)), begin(std::max<int64_t>(s.before[d], 0)), place(size) {
    const int64_t n = s.from[d], first = std::max<int64_t>(-s.before[d], 0), cut = std::max<int64_t>(-s.after[d], 0);
    end = std::max(begin, begin + n - first - cut);
    for (int64_t i = 0; i < size; ++i) place[i] = static_cast<int32_t>(source(s.around, i - s.before[d], n, first, n - first - cut));
  }

 private:
  static int64_t source(Around around, int64_t at, int64_t n, int64_t first, int64_t kept) {
    switch (around) {
      case Around::Reflection: return n - 1 - std::abs(n - 1 - std::abs(at));
      case Around::Replication: return std::clamp<int64_t>(at, 0, n - 1);
      case Around::Circular: return first + ((at - first) % kept + kept) % kept;  // what is cut off does not come around
    }
    return 0;
  }
};

// The elements of the result that came from each of the image's, along one axis: all[start[i]] to all[start[i + 1]].
struct Readers {
  Zeros<int32_t> start, all;
  Readers(const Axis& axis, int64_t n) : start(n + 1), all(axis.size) {
    for (int64_t i = 0; i < axis.size; ++i) ++start[axis.place[i] + 1];
    for (int64_t i = 0; i < n; ++i) start[i + 1] += start[i];
    for (int64_t i = axis.size - 1; i >= 0; --i) {  // filled from behind, so that `start` ends up where it began
      const int32_t place = axis.place[i];
      all[start[place + 1] - 1] = static_cast<int32_t>(i);
      --start[place + 1];
    }
    for (int64_t i = 0; i < n; ++i) start[i] = start[i + 1];
    start[n] = static_cast<int32_t>(axis.size);
  }
};

template <class T> void pad_as(const PadShape& s, const void* in, void* out) {
  const Axis z(s, 0), y(s, 1), x(s, 2);
  const Places places{
      s.outer, s.inner, {s.from[0], s.from[1], s.from[2]}, {z.size, y.size, x.size}, {z.place.data(), y.place.data(), x.place.data()}};
  copy_places(places, static_cast<const T*>(in), static_cast<T*>(out), x.begin, x.end);
}

template <class T> void backward_as(const PadShape& s, const T* grad, T* grad_in) {
  using C = compute_t<T>;
  const Axis z(s, 0), y(s, 1), x(s, 2);
  const Readers by_z(z, s.from[0]), by_y(y, s.from[1]);
  const int64_t inner = s.inner, wide = x.size * inner, width = s.from[2] * inner, lines = s.outer * s.from[0] * s.from[1];
  const int64_t tasks = std::clamp<int64_t>(lines * wide / kGrain, 1, std::min<int64_t>(lines, 16));
  Zeros<C> work(tasks * (wide + width));
  parallel_for(0, tasks, 1, [&](int64_t from, int64_t to) {
    for (int64_t task = from; task < to; ++task) {
      C *sum = work.data() + task * (wide + width), *row = sum + wide;
      const int64_t stop = (task + 1) * lines / tasks;
      Line at(task * lines / tasks, s.from[0], s.from[1]);
      for (int64_t line = task * lines / tasks; line < stop; ++line, at.next()) {
        const int64_t j = at.y, i = at.z;
        std::fill(sum, sum + wide, C(0));
        for (int32_t a = by_z.start[i]; a < by_z.start[i + 1]; ++a)
          for (int32_t b = by_y.start[j]; b < by_y.start[j + 1]; ++b) {
            const T* g = grad + ((at.plane * z.size + by_z.all[a]) * y.size + by_y.all[b]) * wide;
            for (int64_t k = 0; k < wide; ++k) sum[k] += static_cast<C>(g[k]);
          }
        std::fill(row, row + width, C(0));
        if (x.begin < x.end) std::copy(sum + x.begin * inner, sum + x.end * inner, row + x.place[x.begin] * inner);
        const auto add = [&](int64_t k) {
          for (int64_t c = 0; c < inner; ++c) row[x.place[k] * inner + c] += sum[k * inner + c];
        };
        for (int64_t k = 0; k < x.begin; ++k) add(k);
        for (int64_t k = x.end; k < x.size; ++k) add(k);
        for (int64_t k = 0; k < width; ++k) grad_in[line * width + k] = T(row[k]);
      }
    }
  });
}

}  // namespace

void pad(int64_t itemsize, const PadShape& s, const void* in, void* out) {
  switch (itemsize) {
    case 1: return pad_as<uint8_t>(s, in, out);
    case 2: return pad_as<uint16_t>(s, in, out);
    case 4: return pad_as<uint32_t>(s, in, out);
    default: return pad_as<uint64_t>(s, in, out);
  }
}

void pad_backward(DType dtype, const PadShape& s, const void* grad, void* grad_in) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    backward_as(s, static_cast<const T*>(grad), static_cast<T*>(grad_in));
  };
  switch (dtype) {
    case DType::Float16: return as(Half{});
    case DType::BFloat16: return as(BFloat16{});
    case DType::Float32: return as(float{});
    default: return as(double{});
  }
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
