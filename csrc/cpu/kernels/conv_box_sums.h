// The three sums of a convolution over boxes of positions. Local to each file that includes it (see isa.h).
#pragma once

#include "cpu/kernels/conv_boxes.h"
#include "cpu/kernels/conv_pack.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kBoxDepth = 144;  // channels and taps at a time: the weights that meet them stay in the first-level cache
constexpr int64_t kMostPositions = 384, kMostSums = 65536;

// ---- `out`, and remainder by remainder `in`.

int64_t tasks_of(const Gather& g) {
  return std::clamp<int64_t>(g.groups * g.batch * g.positions() * g.rows * g.channels * g.taps() / kWorthThread, 1, kTasks);
}

template <class T> struct SumPlan {
  int64_t width, depth;
  Boxes boxes;
  explicit SumPlan(const Gather& g) : width(box_width<T>(g.rows)), depth(g.channels * g.taps()), boxes(g, positions(g, width), kBoxDepth) {}
  static int64_t positions(const Gather& g, int64_t width) {
    const int64_t most = std::clamp<int64_t>(kMostSums / width, 32, kMostPositions), tasks = tasks_of(g);
    return std::clamp<int64_t>((g.batch * g.positions() * g.groups + tasks - 1) / tasks, kTall, most);
  }
  int64_t packed() const { return (depth + 1) * width; }  // elements of a group: weights in panels, and what sums start from
};

// Lanes have to be filled, sums long enough to be worth turning around, results neighbours, and copies smaller than columns.
template <class T> bool boxes_win(const Gather& g) {
  if (g.rows * 4 < box_width<T>(g.rows) * 3 || g.rows < kLanes<T> || g.channels * g.taps() < 128 || g.axis[2].out_step != 1) return false;
  const Boxes boxes = SumPlan<T>(g).boxes;
  const auto span = [&](int d) { return Copied(g.axis[d], boxes.size[d]).span; };
  return boxes.images * span(0) * span(1) * round_up(span(2), kLanes<T>) * 4 <= boxes.most_positions * g.taps() * 3;
}

template <class T> int64_t box_bytes(const Gather& g) {
  const SumPlan<T> plan(g);
  return round_up(g.groups * plan.packed() * static_cast<int64_t>(sizeof(T)), 64) +
         smaller(num_threads(), g.groups * plan.boxes.total()) * BoxMemory<T>::bytes(g, plan.boxes, plan.width);
}

template <class T> void sum_box(const Gather& g, const SumPlan<T>& plan, const Box& b, const T* in, const T* packed, T* out,
                                const BoxMemory<T>& memory) {
  const int64_t taps = g.taps(), count = b.positions(), width = plan.width;
  const T* const start = packed + plan.depth * width;
  position_table(b, plan.boxes.block_channels, memory.positions);
  tap_table(g, b, plan.boxes.block_channels, memory.taps);
  for (int64_t c = 0; c < g.channels; c += plan.boxes.block_channels) {
    const int64_t channels = smaller(plan.boxes.block_channels, g.channels - c);
    copy_box<T>(g, plan.boxes, b, in, g.groups * g.channels * g.in_plane(), c, channels, memory.copy);
    each_panel<T>(width, [&](int64_t j, int64_t columns, auto multiply) {
      multiply(count, memory.copy, memory.positions, memory.taps, channels * taps, packed + j * plan.depth + c * taps * columns, columns,
               memory.beside + j, width, c == 0 ? start + j : nullptr);
    });
  }
  const int64_t plane = g.out_plane(), item = sizeof(T);
  each_run(g, b, [&](int64_t position, int64_t image, int64_t place, int64_t length) {
    transpose<T>(reinterpret_cast<char*>(out + image * g.groups * g.rows * plane + place), plane * item,
                 reinterpret_cast<const char*>(memory.beside + position * width), width * item, g.rows, length);
  });
}

template <class T> void run_boxes(const Gather& g, const T* in, const T* weight, const T* bias, T* out, Workspace work) {
  const SumPlan<T> plan(g);
  T* const packed = static_cast<T*>(work.data);
  const int64_t panels = (plan.width + kPanel<T> - 1) / kPanel<T>;
  parallel_for(0, g.groups * panels, larger(1, kWorthThread / 4 / (plan.depth * kPanel<T>)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / panels, row = i % panels * kPanel<T>, rows = smaller(kPanel<T>, g.rows - row);
      T* const to = packed + group * plan.packed();
      for (int64_t r = 0, step; r < rows; r += step) {
        step = panel_width<T>(plan.width - row - r);
        pack_rows<T>(g, weight + group * g.weight_group, row + r, smaller(step, rows - r), step, to + (row + r) * plan.depth);
      }
      T* const start = to + plan.depth * plan.width;
      for (int64_t r = row; r < smaller(plan.width, row + kPanel<T>); ++r) start[r] = bias && r < g.rows ? bias[group * g.rows + r] : T(0);
    }
  });
  const int64_t shared = round_up(g.groups * plan.packed() * static_cast<int64_t>(sizeof(T)), 64),
                each = BoxMemory<T>::bytes(g, plan.boxes, plan.width), boxes = plan.boxes.total();
  Slots slots(static_cast<char*>(work.data) + shared, each, (work.bytes - shared) / each);
  const int64_t grain = larger(1, kWorthThread / larger(1, plan.boxes.most_positions * plan.depth * g.rows));
  parallel_for(0, g.groups * boxes, grain, [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    const BoxMemory<T> memory(plan.boxes, plan.width, slot.data);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / boxes;
      sum_box<T>(g, plan, plan.boxes.at(g, i % boxes), in + group * g.channels * g.in_plane(), packed + group * plan.packed(),
                 out + group * g.rows * g.out_plane(), memory);
    }
  });
}

// ---- The weights.

template <class T> struct WeightPlan {
  int64_t width, wanted;
  Boxes boxes;
  int64_t parts, chunks;  // blocks of channels; sums over some of the boxes, added in the end
  explicit WeightPlan(const Gather& g)
      : width(box_width<T>(g.rows)),
        wanted(larger(1, tasks_of(g) * smaller(g.channels, larger(1, kBoxDepth / g.taps())) / (g.channels * g.groups))),
        boxes(g, std::clamp<int64_t>((g.batch * g.positions() + wanted - 1) / wanted, kPanel<T>, 256), kBoxDepth),
        parts((g.channels + boxes.block_channels - 1) / boxes.block_channels),
        chunks(smaller(wanted, boxes.total())) {}
};

template <class T> int64_t weight_bytes(const Gather& g) {
  const WeightPlan<T> plan(g);
  return round_up(plan.chunks * g.groups * g.channels * g.taps() * plan.width * static_cast<int64_t>(sizeof(T)), 64) +
         smaller(num_threads(), g.groups * plan.parts * plan.chunks) * BoxMemory<T>::bytes(g, plan.boxes, plan.width);
}

// [position][channel] of `out`; what is past the last channel is zero.
template <class T> void turn_box(const Gather& g, const Box& b, const T* out, int64_t width, T* to) {
  const int64_t plane = g.out_plane();
  each_run(g, b, [&](int64_t position, int64_t image, int64_t place, int64_t length) {
    transpose<T>(reinterpret_cast<char*>(to + position * width), width * static_cast<int64_t>(sizeof(T)),
                 reinterpret_cast<const char*>(out + image * g.groups * g.rows * plane + place), plane * static_cast<int64_t>(sizeof(T)),
                 length, g.rows);
  });
  for (int64_t i = 0; g.rows < width && i < b.positions(); ++i)
    for (int64_t j = g.rows; j < width; ++j) to[i * width + j] = T(0);
}

// Blocks of channels, and the channels of `out` in each, have a task for each chunk of boxes.
template <class T> void run_weight(const Gather& g, const T* in, const T* out, T* weight, Workspace work) {
  const WeightPlan<T> plan(g);
  const int64_t taps = g.taps(), width = plan.width, partial = g.channels * taps * width, boxes = plan.boxes.total();
  T* const partials = static_cast<T*>(work.data);
  const int64_t shared = round_up(plan.chunks * g.groups * partial * static_cast<int64_t>(sizeof(T)), 64),
                each = BoxMemory<T>::bytes(g, plan.boxes, width);
  Slots slots(static_cast<char*>(work.data) + shared, each, (work.bytes - shared) / each);
  const T zeros[kPanel<T>] = {};
  const int64_t tasks = g.groups * plan.parts * plan.chunks;
  const int64_t grain = larger(1, kWorthThread / larger(1, partial * g.batch * g.positions() * g.groups / tasks));
  parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    const BoxMemory<T> memory(plan.boxes, width, slot.data);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t chunk = i / (g.groups * plan.parts), group = i / plan.parts % g.groups, c = i % plan.parts * plan.boxes.block_channels;
      const int64_t channels = smaller(plan.boxes.block_channels, g.channels - c);
      T* const sums = partials + (chunk * g.groups + group) * partial + c * taps * width;
      const int64_t from = boxes * chunk / plan.chunks, to = boxes * (chunk + 1) / plan.chunks;
      for (int64_t k = from; k < to; ++k) {
        const Box b = plan.boxes.at(g, k);
        position_table(b, plan.boxes.block_channels, memory.positions);
        tap_table(g, b, channels, memory.taps);
        copy_box<T>(g, plan.boxes, b, in + group * g.channels * g.in_plane(), g.groups * g.channels * g.in_plane(), c, channels,
                    memory.copy);
        turn_box<T>(g, b, out + group * g.rows * g.out_plane(), width, memory.beside);
        each_panel<T>(width, [&](int64_t j, int64_t, auto multiply) {
          multiply(channels * taps, memory.copy, memory.taps, memory.positions, b.positions(), memory.beside + j, width, sums + j, width,
                   k == from ? zeros : nullptr);
        });
      }
    }
  });
  parallel_for(0, g.groups * plan.parts, larger(1, kWorthThread / larger(1, partial / plan.parts)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / plan.parts, first = i % plan.parts * plan.boxes.block_channels * taps,
                    rows = smaller(plan.boxes.block_channels * taps, g.channels * taps - first);
      T* const sums = partials + group * partial + first * width;
      for (int64_t chunk = 1; chunk < plan.chunks; ++chunk) {
        const T* more = sums + chunk * g.groups * partial;
        for (int64_t k = 0; k < rows * width; ++k) sums[k] += more[k];
      }
      transpose<T>(reinterpret_cast<char*>(weight + group * g.weight_group + first), g.channels * taps * static_cast<int64_t>(sizeof(T)),
                   reinterpret_cast<const char*>(sums), width * static_cast<int64_t>(sizeof(T)), g.rows, rows);
    }
  });
}

}  // namespace
}  // namespace retrograd::cpu
