// Note [Tiles of four]
// Winograd's algorithm F(4 x 4, 3 x 3): 4 x 4 results of a 3 x 3 kernel are At [(G w Gt) * (Bt d B)] A for the 6 x 6 elements d they depend on: 36
// products instead of 144, between transforms whose cost channels share. The matrices interpolate polynomials at six points. With the usual
// ones, 0, 1, -1, 2, -2 and infinity, the error is four times that of a plain sum in float. At 0, +-5/8, +-3/2 and infinity the
// powers are of one size. They magnify what sums over channels lose, so these are taken by kRun channels at a time: the error, measured with 64 to
// 512 channels, is 2 to 3 times that of the direct sum in blocks, where one sum over all channels makes it 3.5 to 5.
//
// Taps that are not neighbours make one image into several, of every second element, say, with tiles of their own. A kernel of several planes is as
// many channels, each of which reads another plane of the input.
//
// Lanes of vectors are tiles, counted through the rows of tiles of all images. A block of tiles is one task: its 36 matrices [channels, tiles]
// are multiplied by those of the weights in registers. Where the weights at 36 points would take more memory than all tiles, these are kept, and
// the weights transformed some rows at a time.
#include "cpu/kernels/conv_winograd.h"

#include <algorithm>

#include "cpu/kernels/conv_tiles.h"
#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

constexpr int kSide = 4, kReach = 6, kPoints = kReach * kReach;
constexpr int kRun = 16;
constexpr int kL = kLanes<float>;
constexpr int64_t kP = kPanel<float>;
using V = Vector<float>;

constexpr float kA = 0.625f, kB = 1.5f, kA2 = kA * kA, kB2 = kB * kB, kA3 = kA2 * kA, kB3 = kB2 * kB;

// What is read and written, be it `out` or `in` that is computed. Axes are depth, height and width.
struct Problem {
  int64_t batch, groups, channels, rows;
  int64_t in[3], out[3];
  int64_t start[3];          // where the first result's kernel begins
  int64_t planes, apart[3];  // planes of the kernel; from tap to tap
  int64_t weight_row, weight_channel;
  bool turned;                                         // the kernel, by half a turn
  int64_t depth() const { return channels * planes; }  // of a sum at a point
  int64_t in_plane() const { return in[1] * in[2]; }
  int64_t out_plane() const { return out[1] * out[2]; }
  int64_t tiles(int d) const { return ((out[d] + apart[d] - 1) / apart[d] + kSide - 1) / kSide; }
  int64_t plane_tiles() const { return apart[1] * apart[2] * tiles(1) * tiles(2); }
  int64_t all_tiles() const { return batch * out[0] * plane_tiles(); }
};

Problem problem_of(const ConvShape& s, ConvPass pass) {
  const bool out = pass == ConvPass::Out;
  const int64_t taps = s.taps(), i = s.in_channels, o = s.out_channels;
  Problem p{s.batch, s.groups, out ? i : o, out ? o : i, {}, {}, {}, s.kernel[0], {}, out ? i * taps : taps, out ? taps : i * taps, !out};
  for (int d = 0; d < 3; ++d) {
    p.in[d] = out ? s.in[d] : s.out[d];
    p.out[d] = out ? s.out[d] : s.in[d];
    p.start[d] = out ? -s.padding[d] : s.padding[d] - (s.kernel[d] - 1) * s.dilation[d];
    p.apart[d] = s.dilation[d];
  }
  return p;
}

// ---- The transforms of six elements, four and three.

inline __attribute__((always_inline)) void to_points(const V d[6], V t[6]) {
  const V e = d[4] - kB2 * d[2], f = kA * (d[3] - kB2 * d[1]), g = d[4] - kA2 * d[2], h = kB * (d[3] - kA2 * d[1]);
  t[0] = kA2 * kB2 * d[0] - (kA2 + kB2) * d[2] + d[4];
  t[1] = e + f;
  t[2] = e - f;
  t[3] = g + h;
  t[4] = g - h;
  t[5] = kA2 * kB2 * d[1] - (kA2 + kB2) * d[3] + d[5];
}

inline __attribute__((always_inline)) void from_points(const V m[6], V y[4]) {
  const V p = m[1] + m[2], q = m[1] - m[2], r = m[3] + m[4], s = m[3] - m[4];
  y[0] = m[0] + p + r;
  y[1] = kA * q + kB * s;
  y[2] = kA2 * p + kB2 * r;
  y[3] = kA3 * q + kB3 * s + m[5];
}

// Of kTall rows at a time, in double: the weights are transformed once for many tiles.
typedef double Rows __attribute__((vector_size(kTall * sizeof(double))));
inline __attribute__((always_inline)) void kernel_points(const Rows w[3], Rows t[6]) {
  constexpr double a = kA, b = kB, a2 = a * a, b2 = b * b, at_a = 1 / (2 * a2 * (a2 - b2)), at_b = 1 / (2 * b2 * (b2 - a2));
  const Rows p = (w[0] + a2 * w[2]) * at_a, q = a * at_a * w[1], r = (w[0] + b2 * w[2]) * at_b, s = b * at_b * w[1];
  t[0] = w[0] * (1 / (a2 * b2));
  t[1] = p + q;
  t[2] = p - q;
  t[3] = r + s;
  t[4] = r - s;
  t[5] = w[2];
}

// The weights at the 36 points, as panel_times wants them: [point][tile of rows][channel and plane][row]. Here one tile, from point to point
// `apart` elements.
void pack_weights(const Problem& p, const float* weight, int64_t row, int64_t rows, int64_t apart, float* packed) {
  typedef float Narrow __attribute__((vector_size(kTall * sizeof(float))));
  const int64_t width = tail_rows(rows);
  for (int64_t k = 0; k < p.depth(); ++k) {
    Rows w[9] = {}, half[3][6], column[3], whole[6];
    const int64_t c = k / p.planes, plane = p.turned ? p.planes - 1 - k % p.planes : k % p.planes;
    for (int64_t r = 0; r < rows; ++r) {
      const float* from = weight + (row + r) * p.weight_row + c * p.weight_channel + plane * 9;
      for (int tap = 0; tap < 9; ++tap) w[p.turned ? 8 - tap : tap][r] = static_cast<double>(from[tap]);
    }
    for (int i = 0; i < 3; ++i) kernel_points(w + 3 * i, half[i]);
    float* to = packed + k * width;
    for (int j = 0; j < 6; ++j) {
      for (int i = 0; i < 3; ++i) column[i] = half[i][j];
      kernel_points(column, whole);
      for (int i = 0; i < 6; ++i) {
        const Narrow rounded = __builtin_convertvector(whole[i], Narrow);
        std::memcpy(to + (i * 6 + j) * apart, &rounded, static_cast<size_t>(width) * sizeof(float));
      }
    }
  }
}

// ---- Tiles as lanes.

// Neighbours along a row of tiles: lanes [lane, lane + count) of a vector. The first result of the first tile is at (z, y, x).
struct Stretch { int64_t lane, count, image, z, y, x; };

int find_stretches(const Problem& p, int64_t tile, int64_t count, Stretch* out) {
  const int64_t wide = p.tiles(2), high = p.tiles(1);
  int n = 0;
  for (int64_t lane = 0; lane < count;) {
    const int64_t x = tile % wide, length = smaller(wide - x, count - lane);
    const int64_t y = tile / wide % high, part = tile / wide / high % (p.apart[1] * p.apart[2]), plane = tile / p.plane_tiles();
    out[n++] = {lane,
                length,
                plane / p.out[0],
                plane % p.out[0],
                y * kSide * p.apart[1] + part / p.apart[2],
                x * kSide * p.apart[2] + part % p.apart[2]};
    lane += length;
    tile += length;
  }
  return n;
}

// A piece of a row of elements: `length` of them from `from` on are inside, and go to place `at`; `last` are the two behind the last tile.
struct Piece {
  int64_t from, at, length;
  int64_t last_from[2];  // -1: outside
  int64_t last_at;
};

// Copies up to 4 * kL elements.
inline void copy_piece(float* d, const float* s, int64_t length) {
#if defined(__AVX512VL__)
  for (; length > 0; length -= 16, d += 16, s += 16) {
    const __mmask16 m = static_cast<__mmask16>(length >= 16 ? 0xffff : (1u << length) - 1);
    _mm512_mask_storeu_ps(d, m, _mm512_maskz_loadu_ps(m, s));
  }
#else
  for (int64_t l = 0; l < length; ++l) d[l] = s[l];
#endif
}

template <int kHalf> inline V zipped(V a, V b) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (I % 2 * kL + I / 2 + kHalf * kL / 2)...);
  }(std::make_index_sequence<kL>{});
}
inline V moved_down(V v) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return __builtin_shufflevector(v, v, ((I + 1) % kL)...);
  }(std::make_index_sequence<kL>{});
}

// One vector of tiles: where its elements come from, the same for every channel.
struct Source {
  Piece pieces[kReach][kL];
  int count = 0;
  int32_t last[kL];  // all bits where a stretch ends: what is behind its tile is not the next lane's

  void find(const Problem& p, const Stretch* stretches, int n) {
    count = n;
    std::fill_n(last, kL, 0);
    for (int k = 0; k < n; ++k) {
      const Stretch& t = stretches[k];
      last[t.lane + t.count - 1] = -1;
      const int64_t step = p.apart[2], x = t.x + p.start[2], count_all = t.count * kSide, end = x + count_all * step;
      const int64_t lo = smaller(count_all, x < 0 ? (-x + step - 1) / step : 0);
      const int64_t hi = smaller(count_all, x < p.in[2] ? (p.in[2] - x + step - 1) / step : 0);
      for (int i = 0; i < kReach; ++i) {
        Piece& piece = pieces[i][k];
        const int64_t y = t.y + p.start[1] + i * p.apart[1];
        const bool inside = y >= 0 && y < p.in[1];
        piece.from = inside ? y * p.in[2] + x + lo * step : 0;
        piece.at = t.lane * kSide + lo;
        piece.length = inside ? larger(0, hi - lo) : 0;
        for (int j = 0; j < 2; ++j) {
          const int64_t behind = end + j * step;
          piece.last_from[j] = inside && behind >= 0 && behind < p.in[2] ? y * p.in[2] + behind : -1;
        }
        piece.last_at = t.lane + t.count - 1;
      }
    }
  }
};

// `in` is a channel of the first image; `plane` which of the kernel's meets it.
void read_tiles(const Problem& p, const Source& source, const Stretch* stretches, const float* in, int64_t image, int64_t plane,
                float (&row)[kReach][kSide * kL], float (&behind)[kReach][2][kL]) {
  for (int k = 0; k < source.count; ++k) {
    const int64_t z = stretches[k].z + p.start[0] + plane * p.apart[0];
    const float* const from = in + stretches[k].image * image + z * p.in_plane();
    const bool inside = z >= 0 && z < p.in[0];
    for (int i = 0; i < kReach; ++i) {
      const Piece& piece = source.pieces[i][k];
      float* const to = row[i] + piece.at;
      if (!inside) {
        std::fill_n(to, piece.length, 0.0f);
      } else if (p.apart[2] == 1) {
        copy_piece(to, from + piece.from, piece.length);
      } else {
        copy_apart<float>(to, from + piece.from, piece.length, p.apart[2]);
      }
      for (int j = 0; j < 2; ++j) behind[i][j][piece.last_at] = inside && piece.last_from[j] >= 0 ? from[piece.last_from[j]] : 0.0f;
    }
  }
}

// 36 vectors of points, `step` elements apart.
void transform_tiles(const float (&row)[kReach][kSide * kL], const float (&behind)[kReach][2][kL], const int32_t* last, float* to,
                     int64_t step) {
  typedef int32_t Mask __attribute__((vector_size(kL * 4)));
  Mask ends;
  std::memcpy(&ends, last, sizeof ends);
  V t[kReach][kReach];
  for (int i = 0; i < kReach; ++i) {
    V d[6];
    const V v0 = load<float>(row[i]), v1 = load<float>(row[i] + kL), v2 = load<float>(row[i] + 2 * kL), v3 = load<float>(row[i] + 3 * kL);
    const V e0 = every_other<float, 0>(v0, v1), e1 = every_other<float, 0>(v2, v3), o0 = every_other<float, 1>(v0, v1),
            o1 = every_other<float, 1>(v2, v3);
    d[0] = every_other<float, 0>(e0, e1);
    d[1] = every_other<float, 0>(o0, o1);
    d[2] = every_other<float, 1>(e0, e1);
    d[3] = every_other<float, 1>(o0, o1);
    d[4] = ends ? load<float>(behind[i][0]) : moved_down(d[0]);
    d[5] = ends ? load<float>(behind[i][1]) : moved_down(d[1]);
    to_points(d, t[i]);
  }
  for (int j = 0; j < kReach; ++j) {
    V d[6], p[6];
    for (int i = 0; i < kReach; ++i) d[i] = t[i][j];
    to_points(d, p);
    for (int i = 0; i < kReach; ++i) store<float>(to + (i * kReach + j) * step, p[i]);
  }
}

// The results of a vector of tiles from their points, as kSide rows of kSide * kL elements.
void restore_tiles(const float* from, int64_t step, float start, float (&rows)[kSide][kSide * kL]) {
  V t[kSide][kReach];
  for (int j = 0; j < kReach; ++j) {
    V m[6], y[4];
    for (int i = 0; i < kReach; ++i) m[i] = load<float>(from + (i * kReach + j) * step);
    from_points(m, y);
    for (int i = 0; i < kSide; ++i) t[i][j] = y[i];
  }
  for (int i = 0; i < kSide; ++i) {
    V y[4];
    from_points(t[i], y);
    for (int j = 0; j < kSide; ++j) y[j] += start;
    const V a = zipped<0>(y[0], y[2]), b = zipped<1>(y[0], y[2]), c = zipped<0>(y[1], y[3]), d = zipped<1>(y[1], y[3]);
    store<float>(rows[i], zipped<0>(a, c));
    store<float>(rows[i] + kL, zipped<1>(a, c));
    store<float>(rows[i] + 2 * kL, zipped<0>(b, d));
    store<float>(rows[i] + 3 * kL, zipped<1>(b, d));
  }
}

// ---- A block of panels.

constexpr int64_t kRowsAtATime = 64;

struct Plan {
  int64_t panels;  // of tiles at a time
  int64_t blocks;
  bool keeps;      // the points of all blocks
  int64_t rows;    // at a time
  int64_t point;   // elements of the weights of a group at a point, of so many rows
  int64_t packed;  // at all points
  int64_t points;  // elements of those of a block
  int64_t slot_bytes;

  int64_t packed_bytes(const Problem& p) const { return bytes(p.groups * packed); }
  int64_t points_bytes() const { return keeps ? bytes(blocks * points) : 0; }

  static int64_t bytes(int64_t elements) { return round_up(elements * static_cast<int64_t>(sizeof(float)), 64); }
};
Plan plan_of(const Problem& p) {
  Plan plan;
  const int64_t each = kPoints * kP * (p.depth() + p.rows), tiles = p.all_tiles();
  plan.panels = std::clamp<int64_t>(160 * 1024 / each, 1, 4);
  plan.panels = smaller(plan.panels, larger(1, tiles / (4 * kP)));
  plan.blocks = (tiles + plan.panels * kP - 1) / (plan.panels * kP);
  plan.points = plan.panels * kPoints * p.depth() * kP;
  plan.keeps = p.groups == 1 && p.rows > kRowsAtATime && plan.blocks * plan.points <= kPoints * p.rows * p.depth();
  plan.rows = plan.keeps ? kRowsAtATime : p.rows;
  plan.point = round_up(plan.rows, kTall) * p.depth();
  plan.packed = kPoints * plan.point;
  plan.slot_bytes = Plan::bytes((plan.keeps ? 0 : plan.points) + plan.panels * kPoints * plan.rows * kP);
  return plan;
}

// The points of a block: [panel][point][channel and plane][kP].
void find_points(const Problem& p, const Plan& plan, int64_t group, int64_t tile, const float* in, float* points) {
  const int64_t in_channel = p.in[0] * p.in_plane(), depth = p.depth(), in_image = p.groups * p.channels * in_channel;
  const int64_t count = smaller(plan.panels * kP, p.all_tiles() - tile), panels = (count + kP - 1) / kP;
  const float* group_in = in + group * p.channels * in_channel;
  Stretch stretches[kL];
  for (int64_t at = 0; at < panels * kP; at += kL) {
    const int64_t lanes = std::clamp<int64_t>(count - at, 0, kL);
    const int n = find_stretches(p, tile + at, lanes, stretches);
    Source source;
    source.find(p, stretches, n);
    alignas(64) float row[kReach][kSide * kL] = {}, behind[kReach][2][kL] = {};
    float* to = points + at / kP * kPoints * depth * kP + at % kP;
    for (int64_t c = 0; c < p.channels; ++c)
      for (int64_t plane = 0; plane < p.planes; ++plane, to += kP) {
        read_tiles(p, source, stretches, group_in + c * in_channel, in_image, plane, row, behind);
        transform_tiles(row, behind, source.last, to, depth * kP);
      }
  }
}

// Rows [first, first + rows) of its results, by way of sums [panel][point][row][kP].
void write_rows(const Problem& p, const Plan& plan, int64_t group, int64_t tile, int64_t first, int64_t rows, const float* points,
                const float* packed, const float* bias, float* out, float* sums) {
  const int64_t out_row = p.out[0] * p.out_plane(), depth = p.depth(), out_image = p.groups * p.rows * out_row;
  const int64_t count = smaller(plan.panels * kP, p.all_tiles() - tile), panels = (count + kP - 1) / kP, full = rows / kTall * kTall;
  float* group_out = out + (group * p.rows + first) * out_row;
  if (bias) bias += group * p.rows + first;
  for (int64_t point = 0; point < kPoints; ++point)
    for (int64_t panel = 0; panel < panels; ++panel) {
      const float* a = packed + point * plan.point;
      const float* b = points + (panel * kPoints + point) * depth * kP;
      float* c = sums + (panel * kPoints + point) * rows * kP;
      if (full) panel_times<float, kWide, kRun>(full, depth, a, depth * kTall, b, c, kP, true, nullptr);
      if (full < rows) panel_times<float, kWide, kRun>(rows - full, depth, a + full * depth, 0, b, c + full * kP, kP, true, nullptr);
    }
  Stretch stretches[kL];
  for (int64_t at = 0; at < count; at += kL) {
    const int n = find_stretches(p, tile + at, smaller(kL, count - at), stretches);
    const float* from = sums + at / kP * kPoints * rows * kP + at % kP;
    alignas(64) float lines[kSide][kSide * kL];
    for (int64_t r = 0; r < rows; ++r) {
      restore_tiles(from + r * kP, rows * kP, bias ? bias[r] : 0.0f, lines);
      for (int k = 0; k < n; ++k) {
        const Stretch& t = stretches[k];
        float* to = group_out + t.image * out_image + r * out_row + t.z * p.out_plane() + t.y * p.out[2] + t.x;
        const int64_t step = p.apart[2], length = smaller(t.count * kSide, (p.out[2] - t.x + step - 1) / step);
        const int64_t high = smaller(kSide, (p.out[1] - t.y + p.apart[1] - 1) / p.apart[1]);
        for (int64_t i = 0; i < high; ++i, to += p.apart[1] * p.out[2]) {
          const float* const from = lines[i] + t.lane * kSide;
          if (step == 1) {
            copy_piece(to, from, length);
          } else {
            store_apart<float>(to, from, length, step);
          }
        }
      }
    }
  }
}

void run(const Problem& p, int64_t weight_group, const float* in, const float* weight, const float* bias, float* out, Workspace work) {
  const Plan plan = plan_of(p);
  char* const memory = static_cast<char*>(work.data);
  float *const packed = reinterpret_cast<float*>(memory), *const kept = reinterpret_cast<float*>(memory + plan.packed_bytes(p));
  const int64_t shared = plan.packed_bytes(p) + plan.points_bytes(), step = plan.panels * kP;
  Slots slots(memory + shared, plan.slot_bytes, (work.bytes - shared) / plan.slot_bytes);
  const auto pack = [&](int64_t first, int64_t rows) {
    const int64_t tiles = (rows + kTall - 1) / kTall;
    parallel_for(0, p.groups * tiles, larger(1, 64 / p.depth()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / tiles, row = i % tiles * kTall;
        pack_weights(p, weight + group * weight_group, first + row, smaller(kTall, rows - row), plan.point,
                     packed + group * plan.packed + row * p.depth());
      }
    });
  };
  if (!plan.keeps) {
    pack(0, p.rows);
    parallel_for(0, p.groups * plan.blocks, 1, [&](int64_t begin, int64_t end) {
      const Slot slot(slots);
      float *const points = reinterpret_cast<float*>(slot.data), *const sums = points + plan.points;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = i / plan.blocks, tile = i % plan.blocks * step;
        find_points(p, plan, group, tile, in, points);
        write_rows(p, plan, group, tile, 0, p.rows, points, packed + group * plan.packed, bias, out, sums);
      }
    });
    return;
  }
  parallel_for(0, plan.blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) find_points(p, plan, 0, i * step, in, kept + i * plan.points);
  });
  for (int64_t first = 0; first < p.rows; first += plan.rows) {
    const int64_t rows = smaller(plan.rows, p.rows - first);
    pack(first, rows);
    parallel_for(0, plan.blocks, 1, [&](int64_t begin, int64_t end) {
      const Slot slot(slots);
      for (int64_t i = begin; i < end; ++i)
        write_rows(p, plan, 0, i * step, first, rows, kept + i * plan.points, packed, bias, out, reinterpret_cast<float*>(slot.data));
    });
  }
}

}  // namespace

bool winograd_wins(const ConvShape& s, ConvPass pass) {
  if (pass == ConvPass::Weight || s.stride[0] != 1) return false;
  for (int d = 1; d < 3; ++d)
    if (s.kernel[d] != 3 || s.stride[d] != 1) return false;
  if (smaller(s.in_channels, s.out_channels) < 8) return false;
  // Tiles reach over the edge, and the weights have to be worth transforming.
  const Problem p = problem_of(s, pass);
  return p.plane_tiles() * kSide * kSide * 2 <= p.out_plane() * 3 && p.all_tiles() >= 2 * kP;
}

int64_t winograd_bytes(const ConvShape& s, ConvPass pass) {
  const Problem p = problem_of(s, pass);
  const Plan plan = plan_of(p);
  return plan.packed_bytes(p) + plan.points_bytes() + smaller(num_threads(), p.groups * plan.blocks) * plan.slot_bytes;
}

void winograd_out(const ConvShape& s, const float* in, const float* weight, const float* bias, float* out, Workspace work) {
  run(problem_of(s, ConvPass::Out), s.out_channels * s.in_channels * s.taps(), in, weight, bias, out, work);
}

void winograd_in(const ConvShape& s, const float* out, const float* weight, const float* bias, float* in, Workspace work) {
  run(problem_of(s, ConvPass::In), s.out_channels * s.in_channels * s.taps(), out, weight, bias, in, work);
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
