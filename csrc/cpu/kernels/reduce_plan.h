// The driver under every reduction. Internal to kernels/; the conventions for callers are in kernels/reduce.h.
//
// A reduction is an Op, a struct of static functions with
//   T, State                           the type it computes in, and what two parts of the input are merged as
//   State identity()
//   State merge(State earlier, State later)
//   State chunk(const T* p, int64_t n, int64_t index, Params)    reduces up to kChunk adjacent elements, the first being number `index`
//   void columns(State*, bool first, const T* p, int64_t stride, int rows, int width, int64_t index, Params)   merges rows into the states of
//                                      their columns, or sets those when they are the first
//   State renumber(State, group, place)   index -> index * group + place, for states that hold one
//   void store(const State*, int64_t n, Target, Params)
//   void short_rows(...)               optional: many rows of a few elements each
// It is compiled into a ReduceOp, a table of functions on arrays of states, so there is one driver and not one for each Op and dtype.
//
// The driver feeds it from memory of any dtype and stride. Rows whose innermost stride belongs to a reduced dim go through chunk();
// where a kept dim is innermost it vectorises across it with columns(). Both cut the work at places that depend on the geometry
// alone and merge the pieces in a fixed order, so threads change nothing but the time.
#pragma once

#include <cstdint>

#include "cpu/kernels/load.h"
#include "kernels/array.h"

namespace retrograd::cpu::RG_LEVEL_NS {

struct Params {
  double p = 0;           // exponent of a norm
  double correction = 0;  // of a variance
  double count = 0;       // elements per output, set by the driver
  bool take_sqrt = false;
};

// Up to two outputs: the element at offset `at` comes next, those of the following states `step` apart.
struct Target {
  void* data[2] = {nullptr, nullptr};
  DType dtype[2] = {DType::Float32, DType::Float32};
  int64_t at[2] = {0, 0};
  int64_t step[2] = {0, 0};
};

struct ReduceOp {
  DType compute;
  int64_t state_size;  // at most kMaxState
  void (*identity)(void* states, int64_t n);
  void (*merge)(void* earlier, const void* later, int64_t n);  // into `earlier`
  void (*chunk)(void* state, const void* p, int64_t n, int64_t index, const Params& params);
  void (*rows)(const void* p, int64_t stride, int64_t rows, int64_t n, Target& out, const Params& params);  // a whole reduction each
  void (*columns)(void* states, bool first, const void* p, int64_t stride, int rows, int width, int64_t index, const Params& params);
  void (*renumber)(void* states, int64_t n, int64_t group, int64_t columns);
  void (*store)(const void* states, int64_t n, const Target& out, const Params& params);
};

// out1 may be nullptr or have no data. as_bool replaces each element by whether it is nonzero.
void reduce(const ReduceOp& op, const Array& out0, const Array* out1, const Array& in, bool as_bool, Params& params);

namespace {

constexpr int64_t kMaxState = 24;
constexpr int64_t kChunk = 4096;    // elements reduced in lanes of T before their State is merged
constexpr int kTile = 1024;         // columns at once
constexpr int64_t kRowBatch = 128;  // outputs of short rows between two calls of store()

template <class Op> struct Erased {
  using T = typename Op::T;
  using State = typename Op::State;
  static_assert(sizeof(State) <= kMaxState);

  static void identity(void* states, int64_t n) {
    State* s = static_cast<State*>(states);
    for (int64_t i = 0; i < n; ++i) s[i] = Op::identity();
  }
  static void merge(void* earlier, const void* later, int64_t n) {
    State* __restrict a = static_cast<State*>(earlier);
    const State* __restrict b = static_cast<const State*>(later);
    for (int64_t i = 0; i < n; ++i) a[i] = Op::merge(a[i], b[i]);
  }
  static void chunk(void* state, const void* p, int64_t n, int64_t index, const Params& params) {
    *static_cast<State*>(state) = Op::chunk(static_cast<const T*>(p), n, index, params);
  }
  static void rows(const void* p, int64_t stride, int64_t rows, int64_t n, Target& out, const Params& params) {
    State states[kRowBatch];
    const int64_t at[2] = {out.at[0], out.at[1]};
    for (int64_t r = 0; r < rows; r += kRowBatch) {
      const int64_t count = rows - r < kRowBatch ? rows - r : kRowBatch;
      const T* first = static_cast<const T*>(p) + r * stride;
      bool done = false;
      if constexpr (requires { Op::short_rows(states, first, stride, count, n); }) {
        if (n < 8 && count >= 8) {
          Op::short_rows(states, first, stride, count, n);
          done = true;
        }
      }
      if (!done)
        for (int64_t i = 0; i < count; ++i) states[i] = Op::chunk(first + i * stride, n, 0, params);
      Op::store(states, count, out, params);
      out.at[0] += count * out.step[0];
      out.at[1] += count * out.step[1];
    }
    out.at[0] = at[0];
    out.at[1] = at[1];
  }
  static void columns(void* states, bool first, const void* p, int64_t stride, int rows, int width, int64_t index, const Params& params) {
    Op::columns(static_cast<State*>(states), first, static_cast<const T*>(p), stride, rows, width, index, params);
  }
  static void renumber(void* states, int64_t n, int64_t group, int64_t columns) {
    State* s = static_cast<State*>(states);
    for (int64_t i = 0; i < n; ++i) s[i] = Op::renumber(s[i], group, i / columns);
  }
  static void store(const void* states, int64_t n, const Target& out, const Params& params) {
    Op::store(static_cast<const State*>(states), n, out, params);
  }
};

template <class Op> constexpr ReduceOp kReduceOp = {
    .compute = DTypeOf<typename Op::T>::value,
    .state_size = sizeof(typename Op::State),
    .identity = Erased<Op>::identity,
    .merge = Erased<Op>::merge,
    .chunk = Erased<Op>::chunk,
    .rows = Erased<Op>::rows,
    .columns = Erased<Op>::columns,
    .renumber = Erased<Op>::renumber,
    .store = Erased<Op>::store,
};

// The entry of every reduction.
template <class Op> void reduce_with(const Array& out0, const Array* out1, const Array& in, Params params = {}, bool as_bool = false) {
  using T = typename Op::T;
  // All of a small row, the commonest of all: there is nothing to find out.
  if (in.ndim == 1 && in.strides[0] == 1 && out0.strides[0] == 0 && in.sizes[0] <= kChunk && in.dtype == DTypeOf<T>::value && !as_bool) {
    Target target;
    target.data[0] = out0.data;
    target.dtype[0] = out0.dtype;
    if (out1) target.data[1] = out1->data, target.dtype[1] = out1->dtype;
    params.count = static_cast<double>(in.sizes[0]);
    const typename Op::State state = Op::chunk(in.ptr<T>(), in.sizes[0], 0, params);
    return Op::store(&state, 1, target, params);
  }
  reduce(kReduceOp<Op>, out0, out1, in, as_bool, params);
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
