// Copying the elements of an image from places that tables name, and memory for such tables.
// Included by kernel files only; everything is local to the file (see isa.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "cpu/isa.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a task
constexpr int64_t kShort = 12;     // elements of a row that are copied sooner than memmove() is called

// Memory that is all zero: the tables of a small image within the object, others on the heap. (Containers of the library would be merged across levels.)
template <class T> class Zeros {
 public:
  explicit Zeros(int64_t n) : data_(few_) {
    if (n <= kFew) return;
    data_ = static_cast<T*>(std::calloc(static_cast<size_t>(n), sizeof(T)));
    if (!data_) throw std::bad_alloc();
  }
  ~Zeros() { release(); }
  Zeros(Zeros&& o) noexcept { take(o); }
  Zeros& operator=(Zeros&& o) noexcept {
    if (this == &o) return *this;
    release();
    take(o);
    return *this;
  }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  static constexpr int64_t kFew = 128 / sizeof(T);

  void release() {
    if (data_ != few_) std::free(data_);
  }
  void take(Zeros& o) {
    const bool inside = o.data_ == o.few_;
    if (inside) std::copy(o.few_, o.few_ + kFew, few_);
    data_ = inside ? few_ : std::exchange(o.data_, o.few_);
  }

  T* data_;
  T few_[kFew] = {};
};

// [outer, depth, height, width, inner] from the elements at place[axis][index].
struct Places {
  int64_t outer, inner, from[3], to[3];
  const int32_t* place[3];
};

// Counts lines of [outer, depth, height] without dividing at each.
struct Line {
  int64_t plane, z, y, deep, high;
  Line(int64_t line, int64_t deep_, int64_t high_)
      : plane(line / (deep_ * high_)), z(line / high_ % deep_), y(line % high_), deep(deep_), high(high_) {}
  void next() {
    if (++y < high) return;
    y = 0;
    if (++z < deep) return;
    z = 0;
    ++plane;
  }
};

// A row that is the same as the one before is copied whole, and so are places that follow one another: elements [run, run_end) of a row.
template <class T> void copy_places(const Places& s, const T* in, T* out, int64_t run = 0, int64_t run_end = 0) {
  const int64_t inner = s.inner, width = s.to[2] * inner, lines = s.outer * s.to[0] * s.to[1];
  const int32_t* from = s.place[2];
  parallel_for(0, lines, std::max<int64_t>(1, kGrain / width), [&](int64_t begin, int64_t end) {
    const T* last = nullptr;
    Line at(begin, s.to[0], s.to[1]);
    for (int64_t line = begin; line < end; ++line, at.next()) {
      const T* row = in + ((at.plane * s.from[0] + s.place[0][at.z]) * s.from[1] + s.place[1][at.y]) * s.from[2] * inner;
      T* to = out + line * width;
      const auto single = [&](int64_t x, int64_t x_end) {
        if (inner == 1) {
          for (; x < x_end; ++x) to[x] = row[from[x]];
        } else {
          for (; x < x_end; ++x)
            for (int64_t c = 0; c < inner; ++c) to[x * inner + c] = row[from[x] * inner + c];
        }
      };
      if (width <= kShort) {
        single(0, s.to[2]);
      } else if (row == last) {
        std::copy(to - width, to, to);
      } else {
        single(0, run);
        if (run < run_end) std::copy(row + from[run] * inner, row + (from[run] + run_end - run) * inner, to + run * inner);
        single(run_end, s.to[2]);
      }
      last = row;
    }
  });
}

}  // namespace
}  // namespace retrograd::cpu
