// Sums over taps with few rows: columns of what the taps meet, a panel of positions at a time, multiplied by the weights in registers. Lanes are
// positions. Nothing larger than a few panels is ever laid out in memory. Local to each file that includes it (see isa.h).
#pragma once

#include <algorithm>

#include "cpu/kernels/conv_pack.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kDepth = 192;          // rows of a panel: it stays in the first-level cache
constexpr int64_t kMostColumns = 65536;  // elements of a block of panels: it stays in the second-level cache

// How the work is cut up; by the sizes alone.
struct ColumnPlan {
  int64_t depth;           // channels * taps
  int64_t block_channels;  // at a time
  int64_t block;           // positions at a time
  int64_t blocks;          // for each group
  int64_t packed;          // elements of the weights of a group, packed
  int64_t slot_elements;
};

template <class T> ColumnPlan column_plan(const Gather& g) {
  ColumnPlan p;
  const int64_t taps = g.taps(), positions = g.batch * g.positions();
  p.depth = g.channels * taps;
  p.block_channels = smaller(g.channels, larger(1, kDepth / taps));
  const int64_t rows = p.block_channels * taps;
  const int64_t most = larger(kPanel<T>, kMostColumns / rows / kPanel<T> * kPanel<T>);
  p.block = std::clamp(round_up((positions * g.groups + kTasks - 1) / kTasks, kPanel<T>), int64_t{kPanel<T>}, most);
  p.block = smaller(p.block, round_up(positions, kPanel<T>));
  p.blocks = (positions + p.block - 1) / p.block;
  p.packed = round_up(g.rows, kTall) * p.depth;
  p.slot_elements = round_up(rows * p.block + g.rows * p.block, 16);
  return p;
}

// The weights of a group as panel_times wants them: tiles of rows, [channel and tap][row] each.
template <class T> void pack_tiles(const Gather& g, const ColumnPlan& plan, const T* weight, T* out) {
  for (int64_t i = 0; i < g.rows; i += kTall) {
    const int64_t rows = smaller(kTall, g.rows - i);
    pack_rows<T>(g, weight, i, rows, tail_rows(rows), out + i * plan.depth);
  }
}

// Where a position is written, from the start of its row.
int64_t place_of(const Gather& g, const Run& run) {
  int64_t at = 0;
  for (int d = 0; d < 3; ++d) at = at * g.axis[d].out + g.axis[d].out_start + run.j[d] * g.axis[d].out_step;
  return at;
}

template <class T> void column_block(const Gather& g, const ColumnPlan& plan, int64_t group, int64_t q, const T* in, const T* packed,
                                     const T* bias, T* out, T* scratch) {
  const int64_t taps = g.taps(), positions = g.positions(), total = g.batch * positions, count = smaller(plan.block, total - q);
  const int64_t in_plane = g.in_plane(), out_plane = g.out_plane(), in_image = g.groups * g.channels * in_plane,
                out_image = g.groups * g.rows * out_plane;
  const bool dense = g.dense();
  T* const cols = scratch;
  T* const sums = scratch + plan.block_channels * taps * plan.block;  // [panel][row][kPanel], for what is not written at once
  const T* group_in = in + group * g.channels * in_plane;
  T* group_out = out + group * g.rows * out_plane;
  const T* group_bias = bias ? bias + group * g.rows : nullptr;
  const auto at_once = [&](int64_t column) {
    return dense && count - column >= kPanel<T> && (q + column) % positions + kPanel<T> <= positions;
  };
  for (int64_t c = 0; c < g.channels; c += plan.block_channels) {
    const int64_t channels = smaller(plan.block_channels, g.channels - c), depth = channels * taps;
    columns<T>(g, group_in, in_image, c, channels, q, count, cols);
    for (int64_t column = 0; column < count; column += kPanel<T>) {
      T* to = sums + column * g.rows;
      int64_t ld = kPanel<T>;
      if (at_once(column)) {
        to = group_out + (q + column) / positions * out_image + (q + column) % positions;
        ld = out_plane;
      }
      // The last tile is narrower: its block of channels starts elsewhere.
      const int64_t full = g.rows / kTall * kTall, rest = g.rows - full;
      const auto multiply = count <= kLanes<T> ? panel_times<T, 1, kLongRun> : panel_times<T, kWide, kLongRun>;
      const T* a = packed + c * taps * kTall;
      if (full) multiply(full, depth, a, plan.depth * kTall, cols + column * depth, to, ld, c == 0, group_bias);
      if (rest) {
        a = packed + full * plan.depth + c * taps * tail_rows(rest);
        multiply(rest, depth, a, 0, cols + column * depth, to + full * ld, ld, c == 0, group_bias ? group_bias + full : nullptr);
      }
    }
  }
  for (int64_t column = 0; column < count; column += kPanel<T>) {
    if (at_once(column)) continue;
    Run runs[kPanel<T>];
    const int n = find_runs(g, q + column, smaller(kPanel<T>, count - column), runs);
    for (int r = 0; r < n; ++r) {
      const int64_t step = g.axis[2].out_step;
      T* d = group_out + runs[r].image * out_image + place_of(g, runs[r]);
      const T* s = sums + column * g.rows + runs[r].column;
      for (int64_t row = 0; row < g.rows; ++row, d += out_plane, s += kPanel<T>) store_apart<T>(d, s, runs[r].length, step);
    }
  }
}

template <class T> void run_columns(const Gather& g, const T* in, const T* weight, const T* bias, T* out, Workspace work) {
  const ColumnPlan plan = column_plan<T>(g);
  T* packed = static_cast<T*>(work.data);
  parallel_for(0, g.groups, larger(1, kWorthThread / larger(1, plan.packed)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_tiles<T>(g, plan, weight + i * g.weight_group, packed + i * plan.packed);
  });
  const int64_t shared = round_up(g.groups * plan.packed * static_cast<int64_t>(sizeof(T)), 64),
                each = plan.slot_elements * static_cast<int64_t>(sizeof(T));
  Slots slots(static_cast<char*>(work.data) + shared, each, (work.bytes - shared) / each);
  const int64_t grain = larger(1, kWorthThread / larger(1, plan.block * plan.depth * g.rows));
  parallel_for(0, g.groups * plan.blocks, grain, [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / plan.blocks;
      column_block<T>(g, plan, group, i % plan.blocks * plan.block, in, packed + group * plan.packed, bias, out,
                      reinterpret_cast<T*>(slot.data));
    }
  });
}

template <class T> int64_t column_bytes(const Gather& g) {
  const ColumnPlan plan = column_plan<T>(g);
  const int64_t slots = smaller(num_threads(), g.groups * plan.blocks);
  return round_up(g.groups * plan.packed * static_cast<int64_t>(sizeof(T)), 64) +
         slots * plan.slot_elements * static_cast<int64_t>(sizeof(T));
}

}  // namespace
}  // namespace retrograd::cpu
