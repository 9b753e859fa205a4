#include "cpu/kernels/reduce_plan.h"
#include "cpu/isa.h"

#include <cstdlib>

#include "cpu/iterate.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int64_t kBlockChunks = 32;      // chunks in a block, the smallest piece of one reduction that is given to a thread
constexpr int64_t kMaxBlocks = 256;       // long reductions get longer blocks, not more
constexpr int64_t kParallelWork = 65536;  // elements below which a thread is not worth waking
constexpr int64_t kTileRows = 64;         // rows reduced in T before their states are merged
constexpr int64_t kLoadTile = 256;        // columns and rows at once where they are converted into a buffer first
constexpr int64_t kLoadRows = 32;
constexpr int64_t kGroupWidth = 64;  // rows narrower than this are taken several at a time
constexpr int64_t kFewTasks = 8;     // fewer column tiles than this: split the rows as well
constexpr int64_t kRowBlocks = 16;
constexpr int64_t kFew = 512;  // elements that are converted into a buffer without a plan

constexpr int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
constexpr int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

struct Dim { int64_t size, in, out[2]; };

// Dims of size 1 dropped, the others in order of decreasing input stride and merged where they join.
struct Plan {
  int kept = 0, reduced = 0;
  int64_t outputs = 1, count = 1;
  Dim keep[kMaxDims], red[kMaxDims];
};

void insert_dim(Dim* dims, int& n, const Dim& d) {
  int i = n++;
  for (; i > 0 && dims[i - 1].in < d.in; --i) dims[i] = dims[i - 1];
  dims[i] = d;
}

void merge_dims(Dim* dims, int& n) {
  if (n < 2) return;
  int last = 0;
  for (int i = 1; i < n; ++i) {
    Dim& a = dims[last];
    const Dim& b = dims[i];
    if (a.in == b.in * b.size && a.out[0] == b.out[0] * b.size && a.out[1] == b.out[1] * b.size) {
      a = {a.size * b.size, b.in, {b.out[0], b.out[1]}};
    } else {
      dims[++last] = b;
    }
  }
  n = last + 1;
}

void make_plan(Plan& plan, const Array& in, const int64_t* out0, const int64_t* out1) {
  for (int d = 0; d < in.ndim; ++d) {
    const int64_t size = in.sizes[d];
    if (size == 1) continue;
    const bool reduced = out0[d] == 0;
    const Dim dim = {size, in.strides[d], {out0[d], out1[d]}};
    if (reduced) {
      plan.count *= size;
      insert_dim(plan.red, plan.reduced, dim);
    } else {
      plan.outputs *= size;
      insert_dim(plan.keep, plan.kept, dim);
    }
  }
  merge_dims(plan.keep, plan.kept);
  merge_dims(plan.red, plan.reduced);
}

struct State { alignas(8) char bytes[kMaxState]; };

// Merges states pairwise in the order they come, as the carries of a binary counter, so that rounding errors grow with the logarithm of
// their number.
class Cascade {
  const ReduceOp& op_;
  State level_[48];
  uint64_t count_ = 0;

 public:
  explicit Cascade(const ReduceOp& op) : op_(op) {}
  void add(State s) {
    int i = 0;
    for (uint64_t c = count_; c & 1; c >>= 1, ++i) {
      op_.merge(&level_[i], &s, 1);
      s = level_[i];
    }
    level_[i] = s;
    ++count_;
  }
  State total() {
    State s;
    if (count_ == 0) {
      op_.identity(&s, 1);
      return s;
    }
    int i = __builtin_ctzll(count_);
    s = level_[i];
    while (count_ >> ++i) {
      if (!(count_ >> i & 1)) continue;
      op_.merge(&level_[i], &s, 1);
      s = level_[i];
    }
    return s;
  }
};

class Reducer {
  const ReduceOp& op_;
  const Plan& plan_;
  const Array& in_;
  const Params& params_;
  const Target target_;
  const bool same_type_;
  const Load load_;
  const int64_t item_;

  const char* element(int64_t offset) const { return static_cast<const char*>(in_.data) + offset * item_; }

  // Elements [start, start + n) of the reduced dims, in the order of the plan, of the output whose input begins at `offset`.
  const void* elements(int64_t offset, int64_t start, int64_t n, void* buffer) const {
    const int last = plan_.reduced - 1;
    const Dim inner = plan_.reduced ? plan_.red[last] : Dim{1, 1, {0, 0}};
    if (plan_.reduced <= 1) {
      offset += start * inner.in;
      if (same_type_ && inner.in == 1) return element(offset);
      load_(in_.data, offset, inner.in, n, buffer);
      return buffer;
    }
    int64_t index[kMaxDims];
    for (int d = last; d >= 0; --d) {
      index[d] = start % plan_.red[d].size;
      start /= plan_.red[d].size;
      offset += index[d] * plan_.red[d].in;
    }
    const int64_t width = itemsize(op_.compute);
    for (int64_t done = 0;;) {
      const int64_t run = min(n - done, inner.size - index[last]);
      load_(in_.data, offset, inner.in, run, static_cast<char*>(buffer) + done * width);
      done += run;
      if (done == n) return buffer;
      offset -= index[last] * inner.in;
      index[last] = 0;
      for (int d = last - 1; d >= 0; --d) {
        offset += plan_.red[d].in;
        if (++index[d] < plan_.red[d].size) break;
        offset -= index[d] * plan_.red[d].in;
        index[d] = 0;
      }
    }
  }

  State reduce_chunks(int64_t offset, int64_t first, int64_t last) const {
    alignas(64) char buffer[kChunk * 8];
    if (last - first == 1) {
      const int64_t start = first * kChunk, n = min(kChunk, plan_.count - start);
      State s;
      op_.chunk(&s, elements(offset, start, n, buffer), n, start, params_);
      return s;
    }
    Cascade cascade(op_);
    for (int64_t c = first; c < last; ++c) {
      const int64_t start = c * kChunk, n = min(kChunk, plan_.count - start);
      State s;
      op_.chunk(&s, elements(offset, start, n, buffer), n, start, params_);
      cascade.add(s);
    }
    return cascade.total();
  }

  State reduce_blocks(int64_t offset, bool parallel) const {
    const int64_t chunks = ceil_div(plan_.count, kChunk);
    if (chunks <= kBlockChunks) return reduce_chunks(offset, 0, chunks);
    const int64_t size = max(kBlockChunks, ceil_div(chunks, kMaxBlocks)), blocks = ceil_div(chunks, size);
    State states[kMaxBlocks];
    parallel_for(0, blocks, parallel ? 1 : blocks, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) states[i] = reduce_chunks(offset, i * size, min(chunks, (i + 1) * size));
    });
    Cascade cascade(op_);
    for (int64_t i = 0; i < blocks; ++i) cascade.add(states[i]);
    return cascade.total();
  }

  // Where an index of the first `dims` kept dims lies in the input and in the outputs.
  struct Position {
    int64_t index[kMaxDims];
    int64_t in = 0;
    Target target;
  };
  void seek(Position& pos, int64_t flat, int dims) const {
    pos.target = target_;
    for (int d = dims - 1; d >= 0; --d) {
      const Dim& dim = plan_.keep[d];
      pos.index[d] = dims == 1 ? flat : flat % dim.size;
      if (dims > 1) flat /= dim.size;
      move(pos, dim, pos.index[d]);
    }
  }
  static void move(Position& pos, const Dim& dim, int64_t by) {
    pos.in += by * dim.in;
    pos.target.at[0] += by * dim.out[0];
    pos.target.at[1] += by * dim.out[1];
  }
  // Advances the last of `dims` kept dims by `by`, not past its end.
  void step(Position& pos, int dims, int64_t by) const {
    for (int d = dims - 1; d >= 0; --d, by = 1) {
      move(pos, plan_.keep[d], by);
      if ((pos.index[d] += by) < plan_.keep[d].size) return;
      move(pos, plan_.keep[d], -pos.index[d]);
      pos.index[d] = 0;
    }
  }

  void outputs(int64_t begin, int64_t end) const {
    Position pos;
    seek(pos, begin, plan_.kept);
    const bool direct = same_type_ && plan_.kept > 0 && plan_.reduced == 1 && plan_.red[0].in == 1 && plan_.count <= kChunk;
    const Dim inner = plan_.kept ? plan_.keep[plan_.kept - 1] : Dim{1, 0, {0, 0}};
    pos.target.step[0] = inner.out[0];
    pos.target.step[1] = inner.out[1];
    while (begin < end) {
      int64_t n = 1;
      if (direct) {
        n = min(end - begin, inner.size - pos.index[plan_.kept - 1]);
        op_.rows(element(pos.in), inner.in, n, plan_.count, pos.target, params_);
      } else {
        const State s = reduce_blocks(pos.in, false);
        op_.store(&s, 1, pos.target, params_);
      }
      begin += n;
      step(pos, plan_.kept, n);
    }
  }

  void by_rows() const {
    if (plan_.outputs >= kFewTasks || plan_.count <= kBlockChunks * kChunk) {
      parallel_for(0, plan_.outputs, max(1, kParallelWork / max(1, plan_.count)), [&](int64_t b, int64_t e) { outputs(b, e); });
      return;
    }
    Position pos;
    seek(pos, 0, plan_.kept);
    for (int64_t i = 0; i < plan_.outputs; ++i, step(pos, plan_.kept, 1)) {
      const State s = reduce_blocks(pos.in, true);
      op_.store(&s, 1, pos.target, params_);
    }
  }

  // Reduction down columns. The columns are the innermost kept dim. Where they are few and rows follow each other in memory, `group` rows
  // are taken as one wide row, and the states of a column's copies are merged at the end.
  struct Columns {
    int64_t columns, stride, group;  // stride: between columns
    int64_t rows, row_stride, wide;  // of the innermost reduced dim: its rows, and how many wide rows they make
    int64_t total;                   // wide rows over all reduced dims
    int64_t width, tile, tiles, tile_rows;
    int64_t tasks, blocks;  // tiles over all outputs, and the pieces that the rows are cut into
    bool direct;
  };

  // As many rows as make a width that is a multiple of the lanes of columns(), which then reads memory from end to end; or nearly.
  static int64_t group_of(int64_t columns) {
    int64_t group = kGroupWidth;
    for (int64_t c = columns; c % 2 == 0; c /= 2) group /= 2;
    return min(group, kLoadTile / columns);
  }

  Columns plan_columns() const {
    const Dim& kept = plan_.keep[plan_.kept - 1];
    const Dim red = plan_.reduced ? plan_.red[plan_.reduced - 1] : Dim{1, 0, {0, 0}};
    Columns c;
    c.columns = kept.size;
    c.stride = kept.in;
    c.rows = red.size;
    c.row_stride = red.in;
    c.direct = same_type_ && kept.in == 1;
    c.group = c.row_stride == c.columns * c.stride && c.columns < kGroupWidth && c.rows >= 16 ? group_of(c.columns) : 1;
    c.wide = ceil_div(c.rows, c.group);
    c.total = plan_.count / c.rows * c.wide;
    c.width = c.columns * c.group;
    c.tile = min(c.width, c.direct ? kTile : kLoadTile);
    c.tiles = ceil_div(c.width, c.tile);
    c.tile_rows = c.direct ? kTileRows : kLoadRows;
    c.tasks = plan_.outputs / c.columns * c.tiles;
    const bool split = c.tasks < kFewTasks && plan_.count * c.columns >= 2 * kParallelWork && c.total >= 2 * c.tile_rows;
    c.blocks = split ? min(kRowBlocks, c.total / c.tile_rows) : 1;
    return c;
  }

  // Reduces wide rows [begin, end) of columns [first, first + width) into states.
  void reduce_columns(const Columns& c, int64_t offset, int64_t first, int64_t width, int64_t begin, int64_t end, void* states) const {
    alignas(64) char buffer[kLoadRows * kLoadTile * 8];
    const int64_t complete = c.rows / c.group, stride = c.group * c.row_stride;
    bool first_rows = true;
    while (begin < end) {
      int64_t outer = begin / c.wide;
      const int64_t within = begin - outer * c.wide;
      int64_t at = offset + first * c.stride + within * stride;
      for (int d = plan_.reduced - 2; d >= 0; --d) {
        at += outer % plan_.red[d].size * plan_.red[d].in;
        outer /= plan_.red[d].size;
      }
      int64_t n = min(min(end - begin, complete - within), c.tile_rows), w = width;
      if (within == complete) n = 1, w = (c.rows - complete * c.group) * c.columns;  // the last wide row may be narrower
      if (first_rows && w < width) op_.identity(states, width), first_rows = false;
      if (c.direct) {
        op_.columns(states, first_rows, element(at), stride, static_cast<int>(n), static_cast<int>(w), begin, params_);
      } else {
        const int64_t row_bytes = kLoadTile * itemsize(op_.compute);
        for (int64_t r = 0; r < n; ++r) load_(in_.data, at + r * stride, c.stride, w, buffer + r * row_bytes);
        op_.columns(states, first_rows, buffer, kLoadTile, static_cast<int>(n), static_cast<int>(w), begin, params_);
      }
      begin += n;
      first_rows = false;
    }
  }

  void store_columns(const Columns& c, char* states, Target target, int64_t first, int64_t width) const {
    const Dim& dim = plan_.keep[plan_.kept - 1];
    if (c.group > 1) {
      op_.renumber(states, width, c.group, c.columns);
      for (int64_t g = 1; g < c.group; ++g) op_.merge(states, states + g * c.columns * op_.state_size, c.columns);
      width = c.columns;
    }
    for (int i = 0; i < 2; ++i) {
      target.at[i] += first * dim.out[i];
      target.step[i] = dim.out[i];
    }
    op_.store(states, width, target, params_);
  }

  void by_columns() const {
    const Columns c = plan_columns();
    const auto tile = [&](int64_t task, char* states, int64_t begin, int64_t end, bool store) {
      Position pos;
      const int64_t first = task % c.tiles * c.tile, width = min(c.tile, c.width - first);
      seek(pos, task / c.tiles, plan_.kept - 1);
      if (begin < end) reduce_columns(c, pos.in, first, width, begin, end, states);
      if (store) store_columns(c, states, pos.target, first, width);
    };
    if (c.blocks == 1) {
      const int64_t work = c.tile * c.total;
      parallel_for(0, c.tasks, max(1, kParallelWork / max(1, work)), [&](int64_t b, int64_t e) {
        alignas(64) char states[kTile * kMaxState];
        for (int64_t i = b; i < e; ++i) tile(i, states, 0, c.total, true);
      });
      return;
    }
    // Scratch: at most kFewTasks * kRowBlocks tiles of states.
    const int64_t bytes = c.tile * op_.state_size, block_rows = ceil_div(c.total, c.blocks);
    char* scratch = static_cast<char*>(std::malloc(static_cast<size_t>(c.tasks * c.blocks * bytes)));
    parallel_for(0, c.tasks * c.blocks, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        const int64_t begin = min(i % c.blocks * block_rows, c.total), end = min(begin + block_rows, c.total);
        if (begin == end) op_.identity(scratch + i * bytes, c.tile);
        tile(i / c.blocks, scratch + i * bytes, begin, end, false);
      }
    });
    for (int64_t i = 0; i < c.tasks; ++i) {
      char* states = scratch + i * c.blocks * bytes;
      for (int64_t b = 1; b < c.blocks; ++b) op_.merge(states, states + b * bytes, min(c.tile, c.width - i % c.tiles * c.tile));
      tile(i, states, 0, 0, true);
    }
    std::free(scratch);
  }

  bool columns_suit() const {
    if (plan_.kept == 0 || plan_.count == 0) return false;
    if (plan_.reduced == 0) return true;
    const Dim &kept = plan_.keep[plan_.kept - 1], &red = plan_.red[plan_.reduced - 1];
    if (kept.in >= red.in) return false;
    return kept.size >= 4 || (red.in == kept.in * kept.size && red.size >= 16);
  }

 public:
  Reducer(const ReduceOp& op, const Plan& plan, const Array& in, bool as_bool, const Params& params, const Target& target)
      : op_(op),
        plan_(plan),
        in_(in),
        params_(params),
        target_(target),
        same_type_(in.dtype == op.compute && !as_bool),
        load_(loader(in.dtype, op.compute, as_bool)),
        item_(itemsize(in.dtype)) {}

  void run() const {
    if (plan_.outputs == 0) return;
    if (columns_suit()) {
      by_columns();
    } else {
      by_rows();
    }
  }
};

// Contiguous memory whose innermost dims are reduced, the commonest of all, is rows side by side: where there is little of it, there is
// nothing to plan. False when it is something else.
[[gnu::always_inline]] inline bool reduce_small(const ReduceOp& op, Target& target, const int64_t* out0, const int64_t* out1,
                                                const Array& in, bool as_bool, Params& params) {
  int64_t n = 1, rows = 1;
  int d = in.ndim - 1;
  for (; d >= 0 && (out0[d] == 0 || in.sizes[d] == 1); --d) {
    if (in.sizes[d] != 1 && in.strides[d] != n) return false;
    n *= in.sizes[d];
  }
  if (n == 1 && d >= 0) return false;  // the innermost dim is kept
  for (; d >= 0; --d) {
    if (in.sizes[d] == 1) continue;
    if (in.strides[d] != rows * n || out0[d] != rows || out1[d] != rows) return false;
    rows *= in.sizes[d];
  }
  if (n == 0 || rows * n > kChunk) return false;
  const void* p = in.data;
  alignas(64) char buffer[kFew * 8];
  if (as_bool || in.dtype != op.compute) {
    if (rows * n > kFew) return false;
    loader(in.dtype, op.compute, as_bool)(p, 0, 1, rows * n, buffer);
    p = buffer;
  }
  params.count = static_cast<double>(n);
  target.step[0] = target.step[1] = 1;
  if (rows == 1) {
    State s;
    op.chunk(&s, p, n, 0, params);
    op.store(&s, 1, target, params);
  } else {
    op.rows(p, n, rows, n, target, params);
  }
  return true;
}

// Apart, for its frame is large.
[[gnu::noinline]] void reduce_planned(const ReduceOp& op, const Target& target, const int64_t* out0, const int64_t* out1, const Array& in,
                                      bool as_bool, Params& params) {
  Plan plan;
  make_plan(plan, in, out0, out1);
  params.count = static_cast<double>(plan.count);
  Reducer(op, plan, in, as_bool, params, target).run();
}

}  // namespace

void reduce(const ReduceOp& op, const Array& out0, const Array* out1, const Array& in, bool as_bool, Params& params) {
  Target target;
  target.data[0] = out0.data;
  target.dtype[0] = out0.dtype;
  if (out1) target.data[1] = out1->data, target.dtype[1] = out1->dtype;
  const int64_t* strides1 = out1 && out1->data ? out1->strides : out0.strides;
  if (reduce_small(op, target, out0.strides, strides1, in, as_bool, params)) return;
  reduce_planned(op, target, out0.strides, strides1, in, as_bool, params);
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
