// The general way: columns of what the taps meet, a panel of positions at a time, multiplied by the weights in registers. Nothing larger
// than a few panels is ever laid out in memory.
#include "kernels/conv.h"
#include "cpu/isa.h"

#include <algorithm>

#include "cpu/kernels/conv_depthwise.h"
#include "cpu/kernels/conv_few.h"
#include "cpu/kernels/conv_fold.h"
#include "cpu/kernels/conv_tiles.h"
#include "cpu/kernels/conv_winograd.h"
#include "cpu/parallel.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kDepth = 192;          // rows of a panel: it stays in the first-level cache
constexpr int64_t kMostColumns = 65536;  // elements of a block of panels: it stays in the second-level cache
constexpr int64_t kGrain = 128 * 1024;   // multiply-adds worth a thread
constexpr int64_t kTasks = 16;           // at least so many, where there is enough work

// ---- A sum over taps, for `out` and, remainder by remainder, for `in`.

Gather gather_out(const ConvShape& s) {
  Gather g{
      s.batch, s.groups, s.in_channels, s.out_channels, {}, s.in_channels * s.taps(), s.taps(), s.out_channels * s.in_channels * s.taps(),
      {}};
  for (int d = 0; d < 3; ++d) {
    g.axis[d] = {s.in[d], s.out[d], s.out[d], s.stride[d], 1, 0, s.kernel[d], 0, 1, -s.padding[d], s.dilation[d]};
    g.kernel[d] = s.kernel[d];
  }
  return g;
}

// in[i] with i = r + j * stride sums out[(i + padding - k * dilation) / stride] over the k that divide: every tap_step-th one.
// False when there is none.
bool remainder_axis(const ConvShape& s, int d, int64_t r, Axis* axis) {
  const int64_t stride = s.stride[d], dilation = s.dilation[d];
  int64_t gcd = stride, other = dilation % stride;
  while (other) {
    const int64_t t = gcd % other;
    gcd = other;
    other = t;
  }
  const int64_t tap_step = stride / gcd;
  int64_t first = 0;
  while (first < smaller(tap_step, s.kernel[d]) && (r + s.padding[d] - first * dilation) % stride) ++first;
  if (first == smaller(tap_step, s.kernel[d]) || r >= s.in[d]) return false;
  *axis = {s.out[d],
           s.in[d],
           (s.in[d] - r + stride - 1) / stride,
           1,
           stride,
           r,
           (s.kernel[d] - first + tap_step - 1) / tap_step,
           first,
           tap_step,
           (r + s.padding[d] - first * dilation) / stride,
           -tap_step * dilation / stride};
  return true;
}

// Calls f(Gather) for every remainder of each axis that some tap reaches; tells whether they are all.
template <class F> bool for_each_remainder(const ConvShape& s, F&& f) {
  Gather g{s.batch, s.groups, s.out_channels,           s.in_channels,
           {},      s.taps(), s.in_channels * s.taps(), s.out_channels * s.in_channels * s.taps(),
           {}};
  for (int d = 0; d < 3; ++d) g.kernel[d] = s.kernel[d];
  bool all = true;
  const auto most = [&](int d) { return smaller(s.stride[d], s.in[d]); };
  for (int64_t x = 0; x < most(0); ++x) {
    if (!remainder_axis(s, 0, x, &g.axis[0])) {
      all = false;
      continue;
    }
    for (int64_t y = 0; y < most(1); ++y) {
      if (!remainder_axis(s, 1, y, &g.axis[1])) {
        all = false;
        continue;
      }
      for (int64_t z = 0; z < most(2); ++z) {
        if (remainder_axis(s, 2, z, &g.axis[2])) {
          f(g);
        } else {
          all = false;
        }
      }
    }
  }
  return all;
}

// How the work is cut up; by the sizes alone.
struct Plan {
  int64_t depth;           // channels * taps
  int64_t block_channels;  // at a time
  int64_t block;           // positions at a time
  int64_t blocks;          // for each group
  int64_t packed;          // elements of the weights of a group, packed
  int64_t slot_elements;
};

template <class T> Plan plan_of(const Gather& g) {
  Plan p;
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

// The weights of a group as panel_times wants them, rows of `depth` = (channel, tap).
template <class T> void pack_weight(const Gather& g, const T* weight, T* out) {
  const int64_t taps = g.taps();
  bool all = true;  // taps, in their order
  for (int d = 0; d < 3; ++d) all = all && g.axis[d].taps == g.kernel[d] && g.axis[d].tap_step == 1;
  constexpr int64_t item = sizeof(T);
  for (int64_t i = 0; i < g.rows; i += kTall) {
    const int64_t rows = smaller(kTall, g.rows - i), width = tail_rows(rows);
    if (all && rows == width) {
      const int64_t at_once = g.weight_channel == taps ? g.channels : 1;
      for (int64_t c = 0; c < g.channels; c += at_once, out += at_once * taps * width)
        transpose<T>(reinterpret_cast<char*>(out), width * item,
                     reinterpret_cast<const char*>(weight + i * g.weight_row + c * g.weight_channel), g.weight_row * item, at_once * taps,
                     width);
      continue;
    }
    for (int64_t c = 0; c < g.channels; ++c)
      for (int64_t x = 0; x < g.axis[0].taps; ++x)
        for (int64_t y = 0; y < g.axis[1].taps; ++y)
          for (int64_t z = 0; z < g.axis[2].taps; ++z, out += width) {
            const auto tap = [&](int d, int64_t n) { return g.axis[d].tap + n * g.axis[d].tap_step; };
            const T* from =
                weight + i * g.weight_row + c * g.weight_channel + (tap(0, x) * g.kernel[1] + tap(1, y)) * g.kernel[2] + tap(2, z);
            for (int64_t r = 0; r < width; ++r) out[r] = r < rows ? from[r * g.weight_row] : T(0);
          }
  }
}

// Where a position is written, from the start of its row.
int64_t place_of(const Gather& g, const Run& run) {
  int64_t at = 0;
  for (int d = 0; d < 3; ++d) at = at * g.axis[d].out + g.axis[d].out_start + run.j[d] * g.axis[d].out_step;
  return at;
}

template <class T> void one_block(const Gather& g, const Plan& plan, int64_t group, int64_t q, const T* in, const T* packed, const T* bias,
                                  T* out, T* scratch) {
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
      const auto multiply = count <= kLanes<T> ? panel_times<T, 1> : panel_times<T, kWide>;
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
      for (int64_t row = 0; row < g.rows; ++row, d += out_plane, s += kPanel<T>)
        for (int64_t l = 0; l < runs[r].length; ++l) d[l * step] = s[l];
    }
  }
}

template <class T> void run(const Gather& g, const T* in, const T* weight, const T* bias, T* out, Workspace work) {
  const Plan plan = plan_of<T>(g);
  T* packed = static_cast<T*>(work.data);
  parallel_for(0, g.groups, larger(1, kGrain / larger(1, plan.packed)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_weight<T>(g, weight + i * g.weight_group, packed + i * plan.packed);
  });
  const int64_t shared = round_up(g.groups * plan.packed * static_cast<int64_t>(sizeof(T)), 64),
                each = plan.slot_elements * static_cast<int64_t>(sizeof(T));
  Slots slots(static_cast<char*>(work.data) + shared, each, (work.bytes - shared) / each);
  const int64_t grain = larger(1, kGrain / larger(1, plan.block * plan.depth * g.rows));
  parallel_for(0, g.groups * plan.blocks, grain, [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / plan.blocks;
      one_block<T>(g, plan, group, i % plan.blocks * plan.block, in, packed + group * plan.packed, bias, out,
                   reinterpret_cast<T*>(slot.data));
    }
  });
}

template <class T> int64_t bytes_of(const Gather& g) {
  const Plan plan = plan_of<T>(g);
  const int64_t slots = smaller(num_threads(), g.groups * plan.blocks);
  return round_up(g.groups * plan.packed * static_cast<int64_t>(sizeof(T)), 64) +
         slots * plan.slot_elements * static_cast<int64_t>(sizeof(T));
}

// ---- The weights: for each block of positions, columns times the transposed block of `out`.

struct WeightPlan {
  int64_t width;                           // out channels, to whole vectors
  int64_t block_channels, channel_blocks;  // of in
  int64_t block, blocks, chunks;           // positions at a time; blocks of them in all, in so many sums that are added in the end
  int64_t partial;                         // elements of one sum of a group
  int64_t slot_elements;
};

template <class T> WeightPlan weight_plan_of(const ConvShape& s) {
  WeightPlan p;
  const int64_t taps = s.taps(), positions = s.batch * s.out_plane();
  p.width = round_up(s.out_channels, kLanes<T>);
  p.block_channels = smaller(s.in_channels, larger(1, 144 / taps));
  p.channel_blocks = (s.in_channels + p.block_channels - 1) / p.block_channels;
  const int64_t rows = p.block_channels * taps;
  p.block = larger(kPanel<T>, smaller(kMostColumns / rows, 256) / kPanel<T> * kPanel<T>);
  p.block = smaller(p.block, round_up(positions, kPanel<T>));
  p.blocks = (positions + p.block - 1) / p.block;
  p.chunks = smaller(p.blocks, larger(1, kTasks / (p.channel_blocks * s.groups)));
  p.partial = s.in_channels * taps * p.width;
  p.slot_elements = round_up(rows * p.block + p.block * p.width, 16);
  return p;
}

// c[i][j] += sum over positions of a[i][position] * b[position][j]; a is in panels, `a_panel` elements apart.
template <class T, int kM, int kN>
inline __attribute__((always_inline)) void weight_tile(int64_t count, const T* a, int64_t a_panel, const T* b, int64_t ldb, T* c,
                                                       int64_t ldc, bool first) {
  using V = Vector<T>;
  V sum[kM][kN];
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) sum[i][j] = first ? V{} : load<T>(c + i * ldc + j * kLanes<T>);
  for (; count > 0; count -= kPanel<T>, a += a_panel)
    for (int64_t p = 0, end = smaller(count, kPanel<T>); p < end; ++p, b += ldb) {
      V bv[kN];
#pragma GCC unroll 4
      for (int j = 0; j < kN; ++j) bv[j] = load<T>(b + j * kLanes<T>);
#pragma GCC unroll 8
      for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < kN; ++j) sum[i][j] += a[i * kPanel<T> + p] * bv[j];
    }
#pragma GCC unroll 8
  for (int i = 0; i < kM; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) store<T>(c + i * ldc + j * kLanes<T>, sum[i][j]);
}

template <class T, int kN> void weight_rows(int64_t rows, int64_t count, const T* a, const T* b, int64_t ldb, T* c, bool first) {
  const int64_t a_panel = rows * kPanel<T>;
  int64_t i = 0;
  for (; i + kTall <= rows; i += kTall) weight_tile<T, kTall, kN>(count, a + i * kPanel<T>, a_panel, b, ldb, c + i * ldb, ldb, first);
  for (; i + 2 <= rows; i += 2) weight_tile<T, 2, kN>(count, a + i * kPanel<T>, a_panel, b, ldb, c + i * ldb, ldb, first);
  for (; i < rows; ++i) weight_tile<T, 1, kN>(count, a + i * kPanel<T>, a_panel, b, ldb, c + i * ldb, ldb, first);
}

// [position][channel] of `out`; what is past the last channel is zero.
template <class T> void turn(const Gather& g, const T* out, int64_t q, int64_t count, int64_t width, T* to) {
  const int64_t plane = g.positions(), image = g.groups * g.rows * plane;
  for (int64_t at = 0; at < count;) {
    const int64_t p = (q + at) % plane, length = smaller(plane - p, count - at);
    transpose<T>(reinterpret_cast<char*>(to + at * width), width * static_cast<int64_t>(sizeof(T)),
                 reinterpret_cast<const char*>(out + (q + at) / plane * image + p), plane * static_cast<int64_t>(sizeof(T)), length,
                 g.rows);
    at += length;
  }
  for (int64_t i = 0; g.rows < width && i < count; ++i)
    for (int64_t j = g.rows; j < width; ++j) to[i * width + j] = T(0);
}

template <class T> void run_weight(const ConvShape& s, const T* in, const T* out, T* weight, Workspace work) {
  const WeightPlan plan = weight_plan_of<T>(s);
  const Gather g = gather_out(s);
  const int64_t taps = s.taps(), rows_all = s.in_channels * taps, total = s.batch * g.positions();
  T* const partials = static_cast<T*>(work.data);
  const int64_t shared = round_up(plan.chunks * s.groups * plan.partial * static_cast<int64_t>(sizeof(T)), 64),
                each = plan.slot_elements * static_cast<int64_t>(sizeof(T));
  Slots slots(static_cast<char*>(work.data) + shared, each, (work.bytes - shared) / each);
  const int64_t tasks = s.groups * plan.channel_blocks * plan.chunks;
  const int64_t grain = larger(1, kGrain / larger(1, rows_all * s.out_channels * total * s.groups / tasks));
  parallel_for(0, tasks, grain, [&](int64_t begin, int64_t end) {
    const Slot slot(slots);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t chunk = i / (s.groups * plan.channel_blocks), group = i / plan.channel_blocks % s.groups;
      const int64_t c = i % plan.channel_blocks * plan.block_channels, channels = smaller(plan.block_channels, s.in_channels - c),
                    rows = channels * taps;
      T* const cols = reinterpret_cast<T*>(slot.data);
      T* const turned = cols + plan.block_channels * taps * plan.block;
      T* const sums = partials + (chunk * s.groups + group) * plan.partial + c * taps * plan.width;
      const int64_t from = plan.blocks * chunk / plan.chunks, to = plan.blocks * (chunk + 1) / plan.chunks;
      for (int64_t block = from; block < to; ++block) {
        const int64_t q = block * plan.block, count = smaller(plan.block, total - q);
        columns<T>(g, in + group * g.channels * g.in_plane(), g.groups * g.channels * g.in_plane(), c, channels, q, count, cols);
        turn<T>(g, out + group * g.rows * g.positions(), q, count, plan.width, turned);
        int64_t j = 0;
        for (; j + kPanel<T> <= plan.width; j += kPanel<T>)
          weight_rows<T, kWide>(rows, count, cols, turned + j, plan.width, sums + j, block == from);
        for (; j < plan.width; j += kLanes<T>) weight_rows<T, 1>(rows, count, cols, turned + j, plan.width, sums + j, block == from);
      }
    }
  });
  parallel_for(0, s.groups, larger(1, kGrain / larger(1, plan.partial)), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      T* const sums = partials + group * plan.partial;
      for (int64_t chunk = 1; chunk < plan.chunks; ++chunk) {
        const T* more = partials + (chunk * s.groups + group) * plan.partial;
        for (int64_t i = 0; i < plan.partial; ++i) sums[i] += more[i];
      }
      transpose<T>(reinterpret_cast<char*>(weight + group * g.weight_group), rows_all * static_cast<int64_t>(sizeof(T)),
                   reinterpret_cast<const char*>(sums), plan.width * static_cast<int64_t>(sizeof(T)), s.out_channels, rows_all);
    }
  });
}

template <class T> int64_t weight_bytes(const ConvShape& s) {
  const WeightPlan plan = weight_plan_of<T>(s);
  const int64_t slots = smaller(num_threads(), s.groups * plan.channel_blocks * plan.chunks);
  return round_up(plan.chunks * s.groups * plan.partial * static_cast<int64_t>(sizeof(T)), 64) +
         slots * plan.slot_elements * static_cast<int64_t>(sizeof(T));
}

// ---- By dtype.

template <class F> auto visit(DType dtype, F&& f) {
  switch (dtype) {
    case DType::Float32: return f(float{});
    case DType::Float64: return f(double{});
    default: return f(uint64_t{});
  }
}

bool depthwise(DType dtype, const ConvShape& s) { return dtype == DType::Float32 && is_depthwise(s); }
bool winograd(DType dtype, const ConvShape& s, ConvPass pass) { return dtype == DType::Float32 && winograd_wins(s, pass); }

int64_t workspace(DType dtype, const ConvShape& s, ConvPass pass) {
  if (winograd(dtype, s, pass)) return winograd_bytes(s, pass);
  if (depthwise(dtype, s)) return depthwise_bytes(s, pass);
  return visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (pass == ConvPass::Weight) return weight_bytes<T>(s);
    if (has_few<T>(s, pass)) return few_elements<T>(s) * static_cast<int64_t>(sizeof(T));
    if (pass == ConvPass::Out) return bytes_of<T>(gather_out(s));
    int64_t most = 0;
    for_each_remainder(s, [&](const Gather& g) { most = larger(most, bytes_of<T>(g)); });
    return most;
  });
}

void out(DType dtype, const ConvShape& s, const void* in, const void* weight, const void* bias, void* out, Workspace work) {
  if (winograd(dtype, s, ConvPass::Out))
    return winograd_out(s, static_cast<const float*>(in), static_cast<const float*>(weight), static_cast<const float*>(bias),
                        static_cast<float*>(out), work);
  if (depthwise(dtype, s))
    return depthwise_out(s, static_cast<const float*>(in), static_cast<const float*>(weight), static_cast<const float*>(bias),
                         static_cast<float*>(out), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (has_few<T>(s, ConvPass::Out))
      return few_out<T>(s, gather_out(s), static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias),
                        static_cast<T*>(out), static_cast<T*>(work.data));
    run<T>(gather_out(s), static_cast<const T*>(in), static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(out),
           work);
  });
}

void in(DType dtype, const ConvShape& s, const void* out, const void* weight, const void* bias, void* in, Workspace work) {
  if (winograd(dtype, s, ConvPass::In))
    return winograd_in(s, static_cast<const float*>(out), static_cast<const float*>(weight), static_cast<const float*>(bias),
                       static_cast<float*>(in), work);
  if (depthwise(dtype, s))
    return depthwise_in(s, static_cast<const float*>(out), static_cast<const float*>(weight), static_cast<const float*>(bias),
                        static_cast<float*>(in), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if (has_few<T>(s, ConvPass::In))
      return few_in<T>(s, static_cast<const T*>(out), static_cast<const T*>(weight), static_cast<const T*>(bias), static_cast<T*>(in),
                       static_cast<T*>(work.data));
    T* const result = static_cast<T*>(in);
    const T* const start = static_cast<const T*>(bias);
    const auto each = [&](const Gather& g) { run<T>(g, static_cast<const T*>(out), static_cast<const T*>(weight), start, result, work); };
    if (!for_each_remainder(s, [](const Gather&) {})) {  // what no tap reaches
      const int64_t plane = s.in_plane(), channels = s.groups * s.in_channels;
      parallel_for(0, s.batch * channels, larger(1, kGrain / plane), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) std::fill_n(result + i * plane, plane, start ? start[i % channels] : T(0));
      });
    }
    for_each_remainder(s, each);
  });
}

void weight(DType dtype, const ConvShape& s, const void* in, const void* out, void* weight, Workspace work) {
  if (depthwise(dtype, s))
    return depthwise_weight(s, static_cast<const float*>(in), static_cast<const float*>(out), static_cast<float*>(weight), work);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    run_weight<T>(s, static_cast<const T*>(in), static_cast<const T*>(out), static_cast<T*>(weight), work);
  });
}

}  // namespace

RG_EXPORT_KERNELS(ConvKernels, conv) = {
    .workspace = workspace, .out = out, .in = in, .weight = weight, .unfold = RG_LEVEL_NS::unfold, .fold = RG_LEVEL_NS::fold};

}  // namespace retrograd::cpu
