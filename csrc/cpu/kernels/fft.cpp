// Transforms along one dim of arrays: many lines at once in the lanes of vectors, or line by line where these are few, long, or of a length with
// a large prime factor.
#include "kernels/fft.h"
#include "cpu/isa.h"

#include "cpu/kernels/fft_line.h"
#include "cpu/kernels/lines.h"

namespace retrograd::cpu {
namespace RG_LEVEL_NS {
namespace {

enum Sort { C2C, R2C, C2R };

// The work at hand. Strides and offsets are counted in T.
template <class T> struct Task {
  Sort sort;
  Lines lines;  // of out and in
  int64_t n;    // the length of the transform
  int64_t in_count, out_count;
  int in_width, out_width;
  T *in, *out;
  T scale;
  bool forward;

  Task(Sort sort, const Array& out, const Array& in, int dim, bool forward = true, double scale = 1)
      : sort(sort),
        lines({&out, &in}, dim),
        in_count(in.sizes[dim]),
        out_count(out.sizes[dim]),
        in_width(sort == R2C ? 1 : 2),
        out_width(sort == C2R ? 1 : 2),
        in(in.ptr<T>()),
        out(out.ptr<T>()),
        scale(static_cast<T>(scale)),
        forward(forward) {
    n = sort == C2R ? out_count : in_count;
    if (sort == C2R) in_count = n / 2 + 1;
  }
  int64_t length() const { return sort == C2C ? n : real_length(n); }  // of the complex transform
  bool halved() const { return sort != C2C && n % 2 == 0; }

  // Lanes want lines enough to fill half of them, and their elements in the cache; where it is neighbours in other lines that lie together in
  // memory, a slower cache is still better than to fetch each line of it once for each element.
  bool in_lanes() const {
    const int64_t bytes = 4 * kBytes * n;
    const bool across = lines.stride[1] != 1 && lines.ndim > 0 && lines.dims[lines.ndim - 1].stride[1] == 1;
    return lines.lines >= kLanes<T> / 2 && bytes <= (across ? 16 << 20 : 1 << 20) && cached<Passes<T>>(length())->possible();
  }
  bool gathers() const { return (lines.stride[1] != 1 && in_count > 1) || (lines.stride[0] != 1 && out_count > 1); }
  // Of one line, with a copy of it and of its result where they do not lie together.
  int64_t line_workspace(const Line<T>& line) const {
    return (sort == C2C ? line.workspace() : real_workspace(line, n)) / 64 * 64 + 64 +
           (gathers() ? in_count * in_width + out_count * out_width : 0) * static_cast<int64_t>(sizeof(T));
  }
};

// The offsets of one line after the other, in elements.
class Cursor {
 public:
  Cursor(const Lines& lines, int64_t flat) : lines_(lines) {
    for (int d = lines.ndim - 1; d >= 0; --d) {
      index_[d] = flat % lines.dims[d].size;
      flat /= lines.dims[d].size;
      for (int i = 0; i < 2; ++i) at_[i] += index_[d] * lines.dims[d].stride[i];
    }
  }
  int64_t out() const { return at_[0]; }
  int64_t in() const { return at_[1]; }
  // How many lines from here on are this far apart.
  int64_t run() const { return lines_.ndim ? inner().size - index_[lines_.ndim - 1] : 1; }
  int64_t out_step() const { return lines_.ndim ? inner().stride[0] : 0; }
  int64_t in_step() const { return lines_.ndim ? inner().stride[1] : 0; }
  void advance(int64_t by) {  // at most run()
    for (int d = lines_.ndim - 1; d >= 0; --d, by = 1) {
      const Lines::Dim& dim = lines_.dims[d];
      for (int i = 0; i < 2; ++i) at_[i] += by * dim.stride[i];
      if ((index_[d] += by) < dim.size) break;
      for (int i = 0; i < 2; ++i) at_[i] -= dim.size * dim.stride[i];
      index_[d] = 0;
    }
  }

 private:
  const Lines::Dim& inner() const { return lines_.dims[lines_.ndim - 1]; }
  const Lines& lines_;
  int64_t index_[kMaxDims], at_[2] = {};
};

template <class T> void run_lanes(const Task<T>& t) {
  using V = Vector<T>;
  constexpr int lanes = kLanes<T>;
  const int64_t n = t.n, length = t.length(), h = n / 2;
  const auto passes = cached<Passes<T>>(length);
  const auto real = t.halved() ? cached<RealPlan<T>>(n) : nullptr;
  const int64_t grain = std::max<int64_t>(1, kPointsPerTask / (n * lanes));
  parallel_for(0, groups_of<T>(t.lines.lines), grain, [&](int64_t begin, int64_t end) {
    const int64_t room = 2 * (n + 2);  // a line has up to n elements, and one more where it was halved
    const Room memory(2 * room * kBytes);
    V *a = memory.as<V>(), *b = a + room;
    Cursor cursor(t.lines, begin * lanes);
    for (int64_t g = begin; g < end; ++g) {
      Group<T> in, out;
      in.count = out.count = static_cast<int>(std::min<int64_t>(lanes, t.lines.lines - g * lanes));
      in.step = t.lines.stride[1] * t.in_width;
      out.step = t.lines.stride[0] * t.out_width;
      for (int i = 0; i < in.count;) {
        const int64_t run = std::min<int64_t>(cursor.run(), in.count - i);
        T *const from = t.in + cursor.in() * t.in_width, *const to = t.out + cursor.out() * t.out_width;
        for (int64_t k = 0; k < run; ++k, ++i) {
          in.at[i] = from + k * cursor.in_step() * t.in_width;
          out.at[i] = to + k * cursor.out_step() * t.out_width;
        }
        cursor.advance(run);
      }
      for (int i = in.count; i < lanes; ++i) {
        in.at[i] = in.at[0];
        out.at[i] = out.at[0];
      }
      if (t.sort == C2C) {
        load_lanes<2>(a, in, n);
        V* const done = run<V>(*passes, a, b, a, nullptr, t.forward ? 0 : 1);
        store_lanes<2>(out, done, n, t.scale);
      } else if (t.sort == R2C) {
        load_lanes<1>(a, in, n);
        if (!t.halved()) {
          for (int64_t k = n - 1; k >= 0; --k) {
            a[2 * k] = a[k];
            a[2 * k + 1] = V{};
          }
        }
        V* const done = run<V>(*passes, a, b, a, nullptr, 0);
        if (t.halved()) {
          split_real(done, h, real->twiddles.data(), 0, h / 2 + 1);
        } else {
          done[1] = V{};
        }
        if (t.out_count == n) mirror(done, n);
        store_lanes<2>(out, done, t.out_count, t.scale);
      } else {
        load_lanes<2>(a, in, t.in_count);
        if (t.halved()) {
          join_real(a, a, h, real->twiddles.data(), 0, h / 2 + 1);
        } else {
          a[1] = V{};
          mirror(a, n);
        }
        V* const done = run<V>(*passes, a, b, a, nullptr, 1);
        if (!t.halved())
          for (int64_t k = 1; k < n; ++k) done[k] = done[2 * k];
        store_lanes<1>(out, done, n, t.scale);
      }
    }
  });
}

template <class T> void run_line(const Task<T>& t, const Line<T>& line, const RealPlan<T>* real, const T* in, T* out, char* work) {
  if (t.sort == C2C) return line.transform(in, out, t.forward, t.scale, work);
  if (t.sort == R2C) return line_r2c(line, real, in, out, t.n, t.out_count == t.n, t.scale, work);
  line_c2r(line, real, in, out, t.n, t.scale, work);
}

template <class T> void run_lines(const Task<T>& t, Workspace lent) {
  const auto line = cached<Line<T>>(t.length());
  const auto real = t.halved() ? cached<RealPlan<T>>(t.n) : nullptr;
  const bool gathers = t.gathers();
  const int64_t bytes = t.line_workspace(*line);
  const auto each = [&](int64_t begin, int64_t end, char* work) {
    Cursor cursor(t.lines, begin);
    T* const from = reinterpret_cast<T*>(work + bytes) - (gathers ? t.in_count * t.in_width + t.out_count * t.out_width : 0);
    T* const to = from + t.in_count * t.in_width;
    for (int64_t i = begin; i < end; ++i, cursor.advance(1)) {
      const T* const in = t.in + cursor.in() * t.in_width;
      T* const out = t.out + cursor.out() * t.out_width;
      if (!gathers) {
        run_line(t, *line, real.get(), in, out, work);
        continue;
      }
      for (int64_t k = 0; k < t.in_count; ++k)
        for (int c = 0; c < t.in_width; ++c) from[k * t.in_width + c] = in[k * t.lines.stride[1] * t.in_width + c];
      run_line(t, *line, real.get(), from, to, work);
      for (int64_t k = 0; k < t.out_count; ++k)
        for (int c = 0; c < t.out_width; ++c) out[k * t.lines.stride[0] * t.out_width + c] = to[k * t.out_width + c];
    }
  };
  if (t.n >= kLong) return each(0, t.lines.lines, static_cast<char*>(lent.data));
  parallel_for(0, t.lines.lines, std::max<int64_t>(1, kPointsPerTask / t.n), [&](int64_t begin, int64_t end) {
    const Room room(bytes);
    each(begin, end, room.as<char>());
  });
}

template <class F> void visit(DType dtype, F&& f) { real_dtype(dtype) == DType::Float64 ? f(double{}) : f(float{}); }

Sort sort_of(const Array& out, const Array& in) { return !is_complex(in.dtype) ? R2C : is_complex(out.dtype) ? C2C : C2R; }

int64_t workspace(const Array& out, const Array& in, int dim) {
  int64_t bytes = 0;
  visit(in.dtype, [&](auto zero) {
    const Task<decltype(zero)> task(sort_of(out, in), out, in, dim);
    if (task.n >= kLong && !task.in_lanes()) bytes = task.line_workspace(*cached<Line<decltype(zero)>>(task.length()));
  });
  return bytes;
}

void transform(const Array& out, const Array& in, int dim, bool forward, double scale, Workspace work) {
  visit(in.dtype, [&](auto zero) {
    const Task<decltype(zero)> task(sort_of(out, in), out, in, dim, forward, scale);
    task.in_lanes() ? run_lanes(task) : run_lines(task, work);
  });
}

void real_transform(const Array& out, const Array& in, int dim, double scale, Workspace work) {
  transform(out, in, dim, true, scale, work);
}

}  // namespace
}  // namespace RG_LEVEL_NS

RG_EXPORT_KERNELS(FftKernels, fft) = {
    .workspace = RG_LEVEL_NS::workspace,
    .c2c = RG_LEVEL_NS::transform,
    .r2c = RG_LEVEL_NS::real_transform,
    .c2r = RG_LEVEL_NS::real_transform,
};

}  // namespace retrograd::cpu
