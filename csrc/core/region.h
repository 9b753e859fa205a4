// Which bytes of its storage a tensor covers, and what they hold.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tensor.h"

namespace retrograd {

// Runs of bytes, counted from the start of the storage. Two tensors over the same bytes have equal regions, whatever their shapes.
struct Region {
  struct Dim {
    int64_t count, step;
    bool operator==(const Dim&) const = default;
  };
  int64_t begin = 0, end = 0;
  int64_t run = 0;        // bytes in a row; 0: no elements
  std::vector<Dim> dims;  // of runs, the largest step first

  bool operator==(const Region&) const = default;
  bool empty() const { return run == 0; }
  int64_t bytes() const;
};

Region region_of(const TensorImpl* t);  // of a tensor that has data
// Sure to have no byte in common. By ranges, by remainders (columns, real and imaginary parts), then run by run up to a million of them.
bool disjoint(const Region& a, const Region& b);

inline bool lies_in(const Region& r, const Storage* s) { return r.end <= static_cast<int64_t>(s->nbytes); }
uint64_t hash_region(const Region& r, const Storage* s);
void read_region(const Region& r, const Storage* s, char* to);       // bytes() of them
uint64_t hash_elements(const TensorImpl* t);                         // in the order of its elements, however they lie in memory
uint64_t hash_elements(const TensorImpl* t, const void* host_data);  // as if they lay there

// f(offset in the storage, offset among the bytes of the region), for each run.
template <class F> void for_each_run(const Region& r, F f) {
  if (r.empty()) return;
  std::vector<int64_t> index(r.dims.size());
  int64_t at = r.begin, read = 0;
  while (true) {
    f(at, read);
    read += r.run;
    size_t d = r.dims.size();
    for (; d > 0; --d) {
      const Region::Dim& dim = r.dims[d - 1];
      at += dim.step;
      if (++index[d - 1] < dim.count) break;
      at -= dim.count * dim.step;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace retrograd
