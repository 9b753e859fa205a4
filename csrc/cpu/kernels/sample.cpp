// Images sampled at points of a grid. Points are taken in blocks: where their neighbours lie and how much each of them counts is found once, and
// used for every channel.
#include "cpu/kernels/image_parts.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "cpu/parallel.h"

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

using kernels::Beyond;
using kernels::SampleShape;
using kernels::Sampling;

constexpr int64_t kGrain = 16384;  // elements worth a task

constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

// Neighbours of a block of points: kTaps along each of kDims axes.
template <class S, int kDims, int kTaps> struct Block {
  static constexpr int kAll = power(kTaps, kDims);
  static constexpr int64_t kBlock = kAll == 1 ? 512 : kAll <= 4 ? 256 : 128;  // points; all that is known of them stays near
  using Mask = std::conditional_t<sizeof(S) == 4, int32_t, int64_t>;

  alignas(64) int32_t place[kDims][kTaps][kBlock];
  alignas(64) Mask there[kDims][kTaps][kBlock];  // not outside
  alignas(64) S part[kDims][kTaps][kBlock];      // the weight along an axis
  alignas(64) S slope[kDims][kTaps][kBlock];     // and its derivative by the place in the grid

  alignas(64) int32_t offset[kAll][kBlock];
  alignas(64) Mask inside[kAll][kBlock];
  alignas(64) S weight[kAll][kBlock];
  int64_t count;
  bool all_inside;

  [[gnu::noinline]] void find(const SampleShape& s, const S* grid, int64_t n) {
    count = n;
    int32_t step = 1;
    for (int d = 0; d < kDims; ++d) {
      const int64_t size = s.in[2 - d];
      along(s, d, static_cast<S>(size), grid + d, step);
      step *= static_cast<int32_t>(size);
    }
    Mask every = -1;
    for (int k = 0; k < kAll; ++k) {
      for (int64_t p = 0; p < n; ++p) {
        int32_t o = 0;
        Mask m = -1;
        S w = 1;
        for (int d = 0, rest = k; d < kDims; ++d, rest /= kTaps) {
          o += place[d][rest % kTaps][p];
          m &= there[d][rest % kTaps][p];
          w *= part[d][rest % kTaps][p];
        }
        offset[k][p] = o;
        inside[k][p] = m;
        weight[k][p] = w;
      }
      for (int64_t p = 0; p < n; ++p) every &= inside[k][p];
    }
    all_inside = every == -1;
  }

 private:
  // nan counts as 0.
  static S clipped(S x, S last) {
    const S low = x > 0 ? x : 0;
    return low < last ? low : last;
  }
  // Folded back into the image, which ends at half of low and of high. `turns` becomes whether a step in x is one back.
  [[gnu::always_inline]] static S reflected(S x, S low, S span, S* turns) {
    const S away = x - low, far = std::abs(away), flips = std::floor(far / span), extra = far - flips * span;
    const S odd = flips - 2 * std::floor(flips / 2), sign = 1 - 2 * odd;
    *turns = away < 0 ? -sign : sign;
    return extra + odd * (span - 2 * extra) + low;
  }

  template <Beyond kBeyond> [[gnu::noinline]] void along_as(const SampleShape& s, int d, S size, const S* grid, int32_t step) {
    const bool align = s.align_corners;
    const S last = size - 1, scale = align ? last / 2 : size / 2, low = align ? S(0) : S(-0.5);
    const S span = align ? std::max<S>(last, 1) : size;  // of one element, any will do: what is reflected is clipped
    alignas(64) S places[kBlock];
    if (align) {
      for (int64_t p = 0; p < count; ++p) places[p] = (grid[p * kDims] + 1) / 2 * last;
    } else {
      for (int64_t p = 0; p < count; ++p) places[p] = ((grid[p * kDims] + 1) * size - 1) / 2;
    }
    alignas(64) S moves[kBlock];  // by how much a place moves when that in the grid does
    for (int64_t p = 0; p < count; ++p) moves[p] = scale;
    if constexpr (kTaps != 4 && kBeyond != Beyond::Zeros) {
      for (int64_t p = 0; p < count; ++p) {
        S x = places[p], turns = 1;
        if constexpr (kBeyond == Beyond::Reflection) x = reflected(x, low, span, &turns);
        moves[p] = x > 0 && x < last ? scale * turns : 0;
        places[p] = clipped(x, last);
      }
    }
    for (int64_t p = 0; p < count; ++p) {
      const S x = places[p], m = moves[p];
      const S down = kTaps == 1 ? std::rint(x) : std::floor(x), t = x - down;
      S w[kTaps], v[kTaps];
      if constexpr (kTaps == 1) {
        w[0] = 1;
        v[0] = 0;
      } else if constexpr (kTaps == 2) {
        w[0] = 1 - t;
        w[1] = t;
        v[0] = -m;
        v[1] = m;
      } else {
        constexpr S a = S(-0.75);
        const S b = t + 1, c = 1 - t, e = 2 - t;
        w[0] = ((a * b - 5 * a) * b + 8 * a) * b - 4 * a;
        w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
        w[2] = ((a + 2) * c - (a + 3)) * c * c + 1;
        w[3] = ((a * e - 5 * a) * e + 8 * a) * e - 4 * a;
        v[0] = m * ((3 * a * b - 10 * a) * b + 8 * a);
        v[1] = m * (3 * (a + 2) * t - 2 * (a + 3)) * t;
        v[2] = -m * (3 * (a + 2) * c - 2 * (a + 3)) * c;
        v[3] = -m * ((3 * a * e - 10 * a) * e + 8 * a);
      }
      for (int k = 0; k < kTaps; ++k) {
        S at = down + static_cast<S>(kTaps == 4 ? k - 1 : k);
        if constexpr (kTaps == 4 && kBeyond != Beyond::Zeros) {
          S turns;
          if constexpr (kBeyond == Beyond::Reflection) at = reflected(at, low, span, &turns);
          at = clipped(at, last);
        }
        const bool fits = (at >= 0) & (at <= last);
        there[d][k][p] = fits ? -1 : 0;
        place[d][k][p] = static_cast<int32_t>(fits ? at : 0) * step;
        part[d][k][p] = w[k];
        slope[d][k][p] = v[k];
      }
    }
  }
  void along(const SampleShape& s, int d, S size, const S* grid, int32_t step) {
    switch (s.beyond) {
      case Beyond::Zeros: return along_as<Beyond::Zeros>(s, d, size, grid, step);
      case Beyond::Border: return along_as<Beyond::Border>(s, d, size, grid, step);
      case Beyond::Reflection: return along_as<Beyond::Reflection>(s, d, size, grid, step);
    }
  }
};

// What lies outside is 0 whatever is at the place that stands for it, and weighted all the same: a weight that is nan shows.
template <class B, class S> [[gnu::noinline]] void sample_channel(const B& b, const S* __restrict in, S* __restrict out) {
  if (b.all_inside) {
    for (int64_t p = 0; p < b.count; ++p) {
      S sum = b.weight[0][p] * in[b.offset[0][p]];
      for (int k = 1; k < B::kAll; ++k) sum += b.weight[k][p] * in[b.offset[k][p]];
      out[p] = sum;
    }
  } else {
    for (int64_t p = 0; p < b.count; ++p) {
      S sum = 0;
      for (int k = 0; k < B::kAll; ++k) {
        const S value = in[b.offset[k][p]];
        sum += b.weight[k][p] * (b.inside[k][p] ? value : 0);
      }
      out[p] = sum;
    }
  }
}

template <class S, int kDims, int kTaps> struct Sampler {
  using B = Block<S, kDims, kTaps>;
  static constexpr int64_t kBlock = B::kBlock;
  const SampleShape& s;
  int64_t blocks = (s.points + kBlock - 1) / kBlock;

  // Finds the points of a block of an image, and says which.
  int64_t find(B& b, const S* grid, int64_t n, int64_t block) const {
    const int64_t first = block * kBlock;
    b.find(s, grid + (n * s.points + first) * kDims, std::min(kBlock, s.points - first));
    return first;
  }

  void forward(const S* in, const S* grid, S* out) const {
    const int64_t plane = s.plane(), grain = std::max<int64_t>(1, kGrain / (std::min(kBlock, s.points) * s.channels));
    parallel_for(0, s.batch * blocks, grain, [&](int64_t begin, int64_t end) {
      B b;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t n = unit / blocks, first = find(b, grid, n, unit % blocks);
        for (int64_t c = n * s.channels; c < (n + 1) * s.channels; ++c) sample_channel(b, in + c * plane, out + c * s.points + first);
      }
    });
  }

  void backward_grid(const S* grad, const S* in, const S* grid, S* grad_grid) const {
    if constexpr (kTaps == 1) {  // a step moves nothing, but where it moves all
      std::fill(grad_grid, grad_grid + s.batch * s.points * kDims, S(0));
      return;
    }
    const int64_t plane = s.plane(), grain = std::max<int64_t>(1, kGrain / (std::min(kBlock, s.points) * s.channels));
    parallel_for(0, s.batch * blocks, grain, [&](int64_t begin, int64_t end) {
      B b;
      alignas(64) S sums[B::kAll][kBlock];  // of gradient and image, by neighbour
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t n = unit / blocks, first = find(b, grid, n, unit % blocks);
        for (auto& row : sums) std::fill(row, row + b.count, S(0));
        for (int64_t c = n * s.channels; c < (n + 1) * s.channels; ++c) {
          const S *from = in + c * plane, *g = grad + c * s.points + first;
          for (int k = 0; k < B::kAll; ++k)
            if (b.all_inside) {
              for (int64_t p = 0; p < b.count; ++p) sums[k][p] += g[p] * from[b.offset[k][p]];
            } else {
              for (int64_t p = 0; p < b.count; ++p) {
                const S value = from[b.offset[k][p]];
                sums[k][p] += b.inside[k][p] ? g[p] * value : 0;
              }
            }
        }
        slopes(b, sums, grad_grid + (n * s.points + first) * kDims);
      }
    });
  }

  void backward_in(const S* grad, const S* grid, S* grad_in) const {
    const int64_t plane = s.plane(), step = s.channels < 8 ? 4 : 8, groups = (s.channels + step - 1) / step;
    const int64_t grain = std::max<int64_t>(1, kGrain / (s.points * step));
    parallel_for(0, s.batch * groups, grain, [&](int64_t begin, int64_t end) {
      B b;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t n = unit / groups, from = n * s.channels + unit % groups * step;
        const int64_t to = std::min(from + step, (n + 1) * s.channels);
        std::fill(grad_in + from * plane, grad_in + to * plane, S(0));
        for (int64_t block = 0; block < blocks; ++block) {
          const int64_t first = find(b, grid, n, block);
          int64_t c = from;
          for (; c + 4 <= to; c += 4) scatter<4>(b, grad + c * s.points + first, grad_in + c * plane, plane);
          for (; c < to; ++c) scatter<1>(b, grad + c * s.points + first, grad_in + c * plane, plane);
        }
      }
    });
  }

 private:
  static void slopes(const B& b, const S (*sums)[kBlock], S* out) {
    for (int d = 0; d < kDims; ++d)
      for (int64_t p = 0; p < b.count; ++p) {
        S total = 0;
        for (int k = 0; k < B::kAll; ++k) {
          S w = sums[k][p];
          for (int e = 0, rest = k; e < kDims; ++e, rest /= kTaps) w *= e == d ? b.slope[e][rest % kTaps][p] : b.part[e][rest % kTaps][p];
          total += w;
        }
        out[p * kDims + d] = total;
      }
  }

  // Several channels at once: their sums do not wait for one another.
  template <int kChannels> void scatter(const B& b, const S* grad, S* out, int64_t plane) const {
    for (int64_t p = 0; p < b.count; ++p) {
      S g[kChannels];
      for (int c = 0; c < kChannels; ++c) g[c] = grad[c * s.points + p];
      for (int k = 0; k < B::kAll; ++k) {
        if (!b.inside[k][p]) continue;
        S* at = out + b.offset[k][p];
        const S w = b.weight[k][p];
        for (int c = 0; c < kChannels; ++c) at[c * plane] += w * g[c];
      }
    }
  }
};

template <class F> void by_kind(DType dtype, const SampleShape& s, F&& f) {
  const auto as = [&](auto zero) {
    using S = decltype(zero);
    if (s.mode == Sampling::Cubic) return f(Sampler<S, 2, 4>{s}, zero);
    if (s.mode == Sampling::Linear) return s.dims == 2 ? f(Sampler<S, 2, 2>{s}, zero) : f(Sampler<S, 3, 2>{s}, zero);
    return s.dims == 2 ? f(Sampler<S, 2, 1>{s}, zero) : f(Sampler<S, 3, 1>{s}, zero);
  };
  dtype == DType::Float64 ? as(double{}) : as(float{});
}

}  // namespace

void sample(DType dtype, const SampleShape& s, const void* in, const void* grid, void* out) {
  by_kind(dtype, s, [&](const auto& sampler, auto zero) {
    using S = decltype(zero);
    sampler.forward(static_cast<const S*>(in), static_cast<const S*>(grid), static_cast<S*>(out));
  });
}

void sample_backward(DType dtype, const SampleShape& s, const void* grad, const void* in, const void* grid, void* grad_in,
                     void* grad_grid) {
  by_kind(dtype, s, [&](const auto& sampler, auto zero) {
    using S = decltype(zero);
    const S *g = static_cast<const S*>(grad), *places = static_cast<const S*>(grid);
    if (grad_in) sampler.backward_in(g, places, static_cast<S*>(grad_in));
    if (grad_grid) sampler.backward_grid(g, static_cast<const S*>(in), places, static_cast<S*>(grad_grid));
  });
}

}  // namespace retrograd::cpu::RG_LEVEL_NS
