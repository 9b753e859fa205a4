// Two passes over memory: sums for each channel or group, then the result. A group of a sample that stays in cache is read from memory once.
#include "kernels/channel_norm.h"
#include "cpu/kernels/channels.h"

namespace retrograd::cpu {
namespace {

// ---- the two ways in which memory may lie ----

bool by_columns(const ChannelShape& s) { return s.channels_last ? s.channels > 1 : s.plane < 16; }
Columns batch_columns(const ChannelShape& s) {
  return s.channels_last ? Columns(1, s.numel(), s.channels, 1) : Columns(1, s.numel(), s.channels * s.plane, s.plane);
}
// Of groups alone: in channels_last, where each sample is by itself.
bool groups_by_columns(const ChannelShape& s) { return s.channels_last && s.channels > 1 && s.plane > 1; }

// Memory to work in, given out piece by piece.
class Work {
 public:
  explicit Work(void* memory) : next_(static_cast<char*>(memory)) {}
  template <class A> A* take(int64_t count) {
    A* taken = reinterpret_cast<A*>(next_);
    next_ += count * static_cast<int64_t>(sizeof(A));
    return taken;
  }

 private:
  char* next_;
};

int64_t workspace(const ChannelShape& s, int64_t groups) {
  static_assert(sizeof(Moments) == sizeof(Sums));
  int64_t count = 0;
  if (groups == 0) {
    count = s.channels + (by_columns(s) ? batch_columns(s).partials() : Rows(s.batch, s.channels, s.plane).partials());
  } else if (groups_by_columns(s)) {  // forward and backward want as many partial sums
    count = s.batch * (s.channels + groups) + Columns(s.batch, s.channels * s.plane, s.channels, 1).partials();
  } else {
    count = s.batch * (s.channels + groups) + std::max(Rows(1, s.batch * s.channels, s.plane).partials(),
                                                       Rows(1, s.batch * groups, s.channels / groups * s.plane).partials());
  }
  return count * static_cast<int64_t>(sizeof(Moments));
}

template <class P> double value_or(const P* p, int64_t i, double otherwise) {
  return p ? static_cast<double>(static_cast<compute_t<P>>(p[i])) : otherwise;
}
template <class P> P stored(double value) { return P(static_cast<compute_t<P>>(value)); }

// ---- a result for each element ----

// (x - mean) * scale + shift. What the mean has beyond the digits of C is in the shift.
template <class C> struct Forward {
  C mean, scale, shift;
  Forward() = default;
  Forward(double mean_, double scale_, double shift_)
      : mean(static_cast<C>(mean_)),
        scale(static_cast<C>(scale_)),
        shift(static_cast<C>(shift_ - (std::isfinite(mean) ? (mean_ - static_cast<double>(mean)) * scale_ : 0))) {}
};
// rstd * (grad * weight + (x - mean) * slope + shift): in this order nothing overflows or vanishes, however large or small the input is.
template <class C> struct Backward {
  C mean, weight, slope, shift, rstd;
  // From the sums, with weights, over all that was normalised together.
  Backward(C mean_, double weight_, double rstd_, const Sums& sums, double count)
      : mean(mean_),
        weight(static_cast<C>(weight_)),
        slope(static_cast<C>(-rstd_ * rstd_ * sums.product / count)),
        shift(static_cast<C>(-sums.grad / count)),
        rstd(static_cast<C>(rstd_)) {}
  C operator()(C grad, C x) const { return rstd * (grad * weight + ((x - mean) * slope + shift)); }
};

template <class T, class C> [[gnu::noinline]] void forward_run(const T* x, int64_t n, const Forward<C> f, T* __restrict y) {
  for (int64_t i = 0; i < n; ++i) y[i] = T((static_cast<C>(x[i]) - f.mean) * f.scale + f.shift);
}
template <class T, class C> [[gnu::noinline]] void backward_run(const T* dy, const T* x, int64_t n, const Backward<C> b, T* __restrict dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = T(b(static_cast<C>(dy[i]), static_cast<C>(x[i])));
}

// of(sample, channel) gives the Forward of an element; sample is the part of columns.
template <class T, class Of> void forward_rows(const Rows& rows, const T* x, T* y, Of&& of) {
  each_row(rows, [&](int64_t at, int64_t n, int64_t sample, int64_t channel) { forward_run(x + at, n, of(sample, channel), y + at); });
}
template <class C> struct ForwardStrip { C mean[kStrip], scale[kStrip], shift[kStrip]; };
template <class T, class C> [[gnu::noinline]] void forward_strip(const Strip& s, const ForwardStrip<C>& f, const T* x, T* y) {
  over_strip(s, [&](int64_t j, int64_t i) { y[i] = T((static_cast<C>(x[i]) - f.mean[j]) * f.scale[j] + f.shift[j]); });
}
template <class T, class Of> void forward_columns(const Columns& k, const T* x, T* y, Of&& of) {
  using C = compute_t<T>;
  each_strip(k, [&](const Strip& s, int64_t) {
    ForwardStrip<C> all;
    for (int64_t j = 0; j < s.count; ++j) {
      const Forward<C> f = of(s.part, k.channel(s.first + j));
      all.mean[j] = f.mean, all.scale[j] = f.scale, all.shift[j] = f.shift;
    }
    forward_strip(s, all, x, y);
  });
}
template <class T, class Of> void backward_rows(const Rows& rows, const T* dy, const T* x, T* dx, Of&& of) {
  each_row(rows,
           [&](int64_t at, int64_t n, int64_t sample, int64_t channel) { backward_run(dy + at, x + at, n, of(sample, channel), dx + at); });
}
template <class C> struct BackwardStrip { C mean[kStrip], weight[kStrip], slope[kStrip], shift[kStrip], rstd[kStrip]; };
template <class T, class C>
[[gnu::noinline]] void backward_strip(const Strip& s, const BackwardStrip<C>& b, const T* dy, const T* x, T* dx) {
  over_strip(s, [&](int64_t j, int64_t i) {
    dx[i] = T(b.rstd[j] * (static_cast<C>(dy[i]) * b.weight[j] + ((static_cast<C>(x[i]) - b.mean[j]) * b.slope[j] + b.shift[j])));
  });
}
template <class T, class Of> void backward_columns(const Columns& k, const T* dy, const T* x, T* dx, Of&& of) {
  using C = compute_t<T>;
  each_strip(k, [&](const Strip& s, int64_t) {
    BackwardStrip<C> all;
    for (int64_t j = 0; j < s.count; ++j) {
      const Backward<C> b = of(s.part, k.channel(s.first + j));
      all.mean[j] = b.mean, all.weight[j] = b.weight, all.slope[j] = b.slope, all.shift[j] = b.shift, all.rstd[j] = b.rstd;
    }
    backward_strip(s, all, dy, x, dx);
  });
}

// ---- sums of gradients ----

template <class C, class T> [[gnu::noinline]] Sums grad_sums(const T* dy, const T* x, int64_t n, C mean) {
  Sums all;
  for (int64_t first = 0; first < n; first += kNear) {
    const int64_t count = std::min(kNear, n - first);
    const T *g = dy + first, *v = x + first;
    const C grad = lane_sum<C>(count, [&](int64_t i) { return static_cast<C>(g[i]); });
    const C product = lane_sum<C>(count, [&](int64_t i) { return static_cast<C>(g[i]) * (static_cast<C>(v[i]) - mean); });
    all.merge({0, static_cast<double>(grad), static_cast<double>(product)});
  }
  return all;
}
template <class T, class C> [[gnu::noinline]] void strip_sums(const Strip& s, const C* mean, const T* dy, const T* x, Sums* out) {
  C grad[kStrip] = {}, product[kStrip] = {};
  over_strip(s, [&](int64_t j, int64_t i) {
    const C g = static_cast<C>(dy[i]);
    grad[j] += g;
    product[j] += g * (static_cast<C>(x[i]) - mean[j]);
  });
  for (int64_t j = 0; j < s.count; ++j) out[j] = {0, static_cast<double>(grad[j]), static_cast<double>(product[j])};
}
// of(part, channel) gives the mean.
template <class T, class Of> void column_sums(const Columns& k, const T* dy, const T* x, Sums* result, Sums* partial, Of&& of) {
  reduce_columns(k, result, partial, [&](const Strip& s, Sums* out) {
    compute_t<T> mean[kStrip];
    for (int64_t j = 0; j < s.count; ++j) mean[j] = of(s.part, k.channel(s.first + j));
    strip_sums(s, mean, dy, x, out);
  });
}

// ---- batch norm ----

// Whether a channel is one run that stays in cache, as those of an instance norm are: then each is done at a time.
bool one_by_one(const ChannelShape& s) { return s.batch == 1 && !by_columns(s) && s.plane <= kPiece; }
template <class Channel> void each_channel(const ChannelShape& s, Channel&& channel) {
  parallel_for(0, s.channels, std::max<int64_t>(1, kGrain / s.plane), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) channel(c, c * s.plane);
  });
}

template <class T, class P> void batch_forward(const ChannelShape& shape, const T* x, const P* weight, const P* bias, P* running_mean,
                                               P* running_var, bool training, double momentum, double eps, T* y, P* mean, P* invstd,
                                               Work work) {
  using C = compute_t<T>;
  auto* stats = work.take<Moments>(shape.channels);
  const double count = static_cast<double>(shape.batch * shape.plane);
  const auto finish = [&](int64_t c) {
    Moments& m = stats[c];
    if (training) {
      if (running_mean) running_mean[c] = stored<P>(momentum * m.mean + (1 - momentum) * value_or(running_mean, c, 0));
      if (running_var) running_var[c] = stored<P>(momentum * (m.squares / (count - 1)) + (1 - momentum) * value_or(running_var, c, 0));
    } else {
      m.mean = value_or(running_mean, c, 0);
    }
    const double variance = training ? m.squares / count : value_or(running_var, c, 0);
    m.squares = 1 / std::sqrt(variance + eps);  // from here on the reciprocal deviation
    mean[c] = stored<P>(m.mean);
    invstd[c] = stored<P>(m.squares);
  };
  const auto of = [&](int64_t, int64_t c) {
    return Forward<C>(stats[c].mean, stats[c].squares * value_or(weight, c, 1), value_or(bias, c, 0));
  };
  if (training && one_by_one(shape)) {
    each_channel(shape, [&](int64_t c, int64_t at) {
      stats[c] = moments<C>(x + at, shape.plane);
      finish(c);
      forward_run(x + at, shape.plane, of(0, c), y + at);
    });
  } else if (by_columns(shape)) {
    const Columns k = batch_columns(shape);
    if (training)
      reduce_columns(k, stats, work.take<Moments>(k.partials()), [&](const Strip& s, Moments* out) { column_moments<C>(x, s, out); });
    for (int64_t c = 0; c < shape.channels; ++c) finish(c);
    forward_columns(k, x, y, of);
  } else {
    const Rows rows(shape.batch, shape.channels, shape.plane);
    if (training)
      reduce_rows(rows, stats, work.take<Moments>(rows.partials()), [&](int64_t at, int64_t n, int64_t) { return moments<C>(x + at, n); });
    for (int64_t c = 0; c < shape.channels; ++c) finish(c);
    forward_rows(rows, x, y, of);
  }
}

template <class T, class P> void batch_backward(const ChannelShape& shape, const T* dy, const T* x, const P* weight, const P* mean,
                                                const P* invstd, bool training, T* dx, P* dweight, P* dbias, Work work) {
  using C = compute_t<T>;
  auto* sums = work.take<Sums>(shape.channels);
  const double count = static_cast<double>(shape.batch * shape.plane);
  const bool wants_sums = training || dweight || dbias;
  const auto mean_of = [&](int64_t, int64_t c) { return static_cast<C>(static_cast<compute_t<P>>(mean[c])); };
  const auto finish = [&](int64_t c) {
    if (dweight) dweight[c] = stored<P>(sums[c].product * value_or(invstd, c, 1));
    if (dbias) dbias[c] = stored<P>(sums[c].grad);
  };
  const auto of = [&](int64_t, int64_t c) {
    const double w = value_or(weight, c, 1);
    return Backward<C>(mean_of(0, c), w, value_or(invstd, c, 1), {0, sums[c].grad * w, sums[c].product * w}, count);
  };
  // The statistics are constants: the input, be it not finite, has no say.
  const auto constant = [&](int64_t, int64_t c) { return Forward<C>(0, value_or(weight, c, 1) * value_or(invstd, c, 1), 0); };
  if (training && one_by_one(shape)) {
    each_channel(shape, [&](int64_t c, int64_t at) {
      sums[c] = grad_sums<C>(dy + at, x + at, shape.plane, mean_of(0, c));
      finish(c);
      if (dx) backward_run(dy + at, x + at, shape.plane, of(0, c), dx + at);
    });
  } else if (by_columns(shape)) {
    const Columns k = batch_columns(shape);
    if (wants_sums) {
      column_sums(k, dy, x, sums, work.take<Sums>(k.partials()), mean_of);
      for (int64_t c = 0; c < shape.channels; ++c) finish(c);
    }
    if (dx && training) backward_columns(k, dy, x, dx, of);
    if (dx && !training) forward_columns(k, dy, dx, constant);
  } else {
    const Rows rows(shape.batch, shape.channels, shape.plane);
    if (wants_sums) {
      reduce_rows(rows, sums, work.take<Sums>(rows.partials()),
                  [&](int64_t at, int64_t n, int64_t c) { return grad_sums<C>(dy + at, x + at, n, mean_of(0, c)); });
      for (int64_t c = 0; c < shape.channels; ++c) finish(c);
    }
    if (dx && training) backward_rows(rows, dy, x, dx, of);
    if (dx && !training) forward_rows(rows, dy, dx, constant);
  }
}

// ---- group norm ----

// of_group(group of all samples) and of(sample, channel) as one loop over groups that are in cache.
template <class Group, class Channel> void each_group(const ChannelShape& shape, int64_t groups, Group&& of_group, Channel&& of_channel) {
  const int64_t each = shape.channels / groups, size = each * shape.plane;
  parallel_for(0, shape.batch * groups, std::max<int64_t>(1, kGrain / size), [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      of_group(g, g * size, size);
      for (int64_t c = 0; c < each; ++c) of_channel(g, g % groups * each + c, g * size + c * shape.plane);
    }
  });
}

template <class T, class P> void group_forward(const ChannelShape& shape, int64_t groups, const T* x, const P* weight, const P* bias,
                                               double eps, T* y, P* mean, P* rstd, Work work) {
  using C = compute_t<T>;
  const int64_t each = shape.channels / groups, size = each * shape.plane;
  auto* stats = work.take<Moments>(shape.batch * groups);
  const auto finish = [&](int64_t g) {
    Moments& m = stats[g];
    m.squares = 1 / std::sqrt(m.squares / static_cast<double>(size) + eps);  // from here on the reciprocal deviation
    mean[g] = stored<P>(m.mean);
    rstd[g] = stored<P>(m.squares);
  };
  const auto of = [&](int64_t g, int64_t c) {
    return Forward<C>(stats[g].mean, stats[g].squares * value_or(weight, c, 1), value_or(bias, c, 0));
  };
  if (!groups_by_columns(shape) && size <= kPiece) {
    each_group(
        shape, groups,
        [&](int64_t g, int64_t at, int64_t n) {
          stats[g] = moments<C>(x + at, n);
          finish(g);
        },
        [&](int64_t g, int64_t c, int64_t at) { forward_run(x + at, shape.plane, of(g, c), y + at); });
    return;
  }
  const auto of_sample = [&](int64_t n, int64_t c) { return of(n * groups + c / each, c); };
  if (groups_by_columns(shape)) {
    const Columns k(shape.batch, shape.channels * shape.plane, shape.channels, each);
    reduce_columns(k, stats, work.take<Moments>(k.partials()), [&](const Strip& s, Moments* out) { column_moments<C>(x, s, out); });
    for (int64_t g = 0; g < shape.batch * groups; ++g) finish(g);
    forward_columns(Columns(shape.batch, shape.channels * shape.plane, shape.channels, 1), x, y, of_sample);
  } else {
    const Rows rows(1, shape.batch * groups, size);
    reduce_rows(rows, stats, work.take<Moments>(rows.partials()), [&](int64_t at, int64_t n, int64_t) { return moments<C>(x + at, n); });
    for (int64_t g = 0; g < shape.batch * groups; ++g) finish(g);
    forward_rows(Rows(shape.batch, shape.channels, shape.plane), x, y, of_sample);
  }
}

template <class T, class P> void group_backward(const ChannelShape& shape, int64_t groups, const T* dy, const T* x, const P* weight,
                                                const P* mean, const P* rstd, T* dx, P* dweight, P* dbias, Work work) {
  using C = compute_t<T>;
  const int64_t each = shape.channels / groups, size = each * shape.plane;
  auto* sums = work.take<Sums>(shape.batch * shape.channels);
  auto* whole = work.take<Sums>(shape.batch * groups);  // those of a group, with weights
  const auto group_of = [&](int64_t n, int64_t c) { return n * groups + c / each; };
  const auto mean_of = [&](int64_t n, int64_t c) { return static_cast<C>(static_cast<compute_t<P>>(mean[group_of(n, c)])); };
  const auto finish = [&](int64_t g) {
    whole[g] = {};
    for (int64_t i = 0; i < each; ++i) {
      const double w = value_or(weight, g % groups * each + i, 1);
      whole[g].merge({0, sums[g * each + i].grad * w, sums[g * each + i].product * w});
    }
  };
  const auto of = [&](int64_t n, int64_t c) {
    const int64_t g = group_of(n, c);
    return Backward<C>(mean_of(n, c), value_or(weight, c, 1), value_or(rstd, g, 1), whole[g], static_cast<double>(size));
  };
  if (groups_by_columns(shape)) {
    const Columns k(shape.batch, shape.channels * shape.plane, shape.channels, 1);
    column_sums(k, dy, x, sums, work.take<Sums>(k.partials()), mean_of);
    for (int64_t g = 0; g < shape.batch * groups; ++g) finish(g);
    if (dx) backward_columns(k, dy, x, dx, of);
  } else if (size <= kPiece) {
    each_group(
        shape, groups,
        [&](int64_t g, int64_t at, int64_t) {
          for (int64_t i = 0; i < each; ++i) {
            const int64_t from = at + i * shape.plane;
            sums[g * each + i] = grad_sums<C>(dy + from, x + from, shape.plane, mean_of(g / groups, g % groups * each));
          }
          finish(g);
        },
        [&](int64_t g, int64_t c, int64_t at) {
          if (dx) backward_run(dy + at, x + at, shape.plane, of(g / groups, c), dx + at);
        });
  } else {
    const Rows rows(1, shape.batch * shape.channels, shape.plane);
    reduce_rows(rows, sums, work.take<Sums>(rows.partials()), [&](int64_t at, int64_t n, int64_t row) {
      return grad_sums<C>(dy + at, x + at, n, mean_of(row / shape.channels, row % shape.channels));
    });
    for (int64_t g = 0; g < shape.batch * groups; ++g) finish(g);
    if (dx) backward_rows(Rows(shape.batch, shape.channels, shape.plane), dy, x, dx, of);
  }
  for (int64_t c = 0; c < shape.channels; ++c) {
    double w = 0, b = 0;
    for (int64_t n = 0; n < shape.batch; ++n) {
      w += sums[n * shape.channels + c].product * value_or(rstd, group_of(n, c), 1);
      b += sums[n * shape.channels + c].grad;
    }
    if (dweight) dweight[c] = stored<P>(w);
    if (dbias) dbias[c] = stored<P>(b);
  }
}

// ---- by dtype ----

// f(element, parameter) with values of the two dtypes.
template <class F> void visit_both(DType dtype, DType param_dtype, F&& f) {
  visit_floating(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 2)
      if (param_dtype == DType::Float32) return f(zero, float{});
    f(zero, zero);
  });
}
template <class T> const T* as(const void* p, T) { return static_cast<const T*>(p); }
template <class T> T* as(void* p, T) { return static_cast<T*>(p); }

void batch_norm(DType dtype, DType param_dtype, const ChannelShape& shape, const void* in, const void* weight, const void* bias,
                void* running_mean, void* running_var, bool training, double momentum, double eps, void* out, void* mean, void* invstd,
                void* work) {
  visit_both(dtype, param_dtype, [&](auto t, auto p) {
    batch_forward(shape, as(in, t), as(weight, p), as(bias, p), as(running_mean, p), as(running_var, p), training, momentum, eps,
                  as(out, t), as(mean, p), as(invstd, p), Work(work));
  });
}
void batch_norm_backward(DType dtype, DType param_dtype, const ChannelShape& shape, const void* grad, const void* in, const void* weight,
                         const void* mean, const void* invstd, bool training, void* grad_in, void* grad_weight, void* grad_bias,
                         void* work) {
  visit_both(dtype, param_dtype, [&](auto t, auto p) {
    batch_backward(shape, as(grad, t), as(in, t), as(weight, p), as(mean, p), as(invstd, p), training, as(grad_in, t), as(grad_weight, p),
                   as(grad_bias, p), Work(work));
  });
}
void group_norm(DType dtype, DType param_dtype, const ChannelShape& shape, int64_t groups, const void* in, const void* weight,
                const void* bias, double eps, void* out, void* mean, void* rstd, void* work) {
  visit_both(dtype, param_dtype, [&](auto t, auto p) {
    group_forward(shape, groups, as(in, t), as(weight, p), as(bias, p), eps, as(out, t), as(mean, p), as(rstd, p), Work(work));
  });
}
void group_norm_backward(DType dtype, DType param_dtype, const ChannelShape& shape, int64_t groups, const void* grad, const void* in,
                         const void* weight, const void* mean, const void* rstd, void* grad_in, void* grad_weight, void* grad_bias,
                         void* work) {
  visit_both(dtype, param_dtype, [&](auto t, auto p) {
    group_backward(shape, groups, as(grad, t), as(in, t), as(weight, p), as(mean, p), as(rstd, p), as(grad_in, t), as(grad_weight, p),
                   as(grad_bias, p), Work(work));
  });
}

}  // namespace

RG_EXPORT_KERNELS(ChannelNormKernels, channel_norm) = {.workspace = workspace,
                                                       .batch_norm = batch_norm,
                                                       .batch_norm_backward = batch_norm_backward,
                                                       .group_norm = group_norm,
                                                       .group_norm_backward = group_norm_backward};

}  // namespace retrograd::cpu
